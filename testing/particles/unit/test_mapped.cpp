// SPDX-License-Identifier: BSD-3-Clause
// Files that are mapped instead of read, and columns without a copy.
#include "bat/bat.hpp"
#include "support/clouds.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>

namespace
{
bat::OpenOptions mapping()
{
  bat::OpenOptions options;
  options.map = true;
  return options;
}

class Mapped : public testing::Test
{
protected:
  Mapped()
  {
    bat::BuildOptions options;
    options.flush = false;
    bat::write_file(this->path, clouds::mixed_types(40000, 1).view(), options);
  }

  template <class F>
  [[nodiscard]] static std::optional<bat::ErrorCode> code_of(const F& call)
  {
    try
    {
      call();
    }
    catch (const bat::Error& e)
    {
      return e.code();
    }
    return std::nullopt;
  }

  [[nodiscard]] static auto code_of_mapping(const bat::File& file)
  {
    return code_of([&] { (void)file.map_positions(file.particle_count()); });
  }

  [[nodiscard]] static auto code_of_copying(
    const bat::File& file, std::uint64_t first, std::uint64_t count)
  {
    bat::Selection some;
    some.spans = { { first, count } };
    some.count = count;
    std::vector<std::byte> values(count * 3 * bat::size_of(file.position_type()));
    return code_of([&] { file.read_positions(some, values.data()); });
  }

  TempDir folder;
  std::filesystem::path path = this->folder / "particles.bat";
};
}

TEST_F(Mapped, columns_in_place_are_those_that_are_read)
{
  const bat::File read = bat::File::open(this->path);
  const bat::File mapped = bat::File::open(this->path, mapping());
  for (const double quality : { 0.0, 0.001, 0.4, 1.0 })
  {
    bat::Query query;
    query.quality = quality;
    const bat::Selection some = read.select(query);
    ASSERT_EQ(some.count, mapped.particles_at(quality));
    std::vector<std::byte> values(some.count * 3 * bat::size_of(read.position_type()));
    read.read_positions(some, values.data());
    const void* in_place = mapped.map_positions(some.count);
    ASSERT_EQ(values.empty() ? 0 : std::memcmp(in_place, values.data(), values.size()), 0);
    for (std::size_t k = 0; k != read.attributes().size(); ++k)
    {
      const bat::Attribute& a = read.attributes()[k];
      values.resize(some.count * bat::size_of(a.type) * static_cast<std::size_t>(a.components));
      read.read_attribute(k, some, values.data());
      in_place = mapped.map_attribute(k, some.count);
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(in_place) % bat::size_of(a.type), 0u) << a.name;
      ASSERT_EQ(values.empty() ? 0 : std::memcmp(in_place, values.data(), values.size()), 0)
        << a.name;
    }
  }
}

TEST_F(Mapped, copies_are_those_that_are_read)
{
  const bat::File read = bat::File::open(this->path);
  const bat::File mapped = bat::File::open(this->path, mapping());
  std::vector<bat::Query> queries(3);
  queries[1].after_quality = 0.1;
  queries[1].quality = 0.9;
  queries[2].box = bat::Box{ { 0.2, 0, 0 }, { 0.7, 1, 1 } };
  for (const bat::Query& query : queries)
  {
    const bat::Selection some = read.select(query);
    ASSERT_GT(some.count, 1000u);
    // Addresses may be odd.
    std::vector<char> expected(1 + some.count * 3 * bat::size_of(read.position_type()));
    std::vector<char> found(expected.size());
    read.read_positions(some, &expected[1]);
    mapped.read_positions(some, &found[1]);
    ASSERT_TRUE(found == expected);
    for (std::size_t k = 0; k != read.attributes().size(); ++k)
    {
      const bat::Attribute& a = read.attributes()[k];
      expected.assign(
        1 + some.count * bat::size_of(a.type) * static_cast<std::size_t>(a.components), 0);
      found.assign(expected.size(), 0);
      read.read_attribute(k, some, &expected[1]);
      mapped.read_attribute(k, some, &found[1]);
      ASSERT_TRUE(found == expected) << a.name;
    }
  }
}

TEST_F(Mapped, columns_in_place_are_refused_where_there_are_none)
{
  const bat::File read = bat::File::open(this->path);
  EXPECT_THROW((void)read.map_positions(1), bat::Error);
  const bat::File mapped = bat::File::open(this->path, mapping());
  EXPECT_THROW((void)mapped.map_positions(40001), bat::Error);
  EXPECT_THROW((void)mapped.map_attribute(0, 40001), bat::Error);
  EXPECT_THROW((void)mapped.map_attribute(mapped.attributes().size(), 1), bat::Error);
}

// Tuples of 72 bytes cross pages, and a column of them is longer than the portion processed at a
// time.
TEST_F(Mapped, ranges_hold_for_values_wherever_they_lie)
{
  constexpr std::size_t n = 30000;
  std::mt19937_64 random(1);
  const auto noise = [&](std::size_t count)
  {
    std::vector<double> values(count);
    std::generate(
      values.begin(), values.end(), [&] { return static_cast<double>(random() % 1000); });
    return values;
  };
  const std::vector<double> tensors = noise(9 * n);
  clouds::Cloud cloud;
  cloud.set_positions(noise(3 * n));
  cloud.add("tensor", bat::ScalarType::Float64, tensors, 9);
  const std::filesystem::path tensors_path = this->folder / "tensors.bat";
  bat::write_file(tensors_path, cloud.view());

  bat::Query query;
  query.ranges = { { "tensor", 7, 100.0, 300.0 }, { "tensor", 2, 0.0, 700.0 } };
  std::multiset<double> expected;
  for (std::size_t i = 0; i != n; ++i)
  {
    const double* tensor = &tensors[9 * i];
    if (tensor[7] >= 100 && tensor[7] <= 300 && tensor[2] <= 700)
    {
      expected.insert(std::accumulate(tensor, tensor + 9, 0.0));
    }
  }
  for (const bool map : { false, true })
  {
    const bat::File file = bat::File::open(tensors_path, map ? mapping() : bat::OpenOptions{});
    const bat::Selection found = file.select(query);
    EXPECT_GT(found.tested, n / 2); // the index does not guarantee the values
    std::vector<double> values(9 * found.count);
    file.read_attribute(0, found, values.data());
    std::multiset<double> sums;
    for (std::size_t i = 0; i != found.count; ++i)
    {
      sums.insert(std::accumulate(&values[9 * i], &values[9 * i] + 9, 0.0));
    }
    EXPECT_EQ(sums, expected) << "map: " << map;
  }
}

TEST_F(Mapped, threads_that_check_the_same_pages_find_the_same)
{
  const bat::File file = bat::File::open(this->path, mapping());
  const bat::File expected_file = bat::File::open(this->path);
  const auto ask = [](const bat::File& from, const bat::Attribute& attribute)
  {
    bat::Query query;
    const bat::Key& key = attribute.keys.front();
    const double middle = (bat::to_double(key.minimum) + bat::to_double(key.maximum)) / 2;
    query.ranges = { { attribute.name, {}, key.minimum, middle } };
    const bat::Selection selection = from.select(query);
    std::vector<std::byte> positions(selection.count * 3 * bat::size_of(from.position_type()));
    from.read_positions(selection, positions.data());
    return positions;
  };
  const bat::Attribute& attribute = file.attributes().front();
  const auto expected = ask(expected_file, attribute);
  ASSERT_FALSE(expected.empty());
  std::vector<std::vector<std::byte>> answers(4);
  std::vector<std::thread> threads;
  for (auto& answer : answers)
  {
    threads.emplace_back([&] { answer = ask(file, attribute); });
  }
  for (std::thread& thread : threads)
  {
    thread.join();
  }
  for (const auto& answer : answers)
  {
    EXPECT_EQ(answer, expected);
  }
}

TEST_F(Mapped, a_dataset_maps_its_files)
{
  const bat::Dataset dataset = bat::Dataset::open(this->path, mapping());
  ASSERT_NE(dataset.single_file(), nullptr);
  EXPECT_NO_THROW((void)dataset.single_file()->map_positions(40000));
}

TEST_F(Mapped, damaged_pages_are_refused_and_others_are_not)
{
  std::vector<std::byte> bytes = read_bytes(this->path);
  const bat::File sound = bat::File::open(this->path, mapping());
  const auto* last = static_cast<const std::byte*>(sound.map_positions(40000)) +
    39999 * 3 * bat::size_of(sound.position_type());
  const auto at = std::search(bytes.begin(), bytes.end(), last, last + 12);
  ASSERT_NE(at, bytes.end());
  *at ^= std::byte{ 1 };
  write_bytes(this->folder / "damaged.bat", bytes);
  const bat::File damaged = bat::File::open(this->folder / "damaged.bat", mapping());
  EXPECT_NO_THROW((void)damaged.map_positions(1000));
  for (int i = 0; i != 2; ++i)
  {
    EXPECT_EQ(code_of_mapping(damaged), bat::ErrorCode::Corrupt);
  }
}

TEST_F(Mapped, a_page_is_checked_once_and_one_that_is_read_each_time)
{
  const bat::File read = bat::File::open(this->path);
  const bat::File mapped = bat::File::open(this->path, mapping());
  for (const bat::File* file : { &read, &mapped })
  {
    ASSERT_EQ(code_of_copying(*file, 0, 20000), std::nullopt);
  }
  // Something that no writer of this library does: the first and the last position change in place.
  const std::vector<std::byte> bytes = read_bytes(this->path);
  const auto* positions = static_cast<const std::byte*>(mapped.map_positions(1));
  const std::size_t size = 3 * bat::size_of(mapped.position_type());
  const auto at = std::search(bytes.begin(), bytes.end(), positions, positions + 64);
  ASSERT_NE(at, bytes.end());
  std::fstream stream(this->path, std::ios::in | std::ios::out | std::ios::binary);
  for (const std::size_t particle : { 0, 39999 })
  {
    const auto offset = (at - bytes.begin()) + static_cast<std::ptrdiff_t>(particle * size);
    stream.seekp(offset);
    stream.put(static_cast<char>(bytes[static_cast<std::size_t>(offset)] ^ std::byte{ 1 }));
  }
  stream.close();
  EXPECT_EQ(code_of_copying(read, 0, 100), bat::ErrorCode::Corrupt);
  EXPECT_EQ(code_of_copying(mapped, 0, 100), std::nullopt);
  EXPECT_EQ(code_of_copying(mapped, 39900, 100), bat::ErrorCode::Corrupt);
  EXPECT_EQ(
    code_of_copying(bat::File::open(this->path, mapping()), 0, 100), bat::ErrorCode::Corrupt);
  EXPECT_THROW(bat::validate(mapped), bat::Error);
}

TEST_F(Mapped, a_file_that_was_cut_short_is_an_error)
{
  const bat::File file = bat::File::open(this->path, mapping());
  const bat::Selection all = file.select({});
  std::filesystem::resize_file(this->path, 5000);
  EXPECT_EQ(code_of_mapping(file), bat::ErrorCode::Truncated);
  std::vector<std::byte> values(all.count * 3 * bat::size_of(file.position_type()));
  EXPECT_THROW(file.read_positions(all, values.data()), bat::Error);
  bat::Query query;
  query.ranges.push_back({ file.attributes()[0].name, {}, 0.0, 1.0 });
  EXPECT_THROW((void)file.select(query), bat::Error);
}

TEST_F(Mapped, what_cannot_be_mapped_is_refused)
{
  write_bytes(this->folder / "empty.bat", {});
  EXPECT_THROW((void)bat::File::open(this->folder / "empty.bat", mapping()), bat::Error);
  EXPECT_THROW((void)bat::File::open(this->folder / "missing.bat", mapping()), bat::Error);
  EXPECT_THROW((void)bat::File::open(this->folder.path(), mapping()), bat::Error);
}
