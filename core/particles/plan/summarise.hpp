// SPDX-License-Identifier: BSD-3-Clause
// Summarises particles at any positions.
#pragma once

#include "bat/plan.hpp"

#include <functional>

namespace bat::plan
{
/// Position of a particle; exact for either type of positions.
using PositionOf = std::function<std::array<double, 3>(std::uint64_t)>;

/// Returns all particles of a rank as one cell. An empty `box` has lower ends above its upper
/// ones.
[[nodiscard]] WeightedCell box_cell(const Box& box, std::uint64_t count, std::uint32_t rank);

/// Works as bat::summarise, for particles whose positions are queried one by one.
[[nodiscard]] std::vector<WeightedCell> summarise(ScalarType type,
  const PositionOf& compute_position, std::uint64_t count, std::uint32_t rank, std::uint32_t cells,
  std::uint32_t sample = 0);
}
