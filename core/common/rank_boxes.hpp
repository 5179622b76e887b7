// SPDX-License-Identifier: BSD-3-Clause
// Determines which samples of a grid come from which rank. Pure functions of boxes.
#pragma once

#include "bat/logical_box.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat
{
/// A piece of some rank, or part of a piece.
struct RankBox
{
  std::int64_t rank = 0;
  std::int64_t piece = 0; ///< number among those of the rank
  LogicalBox box;
};

/// Returns the boxes by rank and piece, without the parts that an earlier one contains: every
/// sample is in at most one part, that of the lowest rank that has it. In the same order.
[[nodiscard]] std::vector<RankBox> disjoint_parts(const std::vector<RankBox>& boxes);
/// Returns whether disjoint boxes fill the box of fewer than 2^63 samples that contains them.
[[nodiscard]] bool cover(const std::vector<RankBox>& disjoint, const LogicalBox& whole);
}
