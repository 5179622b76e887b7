// SPDX-License-Identifier: BSD-3-Clause
// Lines of a series that has grown since they were traced.
#include "bat/error.hpp"
#include "bat/flow/trace.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

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
}

PathLines go_on(const Cache& cache, const PathLines& lines, const std::vector<Seed>& seeds,
  const TraceOptions& options)
{
  if (seeds.size() != lines.lines.size())
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{} seeds for {} lines to go on with", seeds.size(), lines.lines.size()));
  }
  const std::vector<double>& times = cache.source().times();
  const double end = options.end_time.value_or(options.backward ? times.front() : times.back());
  const auto is_before_end = [&](double t) { return options.backward ? t > end : t < end; };

  // What is walked: from ends, and of seeds that had no line, which may have been too late for one.
  std::vector<std::size_t> walking;
  std::vector<Seed> from;
  for (std::size_t i = 0; i != seeds.size(); ++i)
  {
    const Line& line = lines.lines[i];
    if (line.reason == Reason::EndTime && is_before_end(line.end_time))
    {
      walking.push_back(i);
      from.push_back({ line.end, line.end_time });
    }
    else if (line.reason == Reason::NoSeed)
    {
      walking.push_back(i);
      from.push_back(seeds[i]);
    }
  }
  const PathLines more = trace(cache, from, options);

  PathLines whole;
  whole.statistics = more.statistics;
  std::size_t next = 0;
  for (std::size_t i = 0; i != seeds.size(); ++i)
  {
    const Line& old = lines.lines[i];
    whole.lines.push_back(old);
    Line& line = whole.lines.back();
    line.first_point = whole.positions.size();
    line.points = 0;
    take(lines, old.first_point, old.points, whole);
    if (old.reason == Reason::Stagnation && is_before_end(old.end_time))
    {
      line.end_time = end; // it stays to the end of the run
      if (old.points > 1)
      {
        whole.times.back() = end;
      }
    }
    if (next == walking.size() || walking[next] != i)
    {
      continue;
    }
    const Line& walked = more.lines[next++];
    if (old.reason != Reason::NoSeed && walked.reason == Reason::NoSeed)
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format(
          "line {} ends at {} {} {} at time {}, where the source has no flow; lines go on "
          "in the series that they come from",
          i, old.end[0], old.end[1], old.end[2], old.end_time));
    }
    const double arrival = line.arrival_time;
    line.reason = walked.reason;
    line.end = walked.end;
    line.end_time = walked.end_time;
    line.arrival_time = arrival == arrival ? arrival : walked.arrival_time;
    const std::uint64_t known = old.points != 0 && walked.points != 0 ? 1 : 0;
    take(more, walked.first_point + known, walked.points - known, whole);
  }
  return whole;
}
}
