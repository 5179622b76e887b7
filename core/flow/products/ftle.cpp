// SPDX-License-Identifier: BSD-3-Clause
// Computes flow maps on grids of nodes, their gradients, and the largest stretching.
#include "bat/flow/ftle.hpp"

#include "bat/error.hpp"
#include "common/fail.hpp"
#include "flow/schedule/frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace bat::flow
{
namespace
{
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr int kMaxSweeps = 30; // Jacobi sweeps; a handful is enough for 3 x 3

using Matrix = std::array<std::array<double, 3>, 3>;

// Returns when particles end. If start plus length differs from the last time only by rounding, the
// last time is meant.
double end_of(double start, double length, bool backward, const std::vector<double>& times)
{
  const double end = backward ? start - length : start + length;
  const double last = backward ? times.front() : times.back();
  const double rounding = 4 * std::numeric_limits<double>::epsilon() *
    std::max({ std::abs(start), std::abs(length), std::abs(last) });
  return std::abs(end - last) <= rounding ? last : end;
}

void check(const FtleGrid& grid, double start_time, double length, bool backward,
  const std::vector<double>& times)
{
  double nodes = 1;
  bool has_length = false;
  for (std::size_t a = 0; a != 3; ++a)
  {
    const char axis = "xyz"[a];
    if (!(std::isfinite(grid.origin[a]) && grid.spacing[a] > 0 && std::isfinite(grid.spacing[a])))
    {
      refuse(fmt::format("nodes have origin {} and spacing {} along {}; both must be finite, and "
                         "the spacing above 0",
        grid.origin[a], grid.spacing[a], axis));
    }
    if (!(grid.points[a] >= 1 && grid.first[a] >= 0 && grid.count[a] >= 0 &&
          grid.first[a] <= grid.points[a] && grid.count[a] <= grid.points[a] - grid.first[a]))
    {
      refuse(fmt::format("{} nodes from node {} along {} were requested; the grid has {}, and at "
                         "least one is required",
        grid.count[a], grid.first[a], axis, grid.points[a]));
    }
    has_length = has_length || grid.points[a] > 1;
    nodes *= static_cast<double>(grid.count[a]) + 2;
  }
  if (!has_length)
  {
    refuse("a single node has no neighbours; at least one axis needs two nodes");
  }
  if (nodes > 4294967294.0)
  {
    refuse(fmt::format("{} nodes; at most 4294967294 are allowed at a time", nodes));
  }
  const double end = end_of(start_time, length, backward, times);
  if (!(length > 0 && std::isfinite(length) && start_time >= times.front() &&
        start_time <= times.back() && end >= times.front() && end <= times.back()))
  {
    refuse(fmt::format("from time {} for a duration of {}{}; the duration must be above 0, and the "
                       "source has times from {} to {}",
      start_time, length, backward ? " backwards" : "", times.front(), times.back()));
  }
}

// Computes eigenvalues of a symmetric matrix by Jacobi rotations (Golub and Van Loan, Matrix
// Computations, 8.5).
double largest_eigenvalue(Matrix m)
{
  for (int sweep = 0; sweep != kMaxSweeps; ++sweep)
  {
    const double off = std::abs(m[0][1]) + std::abs(m[0][2]) + std::abs(m[1][2]);
    const double on = std::abs(m[0][0]) + std::abs(m[1][1]) + std::abs(m[2][2]);
    if (!(off > 1e-17 * on)) // NaN, too
    {
      break;
    }
    for (std::size_t p = 0; p != 2; ++p)
    {
      for (std::size_t q = p + 1; q != 3; ++q)
      {
        if (m[p][q] == 0)
        {
          continue;
        }
        const double theta = (m[q][q] - m[p][p]) / (2 * m[p][q]);
        const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1);
        const double s = t * c;
        for (std::size_t k = 0; k != 3; ++k)
        {
          const double kp = m[k][p];
          const double kq = m[k][q];
          m[k][p] = c * kp - s * kq;
          m[k][q] = s * kp + c * kq;
        }
        for (std::size_t k = 0; k != 3; ++k)
        {
          const double pk = m[p][k];
          const double qk = m[q][k];
          m[p][k] = c * pk - s * qk;
          m[q][k] = s * pk + c * qk;
        }
      }
    }
  }
  return std::max({ m[0][0], m[1][1], m[2][2] });
}

// The requested nodes and their neighbours.
class Nodes
{
public:
  explicit Nodes(const FtleGrid& grid)
    : grid_(grid)
  {
    for (std::size_t a = 0; a != 3; ++a)
    {
      this->first_[a] = std::max<std::int64_t>(grid.first[a] - 1, 0);
      this->end_[a] = grid.first[a] + std::min(grid.count[a] + 1, grid.points[a] - grid.first[a]);
    }
  }
  [[nodiscard]] std::vector<Seed> seeds(double time) const
  {
    std::vector<Seed> seeds;
    std::array<std::int64_t, 3> n{};
    for (n[2] = this->first_[2]; n[2] != this->end_[2]; ++n[2])
    {
      for (n[1] = this->first_[1]; n[1] != this->end_[1]; ++n[1])
      {
        for (n[0] = this->first_[0]; n[0] != this->end_[0]; ++n[0])
        {
          Seed seed;
          seed.time = time;
          for (std::size_t a = 0; a != 3; ++a)
          {
            seed.position[a] =
              this->grid_.origin[a] + static_cast<double>(n[a]) * this->grid_.spacing[a];
          }
          seeds.push_back(seed);
        }
      }
    }
    return seeds;
  }
  [[nodiscard]] std::size_t number(const std::array<std::int64_t, 3>& n) const noexcept
  {
    const std::int64_t row = this->end_[0] - this->first_[0];
    const std::int64_t plane = row * (this->end_[1] - this->first_[1]);
    return static_cast<std::size_t>(
      (n[0] - this->first_[0]) + row * (n[1] - this->first_[1]) + plane * (n[2] - this->first_[2]));
  }

private:
  const FtleGrid& grid_;
  std::array<std::int64_t, 3> first_{};
  std::array<std::int64_t, 3> end_{};
};

bool is_whole(const Line& line)
{
  return line.reason == Reason::EndTime || line.reason == Reason::Stagnation;
}

double exponent_at(const FtleGrid& grid, const Nodes& nodes, const std::vector<Line>& lines,
  const std::array<std::int64_t, 3>& node, double length)
{
  Matrix gradient{}; // columns of axes without neighbours stay 0: no direction to part in
  for (std::size_t a = 0; a != 3; ++a)
  {
    if (grid.points[a] == 1)
    {
      continue;
    }
    std::array<std::int64_t, 3> before = node;
    std::array<std::int64_t, 3> after = node;
    before[a] = std::max<std::int64_t>(node[a] - 1, 0);
    after[a] = std::min(node[a] + 1, grid.points[a] - 1);
    const Line& from = lines[nodes.number(before)];
    const Line& to = lines[nodes.number(after)];
    if (!is_whole(from) || !is_whole(to))
    {
      return kNaN;
    }
    const double distance = static_cast<double>(after[a] - before[a]) * grid.spacing[a];
    for (std::size_t c = 0; c != 3; ++c)
    {
      gradient[c][a] = (to.end[c] - from.end[c]) / distance;
    }
  }
  Matrix product{};
  for (std::size_t i = 0; i != 3; ++i)
  {
    for (std::size_t k = 0; k != 3; ++k)
    {
      for (const std::array<double, 3>& row : gradient)
      {
        product[i][k] += row[i] * row[k];
      }
    }
  }
  return std::log(largest_eigenvalue(product)) / (2 * length);
}
}

FtleGrid ftle_grid(const Box& box, const std::array<std::int64_t, 3>& points)
{
  FtleGrid grid;
  for (std::size_t a = 0; a != 3; ++a)
  {
    const double lower = box.lower[a];
    const double length = box.upper[a] - lower;
    if (!(length >= 0 && std::isfinite(length) && points[a] >= 1))
    {
      refuse(fmt::format("{} nodes from {} to {} along {}; at least one is required, and the "
                         "ends must be finite and ascending",
        points[a], lower, box.upper[a], "xyz"[a]));
    }
    const std::int64_t nodes = length > 0 ? points[a] : 1;
    grid.points[a] = nodes;
    grid.count[a] = nodes;
    grid.origin[a] = nodes == 1 ? lower + length / 2 : lower;
    grid.spacing[a] = nodes == 1 ? 1 : length / static_cast<double>(nodes - 1);
    // Rounding must not move the last node out of the box: the cells at its faces may be the only
    // ones with flow.
    while (nodes > 1 && lower + static_cast<double>(nodes - 1) * grid.spacing[a] > box.upper[a])
    {
      grid.spacing[a] = std::nextafter(grid.spacing[a], 0.0);
    }
  }
  return grid;
}

Ftle ftle(const Cache& cache, const FtleGrid& grid, double start_time, double length,
  const TraceOptions& options)
{
  const BrickSource& source = cache.source();
  const bool has_end = length > 0 && std::isfinite(length);
  const std::vector<double> times = is_steady(source) && has_end
    ? run_times(
        source, options.backward ? start_time - length : start_time + length, options.backward)
    : source.times();
  check(grid, start_time, length, options.backward, times);
  Ftle field;
  if (grid.node_count() == 0)
  {
    return field;
  }
  TraceOptions walk = options;
  walk.end_time = end_of(start_time, length, options.backward, times);
  walk.destination.reset();
  walk.max_age = std::numeric_limits<double>::infinity();
  walk.keep_points = false;
  const Nodes nodes(grid);
  const PathLines ends = trace(cache, nodes.seeds(start_time), walk);
  field.statistics = ends.statistics;
  field.exponents.reserve(grid.node_count());
  field.flow_map.reserve(grid.node_count());
  field.end_times.reserve(grid.node_count());
  std::array<std::int64_t, 3> n{};
  for (std::int64_t z = 0; z != grid.count[2]; ++z)
  {
    for (std::int64_t y = 0; y != grid.count[1]; ++y)
    {
      for (std::int64_t x = 0; x != grid.count[0]; ++x)
      {
        n = { grid.first[0] + x, grid.first[1] + y, grid.first[2] + z };
        const Line& line = ends.lines[nodes.number(n)];
        field.flow_map.push_back(line.end);
        field.end_times.push_back(line.end_time);
        field.exponents.push_back(
          is_whole(line) ? exponent_at(grid, nodes, ends.lines, n, length) : kNaN);
      }
    }
  }
  return field;
}
}
