// SPDX-License-Identifier: BSD-3-Clause
// Small golden files truncated at every length and extended: always rejected, and for the right
// reason.

#include "support/allocation_limit.hpp"
#include "support/damage.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

namespace
{
damage::Bytes golden(const std::string& name)
{
  return read_bytes(std::string(BAT_GOLDEN_FOLDER) + "/" + name + ".bat");
}

class Truncation : public testing::TestWithParam<const char*>
{
};

TEST_P(Truncation, a_file_cut_anywhere_is_truncated)
{
  const damage::Bytes whole = golden(GetParam());
  ASSERT_TRUE(damage::ask(whole).sound);
  allocations::take_largest();
  for (std::size_t size = 0; size != whole.size(); ++size)
  {
    ASSERT_EQ(damage::ask(damage::cut(whole, size)).refused, bat::ErrorCode::Truncated)
      << "cut at " << size;
  }
  EXPECT_LE(allocations::take_largest(), whole.size() + 65536);
}

TEST_P(Truncation, a_file_with_more_bytes_than_it_promises_is_corrupt)
{
  const damage::Bytes whole = golden(GetParam());
  for (const std::size_t more : { 1U, 7U, 8U, 64U, 4096U, 100000U })
  {
    for (const int value : { 0, 1, 255 })
    {
      const damage::Bytes longer = damage::extended(whole, more, static_cast<std::byte>(value));
      EXPECT_EQ(damage::ask(longer).refused, bat::ErrorCode::Corrupt) << more << " bytes more";
    }
  }
}

TEST_P(Truncation, a_file_cut_on_disk_is_truncated_as_in_memory)
{
  const TempDir folder;
  const damage::Bytes whole = golden(GetParam());
  for (std::size_t size = 0; size < whole.size(); size += 1 + whole.size() / 40)
  {
    write_bytes(folder / "cut.bat", damage::cut(whole, size));
    try
    {
      (void)bat::Dataset::open(folder / "cut.bat");
      FAIL() << "opened a file cut at " << size;
    }
    catch (const bat::Error& error)
    {
      EXPECT_EQ(error.code(), bat::ErrorCode::Truncated);
      EXPECT_NE(std::string(error.what()).find((folder / "cut.bat").string()), std::string::npos);
    }
  }
}

TEST_P(Truncation, a_file_that_shrinks_while_open_gives_an_error)
{
  const TempDir folder;
  const damage::Bytes whole = golden(GetParam());
  for (const std::size_t size : { 0U, 1U, 128U })
  {
    write_bytes(folder / "shrinks.bat", whole);
    const bat::Dataset file = bat::Dataset::open(folder / "shrinks.bat");
    std::filesystem::resize_file(folder / "shrinks.bat", size);
    EXPECT_THROW(bat::validate(file), bat::Error) << "shrunk to " << size;
  }
}

INSTANTIATE_TEST_SUITE_P(, Truncation,
  testing::Values("written_7", "one_particle", "empty", "seventeen", "small",
    "not_finite_dictionary", "written_dataset", "dataset", "dataset_of_one", "sorted_index_small",
    "written_chunks_small", "stable_small", "dataset_stable"),
  [](const auto& info) { return std::string(info.param); });
}
