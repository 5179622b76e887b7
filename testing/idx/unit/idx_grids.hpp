// SPDX-License-Identifier: BSD-3-Clause
// Synthetic grids, and their expected samples for a level in a box.
#pragma once

#include "bat/idx/dataset.hpp"
#include "bat/idx/write.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

/// Every byte of every sample is random, except the last one of a float, so that values are finite.
struct MadeGrid
{
  bat::idx::Grid grid;
  std::vector<std::vector<std::byte>> values;

  MadeGrid(const std::array<std::int64_t, 3>& dimensions, unsigned seed = 1)
  {
    this->grid.dimensions = dimensions;
    this->random.seed(seed);
  }
  MadeGrid(const MadeGrid&) = delete;
  MadeGrid& operator=(const MadeGrid&) = delete;

  /// `smooth`: only a few distinct values, so that blocks are compressible.
  void add(const std::string& name, bat::ScalarType type, int components = 1, bool smooth = false)
  {
    const std::size_t one = bat::size_of(type);
    std::vector<std::byte> bytes(this->samples() * one * static_cast<std::size_t>(components));
    for (std::size_t i = 0; i != bytes.size(); ++i)
    {
      const bool top = type >= bat::ScalarType::Float32 && i % one == one - 1;
      bytes[i] = static_cast<std::byte>(top ? 0x3f : smooth ? i / 1000 % 7 : this->random() % 251);
    }
    this->values.push_back(std::move(bytes));
    this->grid.fields.push_back({ name, type, components, nullptr });
    for (std::size_t i = 0; i != this->values.size(); ++i)
    {
      this->grid.fields[i].values = this->values[i].data();
    }
  }

  [[nodiscard]] std::size_t samples() const
  {
    return static_cast<std::size_t>(
      this->grid.dimensions[0] * this->grid.dimensions[1] * this->grid.dimensions[2]);
  }

  /// The expected result of a read.
  [[nodiscard]] std::vector<std::byte> part(std::size_t field,
    const std::array<std::int64_t, 3>& distance, const bat::idx::LogicalBox& box) const
  {
    const auto& about = this->grid.fields[field];
    const std::size_t sample = bat::tuple_bytes(about.type, about.components);
    std::vector<std::byte> out;
    const auto inside = [&](std::size_t axis, std::int64_t p)
    { return p % distance[axis] == 0 && p >= box.lower[axis] && p <= box.upper[axis]; };
    const auto& first = this->grid.first;
    const auto& n = this->grid.dimensions;
    for (std::int64_t z = 0; z != n[2]; ++z)
    {
      for (std::int64_t y = 0; y != n[1]; ++y)
      {
        for (std::int64_t x = 0; x != n[0]; ++x)
        {
          if (inside(0, x + first[0]) && inside(1, y + first[1]) && inside(2, z + first[2]))
          {
            const auto at = static_cast<std::ptrdiff_t>(
              static_cast<std::size_t>((z * n[1] + y) * n[0] + x) * sample);
            out.insert(out.end(), this->values[field].begin() + at,
              this->values[field].begin() + at + static_cast<std::ptrdiff_t>(sample));
          }
        }
      }
    }
    return out;
  }

  std::mt19937 random;
};

inline std::vector<std::byte> read_all(const bat::idx::Dataset& dataset,
  const bat::idx::Query& query, const bat::idx::ReadOptions& options = {})
{
  std::vector<std::byte> values(dataset.lattice(query.level, query.box).samples() *
      dataset.fields()[query.field].sample_bytes(),
    std::byte{ 0xa5 });
  (void)dataset.read(query, values.data(), values.size(), options);
  return values;
}
