// SPDX-License-Identifier: BSD-3-Clause
// Chooses the rank that writes each leaf file.
#pragma once

#include "bat/plan.hpp"

#include <cstdint>
#include <vector>

namespace bat::plan
{
/// Returns the aggregator for each leaf file of `plan`, whose tree or leaf_of_rank is filled. Ranks
/// are divided into windows of equal length, with one leaf file each (or, with fewer ranks than
/// leaf files, about as many on every rank), so that aggregators are spread over the nodes. A leaf
/// file goes to the window, and in it to the rank, that has most of its particles, unless others
/// have more of theirs there.
[[nodiscard]] std::vector<std::uint32_t> choose_aggregators(
  const std::vector<WeightedCell>& cells, const Plan& plan, std::uint32_t ranks);
}
