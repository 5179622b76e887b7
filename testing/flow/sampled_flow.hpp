// SPDX-License-Identifier: BSD-3-Clause
// Velocity fields in memory for tests of traces, and brute-force traces.
#pragma once

#include "bat/brick_source.hpp"
#include "bat/error.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace sampled_flow
{
using Point = std::array<double, 3>;
using Field = std::function<Point(const Point&, double)>;

/// Values of a formula at all points and times, in bricks.
class Source : public bat::BrickSource
{
public:
  Source(bat::BrickGrid grid, std::vector<double> times, const Field& field)
    : grid_(grid)
    , times_(std::move(times))
  {
    for (const double t : this->times_)
    {
      std::vector<double> level;
      for (std::int64_t z = 0; z != grid.points[2]; ++z)
      {
        for (std::int64_t y = 0; y != grid.points[1]; ++y)
        {
          for (std::int64_t x = 0; x != grid.points[0]; ++x)
          {
            Point at{};
            const std::array<std::int64_t, 3> n{ x, y, z };
            for (std::size_t a = 0; a != 3; ++a)
            {
              at[a] = grid.origin[a] + static_cast<double>(n[a]) * grid.spacing[a];
            }
            const Point v = field(at, t);
            for (int c = 0; c != 3; ++c)
            {
              const double value = v[static_cast<std::size_t>(c)];
              level.push_back(grid.type == bat::ScalarType::Float32
                  ? static_cast<double>(static_cast<float>(value))
                  : value);
            }
          }
        }
      }
      this->values_.push_back(std::move(level));
    }
  }

  const bat::BrickGrid& grid() const noexcept override { return this->grid_; }
  const std::vector<double>& times() const noexcept override { return this->times_; }
  std::string level_name(std::size_t level) const override
  {
    return "level " + std::to_string(level);
  }
  std::uint64_t read(std::size_t level, std::uint64_t brick, bat::BrickMemory to) const override
  {
    ++this->reads;
    if (this->before_read)
    {
      this->before_read(level, brick);
    }
    const auto place = this->grid_.brick_place(brick);
    for (int z = 0; z != this->grid_.brick_points(2, place[2]); ++z)
    {
      for (int y = 0; y != this->grid_.brick_points(1, place[1]); ++y)
      {
        std::byte* at = to.first + static_cast<std::size_t>(z) * to.plane_bytes +
          static_cast<std::size_t>(y) * to.row_bytes;
        for (int x = 0; x != this->grid_.brick_points(0, place[0]); ++x)
        {
          const double* v = this->value(level, place[0] * this->grid_.edge + x,
            place[1] * this->grid_.edge + y, place[2] * this->grid_.edge + z);
          for (int c = 0; c != this->grid_.components; ++c)
          {
            if (this->grid_.type == bat::ScalarType::Float32)
            {
              const auto f = static_cast<float>(v[c]);
              std::memcpy(at, &f, 4);
              at += 4;
            }
            else
            {
              std::memcpy(at, &v[c], 8);
              at += 8;
            }
          }
        }
      }
    }
    return 100;
  }

  const double* value(std::size_t level, std::int64_t x, std::int64_t y, std::int64_t z) const
  {
    return this->values_[level].data() +
      3 * (x + this->grid_.points[0] * (y + this->grid_.points[1] * z));
  }

  mutable std::atomic<std::uint64_t> reads{ 0 };
  std::function<void(std::size_t, std::uint64_t)> before_read;

private:
  bat::BrickGrid grid_;
  std::vector<double> times_;
  std::vector<std::vector<double>> values_;
};

/// Trilinear in space, linear in time, computed from all values. NaN outside.
inline Point velocity(const Source& source, const Point& at, double t)
{
  const bat::BrickGrid& grid = source.grid();
  const std::vector<double>& times = source.times();
  std::size_t level = 0;
  while (level + 2 < times.size() && t > times[level + 1])
  {
    ++level;
  }
  const double s = (t - times[level]) / (times[level + 1] - times[level]);
  std::array<std::int64_t, 3> n{};
  std::array<std::int64_t, 3> m{};
  Point f{};
  for (std::size_t a = 0; a != 3; ++a)
  {
    if (grid.points[a] == 1)
    {
      continue;
    }
    double x = (at[a] - grid.origin[a]) / grid.spacing[a];
    const auto cells = static_cast<double>(grid.cells(a));
    if (grid.cyclic[a])
    {
      x -= std::floor(x / cells) * cells;
    }
    if (!(x >= 0 && x <= cells))
    {
      return { std::nan(""), std::nan(""), std::nan("") };
    }
    const double cell = std::min(std::floor(x), cells - 1);
    n[a] = static_cast<std::int64_t>(cell);
    m[a] = (n[a] + 1) % grid.points[a];
    f[a] = x - cell;
  }
  Point v{};
  for (std::size_t c = 0; c != 3; ++c)
  {
    for (int corner = 0; corner != 8; ++corner)
    {
      const std::int64_t x = (corner & 1) != 0 ? m[0] : n[0];
      const std::int64_t y = (corner & 2) != 0 ? m[1] : n[1];
      const std::int64_t z = (corner & 4) != 0 ? m[2] : n[2];
      const double weight = ((corner & 1) != 0 ? f[0] : 1 - f[0]) *
        ((corner & 2) != 0 ? f[1] : 1 - f[1]) * ((corner & 4) != 0 ? f[2] : 1 - f[2]);
      if (weight != 0)
      {
        v[c] += weight *
          ((1 - s) * source.value(level, x, y, z)[c] + s * source.value(level + 1, x, y, z)[c]);
      }
    }
    if (grid.points[c] == 1)
    {
      v[c] = 0;
    }
  }
  return v;
}

/// Classic Runge-Kutta 4 with `steps` equal steps from each time level to the next; the last
/// position inside if it leaves. `visit(position, time)` is called at every step's end.
inline Point follow(const Source& source, Point at, double begin, double end, int steps,
  const std::function<void(const Point&, double)>& visit = {})
{
  std::vector<double> stops{ begin };
  for (const double t : source.times())
  {
    if ((t > begin && t < end) || (t < begin && t > end))
    {
      stops.push_back(t);
    }
  }
  stops.push_back(end);
  std::sort(stops.begin(), stops.end());
  if (end < begin)
  {
    std::reverse(stops.begin(), stops.end());
  }
  const auto moved = [](const Point& p, const Point& v, double h) {
    return Point{ p[0] + h * v[0], p[1] + h * v[1], p[2] + h * v[2] };
  };
  for (std::size_t i = 0; i + 1 < stops.size(); ++i)
  {
    const double h = (stops[i + 1] - stops[i]) / steps;
    for (int n = 0; n != steps; ++n)
    {
      // Only inside the interval: at its ends, two levels contribute on each side.
      const double t = stops[i] + n * h;
      const Point k1 = velocity(source, at, t + 1e-9 * h);
      const Point k2 = velocity(source, moved(at, k1, h / 2), t + h / 2);
      const Point k3 = velocity(source, moved(at, k2, h / 2), t + h / 2);
      const Point k4 = velocity(source, moved(at, k3, h), t + h - 1e-9 * h);
      Point next = at;
      for (std::size_t a = 0; a != 3; ++a)
      {
        next[a] += h / 6 * (k1[a] + 2 * k2[a] + 2 * k3[a] + k4[a]);
      }
      if (!(next[0] == next[0] && next[1] == next[1] && next[2] == next[2]))
      {
        return at;
      }
      at = next;
      if (visit)
      {
        visit(at, t + h);
      }
    }
  }
  return at;
}

/// A turning and stretching flow, with a period of 2 pi along each axis.
inline Point abc(const Point& p, double t)
{
  const double a = std::sqrt(3.0) + 0.5 * std::sin(3.14159265358979 * t);
  const double b = std::sqrt(2.0);
  return { a * std::sin(p[2]) + std::cos(p[1]), b * std::sin(p[0]) + a * std::cos(p[2]),
    std::sin(p[1]) + b * std::cos(p[0]) };
}
}
