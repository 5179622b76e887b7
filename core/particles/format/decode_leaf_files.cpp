// SPDX-License-Identifier: BSD-3-Clause
// Decodes LEAF_FILES, and the trees over leaf files and over treelets.

#include "particles/format/decode_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

namespace bat::format
{
namespace
{
// A name must stay inside the top file's folder, because a hostile file must not reach elsewhere.
// Only one spelling is allowed, so that names can be compared.
bool is_leaf_name(const std::string& name)
{
  if (name.find('\0') != std::string::npos)
  {
    return false;
  }
  for (std::size_t begin = 0; begin <= name.size();)
  {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..")
    {
      return false;
    }
    begin = end + 1;
  }
  return true;
}

LeafRecord read_leaf(const io::RandomAccessFile& file, SectionReader& reader, std::uint32_t i)
{
  const auto leaf = reader.next<LeafRecord>("a leaf file");
  const bool empty = (leaf.flags & kNonFinite) != 0 && is_no_box(leaf.lower, leaf.upper);
  const std::string record = fmt::format("LEAF_FILES: leaf file {}", i);
  check_field(file, leaf.particles >= 1 && leaf.particles <= kMaxParticles, record, "particles",
    std::to_string(leaf.particles), fmt::format("1 to {}", kMaxParticles));
  check_field(
    file, (leaf.flags & ~kNonFinite) == 0, record, "flags", std::to_string(leaf.flags), "0 or 1");
  check_field(
    file, leaf.name_bytes >= 1, record, "name_bytes", std::to_string(leaf.name_bytes), "1 or more");
  check_field(file, empty || is_finite_box(leaf.lower, leaf.upper), record, "the box",
    fmt::format("{} to {}", fmt::join(leaf.lower, " "), fmt::join(leaf.upper, " ")),
    "finite and ascending, or the empty box of no finite particle with flags 1");
  return leaf;
}

void check_particles(const io::RandomAccessFile& file, const std::vector<LeafRecord>& leaves,
  std::uint64_t particle_count)
{
  std::uint64_t particles = 0;
  for (const LeafRecord& leaf : leaves)
  {
    particles += leaf.particles;
  }
  if (particles != particle_count)
  {
    corrupt(file,
      fmt::format(
        "LEAF_FILES add up to {} particles, but the header says {}", particles, particle_count));
  }
}

void read_keys(
  const io::RandomAccessFile& file, SectionReader& reader, const Schema& schema, LeafFiles& files)
{
  const std::uint64_t keys = schema.keys.size();
  for (std::uint64_t i = 0; i != files.leaves.size() * keys; ++i)
  {
    const auto key = reader.next<LeafKeyRecord>("a key");
    const bool is_float = schema.key_class(i % keys) == ValueClass::Float;
    const std::string record =
      fmt::format("LEAF_FILES: key {} of leaf file {}", i % keys, i / keys);
    check_leaf_key_record(file, key, is_float, record);
    files.keys.push_back(key);
  }
}

void read_names(const io::RandomAccessFile& file, SectionReader& reader, LeafFiles& files)
{
  std::unordered_set<std::string> names;
  for (std::size_t i = 0; i != files.leaves.size(); ++i)
  {
    files.names.push_back(reader.next_text(files.leaves[i].name_bytes));
    if (!is_leaf_name(files.names.back()) || !names.insert(files.names.back()).second)
    {
      corrupt(file,
        fmt::format(
          "LEAF_FILES: the name of leaf file {} leads outside the folder, or occurs twice", i));
    }
  }
}
}

LeafFiles read_leaf_files(const io::RandomAccessFile& file, const Header& header,
  const std::vector<SectionRecord>& sections, const Schema& schema)
{
  const SectionRecord* section = find_section(sections, SectionKind::LeafFiles);
  if (!section)
  {
    corrupt(file, "LEAF_FILES is missing");
  }
  SectionReader reader(file, "LEAF_FILES", read_plain(file, *section));
  const auto head = reader.next<LeafFilesHead>("its head");
  const std::uint64_t keys = schema.keys.size();
  check_field(
    file, head.reserved == 0, "LEAF_FILES", "reserved", std::to_string(head.reserved), "0");
  check_field(file, head.leaf_count >= 1 && head.leaf_count <= kMaxLeafFiles, "LEAF_FILES",
    "leaf_count", std::to_string(head.leaf_count), fmt::format("1 to {}", kMaxLeafFiles));
  if (head.leaf_count > reader.left() / (sizeof(LeafRecord) + keys * sizeof(LeafKeyRecord)))
  {
    corrupt(file,
      fmt::format("LEAF_FILES: {} leaf files with {} keys do not fit in {} bytes", head.leaf_count,
        keys, section->bytes));
  }
  LeafFiles files;
  for (std::uint32_t i = 0; i != head.leaf_count; ++i)
  {
    files.leaves.push_back(read_leaf(file, reader, i));
  }
  check_particles(file, files.leaves, header.particle_count);
  read_keys(file, reader, schema, files);
  read_names(file, reader, files);
  reader.finish();
  const SectionRecord& tree = require(file, sections, SectionKind::AggregationTree, 0,
    (2 * std::uint64_t{ head.leaf_count } - 1) * sizeof(NodeRecord));
  files.nodes = read_records<NodeRecord>(file, tree);
  std::vector<bool> non_finite;
  for (const LeafRecord& leaf : files.leaves)
  {
    non_finite.push_back((leaf.flags & kNonFinite) != 0);
  }
  (void)check_tree(file, "AGGREGATION_TREE", files.nodes, non_finite);
  return files;
}

std::vector<std::uint32_t> check_tree(const io::RandomAccessFile& file, const char* what,
  const std::vector<NodeRecord>& nodes, const std::vector<bool>& non_finite)
{
  std::vector<std::uint32_t> leaf_nodes;
  for (std::size_t i = 0; i != nodes.size(); ++i)
  {
    const NodeRecord& node = nodes[i];
    const auto bad = [&](const char* problem)
    { corrupt(file, fmt::format("{}: node {} {}", what, i, problem)); };
    if (node.first_treelet != leaf_nodes.size())
    {
      bad("starts with the wrong treelet");
    }
    if (i == 0 ? node.skip != nodes.size() : (node.skip <= i || node.skip > nodes.size()))
    {
      bad("has a subtree that ends outside the tree");
    }
    bool finite = true;
    for (int axis = 0; axis != 3; ++axis)
    {
      if (!(node.lower[axis] <= node.upper[axis]))
      {
        bad("has no box");
      }
      finite = finite && std::isfinite(node.lower[axis]) && std::isfinite(node.upper[axis]);
    }
    if (node.skip == i + 1)
    {
      if (leaf_nodes.size() == non_finite.size())
      {
        bad("is one leaf too many");
      }
      constexpr double inf = std::numeric_limits<double>::infinity();
      if (non_finite[leaf_nodes.size()]
          ? !std::all_of(node.lower, node.lower + 3, [](double x) { return x == -inf; }) ||
            !std::all_of(node.upper, node.upper + 3, [](double x) { return x == inf; })
          : !finite)
      {
        bad("has a box that does not match the flags of its leaf");
      }
      leaf_nodes.push_back(static_cast<std::uint32_t>(i));
      continue;
    }
    const std::uint32_t right = nodes[i + 1].skip; // i + 1 exists: skip > i + 1
    if (right >= node.skip || nodes[right].skip != node.skip)
    {
      bad("has children that do not fill its subtree");
    }
  }
  if (leaf_nodes.size() != non_finite.size())
  {
    corrupt(file, fmt::format("{} has too few leaves", what));
  }
  return leaf_nodes;
}
}
