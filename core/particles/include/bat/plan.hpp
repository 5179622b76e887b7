// SPDX-License-Identifier: BSD-3-Clause
// Assigns particles to leaf files, and these to the ranks that write them: the Aggregation Tree of
// the paper (Section III-A) as a pure function of a summary of particle positions.
#pragma once

#include "bat/types.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace bat
{
/// How particles are divided into leaf files.
enum class PlanMode : std::uint8_t
{
  Adaptive,   ///< cuts anywhere, through a rank's particles too, but between ranks where that
              ///< keeps leaf files within about 8 % of their mean; leaf boxes are disjoint
  RankBorder, ///< the paper's: cuts at rank box borders, a rank goes to one leaf file whole
  Aug         ///< adjustable uniform grid over the bounds, a rank goes to one leaf file whole
};

/// Some of one rank's particles: their number, and a box in which they are assumed to be spread
/// evenly.
struct WeightedCell
{
  std::array<float, 3> lower{};
  std::array<float, 3> upper{};
  double particles = 0;   ///< an estimate; all cells of a rank add up to its number of particles
  std::uint32_t rank = 0; ///< ascending over a list of cells
};

/// The box and number of a rank's particles.
struct RankBounds
{
  Box box;                ///< closed; around all particles whose coordinates are finite
  double particles = 0;   ///< number on the rank, including those without finite coordinates
  std::uint32_t rank = 0; ///< ascending over a list of bounds
};

/// The user's choices for a plan: options for a write by many ranks (bat/write_options.hpp).
struct PlanRules
{
  PlanMode mode = PlanMode::Adaptive;
  /// Target size of a leaf file. 0 chooses it from the particles, their size and the number of
  /// ranks.
  std::uint64_t target_bytes = 0;
  /// RankBorder only: search all three axes for the best split, not only the longest.
  bool find_best_axis = true;
  /// RankBorder only: a split whose larger side exceeds the smaller this many times may be
  /// refused...
  double max_split_imbalance_ratio = 4.0;
  /// ... if the leaf then is at most this many times the target.
  double max_overfull_factor = 1.5;
};

struct PlanOptions : PlanRules
{
  std::uint64_t bytes_per_particle = 1;
  std::uint32_t ranks = 1;
  int threads = 0; ///< maximum; 0 for as many as oneTBB finds. Does not change the plan.
};

/// A node of the plan's tree, in preorder.
struct PlanNode
{
  double split = 0;        ///< inner: particles with coordinate < split go left, all others right
  std::uint32_t right = 0; ///< inner: number of the right child (the left one is the next node)
  std::uint32_t leaf = 0;  ///< leaf: number of the leaf file
  std::int8_t axis = -1;   ///< 0, 1, 2; -1 for a leaf
};

struct Plan
{
  PlanMode mode = PlanMode::Adaptive;
  std::uint64_t target_bytes = 0;     ///< the one given, or the one chosen
  std::uint32_t leaf_count = 0;       ///< 0 if there are no particles
  std::vector<double> leaf_particles; ///< per leaf file, estimated from the cells
  /// The rank that writes each leaf file. Writers are spread evenly over the ranks, near those that
  /// have the particles.
  std::vector<std::uint32_t> aggregators;
  std::vector<PlanNode> nodes; ///< Adaptive: never empty unless leaf_count is 0
  /// RankBorder and Aug only: the leaf file of every rank; 0 for ranks without particles.
  std::vector<std::uint32_t> leaf_of_rank;

  /// Adaptive only: the leaf file for a position. Coordinates that are NaN go right.
  [[nodiscard]] std::uint32_t leaf_at(double x, double y, double z) const noexcept;
  /// Adaptive only: the leaf file for all positions in a box, if they share one.
  [[nodiscard]] std::optional<std::uint32_t> find_leaf(const Box& box) const noexcept;
};

/// Makes a plan. The same cells, options and bounds give the same plan on any machine. `bounds` are
/// those of all ranks that have particles, or empty: Adaptive then ignores borders between ranks.
/// Throws Error{InvalidArgument}: a box with NaN or infinite ends or lower > upper, a negative or
/// non-finite number of particles, a rank beyond `ranks`, bounds that name a rank twice or differ
/// from its cells in the number of particles, options out of range.
[[nodiscard]] Plan make_plan(const std::vector<WeightedCell>& cells, const PlanOptions& options,
  const std::vector<RankBounds>& bounds = {});

/// The target size that make_plan chooses for 0: one leaf file per rank at up to 16 ranks, one per
/// 4 ranks up to 1024 and one per 16 beyond (paper, Section VI; never fewer files on more ranks).
/// The mean is at least 4 MiB while there are several files, and no file exceeds 4 GiB or 2^31
/// particles, even at 15 % above the mean.
[[nodiscard]] std::uint64_t auto_target_bytes(
  std::uint64_t particles, std::uint64_t bytes_per_particle, std::uint32_t ranks) noexcept;

/// Summarises `count` positions of one rank in cells, for Adaptive: a k-d tree over a sample of at
/// most `sample` of them (0: 16 per cell, at least 2,048), cut into at most `cells` cells, smaller
/// where particles are dense or uneven. Each has the box of its sampled particles, widened by half
/// their mean distance. Particles with a NaN or infinite coordinate are left out of boxes but
/// counted. Positions are read as `type` (Float32 or Float64) from component[c] + i * stride_bytes;
/// only the sample is read. Cells have whole numbers of particles that add up to `count`; no cells
/// if that is 0. Throws Error{InvalidArgument}: another type, 0 cells.
[[nodiscard]] std::vector<WeightedCell> summarise(ScalarType type,
  const std::array<const std::byte*, 3>& component, std::size_t stride_bytes, std::uint64_t count,
  std::uint32_t rank, std::uint32_t cells, std::uint32_t sample = 0);

/// Number of cells per rank that keeps leaf files within 15 % of their mean where ranks have about
/// equal numbers of particles.
[[nodiscard]] std::uint32_t cells_per_rank(std::uint32_t ranks, std::uint32_t leaf_files) noexcept;

/// The same for a rank with `particles` of `all_particles`: half of the cells are distributed
/// evenly and half by particles, so that a rank with most of the particles does not blur most of
/// the files. At least 1.
[[nodiscard]] std::uint32_t cells_of_rank(std::uint64_t particles, std::uint64_t all_particles,
  std::uint32_t ranks, std::uint32_t leaf_files) noexcept;
}
