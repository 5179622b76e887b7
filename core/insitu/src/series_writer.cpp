#include "agreement.hpp"
#include "bat/insitu.hpp"
#include "comm.hpp"
#include "series_list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <system_error>

namespace bat::insitu
{
namespace
{
void check_time(double time)
{
  if (!std::isfinite(time))
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("the time of the step is {}; allowed are finite numbers", time));
  }
}

void make_folders(const std::vector<WrittenFile>& files)
{
  for (const WrittenFile& file : files)
  {
    const std::filesystem::path folder = file.path.parent_path();
    std::error_code error;
    if (!folder.empty() && !std::filesystem::create_directories(folder, error) && error)
    {
      throw Error(
        error == std::errc::no_space_on_device ? ErrorCode::NoSpace : ErrorCode::CannotOpen,
        fmt::format("{}: cannot make the folder: {}", folder.string(), error.message()));
    }
  }
}

// Pieces of all species of a name, with the step they belong to.
std::vector<mpi::Piece> pieces_of(
  std::vector<Species>& species, const std::string& name, std::int64_t step, double time)
{
  std::vector<mpi::Piece> pieces;
  for (Species& s : species)
  {
    if (s.name == name)
    {
      std::move(s.pieces.begin(), s.pieces.end(), std::back_inserter(pieces));
    }
  }
  if (pieces.empty())
  {
    pieces.emplace_back();
    pieces.back().particles.positions.components = 3;
  }
  for (mpi::Piece& piece : pieces)
  {
    piece.particles.time = time;
    piece.particles.step = step;
  }
  return pieces;
}
}

std::string to_json(const WrittenFile& file)
{
  nlohmann::json json = nlohmann::json::parse(to_json(file.report));
  json["file"] = file.path.string();
  json["species"] = file.species;
  return json.dump();
}

SeriesWriter::SeriesWriter(FilePattern pattern, mpi::WriteOptions options)
  : pattern_(std::move(pattern))
  , options_(std::move(options))
{
}

std::vector<WrittenFile> SeriesWriter::write(
  MPI_Comm comm, std::int64_t step, double time, std::vector<Species> species)
{
  const mpi::OwnComm own(comm);
  mpi::require_same(own.get(), step, "the number of the step");
  MPI_Bcast(&time, 1, MPI_DOUBLE, 0, own.get());
  std::vector<std::string> names;
  mpi::together(own.get(),
    [&]
    {
      check_time(time);
      std::transform(species.begin(), species.end(), std::back_inserter(names),
        [](const Species& s) { return s.name; });
    });
  names = mpi::union_of_names(own.get(), names);
  std::vector<WrittenFile> files;
  mpi::together(own.get(),
    [&]
    {
      files = this->files_of(names, step, time);
      if (own.rank() == 0)
      {
        make_folders(files);
      }
    });
  for (WrittenFile& file : files)
  {
    std::vector<mpi::Piece> pieces;
    mpi::together(own.get(), [&] { pieces = pieces_of(species, file.species, step, time); });
    file.report = mpi::write_pieces(own.get(), file.path, pieces, this->options_);
    mpi::together(own.get(),
      [&]
      {
        if (own.rank() == 0)
        {
          this->list(file, time);
        }
      });
  }
  return files;
}

std::vector<WrittenFile> SeriesWriter::files_of(
  const std::vector<std::string>& names, std::int64_t step, double time) const
{
  std::vector<WrittenFile> files;
  for (const std::string& name : names)
  {
    WrittenFile file;
    file.path = this->pattern_.file(step, time, name);
    file.species = name;
    for (const WrittenFile& other : files)
    {
      if (other.path == file.path)
      {
        throw Error(ErrorCode::InvalidArgument,
          fmt::format("the species '{}' and '{}' would both become {}; names must differ, and the "
                      "file pattern must have {{name}} in it",
            other.species, name, file.path.string()));
      }
    }
    files.push_back(std::move(file));
  }
  return files;
}

void SeriesWriter::list(const WrittenFile& file, double time)
{
  const std::filesystem::path path = this->pattern_.series(file.species);
  auto known = this->lists_.find(path.string());
  if (known == this->lists_.end())
  {
    known = this->lists_.emplace(path.string(), read_series(path)).first;
  }
  add_to_series(
    known->second, file.path.lexically_relative(path.parent_path()).generic_string(), time);
  write_series(path, known->second, this->options_.build.flush);
}
}
