// SPDX-License-Identifier: BSD-3-Clause
#include "idx/parallel/assignment.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace bat::idx
{
namespace
{
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

// What of a box is not in another one: at most two slabs for each axis.
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

// Per box, the earlier ones that it shares samples with. Along the axis on which boxes differ most,
// few are compared with few.
std::vector<std::vector<std::size_t>> earlier_neighbours(const std::vector<RankBox>& boxes)
{
  std::size_t axis = 0;
  std::size_t most = 0;
  for (std::size_t a = 0; a != 3; ++a)
  {
    std::set<std::int64_t> begins;
    for (const RankBox& box : boxes)
    {
      begins.insert(box.box.lower[a]);
    }
    axis = begins.size() > most ? a : axis;
    most = std::max(most, begins.size());
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
    samples += lattice_of(box.box).samples();
  }
  return samples == lattice_of(whole).samples();
}

Lattice lattice_of(const LogicalBox& box) noexcept
{
  Lattice lattice;
  lattice.first = box.lower;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    lattice.count[axis] = box.upper[axis] - box.lower[axis] + 1;
  }
  return lattice;
}

BlockShapes::BlockShapes(const format::Order& order)
  : order_(order)
  , orders_(order)
{
  for (int level = order.bits_per_block(); level <= order.levels(); ++level)
  {
    this->levels_.push_back(order.blocks_of_level(level));
  }
}

format::StepsOfAxes BlockShapes::common(std::uint64_t block, const LogicalBox& box) const
{
  const format::LevelBlocks& level = this->of(block);
  return this->order_.common(level, this->order_.place_of(level, block), lattice_of(box));
}

std::vector<std::uint32_t> makers_of_files(const std::vector<FileBlocks>& files,
  const std::vector<RankBox>& parts, const BlockShapes& shapes, int ranks)
{
  std::vector<std::uint32_t> makers;
  const auto count = static_cast<std::int64_t>(files.size());
  for (std::int64_t i = 0; i != count; ++i)
  {
    const std::int64_t first = i * ranks / count;
    const std::int64_t end = std::max(first + 1, (i + 1) * ranks / count);
    std::vector<std::int64_t> samples(static_cast<std::size_t>(end - first), 0);
    for (const RankBox& box : parts)
    {
      if (end - first == 1 || box.rank < first || box.rank >= end)
      {
        continue;
      }
      for (const std::uint64_t block : files[static_cast<std::size_t>(i)].blocks)
      {
        const format::StepsOfAxes steps = shapes.common(block, box.box);
        samples[static_cast<std::size_t>(box.rank - first)] +=
          steps[0].count * steps[1].count * steps[2].count;
      }
    }
    const auto most = std::max_element(samples.begin(), samples.end());
    makers.push_back(static_cast<std::uint32_t>(first + (most - samples.begin())));
  }
  return makers;
}
}
