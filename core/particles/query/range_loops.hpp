// SPDX-License-Identifier: BSD-3-Clause
// The loop that takes most of a range query's time, for processors with AVX2 and AVX-512.
#pragma once

#include "common/elements.hpp"
#include "particles/query/matches.hpp"

#include <cstddef>

namespace bat::query
{
/// Keeps those of the next particles of `matches` whose values are not below `lower`, not above
/// `upper`, and not NaN. T is any scalar type, and the type of the values, one per particle. Reads
/// no byte beyond them. Returns false and does nothing if the processor has no instructions for
/// it.
template <class T>
[[nodiscard]] bool match_between(
  const Elements* values, std::size_t part_count, T lower, T upper, Matches& matches) noexcept;
}
