// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/stream_copy.hpp"

#include "common/intrinsics.hpp"
#include "common/processor.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace bat
{
#ifdef BAT_AVX512
namespace
{
constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kPrefetchBytes = 2048; // the processor's own read-ahead ends with each page

BAT_AVX512 void stream_lines_512(std::byte* to, const std::byte* from, std::size_t bytes)
{
  for (std::size_t i = 0; i != bytes; i += kCacheLine)
  {
    _mm_prefetch(reinterpret_cast<const char*>(from + i) + kPrefetchBytes, _MM_HINT_T0);
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i), _mm512_loadu_si512(from + i));
  }
}

void stream_lines(std::byte* to, const std::byte* from, std::size_t bytes)
{
  for (std::size_t i = 0; i != bytes; i += sizeof(__m128i))
  {
    _mm_prefetch(reinterpret_cast<const char*>(from + i) + kPrefetchBytes, _MM_HINT_T0);
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
  }
}
}

void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept
{
  // Copies whole cache lines, because parts of a line go to memory one by one.
  const std::size_t head = std::min<std::size_t>(
    bytes, (kCacheLine - reinterpret_cast<std::uintptr_t>(to) % kCacheLine) % kCacheLine);
  const std::size_t end = bytes - (bytes - head) % kCacheLine;
  std::memcpy(to, from, head);
  (processor::has_avx512() ? stream_lines_512 : stream_lines)(to + head, from + head, end - head);
  std::memcpy(to + end, from + end, bytes - end);
}

void finish_stream_copies() noexcept
{
  _mm_sfence();
}
#else
void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept
{
  std::memcpy(to, from, bytes);
}

void finish_stream_copies() noexcept {}
#endif
}
