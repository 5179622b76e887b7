// SPDX-License-Identifier: BSD-3-Clause
// Writes a block file, whoever has the samples.
#pragma once

#include "bat/bytes.hpp"
#include "bat/idx/write.hpp"
#include "idx/format/order.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

namespace bat::idx
{
/// The blocks of a file that have samples in the box, ascending.
struct FileBlocks
{
  std::uint64_t number = 0; ///< of the file
  std::vector<std::uint64_t> blocks;
};

/// Of all files, by number.
[[nodiscard]] std::vector<FileBlocks> blocks_of_files(
  const Header& header, const format::Order& order);

/// Gives the samples of a block of a field in the field's layout, with zeros for those outside of
/// the box. `raw` has whatever an earlier call left in it. Called once for each, from many threads.
using TakeBlock = std::function<void(std::size_t field, std::uint64_t block, Bytes& raw)>;

/// Writes a file, a few blocks at a time, which are packed in the arena of the caller. The same
/// samples give the same bytes. Returns how many. Throws Error: CannotOpen, NoSpace, WriteFailed;
/// and what `take` throws.
std::uint64_t write_block_file(const std::filesystem::path& path, const Header& header,
  int zip_level, const FileBlocks& file, const TakeBlock& take, bool flush);
}
