// SPDX-License-Identifier: BSD-3-Clause
// Huffman codes of up to kMaxCodeBits bits; frequent symbols have short codes. The codes follow
// from their lengths alone (FORMAT.md section 18).
#pragma once

#include "codec/stream_format.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::codec
{
/// Computes the code lengths for symbols with these counts. Every symbol gets a code, even if its
/// count is 0; the code of a single symbol has no bits. At most kSymbols.
[[nodiscard]] std::vector<std::uint8_t> code_lengths(const std::vector<std::uint32_t>& counts);

struct Code
{
  std::uint16_t bits = 0; ///< the first one is the lowest
  std::uint8_t length = 0;
};

/// Returns whether a complete prefix code with exactly these lengths exists.
[[nodiscard]] bool is_complete(const std::vector<std::uint8_t>& lengths) noexcept;

/// The lengths must be complete.
[[nodiscard]] std::vector<Code> assign_codes(const std::vector<std::uint8_t>& lengths);

/// Maps the leading bits to a symbol.
class CodeTable
{
public:
  CodeTable() = default;
  /// The lengths must be complete.
  explicit CodeTable(const std::vector<std::uint8_t>& lengths);

  /// A symbol in the low 8 bits, and above them the length of its code.
  [[nodiscard]] const std::uint16_t* entries() const noexcept { return this->entries_.data(); }
  /// Mask for the bits that select an entry.
  [[nodiscard]] std::uint32_t mask() const noexcept
  {
    return static_cast<std::uint32_t>(this->entries_.size() - 1);
  }

private:
  std::vector<std::uint16_t> entries_; ///< a power of two
};
}
