// SPDX-License-Identifier: BSD-3-Clause
// Limits the number of pieces in a node.
#pragma once

#include "particles/plan/pieces.hpp"

namespace bat::plan
{
/// Replaces pieces whose boxes are nearly the same by one with their mean box, and relaxes "nearly"
/// until at most `maximum` are left. Keeps the sum of particles up to rounding.
void merge_similar(std::vector<Piece>& pieces, const Extent& extent, std::size_t maximum);
}
