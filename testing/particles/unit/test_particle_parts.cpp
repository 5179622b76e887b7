// SPDX-License-Identifier: BSD-3-Clause
// Particles in several places are written as if they were in one.
#include "particles/write/leaf_writer.hpp"
#include "particles/write/particle_parts.hpp"
#include "support/clouds.hpp"
#include "support/temp_dir.hpp"

#include "bat/bat.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <numeric>

namespace
{
using bat::write::ParticleParts;

std::vector<std::byte> all_values(const ParticleParts& particles, std::size_t array)
{
  std::vector<std::uint32_t> numbers(particles.count());
  std::iota(numbers.begin(), numbers.end(), 0u);
  std::vector<std::byte> values(
    bat::write::tuple_bytes(particles.array(array)) * particles.count());
  particles.gather(numbers.data(), numbers.size(), array, values.data());
  return values;
}

/// A cloud's particles in three parts: the second half in order, every third of the first half, and
/// the others of the first half.
struct Scattered
{
  explicit Scattered(const bat::ParticleView& view)
    : parts(view)
  {
    const std::uint64_t half = view.count / 2;
    this->parts.add(bat::write::slice(view, half, view.count - half), nullptr, view.count - half);
    for (const bool third : { true, false })
    {
      std::vector<std::uint32_t>& rows = this->rows.emplace_back();
      for (std::uint32_t i = 0; i != half; ++i)
      {
        if ((i % 3 == 0) == third)
        {
          rows.push_back(i);
        }
      }
      this->parts.add(view, rows.data(), rows.size());
    }
  }

  std::deque<std::vector<std::uint32_t>> rows;
  ParticleParts parts;
};

/// The same particles in the same order, in one array each.
clouds::Cloud combined(const Scattered& scattered)
{
  const ParticleParts& parts = scattered.parts;
  clouds::Cloud cloud;
  cloud.count = parts.count();
  cloud.position_type = parts.array(0).type;
  cloud.positions = all_values(parts, 0);
  for (std::size_t a = 1; a != parts.array_count(); ++a)
  {
    cloud.columns.push_back({ parts.schema().attributes[a - 1].name, parts.array(a).type,
      parts.array(a).components, all_values(parts, a) });
  }
  return cloud;
}

void write(const std::filesystem::path& path, const ParticleParts& particles,
  const bat::BuildOptions& options)
{
  bat::io::AtomicFile file(path);
  bat::write_leaf(file, particles, options);
  file.commit(options.flush);
}

std::vector<clouds::Cloud> some_clouds()
{
  std::vector<clouds::Cloud> clouds{ clouds::clustered(30000, 1), clouds::with_nan(20000, 2),
    clouds::mixed_types(9000, 3), clouds::uniform(2, 4), clouds::uniform(1, 5) };
  clouds::Random random(6);
  std::vector<double> wide(9 * 20000);
  std::generate(wide.begin(), wide.end(), [&] { return clouds::normal(random); });
  clouds.push_back(clouds::uniform(20000, 7));
  clouds.back().add("stress", bat::ScalarType::Float64, wide, 9);
  return clouds;
}
}

TEST(ParticleParts, values_come_in_the_order_of_the_parts)
{
  for (const clouds::Cloud& cloud : some_clouds())
  {
    const bat::ParticleView view = cloud.view();
    const Scattered scattered(view);
    const ParticleParts& parts = scattered.parts;
    ASSERT_EQ(parts.count(), view.count);
    std::vector<std::uint32_t> source(view.count - view.count / 2);
    std::iota(source.begin(), source.end(), static_cast<std::uint32_t>(view.count / 2));
    for (const auto& rows : scattered.rows)
    {
      source.insert(source.end(), rows.begin(), rows.end());
    }
    std::vector<std::uint32_t> numbers(view.count);
    std::iota(numbers.begin(), numbers.end(), 0u);
    std::shuffle(numbers.begin(), numbers.end(), clouds::Random(8));
    for (std::size_t a = 0; a != parts.array_count(); ++a)
    {
      const std::vector<std::byte>& bytes = a == 0 ? cloud.positions : cloud.columns[a - 1].bytes;
      const std::size_t tuple = bat::write::tuple_bytes(parts.array(a));
      const std::vector<std::byte> ordered = all_values(parts, a);
      std::vector<std::byte> shuffled(ordered.size());
      parts.gather(numbers.data(), numbers.size(), a, shuffled.data());
      const std::uint64_t first = view.count / 3;
      std::vector<std::byte> copied(ordered.size() - first * tuple);
      parts.copy(first, view.count - first, a, copied.data());
      EXPECT_TRUE(std::equal(copied.begin(), copied.end(), ordered.end() - copied.size()));
      for (std::size_t i = 0; i != view.count; ++i)
      {
        ASSERT_EQ(std::memcmp(&ordered[i * tuple], &bytes[source[i] * tuple], tuple), 0) << i;
        ASSERT_EQ(std::memcmp(&shuffled[i * tuple], &ordered[numbers[i] * tuple], tuple), 0) << i;
      }
    }
  }
}

TEST(ParticleParts, files_are_those_of_particles_in_one_place)
{
  const TempDir folder;
  bat::BuildOptions options;
  options.flush = false;
  for (const clouds::Cloud& cloud : some_clouds())
  {
    const Scattered scattered(cloud.view());
    const clouds::Cloud same = combined(scattered);
    options.sorted_indexes = { cloud.columns[0].name };
    options.treelet_particles = 1024;
    write(folder / "one.bat", ParticleParts::of_view(same.view()), options);
    write(folder / "parts.bat", scattered.parts, options);
    EXPECT_TRUE(read_bytes(folder / "parts.bat") == read_bytes(folder / "one.bat"));
    EXPECT_NO_THROW(bat::validate(bat::File::open(folder / "parts.bat")));
  }
}

TEST(ParticleParts, arrays_without_data_are_refused)
{
  const TempDir folder;
  const clouds::Cloud cloud = clouds::uniform(100, 9);
  bat::ParticleView broken = cloud.view();
  broken.attributes[1].values.component[0] = nullptr;
  ParticleParts parts(cloud.view());
  parts.add(cloud.view(), nullptr, cloud.count);
  parts.add(broken, nullptr, cloud.count);
  EXPECT_THROW(write(folder / "out.bat", parts, {}), bat::Error);
  EXPECT_FALSE(std::filesystem::exists(folder / "out.bat"));
}
