// SPDX-License-Identifier: BSD-3-Clause
// Truncated, bit-flipped or inconsistent files give an Error or the right values, never others.
#include "bat/bricks/write.hpp"
#include "bat/error.hpp"
#include "bricks/brick_cases.hpp"
#include "bricks/format/codec.hpp"
#include "bricks/format/layout.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <tuple>

namespace
{
using namespace bat;
using Bytes = std::vector<std::byte>;

struct Sound
{
  explicit Sound(const brick_cases::Case& given, bool compress = true)
    : made(given)
    , path(this->folder / "sound.bricks")
  {
    bricks::WriteOptions options;
    options.compress = compress;
    bricks::write(path, made.header, made.values.data(), made.values.size(), options);
    this->bytes = read_bytes(path);
  }

  // The values of the whole file; nothing if it is rejected.
  std::optional<Bytes> values_of(const Bytes& damaged) const
  {
    try
    {
      const auto file = bricks::File::from_memory(damaged, "sound.bricks");
      const BrickGrid& grid = file.grid();
      Bytes values(brick_cases::point_count(grid) * grid.point_bytes());
      file.read_box({ 0, 0, 0 }, grid.points, values.data(), values.size(), 1);
      (void)file.preview();
      return values;
    }
    catch (const Error& error)
    {
      EXPECT_NE(std::string(error.what()).find("sound.bricks"), std::string::npos) << error.what();
      return std::nullopt;
    }
  }
  bool is_valid(const Bytes& damaged) const
  {
    try
    {
      (void)bricks::File::from_memory(damaged, "sound.bricks").validate();
      return true;
    }
    catch (const Error&)
    {
      return false;
    }
  }
  bricks::format::FileLayout layout() const
  {
    return { made.header.grid, made.header.field.size() + made.header.metadata.size() };
  }

  TempDir folder;
  brick_cases::Case made;
  std::filesystem::path path;
  Bytes bytes;
};

template <class T>
T get(const Bytes& bytes, std::uint64_t at)
{
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}
template <class T>
void put(Bytes& bytes, std::uint64_t at, const T& value)
{
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}
void repair_header(Bytes& bytes)
{
  put(bytes, 248, bricks::format::checksum(bytes.data(), 248));
}
void repair_index(Bytes& bytes, const bricks::format::PagedSection& index)
{
  for (std::uint64_t page = 0; page != index.pages(); ++page)
  {
    const auto at = index.page_in_file(page);
    const auto size = index.bytes_of_page(page);
    put(bytes, at + size,
      bricks::format::seeded_checksum(bytes.data() + at, size, index.seed + page));
  }
}
brick_cases::Case small()
{
  return brick_cases::make("d", { 11, 9, 5 }, 3, ScalarType::Float32, 8, false, false);
}
}

TEST(BricksDamage, a_file_cut_anywhere_is_refused)
{
  const Sound sound(small());
  for (std::size_t size = 0; size < sound.bytes.size(); size += size < 700 ? 1 : 37)
  {
    const Bytes cut(sound.bytes.begin(), sound.bytes.begin() + static_cast<std::ptrdiff_t>(size));
    ASSERT_FALSE(sound.values_of(cut)) << size;
  }
  Bytes longer = sound.bytes;
  longer.resize(longer.size() + 8);
  EXPECT_FALSE(sound.values_of(longer));
}

TEST(BricksDamage, no_flipped_bit_changes_a_value)
{
  for (const bool compress : { true, false })
  {
    const Sound sound(small(), compress);
    const std::uint64_t all_before = sound.layout().bricks_offset;
    std::uint64_t harmless = 0;
    for (std::uint64_t bit = 0; bit < 8 * sound.bytes.size(); bit += bit < 8 * all_before ? 1 : 53)
    {
      Bytes damaged = sound.bytes;
      damaged[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
      if (const auto values = sound.values_of(damaged))
      {
        ASSERT_EQ(*values, sound.made.values) << bit;
        ASSERT_FALSE(sound.is_valid(damaged)) << bit; // this was padding
        ++harmless;
      }
    }
    EXPECT_LT(harmless, 8 * 7 * 7); // gaps of up to 7 bytes
  }
}

TEST(BricksDamage, an_index_that_lies_gives_no_wrong_brick)
{
  const auto made = brick_cases::make("l", { 33, 20, 17 }, 3, ScalarType::Float32, 8, false, false);
  const Sound sound(made);
  const auto layout = sound.layout();
  const auto slots = layout.order.slot_count();
  std::mt19937_64 random(5);
  const auto word_at = [&](std::uint64_t slot) { return layout.index.offset + 8 * slot; };
  ASSERT_EQ(layout.index.pages(), 1u);
  for (int n = 0; n != 400; ++n)
  {
    Bytes damaged = sound.bytes;
    const std::uint64_t slot =
      layout.order.slot(made.header.grid.brick_place(random() % made.header.grid.brick_count()));
    const std::uint64_t other = random() % slots;
    const auto before = get<std::uint64_t>(damaged, word_at(slot));
    switch (n % 5)
    {
      case 0: // another brick's
        put(damaged, word_at(slot), get<std::uint64_t>(damaged, word_at(other)));
        break;
      case 1:
        put(damaged, word_at(slot), before ^ std::uint64_t{ 1 } << random() % 64);
        break;
      case 2:
        put(damaged, word_at(slot), random());
        break;
      case 3: // a decompression bomb
        put(damaged, word_at(slot), before | 0xFFFFFF);
        break;
      default: // blank
        put(damaged, word_at(slot), std::uint64_t{ 0 });
        break;
    }
    const bool is_other = get<std::uint64_t>(damaged, word_at(slot)) != before;
    repair_index(damaged, layout.index);
    const auto values = sound.values_of(damaged);
    if (n % 5 == 4 || (is_other && get<std::uint64_t>(damaged, word_at(slot)) == 0))
    {
      ASSERT_FALSE(sound.is_valid(damaged)); // other writers may leave a brick blank
    }
    else if (values)
    {
      ASSERT_EQ(*values, made.values) << n;
    }
  }
}

TEST(BricksDamage, a_stored_brick_without_flow_or_at_rest_is_not_valid)
{
  auto made = brick_cases::make("d", { 8, 8, 1 }, 2, ScalarType::Float32, 8, false, false);
  const float one = 1;
  for (std::size_t i = 0; i != made.values.size(); i += 4)
  {
    std::memcpy(made.values.data() + i, &one, 4);
  }
  const Sound sound(made, false);
  EXPECT_TRUE(sound.is_valid(sound.bytes));
  const auto layout = sound.layout();
  const std::uint64_t brick = layout.bricks_offset;
  const double none = std::numeric_limits<double>::infinity();
  for (const auto& [bits, minimum, maximum] :
    { std::tuple(0x7FC00000u, none, -none), std::tuple(0u, 0.0, 0.0) })
  {
    Bytes damaged = sound.bytes;
    for (std::size_t i = 0; i != made.values.size(); i += 4)
    {
      put(damaged, brick + 5 + i, bits);
    }
    const auto sum = bricks::format::seeded_checksum(
      damaged.data() + brick + 4, made.values.size() + 1, layout.id);
    put(damaged, brick, static_cast<std::uint32_t>(sum));
    put(damaged, layout.preview.offset, bits);
    put(damaged, layout.preview.offset + 4, bits);
    repair_index(damaged, layout.preview);
    put(damaged, 128, 0.0); // largest speed
    for (std::uint64_t a = 0; a != 2; ++a)
    {
      put(damaged, 136 + 8 * a, minimum);
      put(damaged, 160 + 8 * a, maximum);
    }
    repair_header(damaged);
    EXPECT_TRUE(sound.values_of(damaged)); // readers need not reject it
    try
    {
      (void)bricks::File::from_memory(damaged, "sound.bricks").validate();
      ADD_FAILURE() << bits;
    }
    catch (const Error& error)
    {
      EXPECT_NE(std::string(error.what()).find("such bricks must not be stored"), std::string::npos)
        << error.what();
    }
  }
}

TEST(BricksDamage, a_header_that_lies_is_refused_or_describes_nothing_else)
{
  const Sound sound(small());
  std::mt19937_64 random(9);
  for (int n = 0; n != 3000; ++n)
  {
    Bytes damaged = sound.bytes;
    const std::uint64_t at = 8 + random() % 26 * 8;
    const std::uint64_t before = get<std::uint64_t>(damaged, at);
    const std::uint64_t odd[] = { 0, ~std::uint64_t{ 0 }, before + 1, before - 1,
      before ^ std::uint64_t{ 1 } << random() % 64, random(), 0x7FF8000000000000, 0x7FFFFFFF };
    put(damaged, at, odd[random() % 8]);
    repair_header(damaged);
    try
    {
      const auto file = bricks::File::from_memory(damaged, "sound.bricks");
      std::vector<std::byte> brick(32 * 32 * 32 * 24);
      const auto row = 32 * file.grid().point_bytes();
      for (std::uint64_t k = 0; k < std::min<std::uint64_t>(file.grid().brick_count(), 4); ++k)
      {
        // Another grid has another id, with which none of these bricks was written.
        if (file.grid() != sound.made.header.grid)
        {
          EXPECT_THROW(file.read(k, { brick.data(), row, 32 * row }), Error);
        }
        else
        {
          file.read(k, { brick.data(), row, 32 * row });
        }
      }
    }
    catch (const Error&)
    {
    }
  }
}

TEST(BricksDamage, payloads_with_right_checksums_and_wrong_content_are_refused)
{
  BrickGrid grid;
  const std::array<int, 3> points{ 8, 8, 8 };
  std::vector<std::byte> values(6144);
  std::mt19937_64 random(2);
  for (auto& byte : values)
  {
    byte = static_cast<std::byte>(random() % 3);
  }
  std::vector<std::byte> stored;
  bricks::format::BrickEncoder().encode(grid, points, values.data(), true, 77, stored);
  ASSERT_LT(stored.size(), 6000u);
  bricks::format::BrickDecoder decoder;
  std::vector<std::byte> out(6144);
  const BrickMemory to{ out.data(), 96, 768 };
  ASSERT_EQ(decoder.decode(grid, points, stored.data(), stored.size(), 77, to), "");
  ASSERT_EQ(out, values);
  EXPECT_NE(decoder.decode(grid, points, stored.data(), stored.size(), 78, to), "");
  int refused = 0;
  for (int n = 0; n != 2000; ++n)
  {
    std::vector<std::byte> damaged = stored;
    damaged[4 + random() % (n % 2 != 0 ? 40 : damaged.size() - 4)] =
      static_cast<std::byte>(random());
    if (n % 3 == 0)
    {
      damaged.resize(6 + random() % (damaged.size() - 6));
    }
    const auto sum = static_cast<std::uint32_t>(
      bricks::format::seeded_checksum(damaged.data() + 4, damaged.size() - 4, 77));
    std::memcpy(damaged.data(), &sum, 4);
    refused += !decoder.decode(grid, points, damaged.data(), damaged.size(), 77, to).empty();
  }
  EXPECT_GT(refused, 600);
}
