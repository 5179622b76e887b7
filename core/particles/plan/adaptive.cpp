// SPDX-License-Identifier: BSD-3-Clause
#include "particles/plan/adaptive.hpp"

#include "particles/plan/borders.hpp"
#include "particles/plan/cut.hpp"
#include "particles/plan/merge.hpp"

#include <tbb/parallel_invoke.h>

#include <cmath>
#include <memory>
#include <tuple>

namespace bat::plan
{
namespace
{
// Maximum deviation of a cut, in leaf files. Deviations of the cuts above a leaf add up.
constexpr double kCutTolerance = 0.0005;
// A cut that deviates by more than this many leaf files is compared with cuts along other axes.
constexpr double kMaxCutError = 0.02;
// A cut that separates more of its node's particles from their ranks than this is also compared.
constexpr double kMaxPartedShare = 0.01;
// Below this many pieces a task costs more than it saves.
constexpr std::size_t kPiecesPerTask = 2048;
// Maximum difference between pieces and ranks in the number of particles on one side of a border,
// in leaf files.
constexpr double kCountTolerance = 0.05;

struct Node
{
  std::vector<Piece> pieces; // gone once it is cut
  NodeRanks ranks;
  Extent extent;
  double particles = 0;
  std::uint32_t leaves = 1; // number of leaf files to make from it
  int axis = -1;
  double split = 0;
  std::unique_ptr<Node> left;
  std::unique_ptr<Node> right;
};

void add(Node& node, const Piece& piece)
{
  if (piece.particles > 0)
  {
    node.pieces.push_back(piece);
    node.extent.add(piece);
    node.particles += piece.particles;
  }
}

// Assigning {} would keep the memory.
void forget_pieces(Node& node)
{
  std::vector<Piece>().swap(node.pieces);
  node.ranks = NodeRanks();
}

struct AxisCut
{
  std::size_t axis = 0;
  double split = 0;
  double off = 0;    // difference from the target number of particles
  double parted = 0; // particles that leave the larger part of their rank
};

// Cuts along the longest axis, unless another axis comes markedly nearer to the target number, or
// as near while separating markedly fewer particles from their ranks.
std::optional<AxisCut> choose_cut(const Node& node, double requested)
{
  const double leaf = node.particles / node.leaves;
  const double good = kMaxCutError * leaf;
  const double few = kMaxPartedShare * node.particles;
  std::optional<AxisCut> best;
  for (const std::size_t axis : node.extent.axes_by_length())
  {
    const auto cut =
      find_cut(node.pieces, node.extent, axis, node.particles, requested, kCutTolerance * leaf);
    if (!cut)
    {
      continue;
    }
    const AxisCut found{ axis, cut->split, std::abs(cut->left - requested),
      node.ranks.parted_by(axis, cut->split) };
    const bool better = !best ||
      (best->off > good ? found.off < best->off
                        : found.off <= good && found.parted < best->parted - few);
    best = better ? found : best;
    if (best->off <= good && best->parted <= few)
    {
      break;
    }
  }
  return best;
}

enum class Side
{
  Left,
  Right,
  Both
};

Side find_side(const Piece& piece, std::size_t axis, double split) noexcept
{
  const auto lower = static_cast<double>(piece.lower[axis]);
  const auto upper = static_cast<double>(piece.upper[axis]);
  if (lower >= split)
  {
    return Side::Right;
  }
  return upper <= split ? Side::Left : Side::Both;
}

// Moves the plane into the middle of the gap around it, so that particles a rounding error outside
// of their cell are still on the cell's side.
double centre_in_gap(const Node& node, std::size_t axis, double split)
{
  double below = static_cast<double>(node.extent.lower[axis]);
  double above = static_cast<double>(node.extent.upper[axis]);
  for (const Piece& piece : node.pieces)
  {
    switch (find_side(piece, axis, split))
    {
      case Side::Left:
        below = std::max(below, static_cast<double>(piece.upper[axis]));
        break;
      case Side::Right:
        above = std::min(above, static_cast<double>(piece.lower[axis]));
        break;
      case Side::Both:
        return split;
    }
  }
  return below < above ? below * 0.5 + above * 0.5 : split;
}

/// Counts the particles of a piece to the left of a plane through it.
double share_below(const Piece& piece, std::size_t axis, double split) noexcept
{
  const auto lower = static_cast<double>(piece.lower[axis]);
  const auto upper = static_cast<double>(piece.upper[axis]);
  return piece.particles * ((split - lower) / (upper - lower));
}

double particles_below(const Node& node, std::size_t axis, double split) noexcept
{
  double particles = 0;
  for (const Piece& piece : node.pieces)
  {
    const Side side = find_side(piece, axis, split);
    particles += side == Side::Left ? piece.particles
      : side == Side::Both          ? share_below(piece, axis, split)
                                    : 0;
  }
  return particles;
}

void divide(Node& node)
{
  const auto axis = static_cast<std::size_t>(node.axis);
  std::size_t left = 0;
  std::size_t right = 0;
  for (const Piece& piece : node.pieces)
  {
    const Side side = find_side(piece, axis, node.split);
    left += side != Side::Right;
    right += side != Side::Left;
  }
  node.left->pieces.reserve(left);
  node.right->pieces.reserve(right);
  for (const Piece& piece : node.pieces)
  {
    switch (find_side(piece, axis, node.split))
    {
      case Side::Left:
        add(*node.left, piece);
        break;
      case Side::Right:
        add(*node.right, piece);
        break;
      case Side::Both:
        Piece below = piece;
        Piece above = piece;
        below.upper[axis] = above.lower[axis] = static_cast<float>(node.split);
        below.particles = share_below(piece, axis, node.split);
        above.particles = piece.particles - below.particles;
        add(*node.left, below);
        add(*node.right, above);
        break;
    }
  }
}

class TreeBuilder
{
public:
  // Cells that all overlap are cut by every plane. Merging keeps their pieces from multiplying.
  TreeBuilder(std::size_t cells, double particles, std::uint32_t leaves)
    : max_per_leaf_(std::max<std::size_t>(256, 4 * cells / leaves))
    , mean_(particles / leaves)
  {
  }

  void cut(Node& node) const
  {
    if (node.leaves < 2)
    {
      forget_pieces(node);
      return;
    }
    const std::size_t maximum = this->max_per_leaf_ * node.leaves;
    if (node.pieces.size() > maximum)
    {
      merge_similar(node.pieces, node.extent, maximum);
    }
    if (!this->cut_at_border(node) && !this->cut_through(node))
    {
      node.leaves = 1;
      forget_pieces(node);
      return;
    }
    node.right->leaves = node.leaves - node.left->leaves;
    const bool many = node.pieces.size() > kPiecesPerTask;
    forget_pieces(node);
    if (many)
    {
      tbb::parallel_invoke([&] { this->cut(*node.left); }, [&] { this->cut(*node.right); });
    }
    else
    {
      this->cut(*node.left);
      this->cut(*node.right);
    }
  }

private:
  bool cut_at_border(Node& node) const
  {
    const auto border =
      node.ranks.find_border(node.extent.axes_by_length(), node.leaves, this->mean_);
    if (!border)
    {
      return false;
    }
    const double left = particles_below(node, border->axis, border->split);
    const double off =
      std::max(std::abs(left - border->left), std::abs(node.particles - left - border->right));
    if (off > kCountTolerance * this->mean_)
    {
      return false;
    }
    this->divide_at(node, border->axis, border->split);
    node.left->leaves = border->left_leaves;
    return true;
  }

  bool cut_through(Node& node) const
  {
    const std::uint32_t half = node.leaves / 2;
    const auto best = choose_cut(node, node.particles * half / node.leaves);
    if (!best)
    {
      return false;
    }
    this->divide_at(node, best->axis, centre_in_gap(node, best->axis, best->split));
    const double share = node.left->particles / node.particles;
    node.left->leaves = static_cast<std::uint32_t>(
      std::clamp(std::round(share * node.leaves), 1.0, static_cast<double>(node.leaves - 1)));
    // If the share is as good as the middle, keeps the halves equal, so that the tree does not
    // depend on rounding.
    if (std::abs(share * node.leaves - half) <= 0.5)
    {
      node.left->leaves = half;
    }
    return true;
  }

  static void divide_at(Node& node, std::size_t axis, double split)
  {
    node.axis = static_cast<int>(axis);
    node.split = split;
    node.left = std::make_unique<Node>();
    node.right = std::make_unique<Node>();
    divide(node);
    std::tie(node.left->ranks, node.right->ranks) = node.ranks.divide(axis, split);
  }

  std::size_t max_per_leaf_;
  double mean_; // particles of a leaf file
};

void flatten(const Node& node, Plan& plan)
{
  const std::size_t at = plan.nodes.size();
  plan.nodes.emplace_back();
  if (node.axis < 0)
  {
    plan.nodes[at].leaf = static_cast<std::uint32_t>(plan.leaf_particles.size());
    plan.leaf_particles.push_back(node.particles);
    return;
  }
  plan.nodes[at].axis = static_cast<std::int8_t>(node.axis);
  plan.nodes[at].split = node.split;
  flatten(*node.left, plan);
  plan.nodes[at].right = static_cast<std::uint32_t>(plan.nodes.size());
  flatten(*node.right, plan);
}
}

void plan_adaptive(const std::vector<WeightedCell>& cells, const std::vector<RankBounds>& bounds,
  std::uint32_t leaves, Plan& plan)
{
  Node root;
  root.leaves = leaves;
  root.pieces.reserve(cells.size());
  for (const WeightedCell& cell : cells)
  {
    add(root, { cell.lower, cell.upper, cell.particles });
  }
  root.ranks = NodeRanks(bounds);
  TreeBuilder(root.pieces.size(), root.particles, leaves).cut(root);
  flatten(root, plan);
}
}
