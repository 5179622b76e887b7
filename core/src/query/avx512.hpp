// The loops that take most of a query's time, for processors with AVX-512 (F, BW and VL). Each
// gives what the portable loop beside its caller gives. To be called where
// processor::has_avx512().
#pragma once

#include "elements.hpp"
#include "query/matches.hpp"

#include <cstddef>

namespace bat::query::avx512
{
/// Keeps of the next particles of `matches` those whose values are not below `lower`, not above
/// `upper`, and not NaN. T is any scalar type, and that of the values.
template <class T>
void match_range(
  const Elements* values, std::size_t part_count, T lower, T upper, Matches& matches) noexcept;
}
