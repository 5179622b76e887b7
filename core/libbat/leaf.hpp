// SPDX-License-Identifier: BSD-3-Clause
// An open leaf file: the header, and the parts of its index needed so far.
#pragma once

#include "bat/file.hpp"
#include "common/io/random_access_file.hpp"
#include "libbat/key_ranges.hpp"
#include "libbat/leaf_index.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace bat::libbat
{
/// Consecutive particles of a treelet and where they go in a result; `out` is counted in particles.
struct Piece
{
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint64_t out = 0;
};

/// const functions may be called concurrently.
class Leaf
{
public:
  Leaf(const std::filesystem::path& path, const OpenOptions& options, KeyRanges ranges);

  [[nodiscard]] const io::RandomAccessFile& file() const noexcept { return this->file_; }
  [[nodiscard]] const LeafHeader& header() const noexcept { return *this->header_; }
  [[nodiscard]] const std::vector<Attribute>& attributes() const noexcept
  {
    return this->attributes_;
  }
  [[nodiscard]] const std::optional<Box>& bounds() const noexcept { return this->bounds_; }

  /// Read at the first call.
  [[nodiscard]] const LeafIndex& index() const;
  /// Indexes of the bitmaps of a treelet's nodes, each inside the dictionary: node * attributes +
  /// attribute.
  [[nodiscard]] const std::vector<std::uint16_t>& bitmap_ids(std::size_t treelet) const;

  /// Copies values of ascending pieces of a treelet. `begin` is the offset of the treelet's
  /// values.
  void gather(std::uint64_t begin, std::uint64_t tuple_bytes, const std::vector<Piece>& pieces,
    std::byte* out) const;
  [[nodiscard]] std::uint64_t attribute_begin(const Treelet& treelet, std::size_t k) const noexcept
  {
    return treelet.attributes_begin + treelet.particle_count * this->header_->attribute_offsets[k];
  }

private:
  [[nodiscard]] std::optional<Box> find_bounds() const;
  [[nodiscard]] Key find_key(std::size_t attribute) const;
  template <class F>
  void for_each_value(std::uint64_t tuple_bytes, F&& begin_of,
    const std::function<void(const std::byte*, std::size_t)>& visit) const;

  struct LazyIds
  {
    std::once_flag loaded;
    std::vector<std::uint16_t> ids;
  };

  io::RandomAccessFile file_;
  std::optional<LeafHeader> header_;
  std::vector<Attribute> attributes_;
  std::optional<Box> bounds_;
  mutable std::once_flag index_loaded_;
  mutable std::unique_ptr<LeafIndex> index_;
  std::unique_ptr<LazyIds[]> ids_;
};
}
