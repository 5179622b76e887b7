// SPDX-License-Identifier: BSD-3-Clause
// Plans that send each rank's particles to a single leaf file: PlanMode::RankBorder and Aug.
#pragma once

#include "bat/plan.hpp"
#include "particles/plan/pieces.hpp"

namespace bat::plan
{
/// A rank that has particles, with the box of all its cells.
struct RankBox
{
  Piece all;
  std::array<double, 3> middle{};
  std::uint32_t rank = 0;
};

/// Ascending by rank; ranks without particles are left out.
[[nodiscard]] std::vector<RankBox> rank_boxes(
  const std::vector<WeightedCell>& cells, std::uint32_t ranks);

/// The paper's k-d tree over ranks (Section III-A). Fills leaf_particles and leaf_of_rank of
/// `plan`.
void plan_at_rank_borders(
  const std::vector<RankBox>& boxes, const PlanOptions& options, Plan& plan);

/// The adjustable uniform grid that the paper compares with: over the bounds of all particles,
/// about as many near-cubic cells as files are requested; empty cells make no file. Fills the same.
void plan_uniform_grid(const std::vector<RankBox>& boxes, const PlanOptions& options, Plan& plan);
}
