// SPDX-License-Identifier: BSD-3-Clause
// Top files (NAME.pbat) of the library described in the paper, which list the leaf files of a
// dataset.
#pragma once

#include "bat/file.hpp"
#include "libbat/leaf_file.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bat::libbat
{
struct LeafEntry
{
  std::filesystem::path path;
  std::uint32_t rank = 0;           ///< rank that wrote it
  std::uint64_t particle_count = 0; ///< from its own header
};

/// A dataset. Attributes and counts of its leaf files have been compared with the top file.
struct Top
{
  std::string name; ///< name of the top file, for messages
  std::uint64_t file_bytes = 0;
  ScalarType position_type = ScalarType::Float32;
  std::uint64_t particle_count = 0;
  /// The keys cover all leaf files, see KeyRanges.
  std::vector<Attribute> attributes;
  /// Bounds of the leaf files. The top file has the bounds that ranks declared instead.
  std::optional<Box> bounds;
  /// Leaf files in the order of the aggregation tree, which keeps neighbours together. A leaf whose
  /// ranks had no particles has no file.
  std::vector<LeafEntry> leaves;
};

/// True if the file begins as a top file of that library. Never throws.
[[nodiscard]] bool is_top(const std::filesystem::path& path) noexcept;

/// Reads the top file and the header of each leaf file; keeps none open. The bitmaps and planes of
/// the top file are not used. Throws Error: NotFound (a leaf file, if the others lack particles),
/// CannotOpen, NotABatFile, UnsupportedVersion, Truncated, Corrupt.
[[nodiscard]] Top read_top(const std::filesystem::path& path, const OpenOptions& options = {},
  KeyRanges ranges = KeyRanges::Header);
}
