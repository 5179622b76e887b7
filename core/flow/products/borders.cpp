// SPDX-License-Identifier: BSD-3-Clause
#include "bat/flow/borders.hpp"

#include <algorithm>
#include <cmath>

namespace bat::flow
{
namespace
{
constexpr int kMaxBorders = 1000;

double period(const BrickGrid& grid, std::size_t axis)
{
  return static_cast<double>(grid.points[axis]) * grid.spacing[axis];
}

// Counts the copies of the box between it and a position, along an axis.
double copies(const BrickGrid& grid, std::size_t axis, double position)
{
  return grid.cyclic[axis] ? std::floor((position - grid.origin[axis]) / period(grid, axis)) : 0.0;
}

class Cutter
{
public:
  explicit Cutter(const BrickGrid& grid)
    : grid_(grid)
  {
  }

  void begin(const std::array<double, 3>& position, std::uint64_t point)
  {
    for (std::size_t a = 0; a != 3; ++a)
    {
      this->copy_[a] = copies(this->grid_, a, position[a]);
    }
    this->cut_.points.push_back({ this->in_copy(position), point, 0 });
  }

  // Finds the borders that a segment crosses, and its end.
  void go(const std::array<double, 3>& from, const std::array<double, 3>& to, std::uint64_t before)
  {
    for (int passed = 0;; ++passed)
    {
      const Border border = this->first_border(from, to);
      if (border.share > 1)
      {
        break;
      }
      if (passed == kMaxBorders)
      {
        this->end();
        this->begin(to, before + 1);
        return;
      }
      this->pass(from, to, before, border);
    }
    this->cut_.points.push_back({ this->in_copy(to), before + 1, 0 });
  }

  CutLine finish()
  {
    this->end();
    return std::move(this->cut_);
  }

private:
  struct Border
  {
    std::size_t axis = 0;
    bool is_upper = false;
    double share = 2; ///< share of the segment; above 1: none
  };

  [[nodiscard]] double side(std::size_t axis, bool is_upper) const
  {
    return this->grid_.origin[axis] +
      (this->copy_[axis] + (is_upper ? 1 : 0)) * period(this->grid_, axis);
  }

  [[nodiscard]] Border first_border(
    const std::array<double, 3>& from, const std::array<double, 3>& to) const
  {
    Border first;
    for (std::size_t a = 0; a != 3; ++a)
    {
      const bool is_upper = to[a] > from[a];
      const double at = this->side(a, is_upper);
      if (!this->grid_.cyclic[a] || (is_upper ? to[a] <= at : to[a] >= at))
      {
        continue;
      }
      const double share = std::clamp((at - from[a]) / (to[a] - from[a]), 0.0, 1.0);
      if (share < first.share)
      {
        first = { a, is_upper, share };
      }
    }
    return first;
  }

  void pass(const std::array<double, 3>& from, const std::array<double, 3>& to,
    std::uint64_t before, const Border& border)
  {
    std::array<double, 3> position{};
    for (std::size_t a = 0; a != 3; ++a)
    {
      position[a] = from[a] + border.share * (to[a] - from[a]);
    }
    position[border.axis] = this->side(border.axis, border.is_upper);
    const std::array<double, 3> here = this->in_copy(position);
    this->copy_[border.axis] += border.is_upper ? 1 : -1;
    const auto first =
      this->cut_.points.begin() + static_cast<std::ptrdiff_t>(this->cut_.offsets.back());
    if (std::all_of(first, this->cut_.points.end(),
          [&](const CutLine::Point& p) { return p.position == here; }))
    {
      // A line that begins on the border begins on the side towards which it moves.
      std::for_each(first, this->cut_.points.end(),
        [&](CutLine::Point& p) { p.position = this->in_copy(position); });
      return;
    }
    // Excludes the next point, although doubles may not distinguish the two.
    const double share = std::min(border.share, std::nextafter(1.0, 0.0));
    if (this->cut_.points.back().position != here)
    {
      this->cut_.points.push_back({ here, before, share });
    }
    this->end();
    this->cut_.points.push_back({ this->in_copy(position), before, share });
  }

  [[nodiscard]] std::array<double, 3> in_copy(std::array<double, 3> position) const
  {
    for (std::size_t a = 0; a != 3; ++a)
    {
      if (this->grid_.cyclic[a])
      {
        const double length = period(this->grid_, a);
        const double low = this->grid_.origin[a];
        position[a] = std::clamp(position[a] - this->copy_[a] * length, low, low + length);
      }
    }
    return position;
  }

  void end() { this->cut_.offsets.push_back(this->cut_.points.size()); }

  const BrickGrid& grid_;
  std::array<double, 3> copy_{};
  CutLine cut_;
};
}

std::array<double, 3> wrapped(const BrickGrid& grid, const std::array<double, 3>& position) noexcept
{
  std::array<double, 3> inside = position;
  for (std::size_t a = 0; a != 3; ++a)
  {
    const double low = grid.origin[a];
    const double length = period(grid, a);
    inside[a] -= copies(grid, a, position[a]) * length;
    inside[a] = grid.cyclic[a] && !(inside[a] >= low && inside[a] < low + length) ? low : inside[a];
  }
  return inside;
}

CutLine cut_at_borders(const BrickGrid& grid, const std::vector<std::array<double, 3>>& line)
{
  if (line.empty())
  {
    return {};
  }
  Cutter cutter(grid);
  cutter.begin(line.front(), 0);
  for (std::size_t i = 1; i != line.size(); ++i)
  {
    cutter.go(line[i - 1], line[i], i - 1);
  }
  return cutter.finish();
}
}
