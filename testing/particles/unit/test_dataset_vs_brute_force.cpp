// SPDX-License-Identifier: BSD-3-Clause
// Random queries on datasets of several leaf files, compared with a scan of all their particles.

#include "support/brute_force.hpp"
#include "support/dataset_files.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <set>

namespace
{
std::uint64_t queries_run = 0;
std::uint64_t telling = 0; // neither nothing nor everything

constexpr int kQueriesPerSet = 1000;

bat::BuildOptions small_treelets()
{
  bat::BuildOptions options;
  options.treelet_particles = 256;
  options.block_particles = 32;
  return options;
}

/// Positions that continue through the leaf files.
std::vector<std::uint64_t> positions_of(
  const bat::DatasetSelection& selection, const std::vector<std::uint64_t>& first)
{
  std::vector<std::uint64_t> all;
  for (const bat::DatasetSelection::Part& part : selection.parts)
  {
    for (const std::uint64_t at : brute_force::positions_of(part.selection))
    {
      all.push_back(first[part.leaf] + at);
    }
  }
  return all;
}

void compare(const clouds::Cloud& cloud, std::size_t leaves, std::uint64_t seed)
{
  const TempDir folder;
  dataset_files::write(folder / "out.bat", dataset_files::slabs(cloud, leaves), small_treelets());
  const bat::Dataset dataset = bat::Dataset::open(folder / "out.bat");
  ASSERT_EQ(dataset.leaves().size(), leaves);
  std::vector<brute_force::Table> tables;
  std::vector<std::uint64_t> first{ 0 };
  std::vector<std::byte> positions;
  for (const bat::LeafInfo& leaf : dataset.leaves())
  {
    tables.push_back(brute_force::read_all(bat::File::open(leaf.path)));
    first.push_back(first.back() + leaf.particles);
    positions.insert(
      positions.end(), tables.back().positions.begin(), tables.back().positions.end());
  }
  ASSERT_EQ(first.back(), cloud.count);

  clouds::Random random(seed);
  for (int i = 0; i != kQueriesPerSet; ++i)
  {
    bat::Query query = brute_force::random_query(tables[random() % leaves], random);
    std::vector<std::uint64_t> expected;
    for (std::size_t leaf = 0; leaf != leaves; ++leaf)
    {
      for (const std::uint64_t at : brute_force::select(tables[leaf], query))
      {
        expected.push_back(first[leaf] + at);
      }
    }
    const bat::DatasetSelection found = dataset.select(query, { 1 + i % 2 });
    ASSERT_EQ(positions_of(found, first), expected) << "query " << i << " of seed " << seed;
    ASSERT_EQ(found.count, expected.size());
    ASSERT_GE(dataset.upper_bound(query), found.count);
    ++queries_run;
    telling += found.count != 0 && found.count != cloud.count;

    if (i % 5 == 0)
    {
      // The parts are disjoint and add up to the whole.
      query.parts = static_cast<std::uint32_t>(1 + random() % 9);
      std::vector<std::uint64_t> combined;
      for (query.part = 0; query.part != query.parts; ++query.part)
      {
        const bat::DatasetSelection part = dataset.select(query);
        ASSERT_GE(dataset.upper_bound(query), part.count);
        const auto at = positions_of(part, first);
        combined.insert(combined.end(), at.begin(), at.end());
        ++queries_run;
      }
      std::sort(combined.begin(), combined.end());
      ASSERT_EQ(combined, expected) << "parts of query " << i << " of seed " << seed;
    }
    if (i % 20 == 0)
    {
      const std::size_t bytes = 3 * bat::size_of(dataset.position_type());
      std::vector<std::byte> values(found.count * bytes);
      dataset.read_positions(found, values.data());
      for (std::size_t k = 0; k != expected.size(); ++k)
      {
        ASSERT_EQ(std::memcmp(&values[k * bytes], &positions[expected[k] * bytes], bytes), 0);
      }
    }
  }
}

TEST(DatasetVsBruteForce, uniform)
{
  compare(clouds::uniform(6000, 1), 5, 21);
}

TEST(DatasetVsBruteForce, clustered)
{
  compare(clouds::clustered(6000, 2), 13, 22);
}

TEST(DatasetVsBruteForce, duplicates)
{
  compare(clouds::duplicates(6000, 3), 3, 23);
}

TEST(DatasetVsBruteForce, nan_and_infinities)
{
  compare(clouds::with_nan(4000, 4), 6, 24);
}

TEST(DatasetVsBruteForce, mixed_types)
{
  compare(clouds::mixed_types(3000, 5), 4, 25);
}

TEST(DatasetVsBruteForce, one_leaf_file_under_a_top_file)
{
  compare(clouds::uniform(2000, 6), 1, 26);
}

TEST(DatasetVsBruteForce, steps_from_0_to_1_bring_each_particle_once)
{
  const TempDir folder;
  const clouds::Cloud cloud = clouds::uniform(3001, 7);
  dataset_files::write(folder / "out.bat", dataset_files::slabs(cloud, 7), small_treelets());
  const bat::Dataset dataset = bat::Dataset::open(folder / "out.bat");
  for (const int steps : { 1, 2, 10, 333, 20000 })
  {
    std::set<std::int64_t> seen;
    for (int i = 0; i != steps; ++i)
    {
      bat::Query query;
      query.after_quality = static_cast<double>(i) / steps;
      query.quality = static_cast<double>(i + 1) / steps;
      const bat::DatasetSelection found = dataset.select(query);
      std::vector<std::int64_t> ids(found.count);
      dataset.read_attribute(dataset.attribute_index("id"), found, ids.data());
      seen.insert(ids.begin(), ids.end());
      ASSERT_EQ(seen.size(), dataset.particles_at(query.quality)) << "a particle came twice";
    }
    EXPECT_EQ(seen.size(), 3001U);
  }
}

TEST(DatasetVsBruteForce, some_thousand_queries_were_compared)
{
  RecordProperty("queries", static_cast<int>(queries_run));
  std::printf("%llu queries, %llu neither nothing nor everything\n",
    static_cast<unsigned long long>(queries_run), static_cast<unsigned long long>(telling));
  EXPECT_GE(queries_run, 10000U);
  EXPECT_GE(telling, 1000U);
}
}
