// SPDX-License-Identifier: BSD-3-Clause
// Random queries over six kinds of data sets, compared with a scan of all particles. The argument
// is a file with particles of a real simulation.

#include "bat/bat.hpp"
#include "support/brute_force.hpp"
#include "support/clouds.hpp"
#include "support/sanitizers.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <numeric>

namespace
{
std::string real_file;
std::uint64_t queries_run = 0;

constexpr int kQueriesPerSet = static_cast<int>(sanitizers::some_of(2000));

bat::File encode_and_open(const clouds::Cloud& cloud, const bat::BuildOptions& options)
{
  return bat::File::from_memory(bat::encode(cloud.view(), options), "memory");
}

void compare(const bat::File& file, std::uint64_t seed)
{
  const brute_force::Table table = brute_force::read_all(file);
  clouds::Random random(seed);
  std::uint64_t matches = 0;
  for (int i = 0; i != kQueriesPerSet; ++i)
  {
    const bat::Query query = brute_force::random_query(table, random);
    const bat::Selection found = file.select(query, { 1 + i % 2 });
    const std::vector<std::uint64_t> expected = brute_force::select(table, query);
    ASSERT_EQ(brute_force::positions_of(found), expected) << "query " << i << " of seed " << seed;
    ASSERT_EQ(found.count, expected.size());
    ASSERT_GE(file.upper_bound(query), found.count);
    matches += found.count;
    ++queries_run;

    if (i % 20 == 0)
    {
      // Values fetched for a selection are those at its positions.
      const std::size_t bytes = 3 * bat::size_of(file.position_type());
      std::vector<std::byte> values(found.count * bytes);
      file.read_positions(found, values.data());
      for (std::size_t k = 0; k != expected.size(); ++k)
      {
        ASSERT_EQ(std::memcmp(&values[k * bytes], &table.positions[expected[k] * bytes], bytes), 0);
      }
    }
  }
  EXPECT_GT(matches, 0u); // queries that never match would compare nothing
}

bat::BuildOptions small_treelets()
{
  bat::BuildOptions options;
  options.treelet_particles = 512;
  options.block_particles = 32;
  return options;
}
}

TEST(QueryVsBruteForce, uniform)
{
  compare(encode_and_open(clouds::uniform(20000, 1), {}), 11);
}

TEST(QueryVsBruteForce, clustered)
{
  compare(encode_and_open(clouds::clustered(20000, 2), small_treelets()), 12);
}

TEST(QueryVsBruteForce, duplicates)
{
  compare(encode_and_open(clouds::duplicates(20000, 3), small_treelets()), 13);
}

TEST(QueryVsBruteForce, compressed_chunks)
{
  bat::BuildOptions options = small_treelets();
  options.compression = bat::Compression::Lossless;
  options.chunk_particles = 300;
  compare(encode_and_open(clouds::with_nan(20000, 9), options), 17);
}

TEST(QueryVsBruteForce, within_bounds)
{
  bat::BuildOptions options = small_treelets();
  options.compression = bat::Compression::Bounded;
  options.error_bounds = { "positions=0.1%", "temperature=1", "velocity=1%" };
  compare(encode_and_open(clouds::clustered(20000, 10), options), 18);
}

TEST(QueryVsBruteForce, stable_samples)
{
  bat::BuildOptions options = small_treelets();
  options.stable_samples = { "id" };
  compare(encode_and_open(clouds::clustered(20000, 11), options), 19);
  options.sorted_indexes = { "id" };
  options.compression = bat::Compression::Lossless;
  compare(encode_and_open(clouds::duplicates(10000, 12), options), 20);
}

TEST(QueryVsBruteForce, nan_and_infinities)
{
  compare(encode_and_open(clouds::with_nan(10000, 4), small_treelets()), 14);
}

TEST(QueryVsBruteForce, mixed_types)
{
  compare(encode_and_open(clouds::mixed_types(8000, 5), small_treelets()), 15);
}

TEST(QueryVsBruteForce, real)
{
  compare(bat::File::open(real_file), 16);
}

TEST(QueryVsBruteForce, mapped)
{
  bat::OpenOptions options;
  options.map = true;
  compare(bat::File::open(real_file, options), 17);
  const TempDir folder;
  bat::write_file(folder / "nan.bat", clouds::with_nan(10000, 6).view(), small_treelets());
  compare(bat::File::open(folder / "nan.bat", options), 18);
}

TEST(QueryVsBruteForce, ten_thousand_queries_were_compared_or_a_part_with_a_sanitizer)
{
  RecordProperty("queries", static_cast<int>(queries_run));
  EXPECT_GE(queries_run, sanitizers::some_of(10000));
}

int main(int argc, char** argv)
{
  testing::InitGoogleTest(&argc, argv);
  if (argc < 2)
  {
    std::fprintf(stderr, "usage: %s REAL_FILE\n", argv[0]);
    return 2;
  }
  real_file = argv[1];
  return RUN_ALL_TESTS();
}
