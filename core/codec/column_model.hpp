// SPDX-License-Identifier: BSD-3-Clause
// The model shared by all frames of a column (FORMAT.md section 18), ready for decoding.
#pragma once

#include "codec/column_shape.hpp"
#include "codec/frame_reader.hpp"
#include "codec/huffman.hpp"
#include "codec/stream_format.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

namespace bat::codec
{
/// The meaning of a symbol: for each component, the number of bits that follow and the number added
/// to them.
template <class U, std::size_t components>
struct SymbolMeaning
{
  std::array<U, components> base{};
  std::array<U, components> mask{};
  std::array<std::uint8_t, components> bits{};
  std::uint8_t total = 0; ///< bits of all components
};
template <class U, std::size_t components>
using SymbolMeanings = std::array<SymbolMeaning<U, components>, kSymbols>;

/// The number of loads that fetch the bits of a value.
enum class Loads
{
  One,     ///< at most 57 bits
  OneEach, ///< at most 57 bits per component
  TwoEach
};

struct StreamModel
{
  /// One entry per class.
  template <class U, std::size_t components>
  using Meanings = std::vector<SymbolMeanings<U, components>>;

  static constexpr unsigned kNoEscape = kSymbols;

  StreamKind kind = StreamKind::Words;
  std::vector<std::size_t> components;
  std::array<std::uint8_t, kMaxJoint> dropped{}; ///< lowest bits that are 0, of each component
  std::vector<CodeTable> codes;                  ///< one per class
  std::vector<unsigned> escapes;                 ///< symbol of each class, or kNoEscape
  std::variant<Meanings<std::uint32_t, 1>, Meanings<std::uint32_t, 2>, Meanings<std::uint32_t, 3>,
    Meanings<std::uint64_t, 1>, Meanings<std::uint64_t, 2>, Meanings<std::uint64_t, 3>>
    meanings;
  std::size_t max_bits = 0; ///< maximum for values that are not escapes
  Loads loads = Loads::One;
};

struct ColumnModel
{
  /// Throws Error{Corrupt} if the bytes are not a model of such a column. Never allocates more than
  /// a megabyte.
  ColumnModel(const ColumnShape& shape, const std::byte* bytes, std::size_t byte_count);

  ColumnShape shape;
  double step = 0; ///< grid step; 0: none
  /// Streams of all components; empty if no frame has streams.
  std::vector<StreamModel> streams;
};
}
