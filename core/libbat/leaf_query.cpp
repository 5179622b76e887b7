// SPDX-License-Identifier: BSD-3-Clause
#include "libbat/leaf_query.hpp"

#include "libbat/parallel.hpp"
#include "particles/query/conditions.hpp"
#include "particles/query/range_test.hpp"
#include "particles/query/region_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace bat::libbat
{
namespace
{
constexpr std::uint64_t kTestedPerBatch = 1 << 16;

/// Consecutive particles of a treelet that may match, with consecutive file positions.
struct Candidate
{
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint64_t position = 0;
};

/// A condition for which bitmaps can exclude nodes.
struct Mask
{
  std::size_t attribute = 0;
  std::uint32_t bits = 0;
};

// Bits of a bitmap that matching values may have; empty if bitmaps cannot decide.
template <class V>
std::optional<std::uint32_t> requested_bits(
  const std::optional<FloatRange>& header_range, const ClassRange<V>& range)
{
  return bitmap_mask(header_range, to_float(range.lower), to_float(range.upper));
}

template <class V>
std::optional<std::uint32_t> requested_bits(
  const std::optional<FloatRange>& header_range, const query::ValueSet<V>& set)
{
  std::uint32_t all = 0;
  for (const V value : set.values())
  {
    const auto bits = bitmap_mask(header_range, to_float(value), to_float(value));
    if (!bits)
    {
      return std::nullopt;
    }
    all |= *bits;
  }
  return all;
}

template <class V>
std::optional<std::uint32_t> requested_bits(
  const std::optional<FloatRange>& header_range, const query::IntervalSet<V>& set)
{
  std::uint32_t all = 0;
  for (const ClassRange<V>& range : set.ranges())
  {
    const auto bits = requested_bits(header_range, range);
    if (!bits)
    {
      return std::nullopt;
    }
    all |= *bits;
  }
  return all;
}

/// Finds the candidates of a query, treelet by treelet.
class Walk
{
public:
  Walk(const Leaf& leaf, const query::Conditions& conditions)
    : leaf_(leaf)
    , index_(leaf.index())
    , conditions_(conditions)
  {
    for (const query::KeyCondition& condition : conditions.keys)
    {
      if (condition.negated)
      {
        continue; // bitmaps show which values exist, not that there are no others
      }
      const auto bits = std::visit([&](const auto& requested)
        { return requested_bits(leaf.header().attributes[condition.attribute].range, requested); },
        condition.requested);
      if (bits && *bits != ~std::uint32_t{ 0 })
      {
        this->masks_.push_back({ condition.attribute, *bits });
      }
    }
    this->find_treelets();
  }

  /// Treelets that may contain matches, ascending.
  [[nodiscard]] const std::vector<std::uint32_t>& treelets() const noexcept
  {
    return this->treelets_;
  }

  /// Ascending by ordinal.
  [[nodiscard]] std::vector<Candidate> candidates(std::uint32_t t) const
  {
    const Treelet& treelet = this->index_.treelets[t];
    const Node* nodes = this->index_.nodes.data() + treelet.first_node;
    const std::uint16_t* ids = this->masks_.empty() ? nullptr : this->leaf_.bitmap_ids(t).data();
    std::vector<Candidate> out;
    std::vector<std::uint32_t> open{ 0 };
    while (!open.empty())
    {
      const std::uint32_t i = open.back();
      open.pop_back();
      const Node& node = nodes[i];
      if (this->is_excluded(treelet, node, ids, i))
      {
        continue;
      }
      this->add_own(treelet, node, out);
      if (node.right == 0)
      {
        continue;
      }
      // Both sides include the plane, which costs nothing and does not depend on where equal values
      // went.
      const auto& box = this->conditions_.places.box;
      if (!box || !(box->upper[node.axis] < node.split))
      {
        open.push_back(node.right);
      }
      if (!box || !(box->lower[node.axis] > node.split))
      {
        open.push_back(i + 1);
      }
    }
    return out;
  }

private:
  void find_treelets()
  {
    const auto& box = this->conditions_.places.box;
    const auto& bounds = this->leaf_.header().bounds;
    if (box && bounds)
    {
      for (std::size_t axis = 0; axis != 3; ++axis)
      {
        if (box->upper[axis] < (*bounds)[axis] || box->lower[axis] > (*bounds)[axis + 3])
        {
          return;
        }
      }
    }
    if (this->index_.shallow.empty())
    {
      this->add_treelet(0);
      return;
    }
    double slack[3] = {};
    for (std::size_t axis = 0; bounds && axis != 3; ++axis)
    {
      slack[axis] = plane_slack(*bounds, axis);
    }
    std::vector<ShallowChild> open{ { 0, false } };
    while (!open.empty())
    {
      const ShallowChild child = open.back();
      open.pop_back();
      if (child.is_treelet)
      {
        this->add_treelet(child.index);
        continue;
      }
      const ShallowNode& node = this->index_.shallow[child.index];
      // Without finite bounds the cells were computed from infinities, so the planes are
      // meaningless.
      const bool prunes = box && bounds;
      if (!prunes || !(box->upper[node.axis] < node.split - slack[node.axis]))
      {
        open.push_back(node.right);
      }
      if (!prunes || !(box->lower[node.axis] > node.split + slack[node.axis]))
      {
        open.push_back(node.left);
      }
    }
  }

  void add_treelet(std::uint32_t t)
  {
    const Treelet& treelet = this->index_.treelets[t];
    const Node& root = this->index_.nodes[treelet.first_node];
    if (!this->misses_ordinals(treelet, root) && !this->is_too_deep(root))
    {
      this->treelets_.push_back(t);
    }
  }

  [[nodiscard]] bool misses_ordinals(const Treelet& treelet, const Node& node) const
  {
    return treelet.first_ordinal + node.first >= this->conditions_.end_ordinal ||
      treelet.first_ordinal + node.particles_end <= this->conditions_.first_ordinal ||
      node.first == node.particles_end;
  }

  [[nodiscard]] bool is_too_deep(const Node& node) const
  {
    return this->index_.level_begins[node.depth] >= this->conditions_.end_position;
  }

  [[nodiscard]] bool is_excluded(
    const Treelet& treelet, const Node& node, const std::uint16_t* ids, std::uint32_t i) const
  {
    if (this->misses_ordinals(treelet, node) || this->is_too_deep(node))
    {
      return true;
    }
    for (const Mask& mask : this->masks_)
    {
      const std::uint16_t id = ids[i * this->leaf_.attributes().size() + mask.attribute];
      const std::uint32_t bits = this->index_.dictionary[id];
      if (bits != 0 && (bits & mask.bits) == 0)
      {
        return true;
      }
    }
    return false;
  }

  // The node's own particles, limited to ordinals and progressive step.
  void add_own(const Treelet& treelet, const Node& node, std::vector<Candidate>& out) const
  {
    const query::Conditions& c = this->conditions_;
    const std::uint64_t ordinal = treelet.first_ordinal + node.first;
    const auto below = [](std::uint64_t limit, std::uint64_t start)
    { return limit > start ? limit - start : 0; };
    const std::uint64_t first =
      std::max(below(c.first_ordinal, ordinal), below(c.first_position, node.position));
    const std::uint64_t end = std::min({ std::uint64_t{ node.own }, below(c.end_ordinal, ordinal),
      below(c.end_position, node.position) });
    if (first < end)
    {
      out.push_back({ static_cast<std::uint32_t>(node.first + first),
        static_cast<std::uint32_t>(end - first), node.position + first });
    }
  }

  const Leaf& leaf_;
  const LeafIndex& index_;
  const query::Conditions& conditions_;
  std::vector<Mask> masks_;
  std::vector<std::uint32_t> treelets_;
};

/// Tests candidates in one treelet.
class Tester
{
public:
  Tester(const Leaf& leaf, const query::Conditions& conditions, const Treelet& treelet)
    : leaf_(leaf)
    , conditions_(conditions)
    , treelet_(treelet)
  {
  }

  void run(const std::vector<Candidate>& candidates, std::vector<Span>& out)
  {
    for (Candidate rest : candidates)
    {
      while (rest.count != 0)
      {
        const auto count = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(rest.count, kTestedPerBatch - this->count_));
        this->pieces_.push_back({ rest.first, count, this->count_ });
        this->positions_.push_back(rest.position);
        this->count_ += count;
        rest.first += count;
        rest.position += count;
        rest.count -= count;
        if (this->count_ == kTestedPerBatch)
        {
          this->flush(out);
        }
      }
    }
    this->flush(out);
  }

private:
  void flush(std::vector<Span>& out)
  {
    this->matches_.reset(this->count_);
    if (!this->conditions_.places.everywhere())
    {
      const Elements positions = this->values(this->treelet_.positions_begin, 12);
      query::match_places(
        ScalarType::Float32, &positions, 1, this->conditions_.places, this->matches_);
    }
    for (const query::KeyCondition& key : this->conditions_.keys)
    {
      const Attribute& attribute = this->leaf_.attributes()[key.attribute];
      const Elements values = this->values(
        this->leaf_.attribute_begin(this->treelet_, key.attribute), size_of(attribute.type));
      this->matches_.rewind();
      query::match_key(attribute, &values, 1, key, this->matches_);
    }
    this->matches_.rewind();
    for (std::size_t i = 0; i != this->pieces_.size(); ++i)
    {
      query::append_matches({ this->positions_[i], this->pieces_[i].count }, this->matches_, out);
    }
    this->pieces_.clear();
    this->positions_.clear();
    this->count_ = 0;
  }

  Elements values(std::uint64_t begin, std::uint64_t bytes)
  {
    this->bytes_.resize(this->count_ * bytes);
    this->leaf_.gather(begin, bytes, this->pieces_, this->bytes_.data());
    return { this->bytes_.data(), this->count_ };
  }

  const Leaf& leaf_;
  const query::Conditions& conditions_;
  const Treelet& treelet_;
  std::vector<Piece> pieces_;
  std::vector<std::uint64_t> positions_; ///< file position of each piece
  std::uint64_t count_ = 0;
  query::Matches matches_;
  std::vector<std::byte> bytes_;
};

// True if the step alone determines the result, so that no index is needed.
bool is_plain_step(const Leaf& leaf, const query::Conditions& conditions)
{
  return conditions.none() && conditions.first_ordinal == 0 &&
    conditions.end_ordinal == leaf.header().particle_count;
}

Selection join(std::vector<std::vector<Span>>& by_treelet)
{
  std::vector<Span> spans;
  for (std::vector<Span>& some : by_treelet)
  {
    spans.insert(spans.end(), some.begin(), some.end());
    std::vector<Span>().swap(some);
  }
  std::sort(
    spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.first < b.first; });
  Selection selection;
  for (const Span& span : spans)
  {
    query::append(selection.spans, span);
    selection.count += span.count;
  }
  return selection;
}

Selection walk_and_test(const Leaf& leaf, const query::Conditions& conditions, int threads)
{
  const Walk walk(leaf, conditions);
  std::vector<std::vector<Span>> found(walk.treelets().size());
  std::vector<std::uint64_t> tested(found.size());
  for_each_parallel(found.size(), threads,
    [&](std::size_t i)
    {
      const std::uint32_t t = walk.treelets()[i];
      const std::vector<Candidate> candidates = walk.candidates(t);
      if (!conditions.none())
      {
        for (const Candidate& candidate : candidates)
        {
          tested[i] += candidate.count;
        }
        Tester(leaf, conditions, leaf.index().treelets[t]).run(candidates, found[i]);
        return;
      }
      for (const Candidate& candidate : candidates)
      {
        query::append(found[i], { candidate.position, candidate.count });
      }
    });
  Selection selection = join(found);
  for (const std::uint64_t count : tested)
  {
    selection.tested += count;
  }
  return selection;
}
}

std::optional<std::uint32_t> bitmap_mask(
  const std::optional<FloatRange>& header_range, float lower, float upper)
{
  if (!header_range || !(lower >= header_range->lower) || !(upper <= header_range->upper))
  {
    return std::nullopt;
  }
  const float extent = header_range->upper - header_range->lower;
  if (!(extent > 0) || !std::isfinite(extent))
  {
    return std::nullopt;
  }
  const auto bin = [&](float value)
  {
    return static_cast<int>(
      std::clamp(32.0F * ((value - header_range->lower) / extent), 0.0F, 31.0F));
  };
  std::uint32_t bits = 0;
  for (int bit = std::max(bin(lower) - 1, 0); bit <= std::min(bin(upper) + 1, 31); ++bit)
  {
    bits |= std::uint32_t{ 1 } << bit;
  }
  return bits;
}

// Cell = 1023 (x - lower) / extent, plane = extent cell / 1023 + lower: a few roundings of relative
// size 2^-24, each of a number no larger than the sum below.
double plane_slack(const std::array<float, 6>& bounds, std::size_t axis)
{
  const double lower = bounds[axis];
  const double upper = bounds[axis + 3];
  return (upper - lower + std::max(std::abs(lower), std::abs(upper))) * 0x1p-20;
}

Selection select(const Leaf& leaf, const query::Conditions& conditions, const QueryOptions& options)
{
  if (conditions.nothing())
  {
    return {};
  }
  if (is_plain_step(leaf, conditions))
  {
    const std::uint64_t count = conditions.end_position - conditions.first_position;
    return { { { conditions.first_position, count } }, count, 0 };
  }
  return walk_and_test(leaf, conditions, options.threads);
}

std::uint64_t upper_bound(const Leaf& leaf, const query::Conditions& conditions)
{
  if (conditions.nothing())
  {
    return 0;
  }
  if (is_plain_step(leaf, conditions))
  {
    return conditions.end_position - conditions.first_position;
  }
  const Walk walk(leaf, conditions);
  std::uint64_t count = 0;
  for (const std::uint32_t t : walk.treelets())
  {
    for (const Candidate& candidate : walk.candidates(t))
    {
      count += candidate.count;
    }
  }
  return count;
}
}
