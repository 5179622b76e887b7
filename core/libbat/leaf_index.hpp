// SPDX-License-Identifier: BSD-3-Clause
// The trees of a leaf file, checked: where each node's particles are, and their file positions.
//
// File positions order the particles by the depth of their node, ties by ordinal; ordinals follow
// the treelets and, inside a treelet, the file. A quality therefore takes the nodes from coarse to
// fine.
#pragma once

#include "bat/types.hpp"
#include "common/io/random_access_file.hpp"
#include "libbat/header.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace bat::libbat
{
/// The header of a leaf file; its counts have been checked against the size of the file.
struct LeafHeader
{
  explicit LeafHeader(const io::RandomAccessFile& file);

  std::uint64_t tree_begin = 0; ///< offsets in the file are relative to it
  std::uint64_t node_count = 0; ///< nodes of the shallow tree
  std::uint64_t treelet_count = 0;
  std::uint64_t particle_count = 0;
  std::uint64_t dictionary_size = 0;
  std::uint32_t lod_particles = 0; ///< per inner node of a treelet
  bool has_ranges = false;
  std::vector<HeaderAttribute> attributes;
  std::vector<std::uint64_t> attribute_offsets; ///< bytes of the attributes before it, per particle
  std::uint64_t attribute_bytes = 0;            ///< per particle
  std::optional<std::array<float, 6>> bounds;
};

/// The number of a child that is a treelet, or of a child that is a shallow node.
struct ShallowChild
{
  std::uint32_t index = 0;
  bool is_treelet = false;
};

struct ShallowNode
{
  float split = 0;
  std::uint8_t axis = 0;
  ShallowChild left;
  ShallowChild right;
};

/// A node of a treelet. Its subtree consists of the nodes up to `subtree_end` and the treelet's
/// particles `first` to `particles_end` - 1; the first `own` of these belong to the node itself.
struct Node
{
  std::uint64_t position = 0; ///< file position of its own particles
  std::uint32_t first = 0;
  std::uint32_t own = 0;
  std::uint32_t particles_end = 0;
  std::uint32_t subtree_end = 0;
  std::uint32_t right = 0; ///< child; 0 for a leaf. The left child follows its parent.
  float split = 0;
  std::uint8_t axis = 0;
  std::uint8_t depth = 0; ///< total depth in shallow tree and treelet
};

struct Treelet
{
  std::uint64_t first_ordinal = 0;
  std::uint64_t first_node = 0;
  std::uint32_t node_count = 0;
  std::uint32_t particle_count = 0;
  std::uint64_t bitmaps_begin = 0; ///< offsets in the file
  std::uint64_t positions_begin = 0;
  std::uint64_t attributes_begin = 0;
};

/// Particles with consecutive file positions that are also consecutive in a treelet.
struct Run
{
  std::uint64_t position = 0;
  std::uint32_t treelet = 0;
  std::uint32_t first = 0;
};

struct LeafIndex
{
  /// Reads nodes only. Throws Error{Corrupt, Truncated}.
  LeafIndex(const io::RandomAccessFile& file, const LeafHeader& header);

  std::vector<ShallowNode> shallow; ///< empty with a single treelet
  std::vector<Treelet> treelets;
  std::vector<Node> nodes;
  std::vector<Run> runs; ///< ascending
  std::vector<std::uint64_t>
    level_begins; ///< file position of the first particle of each depth, and n
  std::vector<std::uint32_t> dictionary;

private:
  void read_shallow_tree(const io::RandomAccessFile& file, const LeafHeader& header);
  std::vector<std::uint8_t> treelet_depths(const io::RandomAccessFile& file) const;
  void read_treelet(const io::RandomAccessFile& file, const LeafHeader& header, std::uint64_t begin,
    std::uint64_t end, std::uint8_t depth);
  void read_nodes(const io::RandomAccessFile& file, const LeafHeader& header,
    const Treelet& treelet, std::uint64_t begin, std::uint8_t depth);
  void order_particles();
};
}
