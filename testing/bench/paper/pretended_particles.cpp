// SPDX-License-Identifier: BSD-3-Clause
#include "pretended_particles.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace pretended
{
namespace
{
constexpr double kPi = 3.14159265358979323846;

// One stream of random numbers per seed, so that the particles do not depend on the threads.
class Random
{
public:
  explicit Random(std::uint64_t seed)
    : state_(seed * 0x9E3779B97F4A7C15u + 0xD1B54A32D192ED03u)
  {
  }

  std::uint64_t bits() noexcept
  {
    std::uint64_t x = this->state_ += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
  }

  double unit() noexcept { return static_cast<double>(this->bits() >> 11) * 0x1p-53; }

  // The sum of four uniform numbers approximates a normal distribution, and is fast.
  double normal() noexcept
  {
    const std::uint64_t x = this->bits();
    const std::uint64_t sum = (x & 0xFFFFu) + (x >> 16 & 0xFFFFu) + (x >> 32 & 0xFFFFu) + (x >> 48);
    return (static_cast<double>(sum) / 65536.0 - 2.0) * 1.7320508;
  }

private:
  std::uint64_t state_;
};

// --- boiler
constexpr double kWidth = 8.0;
constexpr double kHeight = 32.0;
constexpr double kHopper = 4.0; // walls slope inwards below
constexpr std::uint32_t kStepsPerAge = 10;
constexpr double kAgeSeconds = 0.01;

struct Nozzle
{
  double x, y, z; // place
  double dx, dy;  // direction, tangent to a circle of 1 m about the axis
};

std::vector<Nozzle> nozzles()
{
  std::vector<Nozzle> all;
  for (const double level : { 8.0, 10.5, 13.0 })
  {
    for (const auto& [cx, cy] : { std::array<double, 2>{ 0, 0 }, std::array<double, 2>{ kWidth, 0 },
           std::array<double, 2>{ kWidth, kWidth }, std::array<double, 2>{ 0, kWidth } })
    {
      const double to_axis = std::atan2(kWidth / 2 - cy, kWidth / 2 - cx);
      const double distance = std::hypot(kWidth / 2 - cx, kWidth / 2 - cy);
      const double direction = to_axis + std::asin(1.0 / distance);
      all.push_back({ cx + 0.05 * std::cos(to_axis), cy + 0.05 * std::sin(to_axis), level,
        std::cos(direction), std::sin(direction) });
    }
  }
  return all;
}

using Vector = std::array<double, 3>;

// Round jets that decay, a swirl, and an updraught.
Vector gas_at(const Vector& p, const std::vector<Nozzle>& jets)
{
  const double dx = p[0] - kWidth / 2;
  const double dy = p[1] - kWidth / 2;
  const double r = std::sqrt(dx * dx + dy * dy) + 1e-9;
  const double level = (p[2] - 12.0) / 9.0;
  const double strength = p[2] < 12.0 ? std::exp(-level * level) : 1 / (1 + 0.05 * (p[2] - 12.0));
  const double swirl = r < 3.0 ? 7 * strength * (r / 1.2) * std::exp(0.5 * (1 - r * r / 1.44))
                               : 7 * strength * 2.5 * std::exp(0.5 * (1 - 6.25)) * 3.0 / r;
  const double q = r / 3.2;
  Vector gas{ -swirl * dy / r - 0.3 * strength * dx / r, swirl * dx / r - 0.3 * strength * dy / r,
    (6.5 * std::exp(-r * r / 6.76) - 0.8 * (1 - std::exp(-q * q * q * q))) *
      (0.15 + 0.85 / (1 + std::exp(-(p[2] - 8.0) / 1.5))) };
  for (const Nozzle& jet : jets)
  {
    const double ez = p[2] - jet.z;
    const double ex = p[0] - jet.x;
    const double ey = p[1] - jet.y;
    const double along = ex * jet.dx + ey * jet.dy;
    if (along <= -0.1 || along >= 7.5)
    {
      continue;
    }
    const double reach = std::max(along, 0.0) + 1.5;
    const double wide = 0.085 * reach + 0.06;
    const double fx = ex - along * jet.dx;
    const double fy = ey - along * jet.dy;
    const double off = fx * fx + fy * fy + ez * ez;
    if (off < 6 * wide * wide)
    {
      const double speed = 22.0 * std::min(1.0, 2.8 / reach) * std::exp(-off / (wide * wide));
      gas[0] += speed * jet.dx;
      gas[1] += speed * jet.dy;
    }
  }
  return gas;
}

// One coal particle on its way.
class Coal
{
public:
  Coal(Random& random, const std::vector<Nozzle>& jets)
    : random_(random)
    , jets_(jets)
  {
    const Nozzle& jet = jets[random.bits() % jets.size()];
    const double r = 0.28 * std::sqrt(random.unit());
    const double angle = 2 * kPi * random.unit();
    this->place_ = { jet.x - jet.dy * r * std::cos(angle), jet.y + jet.dx * r * std::cos(angle),
      jet.z + r * std::sin(angle) };
    this->place_[0] = std::clamp(this->place_[0], 1e-3, kWidth - 1e-3);
    this->place_[1] = std::clamp(this->place_[1], 1e-3, kWidth - 1e-3);
    const double speed = 20 + 2 * random.normal();
    this->velocity_ = { speed * jet.dx, speed * jet.dy, 0.8 * random.normal() };
    const double diameter =
      std::clamp(6.5e-5 * std::pow(-std::log(1 - random.unit()), 1 / 1.4), 5e-6, 3e-4);
    this->drag_seconds_ = 900.0 * diameter * diameter / (18 * 4.5e-5);
    this->keeps_ = std::exp(-kAgeSeconds / this->drag_seconds_);
  }

  [[nodiscard]] const Vector& place() const { return this->place_; }
  [[nodiscard]] int stuck_to() const { return this->stuck_to_; }

  void advance()
  {
    if (this->stuck_to_ >= 0)
    {
      return;
    }
    constexpr double kTurbulenceCorrelation = 0.92; // turbulence, over one age
    constexpr double kNew = 0.39;
    const Vector gas = gas_at(this->place_, this->jets_);
    const double speed = std::sqrt(gas[0] * gas[0] + gas[1] * gas[1] + gas[2] * gas[2]);
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      double& eddy = this->turbulence_[axis];
      eddy = kTurbulenceCorrelation * eddy + kNew * (0.12 * speed + 0.25) * this->random_.normal();
      const double falls = axis == 2 ? 9.81 * this->drag_seconds_ : 0;
      const double follows = gas[axis] + eddy - falls;
      this->velocity_[axis] = follows + (this->velocity_[axis] - follows) * this->keeps_;
      this->place_[axis] += kAgeSeconds * this->velocity_[axis];
    }
    this->meet_walls();
  }

private:
  void meet_walls()
  {
    const double inset = this->place_[2] < kHopper ? (kHopper - this->place_[2]) * 0.8 : 0;
    for (std::size_t axis = 0; axis != 2; ++axis)
    {
      double& x = this->place_[axis];
      const double lower = std::min(inset, kWidth / 2);
      const double upper = kWidth - lower;
      if (x >= lower && x <= upper)
      {
        continue;
      }
      if (this->random_.unit() < 0.04)
      {
        this->stuck_to_ = static_cast<int>(axis);
        x = std::clamp(x, lower, upper);
      }
      else
      {
        x = std::clamp(x < lower ? 2 * lower - x : 2 * upper - x, lower, upper);
        this->velocity_[axis] *= -0.4;
      }
    }
    if (this->place_[2] < 0.2)
    {
      this->place_[2] = 0.2;
      this->stuck_to_ = 2;
    }
    if (this->place_[2] > kHeight)
    {
      this->place_[2] = 2 * kHeight - this->place_[2];
      this->velocity_[2] *= -0.2;
    }
  }

  Random& random_;
  const std::vector<Nozzle>& jets_;
  Vector place_{};
  Vector velocity_{};
  Vector turbulence_{};
  double drag_seconds_;
  double keeps_; // velocity fluctuation, over one age
  int stuck_to_ = -1;
};

// --- dam
constexpr double kTank = 4.0;
constexpr double kGravity = 9.81;
constexpr double kDamStepSeconds = 2.5e-4;

double depth_at(double x, double seconds)
{
  const double wave = std::sqrt(kGravity);
  const double from = x - 1.0;
  if (from <= -wave * seconds)
  {
    return 1.0;
  }
  if (from >= 2 * wave * seconds)
  {
    return 0.0;
  }
  const double speed = 2 * wave - from / seconds;
  return speed * speed / (9 * kGravity);
}

// The position along the tank below which the share `i / n` of the water lies, ignoring far walls.
std::vector<double> places_of_shares(double seconds, std::size_t shares)
{
  constexpr std::size_t kSlices = 1 << 16;
  const double length = 1.0 + 2 * std::sqrt(kGravity) * seconds;
  const double slice = length / static_cast<double>(kSlices);
  std::vector<double> before(kSlices + 1);
  for (std::size_t i = 0; i != kSlices; ++i)
  {
    before[i + 1] = before[i] + depth_at((static_cast<double>(i) + 0.5) * slice, seconds);
  }
  std::vector<double> places(shares + 1);
  std::size_t at = 0;
  for (std::size_t i = 0; i <= shares; ++i)
  {
    const double requested = before[kSlices] * static_cast<double>(i) / static_cast<double>(shares);
    while (at + 1 < kSlices && before[at + 1] < requested)
    {
      ++at;
    }
    const double here = before[at + 1] - before[at];
    const double share = here > 0 ? std::clamp((requested - before[at]) / here, 0.0, 1.0) : 0.0;
    places[i] = (static_cast<double>(at) + share) * slice;
  }
  return places;
}

std::uint32_t clamped_cell(float x, float lower, float upper, std::uint32_t cells)
{
  const double length = static_cast<double>(upper) - static_cast<double>(lower);
  const double from = static_cast<double>(x) - static_cast<double>(lower);
  const double cell = length > 0 ? from / length * cells : 0.0;
  return static_cast<std::uint32_t>(std::clamp(cell, 0.0, static_cast<double>(cells - 1)));
}

Point to_point(double x, double y, double z)
{
  return { static_cast<float>(x), static_cast<float>(y), static_cast<float>(z) };
}
}

std::vector<Point> boiler(std::uint64_t count, std::uint32_t step)
{
  const std::vector<Nozzle> jets = nozzles();
  const std::uint64_t ages = std::max(1u, step / kStepsPerAge);
  std::vector<Point> points(count);
  tbb::parallel_for(std::uint64_t{ 0 }, (count + ages - 1) / ages,
    [&](std::uint64_t path)
    {
      Random random(path);
      Coal coal(random, jets);
      const std::uint64_t end = std::min(count, (path + 1) * ages);
      for (std::uint64_t i = path * ages; i != end; ++i)
      {
        Vector from = coal.place();
        coal.advance();
        const double share = random.unit();
        for (std::size_t axis = 0; axis != 3; ++axis)
        {
          from[axis] += share * (coal.place()[axis] - from[axis]);
          // Spreads the deposits of one path over the wall, or they would all be at one point.
          if (coal.stuck_to() >= 0 && static_cast<int>(axis) != coal.stuck_to())
          {
            from[axis] += 0.3 * (random.unit() - 0.5);
          }
        }
        points[i] = to_point(std::clamp(from[0], 0.0, kWidth), std::clamp(from[1], 0.0, kWidth),
          std::clamp(from[2], 0.0, kHeight));
      }
    });
  return points;
}

std::vector<Point> dam(std::uint64_t count, std::uint32_t step)
{
  constexpr std::size_t kShares = 1 << 14;
  const double seconds = step * kDamStepSeconds;
  const std::vector<double> places = places_of_shares(seconds, kShares);
  std::vector<Point> points(count);
  tbb::parallel_for(std::uint64_t{ 0 }, count,
    [&](std::uint64_t i)
    {
      Random random(i);
      const double share = random.unit() * kShares;
      const auto at = static_cast<std::size_t>(share);
      double x = places[at] + (share - static_cast<double>(at)) * (places[at + 1] - places[at]);
      const double y = random.unit();
      double z = random.unit() * depth_at(x, seconds);
      if (x > kTank) // ran up the far wall: the faster, the higher, in a sheet that thins
      {
        const double late = (x - kTank) / std::max(seconds, 1e-9);
        x = kTank - 0.2 * random.unit() * random.unit();
        z = random.unit() * (0.05 + late * late / (2 * kGravity) * 3);
      }
      else if (seconds > 0 && random.unit() < 0.01)
      {
        z += -0.15 * std::log(1 - random.unit()); // spray
      }
      points[i] = to_point(x, y, z);
    });
  return points;
}

std::vector<Point> uniform(std::uint64_t count)
{
  std::vector<Point> points(count);
  tbb::parallel_for(std::uint64_t{ 0 }, count,
    [&](std::uint64_t i)
    {
      Random random(i);
      const double x = random.unit();
      const double y = random.unit();
      points[i] = to_point(x, y, random.unit());
    });
  return points;
}

std::uint32_t RankGrid::rank_of(const Point& point) const
{
  std::uint32_t rank = 0;
  for (std::size_t axis = 3; axis != 0; --axis)
  {
    const std::size_t a = axis - 1;
    rank =
      rank * this->size[a] + clamped_cell(point[a], this->lower[a], this->upper[a], this->size[a]);
  }
  return rank;
}

std::array<Point, 2> RankGrid::box_of(std::uint32_t rank) const
{
  std::array<Point, 2> box;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    const std::uint32_t cell = rank % this->size[axis];
    rank /= this->size[axis];
    const auto lowest = static_cast<double>(this->lower[axis]);
    const double length = static_cast<double>(this->upper[axis]) - lowest;
    box[0][axis] = static_cast<float>(lowest + length * cell / this->size[axis]);
    box[1][axis] = static_cast<float>(lowest + length * (cell + 1) / this->size[axis]);
  }
  return box;
}

RankGrid deal_space(const std::vector<Point>& points, std::uint32_t ranks, bool flat)
{
  constexpr float kMax = std::numeric_limits<float>::max();
  RankGrid grid;
  grid.lower = { kMax, kMax, kMax };
  grid.upper = { -kMax, -kMax, -kMax };
  for (const Point& point : points)
  {
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      grid.lower[axis] = std::min(grid.lower[axis], point[axis]);
      grid.upper[axis] = std::max(grid.upper[axis], point[axis]);
    }
  }
  double minimum = std::numeric_limits<double>::infinity();
  for (std::uint32_t nx = 1; nx <= ranks; ++nx)
  {
    for (std::uint32_t ny = 1; ranks % nx == 0 && ny <= ranks / nx; ++ny)
    {
      const std::uint32_t nz = ranks / nx / ny;
      if (nx * ny * nz != ranks || (flat && nz != 1))
      {
        continue;
      }
      const std::array<std::uint32_t, 3> size{ nx, ny, nz };
      double longest = 0;
      double shortest = std::numeric_limits<double>::infinity();
      for (std::size_t axis = 0; axis != (flat ? 2u : 3u); ++axis)
      {
        const double length =
          static_cast<double>(grid.upper[axis]) - static_cast<double>(grid.lower[axis]);
        longest = std::max(longest, length / size[axis]);
        shortest = std::min(shortest, length / size[axis]);
      }
      if (longest / std::max(shortest, 1e-30) < minimum)
      {
        minimum = longest / std::max(shortest, 1e-30);
        grid.size = size;
      }
    }
  }
  return grid;
}

std::vector<std::uint64_t> sort_by_rank(std::vector<Point>& points, const RankGrid& grid)
{
  std::vector<std::uint64_t> begins(std::size_t{ grid.ranks() } + 1);
  for (const Point& point : points)
  {
    ++begins[grid.rank_of(point)];
  }
  std::uint64_t before = 0;
  for (std::uint64_t& begin : begins)
  {
    before += begin;
    begin = before;
  }
  std::vector<Point> sorted(points.size());
  for (std::size_t i = points.size(); i != 0; --i)
  {
    sorted[--begins[grid.rank_of(points[i - 1])]] = points[i - 1];
  }
  points = std::move(sorted);
  return begins;
}
}
