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
constexpr double kMinStepShare = 1e-5; // allows as many steps as the maximum number of cells

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

WalkFrame make_walk_frame(const BrickGrid& grid, const TraceOptions& options)
{
  WalkFrame walk;
  walk.components = grid.components;
  walk.is_double = grid.type == ScalarType::Float64;
  walk.tolerance = options.max_error;
  walk.terminal_speed = options.terminal_speed;
  walk.step_share = options.integrator == Integrator::RungeKutta4 ? options.step_share : 0;
  walk.no_slip = options.no_slip;
  walk.notes_points = options.keep_points;
  walk.notes_beginnings = options.prefetch == Prefetch::Velocity;
  walk.notes_faces = options.keep_faces && options.keep_points;
  std::size_t stride = grid.point_bytes();
  for (std::size_t a = 0; a != 3; ++a)
  {
    walk.is_flat[a] = grid.points[a] == 1;
    walk.cells[a] = walk.is_flat[a] ? 1 : static_cast<std::int32_t>(grid.cells(a));
    walk.cyclic[a] = grid.cyclic[a];
    walk.origin[a] = grid.origin[a];
    walk.spacing[a] = grid.spacing[a];
    walk.stride[a] = walk.is_flat[a] ? 0 : stride;
    stride *= static_cast<std::size_t>(grid.edge) + 1;
  }
  return walk;
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
  this->walk_ = make_walk_frame(grid, options);
  if (options.destination)
  {
    this->add_destinations(*options.destination);
  }
  this->set_intervals();
}

void RunFrame::add_destinations(const Destination& destination)
{
  this->walk_.stops_on_arrival = destination.stop_on_arrival;
  const std::vector<Box>& boxes = destination.boxes;
  if (boxes.size() > kMaxDestinations)
  {
    refuse(fmt::format("{} destinations; at most {} are allowed", boxes.size(), kMaxDestinations));
  }
  for (std::size_t i = 0; i != boxes.size(); ++i)
  {
    if (const std::optional<WalkFrame::Destination> to = this->destination(i, boxes[i]))
    {
      this->walk_.destinations.push_back(*to);
    }
  }
}

void RunFrame::set_intervals()
{
  const BrickGrid& grid = this->source_.grid();
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

// Finds the particle's cell along an axis. Returns false if the position is outside of the grid.
bool RunFrame::place(double position, std::size_t a, Particle& particle) const noexcept
{
  const BrickGrid& grid = this->source_.grid();
  if (!std::isfinite(position))
  {
    return false;
  }
  if (this->walk_.is_flat[a])
  {
    // A plane has no thickness, so a position within rounding of it counts as on it.
    return std::abs(position - grid.origin[a]) <= 1e-6 * grid.spacing[a];
  }
  double x = (position - grid.origin[a]) / grid.spacing[a];
  // A position on a face as compute_position() computes it, or rounded to just beyond it, is on
  // the face, and a walk may begin on either side.
  const double nearest = std::round(x);
  const double face = grid.origin[a] + nearest * grid.spacing[a];
  if (position == face || (position < face) != (x < nearest))
  {
    x = nearest;
  }
  const double cells = this->walk_.cells[a];
  if (grid.cyclic[a])
  {
    const double turns = std::floor(x / cells);
    if (!(turns > -1e9 && turns < 1e9))
    {
      return false;
    }
    x -= turns * cells;
    particle.turns[a] = static_cast<std::int32_t>(turns);
  }
  // A position between the first and the last point may be rounded to just beyond them.
  const double last = grid.origin[a] + cells * grid.spacing[a];
  if (!grid.cyclic[a] && position >= grid.origin[a] && position <= last)
  {
    x = std::min(std::max(x, 0.0), cells);
  }
  if (!(x >= 0 && x <= cells))
  {
    return false;
  }
  const double cell = std::min(std::floor(x), cells - 1);
  particle.cell[a] = static_cast<std::int32_t>(cell);
  particle.at[a] = x - cell;
  return true;
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
  for (std::size_t a = 0; a != 3; ++a)
  {
    if (!this->place(seed.position[a], a, particle))
    {
      return std::nullopt;
    }
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
