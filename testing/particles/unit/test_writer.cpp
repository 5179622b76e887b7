// SPDX-License-Identifier: BSD-3-Clause
// The writer's accepted and rejected input, and the files it leaves behind.

#include "bat/bat.hpp"
#include "support/brute_force.hpp"
#include "support/clouds.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <new>
#include <numeric>

namespace
{
bat::File open(bat::Bytes bytes)
{
  return bat::File::from_memory(std::move(bytes), "memory");
}

// All bytes of each particle, sorted: equal for equal sets of particles.
std::vector<std::vector<std::byte>> rows(const clouds::Cloud& cloud)
{
  std::vector<std::vector<std::byte>> rows(cloud.count);
  const auto append = [&](const std::vector<std::byte>& bytes, std::size_t size)
  {
    for (std::uint64_t i = 0; i != cloud.count; ++i)
    {
      rows[i].insert(rows[i].end(), bytes.begin() + static_cast<std::ptrdiff_t>(i * size),
        bytes.begin() + static_cast<std::ptrdiff_t>((i + 1) * size));
    }
  };
  append(cloud.positions, 3 * bat::size_of(cloud.position_type));
  for (const auto& c : cloud.columns)
  {
    append(c.bytes, bat::size_of(c.type) * static_cast<std::size_t>(c.components));
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

clouds::Cloud to_cloud(const bat::File& file)
{
  const brute_force::Table table = brute_force::read_all(file);
  clouds::Cloud cloud;
  cloud.count = table.count;
  cloud.position_type = table.position_type;
  cloud.positions = table.positions;
  for (const auto& c : table.columns)
  {
    cloud.columns.push_back(
      { c.attribute.name, c.attribute.type, c.attribute.components, c.bytes });
  }
  return cloud;
}

void expect_round_trip(const clouds::Cloud& cloud, const bat::BuildOptions& options = {})
{
  const bat::File file = open(bat::encode(cloud.view(), options));
  ASSERT_NO_THROW(bat::validate(file));
  const clouds::Cloud back = to_cloud(file);
  ASSERT_EQ(back.count, cloud.count);
  ASSERT_EQ(back.columns.size(), cloud.columns.size());
  for (std::size_t k = 0; k != cloud.columns.size(); ++k)
  {
    EXPECT_EQ(back.columns[k].name, cloud.columns[k].name);
    EXPECT_EQ(back.columns[k].type, cloud.columns[k].type);
    EXPECT_EQ(back.columns[k].components, cloud.columns[k].components);
  }
  EXPECT_EQ(rows(back), rows(cloud));
}

clouds::Cloud first(clouds::Cloud cloud, std::uint64_t n)
{
  cloud.positions.resize(n * 3 * bat::size_of(cloud.position_type));
  for (auto& c : cloud.columns)
  {
    c.bytes.resize(n * bat::size_of(c.type) * static_cast<std::size_t>(c.components));
  }
  cloud.count = n;
  return cloud;
}
}

TEST(Writer, every_bit_of_every_particle_comes_back)
{
  expect_round_trip(clouds::uniform(20000, 1));
  expect_round_trip(clouds::clustered(20000, 2));
  expect_round_trip(clouds::duplicates(20000, 3));
  expect_round_trip(clouds::with_nan(20000, 4));
  expect_round_trip(clouds::mixed_types(5000, 5));
}

TEST(Writer, few_particles_are_no_special_case)
{
  for (const std::uint64_t n : { 0u, 1u, 2u, 15u, 16u, 17u, 255u, 256u, 257u, 4097u })
  {
    SCOPED_TRACE(n);
    bat::BuildOptions options;
    options.treelet_particles = 256;
    options.block_particles = 16;
    expect_round_trip(first(clouds::clustered(5000, 6), n), options);
    expect_round_trip(first(clouds::with_nan(5000, 7), n));
  }
}

TEST(Writer, degenerate_places_are_data)
{
  constexpr std::uint64_t n = 3000;
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::map<std::string, std::vector<double>> cases;
  clouds::Random random(8);
  for (std::uint64_t i = 0; i != n; ++i)
  {
    const double t = clouds::unit(random);
    const auto add = [&](const std::string& name, double x, double y, double z)
    {
      auto& p = cases[name];
      p.insert(p.end(), { x, y, z });
    };
    add("all equal", 0.1, 0.2, 0.3);
    add("on a line", t, 2 * t, -t);
    add("in a plane", t, clouds::unit(random), 7);
    add("one far away", i == 5 ? 1e300 : t, t, t);
    add("huge extent", (t - 0.5) * 1.7e308, (t - 0.5) * 1.7e308 * 2, t);
    add("denormal extent", 5e-324 * static_cast<double>(i % 7), 0, 0);
    add("each ten times further", std::pow(10.0, static_cast<double>(i % 600) - 300), 0, 1);
    add("all nan", nan, nan, nan);
    add("all infinite", inf, -inf, inf);
    add("signed zeros", i % 2 ? 0.0 : -0.0, 0, 0);
  }
  bat::BuildOptions options;
  options.treelet_particles = 256;
  options.block_particles = 16;
  for (const auto& [name, positions] : cases)
  {
    SCOPED_TRACE(name);
    clouds::Cloud cloud;
    cloud.set_positions(positions);
    std::vector<std::int32_t> ids(n);
    std::iota(ids.begin(), ids.end(), 0);
    cloud.add("id", bat::ScalarType::Int32, ids);
    expect_round_trip(cloud, options);
  }
}

// A wall with rounding noise: the corners that a block's box can have are themselves rounded.
TEST(Writer, boxes_hold_particles_that_lie_within_a_few_ulps)
{
  constexpr std::uint64_t n = 4000;
  const TempDir folder;
  const auto path = folder.path() / "wall.bat";
  bat::BuildOptions options;
  options.treelet_particles = 256;
  options.block_particles = 16;
  clouds::Random random(41);
  for (int round = 0; round != 60; ++round)
  {
    const int ulps = 1 + round % 20;
    const bool all_axes = round % 3 == 0;
    std::vector<double> positions;
    std::array<double, 3> wall{};
    for (double& w : wall)
    {
      w = (clouds::unit(random) - 0.5) * std::pow(2.0, static_cast<double>(random() % 40) - 20);
    }
    for (std::uint64_t i = 0; i != n; ++i)
    {
      for (std::size_t axis = 0; axis != 3; ++axis)
      {
        double x = axis != 2 && !all_axes ? clouds::unit(random) : wall[axis];
        for (std::uint64_t step = random() % (static_cast<std::uint64_t>(ulps) + 1);
             (axis == 2 || all_axes) && i % 5 == 0 && step != 0; --step)
        {
          x = std::nextafter(x, std::numeric_limits<double>::infinity());
        }
        positions.push_back(x);
      }
    }
    clouds::Cloud cloud;
    cloud.set_positions(positions);
    bat::write_file(path, cloud.view(), options);
    ASSERT_NO_THROW(bat::validate(path)) << "round " << round;
    const bat::File file = bat::File::open(path);
    for (int q = 0; q != 20; ++q)
    {
      const double* corner = &positions[3 * (random() % n)];
      bat::Query query;
      query.box = bat::Box{ { corner[0], -1e300, corner[2] }, { 1e300, 1e300, 1e300 } };
      std::uint64_t expected = 0;
      for (std::uint64_t i = 0; i != n; ++i)
      {
        expected += positions[3 * i] >= corner[0] && positions[3 * i + 2] >= corner[2] ? 1 : 0;
      }
      ASSERT_EQ(file.select(query).count, expected) << "round " << round;
    }
  }
}

TEST(Writer, no_treelet_is_much_larger_than_the_mean)
{
  clouds::Random random(9);
  std::map<std::string, clouds::Cloud> cases{ { "uniform", clouds::uniform(100000, 1) },
    { "clustered", clouds::clustered(100000, 2) },
    { "duplicates", clouds::duplicates(100000, 3) } };
  // Almost everything in a millionth of the domain.
  auto p = clouds::uniform_positions<double>(100000, random);
  for (std::size_t i = 300; i != p.size(); ++i)
  {
    p[i] *= 1e-6;
  }
  cases["dense corner"].set_positions(p);
  // Distances that halve from particle to particle.
  for (std::size_t i = 0; i != p.size(); ++i)
  {
    p[i] = std::pow(0.5, static_cast<double>(i / 3 % 1000));
  }
  cases["spiral"].set_positions(p);
  for (const auto& [name, cloud] : cases)
  {
    bat::BuildOptions options;
    options.treelet_particles = 1024;
    bat::WriteReport report;
    (void)bat::encode(cloud.view(), options, &report);
    const double mean =
      static_cast<double>(report.particles) / static_cast<double>(report.treelets);
    EXPECT_LE(static_cast<double>(report.largest_treelet), 2.5 * mean) << name;
    EXPECT_LE(report.largest_treelet, 1024u) << name;
  }
}

TEST(Writer, the_bytes_do_not_depend_on_the_number_of_threads)
{
  for (const clouds::Cloud& cloud :
    { clouds::clustered(300000, 10), clouds::with_nan(50000, 11), clouds::duplicates(50000, 12) })
  {
    bat::BuildOptions one;
    one.threads = 1;
    bat::BuildOptions four;
    four.threads = 4;
    EXPECT_TRUE(bat::encode(cloud.view(), one) == bat::encode(cloud.view(), four));
  }
}

TEST(Writer, index_and_checksums_stay_below_one_per_cent)
{
  for (const clouds::Cloud& cloud : { clouds::uniform(500000, 1), clouds::clustered(500000, 2) })
  {
    bat::WriteReport report;
    (void)bat::encode(cloud.view(), {}, &report);
    EXPECT_LT(
      static_cast<double>(report.index_bytes), 0.01 * static_cast<double>(report.data_bytes));
  }
}

TEST(Writer, seventy_thousand_distinct_bitmaps_are_stored_as_they_are)
{
  // Each block has values from its own random half of the bins.
  constexpr std::uint64_t n = 16 * 90000;
  clouds::Random random(13);
  clouds::Cloud cloud;
  std::vector<float> positions(3 * n);
  std::vector<double> value(n);
  for (std::uint64_t i = 0; i != n; ++i)
  {
    positions[3 * i] = static_cast<float>(i / 16);
  }
  for (std::uint64_t block = 0; block != n / 16; ++block)
  {
    const std::uint64_t bins = random();
    for (std::uint64_t i = 0; i != 16; ++i)
    {
      std::uint64_t bin = random() % 32;
      while ((bins >> bin & 1) == 0)
      {
        bin = (bin + 1) % 64;
      }
      value[16 * block + i] = static_cast<double>(bin % 32) + clouds::unit(random);
    }
  }
  cloud.set_positions(positions);
  cloud.add("value", bat::ScalarType::Float64, value);
  bat::BuildOptions options;
  options.block_particles = 16;
  const bat::File file = open(bat::encode(cloud.view(), options));
  ASSERT_NO_THROW(bat::validate(file));
  for (double x = 0.5; x < 32; x += 3.25)
  {
    bat::Query query;
    query.ranges = { { "value", {}, x, x + 0.25 } };
    const auto expected =
      std::count_if(value.begin(), value.end(), [x](double v) { return v >= x && v <= x + 0.25; });
    EXPECT_EQ(file.select(query).count, static_cast<std::uint64_t>(expected));
  }
}

TEST(Writer, bytes_keep_their_contents_whatever_pages_they_lie_on)
{
  constexpr std::size_t kLargePage = std::size_t{ 1 } << 21;
  for (const std::size_t size : { std::size_t{ 0 }, std::size_t{ 1 }, kLargePage - 1, kLargePage,
         kLargePage + 1, 3 * kLargePage + 5 })
  {
    bat::Bytes bytes(size, std::byte{ 7 });
    bytes.resize(size + kLargePage, std::byte{ 8 });
    const auto middle = bytes.begin() + static_cast<std::ptrdiff_t>(size);
    EXPECT_EQ(std::count(bytes.begin(), middle, std::byte{ 7 }), middle - bytes.begin());
    EXPECT_EQ(std::count(middle, bytes.end(), std::byte{ 8 }), bytes.end() - middle);
  }
  EXPECT_THROW(
    (void)bat::allocate_large(std::numeric_limits<std::size_t>::max() - 100, 1), std::bad_alloc);
  EXPECT_THROW((void)bat::allocate_large(std::size_t{ 1 } << 61, 8), std::bad_alloc);
}

TEST(Writer, arrays_may_be_strided_separate_and_unaligned)
{
  const clouds::Cloud cloud = clouds::uniform(20000, 14); // more than a treelet
  const bat::ParticleView packed = cloud.view();
  const auto* p = reinterpret_cast<const float*>(cloud.positions.data());
  std::vector<float> x;
  std::vector<float> y;
  std::vector<float> z;
  // Records of 29 bytes: position, a gap of one byte, temperature, id. Nothing is aligned.
  std::vector<std::byte> records(1 + 29 * cloud.count);
  for (std::uint64_t i = 0; i != cloud.count; ++i)
  {
    x.push_back(p[3 * i]);
    y.push_back(p[3 * i + 1]);
    z.push_back(p[3 * i + 2]);
    std::byte* record = &records[1 + 29 * i];
    std::memcpy(record, &p[3 * i], 12);
    std::memcpy(record + 13, &cloud.columns[0].bytes[8 * i], 8);
    std::memcpy(record + 21, &cloud.columns[3].bytes[8 * i], 8);
  }
  bat::ParticleView expected = packed;
  expected.attributes = { packed.attributes[0], packed.attributes[3] };

  bat::ParticleView separate = expected;
  separate.positions =
    bat::ArrayView::separate(bat::ScalarType::Float32, { x.data(), y.data(), z.data() });
  EXPECT_TRUE(bat::encode(separate) == bat::encode(expected));

  std::vector<std::byte> shifted(1 + cloud.positions.size());
  std::copy(cloud.positions.begin(), cloud.positions.end(), shifted.begin() + 1);
  bat::ParticleView unaligned = expected;
  unaligned.positions = bat::ArrayView::packed(bat::ScalarType::Float32, 3, &shifted[1]);
  EXPECT_TRUE(bat::encode(unaligned) == bat::encode(expected));

  bat::ParticleView strided = expected;
  for (std::size_t c = 0; c != 3; ++c)
  {
    strided.positions.component[c] = &records[1 + 4 * c];
  }
  strided.positions.stride_bytes = 29;
  strided.attributes[0].values.component[0] = &records[14];
  strided.attributes[0].values.stride_bytes = 29;
  strided.attributes[1].values.component[0] = &records[22];
  strided.attributes[1].values.stride_bytes = 29;
  EXPECT_TRUE(bat::encode(strided) == bat::encode(expected));
}

TEST(Writer, names_hints_time_and_metadata_come_back)
{
  clouds::Cloud cloud = clouds::uniform(100, 15);
  cloud.columns[0].name = "température [K] \"übel\" 'x' \\ \n";
  bat::ParticleView view = cloud.view();
  view.attributes[1].role = 3;
  view.attributes[1].host_type = 12;
  view.time = 2.5e-3;
  view.step = -7;
  view.metadata = R"({"units": {"density": "kg/m^3"}})";
  const bat::File file = open(bat::encode(view));
  EXPECT_EQ(file.attributes()[0].name, cloud.columns[0].name);
  EXPECT_EQ(file.attributes()[1].role, 3);
  EXPECT_EQ(file.attributes()[1].host_type, 12u);
  EXPECT_EQ(file.time(), 2.5e-3);
  EXPECT_EQ(file.step(), -7);
  EXPECT_NE(file.metadata().find("kg/m^3"), std::string::npos);
  ASSERT_NO_THROW(bat::validate(file));
}

TEST(Writer, metadata_is_stored_as_it_is_written)
{
  const clouds::Cloud cloud = clouds::uniform(10, 15);
  const std::string writer = std::string("\"writer\":\"ParaBAT ") + bat::kLibraryVersion + "\"";
  const std::pair<std::string, std::string> texts[] = {
    { "", "{" + writer + "}" },
    { "{ }", "{ " + writer + "}" },
    { R"({"b": 12345678901234567890123.50, "a":1e99, "a": "\ud83d\ude00"} )",
      R"({"b": 12345678901234567890123.50, "a":1e99, "a": "\ud83d\ude00",)" + writer + "} " },
    { R"({"writer":"another","b":{"c":[{}]}})", R"({"writer":"another","b":{"c":[{}]}})" },
    { R"({"b":{"writer":1}})", R"({"b":{"writer":1},)" + writer + "}" },
  };
  for (const auto& [given, stored] : texts)
  {
    bat::ParticleView view = cloud.view();
    view.metadata = given;
    const bat::File file = open(bat::encode(view));
    EXPECT_EQ(file.metadata(), stored);
    EXPECT_NO_THROW(bat::validate(file));
  }
}

TEST(Writer, texts_of_errors_are_cut_to_a_page)
{
  clouds::Cloud cloud = clouds::uniform(10, 15);
  cloud.columns[0].name = std::string(50'000'000, 'x');
  try
  {
    (void)bat::encode(cloud.view());
    ADD_FAILURE() << "accepted";
  }
  catch (const bat::Error& error)
  {
    const std::string text = error.what();
    EXPECT_LE(text.size(), 4000U);
    EXPECT_EQ(text.rfind("attribute 'xxx", 0), 0U);
    EXPECT_NE(text.find("bytes omitted"), std::string::npos);
    EXPECT_NE(text.find("found 50000000 bytes"), std::string::npos);
  }
  const std::string zeros =
    bat::Error(bat::ErrorCode::Corrupt, std::string(3'000'000, '\0')).what();
  EXPECT_EQ(zeros.rfind("\\0\\0", 0), 0U); // and not minutes later
  std::string umlauts;
  for (int i = 0; i != 3000; ++i)
  {
    umlauts += "\u00fc";
  }
  for (const char* odd : { "", "x" })
  {
    const std::string text = bat::Error(bat::ErrorCode::Corrupt, odd + umlauts).what();
    for (std::size_t i = 0; i + 1 < text.size(); ++i)
    {
      if (text[i] == '\xc3')
      {
        EXPECT_EQ(text[i + 1], '\xbc') << i;
        ++i;
      }
      else
      {
        EXPECT_LT(static_cast<unsigned char>(text[i]), 0x80) << i;
      }
    }
  }
}

TEST(Writer, input_that_cannot_be_stored_is_refused_in_words)
{
  const clouds::Cloud cloud = clouds::uniform(100, 16);
  const auto expect_refused =
    [](const bat::ParticleView& view, const bat::BuildOptions& options, const std::string& word)
  {
    try
    {
      (void)bat::encode(view, options);
      ADD_FAILURE() << "accepted; expected an error with '" << word << "'";
    }
    catch (const bat::Error& e)
    {
      EXPECT_EQ(e.code(), bat::ErrorCode::InvalidArgument);
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }
  };
  bat::ParticleView view = cloud.view();
  view.attributes[1].name = view.attributes[0].name;
  expect_refused(view, {}, "occurs twice");
  view = cloud.view();
  view.attributes[0].name = "";
  expect_refused(view, {}, "1 to 65535 bytes");
  view.attributes[0].name = "bad \xff utf-8";
  expect_refused(view, {}, "UTF-8");
  view = cloud.view();
  view.attributes[0].values.components = 10;
  expect_refused(view, {}, "10 components; allowed are 1 to 9");
  view = cloud.view();
  view.attributes[0].values.component[0] = nullptr;
  expect_refused(view, {}, "has no data");
  view = cloud.view();
  view.positions.type = bat::ScalarType::Int32;
  expect_refused(view, {}, "3 x int32");
  view = cloud.view();
  view.metadata = "[1]";
  expect_refused(view, {}, "JSON object");
  view = cloud.view();
  view.count = std::uint64_t{ 1 } << 32;
  expect_refused(view, {}, "at most 4294967295");
  bat::BuildOptions options;
  options.treelet_particles = 100;
  expect_refused(cloud.view(), options, "treelet_particles is 100");
  options = {};
  options.block_particles = 3;
  expect_refused(cloud.view(), options, "block_particles is 3");
  options = {};
  options.index_budget = 0;
  expect_refused(cloud.view(), options, "index_budget");
}
