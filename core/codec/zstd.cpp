// SPDX-License-Identifier: BSD-3-Clause
#include "codec/zstd.hpp"

#include "bat/error.hpp"

#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <new>

namespace bat::codec
{
namespace
{
void set(ZSTD_CCtx* context, ZSTD_cParameter parameter, int value)
{
  if (const std::size_t result = ZSTD_CCtx_setParameter(context, parameter, value);
      ZSTD_isError(result))
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("libzstd rejected a parameter: {}", ZSTD_getErrorName(result)));
  }
}

void set_up(ZSTD_CCtx* context, Content content)
{
  (void)ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
  set(context, ZSTD_c_compressionLevel, 1);
  set(context, ZSTD_c_contentSizeFlag, 1);
  set(context, ZSTD_c_checksumFlag, 0);
  if (content == Content::Symbols)
  {
    set(context, ZSTD_c_hashLog, 12); // a table that stays in cache
    set(context, ZSTD_c_minMatch, 7);
  }
}
}

void ZstdCompressor::Free::operator()(ZSTD_CCtx_s* context) const noexcept
{
  ZSTD_freeCCtx(context);
}

ZstdCompressor::ZstdCompressor()
  : context_(ZSTD_createCCtx())
{
  if (!this->context_)
  {
    throw std::bad_alloc();
  }
}

bool ZstdCompressor::append(Content content, const void* from, std::size_t bytes,
  std::size_t maximum, std::vector<std::byte>& to)
{
  set_up(this->context_.get(), content);
  const std::size_t before = to.size();
  const std::size_t room = ZSTD_compressBound(bytes); // libzstd is slower with less space
  to.resize(before + room);
  const std::size_t result =
    ZSTD_compress2(this->context_.get(), to.data() + before, room, from, bytes);
  if (ZSTD_isError(result) && ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
  {
    throw std::bad_alloc();
  }
  const bool kept = !ZSTD_isError(result) && result < maximum;
  to.resize(kept ? before + result : before);
  return kept;
}

void ZstdDecompressor::Free::operator()(ZSTD_DCtx_s* context) const noexcept
{
  ZSTD_freeDCtx(context);
}

ZstdDecompressor::ZstdDecompressor()
  : context_(ZSTD_createDCtx())
{
  if (!this->context_)
  {
    throw std::bad_alloc();
  }
}

void ZstdDecompressor::decompress(
  const std::byte* frame, std::size_t frame_bytes, void* to, std::size_t bytes)
{
  const auto refuse = [](const std::string& what)
  { throw Error(ErrorCode::Corrupt, "compressed chunk: " + what); };
  const unsigned long long content = ZSTD_getFrameContentSize(frame, frame_bytes);
  if (content != bytes)
  {
    refuse(content == ZSTD_CONTENTSIZE_ERROR || content == ZSTD_CONTENTSIZE_UNKNOWN
        ? fmt::format("a Zstandard frame of {} bytes does not store its content size", frame_bytes)
        : fmt::format("a Zstandard frame contains {} bytes instead of {}", content, bytes));
  }
  if (const std::size_t own = ZSTD_findFrameCompressedSize(frame, frame_bytes); own != frame_bytes)
  {
    refuse(ZSTD_isError(own)
        ? fmt::format("Zstandard frame: {}", ZSTD_getErrorName(own))
        : fmt::format("a Zstandard frame has {} bytes instead of {}", own, frame_bytes));
  }
  // Decompresses straight to the destination: no window is allocated, whatever the frame requests.
  const std::size_t result =
    ZSTD_decompressDCtx(this->context_.get(), to, bytes, frame, frame_bytes);
  if (ZSTD_isError(result))
  {
    if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
    {
      throw std::bad_alloc();
    }
    refuse(fmt::format("Zstandard frame: {}", ZSTD_getErrorName(result)));
  }
  if (result != bytes)
  {
    refuse(fmt::format("a Zstandard frame decompresses to {} bytes instead of {}", result, bytes));
  }
}
}
