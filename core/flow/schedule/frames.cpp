// SPDX-License-Identifier: BSD-3-Clause
#include "flow/schedule/frames.hpp"

#include "bat/error.hpp"
#include "common/fail.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bat::flow
{
namespace
{
constexpr std::size_t kMaxDestinations = 10000; // each is looked for in each step
constexpr double kMinStepShare = 1e-5; // as many steps as cells that a particle may go through

void check(const TraceOptions& options, const std::vector<double>& times)
{
  if (!(options.max_error >= 1e-12 && options.max_error <= 1))
  {
    refuse(fmt::format("max_error is {} cells; allowed are 1e-12 to 1", options.max_error));
  }
  if (options.integrator == Integrator::RungeKutta4 &&
    !(options.step_share >= kMinStepShare && options.step_share <= 1))
  {
    refuse(fmt::format(
      "step_share is {} of an interval; allowed are {} to 1", options.step_share, kMinStepShare));
  }
  if (!(options.terminal_speed >= 0))
  {
    refuse(fmt::format("terminal_speed is {}; it must not be negative", options.terminal_speed));
  }
  if (!(options.max_age > 0))
  {
    refuse(fmt::format("max_age is {}; it must be above 0", options.max_age));
  }
  if (options.max_particles == 0)
  {
    refuse("max_particles is 0; at least one particle must be active");
  }
  if (options.end_time &&
    !(*options.end_time >= times.front() && *options.end_time <= times.back()))
  {
    refuse(fmt::format("end_time is {}; the source has times from {} to {}", *options.end_time,
      times.front(), times.back()));
  }
}
}

std::vector<double> run_times(
  const BrickSource& source, std::optional<double> end_time, bool backward)
{
  if (!is_steady(source))
  {
    return source.times();
  }
  const double begin = source.times().front();
  const bool is_end =
    end_time && std::isfinite(*end_time) && (backward ? *end_time < begin : *end_time > begin);
  if (!is_end)
  {
    refuse(fmt::format("{}: is a steady flow with one time step, at time {}; the end time is {}, "
                       "but must be {} that",
      source.level_name(0), begin, end_time ? fmt::format("{}", *end_time) : "not given",
      backward ? "before" : "after"));
  }
  return backward ? std::vector{ *end_time, begin } : std::vector{ begin, *end_time };
}

RunFrame::RunFrame(const BrickSource& source, const TraceOptions& options)
  : source_(source)
  , backward_(options.backward)
  , is_steady_(is_steady(source))
  , times_(run_times(source, options.end_time, options.backward))
  , end_time_(0)
  , max_age_(options.max_age)
{
  const std::vector<double>& times = this->times_;
  const BrickGrid& grid = source.grid();
  check(options, times);
  this->end_time_ = options.end_time.value_or(this->backward_ ? times.front() : times.back());

  this->walk_.components = grid.components;
  this->walk_.is_double = grid.type == ScalarType::Float64;
  this->walk_.tolerance = options.max_error;
  this->walk_.terminal_speed = options.terminal_speed;
  this->walk_.step_share = options.integrator == Integrator::RungeKutta4 ? options.step_share : 0;
  this->walk_.no_slip = options.no_slip;
  this->walk_.notes_points = options.keep_points;
  this->walk_.notes_beginnings = options.prefetch == Prefetch::Velocity;
  this->walk_.notes_faces = options.keep_faces && options.keep_points;
  std::size_t stride = grid.point_bytes();
  for (std::size_t a = 0; a != 3; ++a)
  {
    this->walk_.is_flat[a] = grid.points[a] == 1;
    this->walk_.cells[a] = this->walk_.is_flat[a] ? 1 : static_cast<std::int32_t>(grid.cells(a));
    this->walk_.cyclic[a] = grid.cyclic[a];
    this->walk_.origin[a] = grid.origin[a];
    this->walk_.spacing[a] = grid.spacing[a];
    this->walk_.stride[a] = this->walk_.is_flat[a] ? 0 : stride;
    stride *= static_cast<std::size_t>(grid.edge) + 1;
  }
  if (options.destination)
  {
    this->walk_.stops_on_arrival = options.destination->stop_on_arrival;
    const std::vector<Box>& boxes = options.destination->boxes;
    if (boxes.size() > kMaxDestinations)
    {
      refuse(
        fmt::format("{} destinations; at most {} are allowed", boxes.size(), kMaxDestinations));
    }
    for (std::size_t i = 0; i != boxes.size(); ++i)
    {
      if (const std::optional<WalkFrame::Destination> to = this->destination(i, boxes[i]))
      {
        this->walk_.destinations.push_back(*to);
      }
    }
  }

  const Moment end = this->compute_moment(this->end_time_);
  this->last_ = end.interval;
  if (end.share == 0 && end.interval != 0)
  {
    --this->last_; // the end of the interval before
  }
  for (std::int32_t n = 0; n <= this->last_; ++n)
  {
    IntervalFrame frame;
    frame.begin = this->time_before(n);
    frame.end = this->time_after(n);
    frame.stop_time = frame.end;
    if (n == this->last_)
    {
      frame.is_last = true;
      frame.stop = end.interval == n ? end.share : 1;
      frame.stop_time = this->end_time_;
    }
    const double length = frame.end - frame.begin;
    for (std::size_t a = 0; a != 3; ++a)
    {
      frame.scale[a] = this->walk_.is_flat[a] ? 0 : length / grid.spacing[a];
      frame.per_cell[a] = grid.spacing[a] / length;
    }
    this->intervals_.push_back(frame);
  }
}

// Returns the box in cells; none if no particle can reach it.
std::optional<WalkFrame::Destination> RunFrame::destination(
  std::size_t number, const Box& box) const
{
  const BrickGrid& grid = this->source_.grid();
  WalkFrame::Destination to;
  to.number = static_cast<std::int32_t>(number);
  bool misses = false;
  for (std::size_t a = 0; a != 3; ++a)
  {
    const double lower = box.lower[a];
    const double upper = box.upper[a];
    if (!(lower <= upper))
    {
      refuse(fmt::format("destination {} is from {} to {} along {}; its upper end must not be "
                         "below its lower one",
        number, lower, upper, "xyz"[a]));
    }
    // A box that misses the plane of a flat axis contains no flow.
    misses =
      misses || (this->walk_.is_flat[a] && !(lower <= grid.origin[a] && grid.origin[a] <= upper));
    to.lower[a] = (lower - grid.origin[a]) / grid.spacing[a];
    to.upper[a] = (upper - grid.origin[a]) / grid.spacing[a];
  }
  return misses ? std::nullopt : std::optional(to);
}

// Finds the interval that contains a time, excluding the interval's end. The last time of all
// belongs to the last interval.
RunFrame::Moment RunFrame::compute_moment(double time) const noexcept
{
  const std::vector<double>& times = this->times_;
  const auto intervals = static_cast<std::int32_t>(times.size() - 1);
  std::int32_t n = 0;
  if (this->backward_)
  {
    const auto at = std::lower_bound(times.begin(), times.end(), time);
    n = intervals - static_cast<std::int32_t>(at - times.begin());
  }
  else
  {
    const auto at = std::upper_bound(times.begin(), times.end(), time);
    n = static_cast<std::int32_t>(at - times.begin()) - 1;
  }
  n = std::min(std::max(n, 0), intervals - 1);
  const double begin = this->time_before(n);
  const double end = this->time_after(n);
  return { n, time == end ? 1 : (time - begin) / (end - begin) };
}

std::optional<Particle> RunFrame::begin(const Seed& seed) const noexcept
{
  const std::vector<double>& times = this->times_;
  const bool in_time = seed.time >= times.front() && seed.time <= times.back() &&
    (this->backward_ ? seed.time >= this->end_time_ : seed.time <= this->end_time_);
  if (!in_time)
  {
    return std::nullopt;
  }
  Particle particle;
  const BrickGrid& grid = this->source_.grid();
  for (std::size_t a = 0; a != 3; ++a)
  {
    if (!std::isfinite(seed.position[a]))
    {
      return std::nullopt;
    }
    if (this->walk_.is_flat[a])
    {
      // A plane has no thickness, so a position within rounding of it counts as on it.
      if (std::abs(seed.position[a] - grid.origin[a]) > 1e-6 * grid.spacing[a])
      {
        return std::nullopt;
      }
      continue;
    }
    double x = (seed.position[a] - grid.origin[a]) / grid.spacing[a];
    // A position on a face as compute_position() computes it, or rounded to just beyond it, is on
    // the face, and a walk may begin on either side.
    const double nearest = std::round(x);
    const double face = grid.origin[a] + nearest * grid.spacing[a];
    if (seed.position[a] == face || (seed.position[a] < face) != (x < nearest))
    {
      x = nearest;
    }
    const double cells = this->walk_.cells[a];
    if (grid.cyclic[a])
    {
      const double turns = std::floor(x / cells);
      if (!(turns > -1e9 && turns < 1e9))
      {
        return std::nullopt;
      }
      x -= turns * cells;
      particle.turns[a] = static_cast<std::int32_t>(turns);
    }
    // A position between the first and the last point may be rounded to just beyond them.
    const double last = grid.origin[a] + cells * grid.spacing[a];
    if (!grid.cyclic[a] && seed.position[a] >= grid.origin[a] && seed.position[a] <= last)
    {
      x = std::min(std::max(x, 0.0), cells);
    }
    if (!(x >= 0 && x <= cells))
    {
      return std::nullopt;
    }
    const double cell = std::min(std::floor(x), cells - 1);
    particle.cell[a] = static_cast<std::int32_t>(cell);
    particle.at[a] = x - cell;
  }
  const Moment moment = this->compute_moment(seed.time);
  particle.interval = moment.interval;
  particle.share = moment.share;
  if (moment.interval > this->last_)
  {
    particle.interval = this->last_;
    particle.share = 1;
  }
  return particle;
}

std::array<double, 3> RunFrame::compute_position(const Particle& particle) const noexcept
{
  std::array<double, 3> position{};
  for (std::size_t a = 0; a != 3; ++a)
  {
    const auto cell = static_cast<double>(
      particle.cell[a] + std::int64_t{ particle.turns[a] } * this->walk_.cells[a]);
    position[a] = this->walk_.origin[a] + (cell + particle.at[a]) * this->walk_.spacing[a];
  }
  return position;
}
}
