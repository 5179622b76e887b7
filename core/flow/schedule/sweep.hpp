// SPDX-License-Identifier: BSD-3-Clause
// The order of bricks and intervals for particles all over the domain.
//
// If particles need most bricks but memory holds only part of them, any order that goes interval by
// interval reads each brick twice: at the end of one interval, and at the beginning of the next.
// Therefore a few intervals, a window, pass through the domain together, plane of bricks by plane,
// each a little after the one before. A brick is read when the first of them reaches it and stays
// until the last has passed: only the levels at which windows meet are read twice.
#pragma once

#include "bat/brick_source.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::flow
{
/// Orders are below 2^63 for every allowed grid. Thread-safe.
class Sweep
{
public:
  /// A box of bricks, including its upper corner.
  struct Region
  {
    std::array<std::int64_t, 3> lower{};
    std::array<std::int64_t, 3> upper{};

    [[nodiscard]] std::int64_t bricks(std::size_t axis) const noexcept
    {
      return this->upper[axis] - this->lower[axis] + 1;
    }
  };
  /// Intervals of a run.
  struct Intervals
  {
    std::int32_t first = 0;
    std::int32_t last = 0;
  };
  /// Plans a sweep through `region`, where particles begin in the `occupied` bricks, with memory
  /// for `slots` bricks; with `in_step`, one interval after another.
  Sweep(const BrickGrid& grid, const Region& region, std::uint64_t occupied, Intervals intervals,
    std::size_t slots, bool in_step);

  /// The position in a sweep. A lower window comes first; within a window, a lower order.
  struct Turn
  {
    std::int32_t window = 0;
    std::uint64_t order = 0;
  };
  [[nodiscard]] Turn find_turn(
    std::int32_t interval, const std::array<std::int64_t, 3>& place) const noexcept;

  /// The axis after whose upper faces the sweep has already been.
  [[nodiscard]] std::size_t axis() const noexcept { return this->axes_[2]; }
  /// The last interval of the current window.
  [[nodiscard]] std::int32_t end_of_window(std::int32_t interval) const noexcept
  {
    return interval - (interval - this->intervals_.first) % this->window_ + this->window_ - 1;
  }
  /// Rows that may be read before the sweep reaches them.
  [[nodiscard]] std::uint64_t rows_ahead() const noexcept { return this->rows_ahead_; }
  /// Returns whether most bricks of the region are needed.
  [[nodiscard]] bool is_dense() const noexcept { return this->is_dense_; }

  /// Returns the plane of bricks in which the first interval of the window is.
  [[nodiscard]] std::uint64_t plane_of(const Turn& turn) const noexcept
  {
    return turn.order / this->turns_of_plane();
  }
  /// Returns the last plane at which a particle may still need a brick at the time with which an
  /// interval begins: particles in the bricks before it need it, unless they travel farther back.
  [[nodiscard]] std::uint64_t last_plane_of(
    std::int32_t interval, std::int64_t place_along_axis) const noexcept;

  /// A row of bricks, by number, for each interval of a window.
  [[nodiscard]] std::uint64_t row_of(const Turn& turn) const noexcept;
  struct Visit
  {
    std::int32_t interval = 0;
    std::array<std::int64_t, 3> place{};
  };
  /// Lists the bricks visited in a row, whether or not they hold particles.
  void collect_visits(std::uint64_t row, std::vector<Visit>& visits) const;

private:
  [[nodiscard]] std::uint64_t turns_of_row() const noexcept
  {
    return static_cast<std::uint64_t>(this->window_) *
      static_cast<std::uint64_t>(this->bricks_[this->axes_[0]]);
  }
  [[nodiscard]] std::uint64_t turns_of_plane() const noexcept
  {
    return this->rows_ * this->turns_of_row();
  }

  Region region_;
  std::array<std::int64_t, 3> bricks_{}; ///< number of bricks in the grid
  std::array<std::size_t, 3> axes_{};    ///< along rows, along planes, across planes
  Intervals intervals_;
  std::int32_t window_ = 1;
  std::int32_t per_plane_ = 1; ///< intervals that are in one plane at a time
  bool is_dense_;
  std::uint64_t rows_ahead_ = 1;
  std::uint64_t planes_ = 1; ///< planes of a window, including those for later intervals
  std::uint64_t rows_ = 1;   ///< rows of a plane, likewise
};
}
