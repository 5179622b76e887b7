// SPDX-License-Identifier: BSD-3-Clause
// Applies options that name attributes to the species that have them.
//
// An option applies to the species that have the attribute. The others are written without it: an
// index of "mass" does not keep photons, which have none, from being written.
#pragma once

#include "bat/insitu.hpp"
#include "parallel/comm.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bat::insitu
{
class SpeciesOptions
{
public:
  explicit SpeciesOptions(mpi::WriteOptions options);

  /// Collective. Returns the options for each species of a step, whose pieces are `pieces[i]` on
  /// this rank. A single species keeps all options. Throws Error{InvalidArgument}, on all ranks, if
  /// no species so far has a name and a species has particles.
  [[nodiscard]] std::vector<mpi::WriteOptions> of_step(
    const mpi::OwnComm& comm, const std::vector<std::vector<mpi::Piece>>& pieces);

  [[nodiscard]] const mpi::WriteOptions& all() const noexcept { return this->options_; }

private:
  mpi::WriteOptions options_;
  std::vector<std::string> names_; ///< names in the options, without bounds
  std::set<std::string> known_;    ///< those that a species of a step so far has
};

/// Does the same for tracks. A species without the attribute that the options name for ids has no
/// tracks.
class SpeciesTracks
{
public:
  explicit SpeciesTracks(TrackOptions options = {});

  /// Collective. Returns the options for each species of a step; empty for a species without
  /// tracks, or without particles so far. They are determined when a species first has particles.
  /// Throws Error{InvalidArgument}, on all ranks, as SpeciesOptions::of_step does.
  [[nodiscard]] std::vector<std::optional<TrackOptions>> of_step(const mpi::OwnComm& comm,
    const std::vector<std::string>& species, const std::vector<std::vector<mpi::Piece>>& pieces);

  [[nodiscard]] const TrackOptions& all() const noexcept { return this->options_; }

private:
  TrackOptions options_;
  std::vector<std::string> names_;
  std::set<std::string> known_;
  std::map<std::string, std::optional<TrackOptions>> settled_; ///< by species
};
}
