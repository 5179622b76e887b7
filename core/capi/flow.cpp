// SPDX-License-Identifier: BSD-3-Clause
// Implements bricks files, and path lines, streak surfaces and Lyapunov exponents for the flows
// that flow_sources.cpp opens.

#include "bat/bat_flow.h"
#include "bat/bricks/series.hpp"
#include "bat/bricks/write.hpp"
#include "bat/flow/ftle.hpp"
#include "bat/flow/streak_surface.hpp"
#include "bat/flow/trace.hpp"
#include "capi/flow_handles.hpp"
#include "capi/status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

struct bat_flow_lines
{
  bat::flow::PathLines lines;
};

struct bat_flow_surface
{
  bat::flow::StreakSurface surface;
};

namespace bat::capi
{
BrickGrid make_grid(const bat_flow_grid& given)
{
  BrickGrid grid;
  for (std::size_t a = 0; a != 3; ++a)
  {
    grid.points[a] = given.points[a];
    grid.origin[a] = given.origin[a];
    grid.spacing[a] = given.spacing[a];
    grid.cyclic[a] = given.cyclic[a] != 0;
  }
  if (given.components != 2 && given.components != 3)
  {
    refuse(fmt::format("components are {}; allowed are 2 and 3", given.components));
  }
  if (given.type != BAT_FLOAT32 && given.type != BAT_FLOAT64)
  {
    refuse(fmt::format("type is {}; allowed are {} (float32) and {} (float64)", given.type,
      static_cast<int>(BAT_FLOAT32), static_cast<int>(BAT_FLOAT64)));
  }
  grid.components = static_cast<int>(given.components);
  grid.type = static_cast<ScalarType>(given.type);
  return grid;
}

bat_flow_grid grid_for_c(const BrickGrid& own) noexcept
{
  bat_flow_grid grid{};
  for (std::size_t a = 0; a != 3; ++a)
  {
    grid.points[a] = own.points[a];
    grid.origin[a] = own.origin[a];
    grid.spacing[a] = own.spacing[a];
    grid.cyclic[a] = own.cyclic[a] ? 1 : 0;
  }
  grid.components = own.components;
  grid.type = static_cast<std::int64_t>(own.type);
  return grid;
}

bricks::GrowingSeries* growing_series_at(const std::string& path, bool flush)
{
  const std::string end = ".bricks.series";
  if (path.size() < end.size() || path.compare(path.size() - end.size(), end.size(), end) != 0)
  {
    return nullptr;
  }
  // The series remembers the times of earlier steps and which notices it has given.
  static std::mutex mutex;
  static std::map<std::pair<std::string, bool>, bricks::GrowingSeries> all;
  const std::lock_guard<std::mutex> lock(mutex);
  // The path is made absolute because a process may change its working directory.
  const std::filesystem::path whole = std::filesystem::absolute(path);
  const std::filesystem::path place =
    std::filesystem::weakly_canonical(whole.parent_path()) / whole.filename();
  return &all.try_emplace({ place.string(), flush }, place, flush).first->second;
}

bricks::Header make_header(const bat_flow_grid* grid, const char* field, const char* metadata,
  const double* time, const std::int64_t* step)
{
  bricks::Header header;
  if (grid)
  {
    header.grid = make_grid(*grid);
  }
  header.field = field ? field : "velocity";
  header.metadata = metadata ? metadata : "";
  if (time)
  {
    header.time = *time;
  }
  if (step)
  {
    header.step = *step;
  }
  return header;
}

std::function<bool(double)> progress_of(bat_progress function, void* data)
{
  if (!function)
  {
    return {};
  }
  return [function, data](double done) { return function(data, done) == 0; };
}

namespace
{
flow::TraceOptions parse_options(const bat_flow_options& given)
{
  flow::TraceOptions options;
  options.backward = given.backward != 0;
  if (!std::isnan(given.end_time))
  {
    options.end_time = given.end_time;
  }
  options.integrator =
    given.runge_kutta_4 != 0 ? flow::Integrator::RungeKutta4 : flow::Integrator::CellByCell;
  options.max_error = given.max_error;
  options.step_share = given.step_share;
  options.terminal_speed = given.terminal_speed;
  options.no_slip = given.no_slip != 0;
  options.max_age = given.max_age;
  if (given.destination_count != 0)
  {
    flow::Destination destination;
    const double* const boxes = &need(given.destinations, "destinations");
    destination.boxes.resize(need_size(given.destination_count, "destination_count"));
    for (std::size_t i = 0; i != destination.boxes.size(); ++i)
    {
      std::copy_n(boxes + 6 * i, 3, destination.boxes[i].lower.begin());
      std::copy_n(boxes + 6 * i + 3, 3, destination.boxes[i].upper.begin());
    }
    destination.stop_on_arrival = given.stop_on_arrival != 0;
    options.destination = destination;
  }
  options.keep_points = given.keep_points != 0;
  options.keep_faces = given.keep_faces != 0;
  options.keep_resting = given.keep_resting != 0;
  options.threads =
    static_cast<int>(need_at_most(given.threads, std::numeric_limits<int>::max(), "threads"));
  options.prefetch = need_at_most(given.prefetch, 1, "prefetch") != 0 ? flow::Prefetch::Velocity
                                                                      : flow::Prefetch::None;
  constexpr std::array<flow::Hints, 3> kHints{ flow::Hints::Off, flow::Hints::Read,
    flow::Hints::Learn };
  options.hints = kHints.at(static_cast<std::size_t>(need_at_most(given.hints, 2, "hints")));
  return options;
}

std::vector<flow::Seed> make_seeds(
  std::uint64_t count, const double* positions, const double* times)
{
  std::vector<flow::Seed> seeds(need_size(count, "count"));
  if (!seeds.empty())
  {
    need(positions, "positions");
    need(times, "times");
  }
  for (std::size_t i = 0; i != seeds.size(); ++i)
  {
    std::memcpy(seeds[i].position.data(), positions + 3 * i, sizeof(seeds[i].position));
    seeds[i].time = times[i];
  }
  return seeds;
}

bool is_reason(std::int64_t number)
{
  constexpr std::array<std::int64_t, 8> kReasons{ BAT_FLOW_LEFT_DOMAIN, BAT_FLOW_TOO_MANY_CELLS,
    BAT_FLOW_STAGNATION, BAT_FLOW_END_TIME, BAT_FLOW_ARRIVED, BAT_FLOW_BLANKED, BAT_FLOW_NO_SEED,
    BAT_FLOW_MAX_AGE };
  return std::find(kReasons.begin(), kReasons.end(), number) != kReasons.end();
}

flow::Reason parse_reason(std::int64_t reason, std::size_t line)
{
  if (!is_reason(reason))
  {
    refuse(
      fmt::format("reason {} of line {}; allowed are the values of bat_flow_reason", reason, line));
  }
  return static_cast<flow::Reason>(reason);
}

std::int32_t parse_destination(std::int64_t destination, std::size_t line)
{
  if (destination < -1 || destination > std::numeric_limits<std::int32_t>::max())
  {
    refuse(fmt::format(
      "destination {} of line {}; allowed are destination numbers, and -1", destination, line));
  }
  return static_cast<std::int32_t>(destination);
}

bat_flow_statistics make_statistics(const flow::Statistics& s)
{
  return { s.bricks, s.touched, s.hits, s.read, s.prefetched, s.prefetches_used,
    s.prefetches_wasted, s.bytes_read, s.value_bytes, s.waits, s.cells, s.steps, s.cache_bytes,
    s.max_cache_bytes, s.hinted, s.hints_used, s.wait_seconds };
}
}
}

using namespace bat::capi;

int bat_bricks_write(const char* path, const bat_flow_grid* grid, const void* values, size_t bytes,
  const char* field, const char* metadata, const double* time, const int64_t* step,
  int64_t compress, int64_t flush, bat_progress progress, void* data)
{
  return guard(
    [&]
    {
      const std::string target = need_text(path, "the path to write");
      const bat::bricks::Header header =
        make_header(&need(grid, "grid"), field, metadata, time, step);
      bat::bricks::WriteOptions options;
      options.compress = compress != 0;
      options.flush = flush != 0;
      options.progress = progress_of(progress, data);
      if (bat::bricks::GrowingSeries* series = bat::capi::growing_series_at(target, options.flush))
      {
        series->write(header, values, need_size(bytes, "bytes"), options);
        return;
      }
      bat::bricks::write(target, header, values, need_size(bytes, "bytes"), options);
    });
}

int bat_bricks_write_list(
  const char* list, uint64_t count, const char* const* files, const double* times)
{
  return guard(
    [&]
    {
      const std::string target = need_text(list, "the path to write");
      std::vector<bat::bricks::SeriesEntry> entries;
      for (std::uint64_t i = 0; i != need_size(count, "count"); ++i)
      {
        entries.push_back({ need_text(need(files, "files") ? files[i] : nullptr, "file name"),
          (need(times, "times"), times[i]) });
      }
      bat::bricks::write_list(target, entries);
    });
}

int bat_bricks_validate(const char* path)
{
  return guard(
    [&]
    {
      const auto series = bat::bricks::Series::open(need_text(path, "the path to read"));
      for (std::size_t level = 0; level != series->times().size(); ++level)
      {
        (void)series->level(level).validate();
      }
    });
}

int bat_bricks_open(const char* path, bat_bricks** out, uint64_t* level_count, const double** times)
{
  return guard(
    [&]
    {
      need(out, "out") = nullptr;
      auto series = bat::bricks::Series::open(need_text(path, "the path to read"));
      if (level_count)
      {
        *level_count = series->times().size();
      }
      if (times)
      {
        *times = series->times().data();
      }
      *out = new bat_bricks{ std::move(series) };
    });
}

int bat_bricks_describe(const bat_bricks* bricks, uint64_t level, bat_bricks_level* out)
{
  return guard(
    [&]
    {
      const bat::bricks::File& file =
        need(bricks, "bricks").series->level(static_cast<std::size_t>(level));
      const bat::bricks::Header& header = file.header();
      const bat::bricks::BrickCounts counts = file.count_bricks();
      bat_bricks_level& about = need(out, "out");
      about = {};
      about.file = file.name().c_str();
      about.field = header.field.c_str();
      about.metadata = header.metadata.c_str();
      about.grid = bat::capi::grid_for_c(header.grid);
      about.edge = header.grid.edge;
      about.has_time = header.time ? 1 : 0;
      about.has_step = header.step ? 1 : 0;
      about.time = header.time.value_or(0);
      about.step = header.step.value_or(0);
      about.max_speed = header.largest_speed;
      std::copy(header.minimum.begin(), header.minimum.end(), about.minimum);
      std::copy(header.maximum.begin(), header.maximum.end(), about.maximum);
      about.bricks = counts.bricks;
      about.blank_bricks = counts.blank;
      about.resting_bricks = counts.at_rest;
      about.brick_bytes = counts.stored_bytes;
      about.file_bytes = file.file_bytes();
      about.value_bytes = header.grid.point_bytes();
      for (const std::int64_t points : header.grid.points)
      {
        about.value_bytes *= static_cast<std::uint64_t>(points);
      }
    });
}

void bat_bricks_free(bat_bricks* bricks)
{
  delete bricks;
}

void bat_flow_free(bat_flow* flow)
{
  release(flow);
}

int bat_flow_describe(
  const bat_flow* flow, bat_flow_grid* grid, uint64_t* time_count, const double** times)
{
  return guard_use(flow,
    [&]
    {
      const bat::BrickSource& source = need(flow, "flow").cache.source();
      if (grid)
      {
        *grid = bat::capi::grid_for_c(source.grid());
      }
      if (time_count)
      {
        *time_count = source.times().size();
      }
      if (times)
      {
        *times = source.times().data();
      }
    });
}

void bat_flow_options_init(bat_flow_options* options)
{
  if (!options)
  {
    return;
  }
  const bat::flow::TraceOptions usual;
  *options = {};
  options->end_time = std::numeric_limits<double>::quiet_NaN();
  options->max_age = usual.max_age;
  options->max_error = usual.max_error;
  options->step_share = usual.step_share;
  options->terminal_speed = usual.terminal_speed;
  options->keep_points = 1;
  options->prefetch = 1;
  options->hints = 1;
}

int bat_flow_trace(const bat_flow* flow, uint64_t count, const double* positions,
  const double* times, const bat_flow_options* options, bat_progress progress, void* data,
  bat_flow_lines** out)
{
  return guard_use(flow,
    [&]
    {
      need(out, "out") = nullptr;
      const auto seeds = make_seeds(count, positions, times);
      bat::flow::TraceOptions requested;
      if (options)
      {
        requested = parse_options(*options);
      }
      requested.progress = progress_of(progress, data);
      auto lines = std::make_unique<bat_flow_lines>();
      lines->lines = bat::flow::trace(need(flow, "flow").cache, seeds, requested);
      *out = lines.release();
    });
}

void bat_flow_lines_free(bat_flow_lines* lines)
{
  delete lines;
}

int bat_flow_lines_describe(const bat_flow_lines* lines, uint64_t* line_count,
  uint64_t* point_count, uint64_t* checksum, bat_flow_statistics* statistics)
{
  return guard(
    [&]
    {
      const bat::flow::PathLines& all = need(lines, "lines").lines;
      if (line_count)
      {
        *line_count = all.lines.size();
      }
      if (point_count)
      {
        *point_count = all.times.size();
      }
      if (checksum)
      {
        *checksum = all.checksum();
      }
      if (statistics)
      {
        *statistics = make_statistics(all.statistics);
      }
    });
}

int bat_flow_lines_ends(const bat_flow_lines* lines, int64_t* reasons, double* positions,
  double* times, double* arrivals, int64_t* destinations, uint64_t* offsets)
{
  return guard(
    [&]
    {
      const bat::flow::PathLines& all = need(lines, "lines").lines;
      need(offsets, "offsets") = 0;
      for (std::size_t i = 0; i != all.lines.size(); ++i)
      {
        const bat::flow::Line& line = all.lines[i];
        (&need(reasons, "reasons"))[i] = static_cast<std::int64_t>(line.reason);
        std::memcpy(&need(positions, "positions") + 3 * i, line.end.data(), sizeof(line.end));
        (&need(times, "times"))[i] = line.end_time;
        (&need(arrivals, "arrivals"))[i] = line.arrival_time;
        (&need(destinations, "destinations"))[i] = line.destination;
        offsets[i + 1] = offsets[i] + line.points;
      }
    });
}

int bat_flow_lines_points(
  const bat_flow_lines* lines, double* positions, double* times, double* velocities)
{
  return guard(
    [&]
    {
      const bat::flow::PathLines& all = need(lines, "lines").lines;
      if (all.times.empty())
      {
        return;
      }
      need(positions, "positions");
      need(times, "times");
      need(velocities, "velocities");
      std::size_t at = 0;
      for (const bat::flow::Line& line : all.lines)
      {
        for (std::uint64_t i = line.first_point; i != line.first_point + line.points; ++i, ++at)
        {
          std::memcpy(positions + 3 * at, all.positions[i].data(), 24);
          std::memcpy(velocities + 3 * at, all.velocities[i].data(), 24);
          times[at] = all.times[i];
        }
      }
    });
}

int bat_flow_lines_view(const bat_flow_lines* lines, const double** positions, const double** times,
  const double** velocities)
{
  return guard(
    [&]
    {
      const bat::flow::PathLines& all = need(lines, "lines").lines;
      const bool is_empty = all.times.empty();
      need(positions, "positions") = is_empty ? nullptr : all.positions.front().data();
      need(times, "times") = is_empty ? nullptr : all.times.data();
      need(velocities, "velocities") = is_empty ? nullptr : all.velocities.front().data();
    });
}

int bat_flow_lines_resting(const bat_flow_lines* lines, uint64_t* bytes, void* resting)
{
  return guard(
    [&]
    {
      const auto& kept = need(lines, "lines").lines.resting;
      const std::vector<std::byte> all =
        kept ? bat::flow::bytes_of(*kept) : std::vector<std::byte>{};
      if (bytes)
      {
        *bytes = all.size();
      }
      if (resting && !all.empty())
      {
        std::memcpy(resting, all.data(), all.size());
      }
    });
}

int bat_flow_lines_from(uint64_t count, const int64_t* reasons, const double* ends,
  const double* end_times, const double* arrivals, const int64_t* destinations,
  const uint64_t* offsets, const double* positions, const double* times, const double* velocities,
  const void* resting, uint64_t resting_bytes, bat_flow_lines** out)
{
  return guard(
    [&]
    {
      need(out, "out") = nullptr;
      auto made = std::make_unique<bat_flow_lines>();
      bat::flow::PathLines& all = made->lines;
      if (need(offsets, "offsets") != 0)
      {
        refuse(fmt::format("offsets start with {}; the first must be 0", offsets[0]));
      }
      all.lines.resize(need_size(count, "count"));
      for (std::size_t i = 0; i != all.lines.size(); ++i)
      {
        bat::flow::Line& line = all.lines[i];
        line.reason = parse_reason((&need(reasons, "reasons"))[i], i);
        if (offsets[i + 1] < offsets[i])
        {
          refuse(fmt::format("offset {} after {} of line {}; offsets must not decrease",
            offsets[i + 1], offsets[i], i));
        }
        std::memcpy(line.end.data(), &need(ends, "ends") + 3 * i, sizeof(line.end));
        line.end_time = (&need(end_times, "end_times"))[i];
        line.arrival_time = (&need(arrivals, "arrivals"))[i];
        line.destination = parse_destination((&need(destinations, "destinations"))[i], i);
        line.first_point = offsets[i];
        line.points = offsets[i + 1] - offsets[i];
      }
      const std::size_t points = need_size(offsets[count], "offsets");
      const auto take = [points](auto& to, const double* from, const char* name)
      {
        to.resize(points);
        if (points != 0)
        {
          std::memcpy(to.data(), &need(from, name), sizeof(to[0]) * points);
        }
      };
      take(all.positions, positions, "positions");
      take(all.times, times, "times");
      take(all.velocities, velocities, "velocities");
      if (resting_bytes != 0)
      {
        all.resting =
          bat::flow::resting_from(&need(static_cast<const std::byte*>(resting), "resting"),
            need_size(resting_bytes, "resting_bytes"), all.lines.size());
      }
      *out = made.release();
    });
}

int bat_flow_resume(const bat_flow* flow, const bat_flow_lines* lines, uint64_t count,
  const double* positions, const double* times, const bat_flow_options* options,
  bat_progress progress, void* data, bat_flow_lines** out)
{
  return guard_use(flow,
    [&]
    {
      need(out, "out") = nullptr;
      const auto seeds = make_seeds(count, positions, times);
      bat::flow::TraceOptions requested;
      if (options)
      {
        requested = parse_options(*options);
      }
      requested.progress = progress_of(progress, data);
      auto whole = std::make_unique<bat_flow_lines>();
      whole->lines =
        bat::flow::resume(need(flow, "flow").cache, need(lines, "lines").lines, seeds, requested);
      *out = whole.release();
    });
}

int bat_flow_ftle(const bat_flow* flow, const double* box, const int64_t* points, double start_time,
  double length, const bat_flow_options* options, bat_progress progress, void* data,
  double* exponents, double* flow_map, double* end_times, bat_flow_statistics* statistics)
{
  return guard_use(flow,
    [&]
    {
      bat::Box requested_box;
      std::array<std::int64_t, 3> nodes{};
      for (std::size_t a = 0; a != 3; ++a)
      {
        requested_box.lower[a] = (&need(box, "box"))[a];
        requested_box.upper[a] = box[a + 3];
        nodes[a] = (&need(points, "points"))[a];
      }
      bat::flow::TraceOptions requested;
      if (options)
      {
        requested = parse_options(*options);
      }
      requested.progress = progress_of(progress, data);
      const bat::flow::Ftle found = bat::flow::ftle(need(flow, "flow").cache,
        bat::flow::ftle_grid(requested_box, nodes), start_time, length, requested);
      std::copy(found.exponents.begin(), found.exponents.end(), &need(exponents, "exponents"));
      if (flow_map)
      {
        std::memcpy(flow_map, found.flow_map.data(), 24 * found.flow_map.size());
      }
      if (end_times)
      {
        std::copy(found.end_times.begin(), found.end_times.end(), end_times);
      }
      if (statistics)
      {
        *statistics = make_statistics(found.statistics);
      }
    });
}

int bat_flow_streak_surface(const bat_flow* flow, uint64_t count, const double* line, double time,
  const double* start, double max_edge, double tear, const bat_flow_options* options,
  bat_progress progress, void* data, bat_flow_surface** out)
{
  return guard_use(flow,
    [&]
    {
      need(out, "out") = nullptr;
      std::vector<std::array<double, 3>> points(need_size(count, "count"));
      if (!points.empty())
      {
        std::memcpy(points.data(), &need(line, "line"), 24 * points.size());
      }
      bat::flow::StreakSurfaceOptions requested;
      if (options)
      {
        requested.trace = parse_options(*options);
      }
      requested.trace.progress = progress_of(progress, data);
      if (start)
      {
        requested.start = *start;
      }
      requested.max_edge = max_edge;
      requested.tear = tear;
      auto made = std::make_unique<bat_flow_surface>();
      made->surface = bat::flow::streak_surface(need(flow, "flow").cache, points, time, requested);
      *out = made.release();
    });
}

void bat_flow_surface_free(bat_flow_surface* surface)
{
  delete surface;
}

int bat_flow_surface_describe(const bat_flow_surface* surface, uint64_t* vertex_count,
  uint64_t* triangle_count, uint64_t* followed, bat_flow_statistics* statistics)
{
  return guard(
    [&]
    {
      const bat::flow::StreakSurface& all = need(surface, "surface").surface;
      if (vertex_count)
      {
        *vertex_count = all.positions.size();
      }
      if (triangle_count)
      {
        *triangle_count = all.triangles.size();
      }
      if (followed)
      {
        *followed = all.followed;
      }
      if (statistics)
      {
        *statistics = make_statistics(all.statistics);
      }
    });
}

int bat_flow_surface_mesh(const bat_flow_surface* surface, double* positions, double* normals,
  double* line_places, double* release_times, int64_t* triangles)
{
  return guard(
    [&]
    {
      const bat::flow::StreakSurface& all = need(surface, "surface").surface;
      const auto give = [](const auto& values, auto* to)
      {
        if (to && !values.empty())
        {
          std::memcpy(to, values.data(), sizeof(values[0]) * values.size());
        }
      };
      give(all.positions, positions);
      give(all.normals, normals);
      give(all.line_places, line_places);
      give(all.release_times, release_times);
      for (std::size_t i = 0; triangles && i != all.triangles.size(); ++i)
      {
        std::copy(all.triangles[i].begin(), all.triangles[i].end(), triangles + 3 * i);
      }
    });
}
