// SPDX-License-Identifier: BSD-3-Clause
// Blocks of a composite data set as one set of particles.
#ifndef JoinedBlocks_h
#define JoinedBlocks_h

#include "BlockReader.h"

#include <vector>

namespace bat_vtk
{
/// The particles of all kept blocks, one block after another, with the attributes that all of them
/// have. A single block that keeps all is used as it is. Throws bat::Error{InvalidArgument} if
/// blocks with particles do not have the same attributes.
void JoinBlocks(const std::vector<Block>& blocks, ConvertedInput& result);
}

#endif
