// SPDX-License-Identifier: BSD-3-Clause
// Sample files of the paper's library: every particle is read back bit by bit, and queries give the
// same answers as a scan.

#include "bat/dataset.hpp"
#include "bench/npz.hpp"
#include "samples.hpp"

#include <algorithm>
#include <iostream>
#include <numeric>
#include <set>

namespace
{
/// Rows of particles as bytes, sorted.
using Rows = std::vector<std::string>;

void add_rows(Rows& rows, std::size_t count, const std::vector<std::vector<std::byte>>& columns)
{
  for (std::size_t i = 0; i != count; ++i)
  {
    std::string row;
    for (const std::vector<std::byte>& column : columns)
    {
      const std::size_t size = column.size() / count;
      row.append(reinterpret_cast<const char*>(column.data()) + i * size, size);
    }
    rows.push_back(std::move(row));
  }
}

Rows input_rows(const std::filesystem::path& path, const std::vector<bat::Attribute>& attributes)
{
  const std::vector<bench::NpzArray> arrays = bench::read_npz(path);
  const auto find = [&](const std::string& name)
  {
    return *std::find_if(arrays.begin(), arrays.end(),
      [&](const bench::NpzArray& array) { return array.name == name; });
  };
  std::vector<std::vector<std::byte>> columns{ find("positions").bytes };
  for (const bat::Attribute& attribute : attributes)
  {
    const bench::NpzArray array = find("attr_" + attribute.name);
    EXPECT_EQ(array.type, attribute.type) << attribute.name;
    columns.push_back(array.bytes);
  }
  Rows rows;
  add_rows(rows, columns[0].size() / 12, columns);
  std::sort(rows.begin(), rows.end());
  return rows;
}

TEST(Samples, every_particle_comes_out_bit_for_bit)
{
  std::size_t particles = 0;
  for (const auto& folder : samples::folders())
  {
    SCOPED_TRACE(folder.string());
    if (!std::filesystem::exists(folder / "input.npz"))
    {
      continue;
    }
    Rows rows;
    std::vector<bat::Attribute> attributes;
    for (const auto& path : samples::files_in(folder, ".bat"))
    {
      const auto leaf = bat::libbat::open_leaf(path);
      const bat::Selection all = leaf->select({}, samples::all_ordinals(*leaf), {});
      const samples::Values values = samples::read(*leaf, all);
      std::vector<std::vector<std::byte>> columns{ values.positions };
      columns.insert(columns.end(), values.columns.begin(), values.columns.end());
      add_rows(rows, all.count, columns);
      attributes = leaf->attributes();
      EXPECT_NO_THROW(leaf->validate());
    }
    std::sort(rows.begin(), rows.end());
    EXPECT_TRUE(rows == input_rows(folder / "input.npz", attributes));
    particles += rows.size();
  }
  EXPECT_GT(particles, 18000U);
  std::cout << particles << " particles\n";
}

TEST(Samples, file_positions_follow_depth_and_rank)
{
  for (const auto& folder : samples::folders())
  {
    for (const auto& path : samples::files_in(folder, ".bat"))
    {
      SCOPED_TRACE(path.string());
      samples::expect_equal(*bat::libbat::open_leaf(path), oracle::read(read_bytes(path)));
    }
  }
}

TEST(Samples, random_queries_equal_a_scan)
{
  int queries = 0;
  std::uint64_t seed = 0;
  for (const auto& folder : samples::folders())
  {
    for (const auto& path : samples::files_in(folder, ".bat"))
    {
      const oracle::Leaf expected = oracle::read(read_bytes(path));
      queries += samples::compare_queries(*bat::libbat::open_leaf(path), expected, 500, ++seed);
      ASSERT_FALSE(HasFailure());
    }
  }
  EXPECT_GE(queries, 6000);
  std::cout << queries << " queries\n";
}

TEST(Samples, steps_and_ranks_give_every_particle_once)
{
  for (const auto& folder : samples::folders())
  {
    for (const auto& path : samples::files_in(folder, ".bat"))
    {
      SCOPED_TRACE(path.string());
      const auto leaf = bat::libbat::open_leaf(path);
      const std::uint64_t n = leaf->particle_count();
      std::vector<int> seen(n);
      double before = 0;
      for (const double quality : { 0.0, 0.001, 0.01, 0.3, 0.30001, 0.9, 1.0 })
      {
        std::uint64_t step = 0;
        for (std::uint64_t part = 0; part != 3; ++part)
        {
          bat::Query query;
          query.after_quality = before;
          query.quality = quality;
          const bat::OrdinalInterval ranks{ n * part / 3, n * (part + 1) / 3 };
          for (const auto at : brute_force::positions_of(leaf->select(query, ranks, {})))
          {
            ++seen[at];
            ++step;
          }
        }
        const auto count = [&](double q)
        { return static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(n))); };
        EXPECT_EQ(step, count(quality) - count(before));
        before = quality;
      }
      EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
    }
  }
}

long double as_real(const bat::Number& number)
{
  return brute_force::exact(number);
}

TEST(Samples, keys_hold_all_values_but_the_one_that_the_library_leaves_out)
{
  for (const auto& folder : samples::folders())
  {
    for (const auto& path : samples::files_in(folder, ".bat"))
    {
      SCOPED_TRACE(path.string());
      const oracle::Leaf expected = oracle::read(read_bytes(path));
      const auto exact = bat::libbat::open_leaf(path, {}, bat::libbat::KeyRanges::Exact);
      const auto noted = bat::libbat::open_leaf(path);
      std::set<std::size_t> outside;
      for (std::size_t k = 0; k != exact->attributes().size(); ++k)
      {
        long double low = HUGE_VALL;
        long double high = -HUGE_VALL;
        const bat::Key& wide = noted->attributes()[k].keys[0];
        for (std::size_t i = 0; i != expected.table.count; ++i)
        {
          const auto& column = expected.table.columns[k];
          const long double v = brute_force::value(column.bytes, column.attribute.type, i);
          low = std::min(low, v);
          high = std::max(high, v);
          if (v < as_real(wide.minimum) || v > as_real(wide.maximum))
          {
            outside.insert(i);
          }
        }
        const bat::Key& key = exact->attributes()[k].keys[0];
        EXPECT_EQ(as_real(key.minimum), low);
        EXPECT_EQ(as_real(key.maximum), high);
        EXPECT_FALSE(key.has_nan);
      }
      EXPECT_LE(outside.size(), 1U);
    }
  }
}

TEST(Samples, opening_reads_the_header_and_a_low_quality_little)
{
  const auto path = samples::file("types8_leaf/types80.bat");
  const auto leaf = bat::libbat::open_leaf(path);
  EXPECT_LT(leaf->bytes_read(), 2000U);
  bat::Query query;
  query.quality = 0.02;
  const bat::Selection selection = leaf->select(query, samples::all_ordinals(*leaf), {});
  EXPECT_EQ(selection.count, 101U);
  EXPECT_LT(leaf->bytes_read(), 2000U); // a plain step needs no index
  samples::read(*leaf, selection);
  EXPECT_LT(leaf->bytes_read(), 60000U); // out of 300,316: pages around short runs of particles
}

TEST(Samples, types_of_integers_are_kept_exactly)
{
  const auto leaf = bat::libbat::open_leaf(
    samples::file("types8_leaf/types80.bat"), {}, bat::libbat::KeyRanges::Exact);
  const bat::Key& key = leaf->attributes()[7].keys[0];
  EXPECT_EQ(leaf->attributes()[7].type, bat::ScalarType::UInt64);
  ASSERT_TRUE(std::holds_alternative<std::uint64_t>(key.maximum));
  const auto top = std::get<std::uint64_t>(key.maximum);
  EXPECT_GT(top, std::uint64_t{ 1 } << 53);
  bat::Query query;
  query.ranges.push_back({ "u64", std::nullopt, top, top });
  EXPECT_EQ(leaf->select(query, samples::all_ordinals(*leaf), {}).count, 1U);
}

TEST(Samples, half_open_boxes_without_extent_hold_nothing)
{
  const bat::Dataset dataset = bat::Dataset::open(samples::file("good/good0.bat"));
  bat::Query query;
  query.box = dataset.bounds();
  query.box->upper[2] = query.box->lower[2];
  query.half_open = true;
  EXPECT_EQ(dataset.select(query).count, 0U);
  EXPECT_EQ(dataset.upper_bound(query), 0U);
}

TEST(Samples, lists_of_values_are_found_in_all_leaf_files)
{
  for (const auto& folder : samples::folders())
  {
    for (const auto& path : samples::files_in(folder, ".pbat"))
    {
      SCOPED_TRACE(path.string());
      const bat::Dataset dataset = bat::Dataset::open(path);
      for (std::size_t k = 0; k != dataset.attributes().size(); ++k)
      {
        const bat::Attribute& attribute = dataset.attributes()[k];
        if (attribute.type != bat::ScalarType::Float64)
        {
          continue;
        }
        std::vector<double> values(dataset.particle_count());
        dataset.read_attribute(k, dataset.select({}), values.data());
        bat::Query query;
        query.values.push_back({ attribute.name, {}, {} });
        std::set<double> reference;
        for (std::size_t i = 0; i < values.size(); i += 1 + values.size() / 101)
        {
          for (const double value : { values[i], std::nextafter(values[i], HUGE_VAL) })
          {
            reference.insert(value);
            query.values[0].values.emplace_back(value);
          }
        }
        const auto matches = std::count_if(
          values.begin(), values.end(), [&](double value) { return reference.count(value) != 0; });
        EXPECT_EQ(dataset.select(query).count, static_cast<std::uint64_t>(matches));
        const bat::CountEstimate estimate = dataset.estimate_count(query);
        EXPECT_LE(estimate.minimum, static_cast<std::uint64_t>(matches));
        EXPECT_GE(estimate.maximum, static_cast<std::uint64_t>(matches));
        EXPECT_TRUE(estimate.exact() || dataset.particle_count() > 100000);
      }
    }
  }
}

TEST(Samples, the_particle_outside_the_noted_range_is_found)
{
  const auto leaf = bat::libbat::open_leaf(samples::file("tiny_rank/tiny_rank0.bat"));
  EXPECT_LT(as_real(leaf->attributes()[0].keys[0].maximum), 1999.0L);
  bat::Query query;
  query.ranges.push_back({ "id", std::nullopt, std::int64_t{ 1999 }, std::int64_t{ 5000 } });
  EXPECT_EQ(leaf->select(query, samples::all_ordinals(*leaf), {}).count, 1U);
}

TEST(Samples, a_dataset_is_its_leaf_files)
{
  for (const auto& folder : samples::folders())
  {
    for (const auto& path : samples::files_in(folder, ".pbat"))
    {
      SCOPED_TRACE(path.string());
      EXPECT_TRUE(bat::libbat::is_top(path));
      EXPECT_FALSE(bat::libbat::is_leaf(path));
      const bat::libbat::Top top = bat::libbat::read_top(path, {}, bat::libbat::KeyRanges::Exact);
      EXPECT_EQ(top.leaves.size(), samples::files_in(folder, ".bat").size());
      std::uint64_t particles = 0;
      for (const bat::libbat::LeafEntry& entry : top.leaves)
      {
        EXPECT_TRUE(bat::libbat::is_leaf(entry.path));
        EXPECT_FALSE(bat::libbat::is_top(entry.path));
        EXPECT_FALSE(bat::File::has_magic(entry.path));
        EXPECT_EQ(entry.path.filename().string(),
          folder.filename().string() + std::to_string(entry.rank) + ".bat");
        const auto leaf = bat::libbat::open_leaf(entry.path);
        EXPECT_EQ(entry.particle_count, leaf->particle_count());
        for (std::size_t axis = 0; axis != 3; ++axis)
        {
          EXPECT_LE(top.bounds->lower[axis], leaf->bounds()->lower[axis]);
          EXPECT_GE(top.bounds->upper[axis], leaf->bounds()->upper[axis]);
        }
        particles += entry.particle_count;
      }
      EXPECT_EQ(top.particle_count, particles);
    }
  }
}

TEST(Samples, histograms_are_made_of_the_particles_when_they_are_few)
{
  for (const auto& folder : samples::folders())
  {
    for (const auto& path : samples::files_in(folder, ".pbat"))
    {
      SCOPED_TRACE(path.string());
      const bat::Dataset dataset = bat::Dataset::open(path);
      const auto n = static_cast<double>(dataset.particle_count());
      for (std::size_t i = 0; n < 8192 && i != dataset.attributes().size(); ++i)
      {
        const bat::Histogram histogram = dataset.histogram(i, 0, 10);
        const bat::Key& key = dataset.attributes()[i].keys[0];
        EXPECT_EQ(histogram.lower, key.minimum);
        EXPECT_EQ(histogram.upper, key.maximum);
        const auto& counts = histogram.counts;
        EXPECT_NEAR(std::accumulate(counts.begin(), counts.end(), 0.0), n, 1e-6 * n);
      }
    }
  }
}

TEST(Samples, a_missing_leaf_file_is_legal_only_without_particles)
{
  const TempDir dir;
  for (const char* name : { "tiny_rank.pbat", "tiny_rank0.bat", "tiny_rank2.bat" })
  {
    std::filesystem::copy(samples::file(std::string("tiny_rank/") + name), dir / name);
  }
  const bat::libbat::Top top = bat::libbat::read_top(dir / "tiny_rank.pbat");
  EXPECT_EQ(top.leaves.size(), 2U);
  EXPECT_EQ(top.particle_count, 3001U);
  std::filesystem::remove(dir / "tiny_rank2.bat");
  try
  {
    (void)bat::libbat::read_top(dir / "tiny_rank.pbat");
    FAIL();
  }
  catch (const bat::Error& error)
  {
    EXPECT_EQ(error.code(), bat::ErrorCode::NotFound);
    EXPECT_NE(std::string(error.what()).find("tiny_rank2.bat"), std::string::npos) << error.what();
  }
}
}
