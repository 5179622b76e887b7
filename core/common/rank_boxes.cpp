// SPDX-License-Identifier: BSD-3-Clause
#include "common/rank_boxes.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace bat
{
namespace
{
std::uint64_t samples_of(const LogicalBox& box)
{
  std::uint64_t samples = 1;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    samples *= static_cast<std::uint64_t>(box.upper[axis] - box.lower[axis] + 1);
  }
  return samples;
}

bool intersect(const LogicalBox& a, const LogicalBox& b)
{
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    if (a.upper[axis] < b.lower[axis] || b.upper[axis] < a.lower[axis])
    {
      return false;
    }
  }
  return true;
}

// Appends the part of a box outside another one: at most two slabs per axis.
void add_without(const LogicalBox& box, const LogicalBox& other, std::vector<LogicalBox>& out)
{
  if (!intersect(box, other))
  {
    out.push_back(box);
    return;
  }
  LogicalBox rest = box;
  for (std::size_t axis = 3; axis-- != 0;) // z first: rows along x stay whole
  {
    if (rest.lower[axis] < other.lower[axis])
    {
      LogicalBox part = rest;
      part.upper[axis] = other.lower[axis] - 1;
      out.push_back(part);
      rest.lower[axis] = other.lower[axis];
    }
    if (rest.upper[axis] > other.upper[axis])
    {
      LogicalBox part = rest;
      part.lower[axis] = other.upper[axis] + 1;
      out.push_back(part);
      rest.upper[axis] = other.upper[axis];
    }
  }
}

// For each box, finds the earlier ones with which it shares samples. Sorting along the axis on
// which boxes differ most keeps the number of comparisons small.
std::vector<std::vector<std::size_t>> earlier_neighbours(const std::vector<RankBox>& boxes)
{
  std::size_t axis = 0;
  std::size_t maximum = 0;
  for (std::size_t a = 0; a != 3; ++a)
  {
    std::set<std::int64_t> begins;
    for (const RankBox& box : boxes)
    {
      begins.insert(box.box.lower[a]);
    }
    axis = begins.size() > maximum ? a : axis;
    maximum = std::max(maximum, begins.size());
  }
  std::vector<std::size_t> order(boxes.size());
  std::iota(order.begin(), order.end(), std::size_t{ 0 });
  const auto lower = [&](std::size_t i) { return boxes[i].box.lower[axis]; };
  std::sort(
    order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return lower(a) < lower(b); });
  std::vector<std::vector<std::size_t>> neighbours(boxes.size());
  for (std::size_t i = 0; i != order.size(); ++i)
  {
    const LogicalBox& box = boxes[order[i]].box;
    for (std::size_t j = i + 1; j != order.size() && lower(order[j]) <= box.upper[axis]; ++j)
    {
      if (intersect(box, boxes[order[j]].box))
      {
        neighbours[std::max(order[i], order[j])].push_back(std::min(order[i], order[j]));
      }
    }
  }
  return neighbours;
}
}

std::vector<RankBox> disjoint_parts(const std::vector<RankBox>& boxes)
{
  std::vector<RankBox> parts;
  const auto neighbours = earlier_neighbours(boxes);
  for (std::size_t i = 0; i != boxes.size(); ++i)
  {
    std::vector<LogicalBox> own{ boxes[i].box };
    for (const std::size_t earlier : neighbours[i])
    {
      std::vector<LogicalBox> rest;
      for (const LogicalBox& box : own)
      {
        add_without(box, boxes[earlier].box, rest);
      }
      own = std::move(rest);
    }
    for (const LogicalBox& box : own)
    {
      parts.push_back({ boxes[i].rank, boxes[i].piece, box });
    }
  }
  return parts;
}

bool cover(const std::vector<RankBox>& disjoint, const LogicalBox& whole)
{
  std::uint64_t samples = 0;
  for (const RankBox& box : disjoint)
  {
    samples += samples_of(box.box);
  }
  return samples == samples_of(whole);
}
}
