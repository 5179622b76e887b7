// SPDX-License-Identifier: BSD-3-Clause
// An .idx dataset as a source of flow, against the same velocities in bricks.
#include "bat/bricks/series.hpp"
#include "bat/bricks/write.hpp"
#include "bat/error.hpp"
#include "bat/flow/trace.hpp"
#include "bat/idx/velocity_source.hpp"
#include "bat/idx/write.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <thread>

namespace
{
using namespace bat;

struct Case
{
  std::array<std::int64_t, 3> points{};
  std::array<std::int64_t, 3> first{};
  int components = 3;
  ScalarType type = ScalarType::Float32;
  bool apart = false; ///< one field per component
  idx::Codec codec = idx::Codec::Raw;
  idx::Layout layout = idx::Layout::RowMajor;
  int bits_per_block = 0;
};

const Case kCases[] = {
  { { 33, 21, 18 }, { 3, 0, 7 } },
  { { 40, 9, 25 }, { 0, 0, 0 }, 3, ScalarType::Float64, true, idx::Codec::Zip, idx::Layout::HZ, 5 },
  { { 19, 30, 1 }, { 0, 5, 0 }, 2, ScalarType::Float32, false, idx::Codec::Lz4, idx::Layout::HZ,
    4 },
  { { 17, 17, 17 }, { 1, 1, 1 }, 2, ScalarType::Float64, true, idx::Codec::Raw,
    idx::Layout::RowMajor, 12 },
  { { 9, 10, 7 }, { 0, 1, 0 }, 3, ScalarType::Float32, true, idx::Codec::Raw, idx::Layout::RowMajor,
    2 }, // blocks are smaller than their bookkeeping
};
constexpr std::uint64_t kNoted = 1024; // maximum bookkeeping per block
constexpr double kTimes[] = { 0, 0.75, 1 };

// A turning flow with values that a copy could change: NaN with any bits, -0, the smallest numbers.
template <class T>
std::vector<T> velocities(const Case& made, int level)
{
  std::mt19937 random(7);
  std::vector<T> values;
  for (std::int64_t z = 0; z != made.points[2]; ++z)
  {
    for (std::int64_t y = 0; y != made.points[1]; ++y)
    {
      for (std::int64_t x = 0; x != made.points[0]; ++x)
      {
        const T v[] = { static_cast<T>(8 + std::sin(0.3 * static_cast<double>(y + level))),
          static_cast<T>(4 * std::cos(0.2 * static_cast<double>(x))),
          static_cast<T>(std::sin(0.5 * static_cast<double>(x + z))) };
        const bool odd = random() % 500 == 0;
        for (int c = 0; c != made.components; ++c)
        {
          T value = odd && c == 0 ? std::numeric_limits<T>::denorm_min() : v[c];
          if (odd && c == 1)
          {
            value = std::nan("");
            std::byte low{ 0x2A };
            std::memcpy(&value, &low, 1);
          }
          values.push_back(odd && c == 2 ? T(-0.0) : value);
        }
      }
    }
  }
  return values;
}

class IdxSource : public ::testing::Test
{
protected:
  template <class T>
  void write_as(const Case& made)
  {
    constexpr double kOrigin[] = { -1, 0.1, 5 };
    constexpr double kSpacing[] = { 0.5, 0.25, 1.0 / 3 };
    idx::Grid grid;
    grid.dimensions = made.points;
    grid.first = made.first;
    bricks::Header header;
    header.field = "wind";
    header.grid.points = made.points;
    header.grid.components = made.components;
    header.grid.type = made.type;
    for (std::size_t a = 0; a != 3; ++a)
    {
      grid.origin[a] = kOrigin[a];
      grid.spacing[a] = kSpacing[a];
      header.grid.spacing[a] = kSpacing[a];
      header.grid.origin[a] = kOrigin[a] + static_cast<double>(made.first[a]) * kSpacing[a];
    }
    std::vector<bricks::SeriesEntry> entries;
    for (int level = 0; level != 3; ++level)
    {
      const std::vector<T> values = velocities<T>(made, level);
      const auto components = static_cast<std::size_t>(made.components);
      std::vector<std::vector<T>> parts(made.apart ? components : 0);
      for (std::size_t i = 0; made.apart && i != values.size(); ++i)
      {
        parts[i % components].push_back(values[i]);
      }
      grid.fields.clear();
      const std::vector<float> other(values.size() / components, 1);
      grid.fields.push_back({ "pressure", ScalarType::Float32, 1, other.data() });
      for (std::size_t c = 0; c != parts.size(); ++c)
      {
        grid.fields.push_back({ std::string(1, "uvw"[c]), made.type, 1, parts[c].data() });
      }
      if (!made.apart)
      {
        grid.fields.push_back({ "wind", made.type, made.components, values.data() });
      }
      idx::WriteOptions options;
      options.mode = level == 0 ? idx::WriteMode::Replace : idx::WriteMode::AddStep;
      options.step = 10 * level;
      options.time = kTimes[level];
      options.codec = made.codec;
      options.layout = made.layout;
      options.bits_per_block = made.bits_per_block;
      options.file_bytes = 1 << 14;
      options.flush = false;
      idx::write(this->grid_path, grid, options);
      entries.push_back({ "wind_" + std::to_string(level) + ".bricks", kTimes[level] });
      bricks::WriteOptions flat;
      flat.flush = false;
      bricks::write(
        this->folder / entries.back().file, header, values.data(), values.size() * sizeof(T), flat);
    }
    bricks::write_list(this->list, entries, false);
  }
  void write(const Case& made)
  {
    made.type == ScalarType::Float32 ? this->write_as<float>(made) : this->write_as<double>(made);
  }
  [[nodiscard]] static idx::VelocityOptions parse_options(const Case& made)
  {
    idx::VelocityOptions options;
    options.fields =
      made.apart ? std::vector<std::string>{ "u", "v", "w" } : std::vector<std::string>{};
    options.fields.resize(made.apart ? static_cast<std::size_t>(made.components) : 0);
    return options;
  }
  // The largest file of samples of a step.
  [[nodiscard]] std::filesystem::path data_file(const std::string& step) const
  {
    std::filesystem::path found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(this->folder.path()))
    {
      if (entry.is_regular_file() && entry.path().extension() == ".bin" &&
        entry.path().string().find(step) != std::string::npos &&
        (found.empty() || entry.file_size() > std::filesystem::file_size(found)))
      {
        found = entry.path();
      }
    }
    return found;
  }
  static std::vector<std::byte> brick_of(
    const BrickSource& source, std::size_t level, std::uint64_t brick)
  {
    const std::size_t row = 9 * source.grid().point_bytes() + 1; // non-round spacings
    std::vector<std::byte> values(row * 9 * 8, std::byte{ 0x55 });
    source.read(level, brick, { values.data(), row, 9 * row });
    return values;
  }

  TempDir folder;
  std::filesystem::path grid_path = this->folder / "wind.idx";
  std::filesystem::path list = this->folder / "wind.bricks.series";
};

// Every bit, with much and with hardly any memory, by several threads.
TEST_F(IdxSource, bricks_are_those_of_the_same_data_in_bricks)
{
  for (const Case& made : kCases)
  {
    SCOPED_TRACE(&made - kCases);
    this->write(made);
    const auto expected = bricks::Series::open(this->list);
    for (const std::uint64_t budget : { std::uint64_t{ 1 } << 26, std::uint64_t{ 0 } })
    {
      idx::VelocityOptions options = parse_options(made);
      options.block_bytes = budget;
      const auto source = idx::VelocitySource::open(this->grid_path, options);
      ASSERT_EQ(source->grid(), expected->grid());
      ASSERT_EQ(source->times(), expected->times());
      std::atomic<std::uint64_t> wrong{ 0 };
      std::vector<std::thread> threads;
      for (unsigned thread = 0; thread != 4; ++thread)
      {
        threads.emplace_back(
          [&, thread]
          {
            for (std::size_t level = 0; level != 3; ++level)
            {
              for (std::uint64_t i = 0; i != expected->grid().brick_count(); ++i)
              {
                const std::uint64_t brick =
                  thread % 2 == 0 ? i : expected->grid().brick_count() - 1 - i;
                wrong += brick_of(*source, level, brick) != brick_of(*expected, level, brick);
              }
            }
          });
      }
      for (std::thread& thread : threads)
      {
        thread.join();
      }
      EXPECT_EQ(wrong, 0u);
      const idx::Dataset& dataset = source->dataset();
      const std::uint64_t block = dataset.fields().back().sample_bytes()
        << dataset.header().bits_per_block;
      EXPECT_LE(source->max_block_bytes(), std::max(budget, 3 * block + kNoted));
      if (budget != 0)
      {
        std::uint64_t blocks = 0;
        for (std::size_t f = 1; f != dataset.fields().size(); ++f)
        {
          blocks += 3 * dataset.cost({ f }, dataset.levels()).blocks;
        }
        EXPECT_EQ(source->blocks_read(), blocks); // each once, however many bricks it overlaps
      }
      EXPECT_EQ(source->absent_blocks(), 0u);
    }
  }
}

TEST_F(IdxSource, lines_are_those_from_bricks)
{
  for (const Case& made : kCases)
  {
    SCOPED_TRACE(&made - kCases);
    this->write(made);
    const auto expected = bricks::Series::open(this->list);
    std::vector<flow::Seed> seeds;
    std::mt19937 random(3);
    for (int i = 0; i != 60; ++i)
    {
      flow::Seed seed;
      for (std::size_t a = 0; a != 3; ++a)
      {
        seed.position[a] = expected->grid().origin[a] +
          expected->grid().spacing[a] * static_cast<double>(expected->grid().points[a] - 1) *
            (random() % 1000 / 999.0);
      }
      seeds.push_back(seed);
    }
    flow::TraceOptions options;
    const auto reference = flow::trace(flow::Cache(expected), seeds, options);
    ASSERT_GT(reference.times.size(), 100u);
    for (const int threads : { 1, 3 })
    {
      options.threads = threads;
      flow::CacheOptions memory;
      memory.bytes = threads == 1 ? 1 << 16 : 1 << 24;
      memory.io_threads = threads;
      const flow::Cache cache(
        idx::VelocitySource::open(this->grid_path, parse_options(made)), memory);
      EXPECT_EQ(flow::trace(cache, seeds, options).checksum(), reference.checksum());
    }
  }
}

TEST_F(IdxSource, absent_blocks_have_no_flow)
{
  this->write(kCases[2]);
  // All but the first file of a step: absent, not damaged.
  const auto file = this->data_file("time_000010");
  std::vector<std::filesystem::path> removed;
  for (const auto& entry : std::filesystem::directory_iterator(file.parent_path()))
  {
    if (entry.path().filename().string().find_first_not_of("0.bin") != std::string::npos)
    {
      removed.push_back(entry.path());
    }
  }
  ASSERT_FALSE(removed.empty());
  for (const auto& path : removed)
  {
    std::filesystem::remove(path);
  }
  const auto source = idx::VelocitySource::open(this->grid_path);
  const auto expected = bricks::Series::open(this->list);
  const std::size_t point = source->grid().point_bytes();
  std::uint64_t absent = 0;
  for (std::uint64_t brick = 0; brick != source->grid().brick_count(); ++brick)
  {
    const auto values = brick_of(*source, 1, brick);
    const auto whole = brick_of(*expected, 1, brick);
    for (std::size_t y = 0; y != 8; ++y)
    {
      for (std::size_t x = 0; x != 8; ++x)
      {
        const std::size_t at = y * (9 * point + 1) + x * point;
        float v = 0;
        std::memcpy(&v, values.data() + at, sizeof(v));
        const bool same = std::memcmp(values.data() + at, whole.data() + at, point) == 0;
        ASSERT_TRUE(same || std::isnan(v)) << brick;
        absent += !same;
      }
    }
  }
  EXPECT_GT(absent, 0u);
  EXPECT_LT(absent, 19u * 30);
  EXPECT_GT(source->absent_blocks(), 0u);
}

// An error in a trace names the file; nothing else is reported.
TEST_F(IdxSource, damage_is_an_error_that_names_the_file)
{
  const auto expect = [&](ErrorCode code, const std::vector<std::string>& words)
  {
    const flow::Cache cache(idx::VelocitySource::open(this->grid_path));
    const BrickGrid& grid = cache.source().grid();
    flow::Seed seed;
    for (std::size_t a = 0; a != 3; ++a)
    {
      seed.position[a] = grid.origin[a] + 5.5 * grid.spacing[a];
    }
    try
    {
      (void)flow::trace(cache, { seed });
      ADD_FAILURE() << "no error";
    }
    catch (const Error& error)
    {
      EXPECT_EQ(error.code(), code) << error.what();
      for (const std::string& word : words)
      {
        EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
      }
    }
  };
  Case made = kCases[0];
  made.codec = idx::Codec::Zip;
  this->write(made);
  const auto file = this->data_file("time_000010");
  const auto sound = read_bytes(file);
  auto broken = sound;
  // All blocks are damaged, so that it does not matter which ones a line needs.
  std::fill(broken.begin() + static_cast<std::ptrdiff_t>(broken.size() / 8), broken.end(),
    std::byte{ 0xAB });
  for (const auto& entry : std::filesystem::directory_iterator(file.parent_path()))
  {
    std::filesystem::copy_file(
      entry.path(), this->folder / ("kept_" + entry.path().filename().string()));
    write_bytes(entry.path(), broken);
  }
  expect(ErrorCode::Corrupt, { "time_000010", ".bin", "'wind'", "block" });
  for (const auto& entry : std::filesystem::directory_iterator(file.parent_path()))
  {
    write_bytes(entry.path(), { sound.begin(), sound.begin() + 50 });
  }
  expect(ErrorCode::Truncated, { "time_000010", ".bin", "50" });
  std::filesystem::remove_all(file.parent_path());
  expect(ErrorCode::NotFound, { "time_000010", "step 10" });
}

TEST_F(IdxSource, what_cannot_be_a_velocity_is_refused_by_name)
{
  const auto expect =
    [&](ErrorCode code, const idx::VelocityOptions& options, const std::vector<std::string>& words)
  {
    try
    {
      (void)idx::VelocitySource::open(this->grid_path, options);
      ADD_FAILURE() << "no error";
    }
    catch (const Error& error)
    {
      EXPECT_EQ(error.code(), code) << error.what();
      for (const std::string& word : words)
      {
        EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
      }
    }
  };
  const auto named = [](std::vector<std::string> fields)
  {
    idx::VelocityOptions options;
    options.fields = std::move(fields);
    return options;
  };
  const std::vector<double> values(3 * 64);
  idx::Grid grid;
  grid.dimensions = { 4, 4, 4 };
  grid.fields = { { "wind", ScalarType::Float32, 3, values.data() },
    { "current", ScalarType::Float64, 2, values.data() },
    { "count", ScalarType::Int32, 3, values.data() },
    { "u", ScalarType::Float32, 1, values.data() },
    { "v", ScalarType::Float64, 1, values.data() } };
  idx::WriteOptions write;
  write.flush = false;
  idx::write(this->grid_path, grid, write);
  constexpr auto kRefused = ErrorCode::InvalidArgument;
  expect(kRefused, {}, { "wind.idx", "several", "'wind' float32[3]", "'current' float64[2]" });
  expect(kRefused, named({ "none" }), { "'none'", "wind", "current" });
  expect(kRefused, named({ "count" }), { "'count' int32[3]", "float64" });
  expect(kRefused, named({ "u" }), { "'u' float32[1]", "2 or 3 components" });
  expect(kRefused, named({ "u", "v" }), { "'u' float32[1]", "'v' float64[1]", "the same type" });
  expect(kRefused, named({ "u", "u", "u", "u" }), { "of 4" });
  expect(kRefused, named({ "wind", "wind" }), { "'wind' float32[3]" });
  idx::VelocityOptions edge = named({ "wind" });
  edge.edge = 3;
  expect(kRefused, edge, { "edge", "4 to 32" });
  EXPECT_EQ(idx::VelocitySource::open(this->grid_path, named({ "current" }))->grid().components, 2);
  // Repeated with one field per component.
  EXPECT_EQ(idx::VelocitySource::open(this->grid_path, named({ "u", "u" }))->grid().components, 2);
  EXPECT_THROW(
    idx::VelocitySource::open(this->grid_path, named({ "wind" }))->read(1, 0, { nullptr, 0, 0 }),
    Error);
  // A steady flow of one step, which does not determine when lines end.
  const flow::Cache steady(idx::VelocitySource::open(this->grid_path, named({ "wind" })));
  EXPECT_THROW((void)flow::trace(steady, { {} }), Error);

  std::string text(reinterpret_cast<const char*>(read_bytes(this->grid_path).data()),
    read_bytes(this->grid_path).size());
  text += "\n(logic_to_physic)\n0 1 0 0 1 0 0 0 0 0 1 0 0 0 0 1\n";
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  write_bytes(this->grid_path, { begin, begin + text.size() });
  expect(kRefused, named({ "wind" }), { "logic_to_physic" });
}
}
