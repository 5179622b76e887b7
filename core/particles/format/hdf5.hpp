// SPDX-License-Identifier: BSD-3-Clause
// Encodes the objects of an HDF5 file ("HDF5 File Format Specification", version 3.0): object
// headers of version 2 with compact links and attributes, data sets, a superblock of version 2.
// HDF5 1.10 and newer read them. Nothing else of HDF5 is written, and nothing is read.
#pragma once

#include "bat/types.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bat::format::hdf5
{
using Bytes = std::vector<std::byte>;

inline constexpr std::size_t kSuperblockBytes = 48;
/// The address of something that is not in the file.
inline constexpr std::uint64_t kUndefined = ~std::uint64_t{ 0 };
/// Largest size of the data of a message.
inline constexpr std::size_t kMaxMessageBytes = 65535;

/// Bob Jenkins' hash "lookup3", which HDF5 uses as its checksum.
[[nodiscard]] std::uint32_t checksum(const std::byte* data, std::size_t bytes) noexcept;

/// A datatype message.
[[nodiscard]] Bytes number_type(ScalarType type);
enum class CharacterSet
{
  Ascii,
  Utf8
};
/// Text of exactly `bytes` bytes.
[[nodiscard]] Bytes text_type(std::size_t bytes, CharacterSet set);

using Dimensions = std::vector<std::uint64_t>; ///< empty for a scalar

/// The size of a link's message without its name.
inline constexpr std::size_t kLinkBytes = 13;

struct Attribute
{
  std::string name; ///< in UTF-8
  Bytes type;
  Dimensions dimensions;
  Bytes values;
};
[[nodiscard]] Attribute text_attribute(std::string name, std::string_view text, CharacterSet set);
[[nodiscard]] Attribute number_attribute(std::string name, double value);
[[nodiscard]] Attribute integers_attribute(
  std::string name, const Dimensions& dimensions, const std::vector<std::int64_t>& values);

struct DataSet
{
  Bytes type;
  Dimensions dimensions;
  Bytes layout;            ///< from one of the functions below
  Bytes fill_value;        ///< of values that are not in the file; empty for zeros
  Bytes filters;           ///< from shuffled_and_deflated_twice(), or empty
  std::uint32_t links = 1; ///< that lead to it
  std::vector<Attribute> attributes;
};

/// Encodes the object header of a data set.
[[nodiscard]] Bytes encode(const DataSet& data_set);

// Layouts: where the values of a data set are.

/// At `address`, which is kUndefined for values that are not in the file.
[[nodiscard]] Bytes contiguous(std::uint64_t address, std::uint64_t bytes);
/// In the object header.
[[nodiscard]] Bytes compact(const Bytes& values);
/// In other data sets, according to list `number` (from 1) of the heap at `heap`.
[[nodiscard]] Bytes in_other_data_sets(std::uint64_t heap, std::size_t number);

/// Size of the integers in chunks.
inline constexpr std::uint32_t kNumberBytes = 8;
/// A compressed chunk of a data set of 64-bit integers with one dimension.
struct Chunk
{
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
};
/// In the only chunk of a data set.
[[nodiscard]] Bytes in_one_chunk(const Chunk& chunk, std::uint32_t chunk_numbers);
/// In the chunks of the tree whose root is at `tree`.
[[nodiscard]] Bytes in_chunks(std::uint64_t tree, std::uint32_t chunk_numbers);

inline constexpr std::size_t kTreeChildren = 64;
/// A node of a tree of chunks.
struct TreeNode
{
  unsigned level = 0;               ///< 0 above chunks, n + 1 above nodes of level n
  std::uint64_t left = kUndefined;  ///< the neighbour at the same level
  std::uint64_t right = kUndefined; ///< the neighbour at the same level
  std::uint64_t first = 0;          ///< number of the first chunk below it
  std::uint64_t end = 0;            ///< number of the first chunk after it
  std::uint64_t chunks_each = 1;    ///< chunks below each child but the last
  std::uint32_t chunk_numbers = 0;
  std::vector<Chunk> children; ///< at most kTreeChildren; of nodes, the first chunk's bytes
};
[[nodiscard]] Bytes encode(const TreeNode& node);

/// The filters of chunks: the bytes of numbers are shuffled, and then compressed twice.
[[nodiscard]] Bytes shuffled_and_deflated_twice();

/// Consecutive rows of a data set.
struct Rows
{
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};
/// Rows of a virtual data set, and the rows of another data set that they are.
struct Mapping
{
  std::string file; ///< path from the folder of this file; "." for this file
  std::string data_set;
  Rows source;
  Rows target;
};
/// The mappings of one virtual data set. `components` is the size of its second dimension, or 1 if
/// it has one dimension.
struct MappingList
{
  std::uint64_t components = 1;
  std::vector<Mapping> mappings;
};
inline constexpr std::size_t kMaxHeapLists = 65535;
/// Encodes a global heap with these lists, at most kMaxHeapLists.
[[nodiscard]] Bytes heap(const std::vector<MappingList>& lists);

/// A link in a group to an object at an address.
struct Link
{
  std::string name; ///< in UTF-8, without '/'
  std::uint64_t address = kUndefined;
};

/// Encodes the object header of a group. The names of links must fit in messages.
[[nodiscard]] Bytes group(
  const std::vector<Link>& links, const std::vector<Attribute>& attributes = {});

/// Encodes the superblock at offset `base` of the file. `root` is the address of the root group,
/// relative to `base` as all addresses are; `file_bytes` is the size of the whole file.
[[nodiscard]] Bytes superblock(std::uint64_t base, std::uint64_t root, std::uint64_t file_bytes);
}
