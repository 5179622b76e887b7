// SPDX-License-Identifier: BSD-3-Clause
// Decodes the streams of a frame to words (stream_encoder.hpp).
#pragma once

#include "codec/column_model.hpp"
#include "codec/frame_reader.hpp"
#include "codec/symbol_decoder.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::codec
{
/// How the words of a column are converted to values.
struct WordsTo
{
  std::byte* values = nullptr;
  std::size_t stride = 0; ///< bytes from one value to the next
  bool floating = false;  ///< they are bits of floating-point numbers
  double step = 0;        ///< not 0: words count steps, and become floating-point numbers
};

/// Scratch memory for decoding.
class StreamDecoder
{
public:
  /// Decodes a stream whose words U have the size of the numbers. At least one value is required.
  template <class U>
  void decode(const StreamModel& model, FrameReader& reader, std::size_t count, const WordsTo& to);

private:
  template <class U, std::size_t components>
  void decode_symbols(
    const StreamModel& model, FrameReader& reader, std::size_t count, const WordsTo& to);
  void take_classes(FrameReader& reader, std::size_t classes, std::size_t blocks);

  SymbolDecoder symbols_;
  std::vector<std::uint8_t> classes_; ///< classes of blocks
};
}
