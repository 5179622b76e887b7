// SPDX-License-Identifier: BSD-3-Clause
// Traces particles in files of a custom format: own_source FOLDER.
//
// The files contain bare numbers, one file per time: three float32 per point, x fastest. Only the
// class RawFiles knows the format. The program writes files of a rotating flow, follows four
// particles through them, and prints their final positions.
#include "bat/brick_source.hpp"
#include "bat/error.hpp"
#include "bat/flow/trace.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace
{
/// Reads rows of bricks. It opens the file for each brick, so that concurrent threads share no
/// state.
class RawFiles : public bat::BrickSource
{
public:
  RawFiles(
    std::vector<std::filesystem::path> files, std::vector<double> times, const bat::BrickGrid& grid)
    : files_(std::move(files))
    , times_(std::move(times))
    , grid_(grid)
  {
  }

  const bat::BrickGrid& grid() const noexcept override { return this->grid_; }
  const std::vector<double>& times() const noexcept override { return this->times_; }
  std::string level_name(std::size_t level) const override { return this->files_[level].string(); }

  std::uint64_t read(std::size_t level, std::uint64_t brick, bat::BrickMemory to) const override
  {
    std::ifstream file(this->files_[level], std::ios::binary);
    const std::array<std::int64_t, 3> place = this->grid_.brick_place(brick);
    const auto row =
      static_cast<std::size_t>(this->grid_.brick_points(0, place[0])) * this->grid_.point_bytes();
    std::uint64_t bytes = 0;
    for (int z = 0; z != this->grid_.brick_points(2, place[2]); ++z)
    {
      for (int y = 0; y != this->grid_.brick_points(1, place[1]); ++y, bytes += row)
      {
        const std::int64_t point = place[0] * this->grid_.edge +
          this->grid_.points[0] *
            (place[1] * this->grid_.edge + y +
              this->grid_.points[1] * (place[2] * this->grid_.edge + z));
        file.seekg(point * static_cast<std::int64_t>(this->grid_.point_bytes()));
        file.read(reinterpret_cast<char*>(to.first) + static_cast<std::size_t>(z) * to.plane_bytes +
            static_cast<std::size_t>(y) * to.row_bytes,
          static_cast<std::streamsize>(row));
      }
    }
    if (!file)
    {
      throw bat::Error(bat::ErrorCode::Truncated,
        this->level_name(level) + ": brick " + std::to_string(brick) + " cannot be read");
    }
    return bytes;
  }

private:
  std::vector<std::filesystem::path> files_;
  std::vector<double> times_;
  bat::BrickGrid grid_;
};

void write_wheel(const std::filesystem::path& path, const bat::BrickGrid& grid)
{
  std::vector<float> values;
  for (std::int64_t z = 0; z != grid.points[2]; ++z)
  {
    for (std::int64_t y = 0; y != grid.points[1]; ++y)
    {
      for (std::int64_t x = 0; x != grid.points[0]; ++x)
      {
        values.push_back(
          -static_cast<float>(grid.origin[1] + static_cast<double>(y) * grid.spacing[1]));
        values.push_back(
          static_cast<float>(grid.origin[0] + static_cast<double>(x) * grid.spacing[0]));
        values.push_back(0);
      }
    }
  }
  std::ofstream(path, std::ios::binary)
    .write(reinterpret_cast<const char*>(values.data()),
      static_cast<std::streamsize>(values.size() * sizeof(float)));
}

int run(const std::filesystem::path& folder)
{
  bat::BrickGrid grid;
  grid.points = { 65, 65, 9 };
  grid.origin = { -2, -2, 0 };
  grid.spacing = { 1.0 / 16, 1.0 / 16, 0.25 };
  std::vector<std::filesystem::path> files;
  std::vector<double> times;
  std::filesystem::create_directories(folder);
  for (int level = 0; level != 5; ++level)
  {
    files.push_back(folder / ("wheel_" + std::to_string(level) + ".raw"));
    times.push_back(0.5 * level);
    write_wheel(files.back(), grid);
  }

  const bat::flow::Cache cache(std::make_shared<RawFiles>(files, times, grid));
  std::vector<bat::flow::Seed> seeds;
  for (const double radius : { 0.25, 0.5, 1.0, 1.5 })
  {
    seeds.push_back({ { radius, 0, 1 }, times.front() });
  }
  const bat::flow::PathLines lines = bat::flow::trace(cache, seeds);

  double largest = 0;
  for (std::size_t i = 0; i != seeds.size(); ++i)
  {
    const std::array<double, 3>& end = lines.lines[i].end;
    const double radius = seeds[i].position[0];
    largest = std::max(
      largest, std::hypot(end[0] - radius * std::cos(2.0), end[1] - radius * std::sin(2.0)));
    std::printf("from %g 0 1 to %.6f %.6f %.6f\n", radius, end[0], end[1], end[2]);
  }
  std::printf("%llu of %llu bricks were needed; maximum error of an end is %.1e\n",
    static_cast<unsigned long long>(lines.statistics.touched),
    static_cast<unsigned long long>(lines.statistics.bricks), largest);
  return largest < 1e-5 ? 0 : 1;
}
}

int main(int argc, char** argv)
{
  if (argc != 2)
  {
    std::fprintf(stderr, "usage: own_source FOLDER\n");
    return 2;
  }
  try
  {
    return run(argv[1]);
  }
  catch (const std::exception& error)
  {
    std::fprintf(stderr, "own_source: %s\n", error.what());
    return 1;
  }
}
