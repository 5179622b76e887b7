// SPDX-License-Identifier: BSD-3-Clause
// The state of an open file: the decoded schema, and the parts of the index used so far.
#pragma once

#include "bat/file.hpp"
#include "common/io/random_access_file.hpp"
#include "particles/format/column.hpp"
#include "particles/format/decode.hpp"
#include "particles/format/layout.hpp"
#include "particles/format/page_reader.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bat
{
/// Size of positions and attributes in bytes; aliases take none.
[[nodiscard]] std::uint64_t bytes_per_particle(
  ScalarType positions, const std::vector<Attribute>& attributes) noexcept;

/// SHALLOW_TREE and TREELETS, checked.
struct SpatialIndex
{
  std::vector<format::NodeRecord> nodes;
  std::vector<format::TreeletRecord> treelets;
  std::vector<std::uint64_t> first_ordinal; ///< per treelet, and n
  std::vector<std::uint64_t> first_block;   ///< per treelet, and the number of blocks
  std::vector<std::uint32_t> leaf_nodes;    ///< per treelet: its node
  /// For stable samples, level by level: the number of particles in the treelets before each, and
  /// n.
  std::vector<std::uint32_t> in_levels;
};

/// BIN_EDGES, TREELET_KEYS and BITMAP_DICTIONARY of a key, checked.
struct KeyIndex
{
  std::vector<std::uint64_t> edges; ///< bits of values of the key's class
  std::vector<format::TreeletKeyRecord> treelets;
  std::vector<std::uint32_t> dictionary;
};

/// The HDF5 view of a file (FORMAT.md section 20), or why it cannot have one.
struct ViewState
{
  bool exists = false;
  std::string reason; ///< why the file cannot have a view, or empty
  /// For each attribute, why the view leaves it out, or empty. No elements if no view exists.
  std::vector<std::string> attribute_reasons;
};

class File::Impl
{
public:
  Impl(std::unique_ptr<io::RandomAccessFile> opened);

  /// A section that is not a column.
  const format::PagedSection& paged(format::SectionKind kind, std::uint32_t index = 0) const;
  /// The column of the positions or of an attribute.
  const format::ColumnSection& column(format::SectionKind kind, std::uint32_t index = 0) const;
  [[nodiscard]] bool has_sorted_index(std::size_t key) const;
  const SpatialIndex& spatial_index() const;
  const KeyIndex& key_index(std::size_t key) const;
  [[nodiscard]] ViewState hdf5_view() const;
  /// Requests sections that will be read, by kind and index, at the same time. Does nothing if the
  /// file is local.
  void prefetch_remote(
    const std::vector<std::pair<format::SectionKind, std::uint32_t>>& requested) const;

  std::unique_ptr<io::RandomAccessFile> source;
  format::Header header;
  std::vector<format::SectionRecord> sections;
  format::Schema schema;

private:
  void load_spatial_index() const;
  std::vector<std::uint32_t> load_treelet_levels(const SpatialIndex& index) const;
  KeyIndex load_key_index(std::size_t key) const;

  struct LazyKey
  {
    std::once_flag loaded;
    KeyIndex index;
  };
  std::size_t number_of(format::SectionKind kind, std::uint32_t index) const;

  std::vector<std::unique_ptr<format::PagedSection>> paged_;    ///< per section; null for others
  std::vector<std::unique_ptr<format::ColumnSection>> columns_; ///< per section; null for others
  mutable std::once_flag spatial_loaded_;
  mutable SpatialIndex spatial_;
  std::unique_ptr<LazyKey[]> keys_;
};
}
