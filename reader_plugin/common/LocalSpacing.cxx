// SPDX-License-Identifier: BSD-3-Clause
#include "LocalSpacing.h"

#include "vtkBATArrays.h"

#include "vtkDataArray.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace
{
// A cube with more than this many of the sample is divided into eight. The cubes that share a
// corner have a few times as many, at least this many times, which determine the spacing to within
// a few percent.
constexpr double MinCornerRatio = 1.25;
constexpr int MaxLevels = 18;
constexpr int FirstLevel = 4; ///< initial level of a search

// Maximum number of nodes of the sample that are ranked to find the median.
constexpr std::size_t MaxRankedNodes = 1 << 14;
// The median is the mean of this share of nodes around it, so that it does not jump if half of the
// particles have one distance and half another.
constexpr double AroundMedian = 0.1;

// Logarithms that differ less than this from the median differ by noise.
constexpr float Noise = 0.08F;
// More would fill a view with the ball of a particle that is far from all others.
const float MaxRatioBeyond = std::log(4.0F);

constexpr double Pi = 3.14159265358979323846;

bool IsFinite(const std::array<double, 3>& point)
{
  return std::isfinite(point[0]) && std::isfinite(point[1]) && std::isfinite(point[2]);
}

struct Bounds
{
  std::array<double, 3> Lower;
  std::array<double, 3> Upper;
};

// Returns the bounds of the finite points. Without finite points, Lower is above Upper.
Bounds ComputeBounds(const std::vector<std::array<double, 3>>& points)
{
  constexpr double infinite = std::numeric_limits<double>::infinity();
  Bounds bounds{ { infinite, infinite, infinite }, { -infinite, -infinite, -infinite } };
  for (const std::array<double, 3>& point : points)
  {
    if (IsFinite(point))
    {
      for (std::size_t axis = 0; axis < 3; ++axis)
      {
        bounds.Lower[axis] = std::min(bounds.Lower[axis], point[axis]);
        bounds.Upper[axis] = std::max(bounds.Upper[axis], point[axis]);
      }
    }
  }
  return bounds;
}

// Returns the eigenvalues of a symmetric matrix xx, xy, xz, yy, yz, zz, largest first.
std::array<double, 3> Eigenvalues(const std::array<double, 6>& m)
{
  const double mean = (m[0] + m[3] + m[5]) / 3.0;
  const double x = m[0] - mean;
  const double y = m[3] - mean;
  const double z = m[5] - mean;
  const double p =
    std::sqrt((x * x + y * y + z * z + 2.0 * (m[1] * m[1] + m[2] * m[2] + m[4] * m[4])) / 6.0);
  if (!(p > 0.0))
  {
    return { mean, mean, mean };
  }
  const double determinant =
    x * (y * z - m[4] * m[4]) - m[1] * (m[1] * z - m[4] * m[2]) + m[2] * (m[1] * m[4] - y * m[2]);
  const double half = std::clamp(determinant / (2.0 * p * p * p), -1.0, 1.0);
  const double angle = std::acos(half) / 3.0;
  const double largest = mean + 2.0 * p * std::cos(angle);
  const double smallest = mean + 2.0 * p * std::cos(angle + 2.0 * Pi / 3.0);
  return { largest, 3.0 * mean - largest - smallest, smallest };
}
}

// Sums over particles, from which follow their middle and how far they reach, in each direction.
struct bat_vtk::LocalSpacing::Moments
{
  double Count = 0.0;
  std::array<double, 3> First{};
  std::array<double, 6> Second{}; ///< xx, xy, xz, yy, yz, zz

  void Add(const Point& point)
  {
    const double x = point[0];
    const double y = point[1];
    const double z = point[2];
    this->Count += 1.0;
    this->First[0] += x;
    this->First[1] += y;
    this->First[2] += z;
    this->Second[0] += x * x;
    this->Second[1] += x * y;
    this->Second[2] += x * z;
    this->Second[3] += y * y;
    this->Second[4] += y * z;
    this->Second[5] += z * z;
  }

  void Add(const Moments& other)
  {
    this->Count += other.Count;
    for (std::size_t i = 0; i < 3; ++i)
    {
      this->First[i] += other.First[i];
    }
    for (std::size_t i = 0; i < 6; ++i)
    {
      this->Second[i] += other.Second[i];
    }
  }

  // The particles are assumed to fill evenly a box with the same second moments. Their real shape
  // matters little: half a ball and an eighth of one agree to within a few percent.
  [[nodiscard]] double LogarithmOfSpacing() const
  {
    const double n = this->Count;
    std::array<double, 3> middle{};
    for (std::size_t i = 0; i < 3; ++i)
    {
      middle[i] = this->First[i] / n;
    }
    std::array<double, 6> spread{};
    std::size_t at = 0;
    for (std::size_t i = 0; i < 3; ++i)
    {
      for (std::size_t j = i; j < 3; ++j, ++at)
      {
        spread[at] = (this->Second[at] - n * middle[i] * middle[j]) / (n - 1.0);
      }
    }
    std::array<double, 3> extent{};
    const std::array<double, 3> squares = Eigenvalues(spread);
    for (std::size_t i = 0; i < 3; ++i)
    {
      extent[i] = std::sqrt(12.0 * std::max(squares[i], 1e-24));
    }
    const auto [a, b, c] = extent;
    double spacing = std::cbrt(a * b * c / n);
    if (spacing > c)
    {
      spacing = std::sqrt(a * b / n);
      if (spacing > b)
      {
        spacing = a / n;
      }
    }
    return std::log(spacing);
  }
};

class bat_vtk::LocalSpacing::Builder
{
public:
  Builder(std::vector<Point> points, std::uint32_t maxCubeParticles, std::vector<Node>& nodes)
    : Points(std::move(points))
    , Spare(this->Points.size())
    , MaxCubeParticles(maxCubeParticles)
    , Nodes(nodes)
  {
    this->Nodes.assign(1, {});
    this->Sums.assign(1, {});
    this->Divide(0, 0, this->Points.size(), 0, { 0, 0, 0 });
    this->FindCorners();
  }

  // Returns the node that contains each cube of a level.
  std::vector<std::int32_t> NodesOf(int level) const
  {
    std::vector<std::int32_t> found;
    const std::int32_t extent = Smallest >> level;
    for (std::int32_t z = 0; z < Smallest; z += extent)
    {
      for (std::int32_t y = 0; y < Smallest; y += extent)
      {
        for (std::int32_t x = 0; x < Smallest; x += extent)
        {
          found.push_back(this->Beside({ x, y, z }, 0, level).first);
        }
      }
    }
    return found;
  }

private:
  // A corner of cubes, in units of the smallest.
  using Corner = std::array<std::int32_t, 3>;
  struct Leaf
  {
    std::int32_t Node;
    std::int32_t Level;
    Corner Lower;
  };

  static constexpr std::int32_t Smallest = 1 << MaxLevels;

  void Divide(std::int32_t node, std::size_t begin, std::size_t end, int level, const Corner& lower)
  {
    if (end - begin <= this->MaxCubeParticles || level == MaxLevels)
    {
      Moments sums;
      for (std::size_t i = begin; i < end; ++i)
      {
        sums.Add(this->Points[i]);
      }
      this->Sums[node] = sums;
      this->Nodes[node].Child = -level;
      this->Leaves.push_back({ node, level, lower });
      return;
    }
    const std::int32_t half = Smallest >> (level + 1);
    std::array<float, 3> middle{};
    for (std::size_t axis = 0; axis < 3; ++axis)
    {
      middle[axis] = static_cast<float>(lower[axis] + half) / static_cast<float>(Smallest);
    }
    const auto octant = [&middle](const Point& point)
    {
      return (point[0] >= middle[0] ? 1U : 0U) | (point[1] >= middle[1] ? 2U : 0U) |
        (point[2] >= middle[2] ? 4U : 0U);
    };
    std::array<std::size_t, 9> starts{};
    for (std::size_t i = begin; i < end; ++i)
    {
      ++starts[octant(this->Points[i]) + 1];
    }
    starts[0] = begin;
    for (std::size_t i = 0; i < 8; ++i)
    {
      starts[i + 1] += starts[i];
    }
    std::array<std::size_t, 9> next = starts;
    for (std::size_t i = begin; i < end; ++i)
    {
      this->Spare[next[octant(this->Points[i])]++] = this->Points[i];
    }
    std::copy(this->Spare.begin() + static_cast<std::ptrdiff_t>(begin),
      this->Spare.begin() + static_cast<std::ptrdiff_t>(end),
      this->Points.begin() + static_cast<std::ptrdiff_t>(begin));
    const auto child = static_cast<std::int32_t>(this->Nodes.size());
    this->Nodes.resize(this->Nodes.size() + 8);
    this->Sums.resize(this->Nodes.size());
    this->Nodes[node].Child = child;
    Moments sums;
    for (std::int32_t i = 0; i < 8; ++i)
    {
      const Corner at = { lower[0] + ((i & 1) != 0 ? half : 0),
        lower[1] + ((i & 2) != 0 ? half : 0), lower[2] + ((i & 4) != 0 ? half : 0) };
      this->Divide(child + i, starts[i], starts[i + 1], level + 1, at);
      sums.Add(this->Sums[child + i]);
    }
    this->Sums[node] = sums;
  }

  // Returns the cube of at most this level on one side of a corner, and its level; -1 if that is
  // outside.
  std::pair<std::int32_t, int> Beside(const Corner& corner, int side, int maximum) const
  {
    Corner at = corner;
    for (int axis = 0; axis < 3; ++axis)
    {
      at[axis] -= (side >> axis) & 1;
      if (at[axis] < 0 || at[axis] >= Smallest)
      {
        return { -1, 0 };
      }
    }
    std::int32_t node = 0;
    int level = 0;
    while (level<maximum&& this->Nodes[node].Child> 0)
    {
      ++level;
      const int shift = MaxLevels - level;
      node = this->Nodes[node].Child +
        (((at[0] >> shift) & 1) | (((at[1] >> shift) & 1) << 1) | (((at[2] >> shift) & 1) << 2));
    }
    return { node, level };
  }

  // Uses the particles in the cubes that meet at a corner, or in larger cubes if they are too few.
  float AtCorner(const Corner& corner) const
  {
    int maximum = MaxLevels;
    while (true)
    {
      std::array<std::int32_t, 8> seen{};
      std::size_t count = 0;
      int finest = 0;
      Moments sums;
      for (int side = 0; side < 8; ++side)
      {
        const auto [node, level] = this->Beside(corner, side, maximum);
        const auto end = seen.begin() + count;
        if (node >= 0 && std::find(seen.begin(), end, node) == end)
        {
          seen[count++] = node;
          finest = std::max(finest, level);
          sums.Add(this->Sums[node]);
        }
      }
      if (sums.Count >= MinCornerRatio * this->MaxCubeParticles || finest == 0)
      {
        return static_cast<float>(sums.LogarithmOfSpacing());
      }
      maximum = finest - 1;
    }
  }

  void FindCorners()
  {
    constexpr int bits = MaxLevels + 1;
    // A hash table finds corners shared by cubes only once.
    std::size_t size = 64;
    while (size < 8 * this->Leaves.size())
    {
      size *= 2;
    }
    std::vector<std::int32_t> places(size, -1); // indices of keys, by their hash
    std::vector<std::uint64_t> keys;
    std::vector<Corner> corners;
    std::vector<std::array<std::int32_t, 8>> ofLeaves(this->Leaves.size());
    for (std::size_t leaf = 0; leaf < this->Leaves.size(); ++leaf)
    {
      const Corner& lower = this->Leaves[leaf].Lower;
      const std::int32_t extent = Smallest >> this->Leaves[leaf].Level;
      for (std::size_t i = 0; i < 8; ++i)
      {
        const Corner corner = { lower[0] + ((i & 1) != 0 ? extent : 0),
          lower[1] + ((i & 2) != 0 ? extent : 0), lower[2] + ((i & 4) != 0 ? extent : 0) };
        std::uint64_t key = 0;
        for (const std::int32_t at : corner)
        {
          key = (key << bits) | static_cast<std::uint64_t>(at);
        }
        std::size_t place = (key * 0x9e3779b97f4a7c15ULL) >> 32;
        for (place &= size - 1; places[place] >= 0 && keys[places[place]] != key;)
        {
          place = (place + 1) & (size - 1);
        }
        if (places[place] < 0)
        {
          places[place] = static_cast<std::int32_t>(keys.size());
          keys.push_back(key);
          corners.push_back(corner);
        }
        ofLeaves[leaf][i] = places[place];
      }
    }
    std::vector<float> values(corners.size());
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, corners.size(), 512),
      [&](const tbb::blocked_range<std::size_t>& range)
      {
        for (std::size_t i = range.begin(); i != range.end(); ++i)
        {
          values[i] = this->AtCorner(corners[i]);
        }
      });
    for (std::size_t leaf = 0; leaf < this->Leaves.size(); ++leaf)
    {
      for (std::size_t i = 0; i < 8; ++i)
      {
        this->Nodes[this->Leaves[leaf].Node].Corners[i] = values[ofLeaves[leaf][i]];
      }
    }
  }

  std::vector<Point> Points;
  std::vector<Point> Spare;
  std::uint32_t MaxCubeParticles;
  std::vector<Node>& Nodes;
  std::vector<Moments> Sums; ///< sums of the nodes
  std::vector<Leaf> Leaves;
};

//------------------------------------------------------------------------------
bat_vtk::LocalSpacing::LocalSpacing(
  const std::vector<std::array<double, 3>>& sample, std::uint32_t maxCubeParticles)
{
  const Bounds bounds = ComputeBounds(sample);
  double largest = 0.0;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    largest = std::max(largest, bounds.Upper[axis] - bounds.Lower[axis]);
  }
  if (!(largest > 0.0) || !std::isfinite(largest))
  {
    return; // all at one place, or none
  }
  this->Origin = bounds.Lower;
  this->Scale = 1.0 / largest;
  std::vector<Point> points;
  points.reserve(sample.size());
  for (const std::array<double, 3>& point : sample)
  {
    if (IsFinite(point))
    {
      points.push_back(this->InCube(point.data()));
    }
  }
  const Builder builder(points, maxCubeParticles, this->Nodes);
  this->First = builder.NodesOf(FirstLevel);
  std::vector<float> found;
  const std::size_t step = points.size() / MaxRankedNodes + 1;
  for (std::size_t i = 0; i < points.size(); i += step)
  {
    found.push_back(this->At(points[i]));
  }
  std::sort(found.begin(), found.end());
  const auto share = [&found](double of)
  { return found.begin() + static_cast<std::ptrdiff_t>(of * static_cast<double>(found.size())); };
  this->SpreadOfSample = std::exp(static_cast<double>(*share(0.9) - *share(0.1)));
  const auto first = share(0.5 - AroundMedian);
  const auto last = share(0.5 + AroundMedian) + 1;
  const float median = std::accumulate(first, last, 0.0F) / static_cast<float>(last - first);
  for (Node& node : this->Nodes)
  {
    for (float& corner : node.Corners)
    {
      const float difference = corner - median;
      const float beyond = std::max(std::abs(difference) - Noise, 0.0F);
      corner = std::exp(std::copysign(std::min(beyond, MaxRatioBeyond), difference));
    }
  }
}

//------------------------------------------------------------------------------
bat_vtk::LocalSpacing::Point bat_vtk::LocalSpacing::InCube(const double* point) const
{
  Point in{};
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    const double at = (point[axis] - this->Origin[axis]) * this->Scale;
    in[axis] = at > 0.0 ? static_cast<float>(std::min(at, 1.0)) : 0.0F;
  }
  return in;
}

//------------------------------------------------------------------------------
float bat_vtk::LocalSpacing::At(const Point& point) const
{
  constexpr std::int32_t smallest = 1 << MaxLevels;
  std::array<std::int32_t, 3> place{};
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    place[axis] = std::min(static_cast<std::int32_t>(point[axis] * smallest), smallest - 1);
  }
  const auto in = [&place](int bits)
  { return (place[0] >> bits & 1) | (place[1] >> bits & 1) << 1 | (place[2] >> bits & 1) << 2; };
  constexpr int skipped = MaxLevels - FirstLevel;
  const std::int32_t first = place[0] >> skipped | place[1] >> skipped << FirstLevel |
    place[2] >> skipped << (2 * FirstLevel);
  const Node* node = this->Nodes.data() + this->First[static_cast<std::size_t>(first)];
  int bits = skipped;
  while (node->Child > 0)
  {
    --bits;
    node = this->Nodes.data() + node->Child + in(bits);
  }
  const int level = -node->Child;
  std::array<float, 3> t{};
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    t[axis] = point[axis] * static_cast<float>(1 << level) -
      static_cast<float>(place[axis] >> (MaxLevels - level));
  }
  const std::array<float, 8>& c = node->Corners;
  const auto between = [](float a, float b, float at) { return a + (b - a) * at; };
  const float near = between(between(c[0], c[1], t[0]), between(c[2], c[3], t[0]), t[1]);
  const float far = between(between(c[4], c[5], t[0]), between(c[6], c[7], t[0]), t[1]);
  return between(near, far, t[2]);
}

//------------------------------------------------------------------------------
void bat_vtk::LocalSpacing::Factors(vtkDataArray* positions, float largest, float* factors) const
{
  const vtkIdType rows = positions->GetNumberOfTuples();
  if (this->Nodes.empty())
  {
    std::fill_n(factors, rows, std::min(1.0F, largest));
    return;
  }
  const auto fill = [&](const auto& at)
  {
    tbb::parallel_for(tbb::blocked_range<vtkIdType>(0, rows, 8192),
      [&](const tbb::blocked_range<vtkIdType>& range)
      {
        for (vtkIdType row = range.begin(); row != range.end(); ++row)
        {
          const std::array<double, 3> point = at(row);
          factors[row] = std::min(this->At(this->InCube(point.data())), largest);
        }
      });
  };
  const auto plain = [&](const auto* values)
  {
    fill(
      [values](vtkIdType row)
      {
        return std::array<double, 3>{ static_cast<double>(values[3 * row]),
          static_cast<double>(values[3 * row + 1]), static_cast<double>(values[3 * row + 2]) };
      });
  };
  if (IsPlain(positions) && positions->GetDataType() == VTK_FLOAT)
  {
    plain(static_cast<const float*>(positions->GetVoidPointer(0)));
  }
  else if (IsPlain(positions) && positions->GetDataType() == VTK_DOUBLE)
  {
    plain(static_cast<const double*>(positions->GetVoidPointer(0)));
  }
  else
  {
    for (vtkIdType row = 0; row < rows; ++row)
    {
      std::array<double, 3> point{};
      positions->GetTuple(row, point.data());
      factors[row] = std::min(this->At(this->InCube(point.data())), largest);
    }
  }
}
