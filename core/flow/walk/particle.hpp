// SPDX-License-Identifier: BSD-3-Clause
// A particle during its walk, the bricks that contain it, and what a walk records.
#pragma once

#include "common/memory/pages.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bat::flow
{
/// Independent of all other particles: its path is the same whenever and wherever its walk
/// continues.
struct Particle
{
  std::array<double, 3> at{};          ///< position in its cell, 0 to 1 along each axis
  std::array<std::int32_t, 3> cell{};  ///< inside of the grid
  std::array<std::int32_t, 3> turns{}; ///< periods that it has gone along cyclic axes
  double share = 0;                    ///< share of its interval, in the direction of the run
  double step = 1;                     ///< length of the next step, a share of the interval
  double end_time = 0;       ///< when its maximum age is reached; infinite without a limit
  std::uint32_t line = 0;    ///< index of its line
  std::int32_t interval = 0; ///< number of the interval in the run
  std::uint32_t points = 0;  ///< noted so far
  std::uint32_t cells = 0;   ///< entered in this interval
  std::uint32_t steps = 0;   ///< tried in this interval, from cell to cell
  std::uint8_t tries = 0;    ///< number of blank cells tried next to its seed
  bool has_begun = false;    ///< its seed is in a cell with flow
  bool is_new = true;        ///< nothing of its interval has been checked yet
  bool is_noted = false;     ///< its last point is where it is
  bool has_arrived = false;

  // State within a Runge-Kutta 4 step: the number of slopes taken, or kAtStop; the position for the
  // next slope; the sum of the slopes so far (before the first, the velocity with which the
  // particle arrived); and, if the step leaves the flow, how far the walk from cell to cell goes
  // instead.
  static constexpr std::uint8_t kAtStop = 4; ///< has come to the end, whose velocity it asks for
  std::uint8_t slopes = 0;
  bool walks = false;
  double stop_at = 0;
  std::array<double, 3> move{};
  std::array<double, 3> sum{};
};

/// A brick at both times of an interval, with the available points of its neighbours.
struct BrickPair
{
  const std::byte* before = nullptr; ///< values at the time where the interval begins in the run
  const std::byte* after = nullptr;
  std::array<std::int32_t, 3> first{};  ///< cell of its first point
  std::array<std::int32_t, 3> points{}; ///< its own points, without neighbours'
  unsigned there =
    1; ///< bit m: cells that need the neighbours after the faces of axes m can be walked
};

/// Values shared by all cells of an interval.
struct IntervalFrame
{
  /// Converts velocity to cells per interval; 0 along an axis of one point. It is not a Vector4,
  /// whose alignment depends on the processor.
  std::array<double, 4> scale{};
  std::array<double, 3> per_cell{}; ///< converts cells per interval to velocity
  double begin = 0;                 ///< time
  double end = 0;
  double stop = 1;      ///< share at which the run ends, 1 unless in this interval
  double stop_time = 0; ///< the time of that
  bool is_last = false;
};

/// Values shared by the whole run.
struct WalkFrame
{
  std::array<std::int32_t, 3> cells{}; ///< along each axis; 1 for an axis of one point
  std::array<bool, 3> cyclic{};
  std::array<bool, 3> is_flat{}; ///< true for an axis of one point
  std::array<double, 3> origin{};
  std::array<double, 3> spacing{};
  std::array<std::size_t, 3> stride{}; ///< bytes from a point to the next; 0 along a flat axis
  int components = 3;
  bool is_double = false; ///< values
  double tolerance = 1e-6;
  double terminal_speed = 0;
  double step_share = 0; ///< above 0: Runge-Kutta 4 with such steps
  bool no_slip = false;  ///< NaN is a velocity of 0
  bool notes_faces = false;
  bool notes_points = true;
  bool notes_beginnings = false; ///< for looking ahead
  bool stops_on_arrival = false;
  struct Destination
  {
    std::int32_t number = 0;
    std::array<double, 3> lower{}; ///< in cells from the first point
    std::array<double, 3> upper{};
  };
  std::vector<Destination> destinations; ///< destinations that particles can reach
};

/// A point on a line.
struct NotedPoint
{
  std::uint32_t line = 0;
  std::uint32_t number = 0;
  std::array<double, 3> position{};
  double time = 0;
  std::array<double, 3> velocity{};
};

/// A collection of points, in bins of lines with neighbouring numbers. Each bin returns its memory
/// to the system separately.
class NotedPoints
{
public:
  static constexpr std::size_t kMaxBins = 256;

  /// For points on lines with numbers below `lines`.
  explicit NotedPoints(std::size_t lines = 0)
  {
    const std::size_t last = lines == 0 ? 0 : lines - 1;
    while (last >> this->shift_ >= kMaxBins)
    {
      ++this->shift_;
    }
    this->bins_.resize((last >> this->shift_) + 1);
  }

  void add(const NotedPoint& point)
  {
    Bin& bin = this->bins_[point.line >> this->shift_];
    if (bin.next == bin.end)
    {
      this->grow(bin);
    }
    *bin.next++ = point;
  }
  [[nodiscard]] std::uint64_t size() const noexcept
  {
    std::uint64_t size = 0;
    for (const Bin& bin : this->bins_)
    {
      for (const Piece& piece : bin.pieces)
      {
        size += static_cast<std::uint64_t>(
          (&piece == &bin.pieces.back() ? bin.next : piece.end) - piece.begin);
      }
    }
    return size;
  }
  [[nodiscard]] std::size_t bins() const noexcept { return this->bins_.size(); }
  /// Bin n contains the lines up to before this one.
  [[nodiscard]] std::size_t end_of_bin(std::size_t n) const noexcept
  {
    return (n + 1) << this->shift_;
  }
  template <class Visit>
  void visit(std::size_t n, const Visit& visit) const
  {
    const Bin& bin = this->bins_[n];
    for (const Piece& piece : bin.pieces)
    {
      const NotedPoint* const end = &piece == &bin.pieces.back() ? bin.next : piece.end;
      for (const NotedPoint* point = piece.begin; point != end; ++point)
      {
        visit(*point);
      }
    }
  }
  void forget(std::size_t n) noexcept { this->bins_[n] = {}; }

private:
  struct Piece
  {
    Pages memory;
    NotedPoint* begin = nullptr;
    NotedPoint* end = nullptr;
  };
  /// Its points never move.
  struct Bin
  {
    NotedPoint* next = nullptr;
    NotedPoint* end = nullptr;
    std::vector<Piece> pieces;
  };

  // Untouched memory is not allocated; pieces soon become large.
  static void grow(Bin& bin)
  {
    constexpr std::size_t kMinPieceBytes = std::size_t{ 1 } << 12;
    constexpr std::size_t kMaxPieceBytes = std::size_t{ 1 } << 25;
    const std::size_t bytes =
      std::min(kMinPieceBytes << std::min<std::size_t>(2 * bin.pieces.size(), 20), kMaxPieceBytes);
    Piece piece;
    piece.memory = Pages(bytes);
    piece.begin = static_cast<NotedPoint*>(piece.memory.memory());
    piece.end = piece.begin + bytes / sizeof(NotedPoint);
    bin.pieces.push_back(std::move(piece));
    bin.next = bin.pieces.back().begin;
    bin.end = bin.pieces.back().end;
  }

  std::vector<Bin> bins_;
  unsigned shift_ = 0;
};

enum class WalkEnd : std::uint8_t
{
  Interval, ///< at the end of its interval; `share` is 1
  Brick,    ///< its cell is of another brick
  Ghosts,   ///< its cell needs neighbours that are not there
  Left,     ///< left the domain
  Cells,    ///< too many cells or steps in one interval
  Still,    ///< speed is at most the terminal speed
  Time,     ///< reached the end of the run
  Arrived,  ///< reached a destination
  Aged,     ///< reached its maximum age
  Blank,    ///< met cells without flow
  BlankSeed ///< its seed is in a cell without flow
};

/// What a worker has recorded and counted.
struct WalkLog
{
  NotedPoints points;
  struct Arrival
  {
    std::uint32_t line = 0;
    std::int32_t destination = 0;
    double time = 0;
  };
  std::vector<Arrival> arrivals;
  std::vector<Particle> resting; ///< at the end of the last interval of all, if kept
  /// A particle's position at the beginning of an interval, and its velocity in cells per interval.
  struct Beginning
  {
    std::array<double, 3> at{};
    std::array<std::int32_t, 3> cell{};
    double share = 0;
    std::array<double, 3> velocity{};
  };
  std::vector<Beginning> beginnings; ///< from the last walk
  std::uint64_t cells = 0;
  std::uint64_t steps = 0;
  std::vector<std::uint32_t> walking; ///< numbers of particles, while they walk
  std::vector<std::uint32_t> stepping;
};

/// Number of cells in one interval after which a particle is abandoned.
inline constexpr std::uint32_t kMaxCells = 100000;
/// The limit of steps: a particle that circles in one cell forever crosses no face.
inline constexpr std::uint32_t kMaxSteps = 1000000;

/// Walks each of `count` particles until it ends, and records the reason at its index in `ends`.
/// The results are independent between particles, and their bits do not depend on the processor.
void walk(const WalkFrame& run, const IntervalFrame& interval, const BrickPair& bricks,
  Particle* particles, std::size_t count, WalkEnd* ends, WalkLog& log);

/// The position of the next Runge-Kutta 4 slope: `move` away from the particle.
struct PlaceOfSlope
{
  bool inside = true; ///< inside the domain
  std::array<std::int32_t, 3> cell{};
  std::array<std::int32_t, 3> turns{};
  std::array<double, 3> at{};
};
[[nodiscard]] PlaceOfSlope place_of_slope(const WalkFrame& run, const Particle& particle) noexcept;

/// The cell that the particle needs next: its own, or that of the next Runge-Kutta 4 slope.
[[nodiscard]] std::array<std::int32_t, 3> needed_cell(
  const WalkFrame& run, const Particle& particle) noexcept;
}
