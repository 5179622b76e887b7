// Summaries of particles that lie anywhere.
#pragma once

#include "bat/plan.hpp"

#include <functional>

namespace bat::plan
{
/// Position of a particle; exact for either type of positions.
using PositionOf = std::function<std::array<double, 3>(std::uint64_t)>;

/// As bat::summarise, of particles whose positions are asked for one by one.
[[nodiscard]] std::vector<WeightedCell> summarise(ScalarType type, const PositionOf& position_of,
  std::uint64_t count, std::uint32_t rank, std::uint32_t cells, std::uint32_t sample = 0);
}
