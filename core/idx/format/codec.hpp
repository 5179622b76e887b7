// SPDX-License-Identifier: BSD-3-Clause
// Packs and unpacks blocks.
#pragma once

#include "bat/bytes.hpp"
#include "bat/idx/header.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace bat::idx::format
{
/// Maximum size of a packed block of `raw` bytes.
[[nodiscard]] constexpr std::uint64_t max_packed_bytes(std::uint64_t raw) noexcept
{
  return 2 * raw + 4096;
}

/// Unpacks into exactly `raw_bytes` bytes. Returns an empty text, or the fault in `packed`.
[[nodiscard]] std::string unpack(Codec codec, const std::byte* packed, std::size_t packed_bytes,
  std::byte* raw, std::size_t raw_bytes);

/// Packs blocks, one at a time. Keeps zlib's working memory from block to block: for a small block,
/// allocating it takes longer than packing.
class Packer
{
public:
  Packer();
  ~Packer();
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;

  /// Returns false, with `packed` undefined, if the result would not be smaller than `raw_bytes`.
  /// Not for Codec::Raw. `zip_level` must be the same in all calls. Throws std::bad_alloc.
  [[nodiscard]] bool pack(
    Codec codec, int zip_level, const std::byte* raw, std::size_t raw_bytes, Bytes& packed);
  /// The same, even if the result is larger than `raw_bytes`.
  void pack_always(
    Codec codec, int zip_level, const std::byte* raw, std::size_t raw_bytes, Bytes& packed);

private:
  bool pack_into(
    Codec codec, int zip_level, const std::byte* raw, std::size_t raw_bytes, Bytes& packed);

  struct Zip;
  std::unique_ptr<Zip> zip_;
};
}
