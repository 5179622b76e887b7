// SPDX-License-Identifier: BSD-3-Clause
// One run of values of a column as a frame of bytes that stands alone (FORMAT.md section 18), and
// back. Nothing is lost: every bit of every value returns. The same values give the same frame on
// every processor.
#pragma once

#include "common/codec/column_shape.hpp"
#include "common/codec/grid.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace bat::codec
{
/// Most values of a frame.
inline constexpr std::size_t kMostValues = std::size_t{ 1 } << 24;
/// What a frame may have beyond the bytes of its values.
inline constexpr std::size_t kFrameOverhead = 1;

/// Keeps its scratch memory; one for each thread.
class Encoder
{
public:
  Encoder();
  ~Encoder();
  Encoder(Encoder&&) noexcept;
  Encoder& operator=(Encoder&&) noexcept;

  /// Replaces `frame`, which becomes at most kFrameOverhead bytes larger than the values. These
  /// need no alignment. Throws Error{InvalidArgument} for a shape or count that no frame has.
  void encode(const ColumnShape& shape, Grid grid, const std::byte* values, std::size_t count,
    std::vector<std::byte>& frame);

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Keeps its scratch memory; one for each thread.
class Decoder
{
public:
  Decoder();
  ~Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;

  /// Writes `count` values, which need no alignment. Any bytes are safe as a frame: what is not one
  /// of so many values is an Error{Corrupt} that says what is wrong, after which the values are
  /// unspecified. Never allocates more than a few times the bytes of the values.
  void decode(const ColumnShape& shape, const std::byte* frame, std::size_t frame_bytes,
    std::byte* values, std::size_t count);

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};
}
