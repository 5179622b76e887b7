// SPDX-License-Identifier: BSD-3-Clause
// Lists of values: exact in every type, on one file and on many.

#include "support/brute_force.hpp"
#include "support/dataset_files.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using brute_force::positions_of;

namespace
{
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::int64_t kBeyond = std::int64_t{ 1 } << 53; // doubles have no odd numbers above it

bat::Query one_of(const std::string& name, std::vector<bat::Number> values)
{
  bat::Query query;
  query.values = { { name, {}, std::move(values) } };
  return query;
}

/// Particles in a row, with one attribute.
template <class T>
bat::File file_with(bat::ScalarType type, const std::vector<T>& values, int components = 1)
{
  clouds::Cloud cloud;
  std::vector<float> xyz;
  for (std::size_t i = 0; i != values.size() / static_cast<std::size_t>(components); ++i)
  {
    xyz.insert(xyz.end(), { static_cast<float>(i), 0, 0 });
  }
  cloud.set_positions(xyz);
  cloud.add("v", type, values, components);
  return bat::File::from_memory(bat::encode(cloud.view()), "memory");
}

/// x of the matching particles, in the file that file_with() counts.
std::vector<int> found(const bat::File& file, const bat::Query& query)
{
  const bat::Selection selection = file.select(query);
  std::vector<float> xyz(3 * selection.count);
  file.read_positions(selection, xyz.data());
  std::vector<int> x;
  for (std::size_t i = 0; i != selection.count; ++i)
  {
    x.push_back(static_cast<int>(xyz[3 * i]));
  }
  std::sort(x.begin(), x.end());
  EXPECT_GE(file.upper_bound(query), selection.count);
  return x;
}

using Found = std::vector<int>;
}

TEST(QueryValues, signed_64_bit_integers_are_exact)
{
  const bat::File file = file_with<std::int64_t>(bat::ScalarType::Int64,
    { kBeyond, kBeyond + 1, kBeyond + 2, -kBeyond - 1, INT64_MAX, INT64_MIN, 0 });
  EXPECT_EQ(found(file, one_of("v", { kBeyond + 1, -kBeyond - 1 })), (Found{ 1, 3 }));
  EXPECT_EQ(found(file, one_of("v", { static_cast<double>(kBeyond), 7 })), Found{ 0 });
  EXPECT_EQ(found(file, one_of("v", { INT64_MIN, INT64_MAX, INT64_MIN })), (Found{ 4, 5 }));
  EXPECT_EQ(found(file, one_of("v", { 0x1p63, std::uint64_t{ 1 } << 63 })), Found{});
  EXPECT_EQ(found(file, one_of("v", { -0x1p63, -0.0, 0.5 })), (Found{ 5, 6 }));
}

TEST(QueryValues, unsigned_64_bit_integers_are_exact)
{
  const std::uint64_t top = std::uint64_t{ 1 } << 63;
  const bat::File file =
    file_with<std::uint64_t>(bat::ScalarType::UInt64, { top, top + 1, UINT64_MAX, 0, 5 });
  EXPECT_EQ(
    found(file, one_of("v", { top + 1, UINT64_MAX, std::int64_t{ 5 } })), (Found{ 1, 2, 4 }));
  EXPECT_EQ(found(file, one_of("v", { 0x1p63, 0x1p64, -1, -0.0 })), (Found{ 0, 3 }));
  EXPECT_EQ(found(file, one_of("v", { INT64_MIN, kInf, -kInf, 4.5 })), Found{});
}

TEST(QueryValues, small_integers_do_not_wrap)
{
  const bat::File file = file_with<std::uint8_t>(bat::ScalarType::UInt8, { 0, 1, 44, 255 });
  EXPECT_EQ(found(file, one_of("v", { 300, 255, -1, 1 })), (Found{ 1, 3 })); // 300 % 256 is 44
  EXPECT_EQ(found(file, one_of("v", { 300, 301 })), Found{});
}

TEST(QueryValues, floating_point_values_are_compared_as_they_are)
{
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const bat::File doubles = file_with<double>(
    bat::ScalarType::Float64, { 0.1, -0.0, kInf, nan, static_cast<double>(kBeyond), 0.0 });
  EXPECT_EQ(found(doubles, one_of("v", { 0.1, 0, kInf })), (Found{ 0, 1, 2, 5 }));
  EXPECT_EQ(found(doubles, one_of("v", { kBeyond + 1, -kInf })), Found{}); // is not a double
  EXPECT_EQ(found(doubles, one_of("v", { kBeyond, -0.0 })), (Found{ 1, 4, 5 }));

  // 0.1f is another number than 0.1.
  const bat::File floats = file_with<float>(bat::ScalarType::Float32, { 0.1F, 0.5F, 3 });
  EXPECT_EQ(found(floats, one_of("v", { 0.1, 0.5 })), Found{ 1 });
  EXPECT_EQ(found(floats, one_of("v", { double{ 0.1F }, 3 })), (Found{ 0, 2 }));
}

TEST(QueryValues, hold_for_components_and_magnitudes)
{
  const bat::File file =
    file_with<std::int32_t>(bat::ScalarType::Int32, { 3, 4, 0, 5, 1, 1, 4, 3 }, 2);
  bat::Query query = one_of("v", { 5, 4.5 });
  EXPECT_EQ(found(file, query), (Found{ 0, 1, 3 }));
  query.values[0].component = 1;
  EXPECT_EQ(found(file, query), Found{ 1 });
  query.values[0].values = { std::sqrt(2.0), 4, 1 };
  EXPECT_EQ(found(file, query), (Found{ 0, 2 }));
  query.values[0].component.reset();
  EXPECT_EQ(found(file, query), Found{ 2 });
}

TEST(QueryValues, an_empty_list_matches_nothing_and_all_lists_hold)
{
  const bat::File file = file_with<std::int16_t>(bat::ScalarType::Int16, { 1, 2, 3, 4, 2 });
  EXPECT_EQ(found(file, one_of("v", {})), Found{});
  EXPECT_EQ(file.upper_bound(one_of("v", {})), 0U);
  bat::Query query = one_of("v", { 2, 4, 9 });
  query.values.push_back({ "v", 0, { 1, 2, 3 } });
  query.ranges.push_back({ "v", {}, 1, 3 });
  EXPECT_EQ(found(file, query), (Found{ 1, 4 }));
  query.values.resize(70, { "v", {}, { 4, 2, 100 } });
  EXPECT_EQ(found(file, query), (Found{ 1, 4 }));
}

// The first steps of a series may lack attributes that others have.
TEST(QueryValues, a_file_without_particles_answers_conditions_on_what_it_lacks)
{
  bat::ParticleView nothing;
  nothing.positions = bat::ArrayView::packed(bat::ScalarType::Float32, 3, nullptr);
  const bat::File file = bat::File::from_memory(bat::encode(nothing), "empty");
  bat::Query query = one_of("v", { 1, 2 });
  query.values.push_back({ "w", 1, { 3 }, {}, true });
  query.ranges.push_back({ "u", 2, 0, 1 });
  EXPECT_EQ(file.select(query).count, 0U);
  EXPECT_EQ(file.upper_bound(query), 0U);
}

TEST(QueryValues, bad_lists_are_refused)
{
  const bat::File file = file_with<std::int16_t>(bat::ScalarType::Int16, { 1, 2 });
  const auto refused = [&](const bat::Query& query, const std::string& word)
  {
    for (const bool bound : { false, true })
    {
      try
      {
        bound ? (void)file.upper_bound(query) : (void)file.select(query);
        ADD_FAILURE() << "accepted";
      }
      catch (const bat::Error& e)
      {
        EXPECT_EQ(e.code(), bat::ErrorCode::InvalidArgument);
        EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
      }
    }
  };
  refused(one_of("v", { 1, std::nan(""), 2 }), "list of values of 'v' contains NaN");
  refused(one_of("w", {}), "unknown attribute 'w'; available: v");
  bat::Query query = one_of("v", { 1 });
  query.values[0].component = 1;
  refused(query, "component 1; allowed are 0 to 0");
  // Alternatives behave like the equivalent ranges.
  query = one_of("v", {});
  query.values[0].ranges = { { 1, 2 }, { 5, 3 } };
  refused(query, "memory: range on 'v' has a minimum 5 above its maximum 3");
  query.values[0].negated = true;
  query.values[0].component = 0;
  refused(query, "memory: negated range on 'v[0]' has a minimum 5 above its maximum 3");
  query.values[0].values = { 7 };
  query.values[0].ranges[0].upper = std::nan("");
  refused(query, "negated range on 'v[0]' has a NaN end");
}

TEST(QueryValues, blocks_without_a_listed_value_are_not_tested)
{
  const clouds::Cloud cloud = clouds::uniform(100000, 3);
  const bat::File file = bat::File::from_memory(bat::encode(cloud.view()), "memory");
  const brute_force::Table table = brute_force::read_all(file);
  clouds::Random random(1);
  bat::Query query = one_of("temperature", {});
  for (int i = 0; i != 40; ++i)
  {
    // Two ends of the distribution: a range over both would test everything.
    const double value =
      static_cast<double>(*brute_force::key_value(table.columns[0], {}, random() % table.count));
    if (value < 330 || value > 850)
    {
      query.values[0].values.emplace_back(value);
    }
  }
  ASSERT_GT(query.values[0].values.size(), 1U);
  const bat::Selection selection = file.select(query);
  EXPECT_EQ(positions_of(selection), brute_force::select(table, query));
  EXPECT_LT(selection.tested, table.count / 4);
  EXPECT_EQ(file.upper_bound(query), selection.tested);
}

TEST(QueryValues, numbers_without_a_gap_are_as_good_as_a_range)
{
  const bat::File file = bat::File::from_memory(bat::encode(clouds::uniform(5000, 4).view()), "m");
  bat::Query all = one_of("id", {});
  for (std::int64_t i = 5000; i != 0; --i)
  {
    all.values[0].values.emplace_back(kBeyond + i);
  }
  const bat::Selection selection = file.select(all);
  EXPECT_EQ(selection.count, 5000U);
  EXPECT_EQ(selection.tested, 0U);
}

TEST(QueryValues, a_hundred_thousand_ids_of_many_leaf_files)
{
  const TempDir folder;
  const clouds::Cloud cloud = clouds::uniform(150000, 5);
  dataset_files::write(folder / "out.bat", dataset_files::slabs(cloud, 7));
  const bat::Dataset dataset = bat::Dataset::open(folder / "out.bat");
  ASSERT_EQ(dataset.leaves().size(), 7U);
  std::vector<std::int64_t> expected;
  bat::Query query = one_of("id", {});
  clouds::Random random(2);
  for (int i = 0; i != 100000; ++i)
  {
    expected.push_back(kBeyond + static_cast<std::int64_t>(random() % 300000));
    query.values[0].values.emplace_back(expected.back());
  }
  std::sort(expected.begin(), expected.end());
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  expected.erase(std::remove_if(expected.begin(), expected.end(),
                   [](std::int64_t id) { return id <= kBeyond || id > kBeyond + 150000; }),
    expected.end());
  const bat::DatasetSelection selection = dataset.select(query);
  std::vector<std::int64_t> ids(selection.count);
  dataset.read_attribute(dataset.attribute_index("id"), selection, ids.data());
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(ids, expected);
}

TEST(QueryValues, leaf_files_without_a_listed_value_are_not_opened)
{
  const TempDir folder;
  clouds::Cloud cloud = clouds::uniform(4000, 6);
  std::vector<clouds::Cloud> parts = dataset_files::slabs(cloud, 4);
  std::int64_t base = 0;
  std::vector<bat::ParticleView> views;
  for (clouds::Cloud& part : parts)
  {
    std::vector<std::int64_t> number(part.count);
    std::generate(number.begin(), number.end(), [&] { return base++; });
    part.add("number", bat::ScalarType::Int64, number);
    views.push_back(part.view());
  }
  dataset_files::write(folder / "out.bat", views);
  const bat::Dataset dataset = bat::Dataset::open(folder / "out.bat");
  const auto last = static_cast<std::int64_t>(cloud.count) - 1;
  std::filesystem::remove(dataset.leaves()[1].path);
  std::filesystem::remove(dataset.leaves()[2].path);
  EXPECT_EQ(dataset.select(one_of("number", { 0, last, last + 1 })).count, 2U);
  EXPECT_THROW((void)dataset.select(one_of("number", { 0, last / 2, last })), bat::Error);
}
