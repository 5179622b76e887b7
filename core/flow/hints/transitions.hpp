// SPDX-License-Identifier: BSD-3-Clause
// Statistics of earlier runs about where particles go: how many moved from a brick to each
// neighbour.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace bat::flow
{
/// A brick in an interval between two time levels, in one direction of time.
using HintNode = std::uint64_t;

/// What a particle does in a node, in 6 bits. Moves are (x + 1) + 3 (y + 1) + 9 (z + 1) of the way
/// to the neighbour.
namespace hint_step
{
inline constexpr unsigned kMoves = 27; ///< moves to 26 neighbours in the same interval
inline constexpr unsigned kEnds = 13;  ///< the move to itself: the particle ends, or is lost
inline constexpr unsigned kNext = 27;  ///< up to 54: moves with which the next interval begins
inline constexpr unsigned kLeave = 54; ///< steps below leave the node: their shares add up to 1
/// The state needs part p, 1 to 7: points of the neighbour after the upper faces of axes p.
inline constexpr unsigned kNeeds = 53;
inline constexpr unsigned kEnd = 61; ///< there are no steps from here on
}

/// Returns nothing if the numbers do not fit: interval below 2^21, brick below 2^36.
[[nodiscard]] std::optional<HintNode> hint_node(
  bool backward, std::size_t interval, std::uint64_t brick) noexcept;

/// A transition is a node with a step, in this order; each has a count of 1 to 65,535.
inline constexpr unsigned kStepBits = 6;

/// Sorted, immutable transitions.
class HintGraph
{
public:
  static constexpr std::uint64_t kMaxCount = 65535;
  static constexpr std::size_t kBytes = 10; ///< size of a transition, in memory and in a file

  HintGraph() = default;
  /// Takes transitions from a file; returns nothing if they violate the rules of this class.
  [[nodiscard]] static std::optional<HintGraph> of(
    std::vector<std::uint64_t>&& transitions, std::vector<std::uint16_t>&& counts);

  [[nodiscard]] std::size_t size() const noexcept { return this->transitions_.size(); }
  [[nodiscard]] const std::vector<std::uint64_t>& transitions() const noexcept
  {
    return this->transitions_;
  }
  [[nodiscard]] const std::vector<std::uint16_t>& counts() const noexcept { return this->counts_; }
  /// Returns the indices of the first transition of a node and of the one after its last.
  [[nodiscard]] std::pair<std::size_t, std::size_t> find(HintNode node) const noexcept;
  [[nodiscard]] unsigned step(std::size_t i) const noexcept
  {
    return static_cast<unsigned>(this->transitions_[i] & ((1u << kStepBits) - 1));
  }

  /// Merges with `more`, keeping at most `maximum` transitions: counts are halved, and those that
  /// become 0 are dropped, until few enough are left. If a count of a node is too large, all counts
  /// of that node are halved.
  [[nodiscard]] HintGraph merged(const HintGraph& more, std::size_t maximum) const;

private:
  friend class HintLog;
  void append(HintNode node, std::vector<std::pair<unsigned, std::uint64_t>>& steps);

  std::vector<std::uint64_t> transitions_;
  std::vector<std::uint16_t> counts_;
};

/// The transitions that one thread of a run has seen.
class HintLog
{
public:
  /// Keeps at most that many transitions, in twice the memory of a graph.
  explicit HintLog(std::size_t maximum)
    : max_(maximum)
  {
  }
  void add(HintNode node, unsigned step, std::uint64_t count);
  /// Returns all, at most as many transitions as are kept, and forgets them.
  [[nodiscard]] HintGraph take();

private:
  struct Seen
  {
    std::uint64_t transition = 0;
    std::uint64_t count = 0;
  };
  void gather();

  std::size_t max_;
  std::vector<Seen> seen_;
  std::size_t room_ = std::size_t{ 1 } << 12; ///< number of entries before equal ones are merged
};
}
