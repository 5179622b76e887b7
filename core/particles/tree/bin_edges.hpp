// SPDX-License-Identifier: BSD-3-Clause
// Chooses the bin edges of a key.
#pragma once

#include <cstdint>
#include <vector>

namespace bat
{
/// Number of bins that are worth their bytes in a file of n particles.
[[nodiscard]] std::uint32_t bins_for(std::uint64_t n);

/// Returns strictly ascending quantiles of `sample` (without NaN; reordered), at most `bins` - 1 of
/// them. Values that fill more than one bin get only one edge.
template <class V>
[[nodiscard]] std::vector<V> choose_edges(std::vector<V>& sample, std::uint32_t bins);
}
