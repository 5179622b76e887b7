// SPDX-License-Identifier: BSD-3-Clause
// Chooses the rank that writes each leaf file.
#pragma once

#include "bat/plan.hpp"

#include <cstdint>
#include <vector>

namespace bat::plan
{
/// Per leaf file of `plan`, whose tree or leaf_of_rank is filled. Ranks are divided into windows of
/// equal length, one leaf file each (or, of fewer ranks than leaf files, about as many to every
/// rank), so that aggregators are spread over the nodes; a leaf file goes to the window, and in it
/// to the rank, that has most of its particles, as far as others do not have more of theirs there.
[[nodiscard]] std::vector<std::uint32_t> choose_aggregators(
  const std::vector<WeightedCell>& cells, const Plan& plan, std::uint32_t ranks);
}
