// SPDX-License-Identifier: BSD-3-Clause
// Chunks of consecutive numbers for HDF5, compressed as they are made: nothing else of their size
// is ever in memory.
#pragma once

#include "particles/format/hdf5.hpp"

#include <cstdint>

namespace bat::format::hdf5
{
inline constexpr std::uint32_t kChunkNumbers = 1 << 20;

/// Returns chunk `k` of the 64-bit integers 0, 1, 2 ...: the numbers from k * kChunkNumbers, after
/// the filters of shuffled_and_deflated_twice(). About 2 KiB, always the same bytes. The first
/// chunk is made once per process. Thread-safe.
[[nodiscard]] Bytes numbers_chunk(std::uint64_t k);
}
