// SPDX-License-Identifier: BSD-3-Clause
// Cuts traced lines at a time between levels: truncates them, walks to the exact time, and joins
// the ends into streaks.
#include "bat/error.hpp"
#include "bat/flow/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>

namespace bat::flow
{
namespace
{
class Cut
{
public:
  Cut(double time, bool backward)
    : time_(time)
    , backward_(backward)
  {
  }
  [[nodiscard]] bool is_after(double t) const noexcept
  {
    return this->backward_ ? t < this->time_ : t > this->time_;
  }
  // Counts the points of a line that are not after the time.
  [[nodiscard]] std::uint64_t points(const PathLines& all, const Line& line) const
  {
    const auto first = all.times.begin() + static_cast<std::ptrdiff_t>(line.first_point);
    const auto end = first + static_cast<std::ptrdiff_t>(line.points);
    const auto after =
      std::partition_point(first, end, [this](double t) { return !this->is_after(t); });
    return static_cast<std::uint64_t>(after - first);
  }

private:
  double time_;
  bool backward_;
};

// The particles that continue from their last point.
struct GoingOn
{
  std::vector<std::size_t> lines;
  std::vector<Seed> places;
};

// Interpolates between a point and the next one, with the velocities of both.
void add_between(const PathLines& lines, std::uint64_t at, double time, PathLines& part)
{
  const double length = lines.times[at + 1] - lines.times[at];
  const double s = (time - lines.times[at]) / length;
  std::array<double, 3> position{};
  std::array<double, 3> velocity{};
  for (std::size_t a = 0; a != 3; ++a)
  {
    const double from = lines.positions[at][a];
    const double way = lines.positions[at + 1][a] - from;
    const double bend = length * lines.velocities[at][a] - way;
    const double turn = way - length * lines.velocities[at + 1][a] - bend;
    position[a] = from + s * (way + (1 - s) * (bend + s * turn));
    velocity[a] = (way + (1 - 2 * s) * bend + s * (2 - 3 * s) * turn) / length;
  }
  part.positions.push_back(position);
  part.times.push_back(time);
  part.velocities.push_back(velocity);
}

void check(const PathLines& lines, double time)
{
  if (!(time == time))
  {
    throw Error(ErrorCode::InvalidArgument, "the time to extend lines to is NaN");
  }
  for (const Line& line : lines.lines)
  {
    if (line.points == 0 && line.reason != Reason::NoSeed)
    {
      throw Error(ErrorCode::InvalidArgument,
        "lines without points cannot be cut; use TraceOptions::keep_points");
    }
  }
}

// Ends each line at the time. Returns the particles that continue from their last point to it.
GoingOn cut_lines(const PathLines& lines, double time, const Cut& cut, PathLines& part)
{
  GoingOn on;
  for (std::size_t i = 0; i != part.lines.size(); ++i)
  {
    Line& line = part.lines[i];
    const std::uint64_t last = line.first_point + cut.points(lines, line) - 1;
    line.points = last + 1 - line.first_point;
    if (line.arrival_time == line.arrival_time && cut.is_after(line.arrival_time))
    {
      line.arrival_time = std::numeric_limits<double>::quiet_NaN();
      line.destination = -1;
    }
    if (line.reason == Reason::NoSeed || !cut.is_after(line.end_time))
    {
      continue;
    }
    line.reason = Reason::UnderWay;
    const std::uint64_t at = line.points == 0 ? line.first_point : last;
    line.end = lines.positions[at];
    line.end_time = lines.times[at];
    if (line.points != 0 && line.end_time != time)
    {
      on.lines.push_back(i);
      on.places.push_back({ line.end, line.end_time });
    }
  }
  return on;
}

TraceOptions make_walk_options(const TraceOptions& options, double time)
{
  TraceOptions walk = options;
  walk.end_time = time;
  walk.destination.reset(); // their arrival is already known
  walk.max_age = std::numeric_limits<double>::infinity();
  walk.keep_points = true;
  walk.keep_faces = false;
  if (walk.hints == Hints::Learn)
  {
    walk.hints = Hints::Read; // the whole lines have been learned
  }
  return walk;
}

void add_points(const PathLines& from, std::uint64_t at, std::uint64_t count, PathLines& part)
{
  const auto add = [&](const auto& values, auto& to)
  {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(at);
    to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  add(from.positions, part.positions);
  add(from.times, part.times);
  add(from.velocities, part.velocities);
}

// Gathers the points of the lines, and after them the last point of each walk. `walks` are the
// numbers of the lines that walked on.
void join_walks(const PathLines& lines, const PathLines& rest,
  const std::vector<std::size_t>& walks, double time, PathLines& part)
{
  std::size_t next = 0;
  for (std::size_t i = 0; i != part.lines.size(); ++i)
  {
    Line& line = part.lines[i];
    const std::uint64_t first = std::exchange(line.first_point, part.positions.size());
    add_points(lines, first, line.points, part);
    if (next == walks.size() || walks[next] != i)
    {
      continue;
    }
    const Line& walked = rest.lines[next++];
    const std::uint64_t at = first + line.points - 1;
    const Line& whole = lines.lines[i];
    if (walked.end_time != time && at + 1 < whole.first_point + whole.points)
    {
      // The walk began on a face, the line continued on its other side, and the walk did not get as
      // far.
      add_between(lines, at, time, part);
    }
    else if (walked.points > 1)
    {
      add_points(rest, walked.first_point + walked.points - 1, 1, part);
    }
    else
    {
      continue;
    }
    ++line.points;
    line.end = part.positions.back();
    line.end_time = part.times.back();
  }
}
}

PathLines stop_at(
  const Cache& cache, const PathLines& lines, double time, const TraceOptions& options)
{
  check(lines, time);
  const Cut cut(time, options.backward);
  PathLines part;
  part.lines = lines.lines;
  const GoingOn on = cut_lines(lines, time, cut, part);
  PathLines rest;
  if (!on.lines.empty())
  {
    rest = trace(cache, on.places, make_walk_options(options, time));
    part.statistics = rest.statistics;
  }
  join_walks(lines, rest, on.lines, time, part);
  return part;
}

StreakLines streak_lines(const PathLines& at, double time, std::size_t releases)
{
  if (releases == 0 || at.lines.size() % releases != 0)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{} lines do not match seeds with {} particles each", at.lines.size(), releases));
  }
  StreakLines streaks;
  streaks.offsets = { 0 };
  for (std::size_t first = 0; first != at.lines.size(); first += releases)
  {
    const auto end_line = [&]()
    {
      if (streaks.particles.size() != streaks.offsets.back())
      {
        streaks.seeds.push_back(first / releases);
        streaks.offsets.push_back(streaks.particles.size());
      }
    };
    for (std::size_t i = first; i != first + releases; ++i)
    {
      const Line& line = at.lines[i];
      if (line.points != 0 && line.end_time == time)
      {
        streaks.particles.push_back(i);
      }
      else
      {
        end_line();
      }
    }
    end_line();
  }
  return streaks;
}
}
