// SPDX-License-Identifier: BSD-3-Clause
// Streams of a frame to words (stream_encoder.hpp).
#pragma once

#include "common/codec/column_shape.hpp"
#include "common/codec/frame_reader.hpp"
#include "common/codec/zstd.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::codec
{
/// What becomes of the words of a column.
struct WordsTo
{
  std::byte* values = nullptr;
  std::size_t stride = 0; ///< bytes from one value to the next
  bool floating = false;  ///< they are bits of floating-point numbers
  double step = 0;        ///< not 0: they count steps, and become floating-point numbers
};

/// Scratch memory of decoding.
class StreamDecoder
{
public:
  /// Decodes streams of all components, with words U of the size of the numbers.
  template <class U>
  void decode(FrameReader& reader, std::size_t components, std::size_t count, const WordsTo& to);

private:
  template <class U, std::size_t components>
  void decode_differences(FrameReader& reader, const std::vector<std::size_t>& which,
    std::size_t count, const WordsTo& to);
  template <class U>
  void decode_heads(
    FrameReader& reader, std::size_t component, std::size_t count, const WordsTo& to);
  // Makes symbols_ and bits_ of what stands behind a dictionary.
  void take_classes(FrameReader& reader, std::size_t classes, std::size_t count);
  void take_parts(FrameReader& reader, std::size_t meanings, std::size_t count);

  ZstdDecompressor zstd_;
  std::vector<std::uint8_t> room_;     ///< for symbols
  std::vector<std::uint8_t> of_class_; ///< symbols
  const std::uint8_t* symbols_ = nullptr;
  const std::byte* bits_ = nullptr;
  std::size_t bits_bytes_ = 0;
};
}
