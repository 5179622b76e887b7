// SPDX-License-Identifier: BSD-3-Clause
// Decides from a sample whether planes may shorten a column, and with which filter.
#pragma once

#include "codec/filters.hpp"
#include "codec/zstd.hpp"

#include <cstddef>
#include <limits>
#include <vector>

namespace bat::codec
{
/// Values of a chunk in a sample.
struct SampleChunk
{
  const std::byte* values;
  std::size_t count;
};

struct PlanesPlan
{
  Filter filter;
  std::vector<std::size_t> bytes; ///< per chunk of the sample; empty: planes shorten none
};

/// Tries filters on chunks. Skips numbers of 4 and 8 bytes that, like their differences, hardly
/// ever repeat, because streams are shorter for them.
[[nodiscard]] PlanesPlan plan_planes(
  const ColumnShape& shape, const std::vector<SampleChunk>& chunks, ZstdCompressor& zstd);
}
