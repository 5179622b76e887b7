// SPDX-License-Identifier: BSD-3-Clause
// Encodes the words of a chunk as the streams of a plan (FORMAT.md section 18): frequent sizes or
// upper bits become symbols, and the bits below are packed.
#pragma once

#include "codec/stream_plan.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::codec
{
/// Scratch memory for encoding. U is uint32_t or uint64_t.
template <class U>
class StreamEncoder
{
public:
  /// Allocates the words of all components, to be filled before append(). At least one value is
  /// required.
  void resize(std::size_t components, std::size_t count);
  /// words(c)[i] is component c of value i.
  [[nodiscard]] U* words(std::size_t component) noexcept
  {
    return this->words_.data() + component * this->count_;
  }

  /// Appends all streams. With `floating`, the words are bits of floating-point numbers.
  void append(const std::vector<StreamPlan>& streams, bool floating, std::vector<std::byte>& to);

  /// The output of the loops below.
  struct Room
  {
    std::array<std::size_t, kLanes> lanes; ///< bytes of each
    std::size_t bits_bytes;
    std::byte* symbols;
    std::byte* bits;
    std::uint8_t* classes;
    std::vector<U>* escaped;
  };

private:
  void append_differences(const StreamPlan& plan, bool floating, std::vector<std::byte>& to);
  void append_heads(const StreamPlan& plan, bool floating, std::vector<std::byte>& to);
  [[nodiscard]] Room make_room(std::size_t components);
  void append_room(const Room& room, const StreamPlan& plan, std::vector<std::byte>& to) const;

  std::size_t components_ = 0;
  std::size_t count_ = 0;
  std::vector<U> words_;
  std::vector<U> zigzags_;            ///< zigzags of differences
  std::vector<std::uint8_t> lengths_; ///< lengths of zigzags
  std::vector<std::byte> symbols_;    ///< codes
  std::vector<std::byte> bits_;
  std::vector<std::uint8_t> classes_; ///< classes of blocks
  std::vector<U> escaped_;
};
}
