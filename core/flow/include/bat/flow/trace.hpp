// SPDX-License-Identifier: BSD-3-Clause
// Path lines of particles in an unsteady flow, which read only the bricks that particles visit.
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
  /// Dormand and Prince's pair of orders 5 and 4, with steps that end on faces of cells: follows
  /// the interpolated field within TraceOptions::max_error.
  CellByCell,
  /// Classic Runge-Kutta 4 with steps of a fixed share of each interval, as ParaView's and VTK's
  /// particle tracers.
  RungeKutta4
};

/// Whether bricks are read before a particle is in them. Changes no answer.
enum class Prefetch
{
  None,
  Velocity ///< where the velocity at the beginning of each interval leads
};

/// Whether reading ahead goes by what earlier traces of the source have learned, too: where
/// particles went from each brick. Changes no answer.
enum class Hints
{
  Off,
  Read, ///< those that there are; nothing is written
  Learn ///< and this run adds to them: CacheOptions::hints_file is written when it has ended
};

/// Why a line ends. Numbers of VTK's vtkIntegrator where it has them; they never change.
enum class Reason : std::uint8_t
{
  UnderWay = 0,     ///< of until(): not at its end, or not released
  LeftDomain = 1,   ///< on a face of the domain
  TooManyCells = 5, ///< more than 100,000, or 1,000,000 steps, in one interval; or too fast for any
  Stagnation = 6,   ///< not faster than TraceOptions::terminal_speed, which is above 0
  EndTime = 8,      ///< reached the end of the run
  Arrived = 9,      ///< reached the destination, where that ends it
  Blanked = 10,     ///< met cells without flow, on their face
  NoSeed = 11,      ///< the seed is outside of domain or times, or in a cell without flow: no line
  MaxAge = 12       ///< is TraceOptions::max_age old
};

/// A particle to be.
struct Seed
{
  std::array<double, 3> position{};
  double time = 0; ///< of release
};

/// Where particles are asked to come: closed boxes in the domain, of which the one that a particle
/// is in first counts, and of several at once the first of them.
struct Destination
{
  std::vector<Box> boxes;
  bool stop_on_arrival = false;
};

struct TraceOptions
{
  /// In time, or against it: particles then were where they are going.
  bool backward = false;
  /// When all lines end; the last time of the source if not given, or its first one backwards. A
  /// source of one time level is a steady flow, the same at all times: lines begin from that time
  /// on, and this one is needed, after it or, backwards, before it. Between them, such lines have
  /// points with keep_faces only, and steps of RungeKutta4 are shares of the whole.
  std::optional<double> end_time;
  /// Lines also end this long after their release, in units of time; above 0.
  double max_age = std::numeric_limits<double>::infinity();

  Integrator integrator = Integrator::CellByCell;
  /// Error of a step, in cells; 1e-12 to 1.
  double max_error = 1e-6;
  /// Of RungeKutta4: a step as a share of an interval, 1e-5 to 1.
  double step_share = 0.5;
  /// A line ends where a step would begin at this speed or below it, in units of velocity. With 0
  /// no line does: a particle that does not move rests, and moves on when the flow around it does.
  /// Not below 0.
  double terminal_speed = 0;
  /// NaN is a wall: velocity 0. Otherwise lines end at cells with NaN.
  bool no_slip = false;

  std::optional<Destination> destination;

  /// Points of lines are kept: at release, at each time level, at the end. Otherwise only ends are.
  bool keep_points = true;
  /// Points where lines cross faces of cells are kept too.
  bool keep_faces = false;
  /// What resume() needs to give the bits of one run: about 200 bytes for each line that ends with
  /// the times of the source.
  bool keep_resting = false;

  /// Most threads that compute; 0 for as many as oneTBB finds. Changes no bit of an answer.
  int threads = 0;
  Prefetch prefetch = Prefetch::Velocity;
  /// Nothing is read ahead by hints without `prefetch`.
  Hints hints = Hints::Read;
  /// Particles that are on their way at the same time; what more seeds there are waits.
  std::size_t max_particles = std::size_t{ 1 } << 18;
  /// No particle begins an interval before all have ended the one before, nothing is read ahead,
  /// and all particles are on their way at the same time: for sources that have few levels at a
  /// time, each of which is needed once. Changes no answer.
  bool in_step = false;
  /// Called from the calling thread with a fraction in [0, 1], never less than before; false gives
  /// up.
  std::function<bool(double)> progress;
};

/// What a run took.
struct Statistics
{
  std::uint64_t bricks = 0;            ///< of the dataset, all levels
  std::uint64_t touched = 0;           ///< of these: needed by this run
  std::uint64_t hits = 0;              ///< times that a brick was needed and in memory
  std::uint64_t read = 0;              ///< bricks read because they were needed
  std::uint64_t prefetched = 0;        ///< bricks read before they were needed
  std::uint64_t prefetches_used = 0;   ///< of these: needed later
  std::uint64_t prefetches_wasted = 0; ///< of these: dropped before they were needed
  std::uint64_t hinted = 0;            ///< bricks read ahead by hints, of those prefetched
  std::uint64_t hints_used = 0;        ///< of these: needed later
  std::uint64_t bytes_read = 0;        ///< from disk
  std::uint64_t value_bytes = 0;       ///< of the dataset: all values of all levels
  std::uint64_t waits = 0;             ///< times that a thread had nothing to do but to wait
  double wait_seconds = 0;             ///< of all threads
  std::uint64_t cells = 0;             ///< walked through
  std::uint64_t steps = 0;             ///< of the integrator
  std::uint64_t cache_bytes = 0;       ///< memory for bricks at the end
  std::uint64_t max_cache_bytes = 0;   ///< that there may be
};

/// One particle's fate, in the order of seeds.
struct Line
{
  Reason reason = Reason::NoSeed;
  std::array<double, 3> end{}; ///< position; of cyclic axes not wrapped
  double end_time = 0;
  /// When it was in the destination first; NaN if never.
  double arrival_time = std::numeric_limits<double>::quiet_NaN();
  std::int32_t destination = -1; ///< which of the boxes that was; -1 for none
  std::uint64_t first_point = 0; ///< of PathLines' arrays
  std::uint64_t points = 0;
};

struct Resting;

struct PathLines
{
  std::vector<Line> lines; ///< one for each seed
  // Of all points, line after line. Positions are not wrapped along cyclic axes.
  std::vector<std::array<double, 3>> positions;
  std::vector<double> times;
  std::vector<std::array<double, 3>> velocities;
  Statistics statistics;
  std::shared_ptr<const Resting> resting; ///< with TraceOptions::keep_resting

  /// Of all ends and points: two answers are the same bits if it is the same.
  [[nodiscard]] std::uint64_t checksum() const;
};

/// The lines of `seeds`. Seeds that cannot be followed are lines with Reason::NoSeed, no error. The
/// same bits for any cache, number of threads, and prefetching. Beyond cache and result, takes
/// 40 bytes for each seed and about 300 bytes for each particle under way; points are in memory
/// once, those under way take an eighth more. Throws Error: InvalidArgument (options, naming what
/// was found and what is allowed; more than 2^32 - 2 seeds), Cancelled, and what reading bricks
/// throws.
[[nodiscard]] PathLines trace(
  const Cache& cache, const std::vector<Seed>& seeds, const TraceOptions& options = {});

/// The lines of `seeds` in a source that has more times than it had when `lines` were traced, such
/// as the series of a simulation that goes on: what has ended with the times goes on from there,
/// and seeds that were too late have their lines. Reads only the new times, and where such seeds
/// begin. `options` are those of the run that `lines` come from, but for end_time. The same bits
/// as those of trace(), if that run kept what rests (TraceOptions::keep_resting) and ended with the
/// times that there were. Otherwise as exact, but steps begin anew at the old end. Statistics are
/// those of what is walked here. Throws Error as trace(); InvalidArgument if there are not as many
/// seeds as lines, or a line ends where the source has no flow, or no time.
[[nodiscard]] PathLines resume(const Cache& cache, const PathLines& lines,
  const std::vector<Seed>& seeds, const TraceOptions& options = {});

/// What rests, as bytes that a program may keep, to go on in another process: 16, and 96 for each
/// line that may go on.
[[nodiscard]] std::vector<std::byte> bytes_of(const Resting& resting);
/// The same back, of as many lines. Throws Error{InvalidArgument} unless they are such bytes.
[[nodiscard]] std::shared_ptr<const Resting> resting_from(
  const std::byte* bytes, std::size_t count, std::size_t lines);

/// `lines` of seeds that release `before` particles each, for resume() with seeds that release
/// `after`: the later ones of each seed have no line yet. Throws Error{InvalidArgument} unless
/// `before` divides the lines and is at most `after`.
[[nodiscard]] PathLines with_more_releases(PathLines lines, std::size_t before, std::size_t after);

/// What of `lines` is not after `time` (backwards: not before it), with a last point at that time
/// where a line goes on: walked to from the point before, so that it is as exact as any. Where that
/// point is on a face of cells without flow, and the walk ends there, it is on a cubic between the
/// points before and behind. Lines that go on, or were not released, have Reason::UnderWay;
/// arrivals after `time` are none. `options` are those of the run that `lines` come from.
/// Statistics are those of what is walked here. Throws Error as trace(); InvalidArgument if `time`
/// is NaN, or the lines have no points.
[[nodiscard]] PathLines stop_at(
  const Cache& cache, const PathLines& lines, double time, const TraceOptions& options = {});

/// Places at one time of particles that seeds have released one after another.
struct StreakLines
{
  std::vector<std::size_t> seeds;     ///< whose each streak line is
  std::vector<std::uint64_t> offsets; ///< line i has points offsets[i] to before offsets[i + 1]
  std::vector<std::size_t> particles; ///< of each point: number of its line in `at`
};

/// Joins the last points of `at`, which until() has cut: those of `releases` particles of the first
/// seed, then those of the next. Particles that have ended, or were not released, are left out;
/// what is left on both sides of one that has ended are two streak lines. Throws
/// Error{InvalidArgument} unless `releases` divides the lines.
[[nodiscard]] StreakLines streak_lines(const PathLines& at, double time, std::size_t releases);
}
