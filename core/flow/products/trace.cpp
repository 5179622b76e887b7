// SPDX-License-Identifier: BSD-3-Clause
// Turns seeds into particles, traces them in tiles through the buckets, and builds lines from their
// records.
#include "bat/flow/trace.hpp"

#include "bat/error.hpp"
#include "flow/hints/store.hpp"
#include "flow/products/trace_part.hpp"
#include "flow/schedule/buckets.hpp"
#include "flow/schedule/frames.hpp"
#include "flow/schedule/resting.hpp"

#include <fmt/format.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <tuple>

namespace bat::flow
{
namespace
{
constexpr std::size_t kMaxLearnedTransitions = std::size_t{ 1 } << 18; // per thread, 8 MB

int threads_of(const TraceOptions& options)
{
  const auto there_are = static_cast<int>(
    tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
  return options.threads > 0 ? std::min(options.threads, there_are) : there_are;
}

// Sorts points by line, and within a line by order. The records are freed as they are read, so both
// together take little more memory than one of them.
void merge_noted(std::vector<NotedPoints>& noted, const std::vector<Seed>& seeds,
  const std::vector<bool>& rested, PathLines& all)
{
  std::uint64_t count = 0;
  for (const NotedPoints& points : noted)
  {
    count += points.size();
  }
  // Memory that is never touched is not allocated by the system.
  all.positions.reserve(count);
  all.times.reserve(count);
  all.velocities.reserve(count);
  count = 0;
  std::size_t next = 0;
  for (std::size_t bin = 0; bin != noted.front().bins(); ++bin)
  {
    for (const NotedPoints& points : noted)
    {
      points.visit(bin, [&](const NotedPoint& point) { ++all.lines[point.line].points; });
    }
    for (; next != std::min(all.lines.size(), noted.front().end_of_bin(bin)); ++next)
    {
      Line& line = all.lines[next];
      line.first_point = count;
      count += line.points;
    }
    all.positions.resize(count);
    all.times.resize(count);
    all.velocities.resize(count);
    for (NotedPoints& points : noted)
    {
      points.visit(bin,
        [&](const NotedPoint& point)
        {
          const std::uint64_t at = all.lines[point.line].first_point + point.number;
          all.positions[at] = point.position;
          all.times[at] = point.time;
          all.velocities[at] = point.velocity;
          if (point.number == 0 && !rested[point.line])
          {
            // Uses the seed's exact position, which cannot be recovered from its cell and share of
            // an interval.
            all.positions[at] = seeds[point.line].position;
            all.times[at] = seeds[point.line].time;
          }
        });
      points.forget(bin);
    }
  }
}

TraceOptions options_for(const BrickSource& source, const TraceOptions& given)
{
  TraceOptions options = given;
  if (options.in_step)
  {
    options.prefetch = Prefetch::None;
    options.hints = Hints::Off;
    options.max_particles = std::numeric_limits<std::size_t>::max();
  }
  if (is_steady(source))
  {
    options.hints = Hints::Off; // hints are for consecutive levels
  }
  return options;
}

/// The beginning of a line.
struct Start
{
  std::array<std::int32_t, 3> cell;
  std::uint32_t line;
  std::uint32_t intervals;
  const Particle* rest;
};

/// Collects the resting particles and the seeds inside of domain and times. `lines` get their ends
/// as if all ended at the seed.
std::vector<Start> find_starts(const RunFrame& frame, const std::vector<Seed>& seeds,
  const std::vector<Particle>& resting, std::vector<Line>& lines, std::vector<bool>& rested)
{
  std::vector<Start> starts;
  const auto add = [&](const Particle& particle, std::uint32_t line, const Particle* rest)
  {
    const auto intervals =
      static_cast<std::uint32_t>(frame.last_interval() - particle.interval) + 1;
    starts.push_back({ particle.cell, line, intervals, rest });
  };
  for (const Particle& particle : resting)
  {
    rested[particle.line] = true;
    add(particle, particle.line, &particle);
  }
  for (std::size_t i = 0; i != seeds.size(); ++i)
  {
    lines[i].end = seeds[i].position;
    lines[i].end_time = seeds[i].time;
    if (rested[i])
    {
      continue;
    }
    if (const std::optional<Particle> particle = frame.begin(seeds[i]))
    {
      add(*particle, static_cast<std::uint32_t>(i), nullptr);
    }
  }
  return starts;
}

void check_seed_count(std::size_t seeds)
{
  if (seeds >= 0xFFFFFFFFu)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{} seeds; at most {} are allowed", seeds, 0xFFFFFFFEu));
  }
}

// Seeds near each other then share a tile, which has few bricks.
void sort_by_cell(std::vector<Start>& starts)
{
  std::sort(starts.begin(), starts.end(),
    [](const Start& a, const Start& b)
    { return std::tie(a.cell, a.line) < std::tie(b.cell, b.line); });
}

void sort_by_line(std::vector<Particle>& particles)
{
  std::sort(particles.begin(), particles.end(),
    [](const Particle& a, const Particle& b) { return a.line < b.line; });
}

/// The particles that are walked together.
struct Tile
{
  std::vector<Particle> particles;
  std::uint64_t intervals = 0; ///< of all particles until the end of the run
};

Particle make_particle(const RunFrame& frame, const Start& start, const Seed& seed, double release)
{
  Particle particle = start.rest != nullptr ? *start.rest : *frame.begin(seed);
  particle.end_time = frame.end_of_age(release);
  particle.line = start.line;
  return particle;
}

std::uint64_t count_intervals(const std::vector<Start>& starts)
{
  return std::accumulate(starts.begin(), starts.end(), std::uint64_t{ 0 },
    [](std::uint64_t sum, const Start& start) { return sum + start.intervals; });
}

Buckets::HintUse hints_for(const Cache& cache, const TraceOptions& options)
{
  Buckets::HintUse hints;
  if (options.hints != Hints::Off && options.prefetch != Prefetch::None)
  {
    hints.graph = cache.hints().graph();
    if (hints.graph->size() == 0)
    {
      hints.graph = nullptr;
    }
  }
  if (options.hints == Hints::Learn)
  {
    hints.max_learned = std::min(cache.hints().maximum(), kMaxLearnedTransitions);
  }
  return hints;
}

/// Reports the progress of all tiles as a fraction that never falls.
class TileProgress
{
public:
  TileProgress(const std::function<bool(double)>& function, std::uint64_t intervals)
    : function_(function)
    , total_(std::max<std::uint64_t>(intervals, 1))
  {
  }

  /// `done` counts particle-intervals of the current tile. Returning false cancels the trace.
  [[nodiscard]] bool report(std::uint64_t done)
  {
    if (!this->function_)
    {
      return true;
    }
    this->fraction_ = std::max(this->fraction_,
      static_cast<double>(this->before_ + done) / static_cast<double>(this->total_));
    return this->function_(std::min(this->fraction_, 1.0));
  }
  void finish_tile(std::uint64_t intervals) noexcept { this->before_ += intervals; }

private:
  const std::function<bool(double)>& function_;
  std::uint64_t total_;
  std::uint64_t before_ = 0; ///< particle-intervals of finished tiles
  double fraction_ = 0;
};

/// Adds what a worker recorded about lines that ended or rest.
void take_ends(const WalkLog& log, Resting& rests, PathLines& all)
{
  rests.particles.insert(rests.particles.end(), log.resting.begin(), log.resting.end());
  for (const WalkLog::Arrival& arrival : log.arrivals)
  {
    all.lines[arrival.line].arrival_time = arrival.time;
    all.lines[arrival.line].destination = arrival.destination;
  }
  all.statistics.cells += log.cells;
  all.statistics.steps += log.steps;
}

/// One record for each worker.
std::vector<NotedPoints> make_noted(int threads, std::size_t lines)
{
  std::vector<NotedPoints> noted;
  for (int i = 0; i != threads; ++i)
  {
    noted.emplace_back(lines);
  }
  return noted;
}

/// Lets the workers of a tile append to the points of the tiles before.
void lend_noted(std::vector<NotedPoints>& noted, Buckets& buckets)
{
  for (std::size_t i = 0; i != noted.size(); ++i)
  {
    buckets.logs()[i].points = std::move(noted[i]);
  }
}

/// Takes the points back, and what the workers recorded of a tile.
void take_logs(Buckets& buckets, std::vector<NotedPoints>& noted, Resting& rests, PathLines& all)
{
  for (std::size_t i = 0; i != noted.size(); ++i)
  {
    WalkLog& log = buckets.logs()[i];
    noted[i] = std::move(log.points);
    take_ends(log, rests, all);
  }
  all.statistics.waits += buckets.waits();
  all.statistics.wait_seconds += buckets.wait_seconds();
}

void count_reads(const BrickSource& source, const BrickCache& bricks, const CacheCounts& before,
  std::size_t touched, Statistics& s)
{
  const CacheCounts counts = bricks.counts();
  const BrickGrid& grid = source.grid();
  s.bricks = grid.brick_count() * source.times().size();
  s.value_bytes = grid.point_bytes() * source.times().size();
  for (const std::int64_t points : grid.points)
  {
    s.value_bytes *= static_cast<std::uint64_t>(points);
  }
  s.touched = touched;
  s.hits = counts.hits - before.hits;
  s.read = counts.demanded - before.demanded;
  s.prefetched = counts.prefetched - before.prefetched;
  s.prefetches_used = counts.used - before.used;
  s.prefetches_wasted = counts.wasted - before.wasted;
  s.hinted = counts.hinted - before.hinted;
  s.hints_used = counts.hints_used - before.hints_used;
  s.bytes_read = counts.bytes_read - before.bytes_read;
  s.cache_bytes = bricks.bytes();
  s.max_cache_bytes = bricks.max_bytes();
}

struct Fold
{
  std::uint64_t sum = 0xCBF29CE484222325u;

  void add(const void* data, std::size_t bytes)
  {
    const auto* at = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; i += 8)
    {
      std::uint64_t word = 0;
      std::memcpy(&word, at + i, std::min<std::size_t>(8, bytes - i));
      this->sum = (this->sum ^ word) * 0x100000001B3u;
      this->sum ^= this->sum >> 29;
    }
  }
};
}

std::uint64_t PathLines::checksum() const
{
  Fold fold;
  for (const Line& line : this->lines)
  {
    const double reason = static_cast<double>(line.reason);
    fold.add(&reason, sizeof(reason));
    fold.add(line.end.data(), sizeof(line.end));
    fold.add(&line.end_time, sizeof(double));
    const double arrival = line.arrival_time == line.arrival_time ? line.arrival_time : -1e300;
    fold.add(&arrival, sizeof(arrival));
    if (line.destination > 0)
    {
      fold.add(&line.destination, sizeof(line.destination));
    }
    for (std::uint64_t i = line.first_point; i != line.first_point + line.points; ++i)
    {
      fold.add(this->positions[i].data(), sizeof(this->positions[i]));
      fold.add(&this->times[i], sizeof(double));
      fold.add(this->velocities[i].data(), sizeof(this->velocities[i]));
    }
  }
  return fold.sum;
}

PathLines trace(const Cache& cache, const std::vector<Seed>& seeds, const TraceOptions& options)
{
  KeySet touched;
  PathLines lines = trace_touching(cache, seeds, options, touched);
  cache.hints().save();
  return lines;
}

PathLines trace_touching(const Cache& cache, const std::vector<Seed>& seeds,
  const TraceOptions& given, KeySet& touched, const std::vector<Particle>& resting,
  const std::vector<double>& releases)
{
  const BrickSource& source = cache.source();
  const TraceOptions options = options_for(source, given);
  const RunFrame frame(source, options);
  check_seed_count(seeds.size());
  PathLines all;
  all.lines.resize(seeds.size());
  std::vector<bool> rested(seeds.size());
  std::vector<Start> starts = find_starts(frame, seeds, resting, all.lines, rested);
  if (starts.size() > options.max_particles)
  {
    sort_by_cell(starts);
  }
  BrickCache& bricks = cache.bricks();
  const CacheCounts before = bricks.counts();
  const Buckets::HintUse hints = hints_for(cache, options);
  TileProgress progress(options.progress, count_intervals(starts));
  auto rests = std::make_shared<Resting>();
  const int threads = threads_of(options);
  std::vector<NotedPoints> noted = make_noted(threads, seeds.size());
  for (std::size_t begin = 0; begin < starts.size();)
  {
    const std::size_t end = begin + std::min(starts.size() - begin, options.max_particles);
    Tile tile;
    tile.particles.reserve(end - begin);
    for (; begin != end; ++begin)
    {
      const Start& start = starts[begin];
      const double release = releases.empty() ? seeds[start.line].time : releases[start.line];
      tile.particles.push_back(make_particle(frame, start, seeds[start.line], release));
      tile.intervals += start.intervals;
    }
    Buckets buckets(bricks, frame, options, threads, hints, all.lines);
    lend_noted(noted, buckets);
    buckets.run(
      std::move(tile.particles), [&](std::uint64_t done) { return progress.report(done); });
    cache.hints().learn(buckets.hint_logs());
    take_logs(buckets, noted, *rests, all);
    progress.finish_tile(tile.intervals);
    touched.insert(buckets.touched());
  }
  std::vector<Start>().swap(starts);
  merge_noted(noted, seeds, rested, all);
  if (options.progress && !options.progress(1))
  {
    throw Error(ErrorCode::Cancelled, "cancelled");
  }
  if (options.keep_resting)
  {
    sort_by_line(rests->particles);
    rests->time = frame.end_time();
    all.resting = std::move(rests);
  }
  count_reads(source, bricks, before, touched.size(), all.statistics);
  return all;
}
}
