// SPDX-License-Identifier: BSD-3-Clause
#include "libbat/leaf_index.hpp"

#include "common/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace bat::libbat
{
namespace
{
constexpr std::uint64_t kPage = 4096;
// The library builds at most depth 50 for 2^32 particles; shallow trees have at most 30 levels.
constexpr int kMaxShallowDepth = 64;
constexpr int kMaxTreeletDepth = 128;
constexpr std::uint32_t kNone = 0xffffffff;
constexpr std::uint64_t kMaxBitmaps = 1 << 16; // bitmap numbers have 16 bits

struct RadixRecord
{
  std::uint64_t info;
  float split;
  std::int32_t axis;
};
static_assert(sizeof(RadixRecord) == 16);

struct KdRecord
{
  std::uint32_t a;
  std::uint32_t b;
  std::uint32_t lod;
};
static_assert(sizeof(KdRecord) == 12);

std::uint64_t up_to_page(std::uint64_t offset)
{
  return (offset + kPage - 1) / kPage * kPage;
}

// Size of one node's bitmap numbers and ranges, if any, in bytes.
std::uint64_t summary_bytes(const LeafHeader& header)
{
  return header.attributes.size() * (header.has_ranges ? 2 + 8 : 2);
}

template <class Record>
std::vector<Record> read_records(
  const io::RandomAccessFile& file, std::uint64_t offset, std::uint64_t count)
{
  std::vector<Record> records(count);
  file.read(offset, records.data(), count * sizeof(Record));
  return records;
}

[[noreturn]] void truncated(const io::RandomAccessFile& file, const std::string& what)
{
  throw Error(ErrorCode::Truncated,
    fmt::format("{}: {}; the file has {} bytes", file.name(), what, file.size()));
}

// Checks the offset of the tree and the numbers of treelets, nodes and bitmaps.
void check_counts(
  const io::RandomAccessFile& file, const LeafHeader& header, std::uint64_t lod_particles)
{
  const std::uint64_t size = file.size();
  if (header.tree_begin > size)
  {
    truncated(file, fmt::format("the tree starts at byte {}", header.tree_begin));
  }
  if (header.treelet_count == 0)
  {
    corrupt(file.name(), "the file has 0 treelets; at least 1 is required");
  }
  if (header.treelet_count > size / kPage + 1)
  {
    truncated(
      file, fmt::format("{} treelets start at multiples of {} bytes", header.treelet_count, kPage));
  }
  if (header.node_count != std::max<std::uint64_t>(1, header.treelet_count - 1))
  {
    corrupt(file.name(),
      fmt::format("{} shallow nodes, but {} treelets need {}", header.node_count,
        header.treelet_count, std::max<std::uint64_t>(1, header.treelet_count - 1)));
  }
  if (header.dictionary_size > kMaxBitmaps)
  {
    corrupt(file.name(),
      fmt::format("{} bitmaps; at most {} are allowed", header.dictionary_size, kMaxBitmaps));
  }
  if (lod_particles > kNone)
  {
    corrupt(file.name(),
      fmt::format("{} LOD particles per node; at most {} are allowed", lod_particles, kNone));
  }
}

// Checks that the file has space for the shallow tree and the particles, before memory is reserved
// for as many.
void check_file_size(const io::RandomAccessFile& file, const LeafHeader& header)
{
  const std::uint64_t tree_bytes = file.size() - header.tree_begin;
  const std::uint64_t top_bytes =
    header.node_count * (sizeof(RadixRecord) + summary_bytes(header)) + 8 * header.treelet_count +
    4 * header.dictionary_size;
  if (top_bytes > tree_bytes)
  {
    truncated(file, fmt::format("the shallow tree ends at byte {}", header.tree_begin + top_bytes));
  }
  if (header.particle_count > tree_bytes / (12 + header.attribute_bytes))
  {
    truncated(file,
      fmt::format(
        "{} particles have {} bytes each", header.particle_count, 12 + header.attribute_bytes));
  }
}

// Reads the nodes of a treelet in preorder. A right child begins where the left subtree ends, and a
// node's particles begin where the previous node's end. Anything else is refused.
class NodeReader
{
public:
  NodeReader(const io::RandomAccessFile& file, const Treelet& treelet, std::size_t treelet_number,
    std::uint32_t lod_particles, std::uint8_t depth)
    : file_(file)
    , treelet_(treelet)
    , treelet_number_(treelet_number)
    , lod_particles_(lod_particles)
    , root_depth_(depth)
    , depth_(depth)
  {
  }

  Node read(std::uint32_t i, const KdRecord& record)
  {
    if (this->is_done_)
    {
      this->refuse(i, "is beyond the last leaf");
    }
    if (this->depth_ - this->root_depth_ > kMaxTreeletDepth)
    {
      this->refuse(i, fmt::format("is more than {} levels deep", kMaxTreeletDepth));
    }
    Node node;
    node.depth = static_cast<std::uint8_t>(this->depth_);
    const bool is_leaf = (record.b & 3) == 3;
    this->read_particles(i, record, is_leaf, node);
    if (!is_leaf)
    {
      this->begin_subtree(i, record, node);
    }
    else if (this->open_.empty())
    {
      this->is_done_ = true;
    }
    else
    {
      this->end_left_subtree(i);
    }
    return node;
  }

  // Checks that the last node ended the tree and contains the last particle.
  void check_end() const
  {
    if (!this->is_done_ || this->particles_ != this->treelet_.particle_count)
    {
      corrupt(this->file_.name(),
        fmt::format("the nodes of treelet {} {} and have {} of {} particles", this->treelet_number_,
          this->is_done_ ? "end" : "end inside the tree", this->particles_,
          this->treelet_.particle_count));
    }
  }

private:
  struct Open
  {
    std::uint32_t right;
    int depth;
  };

  void refuse(std::size_t node, const std::string& what) const
  {
    corrupt(
      this->file_.name(), fmt::format("treelet {}, node {} {}", this->treelet_number_, node, what));
  }

  void read_particles(std::uint32_t i, const KdRecord& record, bool is_leaf, Node& node)
  {
    // A writer without LOD particles leaves the number of the first particle undefined.
    const bool has_lod = !is_leaf && record.lod != kNone && this->lod_particles_ != 0;
    node.first = static_cast<std::uint32_t>(this->particles_);
    node.own = is_leaf ? record.b >> 2 : has_lod ? this->lod_particles_ : 0;
    if (node.own != 0 && (is_leaf ? record.a : record.lod) != this->particles_)
    {
      this->refuse(i,
        fmt::format("has particles from {} on, but the previous ones end at {}",
          is_leaf ? record.a : record.lod, this->particles_));
    }
    if (node.own > this->treelet_.particle_count - this->particles_)
    {
      this->refuse(i,
        fmt::format("has particles {} to {} of {}", this->particles_, this->particles_ + node.own,
          this->treelet_.particle_count));
    }
    this->particles_ += node.own;
  }

  void begin_subtree(std::uint32_t i, const KdRecord& record, Node& node)
  {
    const std::uint32_t right = record.b >> 2;
    if (right <= i + std::uint64_t{ 1 } || right >= this->treelet_.node_count)
    {
      this->refuse(i,
        fmt::format("has node {} as its right child; allowed are {} to {}", right,
          i + std::uint64_t{ 2 }, this->treelet_.node_count - 1));
    }
    node.right = right;
    node.axis = record.b & 3;
    std::memcpy(&node.split, &record.a, 4);
    ++this->depth_;
    this->open_.push_back({ right, this->depth_ });
  }

  void end_left_subtree(std::uint32_t i)
  {
    const Open open = this->open_.back();
    if (open.right != i + 1)
    {
      this->refuse(i,
        fmt::format(
          "ends a left subtree; the right one should start after it, not at {}", open.right));
    }
    this->depth_ = open.depth;
    this->open_.pop_back();
  }

  const io::RandomAccessFile& file_;
  const Treelet& treelet_;
  std::size_t treelet_number_;
  std::uint32_t lod_particles_;
  int root_depth_;
  int depth_;
  std::uint64_t particles_ = 0;
  bool is_done_ = false;
  std::vector<Open> open_; ///< inner nodes whose right child is still to come
};
}

LeafHeader::LeafHeader(const io::RandomAccessFile& file)
{
  const Header header(file);
  if (!header.has("num_lod_prims") && !header.has("num_treelets"))
  {
    throw Error(ErrorCode::NotABatFile,
      file.name() + ": is not a libbat leaf file: its header does not list treelets");
  }
  this->tree_begin = up_to_page(header.end());
  this->node_count = header.count("num_nodes");
  this->treelet_count = header.count("num_treelets");
  this->particle_count = header.count("num_points");
  const std::uint64_t lod_particles = header.count("num_lod_prims");
  this->has_ranges = header.flag("has_ranges");
  this->attributes = header.attributes();
  this->dictionary_size = this->attributes.empty() && !header.has("bitmap_dict_size")
    ? 0
    : header.count("bitmap_dict_size");
  this->bounds = header.bounds();
  for (const HeaderAttribute& attribute : this->attributes)
  {
    this->attribute_offsets.push_back(this->attribute_bytes);
    this->attribute_bytes += size_of(attribute.type);
  }

  check_counts(file, *this, lod_particles);
  this->lod_particles = static_cast<std::uint32_t>(lod_particles);
  check_file_size(file, *this);
}

LeafIndex::LeafIndex(const io::RandomAccessFile& file, const LeafHeader& header)
{
  this->read_shallow_tree(file, header);
  const std::vector<std::uint8_t> depths = this->treelet_depths(file);
  const std::uint64_t table = header.tree_begin + header.node_count * sizeof(RadixRecord);
  const auto offsets = read_records<std::uint64_t>(file, table, header.treelet_count);
  const std::uint64_t dictionary = table + 8 * header.treelet_count;
  this->dictionary = read_records<std::uint32_t>(file, dictionary, header.dictionary_size);

  const std::uint64_t tree_bytes = file.size() - header.tree_begin;
  std::uint64_t minimum = dictionary + 4 * header.dictionary_size +
    header.node_count * summary_bytes(header) - header.tree_begin;
  for (std::size_t t = 0; t != offsets.size(); ++t)
  {
    const bool last = t + 1 == offsets.size();
    const std::uint64_t maximum = last ? tree_bytes : offsets[t + 1];
    if (offsets[t] >= tree_bytes)
    {
      truncated(file,
        fmt::format("treelet {} starts at byte {} after {}", t, offsets[t], header.tree_begin));
    }
    if (offsets[t] % kPage != 0 || offsets[t] < minimum || offsets[t] >= maximum)
    {
      corrupt(file.name(),
        fmt::format("treelet {} starts at byte {} of the tree; allowed are multiples of {} from "
                    "{} to below {}",
          t, offsets[t], kPage, minimum, maximum));
    }
    this->read_treelet(file, header, header.tree_begin + offsets[t],
      header.tree_begin + std::min(maximum, tree_bytes), depths[t]);
    const Treelet& read = this->treelets.back();
    minimum =
      read.attributes_begin + read.particle_count * header.attribute_bytes - header.tree_begin;
  }
  const Treelet& last = this->treelets.back();
  if (last.first_ordinal + last.particle_count != header.particle_count)
  {
    corrupt(file.name(),
      fmt::format("the treelets have {} particles, but the header says {}",
        last.first_ordinal + last.particle_count, header.particle_count));
  }
  // If the sizes differ, the header describes different attributes than the particles have, and all
  // values but the first would be read from wrong offsets.
  if (header.tree_begin + minimum != file.size())
  {
    corrupt(file.name(),
      fmt::format("the last treelet ends at byte {} with {} attributes of {} bytes in total, the "
                  "file at {}",
        header.tree_begin + minimum, header.attributes.size(), header.attribute_bytes,
        file.size()));
  }
  this->order_particles();
}

void LeafIndex::read_shallow_tree(const io::RandomAccessFile& file, const LeafHeader& header)
{
  this->treelets.reserve(header.treelet_count);
  if (header.treelet_count == 1)
  {
    return; // the library leaves its one node without meaning
  }
  const auto records = read_records<RadixRecord>(file, header.tree_begin, header.node_count);
  this->shallow.reserve(records.size());
  for (std::size_t i = 0; i != records.size(); ++i)
  {
    const RadixRecord& record = records[i];
    if (record.axis < 0 || record.axis > 2)
    {
      corrupt(file.name(),
        fmt::format("shallow node {} splits axis {}; allowed are 0 to 2", i, record.axis));
    }
    const std::uint64_t left = record.info >> 2;
    const auto child = [&](std::uint64_t index, bool is_treelet) -> ShallowChild
    {
      const std::uint64_t count = is_treelet ? header.treelet_count : header.node_count;
      if (index >= count)
      {
        corrupt(file.name(),
          fmt::format("shallow node {} has {} {} as a child; the file has {}", i,
            is_treelet ? "treelet" : "node", index, count));
      }
      return { static_cast<std::uint32_t>(index), is_treelet };
    };
    this->shallow.push_back({ record.split, static_cast<std::uint8_t>(record.axis),
      child(left, (record.info & 1) != 0), child(left + 1, (record.info & 2) != 0) });
  }
}

// Walks the shallow tree, which must lead to each treelet once, in order; a cycle cannot.
std::vector<std::uint8_t> LeafIndex::treelet_depths(const io::RandomAccessFile& file) const
{
  if (this->shallow.empty())
  {
    return { 0 };
  }
  struct Step
  {
    ShallowChild child;
    int depth;
  };
  std::vector<std::uint8_t> depths;
  std::vector<Step> open{ { { 0, false }, 0 } };
  while (!open.empty())
  {
    const Step step = open.back();
    open.pop_back();
    if (step.depth > kMaxShallowDepth)
    {
      corrupt(
        file.name(), fmt::format("the shallow tree is more than {} levels deep", kMaxShallowDepth));
    }
    if (!step.child.is_treelet)
    {
      const ShallowNode& node = this->shallow[step.child.index];
      open.push_back({ node.right, step.depth + 1 });
      open.push_back({ node.left, step.depth + 1 });
      continue;
    }
    if (step.child.index != depths.size())
    {
      corrupt(file.name(),
        fmt::format("the shallow tree leads to treelet {} where treelet {} should be",
          step.child.index, depths.size()));
    }
    depths.push_back(static_cast<std::uint8_t>(step.depth));
  }
  if (depths.size() != this->shallow.size() + 1)
  {
    corrupt(file.name(),
      fmt::format(
        "the shallow tree leads to {} of {} treelets", depths.size(), this->shallow.size() + 1));
  }
  return depths;
}

void LeafIndex::read_treelet(const io::RandomAccessFile& file, const LeafHeader& header,
  std::uint64_t begin, std::uint64_t end, std::uint8_t depth)
{
  const std::size_t number = this->treelets.size();
  std::uint32_t counts[2]; // nodes, particles
  file.read(begin, counts, sizeof(counts));
  Treelet treelet;
  treelet.node_count = counts[0];
  treelet.particle_count = counts[1];
  if (number != 0)
  {
    const Treelet& before = this->treelets.back();
    treelet.first_ordinal = before.first_ordinal + before.particle_count;
    treelet.first_node = before.first_node + before.node_count;
  }
  const std::uint64_t nodes_begin = begin + sizeof(counts);
  treelet.bitmaps_begin = nodes_begin + std::uint64_t{ counts[0] } * sizeof(KdRecord);
  treelet.positions_begin = treelet.bitmaps_begin + counts[0] * summary_bytes(header);
  treelet.attributes_begin = treelet.positions_begin + std::uint64_t{ counts[1] } * 12;
  const std::uint64_t treelet_end = treelet.attributes_begin + counts[1] * header.attribute_bytes;
  if (treelet_end > end)
  {
    const std::string what =
      fmt::format("treelet {} has {} nodes and {} particles and ends at byte {}", number, counts[0],
        counts[1], treelet_end);
    if (end == file.size())
    {
      truncated(file, what);
    }
    corrupt(file.name(), fmt::format("{}; the next one starts at {}", what, end));
  }
  // This is generous, because inner nodes have particles either themselves or in both children.
  if (counts[0] == 0 || counts[0] > 2 * std::uint64_t{ counts[1] } + 1)
  {
    corrupt(file.name(),
      fmt::format("treelet {} has {} nodes for {} particles", number, counts[0], counts[1]));
  }
  this->read_nodes(file, header, treelet, nodes_begin, depth);
  this->treelets.push_back(treelet);
}

// Nodes are in preorder and so are their particles, which NodeReader checks.
void LeafIndex::read_nodes(const io::RandomAccessFile& file, const LeafHeader& header,
  const Treelet& treelet, std::uint64_t begin, std::uint8_t depth)
{
  const auto records = read_records<KdRecord>(file, begin, treelet.node_count);
  NodeReader reader(file, treelet, this->treelets.size(), header.lod_particles, depth);
  for (std::uint32_t i = 0; i != treelet.node_count; ++i)
  {
    this->nodes.push_back(reader.read(i, records[i]));
  }
  reader.check_end();
  Node* nodes = this->nodes.data() + treelet.first_node;
  for (std::uint32_t i = treelet.node_count; i-- != 0;)
  {
    Node& node = nodes[i];
    node.subtree_end = node.right != 0 ? nodes[node.right].subtree_end : i + 1;
    node.particles_end = node.right != 0 ? nodes[node.right].particles_end : node.first + node.own;
  }
}

void LeafIndex::order_particles()
{
  std::vector<std::uint64_t> particles; // per depth, then the next file position of each
  std::vector<std::uint64_t> compute_runs;
  for (const Node& node : this->nodes)
  {
    if (node.depth >= particles.size())
    {
      particles.resize(node.depth + std::size_t{ 1 });
      compute_runs.resize(particles.size());
    }
    particles[node.depth] += node.own;
    compute_runs[node.depth] += node.own != 0 ? 1 : 0;
  }
  std::uint64_t position = 0;
  std::uint64_t run = 0;
  for (std::size_t depth = 0; depth != particles.size(); ++depth)
  {
    this->level_begins.push_back(position);
    position += std::exchange(particles[depth], position);
    run += std::exchange(compute_runs[depth], run);
  }
  this->level_begins.push_back(position);
  this->runs.resize(run);
  for (std::size_t t = 0; t != this->treelets.size(); ++t)
  {
    const Treelet& treelet = this->treelets[t];
    for (std::uint64_t i = 0; i != treelet.node_count; ++i)
    {
      Node& node = this->nodes[treelet.first_node + i];
      node.position = particles[node.depth];
      particles[node.depth] += node.own;
      if (node.own != 0)
      {
        this->runs[compute_runs[node.depth]++] = { node.position, static_cast<std::uint32_t>(t),
          node.first };
      }
    }
  }
}
}
