// SPDX-License-Identifier: BSD-3-Clause
#include "bench_data.hpp"

#include "npz.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace bench
{
namespace
{
// A smooth spatial field, a heavy-tailed spatial field, noise, shuffled ids, and three velocity
// components.
void add_attributes(clouds::Cloud& cloud, clouds::Random& random)
{
  const std::uint64_t n = cloud.count;
  std::vector<double> temperature(n);
  std::vector<double> density(n);
  std::vector<double> noise(n);
  std::vector<double> velocity[3];
  for (auto& v : velocity)
  {
    v.resize(n);
  }
  const auto* p = reinterpret_cast<const float*>(cloud.positions.data());
  for (std::uint64_t i = 0; i != n; ++i)
  {
    const double x = p[3 * i];
    const double y = p[3 * i + 1];
    const double z = p[3 * i + 2];
    temperature[i] = 300 + 400 * x + 120 * std::sin(4 * y) + 60 * z * z;
    const double r2 = (x - 0.4) * (x - 0.4) + (y - 0.55) * (y - 0.55) + (z - 0.5) * (z - 0.5);
    density[i] = 1 / (1e-9 + r2 * r2 * r2);
    noise[i] = clouds::normal(random);
    velocity[0][i] = y - 0.5 + 0.05 * clouds::normal(random);
    velocity[1][i] = 0.5 - x + 0.05 * clouds::normal(random);
    velocity[2][i] = 0.05 * clouds::normal(random);
  }
  using bat::ScalarType;
  cloud.add("temperature", ScalarType::Float64, temperature);
  cloud.add("density", ScalarType::Float64, density);
  cloud.add("noise", ScalarType::Float64, noise);
  cloud.add("id", ScalarType::Int64, clouds::shuffled_ids(n, random, std::int64_t{ 1 } << 53));
  cloud.add("vx", ScalarType::Float64, velocity[0]);
  cloud.add("vy", ScalarType::Float64, velocity[1]);
  cloud.add("vz", ScalarType::Float64, velocity[2]);
}

clouds::Cloud from_npz(const std::string& path)
{
  clouds::Cloud cloud;
  std::vector<NpzArray> arrays = read_npz(path);
  for (NpzArray& array : arrays)
  {
    if (array.name == "pos" && array.shape.size() == 2 && array.shape[1] == 3)
    {
      cloud.count = array.shape[0];
      cloud.position_type = array.type;
      cloud.positions = std::move(array.bytes);
    }
  }
  if (cloud.positions.empty())
  {
    throw std::runtime_error(path + ": has no array 'pos' of shape (n, 3)");
  }
  for (NpzArray& array : arrays)
  {
    if (array.name != "pos" && !array.shape.empty() && array.shape[0] == cloud.count)
    {
      const int components = array.shape.size() == 1 ? 1 : static_cast<int>(array.shape[1]);
      cloud.columns.push_back({ array.name, array.type, components, std::move(array.bytes) });
    }
  }
  return cloud;
}
}

clouds::Cloud make_data(const std::string& kind, std::uint64_t particles, std::uint64_t seed)
{
  if (kind.rfind("npz:", 0) == 0)
  {
    return from_npz(kind.substr(4));
  }
  clouds::Random random(seed);
  clouds::Cloud cloud;
  if (kind == "uniform")
  {
    cloud.set_positions(clouds::uniform_positions<float>(particles, random));
  }
  else if (kind == "clustered")
  {
    cloud.set_positions(clouds::clustered_positions<float>(particles, random, 200));
  }
  else if (kind == "duplicates")
  {
    // About a thousand particles share each position; a tenth of all share one.
    const auto places = clouds::clustered_positions<float>(particles / 1000 + 1, random, 200);
    std::vector<float> p(3 * particles);
    for (std::uint64_t i = 0; i != particles; ++i)
    {
      const std::uint64_t k = random() % 10 == 0 ? 0 : random() % (places.size() / 3);
      std::copy_n(places.begin() + static_cast<std::ptrdiff_t>(3 * k), 3,
        p.begin() + static_cast<std::ptrdiff_t>(3 * i));
    }
    cloud.set_positions(p);
  }
  else
  {
    throw std::runtime_error(
      fmt::format("--kind {}: allowed are uniform, clustered, duplicates, npz:FILE", kind));
  }
  add_attributes(cloud, random);
  return cloud;
}

void write_npy_folder(const std::filesystem::path& folder, const clouds::Cloud& cloud)
{
  std::filesystem::create_directories(folder);
  write_npy(folder / "pos.npy", cloud.position_type, { cloud.count, 3 }, cloud.positions);
  for (const clouds::Cloud::Column& column : cloud.columns)
  {
    std::vector<std::uint64_t> shape{ cloud.count };
    if (column.components > 1)
    {
      shape.push_back(static_cast<std::uint64_t>(column.components));
    }
    write_npy(folder / (column.name + ".npy"), column.type, shape, column.bytes);
  }
}
}
