// SPDX-License-Identifier: BSD-3-Clause
// A second reader of the paper library's leaf files, for tests: plain recursion, no checks,
// everything at once. Returns the particles in the order of file positions.
#pragma once

#include "support/brute_force.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace oracle
{
struct Leaf
{
  brute_force::Table table;
  std::vector<std::uint64_t> ranks; ///< by file position
};

class Reader
{
public:
  explicit Reader(const std::vector<std::byte>& bytes)
    : bytes_(bytes)
  {
    const auto length = this->load<std::uint64_t>(0);
    const char* text = reinterpret_cast<const char*>(bytes.data()) + 8;
    this->json_ = nlohmann::json::parse(text, text + length);
    this->tree_ = (8 + length + 4095) / 4096 * 4096;
    for (const auto& item : this->json_.value("attributes", nlohmann::json::array()))
    {
      bat::Attribute attribute;
      attribute.name = item["name"];
      attribute.type = static_cast<bat::ScalarType>(item["dtype"].get<int>());
      this->leaf_.table.columns.push_back({ attribute, {} });
    }
  }

  Leaf read()
  {
    const std::uint64_t treelets = this->json_["num_treelets"];
    if (treelets == 1)
    {
      this->read_treelet(0, 0);
    }
    else
    {
      this->read_shallow(0, 0);
    }
    std::stable_sort(this->found_.begin(), this->found_.end(),
      [](const Particle& a, const Particle& b) { return a.depth < b.depth; });
    brute_force::Table& table = this->leaf_.table;
    table.count = this->found_.size();
    for (const Particle& particle : this->found_)
    {
      this->leaf_.ranks.push_back(particle.rank);
      this->append(table.positions, particle.position, 12);
      for (std::size_t k = 0; k != table.columns.size(); ++k)
      {
        this->append(table.columns[k].bytes, particle.values[k],
          bat::size_of(table.columns[k].attribute.type));
      }
    }
    return this->leaf_;
  }

private:
  struct Particle
  {
    int depth;
    std::uint64_t rank;
    std::uint64_t position; ///< offset in the file
    std::vector<std::uint64_t> values;
  };

  template <class T>
  T load(std::uint64_t offset) const
  {
    T value;
    std::memcpy(&value, this->bytes_.data() + offset, sizeof(T));
    return value;
  }

  void append(std::vector<std::byte>& to, std::uint64_t offset, std::size_t count) const
  {
    const auto begin = this->bytes_.begin() + static_cast<std::ptrdiff_t>(offset);
    to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
  }

  void read_shallow(std::uint64_t node, int depth)
  {
    const auto info = this->load<std::uint64_t>(this->tree_ + 16 * node);
    for (const std::uint64_t side : { 0, 1 })
    {
      const std::uint64_t child = (info >> 2) + side;
      if ((info >> side & 1) != 0)
      {
        this->read_treelet(child, depth + 1);
      }
      else
      {
        this->read_shallow(child, depth + 1);
      }
    }
  }

  void read_treelet(std::uint64_t treelet, int depth)
  {
    const std::uint64_t nodes = this->json_["num_nodes"];
    const std::uint64_t begin =
      this->tree_ + this->load<std::uint64_t>(this->tree_ + 16 * nodes + 8 * treelet);
    const std::size_t attributes = this->leaf_.table.columns.size();
    this->nodes_ = begin + 8;
    const auto n = this->load<std::uint32_t>(begin);
    this->points_ = this->load<std::uint32_t>(begin + 4);
    this->positions_ =
      this->nodes_ + n * (12 + (this->json_.contains("has_ranges") ? 10 : 2) * attributes);
    this->read_node(0, depth);
    this->rank_ += this->points_;
  }

  void read_node(std::uint32_t node, int depth)
  {
    const auto a = this->load<std::uint32_t>(this->nodes_ + 12 * node);
    const auto b = this->load<std::uint32_t>(this->nodes_ + 12 * node + 4);
    const auto lod = this->load<std::uint32_t>(this->nodes_ + 12 * node + 8);
    if ((b & 3) == 3)
    {
      this->add(a, b >> 2, depth);
      return;
    }
    const std::uint32_t lod_particles = this->json_["num_lod_prims"];
    this->add(lod, lod_particles, depth);
    this->read_node(node + 1, depth + 1);
    this->read_node(b >> 2, depth + 1);
  }

  void add(std::uint32_t first, std::uint32_t count, int depth)
  {
    for (std::uint64_t i = first; i != std::uint64_t{ first } + count; ++i)
    {
      Particle particle{ depth, this->rank_ + i, this->positions_ + 12 * i, {} };
      std::uint64_t column = this->positions_ + std::uint64_t{ 12 } * this->points_;
      for (const auto& c : this->leaf_.table.columns)
      {
        const std::size_t size = bat::size_of(c.attribute.type);
        particle.values.push_back(column + i * size);
        column += this->points_ * size;
      }
      this->found_.push_back(std::move(particle));
    }
  }

  const std::vector<std::byte>& bytes_;
  nlohmann::json json_;
  std::uint64_t tree_ = 0;
  std::uint64_t nodes_ = 0; ///< offset of the current treelet's nodes
  std::uint64_t positions_ = 0;
  std::uint32_t points_ = 0;
  std::uint64_t rank_ = 0; ///< rank of the current treelet's first particle
  std::vector<Particle> found_;
  Leaf leaf_;
};

inline Leaf read(const std::vector<std::byte>& bytes)
{
  return Reader(bytes).read();
}

/// The result of brute_force::select, divided among ranks.
inline std::vector<std::uint64_t> select(
  const Leaf& leaf, const bat::Query& query, std::uint64_t begin_rank, std::uint64_t end_rank)
{
  std::vector<std::uint64_t> found = brute_force::select(leaf.table, query);
  found.erase(std::remove_if(found.begin(), found.end(),
                [&](std::uint64_t position)
                {
                  const std::uint64_t rank = leaf.ranks[position];
                  return rank < begin_rank || rank >= end_rank;
                }),
    found.end());
  return found;
}
}
