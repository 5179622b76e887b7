// SPDX-License-Identifier: BSD-3-Clause
// Passes a simulation's arrays to the writer: borrowed if possible, else packed.
#pragma once

#include "node.hpp"

#include "bat/particles.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace bat::catalyst
{
/// Maps values in a simulation's array to particles.
struct Order
{
  std::uint64_t particles = 0;
  std::vector<std::uint64_t> values; ///< empty: value i belongs to particle i

  [[nodiscard]] std::uint64_t value_of(std::uint64_t particle) const noexcept
  {
    return this->values.empty() ? particle : this->values[particle];
  }
};

/// Creates views, and owns the copies of arrays that cannot be borrowed.
class Arrays
{
public:
  /// Combines `components` (1 to kMaxComponents, each long enough) into one array. They are copied
  /// if their types or strides differ, or if their order differs from that of the particles; values
  /// of different types then become one type that holds them all.
  [[nodiscard]] ArrayView attribute(const std::vector<Numbers>& components, const Order& order);
  /// The same for 1 to 3 coordinates, which become three of a floating-point type: missing ones are
  /// 0, integers become float64.
  [[nodiscard]] ArrayView positions(const std::vector<Numbers>& axes, const Order& order);
  /// A zeroed array; lives as long as this object.
  [[nodiscard]] std::byte* room(std::size_t bytes);

private:
  [[nodiscard]] ArrayView packed(
    const std::vector<Numbers>& components, const Order& order, ScalarType type, int columns);

  std::vector<std::unique_ptr<std::byte[]>> copies_;
};
}
