// SPDX-License-Identifier: BSD-3-Clause
// Particles for tests: seeded generators that own their arrays.
#pragma once

#include "bat/particles.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace clouds
{
/// Owns what a bat::ParticleView borrows.
struct Cloud
{
  struct Column
  {
    std::string name;
    bat::ScalarType type;
    int components;
    std::vector<std::byte> bytes;
  };

  std::uint64_t count = 0;
  bat::ScalarType position_type = bat::ScalarType::Float32;
  std::vector<std::byte> positions;
  std::vector<Column> columns;

  [[nodiscard]] bat::ParticleView view() const
  {
    bat::ParticleView view;
    view.count = this->count;
    view.positions = bat::ArrayView::packed(this->position_type, 3, this->positions.data());
    for (const Column& c : this->columns)
    {
      view.attributes.push_back(
        { c.name, bat::ArrayView::packed(c.type, c.components, c.bytes.data()) });
    }
    return view;
  }

  template <class T>
  void set_positions(const std::vector<T>& values)
  {
    this->position_type = sizeof(T) == 4 ? bat::ScalarType::Float32 : bat::ScalarType::Float64;
    this->count = values.size() / 3;
    this->positions = bytes_of(values);
  }

  template <class T>
  void add(std::string name, bat::ScalarType type, const std::vector<T>& values, int components = 1)
  {
    this->columns.push_back({ std::move(name), type, components, bytes_of(values) });
  }

  template <class T>
  static std::vector<std::byte> bytes_of(const std::vector<T>& values)
  {
    const auto* data = reinterpret_cast<const std::byte*>(values.data());
    return { data, data + values.size() * sizeof(T) };
  }
};

using Random = std::mt19937_64;

inline double unit(Random& random)
{
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

inline double normal(Random& random)
{
  const double u = 1.0 - unit(random);
  return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * unit(random));
}

/// Positions of n particles spread evenly over the unit cube.
template <class T>
std::vector<T> uniform_positions(std::uint64_t n, Random& random)
{
  std::vector<T> p(3 * n);
  for (T& x : p)
  {
    x = static_cast<T>(unit(random));
  }
  return p;
}

/// Gaussian clusters whose sizes and populations span orders of magnitude, over a thin background.
template <class T>
std::vector<T> clustered_positions(std::uint64_t n, Random& random, int clusters = 40)
{
  struct Cluster
  {
    double centre[3];
    double width;
    double weight;
  };
  std::vector<Cluster> all(static_cast<std::size_t>(clusters));
  double total = 0;
  for (Cluster& c : all)
  {
    for (double& x : c.centre)
    {
      x = unit(random);
    }
    c.width = std::pow(10.0, -1.0 - 2.5 * unit(random));
    total += std::pow(unit(random), -0.7);
    c.weight = total;
  }
  std::vector<T> p(3 * n);
  for (std::uint64_t i = 0; i != n; ++i)
  {
    if (unit(random) < 0.05)
    {
      for (int axis = 0; axis != 3; ++axis)
      {
        p[3 * i + static_cast<std::size_t>(axis)] = static_cast<T>(unit(random));
      }
      continue;
    }
    const double pick = unit(random) * total;
    std::size_t k = 0;
    while (k + 1 != all.size() && all[k].weight < pick)
    {
      ++k;
    }
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      p[3 * i + axis] = static_cast<T>(all[k].centre[axis] + all[k].width * normal(random));
    }
  }
  return p;
}

/// A permutation of base, base + 1, ... base + n - 1.
inline std::vector<std::int64_t> shuffled_ids(std::uint64_t n, Random& random, std::int64_t base)
{
  std::vector<std::int64_t> ids(n);
  for (std::uint64_t i = 0; i != n; ++i)
  {
    ids[i] = base + static_cast<std::int64_t>(i);
  }
  for (std::uint64_t i = n; i > 1; --i)
  {
    std::swap(ids[i - 1], ids[random() % i]);
  }
  return ids;
}

/// Attributes typical of simulations: a spatially smooth field, a heavy-tailed one, noise, ids
/// beyond 2^53, a material, and a velocity.
template <class T>
void add_usual_attributes(Cloud& cloud, const std::vector<T>& p, Random& random)
{
  const std::uint64_t n = cloud.count;
  std::vector<double> temperature(n);
  std::vector<float> density(n);
  std::vector<double> noise(n);
  std::vector<std::uint8_t> material(n);
  std::vector<double> velocity(3 * n);
  for (std::uint64_t i = 0; i != n; ++i)
  {
    const auto x = static_cast<double>(p[3 * i]);
    const auto y = static_cast<double>(p[3 * i + 1]);
    const auto z = static_cast<double>(p[3 * i + 2]);
    temperature[i] = 300 + 500 * x + 100 * std::sin(5 * y) + 20 * z;
    const double r2 = (x - 0.5) * (x - 0.5) + (y - 0.4) * (y - 0.4) + (z - 0.6) * (z - 0.6);
    density[i] = static_cast<float>(1 / (1e-6 + r2 * r2));
    noise[i] = normal(random);
    material[i] = static_cast<std::uint8_t>(x > 0.7 ? 3 : 1 + (random() % 50 == 0));
    velocity[3 * i] = y - 0.5 + 0.01 * normal(random);
    velocity[3 * i + 1] = 0.5 - x + 0.01 * normal(random);
    velocity[3 * i + 2] = 0.01 * normal(random);
  }
  cloud.add("temperature", bat::ScalarType::Float64, temperature);
  cloud.add("density", bat::ScalarType::Float32, density);
  cloud.add("noise", bat::ScalarType::Float64, noise);
  cloud.add("id", bat::ScalarType::Int64, shuffled_ids(n, random, (std::int64_t{ 1 } << 53) + 1));
  cloud.add("material", bat::ScalarType::UInt8, material);
  cloud.add("velocity", bat::ScalarType::Float64, velocity, 3);
}

inline Cloud uniform(std::uint64_t n, std::uint64_t seed)
{
  Random random(seed);
  Cloud cloud;
  const auto p = uniform_positions<float>(n, random);
  cloud.set_positions(p);
  add_usual_attributes(cloud, p, random);
  return cloud;
}

inline Cloud clustered(std::uint64_t n, std::uint64_t seed)
{
  Random random(seed);
  Cloud cloud;
  const auto p = clustered_positions<double>(n, random);
  cloud.set_positions(p);
  add_usual_attributes(cloud, p, random);
  return cloud;
}

/// Most particles share their position with many others.
inline Cloud duplicates(std::uint64_t n, std::uint64_t seed)
{
  Random random(seed);
  const auto places = clustered_positions<float>(n / 1000 + 1, random);
  std::vector<float> p(3 * n);
  for (std::uint64_t i = 0; i != n; ++i)
  {
    // A third of all particles are at the first position.
    const std::uint64_t k = random() % 3 == 0 ? 0 : random() % (places.size() / 3);
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      p[3 * i + axis] = places[3 * k + axis];
    }
  }
  Cloud cloud;
  cloud.set_positions(p);
  add_usual_attributes(cloud, p, random);
  return cloud;
}

/// NaN and infinities among positions and values.
inline Cloud with_nan(std::uint64_t n, std::uint64_t seed)
{
  Random random(seed);
  Cloud cloud;
  auto p = uniform_positions<double>(n, random);
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const double odd[] = { nan, inf, -inf };
  std::vector<double> value(n);
  std::vector<float> all_nan(n, std::numeric_limits<float>::quiet_NaN());
  std::vector<float> pair(2 * n);
  for (std::uint64_t i = 0; i != n; ++i)
  {
    value[i] = p[3 * i] * 10;
    if (random() % 20 == 0)
    {
      p[3 * i + random() % 3] = odd[random() % 3];
    }
    if (random() % 10 == 0)
    {
      value[i] = odd[random() % 3];
    }
    pair[2 * i] = static_cast<float>(normal(random));
    pair[2 * i + 1] = random() % 7 == 0 ? static_cast<float>(odd[random() % 3])
                                        : static_cast<float>(normal(random));
  }
  cloud.set_positions(p);
  cloud.add("value", bat::ScalarType::Float64, value);
  cloud.add("all nan", bat::ScalarType::Float32, all_nan);
  cloud.add("pair", bat::ScalarType::Float32, pair, 2);
  return cloud;
}

/// Every scalar type, with 1 to 9 components, values over the whole range of the type.
inline Cloud mixed_types(std::uint64_t n, std::uint64_t seed)
{
  Random random(seed);
  Cloud cloud;
  const auto p = clustered_positions<float>(n, random, 8);
  cloud.set_positions(p);
  const auto add = [&](auto value, bat::ScalarType type, int components)
  {
    using T = decltype(value);
    std::vector<T> values(n * static_cast<std::uint64_t>(components));
    for (std::size_t i = 0; i != values.size(); ++i)
    {
      // A third is spatially smooth, a third is small, a third is any bits of the type.
      const std::uint64_t bits = random();
      const double x = static_cast<double>(p[3 * (i / static_cast<std::size_t>(components))]);
      if (bits % 3 == 0)
      {
        values[i] = static_cast<T>(std::clamp(x * 100, 0.0, 100.0));
      }
      else if (bits % 3 == 1 || std::is_floating_point_v<T>)
      {
        values[i] = static_cast<T>(bits >> 59);
      }
      else
      {
        values[i] = static_cast<T>(bits >> 3);
      }
    }
    cloud.add(std::string(bat::name_of(type)) + " x" + std::to_string(components), type, values,
      components);
  };
  add(std::int8_t{}, bat::ScalarType::Int8, 1);
  add(std::uint8_t{}, bat::ScalarType::UInt8, 2);
  add(std::int16_t{}, bat::ScalarType::Int16, 3);
  add(std::uint16_t{}, bat::ScalarType::UInt16, 4);
  add(std::int32_t{}, bat::ScalarType::Int32, 5);
  add(std::uint32_t{}, bat::ScalarType::UInt32, 6);
  add(std::int64_t{}, bat::ScalarType::Int64, 1);
  add(std::uint64_t{}, bat::ScalarType::UInt64, 1);
  add(float{}, bat::ScalarType::Float32, 7);
  add(double{}, bat::ScalarType::Float64, 9);
  return cloud;
}
}
