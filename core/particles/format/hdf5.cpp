// SPDX-License-Identifier: BSD-3-Clause
#include "particles/format/hdf5.hpp"

#include "common/hdf5_signature.hpp"
#include "common/round_up.hpp"
#include "particles/format/encode_parts.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

namespace bat::format::hdf5
{
namespace
{
template <class T>
void put(Bytes& bytes, T value)
{
  static_assert(std::is_trivially_copyable_v<T>);
  append(bytes, &value, sizeof(value));
}

void put(Bytes& bytes, const std::string& text)
{
  append(bytes, text.data(), text.size());
}

void put(Bytes& bytes, const Bytes& more)
{
  append(bytes, more.data(), more.size());
}

void put(Bytes& bytes, std::string_view text)
{
  append(bytes, text.data(), text.size());
}

Bytes bytes_of(std::string_view text)
{
  Bytes bytes;
  put(bytes, text);
  return bytes;
}

std::uint32_t rotate(std::uint32_t x, unsigned bits) noexcept
{
  return (x << bits) | (x >> (32 - bits));
}

enum class Message : std::uint8_t
{
  Dataspace = 0x01,
  LinkInfo = 0x02,
  Datatype = 0x03,
  FillValue = 0x05,
  Link = 0x06,
  Layout = 0x08,
  GroupInfo = 0x0A,
  Filters = 0x0B,
  Attribute = 0x0C,
  AttributeInfo = 0x15,
  ReferenceCount = 0x16
};

void put_message(Bytes& messages, Message kind, const Bytes& data)
{
  put(messages, static_cast<std::uint8_t>(kind));
  put(messages, static_cast<std::uint16_t>(data.size()));
  const bool is_constant =
    kind == Message::Datatype || kind == Message::FillValue || kind == Message::Filters;
  put(messages, static_cast<std::uint8_t>(is_constant ? 1 : 0));
  put(messages, data);
}

Bytes dataspace(const Dimensions& dimensions)
{
  Bytes bytes;
  put(bytes, std::uint8_t{ 2 }); // version
  put(bytes, static_cast<std::uint8_t>(dimensions.size()));
  put(bytes, std::uint8_t{ 0 });                                     // no maxima
  put(bytes, static_cast<std::uint8_t>(dimensions.empty() ? 0 : 1)); // scalar or simple
  for (const std::uint64_t size : dimensions)
  {
    put(bytes, size);
  }
  return bytes;
}

Bytes attribute_message(const Attribute& attribute)
{
  const Bytes space = dataspace(attribute.dimensions);
  Bytes bytes;
  put(bytes, std::uint8_t{ 3 }); // version
  put(bytes, std::uint8_t{ 0 }); // nothing is shared
  put(bytes, static_cast<std::uint16_t>(attribute.name.size() + 1));
  put(bytes, static_cast<std::uint16_t>(attribute.type.size()));
  put(bytes, static_cast<std::uint16_t>(space.size()));
  put(bytes, std::uint8_t{ 1 }); // UTF-8
  put(bytes, attribute.name);
  put(bytes, std::uint8_t{ 0 });
  put(bytes, attribute.type);
  put(bytes, space);
  put(bytes, attribute.values);
  return bytes;
}

Bytes link_message(const Link& link)
{
  constexpr std::uint8_t kLengthOf2Bytes = 1;
  constexpr std::uint8_t kHasCharacterSet = 16;
  Bytes bytes;
  put(bytes, std::uint8_t{ 1 }); // version
  put(bytes, static_cast<std::uint8_t>(kLengthOf2Bytes | kHasCharacterSet));
  put(bytes, std::uint8_t{ 1 }); // UTF-8
  put(bytes, static_cast<std::uint16_t>(link.name.size()));
  put(bytes, link.name);
  put(bytes, link.address);
  return bytes;
}

// Says that all links or attributes are messages. Without it no program finds attributes.
Bytes storage_info()
{
  Bytes bytes;
  put(bytes, std::uint16_t{ 0 }); // version, flags
  put(bytes, kUndefined);
  put(bytes, kUndefined);
  return bytes;
}

void put_attributes(Bytes& messages, const std::vector<Attribute>& attributes)
{
  if (!attributes.empty())
  {
    put_message(messages, Message::AttributeInfo, storage_info());
  }
  for (const Attribute& attribute : attributes)
  {
    put_message(messages, Message::Attribute, attribute_message(attribute));
  }
}

// Returns when HDF5 would allocate the values of a data set with this layout.
std::uint8_t allocation_time(const Bytes& layout)
{
  constexpr std::array<std::uint8_t, 4> kTimes{ 1, 2, 3,
    3 }; // compact, contiguous, chunked, virtual
  return kTimes.at(std::to_integer<std::size_t>(layout.at(1)));
}

// A selection of rows with all of their components.
Bytes selection(const Rows& rows, std::uint64_t components)
{
  const std::uint32_t rank = components == 1 ? 1 : 2;
  constexpr std::uint32_t kHyperslab = 2;
  Bytes bytes;
  put(bytes, kHyperslab);
  put(bytes, std::uint32_t{ 2 });                           // version
  put(bytes, std::uint8_t{ 1 });                            // regular
  put(bytes, static_cast<std::uint32_t>(4 + 4 * 8 * rank)); // bytes that follow
  put(bytes, rank);
  const auto put_dimension = [&](std::uint64_t first, std::uint64_t count)
  {
    put(bytes, first);
    put(bytes, std::uint64_t{ 1 }); // stride
    put(bytes, std::uint64_t{ 1 }); // blocks
    put(bytes, count);
  };
  put_dimension(rows.first, rows.count);
  if (rank == 2)
  {
    put_dimension(0, components);
  }
  return bytes;
}

// Adds the checksum of everything so far.
Bytes finished(Bytes bytes)
{
  put(bytes, checksum(bytes.data(), bytes.size()));
  return bytes;
}

Bytes encoded(const MappingList& list)
{
  Bytes bytes;
  put(bytes, std::uint8_t{ 0 }); // version
  put(bytes, std::uint64_t{ list.mappings.size() });
  for (const Mapping& mapping : list.mappings)
  {
    put(bytes, mapping.file);
    put(bytes, std::uint8_t{ 0 });
    put(bytes, mapping.data_set);
    put(bytes, std::uint8_t{ 0 });
    put(bytes, selection(mapping.source, list.components));
    put(bytes, selection(mapping.target, list.components));
  }
  return finished(std::move(bytes));
}

Bytes object_header(const Bytes& messages)
{
  constexpr std::uint8_t kSizeOf4Bytes = 2;
  Bytes bytes;
  put(bytes, std::string_view("OHDR"));
  put(bytes, std::uint8_t{ 2 }); // version
  put(bytes, kSizeOf4Bytes);
  put(bytes, static_cast<std::uint32_t>(messages.size()));
  put(bytes, messages);
  return finished(std::move(bytes));
}
}

std::uint32_t checksum(const std::byte* data, std::size_t bytes) noexcept
{
  std::uint32_t a = 0xDEADBEEF + static_cast<std::uint32_t>(bytes);
  std::uint32_t b = a;
  std::uint32_t c = a;
  const auto add = [&](const std::byte* from, std::size_t count)
  {
    std::array<std::uint32_t, 3> words{};
    std::memcpy(words.data(), from, count);
    a += words[0];
    b += words[1];
    c += words[2];
  };
  for (; bytes > 12; data += 12, bytes -= 12)
  {
    add(data, 12);
    a = (a - c) ^ rotate(c, 4), c += b;
    b = (b - a) ^ rotate(a, 6), a += c;
    c = (c - b) ^ rotate(b, 8), b += a;
    a = (a - c) ^ rotate(c, 16), c += b;
    b = (b - a) ^ rotate(a, 19), a += c;
    c = (c - b) ^ rotate(b, 4), b += a;
  }
  if (bytes == 0)
  {
    return c;
  }
  add(data, bytes);
  c = (c ^ b) - rotate(b, 14);
  a = (a ^ c) - rotate(c, 11);
  b = (b ^ a) - rotate(a, 25);
  c = (c ^ b) - rotate(b, 16);
  a = (a ^ c) - rotate(c, 4);
  b = (b ^ a) - rotate(a, 14);
  c = (c ^ b) - rotate(b, 24);
  return c;
}

Bytes number_type(ScalarType type)
{
  const auto size = static_cast<std::uint32_t>(tuple_bytes(type, 1));
  const bool is_float = type == ScalarType::Float32 || type == ScalarType::Float64;
  Bytes bytes;
  if (is_float)
  {
    const bool is_double = size == 8;
    put(bytes, std::uint8_t{ 0x11 }); // version 1, a floating-point number
    put(bytes, std::uint8_t{ 0x20 }); // little-endian, the first bit of the mantissa is implied
    put(bytes, static_cast<std::uint8_t>(8 * size - 1)); // place of the sign
    put(bytes, std::uint8_t{ 0 });
    put(bytes, size);
    put(bytes, std::uint16_t{ 0 });
    put(bytes, static_cast<std::uint16_t>(8 * size));
    put(bytes, static_cast<std::uint8_t>(is_double ? 52 : 23)); // place of the exponent
    put(bytes, static_cast<std::uint8_t>(is_double ? 11 : 8));
    put(bytes, std::uint8_t{ 0 }); // place of the mantissa
    put(bytes, static_cast<std::uint8_t>(is_double ? 52 : 23));
    put(bytes, static_cast<std::uint32_t>(is_double ? 1023 : 127));
    return bytes;
  }
  const bool is_signed = type == ScalarType::Int8 || type == ScalarType::Int16 ||
    type == ScalarType::Int32 || type == ScalarType::Int64;
  put(bytes, std::uint8_t{ 0x10 }); // version 1, an integer
  put(bytes, static_cast<std::uint8_t>(is_signed ? 8 : 0));
  put(bytes, std::uint16_t{ 0 });
  put(bytes, size);
  put(bytes, std::uint16_t{ 0 });
  put(bytes, static_cast<std::uint16_t>(8 * size));
  return bytes;
}

Bytes text_type(std::size_t size, CharacterSet set)
{
  constexpr std::uint8_t kPaddedWithZeros = 1;
  Bytes bytes;
  put(bytes, std::uint8_t{ 0x13 }); // version 1, a string
  put(bytes, static_cast<std::uint8_t>(kPaddedWithZeros | (set == CharacterSet::Utf8 ? 0x10 : 0)));
  put(bytes, std::uint16_t{ 0 });
  put(bytes, static_cast<std::uint32_t>(size));
  return bytes;
}

Attribute text_attribute(std::string name, std::string_view text, CharacterSet set)
{
  return { std::move(name), text_type(text.size(), set), {}, bytes_of(text) };
}

Attribute number_attribute(std::string name, double value)
{
  Bytes bytes;
  put(bytes, value);
  return { std::move(name), number_type(ScalarType::Float64), {}, std::move(bytes) };
}

Attribute integers_attribute(
  std::string name, const Dimensions& dimensions, const std::vector<std::int64_t>& values)
{
  Bytes bytes;
  append(bytes, values.data(), values.size() * sizeof(values[0]));
  return { std::move(name), number_type(ScalarType::Int64), dimensions, std::move(bytes) };
}

Bytes encode(const DataSet& data_set)
{
  constexpr std::uint8_t kFillIfSet = 2 << 2;
  constexpr std::uint8_t kHasValue = 32;
  Bytes fill_value;
  put(fill_value, std::uint8_t{ 3 }); // version
  const bool has_value = !data_set.fill_value.empty();
  put(fill_value,
    static_cast<std::uint8_t>(
      allocation_time(data_set.layout) | kFillIfSet | (has_value ? kHasValue : std::uint8_t{ 0 })));
  if (has_value)
  {
    put(fill_value, static_cast<std::uint32_t>(data_set.fill_value.size()));
    put(fill_value, data_set.fill_value);
  }
  Bytes messages;
  put_message(messages, Message::Dataspace, dataspace(data_set.dimensions));
  put_message(messages, Message::Datatype, data_set.type);
  put_message(messages, Message::FillValue, fill_value);
  put_message(messages, Message::Layout, data_set.layout);
  if (!data_set.filters.empty())
  {
    put_message(messages, Message::Filters, data_set.filters);
  }
  put_attributes(messages, data_set.attributes);
  if (data_set.links != 1)
  {
    Bytes count;
    put(count, std::uint8_t{ 0 }); // version
    put(count, data_set.links);
    put_message(messages, Message::ReferenceCount, count);
  }
  return object_header(messages);
}

Bytes contiguous(std::uint64_t address, std::uint64_t bytes)
{
  Bytes layout;
  put(layout, std::uint8_t{ 3 }); // version
  put(layout, std::uint8_t{ 1 }); // contiguous
  put(layout, address);
  put(layout, bytes);
  return layout;
}

Bytes compact(const Bytes& values)
{
  Bytes layout;
  put(layout, std::uint8_t{ 3 }); // version
  put(layout, std::uint8_t{ 0 }); // compact
  put(layout, static_cast<std::uint16_t>(values.size()));
  put(layout, values);
  return layout;
}

Bytes in_other_data_sets(std::uint64_t heap, std::size_t number)
{
  Bytes layout;
  put(layout, std::uint8_t{ 4 }); // version
  put(layout, std::uint8_t{ 3 }); // virtual
  put(layout, heap);
  put(layout, static_cast<std::uint32_t>(number));
  return layout;
}

Bytes in_one_chunk(const Chunk& chunk, std::uint32_t chunk_numbers)
{
  constexpr std::uint8_t kIsFiltered = 2;
  Bytes layout;
  put(layout, std::uint8_t{ 4 }); // version
  put(layout, std::uint8_t{ 2 }); // chunked
  put(layout, kIsFiltered);
  put(layout, std::uint8_t{ 2 }); // dimensions, one of which is the bytes of a value
  put(layout, std::uint8_t{ 4 }); // bytes of their sizes
  put(layout, chunk_numbers);
  put(layout, std::uint32_t{ kNumberBytes });
  put(layout, std::uint8_t{ 1 }); // a single chunk
  put(layout, std::uint64_t{ chunk.bytes });
  put(layout, std::uint32_t{ 0 }); // all filters were used
  put(layout, chunk.address);
  return layout;
}

Bytes in_chunks(std::uint64_t tree, std::uint32_t chunk_numbers)
{
  Bytes layout;
  put(layout, std::uint8_t{ 3 }); // version
  put(layout, std::uint8_t{ 2 }); // chunked
  put(layout, std::uint8_t{ 2 }); // dimensions, one of which is the bytes of a value
  put(layout, tree);
  put(layout, chunk_numbers);
  put(layout, std::uint32_t{ kNumberBytes });
  return layout;
}

Bytes encode(const TreeNode& node)
{
  constexpr std::size_t kKeyBytes = 24;
  constexpr std::size_t kNodeBytes = 24 + kTreeChildren * 8 + (kTreeChildren + 1) * kKeyBytes;
  Bytes bytes;
  put(bytes, std::string_view("TREE"));
  put(bytes, std::uint8_t{ 1 }); // of chunks
  put(bytes, static_cast<std::uint8_t>(node.level));
  put(bytes, static_cast<std::uint16_t>(node.children.size()));
  put(bytes, node.left);
  put(bytes, node.right);
  const auto put_key = [&](std::uint32_t chunk_bytes, std::uint64_t chunk)
  {
    put(bytes, chunk_bytes);
    put(bytes, std::uint32_t{ 0 }); // all filters were used
    put(bytes, chunk * node.chunk_numbers);
    put(bytes, std::uint64_t{ 0 });
  };
  for (std::size_t i = 0; i != node.children.size(); ++i)
  {
    put_key(node.children[i].bytes, node.first + i * node.chunks_each);
    put(bytes, node.children[i].address);
  }
  put_key(0, node.end);
  bytes.resize(kNodeBytes);
  return bytes;
}

Bytes shuffled_and_deflated_twice()
{
  Bytes filters;
  put(filters, std::uint8_t{ 2 }); // version
  put(filters, std::uint8_t{ 3 });
  const auto put_filter = [&](std::uint16_t kind, std::uint32_t parameter)
  {
    put(filters, kind);
    put(filters, std::uint16_t{ 0 }); // required
    put(filters, std::uint16_t{ 1 }); // parameters
    put(filters, parameter);
  };
  constexpr std::uint16_t kDeflate = 1;
  constexpr std::uint16_t kShuffle = 2;
  constexpr std::uint32_t kLevel = 9; // no reader uses it
  put_filter(kShuffle, kNumberBytes);
  put_filter(kDeflate, kLevel);
  put_filter(kDeflate, kLevel);
  return filters;
}

Bytes heap(const std::vector<MappingList>& lists)
{
  constexpr std::size_t kMinHeapBytes = 4096;
  Bytes objects;
  for (std::size_t i = 0; i != lists.size(); ++i)
  {
    const Bytes list = encoded(lists[i]);
    put(objects, static_cast<std::uint16_t>(i + 1));
    put(objects, std::uint16_t{ 1 }); // references
    put(objects, std::uint32_t{ 0 });
    put(objects, std::uint64_t{ list.size() });
    put(objects, list);
    objects.resize(round_up(objects.size(), 8));
  }
  constexpr std::size_t kHeadBytes = 16; // of the heap, and of an object
  const std::size_t bytes_used = kHeadBytes + objects.size();
  const std::size_t all_bytes = std::max(kMinHeapBytes, bytes_used + kHeadBytes);
  Bytes bytes;
  put(bytes, std::string_view("GCOL"));
  put(bytes, std::uint32_t{ 1 }); // version
  put(bytes, std::uint64_t{ all_bytes });
  put(bytes, objects);
  put(bytes, std::uint64_t{ 0 }); // the free space
  put(bytes, std::uint64_t{ all_bytes - bytes_used });
  bytes.resize(all_bytes);
  return bytes;
}

Bytes group(const std::vector<Link>& links, const std::vector<Attribute>& attributes)
{
  Bytes group_info;
  put(group_info, std::uint16_t{ 0 }); // version, flags
  Bytes messages;
  put_message(messages, Message::LinkInfo, storage_info());
  put_message(messages, Message::GroupInfo, group_info);
  for (const Link& link : links)
  {
    put_message(messages, Message::Link, link_message(link));
  }
  put_attributes(messages, attributes);
  return object_header(messages);
}

Bytes superblock(std::uint64_t base, std::uint64_t root, std::uint64_t file_bytes)
{
  Bytes bytes;
  put(bytes, kHdf5Signature);
  put(bytes, std::uint8_t{ 2 }); // version
  put(bytes, std::uint8_t{ 8 }); // bytes of an address
  put(bytes, std::uint8_t{ 8 }); // bytes of a size
  put(bytes, std::uint8_t{ 0 }); // no writer has it open
  put(bytes, base);
  put(bytes, kUndefined); // no extension
  put(bytes, file_bytes); // not relative to the base
  put(bytes, root);
  return finished(std::move(bytes));
}
}
