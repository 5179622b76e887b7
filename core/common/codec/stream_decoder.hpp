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
/// What becomes of the words of a component.
struct WordsTo
{
  std::byte* values = nullptr; ///< of this component
  std::size_t stride = 0;      ///< bytes from one value to the next
  bool floating = false;       ///< they are bits of floating-point numbers
  double step = 0;             ///< not 0: they count steps, and become numbers of ...
  bool float32 = false;        ///< this type, or float64
};

/// Scratch memory of decoding.
class StreamDecoder
{
public:
  /// Decodes streams of all components to the end of the frame, with words of U. `to` is of
  /// component 0; the others stand behind it, `component_bytes` bytes apart.
  template <class U>
  void decode(FrameReader& reader, std::size_t components, std::size_t count, const WordsTo& to,
    std::size_t component_bytes);

private:
  template <class U>
  void decode_differences(FrameReader& reader, const std::vector<std::size_t>& components,
    std::size_t count, const WordsTo& to, std::size_t component_bytes);
  template <class U>
  void decode_heads(FrameReader& reader, std::size_t count, const WordsTo& to);
  template <class U>
  void decode_words(FrameReader& reader, std::size_t count, const WordsTo& to);
  void take_parts(FrameReader& reader, std::size_t meanings, std::size_t count);

  ZstdDecompressor zstd_;
  std::vector<std::uint8_t> room_; ///< for symbols
  const std::uint8_t* symbols_ = nullptr;
  const std::byte* bits_ = nullptr;
  std::size_t bits_bytes_ = 0;
};
}
