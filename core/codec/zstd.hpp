// SPDX-License-Identifier: BSD-3-Clause
// Compresses and decompresses blocks of bytes with libzstd.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace bat::codec
{
/// The kind of bytes to compress.
enum class Content
{
  Symbols, ///< drawn one by one: hardly anything repeats, and only how often each occurs counts
  Planes   ///< bit planes of words: runs repeat
};

class ZstdCompressor
{
public:
  ZstdCompressor();
  /// Appends a frame of `bytes` bytes to `to`. Returns false, and leaves `to`, if that would take
  /// `maximum` bytes or more.
  [[nodiscard]] bool append(Content content, const void* from, std::size_t bytes,
    std::size_t maximum, std::vector<std::byte>& to);

private:
  struct Free
  {
    void operator()(ZSTD_CCtx_s* context) const noexcept;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
};

class ZstdDecompressor
{
public:
  ZstdDecompressor();
  /// Throws Error{Corrupt} unless `frame` is one frame of exactly `bytes` bytes.
  void decompress(const std::byte* frame, std::size_t frame_bytes, void* to, std::size_t bytes);

private:
  struct Free
  {
    void operator()(ZSTD_DCtx_s* context) const noexcept;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
};
}
