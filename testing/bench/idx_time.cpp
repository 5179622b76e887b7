// SPDX-License-Identifier: BSD-3-Clause
// Processor time of reads and writes of an .idx dataset (idx_bench.py).
// usage: idx_time values FILE N              what a cube of N^3 float32 has, as bare numbers
//        idx_time write FILE.idx N raw|zip|lz4 row_major|hz THREADS     that cube: "write:ms"
//        idx_time read FILE.idx THREADS REPEATS      every read: "NAME:ms:BYTES_READ:CRC32:WALL_ms"
//        idx_time open FILE.idx     "open:WALL_ms:BYTES_OF_ALL_SAMPLES"

#include "bat/error.hpp"
#include "bat/idx/dataset.hpp"
#include "bat/idx/write.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <time.h>
#include <vector>
#include <zlib.h>

namespace
{
double ms_of(clockid_t clock)
{
  timespec now{};
  clock_gettime(clock, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

double processor_ms()
{
  return ms_of(CLOCK_PROCESS_CPUTIME_ID);
}

double wall_ms()
{
  return ms_of(CLOCK_MONOTONIC);
}

void open(const std::string& path)
{
  const double begin = wall_ms();
  const bat::idx::Dataset dataset = bat::idx::Dataset::open(path);
  const double end = wall_ms();
  const std::uint64_t bytes =
    dataset.lattice(dataset.levels()).samples() * dataset.fields()[0].sample_bytes();
  std::printf("open:%.3f:%llu\n", end - begin, static_cast<unsigned long long>(bytes));
}

void read(const std::string& path, int threads, int repeats)
{
  const bat::idx::Dataset dataset = bat::idx::Dataset::open(path);
  const int maximum = dataset.levels();
  const bat::idx::LogicalBox whole = dataset.box();
  const std::int64_t n = whole.upper[0] + 1;
  const auto planes = [&](std::size_t axis)
  {
    bat::idx::LogicalBox box = whole;
    box.lower[axis] = box.upper[axis] = n / 2 + 1;
    return box;
  };
  const std::int64_t q = n / 4;
  const struct
  {
    const char* name;
    int level;
    bat::idx::LogicalBox box;
  } reads[] = { { "full", maximum, whole }, { "level M-3", maximum - 3, whole },
    { "level M-6", maximum - 6, whole }, { "level M-9", maximum - 9, whole },
    { "box", maximum, { { q + 3, q + 5, q + 7 }, { 2 * q + 2, 2 * q + 4, 2 * q + 6 } } },
    { "slice z", maximum, planes(2) }, { "slice x", maximum, planes(0) } };
  for (const auto& one : reads)
  {
    std::vector<double> times;
    std::vector<double> walls;
    std::vector<std::byte> values(dataset.lattice(one.level, one.box).samples() * 4);
    bat::idx::ReadOptions options;
    options.threads = threads;
    std::uint64_t bytes = 0;
    for (int i = 0; i != repeats; ++i)
    {
      const double begin = processor_ms();
      const double wall = wall_ms();
      bytes = dataset.read({ 0, one.level, one.box, 0 }, values.data(), values.size(), options)
                .bytes_read;
      walls.push_back(wall_ms() - wall);
      times.push_back(processor_ms() - begin);
    }
    std::sort(times.begin(), times.end());
    std::sort(walls.begin(), walls.end());
    const uLong sum = crc32_z(0, reinterpret_cast<const Bytef*>(values.data()), values.size());
    std::printf("%s:%.3f:%llu:%08lx:%.3f\n", one.name, times[times.size() / 2],
      static_cast<unsigned long long>(bytes), sum, walls[walls.size() / 2]);
  }
}

std::vector<float> values_of(std::int64_t n)
{
  std::vector<float> values(static_cast<std::size_t>(n * n * n));
  for (std::size_t i = 0; i != values.size(); ++i)
  {
    const auto x = static_cast<double>(i % static_cast<std::size_t>(n));
    const auto y = static_cast<double>(i / static_cast<std::size_t>(n));
    values[i] = static_cast<float>(std::floor(50 * std::sin(x / 9) * std::cos(y / 1e4)));
  }
  return values;
}

void write_values(char** argv)
{
  const std::vector<float> values = values_of(std::atoll(argv[3]));
  std::FILE* const file = std::fopen(argv[2], "wb");
  if (!file || std::fwrite(values.data(), 4, values.size(), file) != values.size() ||
    std::fclose(file) != 0)
  {
    throw bat::Error(bat::ErrorCode::WriteFailed, argv[2]);
  }
}

void write(char** argv)
{
  const std::int64_t n = std::atoll(argv[3]);
  const std::vector<float> values = values_of(n);
  bat::idx::Grid grid;
  grid.dimensions = { n, n, n };
  grid.fields.push_back({ "p", bat::ScalarType::Float32, 1, values.data() });
  bat::idx::WriteOptions options;
  const std::string codec = argv[4];
  options.codec = codec == "zip" ? bat::idx::Codec::Zip
    : codec == "lz4"             ? bat::idx::Codec::Lz4
                                 : bat::idx::Codec::Raw;
  options.layout = std::string(argv[5]) == "hz" ? bat::idx::Layout::HZ : bat::idx::Layout::RowMajor;
  options.threads = std::atoi(argv[6]);
  options.flush = false;
  const double begin = processor_ms();
  bat::idx::write(argv[2], grid, options);
  std::printf("write:%.3f\n", processor_ms() - begin);
}
}

int main(int argc, char** argv)
{
  const std::string what = argc > 1 ? argv[1] : "";
  try
  {
    if (what == "read" && argc == 5)
    {
      read(argv[2], std::atoi(argv[3]), std::atoi(argv[4]));
      return 0;
    }
    if (what == "open" && argc == 3)
    {
      open(argv[2]);
      return 0;
    }
    if (what == "values" && argc == 4)
    {
      write_values(argv);
      return 0;
    }
    if (what == "write" && argc == 7)
    {
      write(argv);
      return 0;
    }
  }
  catch (const bat::Error& error)
  {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  std::fprintf(stderr, "usage: see the source\n");
  return 2;
}
