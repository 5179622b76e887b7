// SPDX-License-Identifier: BSD-3-Clause
// Stable samples: the particles of a quality, compared with a sort of all hashes.

#include "bat/bat.hpp"
#include "support/brute_force.hpp"
#include "support/dataset_files.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>

namespace
{
using Ids = std::vector<std::int64_t>;

bat::BuildOptions stable(std::vector<std::string> names = { "id" })
{
  bat::BuildOptions options;
  options.treelet_particles = 512;
  options.stable_samples = std::move(names);
  return options;
}

bat::File encode_and_open(const clouds::Cloud& cloud, const bat::BuildOptions& options)
{
  return bat::File::from_memory(bat::encode(cloud.view(), options), "memory");
}

clouds::Cloud with_ids(const Ids& ids, std::uint64_t seed)
{
  clouds::Random random(seed);
  clouds::Cloud cloud;
  cloud.set_positions(clouds::clustered_positions<float>(ids.size(), random));
  cloud.add("id", bat::ScalarType::Int64, ids);
  return cloud;
}

Ids some_ids(std::uint64_t n, std::uint64_t seed)
{
  clouds::Random random(seed);
  return clouds::shuffled_ids(n, random, (std::int64_t{ 1 } << 53) + 1);
}

// As defined in FORMAT.md section 8.
std::uint64_t hash_of(const std::vector<std::uint64_t>& values)
{
  std::uint64_t h = 0;
  for (const std::uint64_t v : values)
  {
    std::uint64_t z = h + v + 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    h = z ^ (z >> 31);
  }
  return h;
}

// The ids of a quality, ascending.
template <class T = std::int64_t>
std::vector<T> shown(const bat::File& file, double quality, const char* name = "id")
{
  bat::Query query;
  query.quality = quality;
  const bat::Selection found = file.select(query);
  const std::size_t attribute = file.attribute_index(name);
  std::vector<T> ids(
    found.count * static_cast<std::size_t>(file.attributes()[attribute].components));
  file.read_attribute(attribute, found, ids.data());
  std::sort(ids.begin(), ids.end());
  return ids;
}

// The ids with the lowest hashes, ascending.
Ids lowest(Ids ids, std::uint64_t count)
{
  std::sort(ids.begin(), ids.end(),
    [](std::int64_t a, std::int64_t b)
    {
      return hash_of({ static_cast<std::uint64_t>(a) }) <
        hash_of({ static_cast<std::uint64_t>(b) });
    });
  ids.resize(count);
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::string refusal(const clouds::Cloud& cloud, std::vector<std::string> names)
{
  try
  {
    (void)bat::encode(cloud.view(), stable(std::move(names)));
    return {};
  }
  catch (const bat::Error& error)
  {
    EXPECT_EQ(error.code(), bat::ErrorCode::InvalidArgument);
    return error.what();
  }
}
}

TEST(StableSamples, a_quality_has_the_lowest_hashes)
{
  for (const std::uint64_t n : { 1, 15, 16, 17, 700, 30000 })
  {
    const Ids ids = some_ids(n, n);
    const bat::File file = encode_and_open(with_ids(ids, n), stable());
    EXPECT_EQ(file.stable_samples(), std::vector<std::string>{ "id" });
    bat::validate(file);
    for (const std::uint64_t end : file.level_ends())
    {
      const double quality = static_cast<double>(end) / static_cast<double>(n);
      if (file.particles_at(quality) == end)
      {
        ASSERT_EQ(shown(file, quality), lowest(ids, end)) << end << " of " << n;
      }
    }
    for (const double quality : { 0.9, 0.5, 0.1, 0.01 })
    {
      const std::uint64_t count = file.particles_at(quality);
      EXPECT_EQ(count,
        std::min(n, static_cast<std::uint64_t>(std::ceil(quality * static_cast<double>(n)))));
      if (count >= 16)
      {
        EXPECT_EQ(shown(file, quality), lowest(ids, count)) << quality << " of " << n;
      }
    }
    // Between two levels: all of the coarser one, none that is not in the finer one.
    if (n > 100)
    {
      const Ids between = shown(file, 0.55);
      const Ids coarse = shown(file, 0.5);
      const Ids fine = shown(file, 0.6);
      EXPECT_TRUE(std::includes(between.begin(), between.end(), coarse.begin(), coarse.end()));
      EXPECT_TRUE(std::includes(fine.begin(), fine.end(), between.begin(), between.end()));
    }
  }
}

TEST(StableSamples, steps_share_their_samples_while_particles_move_come_and_go)
{
  constexpr std::uint64_t n = 20000;
  const Ids all = some_ids(n + 500, 1);
  const Ids first(all.begin(), all.end() - 500);
  Ids moved = first; // in another order as well
  std::reverse(moved.begin(), moved.end());
  const Ids changed(all.begin() + 300, all.end() - 200); // 300 disappear, 300 appear
  const bat::File a = encode_and_open(with_ids(first, 2), stable());
  const bat::File b = encode_and_open(with_ids(moved, 3), stable());
  const bat::File c = encode_and_open(with_ids(changed, 4), stable());
  const bat::File unstable_a = encode_and_open(with_ids(first, 2), stable({}));
  const bat::File unstable_b = encode_and_open(with_ids(moved, 3), stable({}));
  for (const double quality : { 0.5, 0.1, 0.02 })
  {
    const Ids of_a = shown(a, quality);
    EXPECT_EQ(of_a, shown(b, quality)) << quality;
    const Ids of_c = shown(c, quality);
    ASSERT_EQ(of_c, lowest(changed, of_c.size())) << quality;
    Ids common;
    std::set_intersection(
      of_a.begin(), of_a.end(), of_c.begin(), of_c.end(), std::back_inserter(common));
    // 1.5 % are different, and the border moves randomly by as many.
    EXPECT_GT(static_cast<double>(common.size()), 0.93 * static_cast<double>(of_a.size()))
      << quality;

    const Ids even_a = shown(unstable_a, quality);
    const Ids even_b = shown(unstable_b, quality);
    common.clear();
    std::set_intersection(
      even_a.begin(), even_a.end(), even_b.begin(), even_b.end(), std::back_inserter(common));
    EXPECT_LT(static_cast<double>(common.size()), 2 * quality * static_cast<double>(even_a.size()));
  }
}

TEST(StableSamples, parts_and_slices_add_up_to_the_whole)
{
  const bat::File file = encode_and_open(with_ids(some_ids(9000, 7), 7), stable());
  for (const std::uint64_t parts : { 2, 7, 8999, 20000 })
  {
    const std::uint64_t step = parts > 100 ? 97 : 1; // a subset if there are many
    std::vector<std::vector<std::uint64_t>> shown(parts);
    double before = 0;
    for (const double quality : { 0.1, 0.37, 1.0 })
    {
      std::vector<std::uint64_t> places;
      bat::Query query;
      query.parts = parts;
      for (query.part = 0; query.part < parts; query.part += step)
      {
        query.quality = quality;
        query.after_quality = before;
        const auto slice = brute_force::positions_of(file.select(query));
        query.after_quality = 0;
        const auto whole = brute_force::positions_of(file.select(query));
        EXPECT_LE(whole.size(), 9000 / parts + 1);
        places.insert(places.end(), whole.begin(), whole.end());

        std::vector<std::uint64_t>& sum = shown[query.part];
        sum.insert(sum.end(), slice.begin(), slice.end());
        std::sort(sum.begin(), sum.end());
        ASSERT_EQ(sum, whole) << "part " << query.part << " of " << parts << " at " << quality;
      }
      std::sort(places.begin(), places.end());
      ASSERT_EQ(std::adjacent_find(places.begin(), places.end()), places.end());
      if (step == 1)
      {
        std::vector<std::uint64_t> expected(file.particles_at(quality));
        std::iota(expected.begin(), expected.end(), 0);
        EXPECT_EQ(places, expected);
      }
      before = quality;
    }
  }
}

TEST(StableSamples, are_even_as_far_as_chance_goes)
{
  constexpr std::uint64_t n = 40000;
  clouds::Random random(5);
  clouds::Cloud cloud;
  cloud.set_positions(clouds::uniform_positions<float>(n, random));
  cloud.add("id", bat::ScalarType::Int64, some_ids(n, 5));
  const bat::File file = encode_and_open(cloud, stable());
  bat::Query query;
  query.quality = 0.1;
  query.box = bat::Box{ { 0, 0, 0 }, { 0.5, 0.5, 0.5 } };
  const double expected = 0.1 * n / 8; // 500, with a standard deviation of 21
  EXPECT_NEAR(static_cast<double>(file.select(query).count), expected, 6 * std::sqrt(expected));
}

TEST(StableSamples, ids_may_be_several_numbers_and_of_any_integer_type)
{
  constexpr std::uint64_t n = 5000;
  clouds::Random random(9);
  clouds::Cloud cloud;
  cloud.set_positions(clouds::uniform_positions<double>(n, random));
  std::vector<std::uint32_t> id(n);
  std::vector<std::int16_t> cpu(n);
  std::vector<std::int64_t> pair(2 * n);
  std::vector<std::uint64_t> number(n);
  for (std::uint64_t i = 0; i != n; ++i)
  {
    id[i] = static_cast<std::uint32_t>(i / 4);
    cpu[i] = static_cast<std::int16_t>(static_cast<std::int64_t>(i % 4) - 2);
    pair[2 * i] = id[i];
    pair[2 * i + 1] = cpu[i];
    number[i] = i;
  }
  cloud.add("id", bat::ScalarType::UInt32, id);
  cloud.add("cpu", bat::ScalarType::Int16, cpu);
  cloud.add("pair", bat::ScalarType::Int64, pair, 2);
  cloud.add("number", bat::ScalarType::UInt64, number);
  const bat::File two = encode_and_open(cloud, stable({ "id", "cpu" }));
  const bat::File one = encode_and_open(cloud, stable({ "pair" }));
  const bat::File parts = encode_and_open(cloud, stable({ "pair[0]", "cpu" }));
  EXPECT_EQ(parts.stable_samples(), (std::vector<std::string>{ "pair[0]", "cpu" }));
  const auto expected = shown<std::uint64_t>(two, 0.1, "number");
  EXPECT_EQ(expected.size(), n / 10);
  EXPECT_EQ(shown<std::uint64_t>(one, 0.1, "number"), expected);
  EXPECT_EQ(shown<std::uint64_t>(parts, 0.1, "number"), expected);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> hashes;
  for (std::uint64_t i = 0; i != n; ++i)
  {
    hashes.emplace_back(hash_of({ id[i], static_cast<std::uint64_t>(std::int64_t{ cpu[i] }) }), i);
  }
  std::sort(hashes.begin(), hashes.end());
  std::vector<std::uint64_t> by_hash;
  for (std::uint64_t i = 0; i != n / 10; ++i)
  {
    by_hash.push_back(hashes[i].second);
  }
  std::sort(by_hash.begin(), by_hash.end());
  EXPECT_EQ(by_hash, expected);
}

TEST(StableSamples, ids_that_many_particles_share_leave_counts_exact)
{
  constexpr std::uint64_t n = 3000;
  for (const std::int64_t different : { 1, 3, 200 })
  {
    Ids ids(n);
    for (std::uint64_t i = 0; i != n; ++i)
    {
      ids[i] = static_cast<std::int64_t>(i) % different - 1;
    }
    const bat::File file = encode_and_open(with_ids(ids, 11), stable());
    bat::validate(file);
    EXPECT_EQ(shown(file, 0.1).size(), n / 10);
    EXPECT_EQ(shown(file, 1).size(), n);
  }
}

TEST(StableSamples, of_ids_that_all_particles_share_are_from_everywhere)
{
  constexpr std::uint64_t n = 20000;
  std::vector<float> positions(3 * n); // in spatial order
  for (std::uint64_t i = 0; i != n; ++i)
  {
    positions[3 * i] = static_cast<float>(i) / n;
  }
  clouds::Cloud cloud;
  cloud.set_positions(positions);
  cloud.add("id", bat::ScalarType::Int64, Ids(n));
  const bat::File file = encode_and_open(cloud, stable());
  bat::validate(file);
  bat::Query query;
  query.quality = 0.1;
  query.box = bat::Box{ { 0.5, 0, 0 }, { 1, 0, 0 } };
  EXPECT_NEAR(static_cast<double>(file.select(query).count), 0.05 * n, 0.005 * n);
}

TEST(StableSamples, bytes_do_not_depend_on_threads)
{
  const clouds::Cloud cloud = with_ids(some_ids(50000, 13), 13);
  bat::BuildOptions options = stable();
  options.threads = 1;
  const bat::Bytes one = bat::encode(cloud.view(), options);
  options.threads = 4;
  const bat::Bytes four = bat::encode(cloud.view(), options);
  ASSERT_EQ(one.size(), four.size());
  EXPECT_EQ(std::memcmp(one.data(), four.data(), one.size()), 0);
}

TEST(StableSamples, are_refused_where_ids_cannot_be)
{
  clouds::Cloud cloud = clouds::uniform(100, 3);
  EXPECT_EQ(refusal(cloud, { "id" }), "");
  EXPECT_NE(refusal(cloud, { "density" })
              .find("'density': its type is float32; only integer attributes are allowed"),
    std::string::npos);
  EXPECT_NE(refusal(cloud, { "idd" }).find("idd"), std::string::npos);
  EXPECT_NE(refusal(cloud, { "id[1]" }).find("components 0 to 0"), std::string::npos);
  bat::ParticleView view = cloud.view();
  view.aliases = { { "number", "id", -1 } };
  try
  {
    (void)bat::encode(view, stable({ "number" }));
    ADD_FAILURE();
  }
  catch (const bat::Error& error)
  {
    EXPECT_NE(std::string(error.what()).find("alias of 'id'"), std::string::npos) << error.what();
  }
}

TEST(StableSamples, of_an_attribute_that_repeats_another_one_it_is_stored)
{
  const Ids ids = some_ids(300, 17);
  clouds::Cloud cloud = with_ids(ids, 17);
  cloud.add("number", bat::ScalarType::Int64, ids);
  bat::BuildOptions options = stable({ "number" });
  options.repeats = bat::Repeats::Link;
  options.compare_values = true;
  const TempDir folder;
  bat::write_file(folder / "a.bat", cloud.view(), options);
  const bat::Dataset dataset = bat::Dataset::open(folder / "a.bat");
  EXPECT_EQ(dataset.stable_samples(), std::vector<std::string>{ "number" });
  bat::validate(dataset);
}

TEST(StableSamples, datasets_of_several_leaf_files_say_so_and_are_checked)
{
  const TempDir folder;
  std::vector<clouds::Cloud> clouds;
  std::vector<bat::ParticleView> views;
  for (const std::uint64_t n : { 900, 40, 7 })
  {
    clouds.push_back(with_ids(some_ids(n, n), n));
  }
  for (const clouds::Cloud& cloud : clouds)
  {
    views.push_back(cloud.view());
  }
  dataset_files::write(folder / "a.bat", views, stable());
  bat::validate(folder / "a.bat");
  const bat::Dataset dataset = bat::Dataset::open(folder / "a.bat");
  EXPECT_EQ(dataset.stable_samples(), std::vector<std::string>{ "id" });

  dataset_files::write(
    folder / "lie.bat", views, stable(), [](bat::TopContents& top) { top.sample_ids.clear(); });
  try
  {
    (void)bat::Dataset::open(folder / "lie.bat").select({});
    ADD_FAILURE();
  }
  catch (const bat::Error& error)
  {
    EXPECT_NE(std::string(error.what()).find("has stable samples by [id], the top file by []"),
      std::string::npos)
      << error.what();
  }

  // The only component of an attribute is all of it.
  bat::write_file(folder / "one.bat", clouds[0].view(), stable({ "id[0]" }));
  bat::repack(folder / "one.bat", folder / "one.bat");
  EXPECT_EQ(
    bat::Dataset::open(folder / "one.bat").stable_samples(), std::vector<std::string>{ "id" });
  bat::validate(folder / "one.bat");

  // Repacking keeps them unless others are named.
  bat::repack(folder / "a.bat", folder / "b.bat");
  EXPECT_EQ(
    bat::Dataset::open(folder / "b.bat").stable_samples(), std::vector<std::string>{ "id" });
  bat::validate(folder / "b.bat");
  bat::RepackOptions options;
  options.changed = { "stable_samples" };
  bat::repack(folder / "a.bat", folder / "c.bat", options);
  EXPECT_TRUE(bat::Dataset::open(folder / "c.bat").stable_samples().empty());
  options.build.stable_samples = { "id" };
  bat::repack(folder / "c.bat", folder / "d.bat", options);
  EXPECT_EQ(
    bat::Dataset::open(folder / "d.bat").stable_samples(), std::vector<std::string>{ "id" });
}
