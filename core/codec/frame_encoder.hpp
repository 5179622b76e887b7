// SPDX-License-Identifier: BSD-3-Clause
// Encodes frames with the methods among which a plan chooses.
#pragma once

#include "codec/column_plan.hpp"
#include "codec/column_words.hpp"
#include "codec/stream_encoder.hpp"
#include "codec/zstd.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::codec
{
/// Keeps its scratch memory. Frames are replaced and contain at least one value.
class FrameEncoder
{
public:
  /// Requires a plan with streams.
  void stream_frame(const ColumnPlan& plan, const std::byte* values, std::size_t count,
    std::vector<std::byte>& frame);
  /// Leaves `frame` empty if it would be longer than the values.
  void plane_frame(const ColumnPlan& plan, const std::byte* values, std::size_t count,
    std::vector<std::byte>& frame);

private:
  template <class T, class U>
  void stream_frame(StreamEncoder<U>& encoder, const ColumnPlan& plan, const std::byte* values,
    std::size_t count, std::vector<std::byte>& frame);

  ZstdCompressor zstd_;
  StreamEncoder<std::uint32_t> words32_;
  StreamEncoder<std::uint64_t> words64_;
  std::vector<std::byte> planes_;
  Exceptions exceptions_;
};
}
