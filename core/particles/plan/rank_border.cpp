// SPDX-License-Identifier: BSD-3-Clause
// Plans leaf files that end between ranks, as in the paper.

#include "particles/plan/ranks.hpp"

#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_sort.h>

#include <cmath>
#include <numeric>
#include <optional>

namespace bat::plan
{
namespace
{
constexpr std::size_t kRanksPerTask = 2048;

// Ranks [begin, end) of an order are left of `at` or right of it, sorted along `axis`.
struct RankCut
{
  std::size_t axis = 0;
  std::size_t at = 0;
  double left = 0;
  double cost = 0; // the paper's: |0.5 - left / all|
};

// Three lists of all ranks, sorted along one axis each. A node is the same range in each list, so
// that a leaf is a range and the whole tree needs no nodes.
class RankTreeBuilder
{
public:
  RankTreeBuilder(const std::vector<RankBox>& boxes, const PlanOptions& options)
    : boxes_(boxes)
    , options_(options)
    , scratch_(boxes.size())
    , goes_right_(boxes.size())
    , starts_leaf_(boxes.size())
  {
    tbb::parallel_for(std::size_t{ 0 }, std::size_t{ 3 },
      [&](std::size_t axis)
      {
        std::vector<std::uint32_t>& order = this->order_[axis];
        order.resize(boxes.size());
        std::iota(order.begin(), order.end(), 0u);
        tbb::parallel_sort(order.begin(), order.end(),
          [&boxes, axis](std::uint32_t a, std::uint32_t b) {
            return std::make_pair(boxes[a].middle[axis], a) <
              std::make_pair(boxes[b].middle[axis], b);
          });
      });
  }

  void run(Plan& plan)
  {
    this->cut(0, this->boxes_.size());
    for (std::size_t i = 0; i != this->boxes_.size(); ++i)
    {
      const RankBox& box = this->boxes_[this->order_[0][i]];
      if (this->starts_leaf_[i])
      {
        plan.leaf_particles.push_back(0);
      }
      plan.leaf_particles.back() += box.all.particles;
      plan.leaf_of_rank[box.rank] = static_cast<std::uint32_t>(plan.leaf_particles.size() - 1);
    }
  }

private:
  void cut(std::size_t begin, std::size_t end)
  {
    this->starts_leaf_[begin] = 1;
    Extent extent;
    double particles = 0;
    for (std::size_t i = begin; i != end; ++i)
    {
      const Piece& all = this->boxes_[this->order_[0][i]].all;
      extent.add(all);
      particles += all.particles;
    }
    const double bytes = particles * static_cast<double>(this->options_.bytes_per_particle);
    const auto target = static_cast<double>(this->options_.target_bytes);
    if (end - begin == 1 || bytes <= target)
    {
      return;
    }
    const RankCut best = this->choose_cut(begin, end, extent, particles);
    const double small = std::min(best.left, particles - best.left);
    if (bytes <= target * this->options_.max_overfull_factor &&
      particles - small >= this->options_.max_split_imbalance_ratio * small)
    {
      return;
    }
    this->divide(begin, end, best);
    if (end - begin > kRanksPerTask)
    {
      tbb::parallel_invoke([&] { this->cut(begin, best.at); }, [&] { this->cut(best.at, end); });
    }
    else
    {
      this->cut(begin, best.at);
      this->cut(best.at, end);
    }
  }

  [[nodiscard]] RankCut choose_cut(
    std::size_t begin, std::size_t end, const Extent& extent, double particles) const
  {
    std::optional<RankCut> best;
    for (const std::size_t axis : extent.axes_by_length())
    {
      const auto cut = this->best_along(axis, begin, end, particles, false);
      if (cut && (!best || cut->cost < best->cost))
      {
        best = cut;
      }
      if (best && !this->options_.find_best_axis)
      {
        break;
      }
    }
    // Ranks with the same box are ordered by number.
    return best ? *best : *this->best_along(0, begin, end, particles, true);
  }

  [[nodiscard]] std::optional<RankCut> best_along(
    std::size_t axis, std::size_t begin, std::size_t end, double particles, bool anywhere) const
  {
    const std::vector<std::uint32_t>& order = this->order_[axis];
    std::optional<RankCut> best;
    double left = 0;
    for (std::size_t i = begin; i + 1 != end; ++i)
    {
      const RankBox& last = this->boxes_[order[i]];
      left += last.all.particles;
      if (anywhere || last.middle[axis] < this->boxes_[order[i + 1]].middle[axis])
      {
        const double cost = std::abs(0.5 - left / particles);
        if (!best || cost < best->cost)
        {
          best = RankCut{ axis, i + 1, left, cost };
        }
      }
    }
    return best;
  }

  // In all three lists, left ranks come first; otherwise the order is kept.
  void divide(std::size_t begin, std::size_t end, const RankCut& cut)
  {
    for (std::size_t i = begin; i != end; ++i)
    {
      this->goes_right_[this->order_[cut.axis][i]] = i >= cut.at;
    }
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      if (axis == cut.axis)
      {
        continue;
      }
      std::vector<std::uint32_t>& order = this->order_[axis];
      std::size_t left = begin;
      std::size_t right = cut.at;
      for (std::size_t i = begin; i != end; ++i)
      {
        this->scratch_[this->goes_right_[order[i]] ? right++ : left++] = order[i];
      }
      std::copy(this->scratch_.begin() + static_cast<std::ptrdiff_t>(begin),
        this->scratch_.begin() + static_cast<std::ptrdiff_t>(end),
        order.begin() + static_cast<std::ptrdiff_t>(begin));
    }
  }

  const std::vector<RankBox>& boxes_;
  const PlanOptions& options_;
  std::array<std::vector<std::uint32_t>, 3> order_;
  std::vector<std::uint32_t> scratch_;
  std::vector<std::uint8_t> goes_right_;
  std::vector<std::uint8_t> starts_leaf_;
};
}

void plan_at_rank_borders(const std::vector<RankBox>& boxes, const PlanOptions& options, Plan& plan)
{
  RankTreeBuilder(boxes, options).run(plan);
}
}
