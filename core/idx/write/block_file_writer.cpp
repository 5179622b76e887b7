// SPDX-License-Identifier: BSD-3-Clause
#include "idx/write/block_file_writer.hpp"

#include "common/io/atomic_file.hpp"
#include "idx/format/block_file.hpp"
#include "idx/format/codec.hpp"
#include "idx/format/names.hpp"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <map>
#include <utility>

namespace bat::idx
{
namespace
{
/// Unpacked size of the blocks that are made together: they stay in the caches until they are
/// written.
constexpr std::uint64_t kBytesPerBatch = std::uint64_t{ 8 } << 20;

std::uint32_t stored_codec(Codec codec)
{
  return codec == Codec::Zip ? format::kStoredZip
    : codec == Codec::Lz4    ? format::kStoredLz4
                             : format::kStoredRaw;
}
}

std::vector<FileBlocks> blocks_of_files(const Header& header, const format::Order& order)
{
  std::map<std::uint64_t, std::vector<std::uint64_t>> found;
  const Lattice whole = order.lattice(order.levels(), header.box);
  for (int level = order.bits_per_block(); level <= order.levels(); ++level)
  {
    const format::LevelBlocks blocks = order.blocks_of_level(level);
    const format::BlockRange range = order.blocks_with(blocks, whole);
    for (std::int64_t z = range.lower[2]; z <= range.upper[2]; ++z)
    {
      for (std::int64_t y = range.lower[1]; y <= range.upper[1]; ++y)
      {
        for (std::int64_t x = range.lower[0]; x <= range.upper[0]; ++x)
        {
          const std::uint64_t block = order.block_at(blocks, { x, y, z });
          found[format::place_of_block(header, block).file].push_back(block);
        }
      }
    }
  }
  std::vector<FileBlocks> files;
  for (auto& [number, blocks] : found)
  {
    std::sort(blocks.begin(), blocks.end());
    files.push_back({ number, std::move(blocks) });
  }
  return files;
}

std::uint64_t write_block_file(const std::filesystem::path& path, const Header& header,
  int zip_level, const FileBlocks& file, const TakeBlock& take, bool flush)
{
  struct Slot
  {
    Bytes raw;
    Bytes packed;
    bool is_packed = false;
  };
  std::uint64_t largest = 1;
  for (const Field& field : header.fields)
  {
    largest = std::max(largest, field.sample_bytes() << header.bits_per_block);
  }
  const std::size_t count = file.blocks.size();
  const std::size_t total = header.fields.size() * count;
  std::vector<Slot> slots(
    std::min<std::uint64_t>(total, std::max<std::uint64_t>(1, kBytesPerBatch / largest)));

  tbb::enumerable_thread_specific<format::Packer> packers;
  Bytes headers(format::headers_bytes(header));
  std::fill(headers.begin(), headers.end(), std::byte{ 0 });
  io::AtomicFile out(path);
  std::uint64_t at = headers.size();
  for (std::size_t begin = 0; begin < total; begin += slots.size())
  {
    const std::size_t end = std::min(total, begin + slots.size());
    tbb::parallel_for(begin, end,
      [&](std::size_t i)
      {
        Slot& slot = slots[i - begin];
        const Field& field = header.fields[i / count];
        take(i / count, file.blocks[i % count], slot.raw);
        slot.is_packed = field.codec != Codec::Raw &&
          packers.local().pack(
            field.codec, zip_level, slot.raw.data(), slot.raw.size(), slot.packed);
      });
    for (std::size_t i = begin; i != end; ++i)
    {
      const Slot& slot = slots[i - begin];
      const Field& field = header.fields[i / count];
      const Bytes& bytes = slot.is_packed ? slot.packed : slot.raw;
      format::BlockRecord record;
      record.offset = at;
      record.bytes = bytes.size();
      record.codec = slot.is_packed ? stored_codec(field.codec) : format::kStoredRaw;
      record.layout = field.layout;
      const std::uint64_t row = format::place_of_block(header, file.blocks[i % count]).row;
      format::encode_record(record, headers.data() + format::header_offset(header, i / count, row));
      out.write(at, bytes.data(), bytes.size());
      at += bytes.size();
    }
  }
  out.write(0, headers.data(), headers.size());
  out.commit(flush);
  return at;
}
}
