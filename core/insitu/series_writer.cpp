// SPDX-License-Identifier: BSD-3-Clause
// Writes a step after the other and keeps the list of them.

#include "bat/insitu.hpp"
#include "bat/text.hpp"
#include "common/kept_memory.hpp"
#include "insitu/series_list.hpp"
#include "insitu/track_recorder.hpp"
#include "parallel/comm.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <optional>
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

// Names stand in lists and reports, which are JSON.
void check_utf8(const std::string& text, const char* what)
{
  if (!is_utf8(text))
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{} is no UTF-8: {}", what,
        nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)));
  }
  if (text.find('\0') != std::string::npos)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{} has a zero byte: {}", what, nlohmann::json(text).dump()));
  }
}

std::string name_in_list(const std::filesystem::path& file, const std::filesystem::path& list)
{
  return file.lexically_normal().lexically_relative(list.parent_path()).generic_string();
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

// Whether it can be printed or not: a notice is no failure.
void print(const std::string& notice)
{
  (void)std::fprintf(stderr, "bat: %s\n", notice.c_str());
}

std::string text_of_return(
  const std::filesystem::path& list, const SeriesEntries& dropped, std::int64_t step)
{
  const std::string steps = dropped.size() == 1
    ? fmt::format("step {}", *dropped.front().step)
    : fmt::format(
        "{} steps from {} to {}", dropped.size(), *dropped.front().step, *dropped.back().step);
  return fmt::format("{}: the simulation has come back to step {}: {} that it had written before "
                     "{} removed",
    list.string(), step, steps, dropped.size() == 1 ? "is" : "are");
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
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// A list as this writer has left it.
struct SeriesWriter::List
{
  SeriesEntries entries;
  SeriesEntries dropped; // not in the list any more, but still there
  std::filesystem::file_time_type written;
  bool has_told_of_clock = false;
};

SeriesWriter::SeriesWriter(FilePattern pattern, mpi::WriteOptions options, Notice notice)
  : pattern_(std::move(pattern))
  , options_(std::move(options))
  , notice_(notice ? std::move(notice) : Notice(&print))
  , memory_(std::make_shared<KeptMemory>(kKeptBytes))
{
}

void SeriesWriter::keep_memory(std::uint64_t most_bytes)
{
  this->memory_->set_most_bytes(most_bytes);
}

std::vector<WrittenFile> SeriesWriter::write(
  MPI_Comm comm, std::int64_t step, double time, std::vector<Species> species)
{
  std::vector<WrittenFile> files = this->write_files(comm, step, time, std::move(species));
  this->write_lists(comm, files, step, time);
  return files;
}

std::vector<WrittenFile> SeriesWriter::write_files(
  MPI_Comm comm, std::int64_t step, double time, std::vector<Species> species)
{
  const KeptMemory::Use use(*this->memory_);
  const mpi::OwnComm own(comm);
  mpi::require_same(own, step, "the number of the step");
  MPI_Bcast(&time, 1, MPI_DOUBLE, 0, own.get());
  std::vector<std::string> names;
  mpi::together(own.get(),
    [&]
    {
      check_time(time);
      std::transform(species.begin(), species.end(), std::back_inserter(names),
        [](const Species& s) { return s.name; });
    });
  names = mpi::union_of_names(own, names);
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
  }
  return files;
}

void SeriesWriter::write_lists(
  MPI_Comm comm, const std::vector<WrittenFile>& files, std::int64_t step, double time)
{
  const mpi::OwnComm own(comm);
  std::optional<Error> failure;
  for (std::size_t i = 0; own.rank() == 0 && i != files.size(); ++i)
  {
    // One list that cannot be written does not keep the others back.
    std::optional<Error> here = attempt([&] { this->list(files[i], step, time); });
    if (!failure)
    {
      failure = std::move(here);
    }
  }
  mpi::agree(own.get(), failure);
}

void SeriesWriter::set_tracks(TrackOptions options)
{
  check(options);
  this->track_options_ = std::move(options);
  this->tracks_.clear();
}

std::uint64_t SeriesWriter::write_tracks(
  MPI_Comm comm, std::int64_t step, double time, const std::vector<Species>& species)
{
  const mpi::OwnComm own(comm);
  mpi::require_same(own, step, "the number of the step");
  MPI_Bcast(&time, 1, MPI_DOUBLE, 0, own.get());
  std::vector<std::string> names;
  mpi::together(own.get(),
    [&]
    {
      check_time(time);
      check(this->track_options_);
      std::transform(species.begin(), species.end(), std::back_inserter(names),
        [](const Species& s) { return s.name; });
    });
  names = mpi::union_of_names(own, names);
  mpi::together(own.get(), [&] { (void)this->files_of(names, step, time); });
  std::uint64_t particles = 0;
  for (const std::string& name : names)
  {
    std::vector<mpi::Piece> pieces;
    mpi::together(own.get(),
      [&]
      {
        for (const Species& s : species)
        {
          if (s.name == name)
          {
            pieces.insert(pieces.end(), s.pieces.begin(), s.pieces.end());
          }
        }
        std::shared_ptr<TrackRecorder>& recorder = this->tracks_[name];
        if (!recorder)
        {
          recorder = std::make_shared<TrackRecorder>(this->pattern_.tracks(name),
            this->track_options_, this->options_.build.flush, this->notice_);
        }
      });
    particles += this->tracks_.at(name)->record(own, step, time, pieces);
  }
  return particles;
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
    check_utf8(name, "the name of a species");
    check_utf8(name_in_list(file.path, this->pattern_.series(name)), "the name of a file");
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

void SeriesWriter::list(const WrittenFile& file, std::int64_t step, double time)
{
  const std::filesystem::path path = this->pattern_.series(file.species);
  const std::filesystem::path folder = path.parent_path();
  std::shared_ptr<List>& held = this->lists_[path.string()];
  held = held ? held : std::make_shared<List>();
  List& list = *held;
  std::error_code not_there;
  if (list.entries.empty() || std::filesystem::last_write_time(path, not_there) != list.written)
  {
    list.entries = read_series(path); // somebody else's, or nobody's
  }
  // Two patterns may share a list.
  const auto is_of_this_series = [&](const SeriesEntry& entry)
  {
    const OwnTime own = own_time_of(folder / entry.file);
    const std::filesystem::path ours = this->pattern_.file(
      own.step.value_or(*entry.step), own.time.value_or(entry.time), file.species);
    return name_in_list(ours, path) == entry.file;
  };
  const std::string name = name_in_list(file.path, path);
  const SeriesChange change =
    add_to_series(list.entries, folder, name, step, time, is_of_this_series);
  // Files go when no list names them any more; a list that cannot be written is tried again.
  SeriesEntries& dropped = list.dropped;
  dropped.insert(dropped.end(), change.dropped.begin(), change.dropped.end());
  dropped.erase(std::remove_if(dropped.begin(), dropped.end(),
                  [&](const SeriesEntry& entry) { return entry.file == name; }),
    dropped.end());
  write_series(path, list.entries, this->options_.build.flush);
  list.written = std::filesystem::last_write_time(path);
  for (const SeriesEntry& entry : dropped)
  {
    remove_dataset(folder / entry.file);
  }
  if (!dropped.empty())
  {
    this->notice_(text_of_return(path, dropped, step));
    dropped.clear();
  }
  if (change.clock_is_back && !list.has_told_of_clock)
  {
    list.has_told_of_clock = true;
    this->notice_(fmt::format("{}: the time of step {} is {}, which is not after that of the step "
                              "before; it is listed as {}, and later ones accordingly",
      path.string(), step, time, change.time));
  }
}
}
