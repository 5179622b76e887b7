// SPDX-License-Identifier: BSD-3-Clause
// The order of treelets; the loops for AVX2 and AVX-512, compared with the standard library and the
// portable loops.

#include "bat/writer.hpp"
#include "common/processor.hpp"
#include "particles/tree/bins.hpp"
#include "particles/write/avx2.hpp"
#include "particles/write/avx512.hpp"
#include "particles/write/morton.hpp"
#include "particles/write/treelet.hpp"
#include "support/clouds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace
{
using bat::processor::Instructions;
using bat::write::key_of_number;
using bat::write::kMaxComparedKeys;
using bat::write::kPartitionRoom;
using bat::write::TreeletGrid;
using bat::write::TreeletKey;
namespace avx2 = bat::write::avx2;
namespace avx512 = bat::write::avx512;

struct Avx2
{
  static constexpr Instructions instructions = Instructions::Avx2;
  static constexpr auto partition = avx2::partition;
  static constexpr auto split_few = avx2::split_few;
  template <class V>
  static bool extend(const std::vector<V>& values, V* minimum, V* maximum)
  {
    return avx2::extend(values.data(), values.size(), minimum, maximum);
  }
  // Returns false if its table cannot distinguish the bits of these values.
  template <class V>
  static bool mark(const std::vector<V>& values, const std::vector<std::uint16_t>& blocks,
    const bat::TreeletBits<V>& bits, V low, V high, std::vector<std::uint32_t>& bitmaps)
  {
    const bat::CellBits<V> cells(bits, low, high);
    const auto is_nan = [](V value) { return value != value; };
    if (!cells.usable() || std::any_of(values.begin(), values.end(), is_nan))
    {
      return false;
    }
    avx2::mark(values.data(), blocks.data(), values.size(), cells, bitmaps.data());
    return true;
  }
};

struct Avx512
{
  static constexpr Instructions instructions = Instructions::Avx512;
  static constexpr auto partition = avx512::partition;
  static constexpr auto split_few = avx512::split_few;
  template <class V>
  static bool extend(const std::vector<V>& values, V* minimum, V* maximum)
  {
    return avx512::extend(values.data(), values.size(), minimum, maximum);
  }
  template <class V>
  static bool mark(const std::vector<V>& values, const std::vector<std::uint16_t>& blocks,
    const bat::TreeletBits<V>& bits, V, V, std::vector<std::uint32_t>& bitmaps)
  {
    avx512::mark(values.data(), blocks.data(), values.size(), bits, bitmaps.data());
    return true;
  }
};

// Each with at most its own instructions.
template <class Loops>
class VectorLoops : public testing::Test
{
protected:
  void SetUp() override
  {
    bat::processor::allow(Loops::instructions);
    if (!(Loops::instructions == Instructions::Avx512 ? bat::processor::has_avx512()
                                                      : bat::processor::has_avx2()))
    {
      GTEST_SKIP() << "this processor does not have them";
    }
  }
  void TearDown() override { bat::processor::allow(Instructions::Avx512); }

  std::mt19937_64 random_{ 1 };
};

using AllLoops = testing::Types<Avx2, Avx512>;
TYPED_TEST_SUITE(VectorLoops, AllLoops);

std::int16_t cell_of(TreeletKey key, std::size_t axis)
{
  return static_cast<std::int16_t>(key >> 16 * axis);
}

// Keys whose cells are among `cells` values around 0.
std::vector<TreeletKey> keys_in(std::size_t count, unsigned cells, std::mt19937_64& random)
{
  std::vector<TreeletKey> keys(count);
  for (std::size_t i = 0; i != count; ++i)
  {
    keys[i] = key_of_number(static_cast<std::uint16_t>(i));
    for (unsigned axis = 0; axis != 3; ++axis)
    {
      const auto cell = static_cast<std::uint16_t>(
        static_cast<int>(random() % cells) - static_cast<int>(cells / 2));
      keys[i] |= TreeletKey{ cell } << 16 * axis;
    }
  }
  return keys;
}

// Packed; some coordinates are ends of the box.
template <class T>
std::vector<T> positions_in(const bat::Box& box, std::size_t count, std::mt19937_64& random)
{
  std::vector<T> positions(3 * count);
  for (std::size_t i = 0; i != positions.size(); ++i)
  {
    const std::size_t axis = i % 3;
    const double share = i % 16 < 2 ? static_cast<double>(i % 16) : clouds::unit(random);
    const T value = static_cast<T>(box.lower[axis] + share * (box.upper[axis] - box.lower[axis]));
    positions[i] =
      std::clamp(value, static_cast<T>(box.lower[axis]), static_cast<T>(box.upper[axis]));
  }
  return positions;
}

// Calls check(box, packed positions in it).
template <class T, class F>
void for_positions(std::mt19937_64& random, const F& check)
{
  for (const double extent : { 0.0, 1e-30, 1.0, 1e30 })
  {
    const bat::Box box{ { -1, 5, 0 }, { -1 + extent, 5 + 3 * extent, extent / 7 } };
    for (const std::size_t count : { 1u, 8u, 9u, 16u, 17u, 1000u })
    {
      check(box, positions_in<T>(box, count, random));
    }
  }
}

constexpr unsigned kCellCounts[] = { 1, 2, 3, 20, 65536 };

// Values of all kinds between `lower` and `upper`, both of which occur.
template <class V>
std::vector<V> values_between(V lower, V upper, std::size_t count, std::mt19937_64& random)
{
  std::vector<V> values{ lower, upper };
  while (values.size() < count)
  {
    const double share = std::pow(clouds::unit(random), 3);
    const V value = static_cast<V>(static_cast<double>(lower) +
      share * (static_cast<double>(upper) - static_cast<double>(lower)));
    values.push_back(std::clamp(value, lower, upper));
  }
  std::shuffle(values.begin(), values.end(), random);
  return values;
}

// Checks that bitmaps of `values`, including NaN if `with_nan`, equal those from the bit of each
// value. Returns the number checked.
template <class Loops, class V>
int expect_bitmaps(
  std::vector<V> values, const std::vector<V>& edges, bool with_nan, std::mt19937_64& random)
{
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const bat::TreeletBits<V> bits(edges, bat::find_bin(edges, *low), bat::find_bin(edges, *high));
  int looked_at = 0;
  for (const std::size_t run : { 1u, 3u, 16u, 64u })
  {
    for (const std::size_t count :
      { std::size_t{ 1 }, std::size_t{ 7 }, std::size_t{ 8 }, std::size_t{ 9 }, values.size() })
    {
      std::vector<V> some(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count));
      if constexpr (std::is_floating_point_v<V>)
      {
        if (with_nan && count > 8)
        {
          some[random() % count] = std::numeric_limits<V>::quiet_NaN();
        }
      }
      std::vector<std::uint16_t> blocks(count);
      for (std::size_t i = 0; i != count; ++i)
      {
        blocks[i] = static_cast<std::uint16_t>(i / run % 50);
      }
      std::vector<std::uint32_t> expected(50);
      for (std::size_t i = 0; i != count; ++i)
      {
        expected[blocks[i]] |= some[i] == some[i] ? std::uint32_t{ 1 } << bits(some[i]) : 0;
      }
      std::vector<std::uint32_t> bitmaps(50);
      if (Loops::mark(some, blocks, bits, *low, *high, bitmaps))
      {
        EXPECT_EQ(bitmaps, expected) << count << " values, " << edges.size() << " edges";
        ++looked_at;
      }
    }
  }
  return looked_at;
}

template <class Loops, class V>
int expect_bitmaps_of(V lower, V upper, std::mt19937_64& random)
{
  const std::vector<V> values = values_between(lower, upper, 1000, random);
  int looked_at = 0;
  for (const std::size_t edge_count : { 0u, 1u, 5u, 31u, 32u, 200u })
  {
    std::vector<V> edges = values_between(lower, upper, edge_count + 2, random);
    edges.resize(edge_count);
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    for (const bool with_nan : { false, true })
    {
      looked_at += expect_bitmaps<Loops>(values, edges, with_nan, random);
    }
  }
  return looked_at;
}

template <class Loops, class V>
void expect_extremes(const std::vector<V>& values, bool has_nan)
{
  std::array<V, avx512::kLanes> minimum;
  std::array<V, avx512::kLanes> maximum;
  minimum.fill(std::numeric_limits<V>::max());
  maximum.fill(std::numeric_limits<V>::lowest());
  std::array<V, avx512::kLanes> low = minimum;
  std::array<V, avx512::kLanes> high = maximum;
  EXPECT_EQ(Loops::extend(values, minimum.data(), maximum.data()), has_nan);
  for (std::size_t i = 0; i != values.size(); ++i)
  {
    const std::size_t lane = i % avx512::kLanes;
    low[lane] = values[i] < low[lane] ? values[i] : low[lane];
    high[lane] = values[i] > high[lane] ? values[i] : high[lane];
  }
  // Not only equal: zeros have signs.
  EXPECT_EQ(std::memcmp(minimum.data(), low.data(), sizeof(minimum)), 0);
  EXPECT_EQ(std::memcmp(maximum.data(), high.data(), sizeof(maximum)), 0);
}
}

// The loops run with all instructions and without.
TEST(Treelet, is_halved_along_its_longest_axis)
{
  std::mt19937_64 random(2);
  for (const Instructions high :
    { Instructions::Avx512, Instructions::Avx2, Instructions::Portable })
  {
    bat::processor::allow(high);
    for (const unsigned cells : kCellCounts)
    {
      for (const std::size_t count : { 17u, 32u, 33u, 64u, 65u, 700u, 5000u })
      {
        const TreeletGrid grid({ { 0, 0, 0 }, { 1e9, 1, 1 } });
        const std::vector<TreeletKey> keys = keys_in(count, cells, random);
        std::vector<TreeletKey> ordered = keys;
        std::vector<TreeletKey> room(count + kPartitionRoom);
        bat::write::order_treelet(grid, ordered.data(), count, 64, room.data());
        std::vector<TreeletKey> sorted = ordered;
        std::sort(sorted.begin(), sorted.end());
        std::vector<TreeletKey> all = keys;
        std::sort(all.begin(), all.end());
        EXPECT_EQ(sorted, all);
        const std::size_t blocks = (count + 63) / 64;
        const std::size_t left = blocks > 1 ? (blocks + 1) / 2 * 64 : count / 2;
        const auto less = [](TreeletKey a, TreeletKey b) { return cell_of(a, 0) < cell_of(b, 0); };
        const auto middle = ordered.begin() + static_cast<std::ptrdiff_t>(left);
        EXPECT_LE(cell_of(*std::max_element(ordered.begin(), middle, less), 0),
          cell_of(*std::min_element(middle, ordered.end(), less), 0))
          << count << " keys in " << cells << " cells";
      }
    }
  }
  bat::processor::allow(Instructions::Avx512);
}

TYPED_TEST(VectorLoops, partition_keeps_the_order_of_both_parts)
{
  for (const unsigned cells : kCellCounts)
  {
    for (std::size_t count = 1; count < 5000; count += 1 + count / 3)
    {
      for (std::size_t axis = 0; axis != 3; ++axis)
      {
        for (const bool or_equal : { false, true })
        {
          std::vector<TreeletKey> keys = keys_in(count, cells, this->random_);
          std::vector<TreeletKey> expected = keys;
          const std::int16_t pivot = cell_of(keys[this->random_() % count], axis);
          const auto middle = std::stable_partition(expected.begin(), expected.end(),
            [&](TreeletKey key)
            {
              const std::int16_t cell = cell_of(key, axis);
              return or_equal ? cell <= pivot : cell < pivot;
            });
          // Keys after those are unchanged.
          keys.resize(count + 10, 77);
          std::vector<TreeletKey> room(count + kPartitionRoom);
          const std::size_t low =
            TypeParam::partition(keys.data(), count, axis, pivot, or_equal, room.data());
          EXPECT_EQ(low, static_cast<std::size_t>(middle - expected.begin()));
          expected.resize(count + 10, 77);
          ASSERT_EQ(keys, expected) << count << " keys in " << cells << " cells, axis " << axis;
        }
      }
    }
  }
}

TYPED_TEST(VectorLoops, few_keys_are_split_as_a_stable_sort_would)
{
  for (const unsigned cells : kCellCounts)
  {
    for (std::size_t count = 1; count <= kMaxComparedKeys; ++count)
    {
      for (std::size_t left = 0; left <= count; ++left)
      {
        for (std::size_t axis = 0; axis != 3; ++axis)
        {
          std::vector<TreeletKey> keys = keys_in(count, cells, this->random_);
          std::vector<TreeletKey> expected = keys;
          std::stable_sort(expected.begin(), expected.end(),
            [&](TreeletKey a, TreeletKey b) { return cell_of(a, axis) < cell_of(b, axis); });
          const auto middle = expected.begin() + static_cast<std::ptrdiff_t>(left);
          // By index, which is the original order.
          const auto by_number = [](TreeletKey a, TreeletKey b)
          { return bat::write::number_of(a) < bat::write::number_of(b); };
          std::sort(expected.begin(), middle, by_number);
          std::sort(middle, expected.end(), by_number);
          keys.resize(count + 10, 77);
          expected.resize(count + 10, 77);
          TypeParam::split_few(keys.data(), left, count, axis);
          ASSERT_EQ(keys, expected) << left << " of " << count << " keys in " << cells << " cells";
        }
      }
    }
  }
}

TYPED_TEST(VectorLoops, keys_are_those_of_the_portable_loop)
{
  const auto check = [](const bat::Box& box, const auto& positions)
  {
    const std::size_t count = positions.size() / 3;
    const TreeletGrid grid(box);
    std::vector<TreeletKey> keys(count);
    std::vector<TreeletKey> expected(count);
    grid.fill_keys(positions.data(), count, keys.data());
    bat::processor::allow(Instructions::Portable);
    grid.fill_keys(positions.data(), count, expected.data());
    bat::processor::allow(TypeParam::instructions);
    EXPECT_EQ(keys, expected) << count << " positions up to " << box.upper[0];
  };
  for_positions<float>(this->random_, check);
  for_positions<double>(this->random_, check);
}

TYPED_TEST(VectorLoops, coarse_codes_are_those_of_each_position)
{
  const auto check = [](const bat::Box& box, const auto& positions)
  {
    const std::size_t count = positions.size() / 3;
    const bat::write::MortonGrid grid(box);
    for (int levels = 1; levels <= bat::write::MortonGrid::kMaxCoarseLevels; ++levels)
    {
      std::vector<std::uint32_t> codes(count);
      grid.coarse_codes(positions.data(), count, levels, codes.data());
      for (std::size_t i = 0; i != count; ++i)
      {
        const auto* const point = &positions[3 * i];
        ASSERT_EQ(codes[i], grid.coarse_code(point, levels)) << levels << " levels";
        ASSERT_EQ(codes[i], grid.code(point) >> 3 * (21 - levels)) << levels << " levels";
      }
    }
  };
  for_positions<float>(this->random_, check);
  for_positions<double>(this->random_, check);
}

TYPED_TEST(VectorLoops, bitmaps_are_those_of_the_bit_of_each_value)
{
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::mt19937_64& random = this->random_;
  EXPECT_GT((expect_bitmaps_of<TypeParam>(-1.0, 1.0, random)), 20);
  EXPECT_GT((expect_bitmaps_of<TypeParam>(0.0, 1e300, random)), 20);
  expect_bitmaps<TypeParam>(std::vector<double>(100, kInfinity), { -1.0, 0.0, 1.0 }, false, random);
  const std::vector<double> wide{ -kInfinity, -0.0, 0.0, 1, 2, 3, 4, 5, 6, kInfinity };
  expect_bitmaps<TypeParam>(wide, { -1.0, 0.0, 1.0, kInfinity }, true, random);
  EXPECT_GT((expect_bitmaps_of<TypeParam, std::int64_t>(-1000, 1000, random)), 20);
  EXPECT_GT((expect_bitmaps_of<TypeParam>(std::numeric_limits<std::int64_t>::min() / 2,
              std::numeric_limits<std::int64_t>::max() / 2, random)),
    20);
  EXPECT_GT((expect_bitmaps_of<TypeParam, std::uint64_t>(5, 9, random)), 20);
  EXPECT_GT((expect_bitmaps_of<TypeParam>(
              std::uint64_t{ 1 }, std::uint64_t{ 1 } << 63 | std::uint64_t{ 1 } << 61, random)),
    20);
}

TYPED_TEST(VectorLoops, extremes_of_lanes_are_those_of_comparisons)
{
  std::vector<double> values = values_between(-3.0, 1e9, 800, this->random_);
  expect_extremes<TypeParam>(values, false);
  values[13] = std::numeric_limits<double>::infinity();
  values[99] = -0.0;
  values[107] = 0.0;
  expect_extremes<TypeParam>(values, false);
  std::vector<double> zeros(800);
  for (double& zero : zeros)
  {
    zero = this->random_() % 2 == 0 ? 0.0 : -0.0;
  }
  expect_extremes<TypeParam>(zeros, false);
  values[400] = std::numeric_limits<double>::quiet_NaN();
  expect_extremes<TypeParam>(values, true);
  expect_extremes<TypeParam>(std::vector<double>{}, false);
  expect_extremes<TypeParam>(values_between<std::int64_t>(-5, 1000000, 800, this->random_), false);
  expect_extremes<TypeParam>(
    values_between<std::uint64_t>(5, std::uint64_t{ 3 } << 62, 800, this->random_), false);
}

TYPED_TEST(VectorLoops, files_have_the_same_bytes_without_it)
{
  const std::vector<clouds::Cloud> all{ clouds::uniform(20011, 1), clouds::clustered(30000, 2),
    clouds::duplicates(20000, 3), clouds::with_nan(9000, 4), clouds::mixed_types(5000, 5),
    clouds::uniform(1, 6), clouds::uniform(33, 7), clouds::clustered(150000, 8) };
  for (const clouds::Cloud& cloud : all)
  {
    for (const std::uint32_t block : { 0u, 16u, 100u })
    {
      bat::BuildOptions options;
      options.block_particles = block;
      const bat::Bytes with = bat::encode(cloud.view(), options);
      bat::processor::allow(Instructions::Portable);
      const bat::Bytes without = bat::encode(cloud.view(), options);
      bat::processor::allow(TypeParam::instructions);
      EXPECT_TRUE(with == without) << cloud.count << " particles, blocks of " << block;
    }
  }
}
