// SPDX-License-Identifier: BSD-3-Clause
#include "libbat/leaf_validate.hpp"

#include "common/numbers.hpp"
#include "libbat/leaf_query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace bat::libbat
{
namespace
{
Box everywhere()
{
  constexpr double inf = std::numeric_limits<double>::infinity();
  return { { -inf, -inf, -inf }, { inf, inf, inf } };
}

struct BoxedChild
{
  ShallowChild child;
  Box box;
};

// The box of each treelet's particles according to the shallow tree.
std::vector<Box> treelet_boxes(const Leaf& leaf)
{
  const LeafIndex& index = leaf.index();
  const auto& bounds = leaf.header().bounds;
  std::vector<Box> boxes(index.treelets.size(), everywhere());
  if (!bounds)
  {
    return boxes;
  }
  Box all;
  std::copy_n(bounds->begin(), 3, all.lower.begin());
  std::copy_n(bounds->begin() + 3, 3, all.upper.begin());
  std::vector<BoxedChild> open{ { { 0, index.shallow.empty() }, all } };
  while (!open.empty())
  {
    const BoxedChild step = open.back();
    open.pop_back();
    if (step.child.is_treelet)
    {
      boxes[step.child.index] = step.box;
      continue;
    }
    const ShallowNode& node = index.shallow[step.child.index];
    const double slack = plane_slack(*bounds, node.axis);
    BoxedChild left{ node.left, step.box };
    BoxedChild right{ node.right, step.box };
    left.box.upper[node.axis] = std::min(step.box.upper[node.axis], node.split + slack);
    right.box.lower[node.axis] = std::max(step.box.lower[node.axis], node.split - slack);
    open.push_back(left);
    open.push_back(right);
  }
  return boxes;
}

void check_positions(const Leaf& leaf, std::size_t t, const Box& treelet_box)
{
  const Treelet& treelet = leaf.index().treelets[t];
  const Node* nodes = leaf.index().nodes.data() + treelet.first_node;
  std::vector<std::byte> positions(std::uint64_t{ treelet.particle_count } * 12);
  leaf.file().read(treelet.positions_begin, positions.data(), positions.size());
  std::vector<Box> boxes(treelet.node_count, treelet_box);
  for (std::uint32_t i = 0; i != treelet.node_count; ++i)
  {
    const Node& node = nodes[i];
    const Box& box = boxes[i];
    for (std::uint64_t k = node.first; k != node.first + std::uint64_t{ node.own }; ++k)
    {
      float p[3];
      std::memcpy(p, positions.data() + 12 * k, 12);
      if (std::isnan(p[0]) || std::isnan(p[1]) || std::isnan(p[2]))
      {
        continue; // it is in no box
      }
      for (std::size_t axis = 0; axis != 3; ++axis)
      {
        if (p[axis] < box.lower[axis] || p[axis] > box.upper[axis])
        {
          corrupt(leaf.file().name(),
            fmt::format(
              "treelet {}, node {}: particle {} is at {} on the {} axis; bounds and planes "
              "allow {} to {}",
              t, i, k, p[axis], "xyz"[axis], box.lower[axis], box.upper[axis]));
        }
      }
    }
    if (node.right != 0)
    {
      Box left = box;
      Box right = box;
      const double split = node.split;
      left.upper[node.axis] = std::min(left.upper[node.axis], split);
      right.lower[node.axis] = std::max(right.lower[node.axis], split);
      boxes[i + 1] = left;
      boxes[node.right] = right;
    }
  }
}

// The bit that a query for exactly this value tests, with its neighbours; 0 if it tests none.
std::uint32_t bits_of(const std::optional<FloatRange>& range, float value)
{
  return bitmap_mask(range, value, value).value_or(0);
}

void check_bitmaps(const Leaf& leaf, std::size_t t, std::size_t attribute)
{
  const Treelet& treelet = leaf.index().treelets[t];
  const Node* nodes = leaf.index().nodes.data() + treelet.first_node;
  const std::vector<std::uint16_t>& ids = leaf.bitmap_ids(t);
  const auto& range = leaf.header().attributes[attribute].range;
  dispatch(leaf.attributes()[attribute].type,
    [&](auto value)
    {
      using T = decltype(value);
      std::vector<std::byte> values(treelet.particle_count * sizeof(T));
      leaf.file().read(leaf.attribute_begin(treelet, attribute), values.data(), values.size());
      const auto bits = [&](std::uint32_t i)
      { return leaf.index().dictionary[ids[i * leaf.attributes().size() + attribute]]; };
      std::vector<std::uint32_t> above; // inner nodes that hold the current one
      for (std::uint32_t i = 0; i != treelet.node_count; ++i)
      {
        while (!above.empty() && nodes[above.back()].subtree_end <= i)
        {
          above.pop_back();
        }
        above.push_back(i);
        for (std::uint64_t k = nodes[i].first; k != nodes[i].first + std::uint64_t{ nodes[i].own };
             ++k)
        {
          T v;
          std::memcpy(&v, values.data() + k * sizeof(T), sizeof(T));
          const std::uint32_t requested = bits_of(range, to_float(static_cast<ClassOf<T>>(v)));
          for (const std::uint32_t node : above)
          {
            if (requested != 0 && bits(node) != 0 && (bits(node) & requested) == 0)
            {
              corrupt(leaf.file().name(),
                fmt::format("treelet {}, node {}: the bitmap {:08x} of '{}' lacks the bit of {}", t,
                  node, bits(node), leaf.attributes()[attribute].name, v));
            }
          }
        }
      }
    });
}
}

void validate(const Leaf& leaf)
{
  const std::vector<Box> boxes = treelet_boxes(leaf);
  for (std::size_t t = 0; t != boxes.size(); ++t)
  {
    check_positions(leaf, t, boxes[t]);
    for (std::size_t k = 0; k != leaf.attributes().size(); ++k)
    {
      check_bitmaps(leaf, t, k);
    }
  }
}
}
