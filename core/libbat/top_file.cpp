// SPDX-License-Identifier: BSD-3-Clause
#include "libbat/top_file.hpp"

#include "common/numbers.hpp"
#include "libbat/header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_set>

namespace bat::libbat
{
namespace
{
constexpr std::uint64_t kMaxLeaves = 1 << 24; // one per aggregating rank

struct AggregationRecord
{
  std::uint32_t a;
  std::uint32_t b;
};
static_assert(sizeof(AggregationRecord) == 8);

std::vector<AggregationRecord> read_nodes(
  const io::RandomAccessFile& file, const Header& header, std::size_t attributes)
{
  const std::uint64_t nodes = header.count("num_nodes");
  const std::uint64_t leaves = header.count("num_aggregators");
  if (leaves == 0 || leaves > kMaxLeaves || nodes != 2 * leaves - 1)
  {
    corrupt(file.name(),
      fmt::format(
        "{} nodes and {} leaves; allowed are 1 to {} leaves, and fewer than twice as many nodes",
        nodes, leaves, kMaxLeaves));
  }
  // Bitmaps are not read; their end shows whether the file is complete.
  const std::uint64_t dictionary =
    attributes == 0 && !header.has("bitmap_dict_size") ? 0 : header.count("bitmap_dict_size");
  const std::uint64_t summary = attributes * (header.flag("has_ranges") ? 10 : 2);
  if (dictionary > file.size() ||
    file.size() - header.end() < nodes * (sizeof(AggregationRecord) + summary) + 4 * dictionary)
  {
    throw Error(ErrorCode::Truncated,
      fmt::format("{}: {} nodes and {} bitmaps follow a header of {} bytes, but the file has {}",
        file.name(), nodes, dictionary, header.end(), file.size()));
  }
  std::vector<AggregationRecord> records(nodes);
  file.read(header.end(), records.data(), records.size() * sizeof(AggregationRecord));
  return records;
}

// Returns the ranks of the leaves after checking that the nodes are a tree in preorder.
std::vector<std::uint32_t> leaf_ranks(
  const std::string& file, const std::vector<AggregationRecord>& nodes)
{
  std::vector<std::uint32_t> ranks;
  std::vector<std::uint32_t> open; // right children still to come
  bool done = false;
  for (std::size_t i = 0; i != nodes.size(); ++i)
  {
    if (done)
    {
      corrupt(file, fmt::format("node {} is beyond the last leaf of the tree", i));
    }
    const std::uint32_t upper = nodes[i].b >> 2;
    if ((nodes[i].b & 3) != 3)
    {
      if (upper <= i + 1 || upper >= nodes.size())
      {
        corrupt(file,
          fmt::format("node {} has node {} as its right child; allowed are {} to {}", i, upper,
            i + 2, nodes.size() - 1));
      }
      open.push_back(upper);
      continue;
    }
    ranks.push_back(nodes[i].a);
    if (open.empty())
    {
      done = true;
      continue;
    }
    if (open.back() != i + 1)
    {
      corrupt(file,
        fmt::format("node {} ends a left subtree, but the right one starts at {}", i, open.back()));
    }
    open.pop_back();
  }
  if (!done)
  {
    corrupt(file, "the nodes end inside the tree");
  }
  std::unordered_set<std::uint32_t> seen;
  for (const std::uint32_t rank : ranks)
  {
    if (!seen.insert(rank).second)
    {
      corrupt(file, fmt::format("two leaves of the tree refer to the file of rank {}", rank));
    }
  }
  return ranks;
}

// The leaf files are in the top file's folder, whatever paths it contains.
std::string checked_prefix(const io::RandomAccessFile& file, const Header& header)
{
  std::string prefix = header.text("bat_prefix");
  if (prefix.find('/') != std::string::npos || prefix.find('\0') != std::string::npos)
  {
    corrupt(file.name(), fmt::format("'bat_prefix' is '{}', which is not a file name", prefix));
  }
  return prefix;
}

void check_attributes(const Top& top, const LeafSource& leaf)
{
  const std::vector<Attribute>& found = leaf.attributes();
  const bool same =
    std::equal(found.begin(), found.end(), top.attributes.begin(), top.attributes.end(),
      [](const Attribute& a, const Attribute& b) { return a.name == b.name && a.type == b.type; });
  if (!same)
  {
    corrupt(leaf.name(), fmt::format("its attributes differ from those of {}", top.name));
  }
}

// Leaf files that contain all particles are enough: `missing`, the first file that does not exist,
// may have been empty.
void check_particle_count(const Top& top, std::uint64_t found, const std::filesystem::path& missing)
{
  if (found == top.particle_count)
  {
    return;
  }
  if (!missing.empty() && found < top.particle_count)
  {
    throw Error(ErrorCode::NotFound,
      fmt::format("{}: cannot find leaf file {}; the others have {} of {} particles", top.name,
        missing.string(), found, top.particle_count));
  }
  corrupt(top.name,
    fmt::format("its {} leaf files have {} particles, but it says {}", top.leaves.size(), found,
      top.particle_count));
}

void extend(Key& key, const Key& by)
{
  key.minimum = compare(by.minimum, key.minimum) < 0 ? by.minimum : key.minimum;
  key.maximum = compare(by.maximum, key.maximum) > 0 ? by.maximum : key.maximum;
  key.has_nan = key.has_nan || by.has_nan;
}

void extend(std::optional<Box>& box, const std::optional<Box>& by)
{
  if (!box || !by)
  {
    box = box ? box : by;
    return;
  }
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    box->lower[axis] = std::min(box->lower[axis], by->lower[axis]);
    box->upper[axis] = std::max(box->upper[axis], by->upper[axis]);
  }
}

// The key for no value.
Key empty_key(ScalarType type)
{
  return dispatch(value_class(type),
    [](auto value)
    {
      using V = decltype(value);
      using Limits = std::numeric_limits<V>;
      if constexpr (std::is_same_v<V, double>)
      {
        return Key{ 0, Limits::infinity(), -Limits::infinity(), false };
      }
      else
      {
        return Key{ 0, Limits::max(), Limits::min(), false };
      }
    });
}
}

bool is_top(const std::filesystem::path& path) noexcept
{
  try
  {
    const io::RandomAccessFile file(path);
    const Header header(file);
    return header.has("bat_prefix") && header.has("num_aggregators");
  }
  catch (...)
  {
    return false;
  }
}

Top read_top(const std::filesystem::path& path, const OpenOptions& options, KeyRanges ranges)
{
  io::RandomAccessFile file(path);
  file.set_observer(options.on_read);
  const Header header(file);
  if (!header.has("bat_prefix") && !header.has("num_aggregators"))
  {
    throw Error(ErrorCode::NotABatFile,
      file.name() + ": is not a libbat top file: its header does not list leaf files");
  }
  Top top;
  top.name = file.name();
  top.file_bytes = file.size();
  top.particle_count = header.count("num_points");
  for (const HeaderAttribute& described : header.attributes())
  {
    Attribute attribute;
    attribute.name = described.name;
    attribute.type = described.type;
    attribute.keys.push_back(empty_key(described.type));
    top.attributes.push_back(std::move(attribute));
  }
  const std::string prefix = checked_prefix(file, header);
  std::uint64_t found = 0;
  std::filesystem::path missing;
  for (const std::uint32_t rank :
    leaf_ranks(file.name(), read_nodes(file, header, top.attributes.size())))
  {
    const std::filesystem::path leaf_path =
      path.parent_path() / (prefix + std::to_string(rank) + ".bat");
    std::unique_ptr<LeafSource> leaf;
    try
    {
      leaf = open_leaf(leaf_path, options, ranges);
    }
    catch (const Error& error)
    {
      if (error.code() != ErrorCode::NotFound)
      {
        throw;
      }
      missing = missing.empty() ? leaf_path : missing;
      continue;
    }
    check_attributes(top, *leaf);
    for (std::size_t k = 0; k != top.attributes.size(); ++k)
    {
      extend(top.attributes[k].keys[0], leaf->attributes()[k].keys[0]);
    }
    extend(top.bounds, leaf->bounds());
    top.leaves.push_back({ leaf_path, rank, leaf->particle_count() });
    found += leaf->particle_count();
  }
  check_particle_count(top, found, missing);
  return top;
}
}
