// Planes that part ranks without parting the particles of any.
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
  double left = 0;               ///< particles
  double right = 0;
  std::uint32_t left_leaves = 0; ///< leaf files to cut them into
};

/// Ranks all of whose particles are in one part of the tree.
class WholeRanks
{
public:
  WholeRanks() = default;
  /// `ranks` must outlive this; those without particles are left out.
  explicit WholeRanks(const std::vector<RankBounds>& ranks);

  [[nodiscard]] std::size_t size() const noexcept { return this->by_lower_[0].size(); }

  /// Of the borders that part the ranks into leaf files near `mean` particles the one that comes
  /// nearest to halves, along the first of `axes` if several do.
  [[nodiscard]] std::optional<Border> find_border(
    const std::array<std::size_t, 3>& axes, std::uint32_t leaves, double mean) const;

  /// Those on the left, and those on the right.
  [[nodiscard]] std::pair<WholeRanks, WholeRanks> divide(const Border& border) const;

private:
  const std::vector<RankBounds>* ranks_ = nullptr;
  /// Per axis: places in ranks_, in order of the lower ends of boxes.
  std::array<std::vector<std::uint32_t>, 3> by_lower_;
};
}
