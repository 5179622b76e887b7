// SPDX-License-Identifier: BSD-3-Clause
// The input of flow traces: time levels of a velocity field on a uniform grid, cut into bricks
// that are read one by one. Classes that hold such fields implement it
// (bat/bricks/series.hpp).
#pragma once

#include "bat/types.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bat
{
/// A uniform grid of points, cut into bricks of `edge` points along each axis; those at the upper
/// faces may have fewer. An axis of one point has no extent: the flow on the others is 2-D or 1-D.
struct BrickGrid
{
  static constexpr std::int64_t max_points = 0x7FFFFFFF; ///< along an axis
  static constexpr int min_edge = 4;
  static constexpr int max_edge = 32;
  static constexpr std::uint64_t max_bricks = (std::uint64_t{ 1 } << 36) - 1;

  std::array<std::int64_t, 3> points{ 1, 1, 1 }; ///< along x, y, z; 1 to max_points
  std::array<double, 3> origin{};                ///< position of point 0 0 0, finite
  std::array<double, 3> spacing{ 1, 1, 1 };      ///< finite, above 0
  /// True if a last cell leads from the last point back to the first: the period is points *
  /// spacing. Not along an axis of one point.
  std::array<bool, 3> cyclic{};
  int edge = 8;                          ///< brick edge in points: min_edge to max_edge
  int components = 3;                    ///< velocity components: 3, or 2 for x and y
  ScalarType type = ScalarType::Float32; ///< or Float64

  /// Number of bricks along an axis.
  [[nodiscard]] std::int64_t bricks(std::size_t axis) const noexcept
  {
    return (this->points[axis] + this->edge - 1) / this->edge;
  }
  [[nodiscard]] std::uint64_t brick_count() const noexcept
  {
    return static_cast<std::uint64_t>(this->bricks(0)) *
      static_cast<std::uint64_t>(this->bricks(1)) * static_cast<std::uint64_t>(this->bricks(2));
  }
  /// Number of the brick at a position among the bricks, x fastest.
  [[nodiscard]] std::uint64_t brick_number(const std::array<std::int64_t, 3>& at) const noexcept
  {
    return static_cast<std::uint64_t>(at[0] + this->bricks(0) * (at[1] + this->bricks(1) * at[2]));
  }
  [[nodiscard]] std::array<std::int64_t, 3> brick_place(std::uint64_t brick) const noexcept
  {
    const auto n = static_cast<std::int64_t>(brick);
    const std::int64_t row = n / this->bricks(0);
    return { n % this->bricks(0), row % this->bricks(1), row / this->bricks(1) };
  }
  /// Number of points along an axis for the brick at position `at` on that axis.
  [[nodiscard]] int brick_points(std::size_t axis, std::int64_t at) const noexcept
  {
    const std::int64_t left = this->points[axis] - at * this->edge;
    return static_cast<int>(left < this->edge ? left : this->edge);
  }
  /// Number of cells along an axis; 0 if it has one point.
  [[nodiscard]] std::int64_t cells(std::size_t axis) const noexcept
  {
    return this->points[axis] - (this->cyclic[axis] ? 0 : 1);
  }
  /// Size of the velocity at one point, in bytes.
  [[nodiscard]] std::size_t point_bytes() const noexcept
  {
    return tuple_bytes(this->type, this->components);
  }
  friend bool operator==(const BrickGrid& a, const BrickGrid& b) noexcept
  {
    return a.points == b.points && a.origin == b.origin && a.spacing == b.spacing &&
      a.cyclic == b.cyclic && a.edge == b.edge && a.components == b.components && a.type == b.type;
  }
  friend bool operator!=(const BrickGrid& a, const BrickGrid& b) noexcept { return !(a == b); }
};

/// Describes a grid's fault as part of a sentence; empty if the grid is valid.
[[nodiscard]] std::string find_fault(const BrickGrid& grid);

/// Memory for the points of one brick: x is packed, rows and planes have distances.
struct BrickMemory
{
  std::byte* first = nullptr;  ///< point 0 0 0 of the brick
  std::size_t row_bytes = 0;   ///< distance between neighbours along y
  std::size_t plane_bytes = 0; ///< distance between neighbours along z
};

/// A velocity field in bricks, at one or more times. All functions are const and may be called
/// concurrently.
class BrickSource
{
public:
  virtual ~BrickSource() = default;

  [[nodiscard]] virtual const BrickGrid& grid() const noexcept = 0;
  /// Times of the levels, finite and strictly increasing.
  [[nodiscard]] virtual const std::vector<double>& times() const noexcept = 0;
  /// The name of level `level` in messages.
  [[nodiscard]] virtual std::string level_name(std::size_t level) const = 0;
  /// Fills the points of a brick at a time level: components interleaved, NaN where there is no
  /// flow. Returns the number of bytes read from disk. Throws Error, naming file, level, brick,
  /// what was found and what is allowed.
  virtual std::uint64_t read(std::size_t level, std::uint64_t brick, BrickMemory to) const = 0;
  /// Returns whether `later` contains everything that was read from this source, unchanged, and
  /// possibly later times: results computed from this source stay valid and can be continued. False
  /// if unknown.
  [[nodiscard]] virtual bool continues_in(const BrickSource& later) const { return this == &later; }
  /// Returns whether bricks come from far away, so that it helps to request many of them together
  /// with prefetch() before they are read.
  [[nodiscard]] virtual bool can_prefetch() const noexcept { return false; }
  /// Requests bricks of a level that will be read soon. May wait for what locates them, but not for
  /// the bricks. Never fails: faults appear when bricks are read.
  virtual void prefetch(std::size_t level, const std::vector<std::uint64_t>& bricks) const noexcept
  {
    static_cast<void>(level);
    static_cast<void>(bricks);
  }
};
}
