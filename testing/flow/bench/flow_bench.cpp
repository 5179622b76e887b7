// SPDX-License-Identifier: BSD-3-Clause
// Measures what traces of a series read, how long they wait and take, and a checksum of the result.
//
//   flow_bench make FOLDER --kind turbulence --points 161 --levels 25     FOLDER/flow.bricks.series
//   flow_bench run SERIES --seeds 200 --region ball --cache 64 --threads 1 --cold
//   flow_bench surface SERIES --cache 64    a streak surface
//   flow_bench reads SERIES                 cold bricks/s, and plain preads/s of their size
//   flow_bench store                        bricks put into memory and found there, per second
//
// --hints learn records in --hints-file where particles went, and read uses it. --delay-us makes
// each read take at least this long, the only way to measure waits on a machine with a shared disk.
// Runs of one command share a cache unless --fresh; --cold evicts the files from the system's cache
// before each.
#include "bat/bricks/series.hpp"
#include "bat/bricks/write.hpp"
#include "bat/error.hpp"
#include "bat/flow/streak_surface.hpp"
#include "bat/flow/trace.hpp"
#include "common/processor.hpp"
#include "flow/cache/brick_cache.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <random>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <xxhash.h>

namespace
{
using Clock = std::chrono::steady_clock;

constexpr double kTau = 6.283185307179586;

// ---- Fields ----------------------------------------------------------------------------------

struct Mode
{
  std::array<double, 3> k{};
  std::array<std::complex<double>, 3> amplitude{};
  double rate = 0;
};

// Divergence-free random waves: energy follows k^-5/3, each component's mean square is 1, and
// phases move.
std::vector<Mode> turbulence(int count, double maximum, unsigned seed)
{
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<Mode> modes;
  double energy = 0;
  while (static_cast<int>(modes.size()) != count)
  {
    const double radius =
      std::pow(maximum, static_cast<double>(modes.size()) / std::max(1, count - 1));
    Mode mode;
    std::array<double, 3> d{ normal(random), normal(random), normal(random) };
    const double length = std::hypot(d[0], d[1], d[2]);
    for (std::size_t a = 0; a != 3; ++a)
    {
      mode.k[a] = std::rint(radius * d[a] / length);
    }
    const double size = std::hypot(mode.k[0], mode.k[1], mode.k[2]);
    if (size == 0)
    {
      continue;
    }
    const double share = std::pow(size, -5.0 / 3) * radius;
    for (const std::complex<double> part :
      { std::complex<double>(1, 0), std::complex<double>(0, -1) })
    {
      std::array<double, 3> v{ normal(random), normal(random), normal(random) };
      const double along = (v[0] * mode.k[0] + v[1] * mode.k[1] + v[2] * mode.k[2]) / (size * size);
      double norm = 0;
      for (std::size_t a = 0; a != 3; ++a)
      {
        v[a] -= along * mode.k[a];
        norm += v[a] * v[a];
      }
      for (std::size_t a = 0; a != 3; ++a)
      {
        mode.amplitude[a] += part * v[a] * std::sqrt(share / norm);
      }
    }
    energy += share;
    mode.rate = 0.4 * std::pow(size, 2.0 / 3) * (random() % 2 != 0 ? 1 : -1);
    modes.push_back(mode);
  }
  for (Mode& mode : modes)
  {
    for (auto& a : mode.amplitude)
    {
      a *= std::sqrt(3 / energy);
    }
  }
  return modes;
}

std::vector<Mode> abc(double t)
{
  const double a = std::sqrt(3.0) + 0.5 * std::sin(kTau / 2 * t);
  const double b = std::sqrt(2.0);
  const std::complex<double> sine(0, -1);
  const std::complex<double> zero(0, 0);
  return { { { 0, 0, 1 }, { a * sine, a, zero }, 0 }, { { 0, 1, 0 }, { 1.0, zero, sine }, 0 },
    { { 1, 0, 0 }, { zero, b * sine, b }, 0 } };
}

std::vector<float> sample(const std::vector<Mode>& modes, std::size_t n, double t)
{
  std::vector<float> values(3 * n * n * n);
  const double spacing = kTau / static_cast<double>(n - 1);
  tbb::parallel_for(std::size_t{ 0 }, n,
    [&](std::size_t z)
    {
      std::vector<float> wave(2 * n);
      std::vector<float> row(3 * n);
      for (std::size_t y = 0; y != n; ++y)
      {
        std::fill(row.begin(), row.end(), 0.0f);
        for (const Mode& mode : modes)
        {
          const double phase =
            spacing * (mode.k[1] * static_cast<double>(y) + mode.k[2] * static_cast<double>(z)) +
            mode.rate * t;
          const std::complex<double> step = std::polar(1.0, mode.k[0] * spacing);
          std::complex<double> at = std::polar(1.0, phase);
          for (std::size_t x = 0; x != n; ++x, at *= step)
          {
            wave[2 * x] = static_cast<float>(at.real());
            wave[2 * x + 1] = static_cast<float>(at.imag());
          }
          for (std::size_t c = 0; c != 3; ++c)
          {
            const auto real = static_cast<float>(mode.amplitude[c].real());
            const auto imaginary = static_cast<float>(mode.amplitude[c].imag());
            for (std::size_t x = 0; x != n; ++x)
            {
              row[3 * x + c] += real * wave[2 * x] - imaginary * wave[2 * x + 1];
            }
          }
        }
        std::copy(row.begin(), row.end(),
          values.begin() + static_cast<std::ptrdiff_t>(3 * n * (y + n * z)));
      }
    });
  return values;
}

struct MakeOptions
{
  std::string folder;
  std::string kind = "turbulence";
  std::size_t points = 161;
  int levels = 25;
  int modes = 96;
  double time = 1;
  bool raw = false;
  bool npy = false;
  int threads = 0;
};

double cpu_seconds()
{
  std::timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Excludes the system's time.
double user_seconds()
{
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) +
    1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

// Writes a file that numpy.load() reads, of shape (n, n, n, 3).
void write_npy(const std::filesystem::path& path, const std::vector<float>& values, std::size_t n)
{
  const std::string side = std::to_string(n) + ", ";
  std::string head =
    "{'descr': '<f4', 'fortran_order': False, 'shape': (" + side + side + side + "3), }";
  head.resize(117, ' ');
  std::ofstream file(path, std::ios::binary);
  file << std::string("\x93NUMPY\x01\0\x76\0", 10) << head << '\n';
  file.write(reinterpret_cast<const char*>(values.data()),
    static_cast<std::streamsize>(values.size() * sizeof(float)));
  if (!file.flush())
  {
    throw std::runtime_error(path.string() + ": cannot be written");
  }
}

nlohmann::ordered_json make(const MakeOptions& o)
{
  std::filesystem::create_directories(o.folder);
  bat::bricks::Header header;
  header.field = "velocity";
  header.grid.points.fill(static_cast<std::int64_t>(o.points));
  header.grid.spacing.fill(kTau / static_cast<double>(o.points - 1));
  const auto waves = turbulence(o.modes, static_cast<double>(o.points) / 8, 1);
  std::vector<bat::bricks::SeriesEntry> entries;
  std::uint64_t file_bytes = 0;
  std::uint64_t value_bytes = 0;
  double encode = 0;
  double encode_cpu = 0;
  double encode_user = 0;
  for (int level = 0; level != o.levels; ++level)
  {
    const double t = o.time * level / std::max(1, o.levels - 1);
    const auto values = sample(o.kind == "abc" ? abc(t) : waves, o.points, t);
    header.time = t;
    header.step = level;
    bat::bricks::WriteOptions options;
    options.compress = !o.raw;
    options.threads = o.threads;
    options.flush = false;
    char name[32];
    std::snprintf(name, sizeof(name), "flow_%04d.bricks", level);
    const auto begin = Clock::now();
    const double cpu = cpu_seconds();
    const double user = user_seconds();
    const auto report = bat::bricks::write(std::filesystem::path(o.folder) / name, header,
      values.data(), values.size() * sizeof(float), options);
    encode += std::chrono::duration<double>(Clock::now() - begin).count();
    encode_cpu += cpu_seconds() - cpu;
    encode_user += user_seconds() - user;
    if (o.npy)
    {
      std::snprintf(name, sizeof(name), "flow_%04d.npy", level);
      write_npy(std::filesystem::path(o.folder) / name, values, o.points);
      std::snprintf(name, sizeof(name), "flow_%04d.bricks", level);
    }
    file_bytes += report.file_bytes;
    value_bytes += report.value_bytes;
    entries.push_back({ name, t });
  }
  const auto list = std::filesystem::path(o.folder) / "flow.bricks.series";
  bat::bricks::write_list(list, entries, false);
  return { { "series", list.string() }, { "value_bytes", value_bytes },
    { "file_bytes", file_bytes },
    { "store_over_raw", static_cast<double>(file_bytes) / static_cast<double>(value_bytes) },
    { "write_mb_per_s", static_cast<double>(value_bytes) / 1e6 / encode },
    { "write_mb_per_cpu_s", static_cast<double>(value_bytes) / 1e6 / encode_cpu },
    { "write_mb_per_user_s", static_cast<double>(value_bytes) / 1e6 / encode_user } };
}

// ---- Runs --------------------------------------------------------------------------------------

class DelayedSource : public bat::BrickSource
{
public:
  DelayedSource(std::shared_ptr<const bat::BrickSource> source, int microseconds)
    : source_(std::move(source))
    , delay_(microseconds)
  {
  }
  const bat::BrickGrid& grid() const noexcept override { return this->source_->grid(); }
  const std::vector<double>& times() const noexcept override { return this->source_->times(); }
  std::string level_name(std::size_t level) const override
  {
    return this->source_->level_name(level);
  }
  std::uint64_t read(std::size_t level, std::uint64_t brick, bat::BrickMemory to) const override
  {
    std::this_thread::sleep_for(this->delay_);
    return this->source_->read(level, brick, to);
  }

private:
  std::shared_ptr<const bat::BrickSource> source_;
  std::chrono::microseconds delay_;
};

struct RunOptions
{
  std::string series;
  std::size_t seeds = 200;
  std::string region = "ball";
  double cache_mib = 512;
  int threads = 1;
  int io_threads = 64;
  int delay_us = 0;
  std::string prefetch = "velocity";
  std::string hints = "off";
  std::string hints_file;
  std::string integrator = "cells";
  double max_error = 1e-6;
  double compare_with = 0;
  bool portable = false;
  bool backward = false;
  bool ends_only = false;
  bool cold = false;
  bool fresh = false;
  int repeat = 1;
  unsigned seed = 1;
};

std::vector<bat::flow::Seed> make_seeds(const RunOptions& o, const bat::BrickSource& source)
{
  const bat::BrickGrid& grid = source.grid();
  std::array<double, 3> centre{};
  std::array<double, 3> half{};
  for (std::size_t a = 0; a != 3; ++a)
  {
    half[a] = 0.5 * grid.spacing[a] * static_cast<double>(grid.cells(a));
    centre[a] = grid.origin[a] + half[a];
  }
  const double time = o.backward ? source.times().back() : source.times().front();
  std::mt19937_64 random(o.seed);
  const auto uniform = [&] { return 2 * static_cast<double>(random() >> 11) * 0x1p-53 - 1; };
  std::vector<bat::flow::Seed> seeds;
  if (o.region == "cube") // a regular grid, as of FTLE
  {
    const auto side =
      static_cast<std::size_t>(std::lround(std::cbrt(static_cast<double>(o.seeds))));
    for (std::size_t i = 0; i != side * side * side; ++i)
    {
      const std::array<std::size_t, 3> at{ i % side, i / side % side, i / side / side };
      bat::flow::Seed s;
      for (std::size_t a = 0; a != 3; ++a)
      {
        s.position[a] = centre[a] +
          0.125 * half[a] * (2 * static_cast<double>(at[a]) / static_cast<double>(side - 1) - 1);
      }
      s.time = time;
      seeds.push_back(s);
    }
    return seeds;
  }
  while (seeds.size() != o.seeds)
  {
    const std::array<double, 3> d{ uniform(), uniform(), uniform() };
    if (o.region == "ball" && d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > 1)
    {
      continue;
    }
    const double size = o.region == "ball" ? 0.08 : 1;
    bat::flow::Seed s;
    for (std::size_t a = 0; a != 3; ++a)
    {
      s.position[a] = centre[a] + size * half[a] * d[a];
    }
    s.time = time;
    seeds.push_back(s);
  }
  return seeds;
}

void drop_from_system_cache(const std::string& series)
{
  const auto folder = std::filesystem::path(series).parent_path();
  for (const auto& entry : bat::bricks::read_list(series))
  {
    const int file = ::open((folder / entry.file).c_str(), O_RDONLY | O_CLOEXEC);
    if (file >= 0)
    {
      (void)::fdatasync(file);
      (void)::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
      ::close(file);
    }
  }
}

// Distances between the ends of lines, in cells and ascending, for lines that both follow to the
// end.
std::vector<double> distances(
  const bat::flow::PathLines& a, const bat::flow::PathLines& b, const bat::BrickGrid& grid)
{
  std::vector<double> apart;
  for (std::size_t i = 0; i != a.lines.size(); ++i)
  {
    if (a.lines[i].reason == bat::flow::Reason::EndTime && b.lines[i].reason == a.lines[i].reason)
    {
      double square = 0;
      for (std::size_t axis = 0; axis != 3; ++axis)
      {
        const double d = (a.lines[i].end[axis] - b.lines[i].end[axis]) / grid.spacing[axis];
        square += d * d;
      }
      apart.push_back(std::sqrt(square));
    }
  }
  std::sort(apart.begin(), apart.end());
  return apart;
}

bat::flow::TraceOptions trace_options(const RunOptions& o)
{
  bat::flow::TraceOptions options;
  options.backward = o.backward;
  options.threads = o.threads;
  options.max_error = o.max_error;
  options.keep_points = !o.ends_only;
  options.prefetch =
    o.prefetch == "none" ? bat::flow::Prefetch::None : bat::flow::Prefetch::Velocity;
  options.hints = o.hints == "learn" ? bat::flow::Hints::Learn
    : o.hints == "read"              ? bat::flow::Hints::Read
                                     : bat::flow::Hints::Off;
  options.integrator =
    o.integrator == "rk4" ? bat::flow::Integrator::RungeKutta4 : bat::flow::Integrator::CellByCell;
  return options;
}

bat::flow::Cache open(const RunOptions& o)
{
  bat::flow::CacheOptions options;
  options.bytes = static_cast<std::uint64_t>(o.cache_mib * (1 << 20));
  options.io_threads = o.io_threads;
  options.hints_file = o.hints_file;
  std::shared_ptr<const bat::BrickSource> source = bat::bricks::Series::open(o.series);
  if (o.delay_us > 0)
  {
    source = std::make_shared<DelayedSource>(source, o.delay_us);
  }
  return bat::flow::Cache(source, options);
}

nlohmann::ordered_json counts(const bat::flow::Statistics& s)
{
  const auto touched = static_cast<double>(s.touched);
  return { { "bricks", s.bricks }, { "touched", s.touched },
    { "touched_percent", 100 * touched / static_cast<double>(s.bricks) },
    { "bytes_read", s.bytes_read },
    { "bytes_saved_percent",
      100 * (1 - static_cast<double>(s.bytes_read) / static_cast<double>(s.value_bytes)) },
    { "reads", s.read + s.prefetched },
    { "reads_per_touched", static_cast<double>(s.read + s.prefetched) / touched },
    { "hits", s.hits }, { "prefetched", s.prefetched }, { "prefetches_used", s.prefetches_used },
    { "read_in_vain_percent",
      100 * static_cast<double>(s.prefetched - s.prefetches_used) / touched },
    { "hinted", s.hinted }, { "hints_used", s.hints_used }, { "waits", s.waits },
    { "wait_seconds", s.wait_seconds }, { "cells", s.cells }, { "steps", s.steps },
    { "cache_bytes", s.cache_bytes }, { "max_cache_bytes", s.max_cache_bytes } };
}

nlohmann::ordered_json run(const RunOptions& o)
{
  if (o.portable)
  {
    bat::processor::allow(bat::processor::Instructions::Portable);
  }
  const bat::flow::TraceOptions options = trace_options(o);
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  std::optional<bat::flow::Cache> cache;
  for (int n = 0; n != o.repeat; ++n)
  {
    if (o.cold)
    {
      drop_from_system_cache(o.series);
    }
    const auto begin = Clock::now();
    const double cpu = cpu_seconds();
    if (!cache || o.fresh)
    {
      cache.emplace(open(o));
    }
    const auto seeds = make_seeds(o, cache->source());
    const bat::flow::PathLines lines = bat::flow::trace(*cache, seeds, options);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    const double cpu_used = cpu_seconds() - cpu;
    const bat::flow::Statistics& s = lines.statistics;
    std::uint64_t ended = 0;
    for (const bat::flow::Line& line : lines.lines)
    {
      ended += line.reason == bat::flow::Reason::EndTime;
    }
    const double intervals =
      static_cast<double>(seeds.size() * (cache->source().times().size() - 1));
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    runs.push_back(
      { { "checksum", lines.checksum() }, { "seeds", seeds.size() }, { "reached_end", ended },
        { "points", lines.times.size() }, { "seconds", seconds }, { "cpu_seconds", cpu_used },
        { "million_particle_intervals_per_cpu_s", intervals / 1e6 / cpu_used },
        { "peak_mb", usage.ru_maxrss / 1024 } });
    runs.back().update(counts(s));
    if (o.compare_with > 0)
    {
      bat::flow::TraceOptions exact = options;
      exact.max_error = o.compare_with;
      exact.integrator = bat::flow::Integrator::CellByCell;
      const auto apart =
        distances(lines, bat::flow::trace(*cache, seeds, exact), cache->source().grid());
      runs.back()["error_cells_median"] = apart.at(apart.size() / 2);
      runs.back()["error_cells_99_percent"] = apart.at(apart.size() * 99 / 100);
      runs.back()["error_cells_largest"] = apart.back();
    }
  }
  return runs;
}

// Released from a line of an eighth of the box through its middle, at the last time; triangles have
// edges of one cell.
nlohmann::ordered_json surface(const RunOptions& o)
{
  const bat::flow::Cache cache = open(o);
  const bat::BrickGrid& grid = cache.source().grid();
  std::array<double, 3> middle{};
  for (std::size_t a = 0; a != 3; ++a)
  {
    middle[a] = grid.origin[a] + 0.5 * grid.spacing[a] * static_cast<double>(grid.cells(a));
  }
  std::vector<std::array<double, 3>> line(2, middle);
  const double half = grid.spacing[0] * static_cast<double>(grid.cells(0)) / 16;
  line[0][0] -= half;
  line[1][0] += half;
  bat::flow::StreakSurfaceOptions options;
  options.trace = trace_options(o);
  options.max_edge = grid.spacing[0];
  options.stops_at_max = true;
  const auto begin = Clock::now();
  const auto found = bat::flow::streak_surface(cache, line, cache.source().times().back(), options);
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  nlohmann::ordered_json reported{
    { "checksum",
      XXH3_64bits(found.positions.data(), found.positions.size() * sizeof(found.positions[0])) },
    { "vertices", found.positions.size() }, { "triangles", found.triangles.size() },
    { "followed", found.followed }, { "is_refined", found.is_refined }, { "seconds", seconds }
  };
  reported.update(counts(found.statistics));
  return reported;
}

// ---- Reads of bricks and their memory ----------------------------------------------------------

struct ReadsOptions
{
  std::string series;
  int threads = 64;
  int bricks = 20000;
  int repeat = 3;
};

double in_threads(int threads, int count, const std::function<void(int)>& work)
{
  std::atomic<int> next{ 0 };
  const auto begin = Clock::now();
  std::vector<std::thread> all;
  for (int t = 0; t != threads; ++t)
  {
    all.emplace_back(
      [&]
      {
        for (int i = next++; i < count; i = next++)
        {
          work(i);
        }
      });
  }
  for (std::thread& thread : all)
  {
    thread.join();
  }
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

nlohmann::ordered_json reads(const ReadsOptions& o)
{
  const auto folder = std::filesystem::path(o.series).parent_path();
  const auto list = bat::bricks::read_list(o.series);
  nlohmann::ordered_json rounds = nlohmann::ordered_json::array();
  std::mt19937_64 random(1);
  for (int n = 0; n != o.repeat; ++n)
  {
    const auto series = bat::bricks::Series::open(o.series);
    const bat::BrickGrid& grid = series->grid();
    struct Read
    {
      std::size_t level = 0;
      std::uint64_t brick = 0;
      std::uint64_t bytes = 0;
      std::uint64_t offset = 0; // checksum of the plain run
    };
    std::vector<Read> all(static_cast<std::size_t>(o.bricks));
    for (Read& read : all)
    {
      read.level = random() % list.size();
      read.brick = random() % grid.brick_count();
      read.bytes = series->level(read.level).stored_bytes(read.brick);
      read.offset = random() % (series->level(read.level).file_bytes() - read.bytes);
    }
    drop_from_system_cache(o.series);
    const double bricks = in_threads(o.threads, o.bricks,
      [&](int i)
      {
        const Read& read = all[static_cast<std::size_t>(i)];
        thread_local std::vector<std::byte> memory;
        const auto edge = static_cast<std::size_t>(grid.edge);
        memory.resize(edge * edge * edge * grid.point_bytes());
        series->read(read.level, read.brick,
          { memory.data(), edge * grid.point_bytes(), edge * edge * grid.point_bytes() });
      });
    std::vector<int> files;
    for (const auto& entry : list)
    {
      files.push_back(::open((folder / entry.file).c_str(), O_RDONLY | O_CLOEXEC));
      if (files.back() < 0)
      {
        throw std::runtime_error(entry.file + ": cannot be opened");
      }
      (void)::posix_fadvise(files.back(), 0, 0, POSIX_FADV_RANDOM);
    }
    drop_from_system_cache(o.series);
    std::atomic<bool> failed{ false };
    const double plain = in_threads(o.threads, o.bricks,
      [&](int i)
      {
        const Read& read = all[static_cast<std::size_t>(i)];
        thread_local std::vector<std::byte> memory;
        memory.resize(read.bytes);
        if (::pread(files[read.level], memory.data(), read.bytes,
              static_cast<off_t>(read.offset)) != static_cast<ssize_t>(read.bytes))
        {
          failed = true;
        }
      });
    for (const int file : files)
    {
      ::close(file);
    }
    if (failed)
    {
      throw std::runtime_error("a plain read failed");
    }
    rounds.push_back({ { "bricks_per_s", o.bricks / bricks }, { "preads_per_s", o.bricks / plain },
      { "ratio", plain / bricks } });
  }
  return rounds;
}

// Provides every brick immediately.
class Nothing : public bat::BrickSource
{
public:
  Nothing() { this->grid_.points.fill(1024); }
  const bat::BrickGrid& grid() const noexcept override { return this->grid_; }
  const std::vector<double>& times() const noexcept override { return this->times_; }
  std::string level_name(std::size_t) const override { return "nothing"; }
  std::uint64_t read(std::size_t, std::uint64_t, bat::BrickMemory) const override { return 0; }

private:
  bat::BrickGrid grid_;
  std::vector<double> times_{ 0, 1 };
};

class Signal : public bat::flow::Waiter
{
public:
  void on_bricks_ready(const std::optional<bat::Error>&) noexcept override { this->there = true; }
  std::atomic<bool> there{ false };
};

nlohmann::ordered_json store()
{
  bat::flow::CacheOptions options;
  options.io_threads = 1;
  const bat::flow::Cache cache(std::make_shared<Nothing>(), options);
  bat::flow::BrickCache& bricks = cache.bricks();
  constexpr std::size_t kAtOnce = 16; // the maximum that a bucket needs
  constexpr std::size_t kBricks = 16384;
  std::vector<std::uint64_t> keys(kBricks);
  std::vector<bat::flow::BrickSlot*> slots(kBricks);
  for (std::size_t i = 0; i != kBricks; ++i)
  {
    keys[i] = bricks.key(0, i * 101 % kBricks);
  }
  const auto pass = [&](std::size_t at_once)
  {
    std::vector<Signal> signals(kBricks / at_once);
    const auto begin = Clock::now();
    for (std::size_t i = 0; i != signals.size(); ++i)
    {
      const std::size_t first = i * at_once;
      const bool ready = bricks.acquire(keys.data() + first, at_once, slots.data() + first,
                           signals[i]) == bat::flow::BrickCache::Acquired::Ready;
      if (ready)
      {
        signals[i].there = true;
        bricks.release(slots.data() + first, at_once);
        slots[first] = nullptr;
      }
    }
    for (std::size_t i = 0; i != signals.size(); ++i)
    {
      while (!signals[i].there)
      {
        std::this_thread::yield();
      }
      if (slots[i * at_once])
      {
        bricks.release(slots.data() + i * at_once, at_once);
      }
    }
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  pass(kAtOnce); // takes the memory
  double set = 1e9;
  double get = 1e9;
  double get_two = 1e9;
  for (int round = 0; round != 7; ++round)
  {
    bricks.clear();
    set = std::min(set, pass(kAtOnce));
    get = std::min(get, pass(kAtOnce));
    get_two = std::min(get_two, pass(2));
  }
  const double million = static_cast<double>(kBricks) / 1e6;
  return { { "million_set_per_s", million / set }, { "million_get_per_s", million / get },
    { "million_get_per_s_two_at_once", million / get_two } };
}
}

int main(int argc, char** argv)
{
  CLI::App app("Traces of a series of bricks, measured.");
  app.require_subcommand(1);
  MakeOptions making;
  CLI::App* const maker = app.add_subcommand("make", "write a series");
  maker->add_option("folder", making.folder)->required();
  maker->add_option("--kind", making.kind)->check(CLI::IsMember({ "turbulence", "abc" }));
  maker->add_option("--points", making.points, "along each axis")->check(CLI::Range(9, 4097));
  maker->add_option("--levels", making.levels)->check(CLI::Range(2, 10000));
  maker->add_option("--modes", making.modes)->check(CLI::Range(1, 10000));
  maker->add_option("--time", making.time)->check(CLI::PositiveNumber);
  maker->add_flag("--raw", making.raw, "bricks are not packed");
  maker->add_flag("--npy", making.npy, "beside each file its values as an array of numpy");
  maker->add_option("--threads", making.threads);
  RunOptions running;
  CLI::App* const runner = app.add_subcommand("run", "trace");
  CLI::App* const weaver = app.add_subcommand("surface", "a streak surface");
  for (CLI::App* const each : { runner, weaver })
  {
    each->add_option("series", running.series)->required();
    each->add_option("--cache", running.cache_mib, "MiB");
    each->add_option("--threads", running.threads);
    each->add_option("--io-threads", running.io_threads);
    each->add_option("--prefetch", running.prefetch)->check(CLI::IsMember({ "none", "velocity" }));
  }
  runner->add_option("--seeds", running.seeds);
  runner->add_option("--region", running.region)->check(CLI::IsMember({ "ball", "cube", "all" }));
  runner->add_option("--delay-us", running.delay_us, "least time of a read");
  runner->add_option("--hints", running.hints)->check(CLI::IsMember({ "off", "read", "learn" }));
  runner->add_option("--hints-file", running.hints_file, "where they are kept");
  runner->add_option("--integrator", running.integrator)->check(CLI::IsMember({ "cells", "rk4" }));
  runner->add_option("--max-error", running.max_error);
  runner->add_option(
    "--compare-with", running.compare_with, "distances from the ends that this --max-error gives");
  runner->add_flag("--portable", running.portable, "without vectors of the processor");
  runner->add_flag("--backward", running.backward);
  runner->add_flag("--ends-only", running.ends_only);
  runner->add_flag("--cold", running.cold);
  runner->add_flag("--fresh", running.fresh, "a new cache for each repetition");
  runner->add_option("--repeat", running.repeat)->check(CLI::Range(1, 1000));
  runner->add_option("--random", running.seed);
  ReadsOptions reading;
  CLI::App* const reader = app.add_subcommand("reads", "read bricks from all over a series");
  reader->add_option("series", reading.series)->required();
  reader->add_option("--io-threads", reading.threads)->check(CLI::Range(1, 1024));
  reader->add_option("--bricks", reading.bricks)->check(CLI::Range(1, 10000000));
  reader->add_option("--repeat", reading.repeat)->check(CLI::Range(1, 1000));
  app.add_subcommand("store", "bricks in memory");
  CLI11_PARSE(app, argc, argv);
  try
  {
    std::cout << (maker->parsed()       ? make(making)
                     : runner->parsed() ? run(running)
                     : weaver->parsed() ? surface(running)
                     : reader->parsed() ? reads(reading)
                                        : store())
                   .dump(1)
              << "\n";
  }
  catch (const std::exception& error)
  {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
}
