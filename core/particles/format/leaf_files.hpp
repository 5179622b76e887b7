// SPDX-License-Identifier: BSD-3-Clause
// The leaf files as described by a top file.
#pragma once

#include "particles/format/layout.hpp"

#include <string>
#include <vector>

namespace bat::format
{
/// LEAF_FILES and AGGREGATION_TREE.
struct LeafFiles
{
  std::vector<LeafRecord> leaves;
  std::vector<LeafKeyRecord> keys; ///< shape (leaves, keys)
  std::vector<std::string> names;  ///< relative to the folder of the top file
  std::vector<NodeRecord> nodes;
};
}
