// SPDX-License-Identifier: BSD-3-Clause
#include "particles/plan/summarise.hpp"

#include "bat/error.hpp"
#include "particles/plan/pieces.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace bat
{
using plan::PositionOf;
using plan::to_float;

namespace
{
constexpr std::uint32_t kSampledPerCell = 16;
constexpr std::uint32_t kMinSampledCells = 2048;
// Weight of evenly spread particles relative to uneven ones when the next cell to cut is chosen.
constexpr double kEvenBlur = 0.05;
// A face that holds this share of a cell's particles becomes a separate cell.
constexpr std::size_t kFaceShare = 8;

template <class T>
using Point = std::array<T, 3>;

std::uint64_t scrambled(std::uint64_t x) noexcept
{
  x = (x + 0x9E3779B97F4A7C15u) ^ (x >> 30);
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// Takes one from each of `sample` runs of neighbours. The position within the run varies: every
// k-th particle of a lattice might be one of its planes.
template <class T>
std::vector<Point<T>> take_sample(
  const PositionOf& compute_position, std::uint64_t count, std::uint64_t sample, std::uint32_t rank)
{
  std::vector<Point<T>> points;
  points.reserve(sample);
  const std::uint64_t run = count / sample;
  const std::uint64_t longer = count % sample; // this many runs have one more
  for (std::uint64_t s = 0; s != sample; ++s)
  {
    const std::uint64_t begin = s * run + std::min(s, longer);
    const std::uint64_t length = run + (s < longer ? 1 : 0);
    const std::uint64_t at =
      begin + (length > 1 ? scrambled(s ^ (std::uint64_t{ rank } << 32)) % length : 0);
    const std::array<double, 3> position = compute_position(at);
    const Point<T> point{ static_cast<T>(position[0]), static_cast<T>(position[1]),
      static_cast<T>(position[2]) };
    if (std::isfinite(point[0]) && std::isfinite(point[1]) && std::isfinite(point[2]))
    {
      points.push_back(point);
    }
  }
  return points;
}

// Cuts sampled points into cells at medians, beginning with the cell that describes its particles
// worst: one with many particles that are unevenly spread in its box. Otherwise a few strays would
// blur the surface that they have left.
template <class T>
class CellCutter
{
public:
  CellCutter(std::vector<Point<T>>& points, std::uint64_t count, std::uint32_t rank)
    : points_(points)
    , count_(count)
    , rank_(rank)
  {
  }

  std::vector<WeightedCell> run(std::uint32_t maximum)
  {
    std::vector<Part> parts{ this->part(0, this->points_.size()) };
    while (parts.size() < maximum && parts.front().blur > 0)
    {
      std::pop_heap(parts.begin(), parts.end());
      const Part worst = parts.back();
      parts.pop_back();
      const std::size_t middle = this->halve(worst);
      for (const Part& half : { this->part(worst.begin, middle), this->part(middle, worst.end) })
      {
        parts.push_back(half);
        std::push_heap(parts.begin(), parts.end());
      }
    }
    std::vector<WeightedCell> cells;
    cells.reserve(parts.size());
    for (const Part& part : parts)
    {
      cells.push_back(this->cell_of(part));
    }
    return cells;
  }

private:
  struct Part
  {
    std::size_t begin, end;
    Point<T> lower, upper;
    std::size_t axis = 0; // along which to halve it
    double blur = 0;      // 0 if there is nothing to halve

    bool operator<(const Part& other) const noexcept
    {
      return this->blur != other.blur ? this->blur < other.blur : this->begin > other.begin;
    }
  };

  [[nodiscard]] Part part(std::size_t begin, std::size_t end) const
  {
    const Point<T> origin = this->points_[begin];
    Part part{ begin, end, origin, origin };
    std::array<double, 3> sum{};
    std::array<double, 3> squares{};
    for (std::size_t i = begin; i != end; ++i)
    {
      for (std::size_t axis = 0; axis != 3; ++axis)
      {
        const T x = this->points_[i][axis];
        part.lower[axis] = std::min(part.lower[axis], x);
        part.upper[axis] = std::max(part.upper[axis], x);
        const double off = static_cast<double>(x) - static_cast<double>(origin[axis]);
        sum[axis] += off;
        squares[axis] += off * off;
      }
    }
    const auto count = static_cast<double>(end - begin);
    double longest = 0; // considers length and unevenness
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      const double lower = static_cast<double>(part.lower[axis]);
      const double half = static_cast<double>(part.upper[axis]) * 0.5 - lower * 0.5;
      if (!(half > 0))
      {
        continue;
      }
      // Compares with evenly spread particles, whose mean is the middle and whose deviation is half
      // / sqrt(3).
      const double mean = sum[axis] / count;
      const double deviation = std::sqrt(std::max(0.0, squares[axis] / count - mean * mean));
      const double middle = lower - static_cast<double>(origin[axis]) + half;
      const double uneven =
        std::abs(mean - middle) / half + std::abs(deviation / half - 0.577350269);
      const double length = half * (uneven + kEvenBlur);
      if (length > longest)
      {
        longest = length;
        part.axis = axis;
        part.blur = count * (uneven + kEvenBlur);
      }
    }
    return part;
  }

  // Returns where the right part begins. Particles that lie on a face, such as a wall of the
  // domain, are separated from the others; otherwise halves are equal.
  std::size_t halve(const Part& part)
  {
    const auto at = [this](std::size_t i)
    { return this->points_.begin() + static_cast<std::ptrdiff_t>(i); };
    const std::size_t axis = part.axis;
    const auto on_lower = [&](const Point<T>& p) { return !(p[axis] > part.lower[axis]); };
    const auto below_upper = [&](const Point<T>& p) { return p[axis] < part.upper[axis]; };
    const auto lower = std::count_if(at(part.begin), at(part.end), on_lower);
    const auto upper =
      at(part.end) - at(part.begin) - std::count_if(at(part.begin), at(part.end), below_upper);
    const std::size_t count = part.end - part.begin;
    if (count >= 2 * kFaceShare &&
      static_cast<std::size_t>(std::max(lower, upper)) >= count / kFaceShare)
    {
      const auto split = lower >= upper ? std::partition(at(part.begin), at(part.end), on_lower)
                                        : std::partition(at(part.begin), at(part.end), below_upper);
      return static_cast<std::size_t>(split - this->points_.begin());
    }
    const std::size_t middle = part.begin + count / 2;
    std::nth_element(at(part.begin), at(middle), at(part.end),
      [axis](const Point<T>& a, const Point<T>& b) { return a[axis] < b[axis]; });
    return middle;
  }

  [[nodiscard]] WeightedCell cell_of(const Part& part) const
  {
    // Evenly spread points end half a distance short of the range that they stand for.
    const double beyond =
      0.5 / static_cast<double>(std::max<std::size_t>(part.end - part.begin, 2) - 1);
    WeightedCell cell;
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      const auto lower = static_cast<double>(part.lower[axis]);
      const auto upper = static_cast<double>(part.upper[axis]);
      const double margin = (upper * beyond - lower * beyond);
      cell.lower[axis] = to_float(lower - margin);
      cell.upper[axis] = to_float(upper + margin);
    }
    cell.particles =
      static_cast<double>(this->particles_before(part.end) - this->particles_before(part.begin));
    cell.rank = this->rank_;
    return cell;
  }

  // Integers whose differences add up to the count.
  [[nodiscard]] std::uint64_t particles_before(std::uint64_t sampled) const noexcept
  {
    const std::uint64_t sample = this->points_.size();
    return this->count_ / sample * sampled + this->count_ % sample * sampled / sample;
  }

  std::vector<Point<T>>& points_;
  std::uint64_t count_;
  std::uint32_t rank_;
};

template <class T>
std::vector<WeightedCell> summarise_as(const PositionOf& compute_position, std::uint64_t count,
  std::uint32_t rank, std::uint32_t cells, std::uint32_t sample)
{
  std::vector<Point<T>> points =
    take_sample<T>(compute_position, count, std::min<std::uint64_t>(count, sample), rank);
  if (points.empty())
  {
    WeightedCell cell; // they have no place, but they are particles
    cell.particles = static_cast<double>(count);
    cell.rank = rank;
    return { cell };
  }
  return CellCutter<T>(points, count, rank).run(cells);
}
}

WeightedCell plan::box_cell(const Box& box, std::uint64_t count, std::uint32_t rank)
{
  WeightedCell cell;
  for (std::size_t axis = 0; axis != 3 && box.lower[0] <= box.upper[0]; ++axis)
  {
    cell.lower[axis] = to_float(box.lower[axis]);
    cell.upper[axis] = to_float(box.upper[axis]);
  }
  cell.particles = static_cast<double>(count);
  cell.rank = rank;
  return cell;
}

std::vector<WeightedCell> plan::summarise(ScalarType type, const PositionOf& compute_position,
  std::uint64_t count, std::uint32_t rank, std::uint32_t cells, std::uint32_t sample)
{
  if (type != ScalarType::Float32 && type != ScalarType::Float64)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("positions of rank {} are {}; allowed are float32 and float64", rank,
        size_of(type) != 0 ? name_of(type) : "of an unknown type"));
  }
  if (cells == 0)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("summary of rank {}: 0 cells; at least 1 is required", rank));
  }
  if (count == 0)
  {
    return {};
  }
  if (sample == 0)
  {
    sample = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
      std::uint64_t{ kSampledPerCell } * cells, kMinSampledCells, 1u << 30));
  }
  return type == ScalarType::Float32
    ? summarise_as<float>(compute_position, count, rank, cells, sample)
    : summarise_as<double>(compute_position, count, rank, cells, sample);
}

std::vector<WeightedCell> summarise(ScalarType type,
  const std::array<const std::byte*, 3>& component, std::size_t stride_bytes, std::uint64_t count,
  std::uint32_t rank, std::uint32_t cells, std::uint32_t sample)
{
  const auto compute_position = [&](std::uint64_t at)
  {
    std::array<double, 3> position{};
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      const std::byte* from = component[axis] + at * stride_bytes;
      float single = 0;
      if (type == ScalarType::Float32)
      {
        std::memcpy(&single, from, sizeof(single));
        position[axis] = static_cast<double>(single);
      }
      else
      {
        std::memcpy(&position[axis], from, sizeof(position[axis]));
      }
    }
    return position;
  };
  return plan::summarise(type, compute_position, count, rank, cells, sample);
}
}
