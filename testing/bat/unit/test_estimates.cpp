// What a dataset says of a query before it is asked, going on without damaged leaf files, and
// reading in portions.

#include "support/dataset_files.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <set>

namespace
{
namespace fs = std::filesystem;

constexpr std::uint64_t kParticles = 200000;
constexpr std::size_t kLeaves = 5;

// `n` particles on a lattice that has `n` points in the extents given; extent 0 has one layer.
clouds::Cloud lattice(const std::array<int, 3>& n)
{
  clouds::Cloud cloud;
  cloud.count = static_cast<std::uint64_t>(n[0]) * n[1] * n[2];
  cloud.position_type = bat::ScalarType::Float64;
  std::vector<double> xyz;
  for (int i = 0; i != n[0]; ++i)
  {
    for (int j = 0; j != n[1]; ++j)
    {
      for (int k = 0; k != n[2]; ++k)
      {
        xyz.insert(xyz.end(), { 1.0 * i, 1.0 * j, 1.0 * k });
      }
    }
  }
  cloud.positions.resize(xyz.size() * sizeof(double));
  std::memcpy(cloud.positions.data(), xyz.data(), cloud.positions.size());
  return cloud;
}

double spacing(const clouds::Cloud& cloud, double quality)
{
  TempDir folder;
  const fs::path path = folder / "lattice.bat";
  bat::write_file(path, cloud.view());
  bat::Query query;
  query.quality = quality;
  return bat::Dataset::open(path).spacing(query);
}

class Estimates : public testing::Test
{
protected:
  Estimates() { dataset_files::write(this->path, dataset_files::slabs(this->cloud, kLeaves)); }

  TempDir folder;
  fs::path path = folder / "out.bat";
  clouds::Cloud cloud = clouds::clustered(kParticles, 3);
};
}

TEST_F(Estimates, a_budget_is_met_to_within_a_particle_per_leaf_file)
{
  const bat::Dataset dataset = bat::Dataset::open(this->path);
  for (const std::uint64_t budget : { 0UL, 1UL, 17UL, 1000UL, 99999UL, kParticles - 1 })
  {
    const double quality = dataset.quality_within({}, budget);
    EXPECT_LE(dataset.particles_at(quality), budget);
    EXPECT_GT(dataset.particles_at(quality) + kLeaves + 1, budget);
  }
  EXPECT_EQ(dataset.quality_within({}, kParticles), 1.0);
  bat::Query coarse;
  coarse.quality = 0.25;
  EXPECT_EQ(dataset.quality_within(coarse, kParticles), 0.25);
  // Parts are for those who read; all of them share a budget.
  bat::Query part;
  part.part = 3;
  part.parts = 8;
  EXPECT_EQ(dataset.quality_within(part, 1000), dataset.quality_within({}, 1000));
}

TEST_F(Estimates, conditions_leave_room_for_a_finer_quality)
{
  const bat::Dataset dataset = bat::Dataset::open(this->path);
  const bat::Box all = *dataset.bounds();
  bat::Query box;
  box.box = all;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    box.box->upper[axis] = (all.lower[axis] + all.upper[axis]) / 2;
  }
  bat::Query range;
  const bat::Key& key = dataset.attributes()[dataset.attribute_index("temperature")].keys[0];
  const double low = bat::to_double(key.minimum);
  range.ranges = { { "temperature", std::nullopt, low, (low + bat::to_double(key.maximum)) / 2 } };
  bat::Query both = box;
  both.ranges = range.ranges;
  for (bat::Query query : { box, range, both })
  {
    const std::uint64_t matches = dataset.select(query).count;
    ASSERT_GT(matches, 2000U);
    for (const std::uint64_t budget : { matches / 10, matches / 3, matches - matches / 50 })
    {
      query.quality = 1;
      query.quality = dataset.quality_within(query, budget);
      const std::uint64_t loaded = dataset.select(query).count;
      EXPECT_LE(loaded, budget);
      EXPECT_GT(loaded, budget / 2);
    }
    query.quality = 1;
    EXPECT_EQ(dataset.quality_within(query, 2 * kParticles), 1.0);
  }
}

TEST_F(Estimates, ids_are_not_lost_to_a_budget_among_many_leaf_files)
{
  const fs::path many = this->folder / "many.bat";
  dataset_files::write(many, dataset_files::slabs(this->cloud, 100));
  const bat::Dataset dataset = bat::Dataset::open(many);
  bat::Query query;
  query.values = { { "id", std::nullopt, {} } };
  const bat::Key& ids = dataset.attributes()[dataset.attribute_index("id")].keys[0];
  for (const std::int64_t k : { 0, 3, 777, 99999 })
  {
    query.values[0].values.emplace_back(std::get<std::int64_t>(ids.minimum) + k);
  }
  const std::uint64_t found = dataset.select(query).count;
  EXPECT_GT(found, 0U);
  EXPECT_EQ(dataset.quality_within(query, found), 1.0);
}

TEST_F(Estimates, of_a_few_ids_a_budget_takes_as_many_as_it_names)
{
  const fs::path single = this->folder / "single.bat";
  bat::write_file(single, this->cloud.view());
  const bat::Dataset dataset = bat::Dataset::open(single);
  bat::Query query;
  query.values = { { "id", std::nullopt, {} } };
  const bat::Key& ids = dataset.attributes()[dataset.attribute_index("id")].keys[0];
  for (std::int64_t k = 0; k != 24; ++k)
  {
    query.values[0].values.emplace_back(std::get<std::int64_t>(ids.minimum) + 5 * k);
  }
  for (const double finest : { 1.0, 0.7 })
  {
    query.quality = finest;
    const std::uint64_t found = dataset.select(query).count;
    ASSERT_GT(found, finest == 1 ? 23U : 10U);
    for (std::uint64_t budget = 0; budget != found; ++budget)
    {
      query.quality = finest;
      query.quality = dataset.quality_within(query, budget);
      EXPECT_EQ(dataset.select(query).count, budget);
    }
  }
}

// Of leaf files of different size, some of which the query does not touch.
TEST_F(Estimates, what_a_sample_shows_to_exceed_a_budget_is_cut_exactly)
{
  const bat::Dataset dataset = bat::Dataset::open(this->path);
  const bat::Box all = *dataset.bounds();
  bat::Query query;
  query.box = all;
  query.box->lower[0] += 0.3 * (all.upper[0] - all.lower[0]);
  query.ranges = { { "temperature", std::nullopt, -1e30, 500.0 } };
  const std::uint64_t found = dataset.select(query).count;
  ASSERT_GT(found, 1000U);
  for (std::uint64_t budget = 1; budget < found / 10; budget = budget * 3 / 2 + 1)
  {
    query.quality = 1;
    query.quality = dataset.quality_within(query, budget);
    const std::uint64_t loaded = dataset.select(query).count;
    EXPECT_LE(loaded, budget);
    // Those of several leaf files may come at the same quality.
    EXPECT_GE(loaded + kLeaves, budget);
  }
}

TEST_F(Estimates, a_budget_holds_for_any_query)
{
  const bat::Dataset dataset = bat::Dataset::open(this->path);
  const bat::Box all = *dataset.bounds();
  clouds::Random random(7);
  for (int i = 0; i != 200; ++i)
  {
    bat::Query query;
    query.box = all;
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      const double width = all.upper[axis] - all.lower[axis];
      query.box->lower[axis] += 0.5 * clouds::unit(random) * width;
      query.box->upper[axis] -= 0.4 * clouds::unit(random) * width;
    }
    if (i % 2 != 0)
    {
      query.ranges = { { "temperature", std::nullopt, -1e30, 1e3 * clouds::unit(random) } };
    }
    const auto budget = static_cast<std::uint64_t>(std::pow(10.0, 5.5 * clouds::unit(random)));
    query.quality = dataset.quality_within(query, budget);
    EXPECT_LE(dataset.select(query).count, budget) << i;
  }
}

TEST(Spacing, is_that_of_a_lattice)
{
  EXPECT_NEAR(spacing(lattice({ 40, 40, 40 }), 1), 1.0, 0.25);
  EXPECT_NEAR(spacing(lattice({ 40, 40, 40 }), 0.125), 2.0, 0.5);
  EXPECT_NEAR(spacing(lattice({ 300, 300, 1 }), 1), 1.0, 0.2);
  EXPECT_NEAR(spacing(lattice({ 300, 300, 1 }), 0.01), 10.0, 2.0);
  EXPECT_NEAR(spacing(lattice({ 1, 50000, 1 }), 1), 1.0, 0.1);
  EXPECT_NEAR(spacing(lattice({ 1, 50000, 1 }), 0.1), 10.0, 1.0);
  // Fewer particles than treelets.
  EXPECT_NEAR(spacing(lattice({ 40, 40, 40 }), 1.0 / 64000), 40.0, 12.0);
  EXPECT_EQ(spacing(lattice({ 1, 1, 1 }), 1), 0.0);
  EXPECT_EQ(spacing(clouds::Cloud(), 1), 0.0);
  EXPECT_EQ(spacing(lattice({ 40, 40, 40 }), 0), 0.0);
}

TEST_F(Estimates, spacing_is_of_the_box_that_is_asked_for)
{
  // Two lattices side by side, the right one eight times as dense.
  const clouds::Cloud coarse = lattice({ 20, 40, 40 });
  const clouds::Cloud fine = lattice({ 40, 80, 80 });
  clouds::Cloud both = coarse;
  std::vector<double> xyz(fine.count * 3);
  std::memcpy(xyz.data(), fine.positions.data(), fine.positions.size());
  for (std::size_t i = 0; i != xyz.size(); ++i)
  {
    xyz[i] = xyz[i] / 2 + (i % 3 == 0 ? 20.0 : 0.0);
  }
  both.count += fine.count;
  both.positions.resize(both.count * 3 * sizeof(double));
  std::memcpy(&both.positions[coarse.positions.size()], xyz.data(), fine.positions.size());
  const fs::path two = this->folder / "two.bat";
  bat::write_file(two, both.view());
  const bat::Dataset dataset = bat::Dataset::open(two);
  bat::Query query;
  query.box = bat::Box{ { 0, 0, 0 }, { 15, 40, 40 } };
  EXPECT_NEAR(dataset.spacing(query), 1.0, 0.25);
  query.box = bat::Box{ { 25, 0, 0 }, { 40, 40, 40 } };
  EXPECT_NEAR(dataset.spacing(query), 0.5, 0.15);
  query.box = bat::Box{ { 100, 100, 100 }, { 200, 200, 200 } };
  EXPECT_EQ(dataset.spacing(query), 0.0);
}

TEST_F(Estimates, portions_add_up_to_the_selection)
{
  const bat::Dataset dataset = bat::Dataset::open(this->path);
  bat::Query query;
  query.quality = 0.6;
  const bat::DatasetSelection all = dataset.select(query);
  const std::uint64_t row_bytes = 3 * bat::size_of(dataset.position_type());
  std::vector<std::byte> expected(row_bytes * all.count);
  dataset.read_positions(all, expected.data());
  for (const std::uint64_t most : { std::uint64_t{ 7777 }, all.count, 2 * all.count })
  {
    const std::vector<bat::DatasetSelection> portions = bat::split(all, most);
    EXPECT_EQ(portions.size(), (all.count + most - 1) / most);
    std::vector<std::byte> found(expected.size());
    std::uint64_t row = 0;
    for (const bat::DatasetSelection& portion : portions)
    {
      EXPECT_LE(portion.count, most);
      dataset.read_positions(portion, &found[row_bytes * row]);
      row += portion.count;
    }
    EXPECT_EQ(row, all.count);
    EXPECT_TRUE(found == expected);
  }
  EXPECT_TRUE(bat::split({}, 5).empty());
}

TEST_F(Estimates, leaf_files_that_are_missing_or_damaged_can_be_left_out)
{
  std::vector<bat::LeafInfo> leaves = bat::Dataset::open(this->path).leaves();
  fs::remove(leaves[1].path);
  {
    std::vector<std::byte> bytes = read_bytes(leaves[3].path);
    bytes[bytes.size() / 2] ^= std::byte{ 1 };
    write_bytes(leaves[3].path, bytes);
  }
  const bat::Dataset dataset = bat::Dataset::open(this->path);
  EXPECT_THROW((void)dataset.select({}), bat::Error);
  std::mutex mutex;
  std::set<std::size_t> bad;
  std::string text;
  bat::QueryOptions options;
  options.on_damage = [&](std::size_t leaf, const bat::Error& error)
  {
    const std::lock_guard<std::mutex> lock(mutex);
    bad.insert(leaf);
    text += error.what();
  };
  const bat::DatasetSelection rest = dataset.select({}, options);
  EXPECT_EQ(bad, std::set<std::size_t>{ 1 });
  EXPECT_NE(text.find(leaves[1].path.string()), std::string::npos) << text;
  EXPECT_EQ(rest.count, kParticles - leaves[1].particles);
  std::vector<std::vector<std::byte>> columns(dataset.attributes().size());
  for (std::size_t a = 0; a != columns.size(); ++a)
  {
    columns[a].resize(rest.count * dataset.bytes_per_particle());
    dataset.read_attribute(a, rest, columns[a].data(), options);
  }
  std::vector<double> positions(3 * rest.count);
  dataset.read_positions(rest, positions.data(), options);
  EXPECT_EQ(bad, (std::set<std::size_t>{ 1, 3 }));
  EXPECT_NE(text.find(leaves[3].path.string()), std::string::npos) << text;
  EXPECT_GT(dataset.spacing({}, options), 0.0);
  EXPECT_GT(dataset.quality_within({}, 1000, options), 0.0);
  // What the caller did wrong stays an error.
  bat::Query wrong;
  wrong.ranges = { { "no such", std::nullopt, 0.0, 1.0 } };
  EXPECT_THROW((void)dataset.select(wrong, options), bat::Error);
}

TEST_F(Estimates, leaf_files_of_a_later_format_are_not_left_out_as_if_they_were_damaged)
{
  const bat::LeafInfo leaf = bat::Dataset::open(this->path).leaves().at(2);
  std::vector<std::byte> bytes = read_bytes(leaf.path);
  bytes.at(8) = std::byte{ 9 }; // its major version
  write_bytes(leaf.path, bytes);
  const bat::Dataset dataset = bat::Dataset::open(this->path);
  bat::QueryOptions options;
  options.on_damage = [](std::size_t, const bat::Error& error) { FAIL() << error.what(); };
  try
  {
    (void)dataset.select({}, options);
    FAIL() << "was left out";
  }
  catch (const bat::Error& error)
  {
    EXPECT_EQ(error.code(), bat::ErrorCode::UnsupportedVersion);
    EXPECT_NE(std::string(error.what()).find(leaf.path.string()), std::string::npos);
  }
}

TEST_F(Estimates, reading_ahead_changes_no_answer)
{
  const bat::Dataset dataset = bat::Dataset::open(this->path);
  bat::Query query;
  query.quality = 0.1;
  const bat::DatasetSelection some = dataset.select(query);
  dataset.prefetch(some, { 0, 3 });
  dataset.prefetch({}, {});
  std::vector<double> positions(3 * some.count);
  dataset.read_positions(some, positions.data());
  std::vector<double> again(3 * some.count);
  bat::Dataset::open(this->path).read_positions(some, again.data());
  EXPECT_TRUE(positions == again);
}
