// SPDX-License-Identifier: BSD-3-Clause
#include "bat/flow/array_source.hpp"

#include "bat/error.hpp"
#include "common/fail.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <utility>

namespace bat::flow
{
namespace
{
constexpr char kSubject[] = "velocities in memory"; // for messages

}

ArraySource::ArraySource(
  const BrickGrid& grid, std::vector<double> times, std::vector<const void*> levels)
  : grid_(grid)
  , times_(std::move(times))
  , levels_(std::move(levels))
{
  if (const std::string fault = find_fault(grid); !fault.empty())
  {
    refuse(kSubject, fault);
  }
  if (this->times_.size() != this->levels_.size())
  {
    refuse(
      kSubject, fmt::format("{} times for {} arrays", this->times_.size(), this->levels_.size()));
  }
  for (std::size_t i = 0; i != this->times_.size(); ++i)
  {
    if (!std::isfinite(this->times_[i]) || (i != 0 && !(this->times_[i] > this->times_[i - 1])))
    {
      refuse(kSubject,
        fmt::format("the time {} of step {}{} is invalid; times must be finite and increase",
          this->times_[i], i, i == 0 ? "" : fmt::format(", behind {}", this->times_[i - 1])));
    }
    if (!this->levels_[i])
    {
      refuse(kSubject, fmt::format("the array of step {} is null", i));
    }
  }
}

std::string ArraySource::level_name(std::size_t level) const
{
  return fmt::format("step {} in memory", level);
}

std::uint64_t ArraySource::read(std::size_t level, std::uint64_t brick, BrickMemory to) const
{
  if (level >= this->levels_.size() || brick >= this->grid_.brick_count())
  {
    refuse(kSubject,
      fmt::format("brick {} of step {} is out of range; the source has {} and {}", brick, level,
        this->grid_.brick_count(), this->levels_.size()));
  }
  const std::array<std::int64_t, 3> place = this->grid_.brick_place(brick);
  const std::size_t point = this->grid_.point_bytes();
  const auto* const values = static_cast<const std::byte*>(this->levels_[level]);
  const auto row = static_cast<std::size_t>(this->grid_.brick_points(0, place[0])) * point;
  for (int z = 0; z != this->grid_.brick_points(2, place[2]); ++z)
  {
    for (int y = 0; y != this->grid_.brick_points(1, place[1]); ++y)
    {
      const std::int64_t first = place[0] * this->grid_.edge +
        this->grid_.points[0] *
          (place[1] * this->grid_.edge + y +
            this->grid_.points[1] * (place[2] * this->grid_.edge + z));
      std::memcpy(to.first + static_cast<std::size_t>(z) * to.plane_bytes +
          static_cast<std::size_t>(y) * to.row_bytes,
        values + static_cast<std::size_t>(first) * point, row);
    }
  }
  return 0;
}
}
