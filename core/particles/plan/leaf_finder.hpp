// SPDX-License-Identifier: BSD-3-Clause
// Finds the leaf files for many positions.
#pragma once

#include "bat/plan.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bat::plan
{
/// Plan::leaf_at for positions of one rank. Copies the part of the tree that its box reaches:
/// of thousands of leaf files, a rank reaches a few. const functions may be called
/// concurrently.
class LeafFinder
{
public:
  /// `bounds` contains all positions to be queried; unset: they may be anywhere, or NaN.
  LeafFinder(const Plan& plan, const std::optional<Box>& bounds);

  [[nodiscard]] std::uint32_t operator()(const std::array<double, 3>& position) const noexcept
  {
    // Every path down has the same number of steps, and none is a branch: half of them would be
    // mispredicted.
    const Node* const nodes = this->nodes_.data();
    std::uint32_t node = 0;
    for (std::uint32_t step = 0; step != this->depth_; ++step)
    {
      const Node& inner = nodes[node];
      node = inner.next[position[inner.axis] < inner.split];
    }
    return nodes[node].leaf;
  }

private:
  struct Node
  {
    double split = 0;
    std::array<std::uint32_t, 2> next{}; ///< right, left; of a leaf: itself
    std::uint32_t axis = 0;
    std::uint32_t leaf = 0;
  };

  struct Added
  {
    std::uint32_t node;
    std::uint32_t depth;
  };
  Added add(const Plan& plan, std::size_t at, const std::optional<Box>& bounds);

  std::vector<Node> nodes_;
  std::uint32_t depth_ = 0;
};
}
