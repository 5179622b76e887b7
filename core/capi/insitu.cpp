// SPDX-License-Identifier: BSD-3-Clause
// Implements the functions of bat/bat_insitu.h.

#include "bat/bat_insitu.h"

#include "capi/collective.hpp"
#include "capi/handles.hpp"
#include "capi/mpi_calls.hpp"
#include "capi/status.hpp"

#include "bat/insitu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

struct bat_insitu
{
  // Settings of one species that replace the common ones.
  struct OwnOptions
  {
    std::int64_t every = 0; ///< 0: as all
    bat::mpi::WriteOptions options;
    bool has_tracks = false; ///< if false, uses the common tracks
    std::optional<bat::insitu::TrackOptions> tracks;
    bat::insitu::SeriesWriter writer;
    bool requested_files = false; ///< for the step between begin and end
    bool requested_tracks = false;
  };

  bat_insitu(MPI_Comm c, bat::insitu::FilePattern p, bat::mpi::WriteOptions o)
    : comm(c)
    , pattern(std::move(p))
    , options(std::move(o))
    , writer(this->pattern, this->options)
  {
  }

  MPI_Comm comm;
  bat::insitu::FilePattern pattern;
  bat::mpi::WriteOptions options;
  bat::insitu::SeriesWriter writer;

  std::map<std::string, OwnOptions> of_species;
  std::int64_t every = 1;
  std::optional<bat::insitu::TrackOptions> tracks;
  std::uint64_t kept_memory = bat::insitu::SeriesWriter::kKeptBytes;
  std::int64_t begun = 0; ///< steps
  // The step between begin and end.
  bool open = false;
  bool due = false; ///< its files, its tracks, or both
  bool requested_files = false;
  bool requested_tracks = false;
  std::int64_t step = 0;
  double time = 0;
  std::vector<bat::insitu::Species> species;
  std::optional<std::pair<int, std::string>> refused; ///< the first error of adding

  std::vector<std::string> known; ///< names of the species of the steps before
  std::string written = "[]";
};

namespace bat::capi
{
namespace
{
// Records the error until the end of the step, so that no rank writes less than it should.
template <class F>
int guard_step(bat_insitu* insitu, F&& f) noexcept
{
  const int status = guard(f);
  if (status != BAT_OK && insitu && !insitu->refused)
  {
    (void)guard([&] { insitu->refused.emplace(status, last_error()); });
  }
  return status;
}

void add(bat_insitu* insitu, const char* species, const bat_particles* particles,
  std::optional<ArrayView> ghosts)
{
  bat_insitu& handle = need(insitu, "handle");
  if (!handle.open)
  {
    refuse("no step was started");
  }
  if (!handle.due)
  {
    return;
  }
  const ParticleView& view = accepted(need(particles, "particles"));
  const std::string name = species ? species : "";
  const auto same = [&](const insitu::Species& s) { return s.name == name; };
  auto found = std::find_if(handle.species.begin(), handle.species.end(), same);
  if (found == handle.species.end())
  {
    handle.species.push_back({ name, {} });
    found = handle.species.end() - 1;
  }
  found->pieces.push_back({ view, std::move(ghosts) });
}

void add_up(bat_report& sum, const bat_report& part)
{
  sum.particles += part.particles;
  sum.skipped += part.skipped;
  sum.leaf_files += part.leaf_files;
  sum.target_bytes = std::max(sum.target_bytes, part.target_bytes);
  sum.file_bytes += part.file_bytes;
  sum.data_bytes += part.data_bytes;
  sum.largest_leaf_bytes = std::max(sum.largest_leaf_bytes, part.largest_leaf_bytes);
  sum.moved_bytes += part.moved_bytes;
  sum.ranks = part.ranks;
  sum.nodes = part.nodes;
  sum.aggregators = std::max(sum.aggregators, part.aggregators);
  sum.threads = part.threads;
  sum.leaders = std::max(sum.leaders, part.leaders);
  sum.messages_within += part.messages_within;
  sum.bytes_within += part.bytes_within;
  sum.messages_between += part.messages_between;
  sum.bytes_between += part.bytes_between;
  sum.max_received = std::max(sum.max_received, part.max_received);
  sum.max_received_bytes = std::max(sum.max_received_bytes, part.max_received_bytes);
  sum.peak_memory_bytes = std::max(sum.peak_memory_bytes, part.peak_memory_bytes);
  std::memcpy(sum.advice, part.advice, sizeof(sum.advice));
  sum.seconds_check += part.seconds_check;
  sum.seconds_plan += part.seconds_plan;
  sum.seconds_exchange += part.seconds_exchange;
  sum.seconds_build += part.seconds_build;
  sum.seconds_write += part.seconds_write;
  sum.seconds_commit += part.seconds_commit;
  sum.seconds_total += part.seconds_total;
}

void add_names_to_files(bat_insitu& handle)
{
  if (!handle.pattern.has_name())
  {
    handle.pattern.add_name();
    handle.writer = insitu::SeriesWriter(handle.pattern, handle.options);
    handle.writer.keep_memory(handle.kept_memory);
    if (handle.tracks)
    {
      handle.writer.set_tracks(*handle.tracks);
    }
  }
}

// Collective. `names` are the species on this rank; returns the species on all ranks.
std::vector<std::string> name_species(bat_insitu& handle, std::vector<std::string> names)
{
  names = mpi::gather_names(handle.comm, names);
  if (std::any_of(names.begin(), names.end(), [](const std::string& n) { return !n.empty(); }))
  {
    add_names_to_files(handle);
  }
  // A step without particles still counts as a step of all known species.
  if (names.empty())
  {
    names = handle.known.empty() ? std::vector<std::string>{ "" } : handle.known;
  }
  for (const std::string& name : names)
  {
    if (std::find(handle.known.begin(), handle.known.end(), name) == handle.known.end())
    {
      handle.known.push_back(name);
    }
  }
  return names;
}

const std::optional<insitu::TrackOptions>& tracks_of(
  const bat_insitu& handle, const bat_insitu::OwnOptions& own)
{
  return own.has_tracks ? own.tracks : handle.tracks;
}

// The part of a step that one writer handles.
struct Turn
{
  insitu::SeriesWriter& writer;
  bool requested_files;
  bool requested_tracks;
  std::vector<insitu::Species> species;
  std::vector<insitu::WrittenFile> files;
};

// The same on all ranks, except for their particles. `names` are the species on all ranks.
std::vector<Turn> turns_of(bat_insitu& handle, const std::vector<std::string>& names)
{
  std::vector<Turn> turns;
  Turn others{ handle.writer, handle.requested_files, handle.requested_tracks, {}, {} };
  bool has_others = false;
  for (const std::string& name : names)
  {
    const auto own = handle.of_species.find(name);
    const auto here = std::find_if(handle.species.begin(), handle.species.end(),
      [&](const insitu::Species& s) { return s.name == name; });
    insitu::Species species{ name, {} };
    if (here != handle.species.end())
    {
      species.pieces = std::move(here->pieces);
    }
    if (own != handle.of_species.end())
    {
      turns.push_back({ own->second.writer, own->second.requested_files,
        own->second.requested_tracks, { std::move(species) }, {} });
    }
    else
    {
      has_others = true;
      others.species.push_back(std::move(species));
    }
  }
  if (has_others)
  {
    turns.push_back(std::move(others));
  }
  return turns;
}

void keep_report(bat_insitu& handle, const std::vector<insitu::WrittenFile>& files, bat_report& sum)
{
  std::string json = "[";
  for (const insitu::WrittenFile& file : files)
  {
    json += (json.size() == 1 ? "" : ",") + to_json(file);
    add_up(sum, c_report(file.report));
  }
  handle.written = json + "]";
}

// Collective. Checks that all ranks agree on what the step writes.
void require_same_due(const bat_insitu& handle)
{
  std::vector<std::string> due = { fmt::format(
    "all {:d} {:d}", handle.requested_files, handle.requested_tracks) };
  for (const auto& [name, own] : handle.of_species)
  {
    due.push_back(
      fmt::format("species {} {:d} {:d}", name, own.requested_files, own.requested_tracks));
  }
  mpi::require_same(handle.comm, std::move(due), "the flag for a requested step");
}

// Collective. Writes the tracks of all writers and returns the first error.
std::optional<Error> write_tracks(const bat_insitu& handle, const std::vector<Turn>& turns)
{
  std::optional<Error> failure;
  for (const Turn& turn : turns)
  {
    std::optional<Error> error;
    if (turn.requested_tracks)
    {
      error = attempt([&]
        { (void)turn.writer.write_tracks(handle.comm, handle.step, handle.time, turn.species); });
    }
    if (error && !failure)
    {
      failure.emplace(*error);
    }
  }
  return failure;
}

// Collective. `names` are the species on this rank.
void write_step(bat_insitu& handle, std::vector<std::string> names, bat_report& sum)
{
  require_same_due(handle);
  if (!handle.due)
  {
    return;
  }
  std::vector<Turn> turns = turns_of(handle, name_species(handle, std::move(names)));
  std::vector<insitu::WrittenFile> files;
  for (Turn& turn : turns)
  {
    if (turn.requested_files)
    {
      turn.files = turn.writer.write_files(handle.comm, handle.step, handle.time, turn.species);
      files.insert(files.end(), turn.files.begin(), turn.files.end());
    }
  }
  // A failing list does not affect tracks, and failing tracks do not affect the list. All ranks get
  // the same errors.
  const std::optional<Error> failure = write_tracks(handle, turns);
  for (const Turn& turn : turns)
  {
    turn.writer.write_lists(handle.comm, turn.files, handle.step, handle.time);
  }
  if (failure)
  {
    throw Error(*failure);
  }
  if (!files.empty())
  {
    keep_report(handle, files, sum);
  }
}
}
}

using namespace bat::capi;

int bat_insitu_open(MPI_Comm comm, const char* files, const bat_options* options, bat_insitu** out)
{
  if (out)
  {
    *out = nullptr;
  }
  bat_insitu* opened = nullptr;
  std::string pattern;
  int status = collective(comm,
    [&]
    {
      need(out, "result pointer");
      pattern = path_of_root(comm, files);
      if (options)
      {
        check(*options);
      }
    });
  if (status != BAT_OK)
  {
    return status;
  }
  status = guard(
    [&]
    {
      const std::vector<std::string> patterns = bat::mpi::gather_names(comm, { pattern });
      opened =
        new bat_insitu(comm, bat::insitu::FilePattern(patterns.front()), write_options(options));
    });
  status = agree(comm, status);
  if (status != BAT_OK)
  {
    delete opened;
    return status;
  }
  *out = opened;
  return BAT_OK;
}

int bat_insitu_open_f(
  MPI_Fint comm, const char* files, const bat_options* options, bat_insitu** out)
{
  return bat_insitu_open(from_fortran(comm), files, options, out);
}

void bat_insitu_close(bat_insitu* insitu)
{
  delete insitu;
}

int bat_insitu_set_every(bat_insitu* insitu, int64_t every)
{
  return guard(
    [&]
    {
      need(insitu, "handle");
      if (every < 1)
      {
        refuse(fmt::format("every is {} steps; at least 1 is required", every));
      }
      insitu->every = every;
    });
}

int bat_insitu_set_tracks(
  bat_insitu* insitu, const char* options, int type, const void* ids, uint64_t count)
{
  return guard(
    [&]
    {
      bat_insitu& handle = need(insitu, "handle");
      bat::insitu::TrackOptions tracks = bat::insitu::parse_track_options(options ? options : "{}");
      if (ids)
      {
        tracks.ids = numbers_of(
          type_of(type), ids, static_cast<std::size_t>(need_size(count, "the id count")));
      }
      bat::insitu::check(tracks);
      handle.writer.set_tracks(tracks);
      for (auto& [name, own] : handle.of_species)
      {
        if (!own.has_tracks)
        {
          own.writer.set_tracks(tracks);
        }
      }
      handle.tracks = std::move(tracks);
    });
}

int bat_insitu_set_species(bat_insitu* insitu, const char* species, int64_t every,
  const bat_options* options, const char* tracks)
{
  return guard(
    [&]
    {
      bat_insitu& handle = need(insitu, "handle");
      const std::string name = need_text(species, "the species name");
      if (name.empty())
      {
        refuse("the name of the species is empty; only named species can have their own options");
      }
      if (every < 0)
      {
        refuse(fmt::format("every is {} steps; allowed are 1 or more, or 0 for the value of all "
                           "species",
          every));
      }
      if (options)
      {
        check(*options);
      }
      std::optional<bat::insitu::TrackOptions> of_tracks;
      if (tracks && *tracks != '\0')
      {
        of_tracks = bat::insitu::parse_track_options(tracks);
        bat::insitu::check(*of_tracks);
      }
      add_names_to_files(handle);
      const bat::mpi::WriteOptions writes = options ? write_options(options) : handle.options;
      bat_insitu::OwnOptions own{ every, writes, tracks != nullptr, std::move(of_tracks),
        bat::insitu::SeriesWriter(handle.pattern, writes) };
      own.writer.keep_memory(handle.kept_memory);
      if (tracks_of(handle, own))
      {
        own.writer.set_tracks(*tracks_of(handle, own));
      }
      handle.of_species.insert_or_assign(name, std::move(own));
    });
}

int bat_insitu_keep_memory(bat_insitu* insitu, int64_t max_bytes)
{
  return guard(
    [&]
    {
      need(insitu, "handle");
      if (max_bytes < 0)
      {
        refuse(fmt::format("memory to keep is {} bytes; it must not be negative", max_bytes));
      }
      insitu->kept_memory = static_cast<std::uint64_t>(max_bytes);
      insitu->writer.keep_memory(insitu->kept_memory);
      for (auto& [name, own] : insitu->of_species)
      {
        own.writer.keep_memory(insitu->kept_memory);
      }
    });
}

int bat_insitu_begin_step(bat_insitu* insitu, int64_t step, double time, int* due)
{
  return guard(
    [&]
    {
      bat_insitu& handle = need(insitu, "handle");
      handle.open = true;
      handle.requested_files = handle.begun % handle.every == 0;
      handle.requested_tracks = handle.tracks && handle.begun % handle.tracks->every == 0;
      handle.due = handle.requested_files || handle.requested_tracks;
      for (auto& [name, own] : handle.of_species)
      {
        const auto& tracks = tracks_of(handle, own);
        own.requested_files = handle.begun % (own.every == 0 ? handle.every : own.every) == 0;
        own.requested_tracks = tracks && handle.begun % tracks->every == 0;
        handle.due = handle.due || own.requested_files || own.requested_tracks;
      }
      ++handle.begun;
      handle.step = step;
      handle.time = time;
      handle.species.clear();
      handle.refused.reset();
      if (due)
      {
        *due = handle.due ? 1 : 0;
      }
    });
}

int bat_insitu_add(bat_insitu* insitu, const char* species, const bat_particles* particles)
{
  return guard_step(insitu, [&] { add(insitu, species, particles, {}); });
}

int bat_insitu_add_without_ghosts(bat_insitu* insitu, const char* species,
  const bat_particles* particles, int type, const void* ghosts, size_t stride)
{
  return guard_step(insitu,
    [&]
    {
      bat::ArrayView marks = bat::ArrayView::packed(type_of(type), 1, ghosts);
      marks.stride_bytes = stride_of(stride, marks.stride_bytes, "ghosts");
      add(insitu, species, particles, marks);
    });
}

int bat_insitu_fail(bat_insitu* insitu, int status, const char* text)
{
  return guard_step(insitu,
    [&]
    {
      need(insitu, "handle");
      if (status <= BAT_OK || status > BAT_INTERNAL)
      {
        refuse(fmt::format("{} is not an error status; allowed are 1 to {}", status,
          static_cast<int>(BAT_INTERNAL)));
      }
      throw bat::Error(code_of(status), need_text(text, "text"));
    });
}

int bat_insitu_end_step(bat_insitu* insitu, bat_report* report)
{
  bat_report sum{};
  if (report)
  {
    *report = sum;
  }
  if (const int status = guard([&] { need(insitu, "handle"); }))
  {
    return status;
  }
  bat_insitu& handle = *insitu;
  std::vector<std::string> names;
  int status = collective(handle.comm,
    [&]
    {
      for (const bat::insitu::Species& s : handle.species)
      {
        names.push_back(s.name);
      }
      if (!handle.open)
      {
        refuse("no step was started");
      }
      if (handle.refused)
      {
        throw bat::Error(code_of(handle.refused->first), handle.refused->second);
      }
    });
  if (status == BAT_OK)
  {
    status = guard([&] { write_step(handle, std::move(names), sum); });
  }
  handle.open = false;
  handle.species.clear();
  if (status == BAT_OK && report)
  {
    *report = sum;
  }
  return status;
}

int bat_insitu_written(const bat_insitu* insitu, const char** json)
{
  return guard([&] { need(json, "result pointer") = need(insitu, "handle").written.c_str(); });
}
