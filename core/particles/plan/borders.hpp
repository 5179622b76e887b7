// SPDX-License-Identifier: BSD-3-Clause
// Finds planes that separate ranks while dividing the particles of no rank, or of few.
#pragma once

#include "bat/plan.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace bat::plan
{
/// All particles of some ranks have coordinates < split, those of the others do not.
struct Border
{
  std::size_t axis = 0;
  double split = 0;
  double left = 0; ///< particles
  double right = 0;
  std::uint32_t left_leaves = 0; ///< leaf files to cut them into
};

/// Ranks whose particles are all in one node of the tree, and the larger parts of other ranks.
class NodeRanks
{
public:
  NodeRanks() = default;
  /// `ranks` must outlive this; those without particles are left out.
  explicit NodeRanks(const std::vector<RankBounds>& ranks);

  /// Returns the number of particles that a plane separates from the larger part of their rank.
  /// Particles count as evenly spread in their rank's box.
  [[nodiscard]] double parted_by(std::size_t axis, double split) const noexcept;

  /// Finds the border between ranks that comes nearest to halves among those that keep leaf files
  /// near `mean` particles, on the first of `axes` if several do. Empty if other ranks also have
  /// particles in the node.
  [[nodiscard]] std::optional<Border> find_border(
    const std::array<std::size_t, 3>& axes, std::uint32_t leaves, double mean) const;

  /// Splits into the ranks left of a plane and those right of it. Only the larger part of a divided
  /// rank is kept.
  [[nodiscard]] std::pair<NodeRanks, NodeRanks> divide(std::size_t axis, double split) const;

private:
  const std::vector<RankBounds>* ranks_ = nullptr;
  /// Undivided ranks, per axis: indices into ranks_, sorted by the lower ends of boxes.
  std::array<std::vector<std::uint32_t>, 3> by_lower_;
  std::vector<RankBounds> parted_; ///< larger parts
  bool are_all_whole_ = true;      ///< no other rank has particles in the node
};
}
