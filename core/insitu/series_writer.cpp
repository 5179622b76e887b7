// SPDX-License-Identifier: BSD-3-Clause
// Writes one step after another and maintains the list of them.

#include "bat/dataset.hpp"
#include "bat/insitu.hpp"
#include "bat/text.hpp"
#include "common/memory/kept_memory.hpp"
#include "insitu/species_options.hpp"
#include "insitu/track_recorder.hpp"
#include "parallel/comm.hpp"
#include "series/series_list.hpp"

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
      fmt::format("the time of the step is {}; times must be finite", time));
  }
}

// Names appear in lists and reports, which are JSON.
void check_utf8(const std::string& text, const char* what)
{
  if (!is_utf8(text))
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{} is not valid UTF-8: {}", what,
        nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)));
  }
  if (text.find('\0') != std::string::npos)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{} contains a zero byte: {}", what, nlohmann::json(text).dump()));
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
        fmt::format("{}: cannot create the folder: {}", folder.string(), error.message()));
    }
  }
}

series::OwnTime read_own_time(const std::filesystem::path& file)
{
  try
  {
    const Dataset dataset = Dataset::open(file);
    return { dataset.time(), dataset.step() };
  }
  catch (const Error&)
  {
    return {};
  }
}

// A notice that cannot be printed is not a failure.
void print(const std::string& notice)
{
  (void)std::fprintf(stderr, "bat: %s\n", notice.c_str());
}

// Collective. Returns the species names of all ranks. The time becomes that of rank 0.
std::vector<std::string> agree_on_step(
  const mpi::OwnComm& own, std::int64_t step, double& time, const std::vector<Species>& species)
{
  mpi::require_same(own, step, "the step number");
  MPI_Bcast(&time, 1, MPI_DOUBLE, 0, own.get());
  std::vector<std::string> names;
  mpi::collective(own.get(),
    [&]
    {
      check_time(time);
      std::transform(species.begin(), species.end(), std::back_inserter(names),
        [](const Species& s) { return s.name; });
    });
  return mpi::gather_names(own, names);
}

bool says_columns(const mpi::Piece& piece)
{
  const ParticleView& particles = piece.particles;
  return particles.count != 0 || !particles.attributes.empty() || !particles.aliases.empty();
}

// The columns of a dataset, without particles.
std::optional<ParticleView> make_columns(const std::filesystem::path& file)
{
  ParticleView columns;
  const std::optional<Error> error = attempt(
    [&]
    {
      const Dataset dataset = Dataset::open(file);
      columns.positions = ArrayView::packed(dataset.position_type(), 3, nullptr);
      for (const Attribute& a : dataset.attributes())
      {
        columns.attributes.push_back(
          { a.name, ArrayView::packed(a.type, a.components, nullptr), a.role, a.host_type });
      }
    });
  return error ? std::nullopt : std::optional(columns);
}

// Pieces of all species with a name, and the step to which they belong.
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

SeriesWriter::SeriesWriter(FilePattern pattern, mpi::WriteOptions options, Notice notice)
  : pattern_(std::move(pattern))
  , options_(std::make_shared<SpeciesOptions>(std::move(options)))
  , notice_(notice ? std::move(notice) : Notice(&print))
  , track_options_(std::make_shared<SpeciesTracks>())
  , memory_(std::make_shared<KeptMemory>(kKeptBytes))
{
}

void SeriesWriter::keep_memory(std::uint64_t max_bytes)
{
  this->memory_->set_max_bytes(max_bytes);
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
  const std::vector<std::string> names = agree_on_step(own, step, time, species);
  std::vector<WrittenFile> files;
  mpi::collective(own.get(),
    [&]
    {
      files = this->files_of(names, step, time);
      if (own.rank() == 0)
      {
        make_folders(files);
        for (const WrittenFile& file : files)
        {
          this->list_of(file.species).claim(); // before a file of the other process is replaced
        }
      }
    });
  std::vector<std::vector<mpi::Piece>> pieces(files.size());
  for (std::size_t i = 0; i != files.size(); ++i)
  {
    mpi::collective(
      own.get(), [&] { pieces[i] = pieces_of(species, files[i].species, step, time); });
    this->declare_columns(own, pieces[i], files[i], step, time);
  }
  const std::vector<mpi::WriteOptions> options = this->options_->of_step(own, pieces);
  for (std::size_t i = 0; i != files.size(); ++i)
  {
    files[i].report = mpi::write_pieces(own.get(), files[i].path, pieces[i], options[i]);
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
    // A list that cannot be written does not prevent the others.
    std::optional<Error> here = attempt([&] { this->list_of(files[i].species).add(step, time); });
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
  this->track_options_ = std::make_shared<SpeciesTracks>(std::move(options));
  this->tracks_.clear();
}

std::uint64_t SeriesWriter::write_tracks(
  MPI_Comm comm, std::int64_t step, double time, const std::vector<Species>& species)
{
  const mpi::OwnComm own(comm);
  const std::vector<std::string> names = agree_on_step(own, step, time, species);
  mpi::collective(own.get(),
    [&]
    {
      check(this->track_options_->all());
      (void)this->files_of(names, step, time);
    });
  std::vector<std::vector<mpi::Piece>> pieces(names.size());
  mpi::collective(own.get(),
    [&]
    {
      for (const Species& s : species)
      {
        const auto at = std::find(names.begin(), names.end(), s.name) - names.begin();
        std::vector<mpi::Piece>& of_name = pieces[static_cast<std::size_t>(at)];
        of_name.insert(of_name.end(), s.pieces.begin(), s.pieces.end());
      }
    });
  const auto options = this->track_options_->of_step(own, names, pieces);
  std::uint64_t particles = 0;
  for (std::size_t i = 0; i != names.size(); ++i)
  {
    if (!options[i])
    {
      continue;
    }
    std::shared_ptr<TrackRecorder>& recorder = this->tracks_[names[i]];
    mpi::collective(own.get(),
      [&]
      {
        if (!recorder)
        {
          recorder = std::make_shared<TrackRecorder>(this->pattern_.tracks(names[i]), names[i],
            *options[i], this->options_->all().build.flush, this->notice_);
        }
      });
    particles += recorder->record(own, step, time, pieces[i]);
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
    check_utf8(name, "the species name");
    check_utf8(series::name_in_list(file.path, this->pattern_.series(name)), "the file name");
    for (const WrittenFile& other : files)
    {
      if (other.path == file.path)
      {
        throw Error(ErrorCode::InvalidArgument,
          fmt::format("the species '{}' and '{}' would both become {}; use distinct names, and "
                      "{{name}} in the file pattern",
            other.species, name, file.path.string()));
      }
    }
    files.push_back(std::move(file));
  }
  return files;
}

// Collective. A step that no rank describes has the columns of the previous step, also when a run
// is continued.
void SeriesWriter::declare_columns(const mpi::OwnComm& comm, std::vector<mpi::Piece>& pieces,
  const WrittenFile& file, std::int64_t step, double time)
{
  int reported = std::any_of(pieces.begin(), pieces.end(), &says_columns) ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &reported, 1, MPI_INT, MPI_MAX, comm.get());
  mpi::collective(comm.get(),
    [&]
    {
      if (reported != 0 || comm.rank() != 0)
      {
        return;
      }
      // A problem with the list is reported when the step is added to it.
      std::optional<std::filesystem::path> before;
      (void)attempt([&] { before = this->list_of(file.species).last_beside(step, time); });
      std::optional<ParticleView> columns = before ? make_columns(*before) : std::nullopt;
      if (columns)
      {
        columns->time = time;
        columns->step = step;
        pieces = { { std::move(*columns), {} } };
      }
    });
}

series::List& SeriesWriter::list_of(const std::string& species)
{
  const std::filesystem::path path = this->pattern_.series(species);
  std::shared_ptr<series::List>& list = this->lists_[path.string()];
  if (!list)
  {
    // Two patterns may share a list.
    series::Files files{ &read_own_time,
      [pattern = this->pattern_, species](std::int64_t s, double t)
      { return pattern.file(s, t, species); },
      &remove_dataset };
    list = std::make_shared<series::List>(
      path, std::move(files), this->options_->all().build.flush, this->notice_);
  }
  return *list;
}
}
