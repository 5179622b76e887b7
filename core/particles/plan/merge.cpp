// SPDX-License-Identifier: BSD-3-Clause
#include "particles/plan/merge.hpp"

#include <cstdint>
#include <utility>

namespace bat::plan
{
namespace
{
// At first, box ends are distinguished to this many bits of the extent.
constexpr int kFinestBits = 8;

std::uint64_t key_of(const Piece& piece, const Extent& extent, int bits)
{
  const auto steps = static_cast<double>(1 << bits);
  std::uint64_t key = 0;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    const double length = extent.length(axis);
    for (const float end : { piece.lower[axis], piece.upper[axis] })
    {
      const double from = static_cast<double>(end) - static_cast<double>(extent.lower[axis]);
      const double step = length > 0 ? std::min(from / length * steps, steps - 1) : 0.0;
      key = key << bits | static_cast<std::uint64_t>(step);
    }
  }
  return key;
}

Piece compute_mean(const std::vector<Piece>& pieces,
  const std::vector<std::pair<std::uint64_t, std::uint32_t>>& order, std::size_t begin,
  std::size_t end)
{
  Piece mean = pieces[order[begin].second];
  if (end - begin == 1)
  {
    return mean;
  }
  std::array<double, 3> lower{};
  std::array<double, 3> upper{};
  double particles = 0;
  for (std::size_t i = begin; i != end; ++i)
  {
    const Piece& piece = pieces[order[i].second];
    particles += piece.particles;
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      lower[axis] += piece.particles * static_cast<double>(piece.lower[axis]);
      upper[axis] += piece.particles * static_cast<double>(piece.upper[axis]);
    }
  }
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    mean.lower[axis] = static_cast<float>(lower[axis] / particles);
    mean.upper[axis] = static_cast<float>(upper[axis] / particles);
  }
  mean.particles = particles;
  return mean;
}
}

void merge_similar(std::vector<Piece>& pieces, const Extent& extent, std::size_t maximum)
{
  for (int bits = kFinestBits; bits >= 0 && pieces.size() > maximum; --bits)
  {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> order(pieces.size());
    for (std::size_t i = 0; i != pieces.size(); ++i)
    {
      order[i] = { key_of(pieces[i], extent, bits), static_cast<std::uint32_t>(i) };
    }
    std::sort(order.begin(), order.end());
    std::vector<Piece> merged;
    for (std::size_t begin = 0; begin != order.size();)
    {
      std::size_t end = begin + 1;
      while (end != order.size() && order[end].first == order[begin].first)
      {
        ++end;
      }
      merged.push_back(compute_mean(pieces, order, begin, end));
      begin = end;
    }
    pieces = std::move(merged);
  }
}
}
