// SPDX-License-Identifier: BSD-3-Clause
// Writes a block file, wherever the samples come from.
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
  std::uint64_t number = 0; ///< file number
  std::vector<std::uint64_t> blocks;
};

/// Returns all files, by number.
[[nodiscard]] std::vector<FileBlocks> blocks_of_files(
  const Header& header, const format::Order& order);

/// Provides the samples of a block of a field in the field's layout, with zeros outside the box.
/// `raw` initially holds the bytes of an earlier call. Called once for each block, from many
/// threads.
using TakeBlock = std::function<void(std::size_t field, std::uint64_t block, Bytes& raw)>;

/// Writes a file, a few blocks at a time, which are packed in the caller's arena. The same samples
/// give the same bytes. Returns the number of bytes. Throws Error: CannotOpen, NoSpace,
/// WriteFailed; and what `take` throws.
std::uint64_t write_block_file(const std::filesystem::path& path, const Header& header,
  int zip_level, const FileBlocks& file, const TakeBlock& take, bool flush);
}
