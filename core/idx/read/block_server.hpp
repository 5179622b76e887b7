// SPDX-License-Identifier: BSD-3-Clause
// Blocks of a dataset on a mod_visus server, OpenVisus's own, which answers queries.
#pragma once

#include "bat/bytes.hpp"
#include "bat/idx/header.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bat::idx
{
/// The packed blocks of one answer.
struct BlockAnswer
{
  struct Part
  {
    bool is_there = false; ///< false: the server has no such block
    std::size_t offset = 0;
    std::size_t bytes = 0;
    Codec codec = Codec::Raw;
    Layout layout = Layout::RowMajor;
  };

  Bytes body;
  std::vector<Part>
    parts; ///< one for each requested block; none: the blocks must be asked for singly
  bool is_not_found = false; ///< the status of the whole answer was 404
};

/// All functions may be called concurrently.
class BlockServer
{
public:
  /// Maximum number of blocks of a query: the number that OpenVisus's client asks for.
  static constexpr std::size_t kMaxBlocks = 8;

  /// `address` asks for the text: http://HOST/mod_visus?action=readdataset&dataset=NAME. `name` is
  /// for messages. The server packs blocks as `compression` says: zip, lz4 or raw.
  BlockServer(const std::string& address, std::string name, const std::string& compression,
    int bits_per_block);

  [[nodiscard]] const std::string& name() const noexcept { return this->name_; }
  /// Returns the blocks of a field, one to kMaxBlocks. Waits for the server. Throws as
  /// io::RandomAccessFile(), and Error{Corrupt, UnsupportedVersion} for an answer that makes no
  /// sense.
  [[nodiscard]] BlockAnswer query(
    const Field& field, std::int64_t step, const std::vector<std::uint64_t>& blocks) const;

private:
  [[nodiscard]] BlockAnswer ask(
    const Field& field, std::int64_t step, const std::vector<std::uint64_t>& blocks) const;

  std::string begin_; ///< of the address of a query
  std::string name_;
  int bits_per_block_;
  mutable std::atomic<bool> has_lists_{ true }; ///< whether a query may have several blocks
};
}
