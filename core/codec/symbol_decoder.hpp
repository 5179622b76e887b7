// SPDX-License-Identifier: BSD-3-Clause
// Decodes the codes in lanes to symbols (FORMAT.md section 18).
#pragma once

#include "codec/huffman.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::codec
{
/// Consecutive bits of codes, block by block.
struct Lane
{
  const std::byte* bytes = nullptr;
  std::size_t count = 0; ///< number of bytes
};

/// Scratch memory for decoding symbols.
class SymbolDecoder
{
public:
  /// Decodes `count` symbols. codes[c] is the code for blocks of class c, and classes[b] the class
  /// of block b. The lanes' bytes are contiguous. Throws Error{Corrupt} unless each lane ends in
  /// its last byte. The result is valid until the next call.
  const std::uint8_t* decode(const std::array<Lane, kLanes>& lanes,
    const std::vector<CodeTable>& codes, const std::uint8_t* classes, std::size_t count);

private:
  std::vector<std::byte> lanes_; ///< followed by bytes that may be read
  std::vector<std::uint8_t> symbols_;
};
}
