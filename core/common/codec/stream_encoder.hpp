// SPDX-License-Identifier: BSD-3-Clause
// Words of the components of a column as streams (FORMAT.md section 18): frequent sizes or upper
// bits become symbols, and the bits below are packed.
#pragma once

#include "common/codec/head_dictionary.hpp"
#include "common/codec/size_dictionary.hpp"
#include "common/codec/zstd.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::codec
{
/// U is uint32_t or uint64_t.
template <class U>
class StreamEncoder
{
public:
  /// Makes room for the words of all components, to be filled before append().
  void resize(std::size_t components, std::size_t count);
  /// words(c)[i] is component c of value i.
  [[nodiscard]] U* words(std::size_t component) noexcept
  {
    return this->words_.data() + component * this->count_;
  }

  /// Appends streams of all components. `floating`: the words are bits of floating-point numbers.
  void append(bool floating, ZstdCompressor& zstd, std::vector<std::byte>& to);
  /// The same of integers, all of whose streams are of differences.
  void append_differences_only(ZstdCompressor& zstd, std::vector<std::byte>& to);

private:
  void choose(std::size_t component, bool floating);
  [[nodiscard]] bool may_have_heads(std::size_t component, std::uint64_t others_length);
  void append_words(std::size_t component, std::vector<std::byte>& to) const;
  void append_differences(
    const std::vector<std::size_t>& components, ZstdCompressor& zstd, std::vector<std::byte>& to);
  void append_heads(std::size_t component, ZstdCompressor& zstd, std::vector<std::byte>& to);
  // `has_classes`: symbols of blocks of values are told apart by what sums_ has of them.
  void append_parts(bool has_symbols, bool has_classes, std::size_t bits_bytes,
    ZstdCompressor& zstd, std::vector<std::byte>& to);
  [[nodiscard]] std::size_t choose_classes();
  void append_classes(std::size_t classes, ZstdCompressor& zstd, std::vector<std::byte>& to);
  void append_symbols(const std::uint8_t* symbols, std::size_t count, ZstdCompressor& zstd,
    std::vector<std::byte>& to) const;
  [[nodiscard]] std::uint64_t differences_length(std::size_t component) const noexcept;

  std::size_t components_ = 0;
  std::size_t count_ = 0;
  std::vector<U> words_;
  std::vector<U> sample_;
  std::vector<U> zigzags_;            ///< of differences
  std::vector<std::uint8_t> lengths_; ///< of zigzags
  std::vector<unsigned> dropped_;
  std::vector<StreamKind> kinds_;
  std::vector<HeadDictionary> heads_;
  SizeDictionary sizes_;
  std::vector<std::uint8_t> symbols_;
  std::vector<std::uint32_t> sums_;    ///< of the lengths of all words of a block
  std::vector<std::uint8_t> classes_;  ///< of blocks
  std::vector<std::uint8_t> of_class_; ///< symbols
  std::vector<std::byte> bits_;
};
}
