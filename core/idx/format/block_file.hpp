// SPDX-License-Identifier: BSD-3-Clause
// Block files: their size and the block headers, in bytes (IDX.md section 4).
#pragma once

#include "bat/idx/header.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace bat::idx::format
{
/// Limits of IDX.md section 7.
inline constexpr std::uint64_t kMaxBlockBytes = std::uint64_t{ 256 } << 20;
inline constexpr std::uint64_t kMaxHeaderBytes = std::uint64_t{ 256 } << 20;

/// Size of a file's header, and of each block's, in bytes.
struct HeaderSizes
{
  std::uint64_t file = 40;
  std::uint64_t block = 40;
};
[[nodiscard]] HeaderSizes header_sizes(int version) noexcept;

/// Offset of a block's header.
[[nodiscard]] std::uint64_t header_offset(
  const Header& header, std::size_t field, std::uint64_t row) noexcept;
/// Total size of the headers of the file and all blocks.
[[nodiscard]] std::uint64_t headers_bytes(const Header& header) noexcept;

/// The content of a block's header.
struct BlockRecord
{
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint32_t codec = 0; ///< as stored
  Layout layout = Layout::HZ;

  [[nodiscard]] bool is_absent() const noexcept { return this->offset == 0 || this->bytes == 0; }
};
[[nodiscard]] BlockRecord decode_record(int version, const std::byte* bytes) noexcept;
/// In version 6.
void encode_record(const BlockRecord& record, std::byte* bytes) noexcept;

/// Codecs as stored: the low nibble of the flags.
inline constexpr std::uint32_t kStoredRaw = 0;
inline constexpr std::uint32_t kStoredZip = 3;
inline constexpr std::uint32_t kStoredLz4 = 7;
/// "jpg", or the number if no writer has such a codec.
[[nodiscard]] std::string name_of_codec(std::uint32_t stored);

/// Size in bytes of the words that are stored in the opposite byte order to this machine's; 1 if
/// none are.
[[nodiscard]] std::size_t swapped_word(const Header& header, const Field& field) noexcept;
void swap_words(std::byte* bytes, std::size_t count, std::size_t word) noexcept;
}
