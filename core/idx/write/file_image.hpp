// The bytes of a block file, whoever has the samples.
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
/// the box. Called once for each, from many threads.
using TakeBlock = std::function<Bytes(std::size_t field, std::uint64_t block)>;

/// A file in pieces, front to back.
struct FileImage
{
  Bytes headers;
  std::vector<Bytes> blocks;
  std::uint64_t bytes = 0;
};

/// Packs blocks in the arena of the caller. The same samples give the same bytes. Throws what
/// `take` throws.
[[nodiscard]] FileImage make_file(
  const Header& header, int zip_level, const FileBlocks& file, const TakeBlock& take);

/// Throws Error: CannotOpen, NoSpace, WriteFailed.
void write_image(const std::filesystem::path& path, const FileImage& image, bool flush);
}
