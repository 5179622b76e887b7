// SPDX-License-Identifier: BSD-3-Clause
// Parts of validate() that check a top file, and its leaf files against it. All throw
// Error{Corrupt}.
#pragma once

#include "particles/dataset/top_file.hpp"
#include "particles/dataset/top_writer.hpp"

#include <cstddef>
#include <filesystem>
#include <vector>

namespace bat
{
void validate_top(const TopFile& top);

/// Checks a leaf file against its entry in the top file.
[[nodiscard]] LeafEntry validate_entry(
  const TopFile& top, std::size_t i, const std::filesystem::path& path);

/// Checks the keys of positions, which a top file merges and does not list leaf by leaf.
void validate_position_keys(const TopFile& top, const std::vector<LeafEntry>& leaves);

/// Checks the HDF5 view of a top file, if it has one.
void validate_hdf5_view(const TopFile& top, const std::vector<LeafEntry>& leaves);
}
