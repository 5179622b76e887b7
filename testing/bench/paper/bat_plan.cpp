// SPDX-License-Identifier: BSD-3-Clause
// bat_plan: plans the leaf files of a simulation on any number of simulated ranks, and counts where
// the particles would go.

#include "bat/bat.hpp"
#include "pretended_particles.hpp"
#include "tools/program.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <new>

namespace memory
{
// Memory that the program has allocated, so that the figure for a plan is exact.
std::atomic<std::size_t> now{ 0 };
std::atomic<std::size_t> peak{ 0 };

void* allocate(std::size_t bytes)
{
  void* block = std::malloc(std::max<std::size_t>(bytes, 1));
  if (!block)
  {
    throw std::bad_alloc();
  }
  const std::size_t size = malloc_usable_size(block);
  const std::size_t total = now.fetch_add(size) + size;
  std::size_t before = peak.load();
  while (before < total && !peak.compare_exchange_weak(before, total))
  {
  }
  return block;
}

void release(void* block) noexcept
{
  if (block)
  {
    now.fetch_sub(malloc_usable_size(block));
    std::free(block);
  }
}
}

void* operator new(std::size_t bytes)
{
  return memory::allocate(bytes);
}
void* operator new[](std::size_t bytes)
{
  return memory::allocate(bytes);
}
// libstdc++'s sorting algorithms allocate their buffers with this operator.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept
{
  try
  {
    return memory::allocate(bytes);
  }
  catch (const std::bad_alloc&)
  {
    return nullptr;
  }
}
void operator delete(void* block, const std::nothrow_t&) noexcept
{
  memory::release(block);
}
void operator delete(void* block) noexcept
{
  memory::release(block);
}
void operator delete[](void* block) noexcept
{
  memory::release(block);
}
void operator delete(void* block, std::size_t) noexcept
{
  memory::release(block);
}
void operator delete[](void* block, std::size_t) noexcept
{
  memory::release(block);
}

namespace
{
using pretended::Point;

const std::map<std::string, bat::PlanMode> kModes{ { "adaptive", bat::PlanMode::Adaptive },
  { "rank-border", bat::PlanMode::RankBorder }, { "aug", bat::PlanMode::Aug } };

struct Arguments
{
  std::uint32_t ranks = 1536;
  std::string kind = "boiler";
  std::string mode = "adaptive";
  std::uint64_t target_bytes = 0;
  std::uint64_t bytes_per_particle = 68;
  std::uint64_t particles = 0;
  std::uint32_t step = 4501;
  int threads = 0;
  std::string json;
  std::string points;
  bool sizes = false;
};

double seconds_since(std::chrono::steady_clock::time_point start)
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<Point> make_particles(const Arguments& arguments)
{
  constexpr std::uint64_t kBoilerPerStep = 9220;
  constexpr std::uint64_t kOthers = 8'000'000;
  const bool boiler = arguments.kind == "boiler";
  std::uint64_t count = arguments.particles;
  if (count == 0)
  {
    count = boiler ? kBoilerPerStep * arguments.step : kOthers;
  }
  if (boiler)
  {
    return pretended::boiler(count, arguments.step);
  }
  return arguments.kind == "dam" ? pretended::dam(count, arguments.step)
                                 : pretended::uniform(count);
}

struct Summary
{
  std::vector<bat::WeightedCell> cells;
  std::vector<bat::RankBounds> bounds; // adaptive
  double seconds = 0;                  // slowest rank
};

// The bounds of at least one point.
bat::Box bounds_of(const Point* points, std::uint64_t count)
{
  Point lower = points[0];
  Point upper = points[0];
  for (std::uint64_t i = 1; i != count; ++i)
  {
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      lower[axis] = std::min(lower[axis], points[i][axis]);
      upper[axis] = std::max(upper[axis], points[i][axis]);
    }
  }
  bat::Box box;
  std::copy(lower.begin(), lower.end(), box.lower.begin());
  std::copy(upper.begin(), upper.end(), box.upper.begin());
  return box;
}

// What each rank would send: cells and bounds for the adaptive tree, otherwise its box and number
// of particles.
Summary summarise(const std::vector<Point>& points, const std::vector<std::uint64_t>& begins,
  const pretended::RankGrid& grid, const bat::PlanOptions& options)
{
  const double bytes =
    static_cast<double>(points.size()) * static_cast<double>(options.bytes_per_particle);
  const auto leaves = static_cast<std::uint32_t>(
    std::max(1.0, std::round(bytes / static_cast<double>(options.target_bytes))));
  constexpr std::uint32_t kBlock = 256;
  const std::uint32_t blocks = (options.ranks + kBlock - 1) / kBlock;
  std::vector<Summary> parts(blocks);
  tbb::parallel_for(0u, blocks,
    [&](std::uint32_t block)
    {
      Summary& part = parts[block];
      const std::uint32_t end = std::min<std::uint64_t>(options.ranks, (block + 1ull) * kBlock);
      for (std::uint32_t rank = block * kBlock; rank != end; ++rank)
      {
        const std::uint64_t count = begins[rank + 1] - begins[rank];
        const auto start = std::chrono::steady_clock::now();
        if (count != 0 && options.mode == bat::PlanMode::Adaptive)
        {
          const auto* first = reinterpret_cast<const std::byte*>(points.data() + begins[rank]);
          const auto cells = bat::summarise(bat::ScalarType::Float32,
            { first, first + sizeof(float), first + 2 * sizeof(float) }, sizeof(Point), count, rank,
            bat::cells_of_rank(count, points.size(), options.ranks, leaves));
          part.cells.insert(part.cells.end(), cells.begin(), cells.end());
          part.bounds.push_back(
            { bounds_of(&points[begins[rank]], count), static_cast<double>(count), rank });
        }
        else if (count != 0)
        {
          const auto [lower, upper] = grid.box_of(rank);
          part.cells.push_back({ lower, upper, static_cast<double>(count), rank });
        }
        part.seconds = std::max(part.seconds, seconds_since(start));
      }
    });
  Summary all;
  for (Summary& part : parts)
  {
    all.cells.insert(all.cells.end(), part.cells.begin(), part.cells.end());
    all.bounds.insert(all.bounds.end(), part.bounds.begin(), part.bounds.end());
    all.seconds = std::max(all.seconds, part.seconds);
    part = {};
  }
  all.cells.shrink_to_fit();
  all.bounds.shrink_to_fit();
  return all;
}

// Exact numbers of particles: every position passes through the plan.
std::vector<std::uint64_t> count_particles(
  const bat::Plan& plan, const std::vector<Point>& points, const std::vector<std::uint64_t>& begins)
{
  if (plan.mode != bat::PlanMode::Adaptive)
  {
    std::vector<std::uint64_t> counts(plan.leaf_count);
    for (std::size_t rank = 0; rank + 1 != begins.size() && plan.leaf_count != 0; ++rank)
    {
      counts[plan.leaf_of_rank[rank]] += begins[rank + 1] - begins[rank];
    }
    return counts;
  }
  tbb::enumerable_thread_specific<std::vector<std::uint64_t>> partial(
    std::vector<std::uint64_t>(plan.leaf_count));
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, points.size(), 65536),
    [&](const auto& range)
    {
      std::vector<std::uint64_t>& counts = partial.local();
      for (std::size_t i = range.begin(); i != range.end(); ++i)
      {
        const Point& p = points[i];
        ++counts[plan.leaf_at(
          static_cast<double>(p[0]), static_cast<double>(p[1]), static_cast<double>(p[2]))];
      }
    });
  std::vector<std::uint64_t> counts(plan.leaf_count);
  for (const auto& part : partial)
  {
    std::transform(counts.begin(), counts.end(), part.begin(), counts.begin(), std::plus<>());
  }
  return counts;
}

// Counts ranks whose particles all go to one leaf file.
std::uint64_t count_whole_ranks(
  const bat::Plan& plan, const Summary& summary, const std::vector<std::uint64_t>& begins)
{
  if (plan.mode == bat::PlanMode::Adaptive)
  {
    return static_cast<std::uint64_t>(std::count_if(summary.bounds.begin(), summary.bounds.end(),
      [&](const bat::RankBounds& rank) { return plan.find_leaf(rank.box).has_value(); }));
  }
  std::uint64_t whole = 0;
  for (std::size_t rank = 0; rank + 1 != begins.size(); ++rank)
  {
    whole += begins[rank + 1] != begins[rank];
  }
  return whole;
}

void save_points(const std::string& path, const std::vector<Point>& points)
{
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(points.data()),
    static_cast<std::streamsize>(points.size() * sizeof(Point)));
  if (!out.flush())
  {
    throw bat::Error(bat::ErrorCode::WriteFailed, path + ": cannot be written");
  }
}

nlohmann::json run(const Arguments& arguments)
{
  std::unique_ptr<tbb::global_control> limit;
  if (arguments.threads > 0)
  {
    limit = std::make_unique<tbb::global_control>(
      tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(arguments.threads));
  }
  std::vector<Point> points = make_particles(arguments);
  // The paper divides only the floor of the tank among ranks.
  const pretended::RankGrid grid =
    pretended::deal_space(points, arguments.ranks, arguments.kind == "dam");
  const std::vector<std::uint64_t> begins = pretended::sort_by_rank(points, grid);

  bat::PlanOptions options;
  options.mode = kModes.at(arguments.mode);
  options.ranks = arguments.ranks;
  options.bytes_per_particle = arguments.bytes_per_particle;
  options.threads = arguments.threads;
  options.target_bytes = arguments.target_bytes != 0
    ? arguments.target_bytes
    : bat::auto_target_bytes(points.size(), arguments.bytes_per_particle, arguments.ranks);
  const Summary summary = summarise(points, begins, grid, options);

  const std::size_t before = memory::now;
  memory::peak = before;
  const auto start = std::chrono::steady_clock::now();
  const bat::Plan plan = bat::make_plan(summary.cells, options, summary.bounds);
  const double seconds = seconds_since(start);
  const std::size_t summary_bytes = summary.cells.capacity() * sizeof(bat::WeightedCell) +
    summary.bounds.capacity() * sizeof(bat::RankBounds);
  const std::size_t peak = memory::peak - before + summary_bytes;

  const std::vector<std::uint64_t> counts = count_particles(plan, points, begins);
  const auto per_particle = static_cast<double>(arguments.bytes_per_particle);
  const double mean = static_cast<double>(points.size()) / std::max(plan.leaf_count, 1u);
  double largest = 0;
  double squares = 0;
  double error = 0;
  nlohmann::json sizes = nlohmann::json::array();
  for (std::size_t leaf = 0; leaf != counts.size(); ++leaf)
  {
    const auto particles = static_cast<double>(counts[leaf]);
    largest = std::max(largest, particles);
    squares += (particles - mean) * (particles - mean);
    error = std::max(error, std::abs(particles - plan.leaf_particles[leaf]) / mean);
    sizes.push_back(counts[leaf] * arguments.bytes_per_particle);
  }
  nlohmann::json figures{ { "ranks", arguments.ranks }, { "kind", arguments.kind },
    { "mode", arguments.mode }, { "particles", points.size() },
    { "bytes_per_particle", arguments.bytes_per_particle }, { "step", arguments.step },
    { "target_bytes", plan.target_bytes }, { "leaf_files", plan.leaf_count },
    { "mean_bytes", mean * per_particle },
    { "stddev_bytes", std::sqrt(squares / std::max(plan.leaf_count, 1u)) * per_particle },
    { "largest_bytes", largest * per_particle }, { "max_over_mean", mean > 0 ? largest / mean : 0 },
    { "estimate_error_max", error }, { "cells", summary.cells.size() },
    { "whole_ranks", count_whole_ranks(plan, summary, begins) }, { "seconds", seconds },
    { "seconds_summarise", summary.seconds }, { "peak_bytes", peak } };
  if (arguments.sizes)
  {
    figures["sizes"] = std::move(sizes);
  }
  if (!arguments.points.empty())
  {
    save_points(arguments.points, points);
    figures["rank_begins"] = begins;
  }
  return figures;
}

void print(const nlohmann::json& f)
{
  constexpr double kMega = 1e6;
  fmt::print(
    "{} on {} ranks, {}: {} particles, target {:.2f} MB: {} leaf files, mean {:.2f} MB, s.d. "
    "{:.2f}, largest {:.2f} ({:.3f} x mean); planned in {:.4f} s, {:.1f} MB\n",
    f["kind"].get<std::string>(), f["ranks"].get<std::uint32_t>(), f["mode"].get<std::string>(),
    f["particles"].get<std::uint64_t>(), f["target_bytes"].get<double>() / kMega,
    f["leaf_files"].get<std::uint32_t>(), f["mean_bytes"].get<double>() / kMega,
    f["stddev_bytes"].get<double>() / kMega, f["largest_bytes"].get<double>() / kMega,
    f["max_over_mean"].get<double>(), f["seconds"].get<double>(),
    f["peak_bytes"].get<double>() / kMega);
}
}

int main(int argc, char** argv)
{
  CLI::App app("Plans the leaf files of a simulation for simulated ranks.", "bat_plan");
  app.set_version_flag("--version", std::string("bat_plan ") + bat::kLibraryVersion);
  Arguments arguments;
  app.add_option("--ranks", arguments.ranks, "number of ranks (default 1536)")
    ->check(CLI::Range(1u, 100'000'000u));
  app.add_option("--kind", arguments.kind, "boiler (default), dam or uniform")
    ->check(CLI::IsMember({ "boiler", "dam", "uniform" }));
  app.add_option("--mode", arguments.mode, "adaptive (default), rank-border or aug")
    ->check(CLI::IsMember({ "adaptive", "rank-border", "aug" }));
  app
    .add_option("--target-size", arguments.target_bytes,
      "target size of a leaf file, such as 8000000, 8MB or 8MiB; 0 or auto (default) chooses "
      "automatically")
    ->transform(CLI::AsNumberWithUnit(
      std::map<std::string, std::uint64_t>{ { "b", 1 }, { "k", 1000 }, { "kb", 1000 },
        { "kib", 1u << 10 }, { "m", 1000000 }, { "mb", 1000000 }, { "mib", 1u << 20 },
        { "g", 1000000000 }, { "gb", 1000000000 }, { "gib", 1u << 30 } },
      CLI::AsNumberWithUnit::CASE_INSENSITIVE))
    ->transform([](const std::string& text) { return text == "auto" ? std::string("0") : text; });
  app.add_option("--bytes-per-particle", arguments.bytes_per_particle, "default 68");
  app.add_option("--particles", arguments.particles,
    "default: 9220 per step for the boiler, otherwise 8 million");
  app.add_option("--step", arguments.step, "time step of boiler and dam (default 4501)")
    ->check(CLI::Range(0u, 1'000'000u));
  app.add_option("--threads", arguments.threads, "maximum number of threads (default: all)")
    ->check(CLI::Range(0, 4096));
  app.add_option("--json", arguments.json, "write one JSON object to this file, or - for stdout");
  app.add_option("--points", arguments.points,
    "write the particle positions (float32 x, y, z) to this file, rank by rank; rank_begins in "
    "the JSON lists where each rank begins");
  app.add_flag("--sizes", arguments.sizes, "include the size of every leaf file");
  if (const std::optional<int> status = bat::tools::parse(app, argc, argv))
  {
    return *status;
  }
  return bat::tools::run("bat_plan",
    [&]
    {
      const nlohmann::json figures = ::run(arguments);
      if (arguments.json == "-")
      {
        fmt::print("{}\n", figures.dump(2));
        return 0;
      }
      print(figures);
      if (!arguments.json.empty())
      {
        std::ofstream out(arguments.json);
        out << figures.dump(2) << '\n';
        if (!out.flush())
        {
          throw bat::Error(bat::ErrorCode::WriteFailed, arguments.json + ": cannot be written");
        }
      }
      return 0;
    });
}
