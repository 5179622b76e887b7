// SPDX-License-Identifier: BSD-3-Clause
// What the processor can do that the program does not demand.
#pragma once

namespace bat::processor
{
/// Of vectors of numbers; each has what those before it have.
enum class Instructions
{
  Portable,
  Avx2,  ///< with BMI and BMI2
  Avx512 ///< F, BW and VL
};

/// Whether loops for AVX2 may be called.
[[nodiscard]] bool has_avx2() noexcept;
/// Whether loops for AVX-512 may be called.
[[nodiscard]] bool has_avx512() noexcept;
/// No others than these in the whole process, for comparisons with the portable loops.
void allow(Instructions maximum) noexcept;
}
