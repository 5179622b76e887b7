// SPDX-License-Identifier: BSD-3-Clause
// Facts known before a run begins: its intervals in order, the grid in cells, and where and when
// particles begin.
#pragma once

#include "bat/flow/trace.hpp"
#include "flow/walk/particle.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bat::flow
{
/// Returns whether a source has one time level: a flow that is the same at all times.
[[nodiscard]] inline bool is_steady(const BrickSource& source) noexcept
{
  return source.times().size() == 1;
}
/// Returns the times of a run, increasing: those of the source, or for a steady flow its time and
/// the end time of the run. Throws Error{InvalidArgument} if a steady flow has no such end.
[[nodiscard]] std::vector<double> run_times(
  const BrickSource& source, std::optional<double> end_time, bool backward);

class RunFrame
{
public:
  /// Throws Error{InvalidArgument}.
  RunFrame(const BrickSource& source, const TraceOptions& options);

  [[nodiscard]] const WalkFrame& walk() const noexcept { return this->walk_; }
  [[nodiscard]] const IntervalFrame& interval(std::int32_t n) const noexcept
  {
    return this->intervals_[static_cast<std::size_t>(n)];
  }
  /// Returns the number of the interval in which all lines end.
  [[nodiscard]] std::int32_t last_interval() const noexcept { return this->last_; }
  /// Time levels at which interval n begins and ends, in the direction of the run.
  [[nodiscard]] std::size_t level_before(std::int32_t n) const noexcept
  {
    const auto i = static_cast<std::size_t>(n);
    return this->level_of(this->backward_ ? this->times_.size() - 1 - i : i);
  }
  [[nodiscard]] std::size_t level_after(std::int32_t n) const noexcept
  {
    const auto i = static_cast<std::size_t>(n);
    return this->level_of(this->backward_ ? this->times_.size() - 2 - i : i + 1);
  }
  [[nodiscard]] double end_time() const noexcept { return this->end_time_; }
  struct Moment
  {
    std::int32_t interval = 0;
    double share = 0;
  };
  [[nodiscard]] Moment compute_moment(double time) const noexcept;

  /// Returns the time at which a particle released at a given time reaches its maximum age.
  [[nodiscard]] double end_of_age(double release) const noexcept
  {
    return this->backward_ ? release - this->max_age_ : release + this->max_age_;
  }
  /// Returns a particle at its seed, without its own end_time yet; nothing if the seed is outside
  /// of the domain or the times.
  [[nodiscard]] std::optional<Particle> begin(const Seed& seed) const noexcept;
  [[nodiscard]] std::array<double, 3> compute_position(const Particle& particle) const noexcept;

private:
  void add_destinations(const Destination& destination);
  void set_intervals();
  [[nodiscard]] bool place(double position, std::size_t a, Particle& particle) const noexcept;
  [[nodiscard]] std::optional<WalkFrame::Destination> destination(
    std::size_t number, const Box& box) const;
  // A steady flow uses its only level at both times.
  [[nodiscard]] std::size_t level_of(std::size_t time) const noexcept
  {
    return this->is_steady_ ? 0 : time;
  }
  [[nodiscard]] double time_before(std::int32_t n) const noexcept
  {
    const auto i = static_cast<std::size_t>(n);
    return this->times_[this->backward_ ? this->times_.size() - 1 - i : i];
  }
  [[nodiscard]] double time_after(std::int32_t n) const noexcept
  {
    const auto i = static_cast<std::size_t>(n);
    return this->times_[this->backward_ ? this->times_.size() - 2 - i : i + 1];
  }

  const BrickSource& source_;
  bool backward_;
  bool is_steady_;
  std::vector<double> times_;
  double end_time_;
  double max_age_;
  WalkFrame walk_;
  std::vector<IntervalFrame> intervals_;
  std::int32_t last_ = 0;
};
}
