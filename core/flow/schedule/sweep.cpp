// SPDX-License-Identifier: BSD-3-Clause
#include "flow/schedule/sweep.hpp"

#include <algorithm>

namespace bat::flow
{
namespace
{
// Intervals that pass through a plane before the next plane's turn. Few particles travel farther
// than one brick in that many intervals.
constexpr std::int32_t kIntervalsPerPlane = 3;
constexpr std::int32_t kMaxWindow = 256;
constexpr double kMinDenseShare = 0.7; // share of bricks that are occupied
// Rows in memory next to a plane: the row that is prefetched, and its neighbours.
constexpr double kExtraRows = 3.5;

// Returns the planes of bricks that a window of that many intervals needs in memory.
std::int32_t planes_for(std::int32_t window, std::int32_t per_plane)
{
  return window + (window + per_plane - 1) / per_plane;
}
}

Sweep::Sweep(const BrickGrid& grid, const Region& region, std::uint64_t occupied,
  Intervals intervals, std::size_t slots, bool in_step)
  : region_(region)
  , intervals_(intervals)
{
  for (std::size_t a = 0; a != 3; ++a)
  {
    this->bricks_[a] = grid.bricks(a);
    this->axes_[a] = a;
  }
  // Planes across the longest axis are the smallest.
  std::stable_sort(this->axes_.begin(), this->axes_.end(),
    [&](std::size_t a, std::size_t b) { return region.bricks(a) < region.bricks(b); });
  const auto row = static_cast<double>(region.bricks(this->axes_[0]));
  const double plane = row * static_cast<double>(region.bricks(this->axes_[1]));
  const double all = plane * static_cast<double>(region.bricks(this->axes_[2]));
  const double share = static_cast<double>(occupied) / all;
  this->is_dense_ = share >= kMinDenseShare;
  if (!in_step)
  {
    // Particles also need the bricks after their own, and those that they go to.
    const double needed = std::min(1.0, 2 * share) * (plane + kExtraRows * row);
    const double room = static_cast<double>(slots) / std::max(needed, 1.0);
    const std::int32_t count = intervals.last - intervals.first + 1;
    const std::int32_t maximum = std::min(count, kMaxWindow);
    while (this->window_ < maximum && planes_for(this->window_ + 1, kIntervalsPerPlane) <= room)
    {
      ++this->window_;
    }
    if (this->window_ == count)
    {
      this->rows_ahead_ = 3; // there is room
    }
    // Makes all windows about equally long.
    const std::int32_t windows = (count + this->window_ - 1) / this->window_;
    this->window_ = (count + windows - 1) / windows;
    // The farther apart the intervals of a window are, the fewer particles return to the planes of
    // the interval before.
    while (
      this->per_plane_ != kIntervalsPerPlane && planes_for(this->window_, this->per_plane_) > room)
    {
      ++this->per_plane_;
    }
  }
  const auto behind = static_cast<std::uint64_t>((this->window_ - 1) / this->per_plane_);
  this->planes_ = static_cast<std::uint64_t>(this->bricks_[this->axes_[2]]) + behind;
  this->rows_ = static_cast<std::uint64_t>(this->bricks_[this->axes_[1]] + this->window_ - 1);
}

Sweep::Turn Sweep::find_turn(
  std::int32_t interval, const std::array<std::int64_t, 3>& place) const noexcept
{
  // The sweep goes from the upper end of each axis to the lower one: bricks that cells at upper
  // faces need, and to which particles return, are then still cached.
  std::array<std::uint64_t, 3> at{};
  for (std::size_t i = 0; i != 3; ++i)
  {
    const std::size_t a = this->axes_[i];
    at[i] = static_cast<std::uint64_t>(this->bricks_[a] - 1 - place[a]);
  }
  Turn turn;
  turn.window = (interval - this->intervals_.first) / this->window_;
  const std::int32_t number = (interval - this->intervals_.first) % this->window_;
  const auto n = static_cast<std::uint64_t>(number);
  const std::uint64_t plane = at[2] + static_cast<std::uint64_t>(number / this->per_plane_);
  const std::uint64_t row = plane * this->rows_ + at[1] + n;
  turn.order = row * this->turns_of_row() +
    n * static_cast<std::uint64_t>(this->bricks_[this->axes_[0]]) + at[0];
  return turn;
}

std::uint64_t Sweep::last_plane_of(
  std::int32_t interval, std::int64_t place_along_axis) const noexcept
{
  const std::int32_t number = (interval - this->intervals_.first) % this->window_;
  const std::int64_t plane = this->bricks_[this->axes_[2]] - 1 - place_along_axis;
  return static_cast<std::uint64_t>(plane + 1 + number / this->per_plane_);
}

std::uint64_t Sweep::row_of(const Turn& turn) const noexcept
{
  return static_cast<std::uint64_t>(turn.window) * this->planes_ * this->rows_ +
    turn.order / this->turns_of_row();
}

void Sweep::collect_visits(std::uint64_t row, std::vector<Visit>& visits) const
{
  visits.clear();
  const auto window = static_cast<std::int32_t>(row / (this->planes_ * this->rows_));
  const auto plane = static_cast<std::int64_t>(row / this->rows_ % this->planes_);
  const auto in_plane = static_cast<std::int64_t>(row % this->rows_);
  for (std::int32_t n = 0; n != this->window_; ++n)
  {
    Visit visit;
    visit.interval = this->intervals_.first + window * this->window_ + n;
    const std::array<std::size_t, 3>& axes = this->axes_;
    visit.place[axes[2]] = this->bricks_[axes[2]] - 1 - (plane - n / this->per_plane_);
    visit.place[axes[1]] = this->bricks_[axes[1]] - 1 - (in_plane - n);
    const auto is_outside = [&](std::size_t a)
    { return visit.place[a] < this->region_.lower[a] || visit.place[a] > this->region_.upper[a]; };
    if (visit.interval > this->intervals_.last || is_outside(axes[2]) || is_outside(axes[1]))
    {
      continue;
    }
    for (std::int64_t x = this->region_.upper[axes[0]]; x >= this->region_.lower[axes[0]]; --x)
    {
      visit.place[axes[0]] = x;
      visits.push_back(visit);
    }
  }
}
}
