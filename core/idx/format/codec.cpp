// SPDX-License-Identifier: BSD-3-Clause
#include "idx/format/codec.hpp"

#include <fmt/format.h>
#include <lz4.h>
#include <zlib.h>

#include <algorithm>
#include <new>

namespace bat::idx::format
{
namespace
{
// Blocks are at most 256 MiB (IDX.md section 7), so that all sizes fit the types of both libraries.
const Bytef* bytef(const std::byte* bytes)
{
  return reinterpret_cast<const Bytef*>(bytes);
}

std::string unzip(
  const std::byte* packed, std::size_t packed_bytes, std::byte* raw, std::size_t raw_bytes)
{
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK)
  {
    throw std::bad_alloc();
  }
  stream.next_in = const_cast<Bytef*>(bytef(packed));
  stream.avail_in = static_cast<uInt>(packed_bytes);
  stream.next_out = reinterpret_cast<Bytef*>(raw);
  stream.avail_out = static_cast<uInt>(raw_bytes);
  int result = inflate(&stream, Z_FINISH);
  const std::size_t got = raw_bytes - stream.avail_out;
  std::string detail = stream.msg ? stream.msg : "";
  bool more = false;
  if (result != Z_STREAM_END && result != Z_DATA_ERROR && stream.avail_out == 0)
  {
    // The end of the stream may produce no further output byte.
    Bytef beyond = 0;
    stream.next_out = &beyond;
    stream.avail_out = 1;
    result = inflate(&stream, Z_FINISH);
    more = stream.avail_out == 0;
    detail = stream.msg ? stream.msg : "";
  }
  inflateEnd(&stream);
  if (more)
  {
    return fmt::format("unpacks to more than {} bytes, the size of a block", raw_bytes);
  }
  if (result == Z_MEM_ERROR)
  {
    throw std::bad_alloc();
  }
  if (result == Z_STREAM_END && got == raw_bytes)
  {
    return {};
  }
  if (result == Z_STREAM_END || result == Z_BUF_ERROR || result == Z_OK)
  {
    return fmt::format("{} after {} bytes; a block has {}",
      result == Z_STREAM_END ? "ends" : "is truncated", got, raw_bytes);
  }
  return fmt::format("is not a valid zlib stream ({}); found after {} bytes",
    detail.empty() ? "damaged" : detail, got);
}
}

std::string unpack(Codec codec, const std::byte* packed, std::size_t packed_bytes, std::byte* raw,
  std::size_t raw_bytes)
{
  if (codec == Codec::Zip)
  {
    return unzip(packed, packed_bytes, raw, raw_bytes);
  }
  const int got = LZ4_decompress_safe(reinterpret_cast<const char*>(packed),
    reinterpret_cast<char*>(raw), static_cast<int>(packed_bytes), static_cast<int>(raw_bytes));
  if (got < 0)
  {
    return fmt::format("is not an LZ4 block of {} bytes", raw_bytes);
  }
  return static_cast<std::size_t>(got) == raw_bytes
    ? std::string()
    : fmt::format("unpacks to {} bytes; a block has {}", got, raw_bytes);
}

struct Packer::Zip
{
  explicit Zip(int level)
  {
    if (deflateInit(&stream, level) != Z_OK)
    {
      throw std::bad_alloc();
    }
  }
  ~Zip() { deflateEnd(&stream); }
  Zip(const Zip&) = delete;
  Zip& operator=(const Zip&) = delete;

  z_stream stream{};
};

Packer::Packer() = default;
Packer::~Packer() = default;

bool Packer::pack(
  Codec codec, int zip_level, const std::byte* raw, std::size_t raw_bytes, Bytes& packed)
{
  if (raw_bytes < 2)
  {
    return false;
  }
  packed.resize(raw_bytes - 1);
  return this->pack_into(codec, zip_level, raw, raw_bytes, packed);
}

void Packer::pack_always(
  Codec codec, int zip_level, const std::byte* raw, std::size_t raw_bytes, Bytes& packed)
{
  packed.resize(max_packed_bytes(raw_bytes));
  (void)this->pack_into(codec, zip_level, raw, raw_bytes, packed);
}

// Returns false if the result is larger than `packed`.
bool Packer::pack_into(
  Codec codec, int zip_level, const std::byte* raw, std::size_t raw_bytes, Bytes& packed)
{
  if (codec == Codec::Zip)
  {
    if (zip_)
    {
      deflateReset(&zip_->stream);
    }
    else
    {
      zip_ = std::make_unique<Zip>(zip_level);
    }
    z_stream& stream = zip_->stream;
    stream.next_in = const_cast<Bytef*>(bytef(raw));
    stream.avail_in = static_cast<uInt>(raw_bytes);
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    const bool is_whole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    packed.resize(packed.size() - stream.avail_out);
    return is_whole;
  }
  const int size =
    LZ4_compress_default(reinterpret_cast<const char*>(raw), reinterpret_cast<char*>(packed.data()),
      static_cast<int>(raw_bytes), static_cast<int>(packed.size()));
  packed.resize(static_cast<std::size_t>(std::max(size, 0)));
  return size > 0;
}
}
