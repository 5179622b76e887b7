// SPDX-License-Identifier: BSD-3-Clause
// Path lines of particles in an unsteady flow. Tracing reads only the bricks that particles visit.
#pragma once

#include "bat/flow/cache.hpp"
#include "bat/types.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace bat::flow
{
enum class Integrator
{
  /// Dormand and Prince's pair of orders 5 and 4, with steps that end on faces of cells. It follows
  /// the interpolated field within TraceOptions::max_error.
  CellByCell,
  /// Classic Runge-Kutta 4 with steps of a fixed share of each interval, as in the particle tracers
  /// of ParaView and VTK.
  RungeKutta4
};

/// Selects whether bricks are read before a particle enters them. Does not affect results.
enum class Prefetch
{
  None,
  Velocity ///< follows the velocity at the beginning of each interval
};

/// Selects whether prefetching also uses what earlier traces of the source have learned: where
/// particles went from each brick. Does not affect results.
enum class Hints
{
  Off,
  Read, ///< uses existing hints; nothing is written
  Learn ///< also adds hints from this run; CacheOptions::hints_file is written at its end
};

/// The reason why a line ends. Numbers are those of VTK's vtkIntegrator where it has them, and
/// never change.
enum class Reason : std::uint8_t
{
  UnderWay = 0,     ///< only from until(): continues, or was not released
  LeftDomain = 1,   ///< on a face of the domain
  TooManyCells = 5, ///< over 100,000, or 1,000,000 steps, in one interval; or the flow is too fast
  Stagnation = 6,   ///< not faster than TraceOptions::terminal_speed, if above 0
  EndTime = 8,      ///< reached the end of the run
  Arrived = 9,      ///< reached the destination, and stops there
  Blanked = 10,     ///< reached cells without flow, at their face
  NoSeed = 11,      ///< no line: the seed is outside of domain or times, or in a cell without flow
  MaxAge = 12       ///< reached TraceOptions::max_age
};

/// The place and time of a particle's release.
struct Seed
{
  std::array<double, 3> position{};
  double time = 0; ///< time of release
};

/// The boxes that particles may reach: closed boxes in the domain. The box that a particle enters
/// first counts; if it enters several at the same time, the first in the list does.
struct Destination
{
  std::vector<Box> boxes;
  bool stop_on_arrival = false;
};

struct TraceOptions
{
  /// The direction of time. Backwards, lines lead to where particles came from.
  bool backward = false;
  /// When all lines end; by default the last time of the source or, backwards, the first. A source
  /// of one time level is a steady flow, the same at all times: lines then begin at its time, and
  /// end_time is required, after that time or, backwards, before it. Between the two, such lines
  /// have points only with keep_faces, and the steps of RungeKutta4 are shares of the whole period.
  std::optional<double> end_time;
  /// Lines also end this long after their release, in units of time. Greater than 0.
  double max_age = std::numeric_limits<double>::infinity();

  Integrator integrator = Integrator::CellByCell;
  /// Maximum error of a step, in cells; 1e-12 to 1.
  double max_error = 1e-6;
  /// Step of RungeKutta4 as a share of an interval, 1e-5 to 1.
  double step_share = 0.5;
  /// A line ends where a step would begin at this speed or below, in units of velocity; at least 0.
  /// With 0 this ends no line: a particle at rest stays, and moves again when the flow around it
  /// does.
  double terminal_speed = 0;
  /// Treats NaN as a wall with velocity 0. Otherwise lines end at cells with NaN.
  bool no_slip = false;

  std::optional<Destination> destination;

  /// Keeps points of lines: at release, at each time level, and at the end. Otherwise only ends are
  /// kept.
  bool keep_points = true;
  /// Also keeps points where lines cross faces of cells.
  bool keep_faces = false;
  /// Keeps what resume() needs to give the same bits as one run: about 200 bytes for each line that
  /// ends with the times of the source.
  bool keep_resting = false;

  /// Maximum number of computing threads; 0 for as many as oneTBB finds. Does not affect results.
  int threads = 0;
  Prefetch prefetch = Prefetch::Velocity;
  /// Without `prefetch`, hints prefetch nothing either.
  Hints hints = Hints::Read;
  /// Maximum number of particles that are traced at the same time. Further seeds wait.
  std::size_t max_particles = std::size_t{ 1 } << 18;
  /// Particles begin an interval only after all have ended the previous one, nothing is prefetched,
  /// and all are traced at the same time. This suits sources that hold few levels at a time and
  /// need each one once. Does not affect results.
  bool in_step = false;
  /// Called from the calling thread with a fraction in [0, 1] that never falls. Returning false
  /// cancels the trace.
  std::function<bool(double)> progress;
};

/// What a run cost.
struct Statistics
{
  std::uint64_t bricks = 0;            ///< bricks in the dataset, all levels
  std::uint64_t touched = 0;           ///< bricks that this run needed
  std::uint64_t hits = 0;              ///< times that a needed brick was cached
  std::uint64_t read = 0;              ///< bricks read because they were needed
  std::uint64_t prefetched = 0;        ///< bricks read before they were needed
  std::uint64_t prefetches_used = 0;   ///< prefetched bricks that were needed later
  std::uint64_t prefetches_wasted = 0; ///< prefetched bricks that were evicted unused
  std::uint64_t hinted = 0;            ///< bricks read ahead by hints, of those prefetched
  std::uint64_t hints_used = 0;        ///< bricks read ahead by hints that were needed later
  std::uint64_t bytes_read = 0;        ///< bytes read from disk
  std::uint64_t value_bytes = 0;       ///< bytes of all values of all levels in the dataset
  std::uint64_t waits = 0;             ///< times that a thread had to wait
  double wait_seconds = 0;             ///< waiting time of all threads
  std::uint64_t cells = 0;             ///< cells that particles passed through
  std::uint64_t steps = 0;             ///< steps of the integrator
  std::uint64_t cache_bytes = 0;       ///< memory for bricks at the end
  std::uint64_t max_cache_bytes = 0;   ///< memory limit for bricks
};

/// The result for one particle; lines are in the order of seeds.
struct Line
{
  Reason reason = Reason::NoSeed;
  std::array<double, 3> end{}; ///< end position; not wrapped along cyclic axes
  double end_time = 0;
  /// Time at which it first was in the destination; NaN if never.
  double arrival_time = std::numeric_limits<double>::quiet_NaN();
  std::int32_t destination = -1; ///< index of the box that it reached; -1 for none
  std::uint64_t first_point = 0; ///< index into the arrays of PathLines
  std::uint64_t points = 0;
};

struct Resting;

struct PathLines
{
  std::vector<Line> lines; ///< one line for each seed
  // All points, line after line. Positions are not wrapped along cyclic axes.
  std::vector<std::array<double, 3>> positions;
  std::vector<double> times;
  std::vector<std::array<double, 3>> velocities;
  Statistics statistics;
  std::shared_ptr<const Resting> resting; ///< filled with TraceOptions::keep_resting

  /// Checksum of all ends and points: equal for results with the same bits.
  [[nodiscard]] std::uint64_t checksum() const;
};

/// Traces the lines of `seeds`. Seeds that cannot be followed are lines with Reason::NoSeed, which
/// is not an error. The result has the same bits for any cache, number of threads, and prefetching.
/// Besides cache and result, takes 40 bytes per seed and about 300 bytes per particle in flight;
/// points are in memory once, and those of particles in flight take an eighth more. Throws Error:
/// InvalidArgument (options, naming what was found and what is allowed; more than 2^32 - 2 seeds),
/// Cancelled, and any error from reading bricks.
[[nodiscard]] PathLines trace(
  const Cache& cache, const std::vector<Seed>& seeds, const TraceOptions& options = {});

/// Extends `lines` of `seeds` after the source has gained time levels, as a running simulation's
/// series does: lines that ended with the old times continue, and seeds that were too late are
/// traced. Reads only the new times, and the bricks in which such seeds begin. `options` are those
/// of the run that made `lines`, except end_time. The result has the same bits as a single trace()
/// if that run kept its resting particles (TraceOptions::keep_resting) and ended with the source's
/// last time. Otherwise it is as accurate, but steps restart at the old end. Statistics cover this
/// call only. Throws Error as trace() does; InvalidArgument if the numbers of seeds and lines
/// differ, or a line ends where the source has no flow, or no time.
[[nodiscard]] PathLines resume(const Cache& cache, const PathLines& lines,
  const std::vector<Seed>& seeds, const TraceOptions& options = {});

/// Returns the resting particles as bytes that a program may store to resume in another process:
/// 16, and 96 for each line that may continue.
[[nodiscard]] std::vector<std::byte> bytes_of(const Resting& resting);
/// Restores them for that many lines. Throws Error{InvalidArgument} if the bytes are not valid.
[[nodiscard]] std::shared_ptr<const Resting> resting_from(
  const std::byte* bytes, std::size_t count, std::size_t lines);

/// Makes room in `lines`, from seeds that release `before` particles each, for seeds that release
/// `after` each: the added releases of each seed have no line yet. The result is for resume().
/// Throws Error{InvalidArgument} unless `before` divides the number of lines and is at most
/// `after`.
[[nodiscard]] PathLines with_more_releases(PathLines lines, std::size_t before, std::size_t after);

/// Cuts `lines` at `time`, keeping what is not after it (backwards: not before it). A line that
/// continues gets a last point at that time, computed by walking from the preceding point, so that
/// it is as accurate as any other. If that point is on a face of cells without flow and the walk
/// ends there, it is interpolated by a cubic between the points before and after. Lines that
/// continue, or were not released, have Reason::UnderWay; arrivals after `time` are removed.
/// `options` are those of the run that made `lines`. Statistics cover this call only. Throws Error
/// as trace() does; InvalidArgument if `time` is NaN, or the lines have no points.
[[nodiscard]] PathLines stop_at(
  const Cache& cache, const PathLines& lines, double time, const TraceOptions& options = {});

/// Positions at one time of particles that seeds have released one after another.
struct StreakLines
{
  std::vector<std::size_t> seeds;     ///< seed of each streak line
  std::vector<std::uint64_t> offsets; ///< line i has points offsets[i] to offsets[i + 1] - 1
  std::vector<std::size_t> particles; ///< for each point, the index of its line in `at`
};

/// Joins the last points of `at`, which until() has cut, into streak lines: `releases` particles of
/// the first seed, then those of the next. Particles that have ended or were not released are left
/// out; one that has ended separates two streak lines. Throws Error{InvalidArgument} unless
/// `releases` divides the number of lines.
[[nodiscard]] StreakLines streak_lines(const PathLines& at, double time, std::size_t releases);
}
