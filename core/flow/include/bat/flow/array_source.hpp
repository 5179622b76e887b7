// SPDX-License-Identifier: BSD-3-Clause
// Velocity fields that are in memory, as a source of flow.
#pragma once

#include "bat/brick_source.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bat::flow
{
/// Time levels of a velocity in arrays of the caller, one for each time: x fastest, components
/// interleaved, of the grid's type and components, NaN where there is no flow. They must live, and
/// stay as they are, as long as the source and all caches of it.
class ArraySource : public BrickSource
{
public:
  /// Throws Error{InvalidArgument}: a grid that cannot be (find_fault()), times that are not finite
  /// or do not increase, or are not as many as arrays, or a null pointer.
  ArraySource(const BrickGrid& grid, std::vector<double> times, std::vector<const void*> levels);

  [[nodiscard]] const BrickGrid& grid() const noexcept override { return this->grid_; }
  [[nodiscard]] const std::vector<double>& times() const noexcept override { return this->times_; }
  [[nodiscard]] std::string level_name(std::size_t level) const override;
  /// Returns 0: nothing comes from a disk. Throws Error{InvalidArgument}: no such level or brick.
  std::uint64_t read(std::size_t level, std::uint64_t brick, BrickMemory to) const override;

private:
  BrickGrid grid_;
  std::vector<double> times_;
  std::vector<const void*> levels_;
};
}
