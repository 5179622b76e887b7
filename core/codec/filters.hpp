// SPDX-License-Identifier: BSD-3-Clause
// Arranges the words of a column as planes of bytes or bits (FORMAT.md section 18), which Zstandard
// compresses well if words repeat.
#pragma once

#include "codec/column_shape.hpp"

#include <cstddef>
#include <cstdint>

namespace bat::codec
{
/// The form of a word in the planes. The numbers are those of FORMAT.md.
enum class Prediction : std::uint8_t
{
  None = 0,       ///< the word
  Difference = 1, ///< zigzag of its difference from the word before it
  Xor = 2         ///< its bits that differ from those of the word before it
};

struct Filter
{
  Prediction prediction = Prediction::None;
  bool bit_planes = false; ///< if false, byte planes
};

/// Both write as many bytes as the values occupy.
void to_planes(const ColumnShape& shape, Filter filter, const std::byte* values, std::size_t count,
  std::byte* planes);
void from_planes(const ColumnShape& shape, Filter filter, const std::byte* planes,
  std::size_t count, std::byte* values);
}
