// SPDX-License-Identifier: BSD-3-Clause
// Chooses from a sample how the chunks of a column become frames.
#pragma once

#include "codec/column_plan.hpp"
#include "codec/grid.hpp"

#include <cstddef>
#include <cstdint>

namespace bat::codec
{
/// As Plan.
[[nodiscard]] ColumnPlan plan_column(const ColumnShape& shape, Grid grid, const std::byte* values,
  std::uint64_t count, std::size_t chunk);
}
