// SPDX-License-Identifier: BSD-3-Clause
#include "bat/plan.hpp"

#include "bat/error.hpp"
#include "bat/write_options.hpp"
#include "common/arena.hpp"
#include "common/fail.hpp"
#include "particles/plan/adaptive.hpp"
#include "particles/plan/aggregators.hpp"
#include "particles/plan/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bat
{
namespace
{
// Exceeds any sensible number; a target of a few bytes is a mistake.
constexpr double kMaxLeaves = 1 << 24;
constexpr double kMaxParticles = 0x1p63;
// Maximum ratio between the largest leaf file and the mean. Limits on single files allow for it.
constexpr double kMaxImbalance = 1.15;
constexpr double kMebibyte = 1024.0 * 1024.0;
// Cells of one rank per leaf file: a rank's box may be the whole domain.
constexpr std::uint64_t kCellsPerLeaf = 32;
// Maximum number for all ranks, unless ranks would have fewer than kMinCells: a single cell would
// blur a surface that crosses its rank.
constexpr std::uint64_t kMaxCells = 1u << 18;
constexpr std::uint64_t kMinCells = 4;

void check(const PlanOptions& options)
{
  WriteOptions all;
  static_cast<PlanRules&>(all) = options;
  all.build.threads = options.threads;
  check_options(all);
  if (options.ranks == 0)
  {
    refuse("plan: 0 ranks; at least 1 is required");
  }
  if (options.bytes_per_particle == 0)
  {
    refuse("plan: 0 bytes per particle; at least 1 is required");
  }
}

// Checks the rank and the box of an item named by `name()`.
template <class Name, class T>
void check_place(const Name& name, std::uint32_t rank, const std::array<T, 3>& lower,
  const std::array<T, 3>& upper, const PlanOptions& options)
{
  if (rank >= options.ranks)
  {
    refuse(
      fmt::format("{}: rank is {}; allowed are 0 to {}", name(), options.ranks, options.ranks - 1));
  }
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    if (!std::isfinite(lower[axis]) || !std::isfinite(upper[axis]) || lower[axis] > upper[axis])
    {
      refuse(fmt::format("{}: the box goes from {} to {} along {}; its ends must be finite and "
                         "ascending",
        name(), lower[axis], upper[axis], "xyz"[axis]));
    }
  }
}

void check(const WeightedCell& cell, std::size_t number, const PlanOptions& options)
{
  const auto name = [&] { return fmt::format("plan: cell {} of rank {}", number, cell.rank); };
  check_place(name, cell.rank, cell.lower, cell.upper, options);
  if (!std::isfinite(cell.particles) || cell.particles < 0)
  {
    refuse(fmt::format("{}: the number of particles is {}; it must be finite and not negative",
      name(), cell.particles));
  }
}

// Checks every cell; returns the number of particles.
double check(const std::vector<WeightedCell>& cells, const PlanOptions& options)
{
  double particles = 0;
  for (std::size_t i = 0; i != cells.size(); ++i)
  {
    check(cells[i], i, options);
    particles += cells[i].particles;
  }
  if (particles >= kMaxParticles)
  {
    refuse(fmt::format("plan: {:g} particles in total; fewer than 2^63 are allowed", particles));
  }
  return particles;
}

// Bounds must belong to the ranks that have cells.
void check(const std::vector<RankBounds>& bounds, const std::vector<WeightedCell>& cells,
  const PlanOptions& options)
{
  auto cell = cells.begin();
  for (std::size_t i = 0; i != bounds.size(); ++i)
  {
    check_place([&] { return fmt::format("plan: bounds of rank {}", bounds[i].rank); },
      bounds[i].rank, bounds[i].box.lower, bounds[i].box.upper, options);
    if (i != 0 && bounds[i].rank <= bounds[i - 1].rank)
    {
      refuse(fmt::format("plan: the bounds of rank {} follow those of rank {}; ranks must ascend",
        bounds[i].rank, bounds[i - 1].rank));
    }
    double particles = 0;
    for (; cell != cells.end() && cell->rank <= bounds[i].rank; ++cell)
    {
      if (cell->particles > 0 && cell->rank != bounds[i].rank)
      {
        refuse(fmt::format("plan: rank {} has cells but no bounds", cell->rank));
      }
      particles += cell->particles;
    }
    if (!(std::abs(particles - bounds[i].particles) <= 1e-6 * particles))
    {
      refuse(fmt::format("plan: the bounds of rank {} are for {} particles, its cells for {}",
        bounds[i].rank, bounds[i].particles, particles));
    }
  }
  for (; cell != cells.end() && !bounds.empty(); ++cell)
  {
    if (cell->particles > 0)
    {
      refuse(fmt::format("plan: rank {} has cells but no bounds", cell->rank));
    }
  }
}

std::uint32_t requested_leaves(double particles, const PlanOptions& options)
{
  const double bytes = particles * static_cast<double>(options.bytes_per_particle);
  const double leaves = std::round(bytes / static_cast<double>(options.target_bytes));
  if (leaves > kMaxLeaves)
  {
    refuse(fmt::format("plan: a target of {} bytes would create {:g} leaf files of {:g} bytes; "
                       "at most {:g} are allowed",
      options.target_bytes, leaves, bytes, kMaxLeaves));
  }
  return static_cast<std::uint32_t>(std::max(1.0, leaves));
}

void run(const std::vector<WeightedCell>& cells, const std::vector<RankBounds>& bounds,
  const PlanOptions& options, double particles, Plan& plan)
{
  const std::uint32_t leaves = requested_leaves(particles, options);
  if (options.mode == PlanMode::Adaptive)
  {
    plan::plan_adaptive(cells, bounds, leaves, plan);
    return;
  }
  const std::vector<plan::RankBox> boxes = plan::rank_boxes(cells, options.ranks);
  if (options.mode == PlanMode::RankBorder)
  {
    plan::plan_at_rank_borders(boxes, options, plan);
  }
  else
  {
    plan::plan_uniform_grid(boxes, options, plan);
  }
}
}

std::uint32_t Plan::leaf_at(double x, double y, double z) const noexcept
{
  if (this->nodes.empty())
  {
    return 0;
  }
  const std::array<double, 3> position{ x, y, z };
  std::size_t node = 0;
  while (this->nodes[node].axis >= 0)
  {
    const PlanNode& inner = this->nodes[node];
    const bool left = position[static_cast<std::size_t>(inner.axis)] < inner.split;
    node = left ? node + 1 : inner.right;
  }
  return this->nodes[node].leaf;
}

std::optional<std::uint32_t> Plan::find_leaf(const Box& box) const noexcept
{
  std::size_t node = 0;
  while (node < this->nodes.size() && this->nodes[node].axis >= 0)
  {
    const PlanNode& inner = this->nodes[node];
    const auto axis = static_cast<std::size_t>(inner.axis);
    if (box.lower[axis] < inner.split && !(box.upper[axis] < inner.split))
    {
      return std::nullopt;
    }
    node = box.lower[axis] < inner.split ? node + 1 : inner.right;
  }
  return this->nodes.empty() ? 0 : this->nodes[node].leaf;
}

Plan make_plan(const std::vector<WeightedCell>& cells, const PlanOptions& given,
  const std::vector<RankBounds>& bounds)
{
  PlanOptions options = given;
  check(options);
  const double particles = check(cells, options);
  check(bounds, cells, options);
  if (options.target_bytes == 0)
  {
    options.target_bytes = auto_target_bytes(
      static_cast<std::uint64_t>(std::ceil(particles)), options.bytes_per_particle, options.ranks);
  }
  Plan plan;
  plan.mode = options.mode;
  plan.target_bytes = options.target_bytes;
  if (options.mode != PlanMode::Adaptive)
  {
    plan.leaf_of_rank.resize(options.ranks);
  }
  if (!(particles > 0))
  {
    return plan;
  }
  in_arena(options.threads,
    [&]
    {
      run(cells, bounds, options, particles, plan);
      plan.leaf_count = static_cast<std::uint32_t>(plan.leaf_particles.size());
      plan.aggregators = plan::choose_aggregators(cells, plan, options.ranks);
    });
  return plan;
}

std::uint64_t auto_target_bytes(
  std::uint64_t particles, std::uint64_t bytes_per_particle, std::uint32_t ranks) noexcept
{
  constexpr double kMinBytes = 4 * kMebibyte;
  const auto per_particle = static_cast<double>(std::max<std::uint64_t>(bytes_per_particle, 1));
  const double maximum =
    std::max(std::min(4096 * kMebibyte, 0x1p31 * per_particle) / kMaxImbalance, per_particle);
  const double bytes = static_cast<double>(particles) * per_particle;
  // More ranks never get fewer files.
  const std::uint32_t by_ranks =
    std::max({ std::min(ranks, 16u), std::min(ranks / 4, 256u), ranks / 16, 1u });
  double files = std::min<double>(by_ranks, std::floor(bytes / kMinBytes));
  files = std::max({ files, std::ceil(bytes / maximum), 1.0 });
  const double target = std::max(std::ceil(bytes / files), std::min(kMinBytes, maximum));
  return static_cast<std::uint64_t>(std::min(target, 0x1p63));
}

std::uint32_t cells_per_rank(std::uint32_t ranks, std::uint32_t leaf_files) noexcept
{
  const std::uint64_t requested = kCellsPerLeaf * std::max(leaf_files, 1u);
  const std::uint64_t share = kMaxCells / std::max(ranks, 1u);
  return static_cast<std::uint32_t>(std::max(std::min(requested, share), kMinCells));
}

std::uint32_t cells_of_rank(std::uint64_t particles, std::uint64_t all_particles,
  std::uint32_t ranks, std::uint32_t leaf_files) noexcept
{
  const std::uint32_t evenly = cells_per_rank(ranks, leaf_files);
  const double share = all_particles != 0
    ? std::min(1.0, static_cast<double>(particles) / static_cast<double>(all_particles))
    : 0.0;
  const double by_particles = 0.5 * evenly * ranks * share;
  return std::max(1u, evenly / 2 + static_cast<std::uint32_t>(std::min(by_particles, 1e9)));
}
}
