// SPDX-License-Identifier: BSD-3-Clause
// The index of one key: its bins, and which of them occur in each treelet and block (FORMAT.md
// section 11).
#pragma once

#include "bat/types.hpp"
#include "common/numbers.hpp"
#include "particles/format/layout.hpp"
#include "particles/write/spatial_order.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace bat::write
{
/// The index of one key before it is laid out.
struct BuiltKey
{
  std::int16_t component = 0;
  ValueClass type = ValueClass::Float;
  std::vector<std::uint64_t> edges; ///< bits of values of the class
  std::vector<format::TreeletKeyRecord> treelets;
  /// Bitmaps per block. After choose_bitmaps() they are indices into the dictionary, if it exists,
  /// or empty if not worth storing.
  std::vector<std::uint32_t> bitmaps;
  std::vector<std::uint32_t> dictionary;
  std::uint8_t bitmap_bytes = 0;
  std::uint64_t minimum = 0;
  std::uint64_t maximum = 0;
  bool has_nan = false;
};

/// Builds the index of one key whose values have class V = double, std::int64_t or std::uint64_t.
template <class V>
class KeyIndexer
{
public:
  /// `order` and `out`, which has its edges, must outlive the indexer.
  KeyIndexer(const SpatialOrder& order, BuiltKey& out);

  /// `values` are in the order of SpatialOrder::source. Safe to call concurrently for different
  /// treelets.
  void add_treelet(std::size_t t, const V* values);

  /// Call it after all treelets.
  void finish();

private:
  const SpatialOrder& order_;
  BuiltKey& out_;
  std::vector<V> edges_;
};

/// Decides whether a finished key's bitmaps are worth storing, and whether with a dictionary. Safe
/// to call concurrently for different keys.
void choose_bitmaps(const SpatialOrder& order, BuiltKey& key);
}
