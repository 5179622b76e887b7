// SPDX-License-Identifier: BSD-3-Clause
// Optional instructions of the processor that the program uses if present.
#pragma once

namespace bat::processor
{
/// Vector instruction sets; each includes the ones before it.
enum class Instructions
{
  Portable,
  Avx2,  ///< with BMI and BMI2
  Avx512 ///< F, BW and VL
};

/// Returns whether AVX2 loops may be called.
[[nodiscard]] bool has_avx2() noexcept;
/// Returns whether AVX-512 loops may be called.
[[nodiscard]] bool has_avx512() noexcept;
/// Limits the whole process to these instructions, for comparisons with portable loops.
void allow(Instructions maximum) noexcept;
}
