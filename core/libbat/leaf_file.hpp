// SPDX-License-Identifier: BSD-3-Clause
// Leaf files (NAME<rank>.bat) of the library described in the paper. Their format differs from
// ours.
#pragma once

#include "bat/file.hpp"
#include "libbat/key_ranges.hpp"
#include "particles/query/leaf_source.hpp"

#include <filesystem>
#include <memory>

namespace bat::libbat
{
/// True if the file begins as a leaf file of that library. Never throws.
[[nodiscard]] bool is_leaf(const std::filesystem::path& path) noexcept;

/// Throws Error: NotFound, CannotOpen, NotABatFile, UnsupportedVersion, Truncated, Corrupt. The
/// trees are read, and checked, when they are first needed: any call may then throw
/// Error{Corrupt} or Error{Truncated}. These files have no checksums, so changed values go
/// unnoticed.
[[nodiscard]] std::unique_ptr<LeafSource> open_leaf(const std::filesystem::path& path,
  const OpenOptions& options = {}, KeyRanges ranges = KeyRanges::Header);
}
