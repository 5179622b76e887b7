// SPDX-License-Identifier: BSD-3-Clause
#include "insitu/species_options.hpp"

#include "bat/error.hpp"
#include "bat/ids.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

namespace bat::insitu
{
namespace
{
const char* const kPositions = "positions"; // as the name in bounds: the positions of every species

// The attribute named by a bound, such as temperature=0.5.
std::string name_of_bound(const std::string& bound)
{
  return bound.substr(0, bound.rfind('='));
}

// Returns those of `names` that a piece of this rank has.
std::vector<std::string> find_known(
  const std::vector<mpi::Piece>& pieces, const std::vector<std::string>& names)
{
  std::vector<std::string> known;
  std::copy_if(names.begin(), names.end(), std::back_inserter(known),
    [&](const std::string& name)
    {
      return name == kPositions ||
        std::any_of(pieces.begin(), pieces.end(),
          [&](const mpi::Piece& piece) { return names_attribute(piece.particles, name); });
    });
  return known;
}

std::vector<std::string> find_attributes(const std::vector<std::vector<mpi::Piece>>& pieces)
{
  std::vector<std::string> names;
  for (const std::vector<mpi::Piece>& of_species : pieces)
  {
    for (const mpi::Piece& piece : of_species)
    {
      for (const AttributeView& attribute : piece.particles.attributes)
      {
        names.push_back(attribute.name);
      }
    }
  }
  return names;
}

template <class IsKnown>
void keep_known(std::vector<std::string>& names, const IsKnown& is_known)
{
  names.erase(std::remove_if(names.begin(), names.end(),
                [&](const std::string& name) { return !is_known(name); }),
    names.end());
}

mpi::WriteOptions options_for(mpi::WriteOptions options, const std::vector<std::string>& known)
{
  const auto is_known = [&](const std::string& name)
  { return std::find(known.begin(), known.end(), name) != known.end(); };
  BuildOptions& build = options.build;
  keep_known(build.sorted_indexes, is_known);
  keep_known(build.stable_samples, is_known);
  keep_known(build.error_bounds, [&](const std::string& b) { return is_known(name_of_bound(b)); });
  if (build.compression == Compression::Bounded && build.error_bounds.empty())
  {
    build.compression = Compression::Lossless;
  }
  return options;
}

// Returns nothing if the species has no such ids.
std::optional<TrackOptions> tracks_for(TrackOptions options, const std::vector<std::string>& known)
{
  const auto is_known = [&](const std::string& name)
  { return std::find(known.begin(), known.end(), name) != known.end(); };
  if (!options.id_attribute.empty() && !is_known(options.id_attribute))
  {
    return std::nullopt;
  }
  if (!is_known(options.second_attribute))
  {
    options.second_attribute.clear();
  }
  if (options.attributes)
  {
    keep_known(*options.attributes, is_known);
  }
  return options;
}

// What all ranks together know about a species.
struct Found
{
  std::vector<std::string> known; ///< names found so far
  std::uint64_t particles = 0;
};

// Collective.
std::vector<Found> find(const mpi::OwnComm& comm,
  const std::vector<std::vector<mpi::Piece>>& pieces, const std::vector<std::string>& names)
{
  std::vector<Found> all(pieces.size());
  for (std::size_t i = 0; i != pieces.size(); ++i)
  {
    Found& found = all[i];
    mpi::collective(comm.get(),
      [&]
      {
        found.known = find_known(pieces[i], names);
        for (const mpi::Piece& piece : pieces[i])
        {
          found.particles += piece.particles.count;
        }
      });
    found.known = mpi::gather_names(comm, found.known);
    MPI_Allreduce(MPI_IN_PLACE, &found.particles, 1, MPI_UINT64_T, MPI_SUM, comm.get());
  }
  return all;
}

// Collective. Throws if a name is in none of `known`, to which those found are added.
void check_known(const mpi::OwnComm& comm, const std::vector<Found>& found,
  const std::vector<std::vector<mpi::Piece>>& pieces, const std::vector<std::string>& names,
  std::set<std::string>& known)
{
  std::uint64_t particles = 0;
  for (const Found& one : found)
  {
    known.insert(one.known.begin(), one.known.end());
    particles += one.particles;
  }
  const auto missing = std::find_if(
    names.begin(), names.end(), [&](const std::string& name) { return known.count(name) == 0; });
  if (particles == 0 || missing == names.end()) // as all ranks know
  {
    return;
  }
  std::vector<std::string> attributes;
  mpi::collective(comm.get(), [&] { attributes = find_attributes(pieces); });
  attributes = mpi::gather_names(comm, attributes);
  throw Error(ErrorCode::InvalidArgument,
    fmt::format("no species has an attribute '{}', which the options name; available: {}", *missing,
      fmt::join(attributes, ", ")));
}
}

SpeciesOptions::SpeciesOptions(mpi::WriteOptions options)
  : options_(std::move(options))
  , names_(this->options_.build.sorted_indexes)
{
  const BuildOptions& build = this->options_.build;
  this->names_.insert(this->names_.end(), build.stable_samples.begin(), build.stable_samples.end());
  std::transform(build.error_bounds.begin(), build.error_bounds.end(),
    std::back_inserter(this->names_), &name_of_bound);
}

std::vector<mpi::WriteOptions> SpeciesOptions::of_step(
  const mpi::OwnComm& comm, const std::vector<std::vector<mpi::Piece>>& pieces)
{
  std::vector<mpi::WriteOptions> options(pieces.size(), this->options_);
  if (pieces.size() < 2)
  {
    return options;
  }
  mpi::broadcast_names(comm, this->names_); // rank 0's names are used, as in each write
  if (this->names_.empty())
  {
    return options;
  }
  const std::vector<Found> found = find(comm, pieces, this->names_);
  check_known(comm, found, pieces, this->names_, this->known_);
  for (std::size_t i = 0; i != pieces.size(); ++i)
  {
    options[i] = options_for(this->options_, found[i].known);
  }
  return options;
}

SpeciesTracks::SpeciesTracks(TrackOptions options)
  : options_(std::move(options))
  , names_(this->options_.attributes.value_or(std::vector<std::string>()))
{
  for (const std::string& name : { this->options_.id_attribute, this->options_.second_attribute })
  {
    if (!name.empty())
    {
      this->names_.push_back(name);
    }
  }
}

std::vector<std::optional<TrackOptions>> SpeciesTracks::of_step(const mpi::OwnComm& comm,
  const std::vector<std::string>& species, const std::vector<std::vector<mpi::Piece>>& pieces)
{
  std::vector<std::optional<TrackOptions>> options(pieces.size(), this->options_);
  if (pieces.size() < 2 && this->settled_.empty())
  {
    return options;
  }
  mpi::broadcast_names(comm, this->names_);
  if (this->names_.empty())
  {
    return options;
  }
  const std::vector<Found> found = find(comm, pieces, this->names_);
  check_known(comm, found, pieces, this->names_, this->known_);
  for (std::size_t i = 0; i != pieces.size(); ++i)
  {
    if (found[i].particles != 0 && this->settled_.count(species[i]) == 0)
    {
      std::optional<TrackOptions> own = tracks_for(this->options_, found[i].known);
      int has_tracks = own ? 1 : 0;
      MPI_Bcast(&has_tracks, 1, MPI_INT, 0, comm.get());
      if (has_tracks != 0 && !own)
      {
        own = this->options_; // the recorder reports that they differ from rank 0's
      }
      this->settled_[species[i]] = has_tracks != 0 ? own : std::nullopt;
    }
    const auto settled = this->settled_.find(species[i]);
    options[i] = settled == this->settled_.end() ? std::nullopt : settled->second;
  }
  return options;
}
}
