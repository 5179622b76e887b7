// SPDX-License-Identifier: BSD-3-Clause
// Extends lines after their series has gained time levels.
#include "bat/error.hpp"
#include "bat/flow/trace.hpp"
#include "flow/hints/store.hpp"
#include "flow/products/trace_part.hpp"
#include "flow/schedule/frames.hpp"
#include "flow/schedule/resting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace bat::flow
{
namespace
{
void take(const PathLines& from, std::uint64_t at, std::uint64_t count, PathLines& to)
{
  const auto add = [&](const auto& values, auto& all)
  {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(at);
    all.insert(all.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  add(from.positions, to.positions);
  add(from.times, to.times);
  add(from.velocities, to.velocities);
  to.lines.back().points += count;
}

std::shared_ptr<const Resting> make_resting(std::vector<Particle>&& particles, double time)
{
  std::sort(particles.begin(), particles.end(),
    [](const Particle& a, const Particle& b) { return a.line < b.line; });
  return std::make_shared<Resting>(Resting{ std::move(particles), time });
}

// The walks of the lines that continue.
struct Walks
{
  struct Walk
  {
    std::size_t line;
    std::uint64_t known; ///< points of the line that stay
    bool rested;         ///< walks from where it was; otherwise, begins anew at `from`
    bool is_seed;        ///< a seed, which may have no line
  };
  std::vector<Walk> walks; ///< sorted by line
  std::vector<Seed> from;
  std::vector<double> releases;
  std::vector<Particle> resting; ///< `line` is the number of the walk
  std::vector<Particle> others;  ///< continue to rest
};

// Returns whether the particle's cell is in this grid.
bool is_inside(const Particle& particle, const WalkFrame& walk)
{
  return particle.cell[0] < walk.cells[0] && particle.cell[1] < walk.cells[1] &&
    particle.cell[2] < walk.cells[2];
}

// Places a particle at the beginning of the interval after the one in which it rests. Backwards,
// the number of that interval depends on the number of times.
Particle woken(Particle particle, const Line& line, const RunFrame& frame)
{
  const RunFrame::Moment now = frame.compute_moment(line.end_time);
  particle.interval = now.interval;
  particle.share = 0;
  particle.is_new = true;
  particle.walks = false;
  particle.points = 0;
  if (!is_inside(particle, frame.walk()) || now.share != 0 || now.interval > frame.last_interval())
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format(
        "line {} ends at time {}, where the source has no such time or position; lines can only "
        "be extended in the series they were traced in",
        particle.line, line.end_time));
  }
  return particle;
}

Walks make_walks(const PathLines& lines, const std::vector<Seed>& seeds, const RunFrame& frame,
  const TraceOptions& options)
{
  const auto is_before_end = [&](double t)
  { return options.backward ? t > frame.end_time() : t < frame.end_time(); };
  static const std::vector<Particle> none;
  const std::vector<Particle>& resting = lines.resting ? lines.resting->particles : none;
  Walks walks;
  auto next = resting.begin();
  for (std::size_t i = 0; i != seeds.size(); ++i)
  {
    const Line& line = lines.lines[i];
    const Particle* rest = next != resting.end() && next->line == i ? &*next++ : nullptr;
    // A particle released when the run ended begins with the velocity of the next interval. A seed
    // without a line may have been too late for one.
    const bool is_seed = line.reason == Reason::NoSeed ||
      (lines.resting && seeds[i].time == lines.resting->time && is_before_end(seeds[i].time));
    if (!is_seed && (line.reason != Reason::EndTime || !is_before_end(line.end_time)))
    {
      if (rest != nullptr)
      {
        walks.others.push_back(*rest);
      }
      continue;
    }
    const bool rested = rest != nullptr && !is_seed;
    if (rested)
    {
      walks.resting.push_back(woken(*rest, line, frame));
      walks.resting.back().line = static_cast<std::uint32_t>(walks.walks.size());
    }
    walks.walks.push_back({ i, is_seed ? 0 : line.points, rested, is_seed });
    walks.releases.push_back(seeds[i].time);
    walks.from.push_back(is_seed ? seeds[i] : Seed{ line.end, line.end_time });
  }
  return walks;
}

void check_lines_to_resume(
  const BrickSource& source, const PathLines& lines, const std::vector<Seed>& seeds)
{
  if (seeds.size() != lines.lines.size())
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{} seeds for {} lines to extend", seeds.size(), lines.lines.size()));
  }
  if (is_steady(source))
  {
    throw Error(ErrorCode::InvalidArgument,
      source.level_name(0) +
        ": is a steady flow with one time step, which has no later times to extend lines to; "
        "trace them again");
  }
}

// A line that reached a destination before keeps its first arrival.
void update_end(Line& line, const Line& walked, bool is_seed)
{
  const double arrival = line.arrival_time;
  line.reason = walked.reason;
  line.end = walked.end;
  line.end_time = walked.end_time;
  if (is_seed || arrival != arrival)
  {
    line.arrival_time = walked.arrival_time;
    line.destination = walked.destination;
  }
}

// Appends each walk to its line. Other lines stay as they are.
PathLines merge_lines(const PathLines& lines, const PathLines& more, const Walks& walks)
{
  PathLines whole;
  whole.statistics = more.statistics;
  std::size_t next = 0;
  for (std::size_t i = 0; i != lines.lines.size(); ++i)
  {
    const Line& old = lines.lines[i];
    whole.lines.push_back(old);
    Line& line = whole.lines.back();
    line.first_point = whole.positions.size();
    line.points = 0;
    if (next == walks.walks.size() || walks.walks[next].line != i)
    {
      take(lines, old.first_point, old.points, whole);
      continue;
    }
    const Walks::Walk& walk = walks.walks[next];
    const Line& walked = more.lines[next++];
    if (!walk.is_seed && walked.reason == Reason::NoSeed)
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format(
          "line {} ends at {} {} {} at time {}, where the source has no flow; lines can only be "
          "extended in the series they were traced in",
          i, old.end[0], old.end[1], old.end[2], old.end_time));
    }
    update_end(line, walked, walk.is_seed);
    take(lines, old.first_point, walk.known, whole);
    // A walk that begins anew at the end of a line repeats the point there.
    const std::uint64_t again = !walk.rested && walk.known != 0 && walked.points != 0 ? 1 : 0;
    take(more, walked.first_point + again, walked.points - again, whole);
  }
  return whole;
}

// Returns the particles that rest now, with the numbers of their lines instead of their walks.
std::shared_ptr<const Resting> merge_resting(Walks&& walks, const Resting& more)
{
  std::vector<Particle> particles = std::move(walks.others);
  for (Particle particle : more.particles)
  {
    particle.line = static_cast<std::uint32_t>(walks.walks[particle.line].line);
    particles.push_back(particle);
  }
  return make_resting(std::move(particles), more.time);
}
}

PathLines resume(const Cache& cache, const PathLines& lines, const std::vector<Seed>& seeds,
  const TraceOptions& options)
{
  check_lines_to_resume(cache.source(), lines, seeds);
  const RunFrame frame(cache.source(), options);
  Walks walks = make_walks(lines, seeds, frame, options);
  KeySet touched;
  const PathLines more =
    trace_touching(cache, walks.from, options, touched, walks.resting, walks.releases);
  cache.hints().save();

  PathLines whole = merge_lines(lines, more, walks);
  if (more.resting)
  {
    whole.resting = merge_resting(std::move(walks), *more.resting);
  }
  return whole;
}

PathLines with_more_releases(PathLines lines, std::size_t before, std::size_t after)
{
  if (before == 0 || before > after || lines.lines.size() % before != 0)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{} lines with {} releases each cannot be changed to {}", lines.lines.size(),
        before, after));
  }
  std::vector<Line> all;
  all.reserve(lines.lines.size() / before * after);
  for (std::size_t i = 0; i != lines.lines.size(); ++i)
  {
    all.push_back(lines.lines[i]);
    if ((i + 1) % before == 0)
    {
      all.resize(all.size() + after - before);
    }
  }
  lines.lines = std::move(all);
  if (lines.resting)
  {
    std::vector<Particle> particles = lines.resting->particles;
    for (Particle& particle : particles)
    {
      particle.line =
        static_cast<std::uint32_t>(particle.line / before * after + particle.line % before);
    }
    lines.resting = make_resting(std::move(particles), lines.resting->time);
  }
  return lines;
}
}
