// SPDX-License-Identifier: BSD-3-Clause
#include "idx/format/block_file.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bat::idx::format
{
namespace
{
constexpr std::uint32_t kCodecBits = 0xf;
constexpr std::uint32_t kRowMajor = 0x10;
constexpr std::uint32_t kUnknown = 0xf;

std::uint32_t load_big(const std::byte* bytes) noexcept
{
  std::uint32_t value = 0;
  for (int i = 0; i != 4; ++i)
  {
    value = value << 8 | std::to_integer<std::uint32_t>(bytes[i]);
  }
  return value;
}

void store_big(std::byte* bytes, std::uint64_t value) noexcept
{
  for (int i = 0; i != 4; ++i)
  {
    bytes[i] = static_cast<std::byte>(value >> (24 - 8 * i) & 0xff);
  }
}
}

HeaderSizes header_sizes(int version) noexcept
{
  return version >= 6 ? HeaderSizes{ 40, 40 } : HeaderSizes{ version == 1 ? 0u : 16u, 12 };
}

std::uint64_t header_offset(const Header& header, std::size_t field, std::uint64_t row) noexcept
{
  const HeaderSizes sizes = header_sizes(header.version);
  return sizes.file + sizes.block * (field * header.blocks_per_file + row);
}

std::uint64_t headers_bytes(const Header& header) noexcept
{
  return header_offset(header, header.fields.size(), 0);
}

BlockRecord decode_record(int version, const std::byte* bytes) noexcept
{
  BlockRecord record;
  if (version >= 6)
  {
    record.offset = load_big(bytes + 8) | static_cast<std::uint64_t>(load_big(bytes + 12)) << 32;
    record.bytes = load_big(bytes + 16);
    const std::uint32_t flags = load_big(bytes + 20);
    record.codec = flags & kCodecBits;
    record.layout = (flags & kRowMajor) != 0 ? Layout::RowMajor : Layout::HZ;
    return record;
  }
  record.offset = load_big(bytes);
  record.bytes = load_big(bytes + 4);
  const std::uint32_t packed = load_big(bytes + 8);
  record.codec = packed == 0 ? kStoredRaw : packed == 1 ? kStoredZip : kUnknown;
  return record;
}

void encode_record(const BlockRecord& record, std::byte* bytes) noexcept
{
  std::fill_n(bytes, 40, std::byte{ 0 });
  store_big(bytes + 8, record.offset & 0xffffffff);
  store_big(bytes + 12, record.offset >> 32);
  store_big(bytes + 16, record.bytes);
  store_big(bytes + 20, record.codec | (record.layout == Layout::RowMajor ? kRowMajor : 0));
}

std::string name_of_codec(std::uint32_t stored)
{
  switch (stored)
  {
    case kStoredRaw:
      return "raw";
    case kStoredZip:
      return "zip";
    case 4:
      return "jpg";
    case 6:
      return "png";
    case kStoredLz4:
      return "lz4";
    case 8:
      return "zfp";
    default:
      return fmt::format("{}, which is not a codec", stored);
  }
}

std::size_t swapped_word(const Header& header, const Field& field) noexcept
{
  if (header.version <= 2)
  {
    return field.type == ScalarType::Float32 ? 4 : 1;
  }
  if (!header.big_endian)
  {
    return 1;
  }
  // PIDX swaps by the size of a sample, whatever its components.
  const std::uint64_t bytes = field.sample_bytes();
  return bytes == 4 || bytes == 12 ? 4 : bytes == 8 || bytes == 24 ? 8 : 1;
}

void swap_words(std::byte* bytes, std::size_t count, std::size_t word) noexcept
{
  for (std::size_t at = 0; at + word <= count; at += word)
  {
    std::reverse(bytes + at, bytes + at + word);
  }
}
}
