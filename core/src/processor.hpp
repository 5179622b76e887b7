// What the processor can do that the program does not demand.
#pragma once

namespace bat::processor
{
/// Whether loops for AVX-512 (F, BW and VL) may be called.
[[nodiscard]] bool has_avx512() noexcept;
/// False makes has_avx512() false in the whole process, for comparisons with the portable loops.
void allow_avx512(bool allowed) noexcept;
}
