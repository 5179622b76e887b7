#include "bat/error.hpp"
#include "bat/plan.hpp"
#include "plan/pieces.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace bat
{
namespace
{
constexpr std::uint32_t kSampledPerCell = 16;
constexpr std::uint32_t kFewestSampled = 16384;

template <class T>
using Point = std::array<T, 3>;

std::uint64_t scrambled(std::uint64_t x) noexcept
{
  x = (x + 0x9E3779B97F4A7C15u) ^ (x >> 30);
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// One of each of `sample` runs of neighbours. Which one differs from run to run: every k-th
// particle of a lattice might be a plane of it.
template <class T>
std::vector<Point<T>> take_sample(const std::array<const std::byte*, 3>& component,
  std::size_t stride_bytes, std::uint64_t count, std::uint64_t sample, std::uint32_t rank)
{
  std::vector<Point<T>> points;
  points.reserve(sample);
  const std::uint64_t run = count / sample;
  const std::uint64_t longer = count % sample; // so many runs have one more
  for (std::uint64_t s = 0; s != sample; ++s)
  {
    const std::uint64_t begin = s * run + std::min(s, longer);
    const std::uint64_t length = run + (s < longer ? 1 : 0);
    const std::uint64_t at =
      begin + (length > 1 ? scrambled(s ^ (std::uint64_t{ rank } << 32)) % length : 0);
    Point<T> point;
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      std::memcpy(&point[axis], component[axis] + at * stride_bytes, sizeof(T));
    }
    if (std::isfinite(point[0]) && std::isfinite(point[1]) && std::isfinite(point[2]))
    {
      points.push_back(point);
    }
  }
  return points;
}

// Cells are boxes of floats: a position beyond them counts at their end.
template <class T>
float to_float(T x) noexcept
{
  constexpr auto most = static_cast<T>(std::numeric_limits<float>::max());
  return static_cast<float>(std::clamp(x, -most, most));
}

// Halves at medians. Every cell gets the share of all particles that its sampled points have.
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

  std::vector<WeightedCell> run(std::uint32_t cells)
  {
    this->cut(0, this->points_.size(), cells);
    return std::move(this->cells_);
  }

private:
  void cut(std::size_t begin, std::size_t end, std::size_t cells)
  {
    Point<T> lower = this->points_[begin];
    Point<T> upper = lower;
    for (std::size_t i = begin + 1; i != end; ++i)
    {
      for (std::size_t axis = 0; axis != 3; ++axis)
      {
        lower[axis] = std::min(lower[axis], this->points_[i][axis]);
        upper[axis] = std::max(upper[axis], this->points_[i][axis]);
      }
    }
    std::size_t longest = 0;
    double most = 0;
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      const double half =
        static_cast<double>(upper[axis]) * 0.5 - static_cast<double>(lower[axis]) * 0.5;
      if (half > most)
      {
        most = half;
        longest = axis;
      }
    }
    cells = std::min(cells, end - begin);
    if (cells < 2 || !(most > 0))
    {
      this->add(begin, end, lower, upper);
      return;
    }
    const std::size_t middle = begin + (end - begin) * (cells / 2) / cells;
    const auto first = this->points_.begin();
    std::nth_element(first + static_cast<std::ptrdiff_t>(begin),
      first + static_cast<std::ptrdiff_t>(middle), first + static_cast<std::ptrdiff_t>(end),
      [longest](const Point<T>& a, const Point<T>& b) { return a[longest] < b[longest]; });
    this->cut(begin, middle, cells / 2);
    this->cut(middle, end, cells - cells / 2);
  }

  void add(std::size_t begin, std::size_t end, const Point<T>& lower, const Point<T>& upper)
  {
    WeightedCell cell;
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      cell.lower[axis] = to_float(lower[axis]);
      cell.upper[axis] = to_float(upper[axis]);
    }
    cell.particles =
      static_cast<double>(this->particles_before(end) - this->particles_before(begin));
    cell.rank = this->rank_;
    this->cells_.push_back(cell);
  }

  // Whole numbers whose differences add up to the count.
  [[nodiscard]] std::uint64_t particles_before(std::uint64_t sampled) const noexcept
  {
    const std::uint64_t sample = this->points_.size();
    return this->count_ / sample * sampled + this->count_ % sample * sampled / sample;
  }

  std::vector<Point<T>>& points_;
  std::uint64_t count_;
  std::uint32_t rank_;
  std::vector<WeightedCell> cells_;
};

template <class T>
std::vector<WeightedCell> summarise_as(const std::array<const std::byte*, 3>& component,
  std::size_t stride_bytes, std::uint64_t count, std::uint32_t rank, std::uint32_t cells,
  std::uint32_t sample)
{
  std::vector<Point<T>> points =
    take_sample<T>(component, stride_bytes, count, std::min<std::uint64_t>(count, sample), rank);
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

std::vector<WeightedCell> summarise(ScalarType type,
  const std::array<const std::byte*, 3>& component, std::size_t stride_bytes, std::uint64_t count,
  std::uint32_t rank, std::uint32_t cells, std::uint32_t sample)
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
      fmt::format("summary of rank {}: 0 cells; at least 1 is allowed", rank));
  }
  if (count == 0)
  {
    return {};
  }
  if (sample == 0)
  {
    sample = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
      std::uint64_t{ kSampledPerCell } * cells, kFewestSampled, 1u << 30));
  }
  return type == ScalarType::Float32
    ? summarise_as<float>(component, stride_bytes, count, rank, cells, sample)
    : summarise_as<double>(component, stride_bytes, count, rank, cells, sample);
}
}
