// SPDX-License-Identifier: BSD-3-Clause
// Compares a file written by a host program with the program's particles, one by one.
//
// Usage: check_host FILE RANKS STEP PARTICLES
#include "bat/bat.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <tuple>
#include <vector>

namespace
{
using Particle = std::tuple<std::int64_t, double, double, double, float>;

// The formulas of host.c, host.f90 and host.py, in order of the ids.
std::vector<Particle> expected_particles(int ranks, int step, std::int64_t of_each)
{
  std::vector<Particle> particles;
  for (int rank = 0; rank != ranks; ++rank)
  {
    const std::int64_t n = rank == 1 ? 0 : of_each + 10 * rank;
    for (std::int64_t i = 0; i != n; ++i)
    {
      particles.emplace_back(1000000000LL * (rank + 1) + i,
        rank + 0.001 * static_cast<double>(i % 1009), 0.5 * static_cast<double>(i),
        static_cast<double>(step), 1.0F / static_cast<float>(i + 1));
    }
  }
  return particles;
}

// In the order of their ids.
std::vector<Particle> particles_in(const bat::Dataset& dataset)
{
  const bat::DatasetSelection all = dataset.select({});
  std::vector<double> positions(3 * all.count);
  std::vector<std::int64_t> ids(all.count);
  std::vector<float> masses(all.count);
  dataset.read_positions(all, positions.data());
  dataset.read_attribute(dataset.attribute_index("id"), all, ids.data());
  dataset.read_attribute(dataset.attribute_index("mass"), all, masses.data());
  std::vector<Particle> particles;
  for (std::size_t i = 0; i != ids.size(); ++i)
  {
    particles.emplace_back(
      ids[i], positions[3 * i], positions[3 * i + 1], positions[3 * i + 2], masses[i]);
  }
  std::sort(particles.begin(), particles.end());
  return particles;
}

bool has_types(const bat::Dataset& dataset)
{
  const auto& attributes = dataset.attributes();
  return dataset.position_type() == bat::ScalarType::Float64 && attributes.size() == 2 &&
    attributes[0].name == "id" && attributes[0].type == bat::ScalarType::Int64 &&
    attributes[1].name == "mass" && attributes[1].type == bat::ScalarType::Float32;
}

bool is_right(const std::string& file, int ranks, int step, std::int64_t of_each)
{
  const bat::Dataset dataset = bat::Dataset::open(file);
  return has_types(dataset) && dataset.step() == step && dataset.time() == 0.25 * step &&
    particles_in(dataset) == expected_particles(ranks, step, of_each);
}
}

int main(int argc, char** argv)
{
  if (argc != 5)
  {
    std::fprintf(stderr, "usage: check_host FILE RANKS STEP PARTICLES\n");
    return 2;
  }
  try
  {
    if (is_right(argv[1], std::atoi(argv[2]), std::atoi(argv[3]), std::atoll(argv[4])))
    {
      return 0;
    }
    std::fprintf(stderr, "%s differs from what the program had\n", argv[1]);
  }
  catch (const std::exception& e)
  {
    std::fprintf(stderr, "%s\n", e.what());
  }
  return 1;
}
