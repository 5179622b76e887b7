// SPDX-License-Identifier: BSD-3-Clause
// Follows selected particles through the steps of a series.
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
/// Selects the particles to follow, and the values to read.
struct FollowRequest
{
  /// An attribute with one component; "" for the one that find_id_attribute() finds.
  std::string id_attribute;
  /// Any numbers except NaN, in any order, compared without rounding. An id listed twice is
  /// followed twice.
  std::vector<Number> ids;
  /// For ids that are unique only together with another attribute, e.g. the "cpu" of AMReX: the
  /// name of that attribute, "" for the one that find_second_id_attribute() finds, and its value
  /// for each of `ids`. Without values, all particles with such an id are followed.
  std::string second_attribute;
  std::vector<Number> second;
  /// Names, each once. Unset: all attributes that any step has, except for the two above.
  std::optional<std::vector<std::string>> attributes;

  /// The periodic domain for unwrapping: a particle that leaves it on one side and reenters on the
  /// other continues outside. Between two consecutive steps in which it is present it must move by
  /// less than half of the domain on each axis. An axis whose ends are infinite is not periodic.
  /// Unwrapped positions are float64.
  std::optional<Box> periodic_box;
  /// Takes the domain from each file's metadata instead: {"periodic_box": {"lower": [x, y, z],
  /// "upper": [x, y, z]}}, null for the ends of an axis that is not periodic, or the cell that
  /// converters keep from LAMMPS, GSD, H5MD and MDAnalysis. The domain may change and be tilted.
  bool unwrap_by_files = false;
};

struct FollowOptions
{
  /// Maximum number of threads; 0 for as many as oneTBB finds. Steps are read in parallel. Does not
  /// change the answer.
  int threads = 0;
  /// Called from the calling thread with a fraction in [0, 1], never less than before; false
  /// cancels.
  std::function<bool(double)> progress;
  /// Maps files instead of reading them, which takes two thirds of the time if many pages contain
  /// one requested particle each. OpenOptions::map describes which files allow it.
  bool map = false;
  /// Skips files that are missing or damaged and lists them in Trails::problems. Otherwise the
  /// error of the first step that has one is thrown.
  bool leave_out_damaged = false;
};

/// Values of all particles in all steps: shape (steps, ids, components), packed.
struct TrailColumn
{
  std::string name; ///< "positions" for the positions
  /// A type that holds the values of all steps exactly, whatever their types.
  ScalarType type = ScalarType::Float64;
  int components = 1;
  std::vector<std::byte> values;     ///< NaN, or 0 for integers, if absent
  std::vector<std::uint8_t> in_step; ///< 1 if particles of the step have the attribute; per step
};

/// A step as it was read; in a tracks file, a sample.
struct TrailStep
{
  std::filesystem::path path;
  std::optional<double> time;       ///< as listed, else from the dataset
  std::optional<std::int64_t> step; ///< from the dataset
};

/// The error in a step's file, whose particles the trails lack.
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
  std::size_t ids = 0; ///< number of ids
  /// Number of particles with the id, shape (steps, ids); 0 if it is absent. If there are several,
  /// the values are those of the first in dataset order.
  std::vector<std::uint32_t> counts;
  TrailColumn positions;
  std::vector<TrailColumn> attributes;
  std::vector<TrailProblem> problems; ///< ascending steps
  /// Steps with particles but without a sorted index of the ids, and the number of particles whose
  /// ids were compared because of it.
  std::size_t steps_without_index = 0;
  std::uint64_t compared = 0;
  std::uint64_t bytes_read = 0;
  /// Advice for making it faster, as text for the user; "" if there is none.
  std::string advice;

  [[nodiscard]] bool is_there(std::size_t step, std::size_t id) const
  {
    return this->counts[step * this->ids + id] != 0;
  }
};

/// Finds particles by their ids in every step, and reads their values there. Looks all ids up
/// together, in the sorted index if there is one, else through the bitmaps. Reads only the
/// requested columns, and of these only the pages with the particles. Each step is opened once and
/// closed again. The path of a tracks file (bat/tracks.hpp) stands for all of its samples; only the
/// requested histories are read. Memory grows with steps x ids, not with particles. Not collective;
/// thread-safe.
///
/// Throws Error: InvalidArgument if there are no ids or one is NaN, `second` has another length, no
/// step has a requested attribute, an attribute changes its number of components between steps or
/// no type holds its types exactly, or a domain is invalid; Cancelled; those of Dataset::open() and
/// select().
[[nodiscard]] Trails follow(const std::vector<SeriesStep>& steps, const FollowRequest& request,
  const FollowOptions& options = {});
}
