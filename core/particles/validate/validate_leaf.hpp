// SPDX-License-Identifier: BSD-3-Clause
// Parts of validate() that check the particles of a leaf file against its index. All throw
// Error{Corrupt}.
#pragma once

#include "particles/dataset/leaf_particles.hpp"

namespace bat
{
/// Checks boxes of blocks, treelets and nodes, and keys of positions.
void check_positions(const LeafParticles& particles);

/// Checks that the levels of stable samples follow the hashes of ids.
void check_sample(const LeafParticles& particles);

/// Checks the keys of an attribute: extremes, bins, bitmaps and sorted indexes.
void check_attribute(const LeafParticles& particles, std::uint32_t index);
}
