// SPDX-License-Identifier: BSD-3-Clause
// Velocity fields for tests of .bricks files.
#pragma once

#include "bat/bricks/write.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace brick_cases
{
struct Case
{
  std::string name;
  bat::bricks::Header header;
  std::vector<std::byte> values;
};

inline std::size_t point_count(const bat::BrickGrid& grid)
{
  return static_cast<std::size_t>(grid.points[0]) * static_cast<std::size_t>(grid.points[1]) *
    static_cast<std::size_t>(grid.points[2]);
}

/// Waves that are NaN in one part, with values of unusual bit patterns scattered in.
template <class T>
std::vector<std::byte> waves(const bat::BrickGrid& grid, bool with_blank, bool with_odd)
{
  const auto n = static_cast<std::size_t>(grid.components);
  std::vector<T> values(point_count(grid) * n);
  std::mt19937_64 random(7);
  std::size_t at = 0;
  for (std::int64_t z = 0; z != grid.points[2]; ++z)
  {
    for (std::int64_t y = 0; y != grid.points[1]; ++y)
    {
      for (std::int64_t x = 0; x != grid.points[0]; ++x)
      {
        for (std::size_t c = 0; c != n; ++c, ++at)
        {
          const double phase = 0.3 * static_cast<double>(x) + 0.2 * static_cast<double>(y) +
            0.1 * static_cast<double>(z) + static_cast<double>(c);
          values[at] = static_cast<T>(std::sin(phase));
          if (with_blank && x >= 8 && x < 17)
          {
            values[at] = std::numeric_limits<T>::quiet_NaN();
          }
          if (with_odd && random() % 50 == 0)
          {
            const std::uint64_t bits = random();
            std::memcpy(&values[at], &bits, sizeof(T)); // infinities, NaN with payloads, denormals
          }
        }
      }
    }
  }
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

inline Case make(const std::string& name, std::array<std::int64_t, 3> points, int components,
  bat::ScalarType type, int edge, bool with_blank, bool with_odd)
{
  Case made;
  made.name = name;
  made.header.grid.points = points;
  made.header.grid.origin = { -1.5, 0, 1e10 };
  made.header.grid.spacing = { 0.1, 0.25, 3 };
  made.header.grid.components = components;
  made.header.grid.type = type;
  made.header.grid.edge = edge;
  made.header.grid.cyclic = { points[0] > 1, false, points[2] > 2 };
  made.header.field = "velocity \xC3\xA4";
  made.header.time = 0.1;
  made.header.step = -3;
  made.header.metadata = R"({"units": "m/s"})";
  made.values = type == bat::ScalarType::Float64
    ? waves<double>(made.header.grid, with_blank, with_odd)
    : waves<float>(made.header.grid, with_blank, with_odd);
  return made;
}

inline std::vector<Case> all()
{
  using bat::ScalarType;
  std::vector<Case> cases;
  cases.push_back(make("usual", { 33, 20, 17 }, 3, ScalarType::Float32, 8, true, false));
  cases.push_back(make("odd", { 24, 9, 10 }, 3, ScalarType::Float32, 8, false, true));
  cases.push_back(make("double", { 19, 8, 11 }, 3, ScalarType::Float64, 8, true, true));
  cases.push_back(make("plane", { 40, 31, 1 }, 2, ScalarType::Float32, 8, false, false));
  cases.push_back(make("line", { 1, 1, 70 }, 3, ScalarType::Float64, 5, false, false));
  cases.push_back(make("point", { 1, 1, 1 }, 2, ScalarType::Float32, 4, false, false));
  cases.push_back(make("wide", { 35, 34, 3 }, 3, ScalarType::Float32, 32, false, false));
  cases.push_back(make("long", { 90, 10, 9 }, 3, ScalarType::Float32, 4, true, false));
  Case bare = make("bare", { 8, 8, 8 }, 3, ScalarType::Float32, 8, false, false);
  bare.header.field.clear();
  bare.header.metadata.clear();
  bare.header.time.reset();
  bare.header.step.reset();
  cases.push_back(bare);
  Case rest = make("rest", { 30, 17, 9 }, 3, ScalarType::Float32, 8, false, false);
  for (std::size_t i = 0; i != point_count(rest.header.grid); ++i)
  {
    if (i % 30 >= 8 && i % 30 < 24)
    {
      std::memset(rest.values.data() + 12 * i, 0, 12);
    }
  }
  cases.push_back(rest);
  Case blank = make("blank", { 10, 10, 10 }, 3, ScalarType::Float32, 8, false, false);
  for (std::size_t i = 0; i != blank.values.size() / 4; ++i)
  {
    const std::uint32_t nan = 0x7FC00000u;
    std::memcpy(blank.values.data() + 4 * i, &nan, 4);
  }
  cases.push_back(blank);
  return cases;
}
}
