// The loops that take most of a query's time, for processors with AVX-512 (F, BW and VL). Each
// gives what the portable loop beside its caller gives. To be called where
// processor::has_avx512().
#pragma once

#include <cstddef>
#include <cstdint>

namespace bat::query::avx512
{
constexpr std::size_t kMatches = 64; ///< at a time

/// Clears match[i] where values[i] is below `lower`, above `upper`, or NaN; `count` is a multiple
/// of kMatches. T is any scalar type.
template <class T>
void match_range(
  const T* values, std::size_t count, T lower, T upper, std::uint8_t* match) noexcept;

/// Bit i is whether match[i] is set, for i below `count`, which is at most kMatches.
[[nodiscard]] std::uint64_t bits_of(const std::uint8_t* match, std::size_t count) noexcept;
}
