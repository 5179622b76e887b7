// SPDX-License-Identifier: BSD-3-Clause
// Boxes, ranges, qualities and parts, one by one.

#include "bat/bat.hpp"
#include "support/brute_force.hpp"
#include "support/clouds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>

using brute_force::positions_of;

namespace
{
bat::File encode_and_open(const clouds::Cloud& cloud, const bat::BuildOptions& options = {})
{
  return bat::File::from_memory(bat::encode(cloud.view(), options), "memory");
}

template <class T>
std::vector<T> read(const bat::File& file, const std::string& name, const bat::Selection& selection)
{
  const std::size_t k = file.attribute_index(name);
  std::vector<T> values(
    selection.count * static_cast<std::size_t>(file.attributes()[k].components));
  file.read_attribute(k, selection, values.data());
  return values;
}

bat::Query range(const std::string& name, bat::Number lower, bat::Number upper)
{
  bat::Query query;
  query.ranges = { { name, {}, lower, upper } };
  return query;
}

void expect_refused(const bat::File& file, const bat::Query& query, const std::string& word)
{
  try
  {
    (void)file.select(query);
    ADD_FAILURE() << "accepted; expected an error with '" << word << "'";
  }
  catch (const bat::Error& e)
  {
    EXPECT_EQ(e.code(), bat::ErrorCode::InvalidArgument);
    EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
  }
}
}

TEST(Quality, progressive_steps_return_every_particle_exactly_once)
{
  for (const clouds::Cloud& cloud : { clouds::uniform(30000, 1), clouds::clustered(30000, 2) })
  {
    const bat::File file = encode_and_open(cloud);
    std::vector<std::int64_t> ids;
    double before = 0;
    for (const double quality : { 0.0001, 0.01, 0.1, 0.1, 0.33, 0.5, 0.77, 0.9, 0.999, 1.0 })
    {
      bat::Query step;
      step.after_quality = before;
      step.quality = quality;
      const auto some = read<std::int64_t>(file, "id", file.select(step));
      ids.insert(ids.end(), some.begin(), some.end());
      before = quality;
    }
    std::sort(ids.begin(), ids.end());
    ASSERT_EQ(ids.size(), cloud.count);
    for (std::size_t i = 0; i != ids.size(); ++i)
    {
      ASSERT_EQ(ids[i], (std::int64_t{ 1 } << 53) + 1 + static_cast<std::int64_t>(i));
    }
  }
}

TEST(Quality, a_quality_returns_its_share_of_the_particles)
{
  for (const clouds::Cloud& cloud : { clouds::uniform(30011, 1), clouds::clustered(30011, 2) })
  {
    const bat::File file = encode_and_open(cloud);
    for (int i = 0; i <= 1000; ++i)
    {
      const double quality = i / 1000.0;
      bat::Query query;
      query.quality = quality;
      const double exact = quality * 30011;
      const auto found = static_cast<double>(file.select(query).count);
      ASSERT_GE(found, exact - 1e-6);
      ASSERT_LT(found, exact + 1);
      ASSERT_EQ(file.particles_at(quality), file.select(query).count);
    }
  }
}

TEST(Quality, samples_are_spread_more_evenly_than_by_chance)
{
  for (const clouds::Cloud& cloud : { clouds::uniform(200000, 7), clouds::clustered(200000, 7) })
  {
    const bat::File file = encode_and_open(cloud);
    const brute_force::Table table = brute_force::read_all(file);
    // 27 regions: each axis cut into three parts of equal population.
    double cuts[3][2];
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      std::vector<double> x;
      for (std::uint64_t i = 0; i != table.count; ++i)
      {
        x.push_back(brute_force::value(table.positions, table.position_type, 3 * i + axis));
      }
      std::sort(x.begin(), x.end());
      cuts[axis][0] = x[x.size() / 3];
      cuts[axis][1] = x[x.size() * 2 / 3];
    }
    for (const double quality : { 0.01, 0.1, 0.5 })
    {
      double inside[27] = {};
      double sampled[27] = {};
      for (std::uint64_t i = 0; i != table.count; ++i)
      {
        std::size_t region = 0;
        for (std::size_t axis = 0; axis != 3; ++axis)
        {
          const auto x = brute_force::value(table.positions, table.position_type, 3 * i + axis);
          region = 3 * region + (x > cuts[axis][0]) + (x > cuts[axis][1]);
        }
        ++inside[region];
        sampled[region] += i < file.particles_at(quality);
      }
      double squares = 0;
      double by_chance = 0;
      for (std::size_t region = 0; region != 27; ++region)
      {
        const double off = sampled[region] - quality * inside[region];
        squares += off * off;
        by_chance += quality * (1 - quality) * inside[region];
      }
      EXPECT_LT(squares, 0.5 * by_chance) << "quality " << quality;
    }
  }
}

TEST(Quality, between_two_levels_no_region_is_much_denser_than_another)
{
  const bat::File file = encode_and_open(clouds::uniform(200000, 8));
  const brute_force::Table table = brute_force::read_all(file);
  for (const double quality : { 0.03, 0.17, 0.22, 0.45, 0.87 })
  {
    std::uint64_t eighths[8] = {};
    for (std::uint64_t i = 0; i != file.particles_at(quality); ++i)
    {
      std::size_t octant = 0;
      for (std::size_t axis = 0; axis != 3; ++axis)
      {
        octant = 2 * octant +
          (brute_force::value(table.positions, table.position_type, 3 * i + axis) > 0.5L);
      }
      ++eighths[octant];
    }
    const auto [low, high] = std::minmax_element(eighths, eighths + 8);
    EXPECT_LT(static_cast<double>(*high), 1.45 * static_cast<double>(*low)) << quality;
  }
}

TEST(Query, an_id_beyond_2_to_53_is_found_exactly_once)
{
  const bat::File file = encode_and_open(clouds::uniform(20000, 3));
  const std::int64_t base = (std::int64_t{ 1 } << 53) + 1;
  for (const std::int64_t id : { base, base + 1, base + 2, base + 19999, base + 777 })
  {
    const bat::Selection found = file.select(range("id", id, id));
    ASSERT_EQ(found.count, 1u) << id;
    EXPECT_EQ(read<std::int64_t>(file, "id", found)[0], id);
  }
  EXPECT_EQ(file.select(range("id", base - 1, base - 1)).count, 0u);
  EXPECT_EQ(file.select(range("id", base + 20000, base + 20000)).count, 0u);
  // As a double, 2^53 + 1 is 2^53: nothing may be found by rounding.
  EXPECT_EQ(file.select(range("id", 9007199254740992.0, 9007199254740992.0)).count, 0u);
}

TEST(Query, minimum_and_maximum_of_every_key_are_found)
{
  for (const clouds::Cloud& cloud :
    { clouds::clustered(5000, 4), clouds::mixed_types(3000, 5), clouds::with_nan(5000, 6) })
  {
    const bat::File file = encode_and_open(cloud);
    for (const bat::Attribute& attribute : file.attributes())
    {
      for (const bat::Key& key : attribute.keys)
      {
        bat::Query query;
        bat::AttributeRange r{ attribute.name, {}, key.minimum, key.minimum };
        if (attribute.components > 1 && key.component >= 0)
        {
          r.component = key.component;
        }
        if (bat::to_double(key.minimum) > bat::to_double(key.maximum))
        {
          EXPECT_EQ(attribute.name, "all nan");
          continue;
        }
        query.ranges = { r };
        EXPECT_GE(file.select(query).count, 1u) << attribute.name << " minimum";
        query.ranges[0].lower = query.ranges[0].upper = key.maximum;
        EXPECT_GE(file.select(query).count, 1u) << attribute.name << " maximum";
        query.ranges[0].lower = key.minimum;
        query.ranges[0].upper = key.maximum;
        const std::uint64_t all = file.select(query).count;
        EXPECT_EQ(all == file.particle_count(), !key.has_nan) << attribute.name;
      }
    }
  }
}

TEST(Query, a_range_whose_end_is_a_stored_value_keeps_it)
{
  const clouds::Cloud cloud = clouds::uniform(5000, 9);
  const bat::File file = encode_and_open(cloud);
  auto values = read<double>(file, "temperature", file.select({}));
  std::sort(values.begin(), values.end());
  for (std::size_t i = 10; i < values.size() - 20; i += 97)
  {
    EXPECT_EQ(file.select(range("temperature", values[i], values[i + 10])).count, 11u);
  }
}

TEST(Query, a_box_touching_a_face_keeps_particles_on_the_face)
{
  std::vector<float> lattice;
  for (int i = 0; i != 9 * 9 * 9; ++i)
  {
    lattice.insert(lattice.end(),
      { static_cast<float>(i % 9), static_cast<float>(i / 9 % 9), static_cast<float>(i / 81) });
  }
  clouds::Cloud cloud;
  cloud.set_positions(lattice);
  const bat::File file = encode_and_open(cloud);
  bat::Query query;
  query.box = bat::Box{ { 0, 0, 0 }, { 4, 8, 8 } };
  EXPECT_EQ(file.select(query).count, 5u * 9 * 9);
  query.box = bat::Box{ { 4, 4, 4 }, { 4, 4, 4 } };
  EXPECT_EQ(file.select(query).count, 1u);
}

TEST(Query, half_open_boxes_tile_space_and_hold_nothing_without_extent)
{
  constexpr double inf = std::numeric_limits<double>::infinity();
  clouds::Cloud cloud = clouds::with_nan(20000, 5);
  const bat::File file = encode_and_open(cloud);
  const auto count = [&](const bat::Box& box)
  {
    bat::Query query;
    query.box = box;
    const std::uint64_t closed = file.select(query).count;
    query.half_open = true;
    const bat::Selection half_open = file.select(query);
    EXPECT_LE(half_open.count, closed);
    EXPECT_LE(half_open.count, file.upper_bound(query));
    return half_open.count;
  };
  const double x = file.bounds()->lower[0]; // x of at least one particle
  bat::Query all;
  all.box = bat::Box{ { -inf, -inf, -inf }, { inf, inf, inf } };
  const std::uint64_t placed = file.select(all).count;
  EXPECT_EQ(count({ { -inf, -inf, -inf }, { x, inf, inf } }) +
      count({ { x, -inf, -inf }, { x, inf, inf } }) +
      count({ { x, -inf, -inf }, { inf, inf, inf } }),
    placed);
  EXPECT_EQ(count({ { x, -inf, -inf }, { x, inf, inf } }), 0U);
  EXPECT_EQ(count({ { -inf, -0.0, -inf }, { inf, 0.0, inf } }), 0U);
  EXPECT_EQ(count({ { -inf, -inf, -inf }, { inf, -inf, inf } }), 0U);
  bat::Query at_infinity;
  at_infinity.box = bat::Box{ { inf, -inf, -inf }, { inf, inf, inf } };
  EXPECT_EQ(count(*at_infinity.box), file.select(at_infinity).count);
  bat::Query wrong;
  wrong.box = bat::Box{ { 0.25, 0, 0 }, { 0.125, 1, 1 } };
  wrong.half_open = true;
  expect_refused(file, wrong, "minimum 0.25 above its maximum 0.125");
}

TEST(Query, wrong_shapes_and_lists_are_refused_in_words)
{
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const bat::File file = encode_and_open(clouds::uniform(1000, 5));
  const auto refuse = [&](auto form, const std::string& word)
  {
    bat::Query query;
    query.shapes = { { form, false } };
    expect_refused(file, query, word);
  };
  refuse(bat::Sphere{ { 0, nan, 0 }, 1 }, "center of the sphere is 0, nan, 0");
  refuse(bat::Sphere{ { 0, 0, 0 }, -1 }, "radius of the sphere is -1");
  refuse(bat::Sphere{ { 0, 0, 0 }, inf }, "radius of the sphere is inf");
  refuse(bat::Slab{ { 0, 0, 0 }, 0, 1 }, "normal of the slab is 0, 0, 0");
  refuse(bat::Slab{ { 0, inf, 0 }, 0, 1 }, "normal of the slab is 0, inf, 0");
  refuse(bat::Slab{ { 0, 1, 0 }, 2, 1 }, "from 2 to 1");
  refuse(bat::Slab{ { 0, 1, 0 }, nan, 1 }, "from nan to 1");
  bat::OrientedBox box;
  box.half_extents = { 1, -0.5, 1 };
  refuse(box, "half extent of the oriented box is -0.5");
  box.half_extents = { 1, 1, 1 };
  box.axes[2] = {};
  refuse(box, "axis of the oriented box is 0, 0, 0");
  bat::Query query;
  query.values = { { "id", {}, {}, { { 5, 4 } }, false } };
  expect_refused(file, query, "minimum 5 above its maximum 4");
  query.values = { { "id", {}, {}, { { nan, 4 } }, true } };
  expect_refused(file, query, "NaN");
}

TEST(Query, conditions_that_share_a_bit_lose_nothing)
{
  bat::BuildOptions options;
  options.treelet_particles = 512;
  options.block_particles = 32;
  const bat::File file = encode_and_open(clouds::uniform(20000, 7), options);
  const bat::Query one = range("temperature", 450, 550);
  const std::uint64_t expected = file.select(one).count;
  ASSERT_GT(expected, 0U);
  for (const std::size_t count : { 62U, 63U, 64U, 70U })
  {
    bat::Query query;
    query.ranges.resize(count, { "noise", {}, -100.0, 100.0 }); // each matches all
    query.ranges.insert(query.ranges.begin() + 62, one.ranges[0]);
    EXPECT_EQ(file.select(query).count, expected) << count;
    EXPECT_GE(file.upper_bound(query), expected);
  }
}

TEST(Query, what_is_not_wanted_is_the_rest)
{
  const bat::File file = encode_and_open(clouds::with_nan(20000, 6));
  const auto count = [&](bat::AttributeValues list)
  {
    bat::Query query;
    query.values = { std::move(list) };
    return file.select(query).count;
  };
  for (const bat::Attribute& attribute : file.attributes())
  {
    const std::vector<bat::NumberRange> ranges{ { -1.0, 0.25 }, { 0.5, 3 }, { 2, 2.5 } };
    const std::vector<bat::Number> values{ 0.375, std::int64_t{ 7 } };
    const std::uint64_t reference = count({ attribute.name, {}, values, ranges, false });
    EXPECT_EQ(reference + count({ attribute.name, {}, values, ranges, true }), 20000U);
    EXPECT_EQ(count({ attribute.name, {}, {}, {}, false }), 0U);
    EXPECT_EQ(count({ attribute.name, {}, {}, {}, true }), 20000U);
  }
}

TEST(Query, nan_is_in_no_box_and_no_range)
{
  const clouds::Cloud cloud = clouds::with_nan(5000, 10);
  const bat::File file = encode_and_open(cloud);
  constexpr double inf = std::numeric_limits<double>::infinity();
  const brute_force::Table table = brute_force::read_all(file);
  std::uint64_t without_nan = 0;
  for (std::uint64_t i = 0; i != table.count; ++i)
  {
    bool nan = false;
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      nan |= std::isnan(brute_force::value(table.positions, table.position_type, 3 * i + axis));
    }
    without_nan += !nan;
  }
  bat::Query everywhere;
  everywhere.box = bat::Box{ { -inf, -inf, -inf }, { inf, inf, inf } };
  EXPECT_EQ(file.select(everywhere).count, without_nan);
  EXPECT_LT(without_nan, table.count);
  EXPECT_EQ(file.select(range("all nan", -inf, inf)).count, 0u);
  EXPECT_EQ(file.select({}).count, table.count);
}

TEST(Query, parts_are_disjoint_compact_and_add_up)
{
  const bat::File file = encode_and_open(clouds::clustered(40000, 12));
  for (const double quality : { 0.1, 1.0 })
  {
    std::vector<std::uint64_t> all;
    for (std::uint32_t part = 0; part != 7; ++part)
    {
      bat::Query query = range("temperature", 400, 600);
      query.quality = quality;
      query.part = part;
      query.parts = 7;
      const auto some = positions_of(file.select(query));
      all.insert(all.end(), some.begin(), some.end());

      bat::Query whole;
      whole.quality = quality;
      whole.part = part;
      whole.parts = 7;
      const double share = static_cast<double>(file.select(whole).count) * 7 / (40000 * quality);
      EXPECT_NEAR(share, 1, 0.02);
    }
    std::sort(all.begin(), all.end());
    bat::Query query = range("temperature", 400, 600);
    query.quality = quality;
    EXPECT_EQ(all, positions_of(file.select(query)));
  }
}

TEST(Query, what_cannot_be_asked_is_refused_in_words)
{
  const bat::File file = encode_and_open(clouds::uniform(1000, 13));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  bat::Query query;
  for (const double quality : { -0.1, 1.1, nan })
  {
    query.quality = quality;
    expect_refused(file, query, "quality is");
  }
  query = {};
  query.after_quality = 0.5;
  query.quality = 0.4;
  expect_refused(file, query, "ends before it");
  query = {};
  query.box = bat::Box{ { 0, nan, 0 }, { 1, 1, 1 } };
  expect_refused(file, query, "NaN on the y axis");
  query.box = bat::Box{ { 0, 0, 2 }, { 1, 1, 1 } };
  expect_refused(file, query, "on the z axis");
  expect_refused(file, range("nosuch", 0, 1), "available: temperature");
  expect_refused(file, range("noise", nan, 1), "NaN");
  expect_refused(file, range("noise", 2, 1), "above its maximum");
  query = range("velocity", 0, 1);
  query.ranges[0].component = 3;
  expect_refused(file, query, "component 3; allowed are 0 to 2");
  query = {};
  query.part = 2;
  query.parts = 2;
  expect_refused(file, query, "part 2 of 2");
  std::vector<float> out(3);
  EXPECT_THROW(file.read_positions({ { { 1000, 1 } }, 1, 0 }, out.data()), bat::Error);
  EXPECT_THROW(file.read_positions({ { { 5, 1 }, { 4, 1 } }, 2, 0 }, out.data()), bat::Error);
  EXPECT_THROW(file.read_positions({ { { 5, 1 } }, 2, 0 }, out.data()), bat::Error);
  EXPECT_THROW(file.read_attribute(99, { { { 5, 1 } }, 1, 0 }, out.data()), bat::Error);
}

TEST(Query, more_ranges_than_bits_in_a_word_all_hold)
{
  const bat::File file = encode_and_open(clouds::uniform(20000, 14));
  bat::Query query = range("temperature", 400, 600);
  const auto expected = positions_of(file.select(query));
  query.ranges.resize(70, { "noise", {}, -100.0, 100.0 });
  query.ranges.push_back({ "temperature", {}, 450, 550 });
  query.ranges.push_back({ "temperature", {}, 420, 500 });
  EXPECT_EQ(
    positions_of(file.select(query)), positions_of(file.select(range("temperature", 450, 500))));
  EXPECT_FALSE(expected.empty());
}

TEST(Query, concurrent_queries_give_the_same_answers)
{
  const bat::File file = encode_and_open(clouds::clustered(50000, 15));
  const bat::Query query = range("temperature", 400, 600);
  std::vector<std::vector<std::uint64_t>> answers(8);
  std::vector<std::thread> threads;
  for (auto& answer : answers)
  {
    threads.emplace_back([&] { answer = positions_of(file.select(query)); });
  }
  for (std::thread& thread : threads)
  {
    thread.join();
  }
  for (const auto& answer : answers)
  {
    EXPECT_EQ(answer, answers[0]);
  }
  EXPECT_FALSE(answers[0].empty());
}

TEST(Query, for_each_visits_the_selection_in_file_order)
{
  const bat::File file = encode_and_open(clouds::uniform(3000, 16));
  bat::Query query;
  query.box = bat::Box{ { 0.2, 0.2, 0.2 }, { 0.8, 0.8, 0.8 } };
  const bat::Selection selection = file.select(query);
  std::vector<float> expected(3 * selection.count);
  file.read_positions(selection, expected.data());
  std::vector<std::uint64_t> visited;
  std::vector<float> positions;
  file.for_each(query,
    [&](std::uint64_t i, const std::array<double, 3>& p)
    {
      visited.push_back(i);
      for (const double x : p)
      {
        positions.push_back(static_cast<float>(x));
      }
    });
  EXPECT_EQ(visited, positions_of(selection));
  EXPECT_EQ(positions, expected);
}
