// SPDX-License-Identifier: BSD-3-Clause
// Non-temporal copies give the same bytes as memcpy, wherever they begin and end.
#include "common/memory/stream_copy.hpp"
#include "common/processor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace
{
using bat::processor::Instructions;

class StreamCopy : public testing::TestWithParam<Instructions>
{
protected:
  StreamCopy() { bat::processor::allow(GetParam()); }
  ~StreamCopy() override { bat::processor::allow(Instructions::Avx512); }
};
}

TEST_P(StreamCopy, gives_all_bytes_and_touches_no_others)
{
  constexpr std::size_t kMax = 4096 + 70;
  std::vector<std::byte> from(kMax + 130);
  for (std::size_t i = 0; i != from.size(); ++i)
  {
    from[i] = static_cast<std::byte>(i * 131 >> 3);
  }
  for (const std::size_t bytes : { std::size_t{ 0 }, std::size_t{ 1 }, std::size_t{ 63 },
         std::size_t{ 64 }, std::size_t{ 65 }, std::size_t{ 200 }, std::size_t{ 4096 }, kMax })
  {
    for (std::size_t at = 0; at != 64; ++at)
    {
      const std::size_t source = at * 37 % 64;
      std::vector<std::byte> to(kMax + 130, std::byte{ 0xAA });
      std::vector<std::byte> expected = to;
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(source), bytes,
        expected.begin() + static_cast<std::ptrdiff_t>(at));
      bat::stream_copy(to.data() + at, from.data() + source, bytes);
      bat::finish_stream_copies();
      ASSERT_EQ(to, expected) << bytes << " bytes from " << source << " to " << at;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
  WithAndWithoutAvx512, StreamCopy, testing::Values(Instructions::Portable, Instructions::Avx512));
