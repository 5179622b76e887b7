// SPDX-License-Identifier: BSD-3-Clause
// The kinds of sections (FORMAT.md section 6), one row each, with everything that readers, writers,
// the validator and messages know about a kind.
#pragma once

#include "particles/format/layout.hpp"

#include <cstdint>

namespace bat::format
{
/// The kind of file to read.
enum class FileKind
{
  Leaf, ///< particles
  Top   ///< top file of a dataset with several leaf files
};

/// The meaning of a section's `index`.
enum class Numbered
{
  No, ///< the kind exists only once, with index 0
  ByAttribute,
  ByKey,
  ByColumn ///< 0 is the positions, 1 + k attribute k
};

struct SectionKindRow
{
  SectionKind kind;
  const char* name;
  Numbered numbered;
  bool paged;
  bool in_leaf_files;
  bool in_top_files;
};

/// Row k describes kind k + 1.
inline constexpr SectionKindRow kSectionKinds[] = {
  { SectionKind::Schema, "SCHEMA", Numbered::No, false, true, true },
  { SectionKind::Metadata, "METADATA", Numbered::No, false, true, true },
  { SectionKind::Levels, "LEVELS", Numbered::No, false, true, false },
  { SectionKind::ShallowTree, "SHALLOW_TREE", Numbered::No, false, true, false },
  { SectionKind::Treelets, "TREELETS", Numbered::No, false, true, false },
  { SectionKind::BlockBoxes, "BLOCK_BOXES", Numbered::No, true, true, false },
  { SectionKind::BinEdges, "BIN_EDGES", Numbered::ByKey, false, true, false },
  { SectionKind::TreeletKeys, "TREELET_KEYS", Numbered::ByKey, false, true, false },
  { SectionKind::BitmapDictionary, "BITMAP_DICTIONARY", Numbered::ByKey, false, true, false },
  { SectionKind::BlockBitmaps, "BLOCK_BITMAPS", Numbered::ByKey, true, true, false },
  { SectionKind::Positions, "POSITIONS", Numbered::No, true, true, false },
  { SectionKind::Attribute, "ATTRIBUTE", Numbered::ByAttribute, true, true, false },
  { SectionKind::AggregationTree, "AGGREGATION_TREE", Numbered::No, false, false, true },
  { SectionKind::LeafFiles, "LEAF_FILES", Numbered::No, false, false, true },
  { SectionKind::ChunkTable, "CHUNK_TABLE", Numbered::ByColumn, false, true, false },
  { SectionKind::SortedIndex, "SORTED_INDEX", Numbered::ByKey, true, true, false },
  { SectionKind::Aliases, "ALIASES", Numbered::No, false, true, true },
  { SectionKind::SampleIds, "SAMPLE_IDS", Numbered::No, false, true, true },
  { SectionKind::TreeletLevels, "TREELET_LEVELS", Numbered::No, false, true, false },
  { SectionKind::BlockLevels, "BLOCK_LEVELS", Numbered::No, true, true, false },
  { SectionKind::Hdf5Superblock, "HDF5_SUPERBLOCK", Numbered::No, false, true, true },
  { SectionKind::Hdf5Objects, "HDF5_OBJECTS", Numbered::No, false, true, true },
};

/// Returns null for a kind that is not in the table.
[[nodiscard]] constexpr const SectionKindRow* find_section_kind(std::uint32_t kind) noexcept
{
  return kind - 1 < sizeof(kSectionKinds) / sizeof(kSectionKinds[0]) ? &kSectionKinds[kind - 1]
                                                                     : nullptr;
}

[[nodiscard]] constexpr const SectionKindRow& row_of(SectionKind kind) noexcept
{
  return *find_section_kind(static_cast<std::uint32_t>(kind));
}

[[nodiscard]] constexpr bool belongs_in(const SectionKindRow& row, FileKind file) noexcept
{
  return file == FileKind::Leaf ? row.in_leaf_files : row.in_top_files;
}

/// Returns whether the section holds a value or tuple per particle, which may be in chunks.
[[nodiscard]] constexpr bool is_column(SectionKind kind) noexcept
{
  return kind == SectionKind::Positions || kind == SectionKind::Attribute;
}

/// Returns whether a column has chunks. The record's kind must be known in its file.
[[nodiscard]] constexpr bool has_chunks(const SectionRecord& section) noexcept
{
  return is_column(static_cast<SectionKind>(section.kind)) && section.encoding == kChunks;
}

/// Returns the number of a column, which is the index of its CHUNK_TABLE.
[[nodiscard]] constexpr std::uint32_t column_number(SectionKind kind, std::uint32_t index) noexcept
{
  return kind == SectionKind::Positions ? 0 : 1 + index;
}

constexpr bool rows_are_in_order()
{
  std::uint32_t kind = 1;
  for (const SectionKindRow& row : kSectionKinds)
  {
    if (static_cast<std::uint32_t>(row.kind) != kind++)
    {
      return false;
    }
  }
  return true;
}
static_assert(rows_are_in_order());
}
