// SPDX-License-Identifier: BSD-3-Clause
// Packing and unpacking of blocks: bytes to bytes.
#pragma once

#include "bat/bytes.hpp"
#include "bat/idx/header.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace bat::idx::format
{
/// Most bytes that a packed block of `raw` bytes may have.
[[nodiscard]] constexpr std::uint64_t max_packed_bytes(std::uint64_t raw) noexcept
{
  return 2 * raw + 4096;
}

/// Unpacks into exactly `raw_bytes` bytes. Empty if that worked, else what is wrong with `packed`.
[[nodiscard]] std::string unpack(Codec codec, const std::byte* packed, std::size_t packed_bytes,
  std::byte* raw, std::size_t raw_bytes);

/// Packs blocks, one at a time. Keeps the memory that zlib works in from block to block, which for
/// a small block takes longer to make than the block takes to pack.
class Packer
{
public:
  Packer();
  ~Packer();
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;

  /// False if the result would not be smaller than `raw_bytes`, and `packed` is undefined then. Not
  /// for Codec::Raw. `zip_level` is that of the first call. Throws std::bad_alloc.
  [[nodiscard]] bool pack(
    Codec codec, int zip_level, const std::byte* raw, std::size_t raw_bytes, Bytes& packed);

private:
  struct Zip;
  std::unique_ptr<Zip> zip_;
};
}
