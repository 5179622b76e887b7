// SPDX-License-Identifier: BSD-3-Clause
// Arrays of a simulation as arrays of the writer: borrowed where they can be, else packed.
#pragma once

#include "node.hpp"

#include "bat/particles.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace bat::catalyst
{
/// Maps values of a simulation's array to particles.
struct Order
{
  std::uint64_t particles = 0;
  std::vector<std::uint64_t> values; ///< empty: value i is particle i's

  [[nodiscard]] std::uint64_t value_of(std::uint64_t particle) const noexcept
  {
    return this->values.empty() ? particle : this->values[particle];
  }
};

/// Makes views, and owns the copies of those that are not borrowed.
class Arrays
{
public:
  /// `components` (1 to kMaxComponents, each long enough) as one array. Copied if their types or
  /// strides differ, or their order is not that of the particles; then values of different types
  /// become one type that holds them all.
  [[nodiscard]] ArrayView attribute(const std::vector<Numbers>& components, const Order& order);
  /// The same for 1 to 3 coordinates, as three of a floating type: others are 0, integers float64.
  [[nodiscard]] ArrayView positions(const std::vector<Numbers>& axes, const Order& order);
  /// Zeroed; lives as long as this object.
  [[nodiscard]] std::byte* room(std::size_t bytes);

private:
  [[nodiscard]] ArrayView packed(
    const std::vector<Numbers>& components, const Order& order, ScalarType type, int columns);

  std::vector<std::unique_ptr<std::byte[]>> copies_;
};
}
