// SPDX-License-Identifier: BSD-3-Clause
// Copies of blocks on disk, where OpenVisus's client keeps them, so that each can use the other's.
//
//   ~/visus/cache/                      or $VISUS_CACHE
//     DiskAccess/HOST/PORT/zip/         "zip": how the copies are packed
//       PATH/NAME.idx                   a text for the copies
//       PATH/NAME/3/pressure/0000/0000/0000/002a.bin    step, field, block: as in arco
//
// OpenVisus checks neither versions nor contents. Here, a copy is used if it can be unpacked, if it
// is not older than the .idx on the server, and if the text describes the same grid.
#pragma once

#include "bat/bytes.hpp"
#include "bat/idx/header.hpp"
#include "idx/format/names.hpp"
#include "idx/read/visus_address.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

namespace bat::idx
{
/// All functions may be called concurrently, and by several processes: copies appear complete or
/// not at all.
class VisusCache
{
public:
  /// `address` has a folder for copies. `changed` is the time at which the .idx on the server was
  /// last changed; if empty, the server is asked when it is needed.
  VisusCache(
    const VisusAddress& address, const Header& header, std::optional<std::int64_t> changed);

  /// How all copies are packed, also those that are larger then.
  [[nodiscard]] Codec codec() const noexcept { return this->codec_; }
  /// Reads a copy of at most `max_bytes`. Returns false if there is none that may be used.
  [[nodiscard]] bool read(std::int64_t step, const Field& field, std::uint64_t block,
    std::uint64_t max_bytes, Bytes& packed) const noexcept;
  /// Leaves a copy. After a failure, such as a read-only folder, none is left any more.
  void write(std::int64_t step, const Field& field, std::uint64_t block, const std::byte* packed,
    std::size_t bytes) const noexcept;

private:
  void prepare() const;
  [[nodiscard]] std::filesystem::path path_of(
    std::int64_t step, const Field& field, std::uint64_t block) const;

  std::filesystem::path folder_; ///< empty: there is no folder for the cache
  std::filesystem::path address_;
  std::string stem_;
  Codec codec_;
  Header header_; ///< of the text for the copies
  format::FileNames names_;
  mutable std::once_flag once_;
  mutable std::optional<std::int64_t> changed_;
  mutable std::atomic<bool> may_read_{ true };
  mutable std::atomic<bool> may_write_{ true };
};
}
