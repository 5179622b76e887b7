// SPDX-License-Identifier: BSD-3-Clause
// What planes would make of a column, from a sample.
#pragma once

#include "common/codec/filters.hpp"
#include "common/codec/zstd.hpp"

#include <cstddef>
#include <limits>

namespace bat::codec
{
struct PlanesEstimate
{
  std::size_t bytes = std::numeric_limits<std::size_t>::max(); ///< of all values
  Filter filter;
};

/// Tries filters on a few runs of values. Numbers of 4 and 8 bytes of which hardly any occurs
/// twice, nor a difference, are not tried: streams are shorter.
[[nodiscard]] PlanesEstimate estimate_planes(
  const ColumnShape& shape, const std::byte* values, std::size_t count, ZstdCompressor& zstd);
}
