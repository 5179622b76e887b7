// SPDX-License-Identifier: BSD-3-Clause
// Features of the format that the samples lack, made from one of them.

#include "samples.hpp"

#include <limits>

namespace
{
using Bytes = std::vector<std::byte>;

Bytes good()
{
  return read_bytes(samples::file("good/good0.bat"));
}

void compare(const Bytes& bytes, std::uint64_t seed)
{
  const TempDir dir;
  write_bytes(dir / "variant.bat", bytes);
  const oracle::Leaf expected = oracle::read(bytes);
  const auto leaf = bat::libbat::open_leaf(dir / "variant.bat");
  samples::expect_equal(*leaf, expected);
  EXPECT_EQ(samples::compare_queries(*leaf, expected, 1000, seed), 1000);
}

// In good0.bat: 8 offsets from 4208; treelets of n nodes and p particles have 8 + 14 n + 16 p
// bytes.
std::uint64_t treelet(const Bytes& file, std::size_t t)
{
  std::uint64_t offset = 0;
  std::memcpy(&offset, file.data() + 4208 + 8 * t, 8);
  return 4096 + offset;
}

std::uint32_t word(const Bytes& file, std::uint64_t offset)
{
  std::uint32_t value = 0;
  std::memcpy(&value, file.data() + offset, 4);
  return value;
}

TEST(Variants, ranges_of_nodes_are_stepped_over)
{
  Bytes file = samples::with_json(good(), [](nlohmann::json& json) { json["has_ranges"] = true; });
  for (std::size_t t = 8; t-- != 0;)
  {
    const std::uint64_t begin = treelet(file, t);
    const std::uint64_t nodes = word(file, begin);
    const std::uint64_t particles = word(file, begin + 4);
    const auto values = file.begin() + static_cast<std::ptrdiff_t>(begin + 8 + 14 * nodes);
    Bytes moved(8 * nodes, std::byte{ 0xff });
    moved.insert(moved.end(), values, values + static_cast<std::ptrdiff_t>(16 * particles));
    file.resize(std::max(file.size(), begin + 8 + 22 * nodes + 16 * particles));
    std::copy(moved.begin(), moved.end(),
      file.begin() + static_cast<std::ptrdiff_t>(begin + 8 + 14 * nodes));
  }
  compare(file, 1);
}

TEST(Variants, missing_range_and_bounds_are_computed)
{
  const Bytes file = samples::with_json(good(),
    [](nlohmann::json& json)
    {
      json["attributes"][0]["range"] = { nullptr, nullptr };
      for (auto& end : json["bounds"])
      {
        end = nullptr;
      }
    });
  compare(file, 2);
  const TempDir dir;
  write_bytes(dir / "null.bat", file);
  const auto leaf = bat::libbat::open_leaf(dir / "null.bat");
  const auto whole = bat::libbat::open_leaf(samples::file("good/good0.bat"));
  EXPECT_EQ(leaf->bounds()->lower, whole->bounds()->lower);
  EXPECT_EQ(leaf->bounds()->upper, whole->bounds()->upper);
  EXPECT_EQ(leaf->attributes()[0].keys[0].maximum, whole->attributes()[0].keys[0].maximum);
}

TEST(Variants, values_that_are_no_number_are_in_no_range)
{
  Bytes file = good();
  const float odd[] = { std::numeric_limits<float>::quiet_NaN(),
    std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity() };
  for (std::size_t t = 0; t != 8; ++t)
  {
    const std::uint64_t particles = word(file, treelet(file, t) + 4);
    const std::uint64_t values =
      treelet(file, t) + 8 + std::uint64_t{ 14 } * word(file, treelet(file, t)) + 12 * particles;
    for (std::size_t i = 0; i != 3; ++i)
    {
      std::memcpy(file.data() + values + 4 * (i * particles / 3), &odd[i], 4);
    }
  }
  compare(file, 3);
  const TempDir dir;
  write_bytes(dir / "odd.bat", file);
  const auto leaf = bat::libbat::open_leaf(dir / "odd.bat", {}, bat::libbat::KeyRanges::Exact);
  EXPECT_TRUE(leaf->attributes()[0].keys[0].has_nan);
  EXPECT_EQ(bat::to_double(leaf->attributes()[0].keys[0].maximum), odd[1]);
}

// A range given by the simulation may be narrower than the values; those outside have no bit.
TEST(Variants, a_range_that_is_too_narrow_loses_nothing)
{
  compare(samples::with_json(good(),
            [](nlohmann::json& json) {
              json["attributes"][0]["range"] = { 0.25, 0.25 };
            }),
    4);
}

TEST(Variants, a_value_outside_the_noted_range_is_found)
{
  Bytes file = good();
  const std::uint64_t begin = treelet(file, 5);
  const std::uint64_t values = begin + 8 + std::uint64_t{ 14 } * word(file, begin) +
    std::uint64_t{ 12 } * word(file, begin + 4);
  const float far = 17;
  std::memcpy(file.data() + values + 40, &far, 4);
  compare(file, 5);
}

TEST(Variants, validation_finds_a_particle_beyond_its_planes)
{
  Bytes file = good();
  const std::uint64_t begin = treelet(file, 0);
  const float far = 0.95F;
  for (const std::uint64_t at : { std::uint64_t{ 0 }, std::uint64_t{ 4 }, std::uint64_t{ 8 } })
  {
    std::memcpy(
      file.data() + begin + 8 + std::uint64_t{ 14 } * word(file, begin) + 1200 + at, &far, 4);
  }
  const TempDir dir;
  write_bytes(dir / "moved.bat", file);
  EXPECT_THROW(bat::libbat::open_leaf(dir / "moved.bat")->validate(), bat::Error);
}
}
