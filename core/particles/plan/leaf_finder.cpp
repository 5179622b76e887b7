// SPDX-License-Identifier: BSD-3-Clause
#include "particles/plan/leaf_finder.hpp"

#include <algorithm>

namespace bat::plan
{
LeafFinder::LeafFinder(const Plan& plan, const std::optional<Box>& bounds)
{
  if (plan.nodes.empty())
  {
    this->nodes_.emplace_back(); // all are in leaf file 0
    return;
  }
  this->depth_ = this->add(plan, 0, bounds).depth;
}

// Adds the subtree below the plan's node.
LeafFinder::Added LeafFinder::add(
  const Plan& plan, std::size_t at, const std::optional<Box>& bounds)
{
  const PlanNode& from = plan.nodes[at];
  const auto axis = static_cast<std::size_t>(std::max<std::int8_t>(from.axis, 0));
  if (from.axis >= 0 && bounds)
  {
    if (bounds->upper[axis] < from.split)
    {
      return this->add(plan, at + 1, bounds);
    }
    if (!(bounds->lower[axis] < from.split))
    {
      return this->add(plan, from.right, bounds);
    }
  }
  const auto node = static_cast<std::uint32_t>(this->nodes_.size());
  this->nodes_.push_back(
    { from.split, { node, node }, static_cast<std::uint32_t>(axis), from.leaf });
  if (from.axis < 0)
  {
    return { node, 0 };
  }
  const Added left = this->add(plan, at + 1, bounds);
  const Added right = this->add(plan, from.right, bounds);
  this->nodes_[node].next = { right.node, left.node };
  return { node, 1 + std::max(left.depth, right.depth) };
}
}
