// SPDX-License-Identifier: BSD-3-Clause
// Chosen particles through the steps of a series.
#pragma once

#include "bat/error.hpp"
#include "bat/ids.hpp"
#include "bat/series.hpp"
#include "bat/types.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bat
{
/// Which particles to follow, and what is wanted of them.
struct FollowRequest
{
  /// An attribute with one component; "" for the one that find_id_attribute() finds.
  std::string id_attribute;
  /// Any numbers but NaN, in any order; compared without rounding. One that occurs twice is
  /// followed twice.
  std::vector<Number> ids;
  /// Of ids that are unique only together with another attribute, e.g. the "cpu" of AMReX: its
  /// name, "" for the one that find_second_id_attribute() finds, and its value for each of `ids`.
  /// Without values: all particles with such an id.
  std::string second_attribute;
  std::vector<Number> second;
  /// Names, each once. Nothing: all attributes that any step has, but for the two above.
  std::optional<std::vector<std::string>> attributes;

  /// Unwrapping: a particle that leaves a periodic domain on one side and comes back on the other
  /// goes on outside. Of two steps in which it is there, the one after the other, it moves by less
  /// than half of the domain on each axis. This is the domain; an axis whose ends are infinite is
  /// not periodic. Positions become float64 then.
  std::optional<Box> periodic_box;
  /// The domain that each file names instead, in its metadata: {"periodic_box": {"lower": [x, y,
  /// z], "upper": [x, y, z]}}, null for the ends of an axis that is not periodic, or what
  /// converters keep of LAMMPS, GSD, H5MD, and of MDAnalysis; it may change and be tilted.
  bool unwrap_by_files = false;
};

struct FollowOptions
{
  /// Most threads; 0 for as many as oneTBB finds. Steps are read in parallel. Does not change the
  /// answer.
  int threads = 0;
  /// Called from the calling thread with a fraction in [0, 1], never less than before; false
  /// cancels.
  std::function<bool(double)> progress;
  /// Maps files instead of reading them, which takes two thirds of the time where many pages have
  /// a particle each; see OpenOptions::map for which files it is.
  bool map = false;
  /// Goes on without files that are missing or damaged: Trails::problems has them. Without it the
  /// error of the first step that has one is thrown.
  bool leave_out_damaged = false;
};

/// Values of all particles in all steps: shape (steps, ids, components), packed.
struct TrailColumn
{
  std::string name; ///< "positions" for the positions
  /// Holds the values of all steps exactly, whatever type they have there.
  ScalarType type = ScalarType::Float64;
  int components = 1;
  std::vector<std::byte> values;     ///< of who is absent: NaN, or 0 of integers
  std::vector<std::uint8_t> in_step; ///< 1 if particles of the step have the attribute; per step
};

/// A step as it was read; of a tracks file, a sample.
struct TrailStep
{
  std::filesystem::path path;
  std::optional<double> time;       ///< as listed, else as the dataset says
  std::optional<std::int64_t> step; ///< as the dataset says
};

/// What is wrong with a file of a step, without whose particles the trails are.
struct TrailProblem
{
  std::size_t step = 0;
  ErrorCode code = ErrorCode::Corrupt;
  std::string text;
};

/// Chosen particles through all steps. A value.
struct Trails
{
  std::vector<TrailStep> steps;
  std::size_t ids = 0; ///< their number
  /// Particles with the id, shape (steps, ids): 0 if it is absent; of several, values are those of
  /// the first in the order of the dataset.
  std::vector<std::uint32_t> counts;
  TrailColumn positions;
  std::vector<TrailColumn> attributes;
  std::vector<TrailProblem> problems; ///< ascending steps
  /// Steps with particles that have no sorted index of the ids, and how many particles' ids were
  /// compared for it.
  std::size_t steps_without_index = 0;
  std::uint64_t compared = 0;
  std::uint64_t bytes_read = 0;
  /// What would make it faster, for people; "" if nothing would.
  std::string advice;

  [[nodiscard]] bool is_there(std::size_t step, std::size_t id) const
  {
    return this->counts[step * this->ids + id] != 0;
  }
};

/// Finds particles by their ids in every step, and reads what they have there. Looks ids up
/// together, in the sorted index where there is one, else through the bitmaps; reads only the
/// columns that are asked for, and of these only the pages with the particles. Each step is opened
/// once and closed again. A path of a tracks file (bat/tracks.hpp) stands for all of its samples,
/// of which the histories that are asked for are read. Memory grows with steps x ids, not with
/// particles. Not collective; thread-safe.
///
/// Throws Error: InvalidArgument if there are no ids or one is NaN, `second` is of another length,
/// no step has an attribute that is asked for, an attribute has other numbers of components in
/// other steps or types of which none holds both exactly, or a domain is none; Cancelled; those of
/// Dataset::open() and select().
[[nodiscard]] Trails follow(const std::vector<SeriesStep>& steps, const FollowRequest& request,
  const FollowOptions& options = {});
}
