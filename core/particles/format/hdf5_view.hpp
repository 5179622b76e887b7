// SPDX-License-Identifier: BSD-3-Clause
// The HDF5 view of a file (FORMAT.md section 20): bytes by which HDF5 reads the columns in place,
// as the VTKHDF file that they also are.
#pragma once

#include "bat/file.hpp"
#include "particles/format/decode.hpp"
#include "particles/format/layout.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bat::format
{
/// The contents of HDF5_OBJECTS, and the address of the root group for HDF5_SUPERBLOCK.
struct Hdf5Objects
{
  std::vector<std::byte> bytes;
  std::uint64_t root = 0;
};

/// What the views of leaf files and top files have in common.
struct ViewFacts
{
  ScalarType position_type = ScalarType::Float32;
  std::vector<Attribute> attributes; ///< attributes and aliases, without keys
  std::string metadata;              ///< the text of METADATA
  std::uint64_t metadata_offset = 0;
  std::optional<double> time;
  std::optional<std::int64_t> step;
  std::uint64_t objects_offset = 0; ///< of HDF5_OBJECTS
};

struct LeafViewFacts : ViewFacts
{
  std::uint64_t particles = 0;
  std::vector<SectionRecord> columns; ///< positions, then the attributes that are no aliases
};

struct TopViewFacts : ViewFacts
{
  std::vector<std::string> leaf_names;
  std::vector<std::uint64_t> particles; ///< of each leaf file
  std::uint64_t leaf_bytes = 0;         ///< of all leaf files
  std::vector<std::size_t> shown;       ///< attributes that the views of all leaf files show
};

/// Returns the columns among sections, which a writer adds and a reader finds in this order.
[[nodiscard]] std::vector<SectionRecord> columns_of(const std::vector<SectionRecord>& sections);

/// Returns the facts about an existing file of either kind.
[[nodiscard]] ViewFacts view_facts(const Header& header, const std::vector<SectionRecord>& sections,
  const Schema& schema, std::string metadata);
[[nodiscard]] LeafViewFacts leaf_view_facts(const Header& header,
  const std::vector<SectionRecord>& sections, const Schema& schema, std::string metadata);

/// Returns why a leaf file cannot have a view, or an empty text.
[[nodiscard]] std::string reason_against_view(const LeafViewFacts& facts);

/// Returns for each attribute why a leaf file's view leaves it out, or an empty text.
[[nodiscard]] std::vector<std::string> reasons_against_attributes(const LeafViewFacts& facts);

/// Returns the objects of a leaf file that can have a view.
[[nodiscard]] Hdf5Objects leaf_objects(const LeafViewFacts& facts);

/// Returns the objects of a top file, which refer to those of its leaf files; nothing if they take
/// more bytes or arrays than section 20 allows.
[[nodiscard]] std::optional<Hdf5Objects> top_objects(const TopViewFacts& facts);

/// Returns HDF5_SUPERBLOCK for a file of this size.
[[nodiscard]] std::vector<std::byte> hdf5_superblock(
  const Hdf5Objects& objects, std::uint64_t file_bytes);
}
