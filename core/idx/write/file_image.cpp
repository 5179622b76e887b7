#include "idx/write/file_image.hpp"

#include "common/io/atomic_file.hpp"
#include "idx/format/block_file.hpp"
#include "idx/format/codec.hpp"
#include "idx/format/names.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <map>
#include <utility>

namespace bat::idx
{
namespace
{
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

FileImage make_file(
  const Header& header, int zip_level, const FileBlocks& file, const TakeBlock& take)
{
  const std::size_t count = file.blocks.size();
  FileImage image;
  image.blocks.resize(header.fields.size() * count);
  std::vector<std::uint32_t> codecs(image.blocks.size(), format::kStoredRaw);
  tbb::parallel_for(std::size_t{ 0 }, image.blocks.size(),
    [&](std::size_t i)
    {
      const std::size_t f = i / count;
      const Field& field = header.fields[f];
      Bytes raw = take(f, file.blocks[i % count]);
      Bytes packed;
      if (field.codec != Codec::Raw &&
        format::pack(field.codec, zip_level, raw.data(), raw.size(), packed))
      {
        packed.shrink_to_fit();
        image.blocks[i] = std::move(packed);
        codecs[i] = stored_codec(field.codec);
        return;
      }
      image.blocks[i] = std::move(raw);
    });

  image.headers.resize(format::headers_bytes(header));
  std::fill(image.headers.begin(), image.headers.end(), std::byte{ 0 });
  image.bytes = image.headers.size();
  for (std::size_t i = 0; i != image.blocks.size(); ++i)
  {
    format::BlockRecord record;
    record.offset = image.bytes;
    record.bytes = image.blocks[i].size();
    record.codec = codecs[i];
    record.layout = header.fields[i / count].layout;
    const std::uint64_t row = format::place_of_block(header, file.blocks[i % count]).row;
    format::encode_record(
      record, image.headers.data() + format::header_offset(header, i / count, row));
    image.bytes += record.bytes;
  }
  return image;
}

void write_image(const std::filesystem::path& path, const FileImage& image, bool flush)
{
  io::AtomicFile file(path);
  std::uint64_t at = 0;
  const auto put = [&](const Bytes& bytes)
  {
    file.write(at, bytes.data(), bytes.size());
    at += bytes.size();
  };
  put(image.headers);
  std::for_each(image.blocks.begin(), image.blocks.end(), put);
  file.commit(flush);
}
}
