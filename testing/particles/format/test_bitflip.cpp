// SPDX-License-Identifier: BSD-3-Clause
// Flips every bit of small golden files, one at a time: an error, or exactly the same answer; the
// validator detects each.

#include "support/allocation_limit.hpp"
#include "support/damage.hpp"
#include "support/sanitizers.hpp"
#include "support/temp_dir.hpp"
#include "support/thread_time.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <thread>

namespace
{
damage::Bytes golden(const std::string& name)
{
  return read_bytes(std::string(BAT_GOLDEN_FOLDER) + "/" + name + ".bat");
}

/// The failure with one flipped bit, or empty.
std::string complaint(
  const damage::Answers& found, const damage::Answers& expected, std::size_t bit)
{
  const std::string where =
    "bit " + std::to_string(bit % 8) + " of byte " + std::to_string(bit / 8);
  if (found.sound)
  {
    return where + " is flipped and the validator does not see it";
  }
  for (std::size_t i = 0; i != found.parts.size(); ++i)
  {
    if (found.parts[i] && found.parts[i] != expected.parts[i])
    {
      return where + " changes answer " + std::to_string(i);
    }
  }
  return {};
}

// Under a sanitizer, only some bits: another one in every byte.
constexpr std::size_t kStep = sanitizers::kPresent ? 9 : 1;

class BitFlip : public testing::TestWithParam<const char*>
{
};

TEST_P(BitFlip, every_flipped_bit_is_an_error_or_harmless)
{
  const damage::Bytes whole = golden(GetParam());
  const std::vector<bat::Query> queries = damage::is_top(whole)
    ? std::vector<bat::Query>()
    : damage::queries_for(bat::File::from_memory(whole, "whole.bat"));
  const damage::Answers expected = damage::ask(whole, &queries);
  ASSERT_TRUE(expected.sound);
  ASSERT_GE(expected.parts.size(), 3U);
  for (const auto& part : expected.parts)
  {
    ASSERT_TRUE(part);
  }
  allocations::take_largest();

  std::atomic<std::size_t> next{ 0 };
  std::atomic<std::size_t> opened{ 0 };
  std::vector<double> slowest(2);
  std::vector<std::string> complaints(2);
  const auto run = [&](std::string& first, double& slowest_seconds)
  {
    damage::Bytes file = whole;
    for (std::size_t bit = kStep * next++; bit < 8 * whole.size() && first.empty();
         bit = kStep * next++)
    {
      damage::flip(file, bit);
      const double begin = thread_seconds();
      try
      {
        const damage::Answers found = damage::ask(file, &queries);
        opened += !found.refused;
        first = complaint(found, expected, bit);
        if (bit % 7 == 0 && !damage::is_top(file) && !(damage::ask_mapped(file, &queries) == found))
        {
          first = "bit " + std::to_string(bit) + ": a mapped file answers otherwise";
        }
      }
      catch (const std::exception& e)
      {
        first = "bit " + std::to_string(bit) + ": " + e.what();
      }
      slowest_seconds = std::max(slowest_seconds, thread_seconds() - begin);
      damage::flip(file, bit);
    }
  };
  std::thread other(run, std::ref(complaints[1]), std::ref(slowest[1]));
  run(complaints[0], slowest[0]);
  other.join();
  EXPECT_EQ(complaints[0], "");
  EXPECT_EQ(complaints[1], "");
  // Most damage must only affect reads of the damaged parts.
  EXPECT_GT(opened, (damage::is_top(whole) ? 100 : whole.size()) / kStep)
    << "opening reads too much";
  EXPECT_LE(allocations::take_largest(), 16 * whole.size() + (1U << 20));
  EXPECT_LT(std::max(slowest[0], slowest[1]), 10.0);
  RecordProperty("bits", std::to_string(8 * whole.size() / kStep));
}

INSTANTIATE_TEST_SUITE_P(, BitFlip,
  testing::Values("written_7", "one_particle", "seventeen", "small", "written_dataset", "dataset",
    "dataset_of_one", "sorted_index_small", "two_particles", "written_chunks_small",
    "stable_small"),
  [](const auto& info) { return std::string(info.param); });
}
