// SPDX-License-Identifier: BSD-3-Clause
// Finds the particles of a leaf file that match.
#pragma once

#include "libbat/leaf.hpp"
#include "particles/query/conditions.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

namespace bat::libbat
{
[[nodiscard]] Selection select(
  const Leaf& leaf, const query::Conditions& conditions, const QueryOptions& options);
[[nodiscard]] std::uint64_t upper_bound(const Leaf& leaf, const query::Conditions& conditions);

/// Converts values as that library does, in one step, because two would round differently.
template <class V>
[[nodiscard]] float to_float(V value)
{
  if constexpr (std::is_same_v<V, double>)
  {
    if (std::abs(value) > std::numeric_limits<float>::max())
    {
      return value > 0 ? HUGE_VALF : -HUGE_VALF;
    }
  }
  return static_cast<float>(value);
}

/// Bits of a bitmap that values from `lower` to `upper` may have, and the adjacent bits, because
/// the library computes bits in float32. Empty if bitmaps cannot decide: values outside the
/// header's range have no bit.
[[nodiscard]] std::optional<std::uint32_t> bitmap_mask(
  const std::optional<FloatRange>& header_range, float lower, float upper);

/// The distance by which a particle may lie beyond the plane of a shallow node: cells and planes
/// are computed in float32.
[[nodiscard]] double plane_slack(const std::array<float, 6>& bounds, std::size_t axis);
}
