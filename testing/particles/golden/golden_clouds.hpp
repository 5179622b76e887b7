// SPDX-License-Identifier: BSD-3-Clause
// The particles of the golden files that the C++ writer makes. Uses only operations that every
// machine rounds alike, as the bytes must not depend on a mathematical library.
#pragma once

#include "bat/writer.hpp"
#include "support/clouds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace golden
{
struct Case
{
  std::string name;
  clouds::Cloud cloud;
  bat::ParticleView view; ///< views `cloud`
  bat::BuildOptions options;
};

inline double bell(clouds::Random& random)
{
  const double a = clouds::unit(random);
  const double b = clouds::unit(random);
  const double c = clouds::unit(random);
  return a + b + c - 1.5;
}

/// Half of the particles in a few dense clumps, half everywhere.
template <class T>
std::vector<T> clumps(std::uint64_t n, clouds::Random& random)
{
  std::array<double, 15> centres{};
  for (double& x : centres)
  {
    x = clouds::unit(random);
  }
  std::vector<T> p(3 * n);
  for (std::uint64_t i = 0; i != n; ++i)
  {
    const std::size_t clump = random() % 10;
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      p[3 * i + axis] = static_cast<T>(clump < 5
          ? centres[3 * clump + axis] + bell(random) / static_cast<double>(16 << 2 * clump)
          : clouds::unit(random));
    }
  }
  return p;
}

template <class T>
std::vector<T> any_bits(std::uint64_t count, clouds::Random& random)
{
  std::vector<T> values(count);
  for (T& value : values)
  {
    value = static_cast<T>(random() >> random() % (8 * sizeof(T)));
  }
  return values;
}

template <class T>
std::vector<T> bells(std::uint64_t count, clouds::Random& random)
{
  std::vector<T> values(count);
  for (T& value : values)
  {
    value = static_cast<T>(bell(random));
  }
  return values;
}

inline Case none()
{
  Case c{ "written_0", {}, {}, {} };
  c.cloud.set_positions(std::vector<float>{});
  c.cloud.add("mass", bat::ScalarType::Float64, std::vector<double>{});
  c.cloud.add("id", bat::ScalarType::UInt64, std::vector<std::uint64_t>{});
  c.cloud.add("velocity", bat::ScalarType::Float32, std::vector<float>{}, 3);
  c.view = c.cloud.view();
  c.view.metadata = R"({"writer":"make_golden"})";
  return c;
}

inline Case seven()
{
  Case c{ "written_7", {}, {}, {} };
  c.cloud.set_positions(std::vector<double>{
    0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 0.5, 0.5, 0.5, -1e300, 1e-300, -0.0 });
  std::vector<std::int64_t> id;
  for (std::int64_t i = 0; i != 7; ++i)
  {
    id.push_back((std::int64_t{ 1 } << 53) + 1 + i);
  }
  c.cloud.add("id", bat::ScalarType::Int64, id);
  c.cloud.add("Größe \"µ\" / 質量", bat::ScalarType::Float32,
    std::vector<float>{ 1.5F, -0.0F, 0.0F, std::numeric_limits<float>::infinity(),
      -std::numeric_limits<float>::infinity(), std::numeric_limits<float>::denorm_min(), 3 });
  c.view = c.cloud.view();
  c.view.attributes[0].role = 5;
  c.view.attributes[0].host_type = 16;
  c.view.time = 0.1;
  c.view.step = -7;
  c.view.metadata = R"({"title":"sieben \"7\" ✓","units":{"id":""},"writer":"make_golden"})";
  return c;
}

/// Every scalar type and every number of components, with a few non-finite positions.
inline Case mixed()
{
  constexpr std::uint64_t n = 200;
  clouds::Random random(200);
  Case c{ "written_200", {}, {}, {} };
  std::vector<float> p = clumps<float>(n, random);
  p[3 * 17] = std::numeric_limits<float>::quiet_NaN();
  p[3 * 90 + 1] = std::numeric_limits<float>::infinity();
  p[3 * 150 + 2] = -std::numeric_limits<float>::infinity();
  c.cloud.set_positions(p);
  c.cloud.add("i8", bat::ScalarType::Int8, any_bits<std::int8_t>(n, random));
  c.cloud.add("u8 x 2", bat::ScalarType::UInt8, any_bits<std::uint8_t>(2 * n, random), 2);
  c.cloud.add("i16 x 3", bat::ScalarType::Int16, any_bits<std::int16_t>(3 * n, random), 3);
  c.cloud.add("u16 x 4", bat::ScalarType::UInt16, any_bits<std::uint16_t>(4 * n, random), 4);
  c.cloud.add("i32 x 5", bat::ScalarType::Int32, any_bits<std::int32_t>(5 * n, random), 5);
  c.cloud.add("u32 x 6", bat::ScalarType::UInt32, any_bits<std::uint32_t>(6 * n, random), 6);
  c.cloud.add("i64 x 7", bat::ScalarType::Int64, any_bits<std::int64_t>(7 * n, random), 7);
  c.cloud.add("u64 x 8", bat::ScalarType::UInt64, any_bits<std::uint64_t>(8 * n, random), 8);
  c.cloud.add("f32 x 9", bat::ScalarType::Float32, bells<float>(9 * n, random), 9);
  std::vector<double> d = bells<double>(n, random);
  d[3] = std::numeric_limits<double>::quiet_NaN();
  d[4] = std::numeric_limits<double>::infinity();
  d[5] = -0.0;
  c.cloud.add("f64", bat::ScalarType::Float64, d);
  c.cloud.add("only NaN", bat::ScalarType::Float32,
    std::vector<float>(n, std::numeric_limits<float>::quiet_NaN()));
  c.view = c.cloud.view();
  c.view.metadata = R"({"writer":"make_golden"})";
  c.options.block_particles = 16;
  return c;
}

/// Many small treelets with many small blocks.
inline Case many()
{
  constexpr std::uint64_t n = 3000;
  clouds::Random random(3000);
  Case c{ "written_3000", {}, {}, {} };
  const std::vector<float> p = clumps<float>(n, random);
  c.cloud.set_positions(p);
  std::vector<double> field(n);
  std::vector<float> noise = bells<float>(n, random);
  std::vector<std::uint8_t> material(n);
  for (std::uint64_t i = 0; i != n; ++i)
  {
    const auto x = static_cast<double>(p[3 * i]);
    const auto y = static_cast<double>(p[3 * i + 1]);
    field[i] = 300 + 500 * x * (1 - y) + 0.01 * bell(random);
    material[i] = static_cast<std::uint8_t>(x > 0.7 ? 3 : 1 + (random() % 50 == 0));
    if (random() % 40 == 0)
    {
      noise[i] = std::numeric_limits<float>::quiet_NaN();
    }
  }
  c.cloud.add("field", bat::ScalarType::Float64, field);
  c.cloud.add("noise", bat::ScalarType::Float32, noise);
  c.cloud.add(
    "id", bat::ScalarType::Int64, clouds::shuffled_ids(n, random, (std::int64_t{ 1 } << 53) + 1));
  c.cloud.add("material", bat::ScalarType::UInt8, material);
  c.cloud.add("velocity", bat::ScalarType::Float32, bells<float>(3 * n, random), 3);
  c.view = c.cloud.view();
  c.view.metadata = R"({"writer":"make_golden"})";
  c.options.treelet_particles = 256;
  c.options.block_particles = 16;
  return c;
}

/// Sorted indexes of several pages, one of them with NaN and many zeros.
inline Case indexed()
{
  constexpr std::uint64_t n = 1500;
  clouds::Random random(1500);
  Case c{ "written_index", {}, {}, {} };
  c.cloud.set_positions(clumps<float>(n, random));
  std::vector<float> noise = bells<float>(n, random);
  for (std::uint64_t i = 0; i != n; ++i)
  {
    if (random() % 3 == 0)
    {
      noise[i] = random() % 2 ? -0.0F : 0.0F;
    }
    if (random() % 20 == 0)
    {
      noise[i] = std::numeric_limits<float>::quiet_NaN();
    }
  }
  c.cloud.add("noise", bat::ScalarType::Float32, noise);
  c.cloud.add(
    "id", bat::ScalarType::Int64, clouds::shuffled_ids(n, random, (std::int64_t{ 1 } << 53) + 1));
  c.cloud.add("pair", bat::ScalarType::Int8, any_bits<std::int8_t>(2 * n, random), 2);
  c.view = c.cloud.view();
  c.view.metadata = R"({"writer":"make_golden"})";
  c.options.treelet_particles = 256;
  c.options.block_particles = 16;
  c.options.sorted_indexes = { "id", "noise", "pair[1]", "pair" };
  return c;
}

/// Aliases of existing arrays, among particles that are not all finite.
inline Case aliased()
{
  Case c = indexed();
  c.name = "written_aliases";
  auto* positions = reinterpret_cast<float*>(c.cloud.positions.data());
  positions[3] = std::numeric_limits<float>::quiet_NaN();
  positions[7] = -std::numeric_limits<float>::infinity();
  c.view = c.cloud.view();
  c.view.metadata = R"({"writer":"make_golden"})";
  c.view.aliases = { { "x", "", 0, 0, 10 }, { "z", "", 2 }, { "where", "", -1, 3, 0 },
    { "number", "id", -1, 5, 16 }, { "second", "pair", 1 }, { "both", "pair", -1 } };
  c.options.sorted_indexes = { "id", "pair[1]" };
  return c;
}

/// Chunks that end inside levels; a constant column, and one that stays raw.
inline Case chunked()
{
  constexpr std::uint64_t n = 600;
  clouds::Random random(600);
  Case c{ "written_chunks", {}, {}, {} };
  const std::vector<float> p = clumps<float>(n, random);
  std::vector<double> field(n);
  std::vector<float> odd(n);
  std::vector<std::uint8_t> material(n);
  std::vector<std::uint64_t> bits(n);
  std::vector<float> velocity(3 * n);
  for (std::uint64_t i = 0; i != n; ++i)
  {
    const auto x = static_cast<double>(p[3 * i]);
    field[i] = 300 + 500 * x * (1 - x);
    const std::uint32_t nan = 0x7FC00000 + static_cast<std::uint32_t>(i % 3);
    odd[i] = i % 5 == 0 ? -0.0F : static_cast<float>(i % 7);
    if (i % 4 == 0)
    {
      std::memcpy(&odd[i], &nan, sizeof(nan));
    }
    material[i] = static_cast<std::uint8_t>(x > 0.7 ? 3 : 1 + (random() % 50 == 0));
    bits[i] = random();
    velocity[3 * i] = static_cast<float>(random() % 8) / 4;
  }
  c.cloud.set_positions(p);
  c.cloud.add("field", bat::ScalarType::Float64, field);
  c.cloud.add("odd", bat::ScalarType::Float32, odd);
  c.cloud.add("same", bat::ScalarType::Int16, std::vector<std::int16_t>(n, -7));
  c.cloud.add("bits", bat::ScalarType::UInt64, bits);
  c.cloud.add(
    "id", bat::ScalarType::Int64, clouds::shuffled_ids(n, random, (std::int64_t{ 1 } << 53) + 1));
  c.cloud.add("material", bat::ScalarType::UInt8, material);
  c.cloud.add("velocity", bat::ScalarType::Float32, velocity, 3);
  c.view = c.cloud.view();
  c.view.metadata = R"({"writer":"make_golden"})";
  c.options.treelet_particles = 256;
  c.options.block_particles = 16;
  c.options.sorted_indexes = { "id", "odd" };
  c.options.compression = bat::Compression::Lossless;
  c.options.chunk_particles = 256;
  return c;
}

/// Bounded values, alongside NaN, infinities and others that no grid represents.
inline Case bounded()
{
  constexpr std::uint64_t n = 600;
  clouds::Random random(601);
  Case c{ "written_bounded", {}, {}, {} };
  std::vector<double> p = clumps<double>(n, random);
  p[3 * 17] = std::numeric_limits<double>::quiet_NaN();
  p[3 * 90 + 1] = std::numeric_limits<double>::infinity();
  std::vector<double> heat = bells<double>(n, random);
  const double odd[] = { std::numeric_limits<double>::quiet_NaN(),
    -std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
    -std::numeric_limits<double>::infinity(), -0.0, 1e300,
    std::numeric_limits<double>::denorm_min(), 9007199254740993.0 };
  for (std::uint64_t i = 0; i < n; i += 29)
  {
    heat[i] = odd[i / 29 % 8];
  }
  std::vector<std::uint64_t> bits(n);
  std::generate(bits.begin(), bits.end(), random);
  c.cloud.set_positions(p);
  c.cloud.add("heat", bat::ScalarType::Float64, heat);
  c.cloud.add("velocity", bat::ScalarType::Float32, bells<float>(3 * n, random), 3);
  c.cloud.add("same", bat::ScalarType::Float32, std::vector<float>(n, 0.3F));
  c.cloud.add("bits", bat::ScalarType::UInt64, bits);
  c.cloud.add("exact", bat::ScalarType::Float32, bells<float>(n, random));
  c.view = c.cloud.view();
  c.view.metadata = R"({"writer":"make_golden"})";
  c.options.treelet_particles = 256;
  c.options.block_particles = 16;
  c.options.sorted_indexes = { "heat" };
  c.options.compression = bat::Compression::Bounded;
  c.options.error_bounds = { "positions=0.001", "heat=0.01", "velocity=0.1%", "same=0.25" };
  c.options.chunk_particles = 256;
  return c;
}

/// Small enough to flip every bit: constant frames, frames on a grid, and planes.
inline Case few_chunks()
{
  constexpr std::uint64_t n = 260;
  clouds::Random random(260);
  Case c{ "written_chunks_small", {}, {}, {} };
  c.cloud.set_positions(clumps<float>(n, random));
  std::vector<std::uint8_t> material(n);
  for (std::uint8_t& m : material)
  {
    m = static_cast<std::uint8_t>(random() % 20 == 0);
  }
  c.cloud.add("same", bat::ScalarType::Int32, std::vector<std::int32_t>(n, 5));
  c.cloud.add("material", bat::ScalarType::UInt8, material);
  c.view = c.cloud.view();
  c.options.compression = bat::Compression::Bounded;
  c.options.error_bounds = { "positions=5%" };
  c.options.chunk_particles = 256;
  return c;
}

/// Samples that follow ids, some of which two particles share.
inline Case stable()
{
  Case c = many();
  c.name = "written_stable";
  auto* ids = reinterpret_cast<std::int64_t*>(c.cloud.columns[2].bytes.data());
  for (std::uint64_t i = 0; i < c.cloud.count; i += 50)
  {
    ids[i] = ids[i + 1];
  }
  auto* positions = reinterpret_cast<float*>(c.cloud.positions.data());
  positions[3] = std::numeric_limits<float>::quiet_NaN();
  positions[7] = -std::numeric_limits<float>::infinity();
  c.view = c.cloud.view();
  c.view.metadata = R"({"writer":"make_golden"})";
  c.options.sorted_indexes = { "id" };
  c.options.stable_samples = { "id", "material" };
  return c;
}

/// An HDF5 view with units, with arrays that have several names, and without some that HDF5 cannot
/// show.
inline Case viewed()
{
  Case c = seven();
  c.name = "written_view";
  c.view.metadata = R"({"units":{"id":"","positions":"µm"},"writer":"make_golden"})";
  c.view.aliases = { { "x", "", 0 }, { "where", "", -1 }, { "number", "id", -1 } };
  c.options.hdf5_view = true;
  return c;
}

/// A dataset of several leaf files: the content of each.
struct DatasetCase
{
  std::string name;
  std::vector<clouds::Cloud> clouds;
  std::vector<bat::ParticleView> views; ///< view `clouds`; time, step and metadata are in the first
  bat::BuildOptions options;
};

/// Four leaf files of different sizes. The second has some non-finite positions and values, the
/// last has only those.
inline DatasetCase four_leaf_files()
{
  DatasetCase c;
  c.name = "written_dataset";
  clouds::Random random(4);
  std::int64_t id = (std::int64_t{ 1 } << 53) + 1;
  for (const std::uint64_t n : { 70, 40, 11, 3 })
  {
    const std::size_t leaf = c.clouds.size();
    std::vector<float> p = clumps<float>(n, random);
    std::vector<double> heat = bells<double>(n, random);
    std::vector<std::int64_t> ids;
    for (std::uint64_t i = 0; i != n; ++i)
    {
      p[3 * i] += static_cast<float>(leaf);
      ids.push_back(id++);
      if (leaf == 3 || (leaf == 1 && i % 10 == 0))
      {
        p[3 * i + i % 3] = std::numeric_limits<float>::quiet_NaN();
        heat[i] = std::numeric_limits<double>::quiet_NaN();
      }
    }
    clouds::Cloud cloud;
    cloud.set_positions(p);
    cloud.add("heat", bat::ScalarType::Float64, heat);
    cloud.add("id", bat::ScalarType::Int64, ids);
    cloud.add("velocity", bat::ScalarType::Float32, bells<float>(3 * n, random), 3);
    c.clouds.push_back(std::move(cloud));
  }
  for (const clouds::Cloud& cloud : c.clouds)
  {
    c.views.push_back(cloud.view());
    c.views.back().attributes[1].role = 5;
    c.views.back().attributes[1].host_type = 16;
    c.views.back().metadata = R"({"writer":"make_golden"})";
  }
  c.views[0].time = 0.25;
  c.views[0].step = 4;
  c.views[0].metadata = R"({"title":"four leaf files","writer":"make_golden"})";
  c.options.block_particles = 16;
  c.options.hdf5_view = false;
  return c;
}

inline std::vector<DatasetCase> dataset_cases()
{
  std::vector<DatasetCase> all;
  all.push_back(four_leaf_files());
  all.push_back(four_leaf_files());
  all.back().name = "written_view_dataset";
  all.back().options.hdf5_view = true;
  return all;
}

/// `view` points into the heap that `cloud` owns, so cases may be moved.
inline std::vector<Case> cases()
{
  std::vector<Case> all;
  all.push_back(viewed());
  all.push_back(none());
  all.push_back(seven());
  all.push_back(mixed());
  all.push_back(many());
  all.push_back(indexed());
  all.push_back(aliased());
  all.push_back(chunked());
  all.push_back(bounded());
  all.push_back(few_chunks());
  all.push_back(stable());
  // Files without a view are small: tests damage every bit of them.
  std::for_each(all.begin() + 1, all.end(), [](Case& c) { c.options.hdf5_view = false; });
  return all;
}
}
