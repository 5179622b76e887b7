// SPDX-License-Identifier: BSD-3-Clause
// Finds the blocks that a query must read, from the index alone. It works coarse to fine and keeps
// a set of undecided conditions for each treelet, then for each block:
//
//   state       meaning                                        consequence
//   kOutside    some condition excludes all particles          skipped
//   0           every particle meets every condition           returned without a test
//   bits        bit 0: box and shapes; bit 1 + i: condition i  particles are tested for these only
//               (bit 63: all conditions from number 62 on)
//
// 1. Box and shapes descend the tree of treelets; a node that is inside or outside decides all
//    treelets below it with one comparison.
// 2. Conditions on attributes compare each treelet's exact minimum, maximum and bitmap.
// 3. Only blocks of undecided treelets are read: their boxes and 32-bit bitmaps. A bitmap has one
//    bit per bin or group of bins: a block may match if it has a bit whose values may match, and
//    matches completely if all values of all its bits match.
// 4. Blocks of equal state are joined to intervals of ordinals.

#include "particles/query/block_filter.hpp"

#include "particles/tree/bins.hpp"
#include "particles/tree/file_impl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace bat::query
{
namespace
{
constexpr std::uint64_t kPlaceBit = 1;
constexpr std::uint64_t kOutside = ~std::uint64_t{ 0 };

std::uint32_t bits_from_to(int first, int last)
{
  std::uint32_t bits = 0;
  for (int bit = std::max(first, 0); bit <= std::min(last, 31); ++bit)
  {
    bits |= std::uint32_t{ 1 } << bit;
  }
  return bits;
}

/// Tests one condition on the treelets and blocks of its key.
class KeyTest
{
public:
  struct TreeletBits
  {
    Relation relation = Relation::Outside;
    std::uint32_t possible = 0; ///< bits whose values may match
    std::uint32_t certain = 0;  ///< bits all of whose values match
  };

  KeyTest(const KeyIndex& index, const KeyCondition& condition)
    : index_(index)
    , condition_(condition)
  {
    std::visit(
      [&](const auto& requested)
      {
        using V = typename std::decay_t<decltype(requested)>::Value;
        std::vector<V> edges;
        for (const std::uint64_t bits : index.edges)
        {
          edges.push_back(from_bits<V>(bits));
        }
        this->find_bins(edges, requested);
      },
      condition.requested);
  }

  /// The relation of a treelet or block to the condition.
  [[nodiscard]] Relation treelet(std::size_t t) const
  {
    return reversed(this->treelet_bits(t).relation, this->condition_.negated);
  }
  [[nodiscard]] Relation block(std::uint32_t bitmap, const TreeletBits& bits) const
  {
    // No bits were computed for a treelet that is inside, because all of its blocks are inside too.
    const Relation relation =
      bits.relation == Relation::Inside ? Relation::Inside : relation_of(bitmap, bits);
    return reversed(relation, this->condition_.negated);
  }

  /// Bits of the condition without its negation.
  [[nodiscard]] TreeletBits treelet_bits(std::size_t t) const
  {
    return std::visit([&](const auto& requested) { return this->treelet_of(requested, t); },
      this->condition_.requested);
  }

private:
  [[nodiscard]] static Relation relation_of(std::uint32_t bitmap, const TreeletBits& bits)
  {
    return (bitmap & bits.possible) == 0 ? Relation::Outside
      : (bitmap & ~bits.certain) == 0    ? Relation::Inside
                                         : Relation::Partial;
  }

  template <class V>
  void find_bins(const std::vector<V>&, const IntervalSet<V>&)
  {
  }

  template <class V>
  void find_bins(const std::vector<V>& edges, const ClassRange<V>& range)
  {
    this->first_bin_ = find_bin(edges, range.lower);
    this->last_bin_ = find_bin(edges, range.upper);
  }

  template <class V>
  void find_bins(const std::vector<V>& edges, const ValueSet<V>& set)
  {
    const std::vector<V>& values = set.values();
    auto at = values.begin();
    this->bin_starts_.push_back(0);
    for (const V edge : edges)
    {
      at = std::lower_bound(at, values.end(), edge);
      this->bin_starts_.push_back(static_cast<std::size_t>(at - values.begin()));
    }
    this->bin_starts_.push_back(values.size());
  }

  template <class V>
  TreeletBits treelet_of(const ClassRange<V>& range, std::size_t t) const
  {
    const format::TreeletKeyRecord& record = this->index_.treelets[t];
    const V minimum = from_bits<V>(record.minimum);
    const V maximum = from_bits<V>(record.maximum);
    TreeletBits bits;
    if (minimum > maximum || !meets(range, minimum, maximum))
    {
      return bits;
    }
    const bool from_minimum = range.lower <= minimum;
    const bool to_maximum = maximum <= range.upper;
    const bool has_nan = (record.flags & format::kHasNaN) != 0;
    if (from_minimum && to_maximum && !has_nan)
    {
      bits.relation = Relation::Inside;
      return bits;
    }
    const std::uint32_t first =
      std::clamp<std::uint32_t>(this->first_bin_, record.first_bin, record.last_bin);
    const std::uint32_t last =
      std::clamp<std::uint32_t>(this->last_bin_, record.first_bin, record.last_bin);
    const auto first_bit = static_cast<int>(bit_of_bin(first, record.first_bin, record.last_bin));
    const auto last_bit = static_cast<int>(bit_of_bin(last, record.first_bin, record.last_bin));
    bits.possible = bits_from_to(first_bit, last_bit);
    if (!has_nan)
    {
      // Values of a bin above the lower end's are above it, and therefore at the other end.
      bits.certain = bits_from_to(from_minimum ? 0 : first_bit + 1, to_maximum ? 31 : last_bit - 1);
    }
    bits.relation = relation_of(record.bitmap, bits);
    return bits;
  }

  template <class V>
  TreeletBits treelet_of(const ValueSet<V>& set, std::size_t t) const
  {
    const format::TreeletKeyRecord& record = this->index_.treelets[t];
    const V minimum = from_bits<V>(record.minimum);
    const V maximum = from_bits<V>(record.maximum);
    const std::vector<V>& values = set.values();
    TreeletBits bits;
    const auto begin = std::lower_bound(values.begin(), values.end(), minimum);
    const auto end = std::upper_bound(begin, values.end(), maximum);
    if (minimum > maximum || begin == end)
    {
      return bits;
    }
    if (minimum == maximum && (record.flags & format::kHasNaN) == 0)
    {
      bits.relation = Relation::Inside;
      return bits;
    }
    const auto first = static_cast<std::size_t>(begin - values.begin());
    const auto last = static_cast<std::size_t>(end - values.begin());
    std::size_t from = first;
    for (std::uint32_t bit = 0; bit != kBitmapBits && from < last; ++bit)
    {
      const std::uint32_t next_bin = find_first_bin(bit + 1, record.first_bin, record.last_bin);
      const std::size_t to = std::min(last, this->bin_starts_[next_bin]);
      bits.possible |= from < to ? std::uint32_t{ 1 } << bit : 0;
      from = std::max(from, to);
    }
    bits.relation = relation_of(record.bitmap, bits);
    return bits;
  }

  template <class V>
  TreeletBits treelet_of(const IntervalSet<V>& set, std::size_t t) const
  {
    const format::TreeletKeyRecord& record = this->index_.treelets[t];
    const V minimum = from_bits<V>(record.minimum);
    const V maximum = from_bits<V>(record.maximum);
    TreeletBits bits;
    if (minimum > maximum || !meets(set, minimum, maximum))
    {
      return bits;
    }
    const bool has_nan = (record.flags & format::kHasNaN) != 0;
    if (!has_nan && covers(set, minimum, maximum))
    {
      bits.relation = Relation::Inside;
      return bits;
    }
    for (std::uint32_t bit = 0; bit != kBitmapBits; ++bit)
    {
      const std::uint32_t bin = find_first_bin(bit, record.first_bin, record.last_bin);
      const std::uint32_t next = find_first_bin(bit + 1, record.first_bin, record.last_bin);
      if (bin == next)
      {
        continue;
      }
      // Values of a bin are below its upper edge, so this interval is slightly larger than their
      // range.
      const V from = bin == record.first_bin ? minimum : from_bits<V>(this->index_.edges[bin - 1]);
      const V to = next > record.last_bin ? maximum : from_bits<V>(this->index_.edges[next - 1]);
      bits.possible |= meets(set, from, to) ? std::uint32_t{ 1 } << bit : 0;
      bits.certain |= !has_nan && covers(set, from, to) ? std::uint32_t{ 1 } << bit : 0;
    }
    bits.relation = relation_of(record.bitmap, bits);
    return bits;
  }

  const KeyIndex& index_;
  const KeyCondition& condition_;
  std::uint32_t first_bin_ = 0; ///< first bin of a range
  std::uint32_t last_bin_ = 0;
  /// For a list: per bin, the number of its values in lower bins; then the total.
  std::vector<std::size_t> bin_starts_;
};

// Requests the sections that a Classifier reads from a remote file, at the same time.
void prefetch_index(const File::Impl& file, const Conditions& conditions)
{
  using format::SectionKind;
  if (!file.source->is_remote())
  {
    return;
  }
  std::vector<std::pair<SectionKind, std::uint32_t>> requested{ { SectionKind::ShallowTree, 0 },
    { SectionKind::Treelets, 0 }, { SectionKind::TreeletLevels, 0 } };
  for (const KeyCondition& condition : conditions.keys)
  {
    for (const SectionKind kind :
      { SectionKind::BinEdges, SectionKind::TreeletKeys, SectionKind::BitmapDictionary })
    {
      if (!condition.of_positions)
      {
        requested.emplace_back(kind, static_cast<std::uint32_t>(condition.key));
      }
    }
  }
  file.prefetch_remote(requested);
}

class Classifier
{
public:
  Classifier(const File::Impl& file, const Conditions& conditions)
    : file_(file)
    , conditions_(conditions)
    , index_(file.spatial_index())
    , states_(index_.treelets.size(), 0)
    , block_size_(file.schema.head.block_particles)
  {
  }

  std::vector<Interval> run(std::uint64_t max_blocks)
  {
    if (!this->conditions_.places.everywhere())
    {
      this->classify_places();
    }
    for (const KeyCondition& condition : this->conditions_.keys)
    {
      this->tests_.emplace_back();
      if (!condition.of_positions)
      {
        this->tests_.back().emplace(this->file_.key_index(condition.key), condition);
      }
    }
    for (std::size_t r = 0; r != this->tests_.size(); ++r)
    {
      this->classify_key(r);
    }
    // A part of the particles is an interval of ordinals: blocks of treelets outside of it are not
    // read.
    for (std::size_t t = 0; t != this->states_.size(); ++t)
    {
      if (this->index_.first_ordinal[t + 1] <= this->conditions_.first_ordinal ||
        this->index_.first_ordinal[t] >= this->conditions_.end_ordinal)
      {
        this->states_[t] = kOutside;
      }
    }
    this->refine_blocks(max_blocks);
    return this->intervals();
  }

private:
  void classify_places()
  {
    const std::vector<format::NodeRecord>& nodes = this->index_.nodes;
    for (std::size_t i = 0; i < nodes.size();)
    {
      const format::NodeRecord& node = nodes[i];
      const Relation relation = relate(node.lower, node.upper, this->conditions_.places);
      const bool leaf = node.skip == i + 1;
      if (relation == Relation::Partial && !leaf)
      {
        ++i;
        continue;
      }
      // A full binary tree has one leaf more than inner nodes.
      const std::size_t treelets = (node.skip - i + 1) / 2;
      const std::uint64_t state = relation == Relation::Outside ? kOutside
        : relation == Relation::Partial                         ? kPlaceBit
                                                                : 0;
      std::fill_n(this->states_.begin() + node.first_treelet, treelets, state);
      i = node.skip;
    }
  }

  void classify_key(std::size_t r)
  {
    for (std::size_t t = 0; t != this->states_.size(); ++t)
    {
      if (this->states_[t] != kOutside)
      {
        const Relation relation =
          this->tests_[r] ? this->tests_[r]->treelet(t) : this->relate_treelet(t, r);
        this->states_[t] = relation == Relation::Outside ? kOutside
          : relation == Relation::Partial                ? this->states_[t] | key_bit(r)
                                                         : this->states_[t];
      }
    }
  }

  [[nodiscard]] bool is_finite(std::size_t t) const
  {
    return (this->index_.treelets[t].flags & format::kNonFinite) == 0;
  }

  // The relation of a treelet to a condition on positions.
  [[nodiscard]] Relation relate_treelet(std::size_t t, std::size_t r) const
  {
    const format::NodeRecord& node = this->index_.nodes[this->index_.leaf_nodes[t]];
    return this->is_finite(t) ? relate(node.lower, node.upper, this->conditions_.keys[r])
                              : Relation::Partial;
  }

  // Tests the blocks of undecided treelets and stores their states in blocks_.
  void refine_blocks(std::uint64_t max_blocks)
  {
    std::uint64_t count = 0;
    this->first_refined_.assign(this->states_.size(), 0);
    for (std::size_t t = 0; t != this->states_.size(); ++t)
    {
      this->first_refined_[t] = count;
      if (this->is_refined(t))
      {
        count += this->blocks_of(t);
      }
    }
    this->has_blocks_ = count <= max_blocks;
    if (!this->has_blocks_)
    {
      return;
    }
    this->blocks_.resize(count);
    for (std::size_t t = 0; t != this->states_.size(); ++t)
    {
      if (this->is_refined(t))
      {
        std::fill_n(this->blocks_.begin() + static_cast<std::ptrdiff_t>(this->first_refined_[t]),
          this->blocks_of(t), this->states_[t]);
      }
    }
    this->prefetch_blocks();
    if (!this->conditions_.places.everywhere())
    {
      this->refine_boxes(kPlaceBit, this->conditions_.places);
    }
    for (std::size_t r = 0; r != this->tests_.size(); ++r)
    {
      if (this->tests_[r])
      {
        this->refine_key(r);
      }
      else
      {
        this->refine_boxes(key_bit(r), this->conditions_.keys[r]);
      }
    }
  }

  [[nodiscard]] bool is_refined(std::size_t t) const
  {
    return this->states_[t] != kOutside && this->states_[t] != 0;
  }

  [[nodiscard]] std::uint64_t blocks_of(std::size_t t) const
  {
    return this->index_.first_block[t + 1] - this->index_.first_block[t];
  }

  // Requests all that refine_boxes() and refine_key() read from a remote file, at the same time.
  void prefetch_blocks() const
  {
    if (!this->file_.source->is_remote())
    {
      return;
    }
    const auto prefetch = [&](format::SectionKind kind, std::uint32_t index, std::uint64_t bit)
    {
      std::vector<std::size_t> treelets;
      this->file_.paged(kind, index).prefetch(this->undecided_blocks(bit, treelets));
    };
    prefetch(format::SectionKind::BlockBoxes, 0, kPlaceBit);
    for (std::size_t r = 0; r != this->tests_.size(); ++r)
    {
      if (this->tests_[r])
      {
        const std::size_t key = this->conditions_.keys[r].key;
        if (this->file_.schema.keys[key].bitmap_bytes != 0)
        {
          prefetch(format::SectionKind::BlockBitmaps, static_cast<std::uint32_t>(key), key_bit(r));
        }
      }
      else
      {
        prefetch(format::SectionKind::BlockBoxes, 0, key_bit(r));
      }
    }
  }

  // Spans of blocks in the treelets that `bit` leaves undecided, and those treelets.
  std::vector<Span> undecided_blocks(std::uint64_t bit, std::vector<std::size_t>& treelets) const
  {
    std::vector<Span> spans;
    for (std::size_t t = 0; t != this->states_.size(); ++t)
    {
      if (this->is_refined(t) && (this->states_[t] & bit) != 0)
      {
        spans.push_back({ this->index_.first_block[t], this->blocks_of(t) });
        treelets.push_back(t);
      }
    }
    return spans;
  }

  template <class Record>
  std::vector<Record> read_blocks(
    format::SectionKind kind, std::uint32_t index, const std::vector<Span>& spans) const
  {
    std::uint64_t count = 0;
    for (const Span& span : spans)
    {
      count += span.count;
    }
    std::vector<Record> records(count);
    format::PageReader reader(this->file_.paged(kind, index));
    reader.gather(spans.data(), spans.size(), reinterpret_cast<std::byte*>(records.data()));
    return records;
  }

  // Decides by the boxes of blocks. The condition is Places, or one on positions.
  template <class Condition>
  void refine_boxes(std::uint64_t bit, const Condition& condition)
  {
    std::vector<std::size_t> treelets;
    const std::vector<Span> spans = this->undecided_blocks(bit, treelets);
    const auto boxes =
      this->read_blocks<format::BlockBoxRecord>(format::SectionKind::BlockBoxes, 0, spans);
    std::size_t at = 0;
    for (const std::size_t t : treelets)
    {
      const format::NodeRecord& node = this->index_.nodes[this->index_.leaf_nodes[t]];
      const bool finite = this->is_finite(t);
      for (std::uint64_t b = 0; b != this->blocks_of(t); ++b, ++at)
      {
        if (!finite)
        {
          continue; // its boxes carry no information
        }
        double lower[3];
        double upper[3];
        for (int axis = 0; axis != 3; ++axis)
        {
          lower[axis] =
            format::block_coordinate(node.lower[axis], node.upper[axis], boxes[at].lower[axis]);
          upper[axis] =
            format::block_coordinate(node.lower[axis], node.upper[axis], boxes[at].upper[axis]);
        }
        this->decide(this->first_refined_[t] + b, bit, relate(lower, upper, condition));
      }
    }
  }

  void refine_key(std::size_t r)
  {
    const std::size_t key = this->conditions_.keys[r].key;
    const auto k = static_cast<std::uint32_t>(key);
    const std::uint8_t bytes = this->file_.schema.keys[key].bitmap_bytes;
    if (bytes == 0)
    {
      return;
    }
    std::vector<std::size_t> treelets;
    const std::vector<Span> spans = this->undecided_blocks(key_bit(r), treelets);
    constexpr auto kind = format::SectionKind::BlockBitmaps;
    if (bytes == 4)
    {
      this->refine_key(r, treelets, this->read_blocks<std::uint32_t>(kind, k, spans));
    }
    else if (bytes == 2)
    {
      this->refine_key(
        r, treelets, this->look_up(key, this->read_blocks<std::uint16_t>(kind, k, spans)));
    }
    else
    {
      this->refine_key(
        r, treelets, this->look_up(key, this->read_blocks<std::uint8_t>(kind, k, spans)));
    }
  }

  template <class Id>
  std::vector<std::uint32_t> look_up(std::size_t key, const std::vector<Id>& ids) const
  {
    const std::vector<std::uint32_t>& dictionary = this->file_.key_index(key).dictionary;
    std::vector<std::uint32_t> bitmaps(ids.size());
    for (std::size_t i = 0; i != ids.size(); ++i)
    {
      if (ids[i] >= dictionary.size())
      {
        format::corrupt(*this->file_.source,
          fmt::format(
            "BLOCK_BITMAPS {}: entry {} of a dictionary of {}", key, ids[i], dictionary.size()));
      }
      bitmaps[i] = dictionary[ids[i]];
    }
    return bitmaps;
  }

  void refine_key(std::size_t r, const std::vector<std::size_t>& treelets,
    const std::vector<std::uint32_t>& bitmaps)
  {
    std::size_t at = 0;
    for (const std::size_t t : treelets)
    {
      const KeyTest::TreeletBits bits = this->tests_[r]->treelet_bits(t);
      for (std::uint64_t b = 0; b != this->blocks_of(t); ++b, ++at)
      {
        this->decide(
          this->first_refined_[t] + b, key_bit(r), this->tests_[r]->block(bitmaps[at], bits));
      }
    }
  }

  // Bit 63 stands for several conditions: none of them alone can clear it.
  void decide(std::uint64_t block, std::uint64_t bit, Relation relation)
  {
    std::uint64_t& state = this->blocks_[block];
    if (relation == Relation::Outside)
    {
      state = kOutside;
    }
    else if (relation == Relation::Inside && state != kOutside && bit != std::uint64_t{ 1 } << 63)
    {
      state &= ~bit;
    }
  }

  [[nodiscard]] std::vector<Interval> intervals() const
  {
    std::vector<Interval> out;
    const auto add = [&](std::uint64_t begin, std::uint64_t end, std::uint64_t state)
    {
      begin = std::max(begin, this->conditions_.first_ordinal);
      end = std::min(end, this->conditions_.end_ordinal);
      if (state == kOutside || begin >= end)
      {
        return;
      }
      if (!out.empty() && out.back().end == begin && out.back().undecided == state)
      {
        out.back().end = end;
        return;
      }
      out.push_back({ begin, end, state });
    };
    for (std::size_t t = 0; t != this->states_.size(); ++t)
    {
      const std::uint64_t begin = this->index_.first_ordinal[t];
      const std::uint64_t end = this->index_.first_ordinal[t + 1];
      if (!this->has_blocks_ || !this->is_refined(t))
      {
        add(begin, end, this->states_[t]);
        continue;
      }
      for (std::uint64_t b = 0; b != this->blocks_of(t); ++b)
      {
        const std::uint64_t first = begin + b * this->block_size_;
        add(first, std::min(end, first + this->block_size_),
          this->blocks_[this->first_refined_[t] + b]);
      }
    }
    return out;
  }

  const File::Impl& file_;
  const Conditions& conditions_;
  const SpatialIndex& index_;
  std::vector<std::uint64_t> states_;         ///< per treelet
  std::vector<std::optional<KeyTest>> tests_; ///< per condition on a key; none for positions
  std::vector<std::uint64_t> first_refined_;
  std::vector<std::uint64_t> blocks_; ///< state of each block of the refined treelets
  std::uint64_t block_size_;
  bool has_blocks_ = false;
};
}

std::vector<Interval> classify(
  const File::Impl& file, const Conditions& conditions, std::uint64_t max_blocks)
{
  prefetch_index(file, conditions);
  return Classifier(file, conditions).run(max_blocks);
}
}
