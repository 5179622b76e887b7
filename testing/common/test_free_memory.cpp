// SPDX-License-Identifier: BSD-3-Clause
// Free memory follows the limits of the process, and requests that do not fit are rejected with
// both sizes.
#include "bat/free_memory.hpp"

#include "bat/error.hpp"
#include "support/memory_limit.hpp"
#include "support/sanitizers.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace
{
constexpr std::uint64_t kGiB = std::uint64_t{ 1 } << 30;
}

TEST(FreeMemory, is_that_of_the_system_or_less)
{
  std::uint64_t available = 0;
  std::uint64_t swap = 0;
  std::ifstream stream("/proc/meminfo");
  for (std::string word; stream >> word;)
  {
    if (word == "MemTotal:")
    {
      stream >> available;
    }
    else if (word == "SwapTotal:")
    {
      stream >> swap;
    }
  }
  EXPECT_GT(bat::free_memory(), 0u);
  EXPECT_LT(bat::free_memory(), (available + swap) * 1024);
}

TEST(FreeMemory, follows_the_limits_of_the_process)
{
  if (sanitizers::kPresent)
  {
    GTEST_SKIP() << "the sanitizer has all addresses";
  }
  const MemoryLimit limit(kGiB / 2);
  EXPECT_LE(bat::free_memory(), kGiB / 2);
  EXPECT_GT(bat::free_memory(), kGiB / 4);
  EXPECT_NO_THROW(bat::check_memory(1e8, "x"));
  const auto refused = bat::attempt([] { bat::check_memory(1e9, "f: level 3", "use level 2"); });
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->code(), bat::ErrorCode::OutOfMemory);
  const std::string text = refused->what();
  EXPECT_EQ(text.rfind("f: level 3 need 954 MiB; ", 0), 0u) << text;
  EXPECT_NE(text.find(" MiB of memory are free; use level 2"), std::string::npos) << text;
}

TEST(FreeMemory, what_no_memory_holds_is_refused_and_little_is_not)
{
  const auto refused = bat::attempt([] { bat::check_memory(0x1p80, "x"); });
  ASSERT_TRUE(refused.has_value());
  EXPECT_NE(std::string(refused->what()).find("1048576 EiB"), std::string::npos) << refused->what();
  EXPECT_TRUE(bat::attempt([] { bat::check_memory(1e300 * 1e300, "x"); }).has_value());
  EXPECT_NO_THROW(bat::check_memory((1 << 20) - 1, "x"));
}

TEST(FreeMemory, sizes_have_three_digits)
{
  EXPECT_EQ(bat::size_text(0), "0 bytes");
  EXPECT_EQ(bat::size_text(999), "999 bytes");
  EXPECT_EQ(bat::size_text(1000), "0.98 KiB");
  EXPECT_EQ(bat::size_text(1536), "1.50 KiB");
  EXPECT_EQ(bat::size_text(12.25 * 1024 * 1024), "12.2 MiB");
  EXPECT_EQ(bat::size_text(512.0 * kGiB), "512 GiB");
  EXPECT_EQ(bat::size_text(0x1p63), "8.00 EiB");
}
