// SPDX-License-Identifier: BSD-3-Clause
// Measures how well builds and queries parallelise: the work in tasks, the serial part, and the
// critical path. Runs on one thread, linked with a build of core/particles in which loops record
// their tasks (task_times.hpp).

#include "bat/file.hpp"
#include "bat/writer.hpp"
#include "bench/bench_data.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <malloc.h>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace
{
using nlohmann::ordered_json;
using task_times::Loop;

constexpr int kCores[] = { 1, 2, 4, 8, 16, 32, 64, 128 };

struct Times
{
  double alone = 0; ///< seconds outside of loops
  std::vector<Loop> loops;

  // A loop takes at least the time of its longest task, and at least its share of the work.
  [[nodiscard]] double on(int cores) const
  {
    double sum = this->alone;
    for (const Loop& loop : this->loops)
    {
      sum += std::max(loop.span, loop.work / cores);
    }
    return sum;
  }
};

// For each loop, the minimum over several runs after a first one, all with the same loops: other
// activity on the machine only makes tasks slower.
template <class F>
Times measure(int repeat, const F& run)
{
  run();
  Times minimum;
  for (int i = 0; i != repeat; ++i)
  {
    task_times::outer_loops().clear();
    const double begin = task_times::detail::now();
    run();
    Times times{ task_times::detail::now() - begin, task_times::outer_loops() };
    for (const Loop& loop : times.loops)
    {
      times.alone -= loop.work;
    }
    if (i == 0)
    {
      minimum = times;
      continue;
    }
    minimum.alone = std::min(minimum.alone, times.alone);
    for (std::size_t l = 0; l != minimum.loops.size(); ++l)
    {
      minimum.loops[l].work = std::min(minimum.loops[l].work, times.loops.at(l).work);
      minimum.loops[l].span = std::min(minimum.loops[l].span, times.loops.at(l).span);
    }
  }
  return minimum;
}

ordered_json to_json(const Times& times)
{
  ordered_json out;
  const double all = times.on(1);
  const double critical = times.on(1 << 30);
  out["ms"] = 1000 * all;
  out["alone_ms"] = 1000 * times.alone;
  out["critical_path_ms"] = 1000 * critical;
  out["parallelism"] = all / critical;
  for (const int cores : kCores)
  {
    out["max_speedup"][std::to_string(cores)] = all / times.on(cores);
  }
  // Merges calls of the same loop, those with the largest part of the critical path first.
  std::map<std::pair<std::string, int>, std::pair<Loop, int>> places;
  for (const Loop& loop : times.loops)
  {
    auto& [sum, calls] = places[{ std::filesystem::path(loop.file).filename(), loop.line }];
    sum.tasks += loop.tasks;
    sum.work += loop.work;
    sum.span += loop.span;
    ++calls;
  }
  std::vector<ordered_json> loops;
  for (const auto& [place, of] : places)
  {
    const auto& [sum, calls] = of;
    loops.push_back({ { "loop", fmt::format("{}:{}", place.first, place.second) },
      { "calls", calls }, { "tasks", sum.tasks }, { "work_ms", 1000 * sum.work },
      { "critical_path_ms", 1000 * sum.span } });
  }
  std::sort(loops.begin(), loops.end(),
    [](const ordered_json& a, const ordered_json& b)
    { return a["critical_path_ms"] > b["critical_path_ms"]; });
  out["loops"] = loops;
  return out;
}

ordered_json run(const std::string& kind, std::uint64_t particles, std::uint64_t seed, int repeat)
{
  const clouds::Cloud cloud = bench::make_data(kind, particles, seed);
  ordered_json out{ { "kind", kind }, { "particles", cloud.count } };
  bat::BuildOptions build;
  build.threads = 1;
  bat::Bytes bytes;
  out["build"] = to_json(measure(repeat, [&] { bytes = bat::encode(cloud.view(), build); }));
  const bat::File file = bat::File::from_memory(std::move(bytes), "memory");
  const bat::QueryOptions one{ 1 };
  const std::uint64_t tuple = 3 * bat::size_of(file.position_type());
  std::vector<std::byte> positions(cloud.count * tuple);
  const auto query = [&](const bat::Query& requested)
  {
    return to_json(measure(
      repeat, [&] { file.read_positions(file.select(requested, one), positions.data(), one); }));
  };
  out["read"] = query({});
  bat::Query box;
  box.box = file.bounds().value_or(bat::Box{});
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    box.box->upper[axis] = 0.5 * (box.box->lower[axis] + box.box->upper[axis]);
  }
  out["box"] = query(box);
  for (const char* name : { "temperature", "noise" })
  {
    const auto attribute = std::find_if(file.attributes().begin(), file.attributes().end(),
      [&](const bat::Attribute& a) { return a.name == name; });
    if (attribute != file.attributes().end())
    {
      const bat::Key& key = attribute->keys[0];
      const double lower = bat::to_double(key.minimum);
      bat::Query range;
      range.ranges = { { name, {}, lower, lower + 0.1 * (bat::to_double(key.maximum) - lower) } };
      out[std::string("range_of_") + name] = query(range);
    }
  }
  return out;
}
}

int main(int argc, char** argv)
{
  CLI::App app{ "Measures tasks and critical path of building, reading and querying .bat files." };
  std::uint64_t particles = 10'000'000;
  std::uint64_t seed = 1;
  std::string kind = "clustered";
  std::string json;
  int repeat = 5;
  bool fresh = false;
  app.add_option("--particles", particles, "number of particles (not for npz:)");
  app.add_option("--kind", kind, "uniform, clustered, duplicates or npz:FILE");
  app.add_option("--seed", seed, "seed of the generator");
  app.add_option("--repeat", repeat, "runs, of which the least counts")->check(CLI::Range(1, 1000));
  app.add_flag("--fresh", fresh,
    "each run gets its memory from the system, whose clearing is then part of the tasks that come "
    "first");
  app.add_option("--json", json, "write the figures to this file (default: print them)");
  CLI11_PARSE(app, argc, argv);
  if (!fresh)
  {
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  }
  try
  {
    const std::string text = run(kind, particles, seed, repeat).dump(2) + "\n";
    if (json.empty())
    {
      fmt::print("{}", text);
      return 0;
    }
    std::ofstream file(json);
    file << text;
    file.close();
    if (!file)
    {
      throw std::runtime_error(json + ": cannot write");
    }
  }
  catch (const std::exception& error)
  {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
  return 0;
}
