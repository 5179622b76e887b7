// SPDX-License-Identifier: BSD-3-Clause
// Sizes and places that are aligned.
#pragma once

#include <cstdint>

namespace bat
{
/// Returns the lowest multiple of `step` that is not below `value`.
[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t step) noexcept
{
  return (value + step - 1) / step * step;
}
}
