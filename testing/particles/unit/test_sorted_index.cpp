// SPDX-License-Identifier: BSD-3-Clause
// Sorted indexes: they find the same as a scan, and are used when they help.

#include "particles/format/index_layout.hpp"
#include "particles/query/sorted_lookup.hpp"
#include "particles/tree/file_impl.hpp"
#include "support/brute_force.hpp"
#include "support/dataset_files.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace
{
constexpr std::uint64_t kWhateverItCosts = std::uint64_t{ 1 } << 62;

bat::BuildOptions with_index(std::vector<std::string> names)
{
  bat::BuildOptions options;
  options.treelet_particles = 512;
  options.sorted_indexes = std::move(names);
  return options;
}

bat::File encode_and_open(const clouds::Cloud& cloud, const bat::BuildOptions& options)
{
  return bat::File::from_memory(bat::encode(cloud.view(), options), "memory");
}

clouds::Cloud places(std::uint64_t n)
{
  clouds::Random random(n);
  clouds::Cloud cloud;
  cloud.set_positions(clouds::uniform_positions<float>(n, random));
  return cloud;
}

/// The result of the attribute's index, used regardless of its cost.
std::vector<std::uint64_t> look_up(const bat::File& file, const bat::Query& query)
{
  const bat::query::Conditions conditions = bat::query::make_conditions(
    { file.name(), file.particle_count(), file.attributes() }, { 0, file.particle_count() }, query);
  if (conditions.never)
  {
    return {};
  }
  const auto positions = bat::query::look_up(file.impl(), conditions.keys.at(0), kWhateverItCosts);
  EXPECT_TRUE(positions) << "the index was not used";
  return positions ? std::vector<std::uint64_t>(positions->begin(), positions->end())
                   : std::vector<std::uint64_t>();
}

bat::Query one_of(const std::string& name, std::vector<bat::Number> values)
{
  bat::Query query;
  query.values = { { name, {}, std::move(values) } };
  return query;
}
}

TEST(SortedIndex, layout_is_arithmetic)
{
  const auto pages = [](std::uint64_t n)
  {
    std::vector<std::uint64_t> counts;
    const bat::format::IndexLayout layout(n);
    for (std::size_t level = 0; level != layout.level_count(); ++level)
    {
      counts.push_back(layout.page_count(level));
    }
    return counts;
  };
  using Pages = std::vector<std::uint64_t>;
  EXPECT_EQ(pages(0), Pages{});
  EXPECT_EQ(pages(1), Pages{ 1 });
  EXPECT_EQ(pages(341), Pages{ 1 });
  EXPECT_EQ(pages(342), (Pages{ 1, 2 }));
  EXPECT_EQ(pages(341 * 512), (Pages{ 1, 512 }));
  EXPECT_EQ(pages(341 * 512 + 1), (Pages{ 1, 2, 513 }));
  EXPECT_EQ(pages(1000000), (Pages{ 1, 6, 2933 }));
  EXPECT_EQ(pages(0xFFFFFFFF).size(), 4U);
  EXPECT_EQ(bat::format::IndexLayout(0).bytes(), 0U);
  EXPECT_EQ(bat::format::IndexLayout(341).bytes(), 4092U);
  EXPECT_EQ(bat::format::IndexLayout(342).bytes(), 2 * 4096 + 12U);
  const bat::format::IndexLayout layout(1000000);
  EXPECT_EQ(layout.fence_count(0, 0), 6U);
  EXPECT_EQ(layout.fence_count(1, 4), 512U);
  EXPECT_EQ(layout.fence_count(1, 5), 2933U - 5 * 512);
  EXPECT_EQ(layout.page_below(5, 7), 5 * 512 + 7U);
  EXPECT_EQ(layout.entry_count(2931), 341U);
  EXPECT_EQ(layout.entry_count(2932), 1000000U - 2932 * 341);
  EXPECT_EQ(layout.page_offset(2, 3), (1 + 6 + 3) * 4096U);
  EXPECT_EQ(layout.entry_offset(340), layout.page_offset(2, 0) + 340 * 12);
  EXPECT_EQ(layout.entry_offset(341), layout.page_offset(2, 1));
}

TEST(SortedIndex, finds_what_a_scan_finds_at_every_size)
{
  for (const std::uint64_t n : { 1, 2, 340, 341, 342, 682, 683, 3000 })
  {
    clouds::Cloud cloud = places(n);
    clouds::Random random(n + 1);
    std::vector<std::int32_t> some(n);
    std::generate(
      some.begin(), some.end(), [&] { return static_cast<std::int32_t>(random() % (n / 3 + 1)); });
    cloud.add("some", bat::ScalarType::Int32, some);
    const bat::File file = encode_and_open(cloud, with_index({ "some" }));
    ASSERT_NO_THROW(bat::validate(file)) << n;
    const brute_force::Table table = brute_force::read_all(file);
    for (int i = 0; i != 200; ++i)
    {
      bat::Query query;
      if (i % 2)
      {
        query.values = { brute_force::random_values(table, { "some", {}, 0, 0 }, random) };
        query.values[0].negated = false; // a value that is not in a list is not looked up
      }
      else
      {
        const auto a = static_cast<std::int64_t>(random() % (n / 3 + 2)) - 1;
        query.ranges = { { "some", {}, a, a + static_cast<std::int64_t>(random() % 40) } };
      }
      ASSERT_EQ(look_up(file, query), brute_force::select(table, query)) << n << ", query " << i;
    }
  }
}

TEST(SortedIndex, finds_what_a_scan_finds_in_every_type)
{
  const clouds::Cloud clouds_of_all[] = { clouds::mixed_types(2000, 5), clouds::with_nan(2000, 6),
    clouds::uniform(2000, 7), clouds::duplicates(2000, 8) };
  std::uint64_t seed = 0;
  for (const clouds::Cloud& cloud : clouds_of_all)
  {
    std::vector<std::string> names;
    for (const clouds::Cloud::Column& column : cloud.columns)
    {
      names.push_back(column.name);
      for (int c = 0; column.components > 1 && c != column.components; ++c)
      {
        names.push_back(column.name + "[" + std::to_string(c) + "]");
      }
    }
    const bat::File file = encode_and_open(cloud, with_index(names));
    ASSERT_NO_THROW(bat::validate(file));
    const brute_force::Table table = brute_force::read_all(file);
    clouds::Random random(++seed);
    std::uint64_t matches = 0;
    for (int compared = 0; compared != 600;)
    {
      bat::Query query = brute_force::random_query(table, random);
      query.box.reset();
      query.quality = 1;
      query.after_quality = 0;
      query.shapes.clear();
      if (query.ranges.size() + query.values.size() != 1 ||
        (!query.values.empty() && query.values[0].negated))
      {
        continue;
      }
      ++compared;
      const auto expected = brute_force::select(table, query);
      ASSERT_EQ(look_up(file, query), expected) << seed;
      matches += expected.size();
    }
    EXPECT_GT(matches, 0U);
  }
}

TEST(SortedIndex, duplicates_that_fill_pages_are_all_found)
{
  clouds::Cloud cloud = places(5000);
  std::vector<double> value(5000, 1.5);
  std::fill_n(value.begin(), 100, 0.5);
  std::fill_n(value.begin() + 100, 900, std::nan(""));
  std::fill_n(value.begin() + 1000, 3, -0.0);
  std::fill_n(value.begin() + 1003, 4, 0.0);
  cloud.add("value", bat::ScalarType::Float64, value);
  const bat::File file = encode_and_open(cloud, with_index({ "value" }));
  bat::validate(file);
  EXPECT_EQ(look_up(file, one_of("value", { 1.5 })).size(), 3993U);
  EXPECT_EQ(look_up(file, one_of("value", { 0.5, 2.5 })).size(), 100U);
  EXPECT_EQ(look_up(file, one_of("value", { 0, 1 })).size(), 7U);
  bat::Query all;
  all.ranges = { { "value", {}, -HUGE_VAL, HUGE_VAL } };
  EXPECT_EQ(look_up(file, all).size(), 4100U);
}

TEST(SortedIndex, a_few_ids_of_many_are_found_by_reading_little)
{
  // Three levels.
  const std::uint64_t n = 200000;
  const clouds::Cloud cloud = clouds::uniform(n, 3);
  const bat::Bytes bytes = bat::encode(cloud.view(), with_index({ "id" }));
  const bat::File file = bat::File::from_memory(bytes, "memory");
  bat::validate(file);
  clouds::Random random(4);
  bat::Query query = one_of("id", {});
  std::vector<std::int64_t> reference;
  for (int i = 0; i != 101; ++i)
  {
    reference.push_back((std::int64_t{ 1 } << 53) + 1 + static_cast<std::int64_t>(random() % n));
    query.values[0].values.emplace_back(reference.back());
  }
  std::sort(reference.begin(), reference.end());
  reference.erase(std::unique(reference.begin(), reference.end()), reference.end());
  const bat::File fresh = bat::File::from_memory(bytes, "memory");
  const std::uint64_t before = fresh.bytes_read();
  const bat::Selection selection = fresh.select(query);
  EXPECT_EQ(selection.tested, 0U);
  // Of 590 pages, one page for each value and some that lie between close ones.
  EXPECT_LT(fresh.bytes_read() - before, 150U * 4096);
  EXPECT_EQ(fresh.upper_bound(query), selection.count);
  std::vector<std::int64_t> ids(selection.count);
  fresh.read_attribute(fresh.attribute_index("id"), selection, ids.data());
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(ids, reference);

  // The index is combined with other conditions, a step and a part.
  const brute_force::Table table = brute_force::read_all(file);
  query.box = bat::Box{ { 0, 0, 0 }, { 0.9, 0.8, 0.9 } };
  query.ranges = { { "noise", {}, -1.0, 1.0 } };
  query.quality = 0.9;
  query.after_quality = 0.1;
  const std::vector<std::uint64_t> expected = brute_force::select(table, query);
  const bat::Selection found = file.select(query);
  EXPECT_EQ(brute_force::positions_of(found), expected);
  EXPECT_LT(found.tested, 102U);
  std::vector<std::uint64_t> combined;
  query.parts = 3;
  for (query.part = 0; query.part != query.parts; ++query.part)
  {
    const auto part = brute_force::positions_of(file.select(query));
    combined.insert(combined.end(), part.begin(), part.end());
  }
  std::sort(combined.begin(), combined.end());
  EXPECT_EQ(combined, expected);
}

TEST(SortedIndex, random_queries_are_answered_as_without_it)
{
  const clouds::Cloud cloud = clouds::clustered(30000, 9);
  const bat::File file = encode_and_open(
    cloud, with_index({ "id", "temperature", "noise", "material", "velocity", "velocity[1]" }));
  const bat::File without = encode_and_open(cloud, with_index({}));
  const brute_force::Table table = brute_force::read_all(file);
  clouds::Random random(10);
  std::uint64_t helped = 0;
  for (int i = 0; i != 600; ++i)
  {
    const bat::Query query = brute_force::random_query(table, random);
    const bat::Selection found = file.select(query);
    const bat::Selection expected = without.select(query);
    ASSERT_EQ(brute_force::positions_of(found), brute_force::positions_of(expected)) << i;
    ASSERT_LE(found.tested, expected.tested);
    ASSERT_GE(file.upper_bound(query), found.count);
    helped += found.tested < expected.tested;
  }
  EXPECT_GT(helped, 50U);
}

TEST(SortedIndex, files_say_whether_they_have_one)
{
  const clouds::Cloud cloud = clouds::uniform(1000, 3);
  const bat::File without = encode_and_open(cloud, {});
  EXPECT_FALSE(without.attributes()[3].keys[0].has_sorted_index);
  bat::WriteReport report;
  const bat::Bytes bytes =
    bat::encode(cloud.view(), with_index({ "id", "velocity[2]", "velocity", "id" }), &report);
  const bat::File with = bat::File::from_memory(bytes, "memory");
  EXPECT_TRUE(with.attributes()[3].keys[0].has_sorted_index);
  EXPECT_FALSE(with.attributes()[2].keys[0].has_sorted_index);
  const std::vector<bat::Key>& velocity = with.attributes()[5].keys;
  EXPECT_FALSE(velocity[0].has_sorted_index);
  EXPECT_FALSE(velocity[1].has_sorted_index);
  EXPECT_TRUE(velocity[2].has_sorted_index);
  EXPECT_TRUE(velocity[3].has_sorted_index);
  EXPECT_EQ(report.sorted_index_bytes, 3 * bat::format::IndexLayout(1000).bytes());
  EXPECT_EQ(report.file_bytes, bytes.size());
  bat::BuildOptions two_threads = with_index({ "velocity", "velocity[2]", "id" });
  two_threads.threads = 2;
  EXPECT_EQ(bat::encode(cloud.view(), two_threads), bytes);
}

TEST(SortedIndex, of_what_is_not_there_is_refused)
{
  const clouds::Cloud cloud = clouds::uniform(10, 3);
  const auto refused = [&](const std::string& name, const std::string& word)
  {
    try
    {
      (void)bat::encode(cloud.view(), with_index({ name }));
      ADD_FAILURE() << "accepted " << name;
    }
    catch (const bat::Error& e)
    {
      EXPECT_EQ(e.code(), bat::ErrorCode::InvalidArgument);
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }
  };
  refused(
    "ids", "sorted index: unknown attribute 'ids'; did you mean 'id'? Available: temperature");
  refused("velocity[3]", "components 0 to 2");
  refused("id[1]", "components 0 to 0");
  refused("", "''");
  const bat::File empty = encode_and_open(places(0), {});
  EXPECT_EQ(empty.particle_count(), 0U);
}

TEST(SortedIndex, of_no_particles_is_empty)
{
  clouds::Cloud cloud = places(0);
  cloud.add("id", bat::ScalarType::Int64, std::vector<std::int64_t>());
  const bat::File file = encode_and_open(cloud, with_index({ "id" }));
  bat::validate(file);
  EXPECT_TRUE(file.attributes()[0].keys[0].has_sorted_index);
  EXPECT_EQ(file.select(one_of("id", { 1, 7 })).count, 0U);
}

TEST(SortedIndex, each_leaf_file_of_a_dataset_has_its_own)
{
  const TempDir folder;
  const clouds::Cloud cloud = clouds::uniform(60000, 5);
  dataset_files::write(
    folder / "out.bat", dataset_files::slabs(cloud, 5), with_index({ "id", "noise" }));
  const bat::Dataset dataset = bat::Dataset::open(folder / "out.bat");
  bat::validate(dataset);
  for (const bat::LeafInfo& leaf : dataset.leaves())
  {
    EXPECT_TRUE(bat::File::open(leaf.path).attributes()[3].keys[0].has_sorted_index);
  }
  bat::Query query = one_of("id", {});
  for (std::int64_t i = 0; i != 5; ++i)
  {
    query.values[0].values.emplace_back((std::int64_t{ 1 } << 53) + 1 + 12000 * i);
  }
  const bat::DatasetSelection found = dataset.select(query);
  EXPECT_EQ(found.count, 5U);
  EXPECT_EQ(found.tested, 0U);
}
