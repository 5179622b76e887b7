// SPDX-License-Identifier: BSD-3-Clause
// Joins the blocks of a composite data set into one set of particles.
#ifndef JoinedBlocks_h
#define JoinedBlocks_h

#include "BlockReader.h"

#include <vector>

namespace bat_vtk
{
/// Returns the particles of all kept blocks, one block after another, with the attributes that all
/// of them have. A single block of which all particles are kept is used directly. Throws
/// bat::Error{InvalidArgument} if blocks with particles have different attributes.
void JoinBlocks(const std::vector<Block>& blocks, ConvertedInput& result);
}

#endif
