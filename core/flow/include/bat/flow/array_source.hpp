// SPDX-License-Identifier: BSD-3-Clause
// Velocity fields in memory as a flow source.
#pragma once

#include "bat/brick_source.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bat::flow
{
/// Time levels of a velocity in the caller's arrays, one array for each time: x fastest, components
/// interleaved, of the grid's type and components, NaN where there is no flow. The arrays must
/// live, unchanged, as long as the source and all its caches.
class ArraySource : public BrickSource
{
public:
  /// Throws Error{InvalidArgument} if the grid is invalid (find_fault()), if times are not finite
  /// or do not increase, if their number differs from that of arrays, or for a null pointer.
  ArraySource(const BrickGrid& grid, std::vector<double> times, std::vector<const void*> levels);

  [[nodiscard]] const BrickGrid& grid() const noexcept override { return this->grid_; }
  [[nodiscard]] const std::vector<double>& times() const noexcept override { return this->times_; }
  [[nodiscard]] std::string level_name(std::size_t level) const override;
  /// Returns 0, as nothing is read from disk. Throws Error{InvalidArgument} if the level or brick
  /// does not exist.
  std::uint64_t read(std::size_t level, std::uint64_t brick, BrickMemory to) const override;

private:
  BrickGrid grid_;
  std::vector<double> times_;
  std::vector<const void*> levels_;
};
}
