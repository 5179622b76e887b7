// SPDX-License-Identifier: BSD-3-Clause
#include "flow/walk/curve.hpp"

#include <algorithm>

namespace bat::flow
{
namespace
{
constexpr int kMaxGuesses = 60;          // halvings alone, from 1 to kRootTolerance, are fewer
constexpr double kRootTolerance = 1e-14; // share of a step: guesses this close are the root
constexpr int kMaxHalvings = 36;         // a part is then shorter than what times are exact to

// Finds the root of a polynomial that rises from at most 0 to above 0.
double find_rising_root(const std::array<double, 5>& p)
{
  const double a1 = 4 * (p[1] - p[0]);
  const double a2 = 6 * (p[2] - 2 * p[1] + p[0]);
  const double a3 = 4 * (p[3] - 3 * p[2] + 3 * p[1] - p[0]);
  const double a4 = p[4] - 4 * p[3] + 6 * p[2] - 4 * p[1] + p[0];
  double below = 0;
  double above = 1;
  double t = p[0] / (p[0] - p[4]);
  for (int i = 0; i != kMaxGuesses; ++i)
  {
    const double value = p[0] + t * (a1 + t * (a2 + t * (a3 + t * a4)));
    (value > 0 ? above : below) = t;
    const double slope = a1 + t * (2 * a2 + t * (3 * a3 + t * 4 * a4));
    double next = t - value / slope;
    if (!(next > below && next < above))
    {
      next = 0.5 * (below + above);
    }
    const double change = next - t;
    t = next;
    if (change < kRootTolerance && -change < kRootTolerance)
    {
      break;
    }
  }
  return t;
}

std::optional<double> root_between(
  const std::array<double, 5>& p, double begin, double end, int halvings)
{
  if (p[0] <= 0 && p[1] <= 0 && p[2] <= 0 && p[3] <= 0 && p[4] <= 0)
  {
    return std::nullopt;
  }
  if (p[0] > 0 || halvings == 0)
  {
    return begin;
  }
  if (p[0] <= p[1] && p[1] <= p[2] && p[2] <= p[3] && p[3] <= p[4])
  {
    return begin + (end - begin) * find_rising_root(p);
  }
  std::array<double, 5> q = p;
  std::array<double, 5> before{};
  std::array<double, 5> after{};
  before[0] = q[0];
  after[4] = q[4];
  for (std::size_t n = 4; n != 0; --n)
  {
    for (std::size_t i = 0; i != n; ++i)
    {
      q[i] = 0.5 * (q[i] + q[i + 1]);
    }
    before[5 - n] = q[0];
    after[n - 1] = q[n - 1];
  }
  const double middle = 0.5 * (begin + end);
  if (const auto root = root_between(before, begin, middle, halvings - 1))
  {
    return root;
  }
  return root_between(after, middle, end, halvings - 1);
}

bool is_in(const Vector4& p, const Vector4& lower, const Vector4& upper)
{
  return p[0] >= lower[0] && p[0] <= upper[0] && p[1] >= lower[1] && p[1] <= upper[1] &&
    p[2] >= lower[2] && p[2] <= upper[2];
}

bool may_meet(const Curve& curve, const Vector4& lower, const Vector4& upper)
{
  const Vector4 low = curve.lowest();
  const Vector4 high = curve.highest();
  return low[0] <= upper[0] && high[0] >= lower[0] && low[1] <= upper[1] && high[1] >= lower[1] &&
    low[2] <= upper[2] && high[2] >= lower[2];
}

std::optional<double> inside_between(const Curve& curve, const Vector4& lower, const Vector4& upper,
  double begin, double width, double end, int halvings)
{
  if (begin > end || !may_meet(curve, lower, upper))
  {
    return std::nullopt;
  }
  if (is_in(curve.b[0], lower, upper) || halvings == 0)
  {
    return begin;
  }
  Curve before;
  Curve after;
  curve.halve(before, after);
  const double half = 0.5 * width;
  if (const auto t = inside_between(before, lower, upper, begin, half, end, halvings - 1))
  {
    return t;
  }
  return inside_between(after, lower, upper, begin + half, half, end, halvings - 1);
}
}

std::optional<double> first_root(const std::array<double, 5>& p) noexcept
{
  return root_between(p, 0, 1, kMaxHalvings);
}

std::optional<double> first_inside(
  const Curve& curve, const Vector4& lower, const Vector4& upper, double end) noexcept
{
  return inside_between(curve, lower, upper, 0, 1, end, kMaxHalvings);
}
}
