// SPDX-License-Identifier: BSD-3-Clause
#include "particles/validate/validate_top.hpp"

#include "bat/address.hpp"
#include "bat/error.hpp"
#include "common/numbers.hpp"
#include "particles/dataset/top_writer.hpp"
#include "particles/format/hdf5_view.hpp"
#include "particles/tree/bounds.hpp"
#include "particles/validate/validate_sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

namespace bat
{
namespace
{
using format::corrupt;

// Returns whether two files agree on a key's range.
bool same_keys(const format::LeafKeyRecord& a, const format::LeafKeyRecord& b, ValueClass type)
{
  return dispatch(type,
    [&](auto value)
    {
      using V = decltype(value);
      return from_bits<V>(a.minimum) == from_bits<V>(b.minimum) &&
        from_bits<V>(a.maximum) == from_bits<V>(b.maximum) && a.flags == b.flags;
    });
}

// The following checks compare the top file with the records of leaf files.

void check_merged_keys(const TopFile& top)
{
  const format::LeafFiles& files = top.leaf_files();
  const std::size_t key_count = top.schema.keys.size();
  for (std::size_t k = 0; k != key_count; ++k)
  {
    const format::KeyRecord& key = top.schema.keys[k];
    format::LeafKeyRecord merged{};
    dispatch(top.schema.key_class(k),
      [&](auto value)
      {
        using V = decltype(value);
        auto minimum = from_bits<V>(files.keys[k].minimum);
        auto maximum = from_bits<V>(files.keys[k].maximum);
        for (std::size_t leaf = 0; leaf != files.leaves.size(); ++leaf)
        {
          const format::LeafKeyRecord& record = files.keys[leaf * key_count + k];
          minimum = std::min(minimum, from_bits<V>(record.minimum));
          maximum = std::max(maximum, from_bits<V>(record.maximum));
          merged.flags |= record.flags;
        }
        merged.minimum = to_bits(minimum);
        merged.maximum = to_bits(maximum);
      });
    if (!same_keys({ key.minimum, key.maximum, key.flags, 0 }, merged, top.schema.key_class(k)))
    {
      corrupt(*top.source,
        fmt::format(
          "SCHEMA: the minimum, maximum or NaN mark of key {} does not match the leaf files", k));
    }
  }
}

void check_merged_bounds(const TopFile& top)
{
  const format::LeafFiles& files = top.leaf_files();
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    double lower = inf;
    double upper = -inf;
    for (const format::LeafRecord& leaf : files.leaves)
    {
      lower = std::min(lower, leaf.lower[axis]);
      upper = std::max(upper, leaf.upper[axis]);
    }
    if (top.schema.head.lower[axis] != lower || top.schema.head.upper[axis] != upper)
    {
      corrupt(*top.source, "SCHEMA: the bounds do not match the leaf files");
    }
  }
}

void check_node_boxes(const TopFile& top)
{
  const format::LeafFiles& files = top.leaf_files();
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i != files.nodes.size(); ++i)
  {
    const format::NodeRecord& node = files.nodes[i];
    const bool is_leaf = node.skip == i + 1;
    const format::LeafRecord& leaf = files.leaves[node.first_treelet];
    const bool everything = (leaf.flags & format::kNonFinite) != 0;
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      double lower = everything ? -inf : leaf.lower[axis];
      double upper = everything ? inf : leaf.upper[axis];
      if (!is_leaf)
      {
        const format::NodeRecord& left = files.nodes[i + 1];
        const format::NodeRecord& right = files.nodes[left.skip];
        lower = std::min(left.lower[axis], right.lower[axis]);
        upper = std::max(left.upper[axis], right.upper[axis]);
      }
      if (node.lower[axis] != lower || node.upper[axis] != upper)
      {
        corrupt(*top.source, fmt::format("AGGREGATION_TREE: the box of node {} is not tight", i));
      }
    }
  }
}
}

void validate_top(const TopFile& top)
{
  const io::RandomAccessFile& source = *top.source;
  check_layout(source, top.header, top.sections);
  for (const format::SectionRecord& s : top.sections)
  {
    check_place(source, s, top.schema, format::FileKind::Top);
    if (s.kind == static_cast<std::uint32_t>(format::SectionKind::SampleIds) &&
      top.schema.sample_ids.empty())
    {
      corrupt(source, "unexpected section SAMPLE_IDS: the header does not have feature 2");
    }
  }
  check_checksums(source, top.sections, top.schema);
  check_metadata(source, top.sections);
  check_merged_keys(top);
  check_merged_bounds(top);
  check_node_boxes(top);
}

LeafEntry validate_entry(const TopFile& top, std::size_t i, const std::filesystem::path& path)
{
  const format::LeafFiles& files = top.leaf_files();
  const LeafEntry entry = describe_leaf(path, files.names[i]);
  const format::LeafRecord& record = files.leaves[i];
  bool same = record.flags == entry.record.flags &&
    std::equal(record.lower, record.lower + 3, entry.record.lower) &&
    std::equal(record.upper, record.upper + 3, entry.record.upper);
  for (std::size_t k = 0; k != entry.keys.size(); ++k)
  {
    same = same &&
      same_keys(entry.keys[k], files.keys[i * entry.keys.size() + k], top.schema.key_class(k));
  }
  if (!same)
  {
    corrupt(*top.source,
      fmt::format(
        "LEAF_FILES: the record of leaf file {} does not match {}", i, display_name(path)));
  }
  return entry;
}

void validate_hdf5_view(const TopFile& top, const std::vector<LeafEntry>& leaves)
{
  format::TopViewFacts facts{ format::view_facts(top.header, top.sections, top.schema,
                                format::read_text(
                                  *top.source, top.sections, format::SectionKind::Metadata)),
    {}, {}, 0, {} };
  const bool has_view = add_leaves_to_view(facts, leaves);
  const auto objects = [&]
  {
    if (!has_view)
    {
      corrupt(*top.source, "HDF5_OBJECTS exists, but some leaf file has no HDF5 view");
    }
    std::optional<format::Hdf5Objects> view = format::top_objects(facts);
    if (!view)
    {
      corrupt(
        *top.source, "HDF5_OBJECTS exists, but a view of these leaf files would be too large");
    }
    return std::move(*view);
  };
  check_hdf5_view(*top.source, top.header, top.sections, objects);
}

void validate_position_keys(const TopFile& top, const std::vector<LeafEntry>& leaves)
{
  const auto merged = merge_position_keys(leaves);
  for (std::size_t k = 0; k != format::kPositionKeys; ++k)
  {
    if (!same_keys(merged[k], top.schema.position_keys[k], ValueClass::Float))
    {
      corrupt(*top.source,
        fmt::format("ALIASES: the minimum, maximum or NaN mark of position key {} does not match "
                    "the leaf files",
          k));
    }
  }
}
}
