// SPDX-License-Identifier: BSD-3-Clause
// Tests boxes of the index, and positions, against regions: a box and other
// shapes.
#pragma once

#include "bat/query.hpp"
#include "common/elements.hpp"
#include "particles/query/matches.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bat::query
{
/// The relation between the particles in a box of the index and a condition.
enum class Relation
{
  Outside, ///< nothing meets it
  Partial,
  Inside ///< everything does
};

[[nodiscard]] constexpr Relation reversed(Relation relation, bool reverse) noexcept
{
  return !reverse || relation == Relation::Partial ? relation
    : relation == Relation::Inside                 ? Relation::Outside
                                                   : Relation::Inside;
}

/// Places x with lower <= normal . (x - origin) <= upper, in the order of bat/query.hpp.
struct Band
{
  std::array<double, 3> normal{};
  std::array<double, 3> origin{};
  double lower = 0;
  double upper = 0;
};

/// A checked shape: the ball around `center`, or the intersection of all bands.
struct ShapeCondition
{
  bool is_ball = false;
  std::array<double, 3> center{};
  double radius_squared = 0;
  std::vector<Band> bands;
  bool negated = false;
};

struct Places
{
  std::optional<Box> box;
  std::vector<ShapeCondition> shapes; ///< all of them

  [[nodiscard]] bool everywhere() const noexcept { return !this->box && this->shapes.empty(); }
};

/// Throws Error{InvalidArgument}; the message names `file`.
[[nodiscard]] Places make_places(const std::string& file, const Query& query);

/// Returns the relation between particles in the closed box from `lower` to `upper` and places. If
/// a side is infinite, some of the coordinates may be NaN.
[[nodiscard]] Relation relate(const double* lower, const double* upper, const Places& places);

/// Keeps those of the next particles of `matches` that are in all places. `positions` are x, y, z
/// of type `type`.
void match_places(ScalarType type, const Elements* positions, std::size_t part_count,
  const Places& places, Matches& matches);
}
