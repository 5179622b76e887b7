// SPDX-License-Identifier: BSD-3-Clause
// Estimates of a dataset before a query runs, reading past damaged leaf files, and reading in
// portions.

#include "support/brute_force.hpp"
#include "support/dataset_files.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <numeric>
#include <set>

namespace
{
namespace fs = std::filesystem;

constexpr std::uint64_t kParticles = 200000;
constexpr std::size_t kLeaves = 5;

// `n` particles on a lattice that has `n` points in the given extents; extent 0 has one layer.
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
  // Parts are for readers; all of them share a budget.
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

// With leaf files of different sizes, some of which the query does not touch.
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
    // Estimates of several leaf files may arrive at the same quality.
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
  // Two adjacent lattices, the right one eight times as dense.
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
  for (const std::uint64_t maximum : { std::uint64_t{ 7777 }, all.count, 2 * all.count })
  {
    const std::vector<bat::DatasetSelection> portions = bat::split(all, maximum);
    EXPECT_EQ(portions.size(), (all.count + maximum - 1) / maximum);
    std::vector<std::byte> found(expected.size());
    std::uint64_t row = 0;
    for (const bat::DatasetSelection& portion : portions)
    {
      EXPECT_LE(portion.count, maximum);
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
  // A caller's mistake stays an error.
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

namespace
{
// Conditions of every kind, some of which the index decides and some not.
std::vector<bat::Query> queries_of(
  const brute_force::Table& table, const bat::Box& all, clouds::Random& random, int count)
{
  std::vector<bat::Query> queries;
  for (int i = 0; i != count; ++i)
  {
    bat::Query query;
    const auto cut = [&](std::size_t axis)
    {
      const double width = all.upper[axis] - all.lower[axis];
      query.box->lower[axis] += 0.4 * clouds::unit(random) * width;
      query.box->upper[axis] -= 0.4 * clouds::unit(random) * width;
    };
    const auto range = [&](const char* name)
    { return brute_force::random_range(table, brute_force::column_of(table, name), {}, random); };
    const auto add_list = [&](const char* name, int ranges, bool negated)
    {
      bat::AttributeValues list{ name, std::nullopt, {}, {}, negated };
      for (int k = 0; k != ranges; ++k)
      {
        list.ranges.push_back(range(name));
      }
      query.values.push_back(list);
    };
    switch (i % 8)
    {
      case 0:
        query.box = all;
        cut(0);
        cut(1);
        break;
      case 1:
        query.shapes.push_back(brute_force::random_shape(table, random));
        break;
      case 2:
        query.ranges = { { "noise", std::nullopt, range("noise").lower, 1e9 } };
        query.ranges[0].lower = -0.5;
        break;
      case 3:
        add_list("temperature", 3, false);
        break;
      case 4:
        add_list("noise", 2, true);
        break;
      case 5:
        query.values = { { "material", std::nullopt, { std::int64_t{ 2 }, std::int64_t{ 3 } } } };
        query.quality = 0.7;
        break;
      case 6:
        add_list("id", 2, i % 16 < 8);
        query.box = all;
        cut(2);
        break;
      default:
        query.values = { { "id", std::nullopt, {} } };
        for (int k = 0; k != 50; ++k)
        {
          query.values[0].values.push_back(
            brute_force::random_number(table, brute_force::column_of(table, "id"), {}, random));
        }
    }
    queries.push_back(query);
  }
  return queries;
}

struct Deviation
{
  double worst = 0; ///< the estimate's error as a share of the particles
  int exact = 0;
};

// Fails unless the bounds hold.
Deviation deviation(const fs::path& path, const std::vector<bat::Query>& queries,
  const std::vector<std::uint64_t>& counts)
{
  Deviation found;
  for (std::size_t i = 0; i != queries.size(); ++i)
  {
    // Opened again, so that what others have read does not count.
    const bat::Dataset dataset = bat::Dataset::open(path);
    const bat::CountEstimate estimate = dataset.estimate_count(queries[i]);
    EXPECT_LE(estimate.minimum, counts[i]) << i;
    EXPECT_GE(estimate.maximum, counts[i]) << i;
    EXPECT_LE(estimate.minimum, estimate.likely) << i;
    EXPECT_GE(estimate.maximum, estimate.likely) << i;
    if (dataset.leaves().size() <= 64) // otherwise some are not inspected
    {
      EXPECT_LE(estimate.maximum, dataset.upper_bound(queries[i])) << i;
    }
    const double wrong =
      std::fabs(static_cast<double>(estimate.likely) - static_cast<double>(counts[i]));
    found.worst = std::max(found.worst, wrong / static_cast<double>(dataset.particle_count()));
    found.exact += estimate.exact() ? 1 : 0;
  }
  return found;
}
}

TEST(CountEstimates, bound_what_brute_force_counts_and_come_close_to_it)
{
  constexpr std::uint64_t particles = 200000;
  for (const bool even : { true, false })
  {
    const std::uint64_t seed = even ? 11 : 12;
    const clouds::Cloud cloud =
      even ? clouds::uniform(particles, seed) : clouds::clustered(particles, seed);
    TempDir folder;
    const fs::path path = folder / "one.bat";
    bat::write_file(path, cloud.view());
    const bat::File file = bat::File::open(path);
    const brute_force::Table table = brute_force::read_all(file);
    clouds::Random random(seed);
    const std::vector<bat::Query> queries = queries_of(table, *file.bounds(), random, 16);
    std::vector<std::uint64_t> counts;
    for (const bat::Query& query : queries)
    {
      counts.push_back(brute_force::select(table, query).size());
    }
    const Deviation one = deviation(path, queries, counts);
    EXPECT_LT(one.worst, 0.005) << "seed " << seed;
    EXPECT_GT(one.exact, 2); // both kinds occur
    EXPECT_LT(one.exact, 16);

    // The same particles in leaf files, not all of which are opened. Each has its own qualities.
    const fs::path many = folder / "many.bat";
    dataset_files::write(many, dataset_files::slabs(cloud, 90));
    const bat::Dataset dataset = bat::Dataset::open(many);
    for (std::size_t i = 0; i != queries.size(); ++i)
    {
      counts[i] = queries[i].quality == 1 ? counts[i] : dataset.select(queries[i]).count;
    }
    EXPECT_LT(deviation(many, queries, counts).worst, 0.03) << "seed " << seed;
  }
}

TEST(CountEstimates, are_exact_without_conditions_and_of_what_no_particle_meets)
{
  TempDir folder;
  const fs::path path = folder / "many.bat";
  dataset_files::write(path, dataset_files::slabs(clouds::clustered(20000, 4), 70));
  const bat::Dataset dataset = bat::Dataset::open(path);
  const std::uint64_t opened = dataset.bytes_read();
  bat::Query query;
  for (const double quality : { 0.0, 0.3, 1.0 })
  {
    query.quality = quality;
    const bat::CountEstimate estimate = dataset.estimate_count(query);
    EXPECT_TRUE(estimate.exact());
    EXPECT_EQ(estimate.likely, dataset.particles_at(quality));
  }
  EXPECT_LT(dataset.bytes_read(), opened + 65536); // no leaf file
  query.box = bat::Box{ { 1e9, 1e9, 1e9 }, { 2e9, 2e9, 2e9 } };
  EXPECT_EQ(dataset.estimate_count(query).maximum, 0U);
  query.box->lower[0] = 3e9;
  EXPECT_THROW((void)dataset.estimate_count(query), bat::Error);
  query.box.reset();
  query.after_quality = 0.5;
  EXPECT_EQ(dataset.estimate_count(query).likely, dataset.select(query).count);
  query.after_quality = 0;
  query.part = 2;
  query.parts = 3;
  EXPECT_EQ(dataset.estimate_count(query).minimum <= dataset.select(query).count, true);
  EXPECT_EQ(dataset.estimate_count(query).maximum >= dataset.select(query).count, true);
}

TEST(CountEstimates, of_parts_of_a_few_leaf_files_look_into_each_that_is_cut)
{
  TempDir folder;
  const fs::path path = folder / "few.bat";
  dataset_files::write(path, dataset_files::slabs(clouds::clustered(20000, 4), 6));
  const bat::Dataset dataset = bat::Dataset::open(path);
  for (const double quality : { 1.0, 0.6, 0.25 })
  {
    for (std::uint32_t part = 0; part != 5; ++part)
    {
      bat::Query query;
      query.quality = quality;
      query.part = part;
      query.parts = 5;
      const bat::CountEstimate estimate = dataset.estimate_count(query);
      EXPECT_TRUE(estimate.exact()) << part << " at " << quality;
      EXPECT_EQ(estimate.likely, dataset.select(query).count) << part << " at " << quality;
    }
  }
}

TEST(CountEstimates, leave_out_leaf_files_that_are_gone_as_select_does)
{
  TempDir folder;
  const fs::path path = folder / "gone.bat";
  dataset_files::write(path, dataset_files::slabs(clouds::clustered(20000, 4), 6));
  fs::remove(bat::Dataset::open(path).leaves()[2].path);
  const bat::Dataset dataset = bat::Dataset::open(path);
  std::set<std::size_t> reported;
  bat::QueryOptions options;
  options.on_damage = [&](std::size_t leaf, const bat::Error&) { reported.insert(leaf); };
  const bat::CountEstimate estimate = dataset.estimate_count({}, options);
  EXPECT_EQ(reported, std::set<std::size_t>{ 2 });
  EXPECT_EQ(estimate.likely, dataset.select({}, options).count);
  EXPECT_TRUE(estimate.exact());
}

TEST(CountEstimates, read_little_of_a_file)
{
  constexpr std::uint64_t particles = 1500000;
  clouds::Cloud cloud;
  clouds::Random random(5);
  const auto p = clouds::uniform_positions<double>(particles, random);
  cloud.set_positions(p);
  std::vector<double> noise(particles);
  std::vector<double> tilted(particles); // the more above 0, the larger x
  for (std::size_t i = 0; i != particles; ++i)
  {
    noise[i] = clouds::normal(random);
    tilted[i] = noise[i] + 6 * (p[3 * i] - 0.5);
  }
  cloud.add("noise", bat::ScalarType::Float64, noise);
  cloud.add("tilted", bat::ScalarType::Float64, tilted);
  TempDir folder;
  const fs::path path = folder / "large.bat";
  bat::write_file(path, cloud.view());
  bat::Query query;
  query.ranges = { { "noise", std::nullopt, 0.0, 1e9 } };
  query.box = bat::Box{ { 0.1, 0.1, 0.1 }, { 0.9, 0.9, 0.9 } };
  const bat::Dataset request = bat::Dataset::open(path);
  const bat::CountEstimate estimate = request.estimate_count(query);
  const std::uint64_t count = bat::Dataset::open(path).select(query).count;
  EXPECT_NEAR(static_cast<double>(estimate.likely), static_cast<double>(count), 0.02 * particles);
  EXPECT_LT(request.bytes_read(), request.data_bytes() / 10);

  // A thin sheet has few coarse particles, so others from all over it contribute to the estimate.
  query.box = bat::Box{ { 0, 0, 0.5 }, { 1, 1, 0.52 } };
  query.ranges[0].attribute = "tilted";
  const bat::Dataset again = bat::Dataset::open(path);
  const bat::CountEstimate sheet = again.estimate_count(query);
  EXPECT_FALSE(sheet.exact());
  const auto reference = static_cast<double>(bat::Dataset::open(path).select(query).count);
  EXPECT_NEAR(static_cast<double>(sheet.likely), reference, 0.1 * reference);
  EXPECT_LT(again.bytes_read(), again.data_bytes() / 5);
}

TEST(FewValues, are_those_of_an_integer_attribute_with_their_counts)
{
  constexpr std::uint64_t particles = 150000;
  clouds::Cloud cloud = clouds::clustered(particles, 6);
  std::vector<std::int16_t> layer(particles);
  std::vector<std::uint64_t> high(particles);
  std::vector<std::int32_t> apart(particles);
  for (std::size_t i = 0; i != particles; ++i)
  {
    layer[i] = static_cast<std::int16_t>(-2 + static_cast<int>(i % 3) * 2); // -2, 0, 2
    high[i] = std::numeric_limits<std::uint64_t>::max() - i % 2;
    apart[i] = i % 2 == 0 ? 1 : 1000;
  }
  cloud.add("layer", bat::ScalarType::Int16, layer);
  cloud.add("high", bat::ScalarType::UInt64, high);
  cloud.add("apart", bat::ScalarType::Int32, apart);
  TempDir folder;
  const fs::path path = folder / "few.bat";
  dataset_files::write(path, dataset_files::slabs(cloud, 3));
  const bat::Dataset dataset = bat::Dataset::open(path);
  const auto values_of = [&](const char* name, std::size_t maximum)
  {
    const std::vector<bat::ValueCount> found =
      dataset.few_values(dataset.attribute_index(name), maximum);
    std::vector<std::string> values;
    for (const bat::ValueCount& one : found)
    {
      bat::Query query;
      query.ranges = { { name, std::nullopt, one.value, one.value } };
      const std::uint64_t count = dataset.select(query).count;
      EXPECT_LE(one.count.minimum, count);
      EXPECT_GE(one.count.maximum, count);
      EXPECT_NEAR(
        static_cast<double>(one.count.likely), static_cast<double>(count), 0.02 * particles);
      values.push_back(bat::to_string(one.value));
    }
    return values;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(values_of("material", 12), (Texts{ "1", "2", "3" }));
  EXPECT_EQ(values_of("material", 3), (Texts{ "1", "2", "3" }));
  EXPECT_EQ(values_of("material", 2), Texts{});
  EXPECT_EQ(values_of("high", 12), (Texts{ "18446744073709551614", "18446744073709551615" }));
  EXPECT_EQ(values_of("apart", 12), Texts{}); // the index does not show the values in between
  EXPECT_EQ(values_of("id", 12), Texts{});
  EXPECT_EQ(values_of("temperature", 12), Texts{});
  EXPECT_EQ(values_of("velocity", 12), Texts{});
  // Showing that no particle of a bin has a value requires reading all of them.
  const fs::path one = folder / "one.bat";
  std::vector<std::uint64_t> first(100000);
  std::iota(first.begin(), first.end(), std::uint64_t{ 0 });
  bat::write_file(one, dataset_files::subset(cloud, first).view());
  const bat::Dataset whole = bat::Dataset::open(one);
  const std::vector<bat::ValueCount> layers = whole.few_values(whole.attribute_index("layer"), 12);
  ASSERT_EQ(layers.size(), 3U);
  EXPECT_EQ(bat::to_string(layers[1].value), "0");
  // For few particles the result is exact.
  const fs::path small = folder / "small.bat";
  bat::write_file(small, dataset_files::subset(cloud, { 0, 1, 2, 3, 4, 5, 6 }).view());
  const bat::Dataset few = bat::Dataset::open(small);
  const std::vector<bat::ValueCount> found = few.few_values(few.attribute_index("layer"), 12);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_TRUE(found[1].count.exact());
  EXPECT_EQ(found[0].count.likely, 3U);
  EXPECT_EQ(found[1].count.likely, 2U);
  EXPECT_THROW((void)few.few_values(99, 12), bat::Error);
}
