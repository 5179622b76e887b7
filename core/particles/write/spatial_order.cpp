// SPDX-License-Identifier: BSD-3-Clause
// Builds the particle tree of a leaf file: the order of its particles, their levels of detail, and
// the boxes that queries use to skip particles.
//
//   leaf file                box tree over treelets (shallow_tree.cpp)
//   |- treelet 0             at most `treelet_particles`, consecutive on a Morton curve
//   |  |- block 0            `block_particles` consecutive ordinals with a quantised box
//   |  |- block 1
//   |- treelet 1 ...         treelets with NaN or infinite coordinates come last
//
// 1. morton_order() cuts the particles into treelets and gives each particle a slot in its treelet.
// 2. Each treelet is ordered by itself, in parallel: order_treelet() gives its particles ordinals,
//    and blocks get their boxes.
// 3. Each ordinal gets a level. By default the keep ratios of LEVELS pick evenly spaced ordinals,
//    which are evenly spread in space; with stable samples the hashes of the ids decide.
// 4. In the file, coarse levels come first, and inside a level ordinals ascend. A prefix of every
//    column is therefore a sample of the whole, and a treelet is one run in each level.

#include "particles/write/spatial_order.hpp"

#include "bat/error.hpp"
#include "bat/file.hpp"
#include "common/numbers.hpp"
#include "particles/format/stable_levels.hpp"
#include "particles/tree/bin_edges.hpp"
#include "particles/write/check_input.hpp"
#include "particles/write/gather.hpp"
#include "particles/write/point_bounds.hpp"
#include "particles/write/sample_levels.hpp"
#include "particles/write/shallow_tree.hpp"
#include "particles/write/treelet.hpp"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

namespace bat::write
{
namespace
{
constexpr std::uint32_t kBlockSizes[] = { 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096 };

// Sample size for the quantiles of `n` particles: for small n, a larger share, so that the error of
// a quantile seldom exceeds 2 % of them; for large n, at least 32 for each bin.
std::uint64_t sampled(std::uint64_t n)
{
  const std::uint64_t of_few = std::clamp<std::uint64_t>(n / 16, 4096, 8192);
  const std::uint64_t of_many = std::min<std::uint64_t>(n / 64, 65536);
  return std::min(n, std::max(of_few, of_many));
}

// Estimated bytes of index per particle if blocks had `block` particles; see FORMAT.md sections 6
// to 11.
double index_bytes(const ParticleParts& particles, std::uint32_t block, std::uint32_t treelet)
{
  const auto bytes = static_cast<double>(particles.row_bytes());
  double keys = 0;
  for (const AttributeView& attribute : particles.schema().attributes)
  {
    keys += format::key_count(attribute.values.components);
  }
  const auto n = static_cast<double>(particles.count());
  const auto columns = static_cast<double>(particles.array_count());
  const double checksums = bytes / 1024;
  const double blocks = (6.0 + 2.0 * keys) / block;
  const double treelets = (2.0 * 56 + 8 + 32 * keys) / (0.7 * treelet);
  const double edges = keys * 8 * bins_for(particles.count()) / n;
  const double padding = columns * 2048 / n;
  return checksums + blocks + treelets + edges + padding;
}

std::uint32_t choose_block(const ParticleParts& particles, const BuildOptions& options)
{
  if (options.block_particles != 0)
  {
    return options.block_particles;
  }
  const auto bytes = static_cast<double>(particles.row_bytes());
  for (const std::uint32_t block : kBlockSizes)
  {
    if (index_bytes(particles, block, options.treelet_particles) <= options.index_budget * bytes)
    {
      return block;
    }
  }
  // The fixed parts of small files exceed any budget; coarse blocks would only make them slow.
  return 256;
}

template <class T>
class OrderBuilder
{
public:
  OrderBuilder(const ParticleParts& particles, const BuildOptions& options)
    : particles_(particles)
    , options_(options)
  {
  }

  SpatialOrder run()
  {
    const std::uint64_t n = this->particles_.count();
    LargeArray<std::byte> copied; // the order reads positions in random order
    const ArrayView positions = this->positions(copied);
    MortonOrder morton = morton_order(positions, n, this->options_.treelet_particles);
    if (this->options_.progress && !this->options_.progress(0.2))
    {
      throw Error(ErrorCode::Cancelled, "the write was cancelled");
    }
    SpatialOrder& out = this->out_;
    out.bounds = morton.bounds;
    out.levels = choose_levels(n);
    out.sample_ids = sample_ids(this->particles_.schema(), this->options_);
    out.block_particles = choose_block(this->particles_, this->options_);
    this->inverse_block_ =
      ((std::uint64_t{ 1 } << 32) + out.block_particles - 1) / out.block_particles;
    std::uint32_t blocks = 0;
    for (const TreeletRange& range : morton.treelets)
    {
      out.treelets.push_back({ range.begin, range.count, blocks, range.finite });
      blocks += (range.count + out.block_particles - 1) / out.block_particles;
    }
    out.block_count = blocks;
    out.block_boxes.resize(blocks);
    out.sample.resize(sampled(n));
    this->source_ = std::move(morton.source);
    this->assign_slots(positions);
    copied.reset(0);

    const std::size_t levels = out.levels.size();
    if (!out.sample_ids.empty())
    {
      this->levels_ = sample_levels(this->particles_, out.sample_ids, out.levels);
      out.in_levels.resize((out.treelets.size() + 1) * levels);
      this->block_levels_bytes_ = format::block_levels_bytes(out.block_particles, levels);
      out.block_levels.resize(blocks * this->block_levels_bytes_);
    }
    out.local_slot.reset(n);
    out.local_block.reset(n);
    std::vector<Box> boxes(out.treelets.size());
    tbb::enumerable_thread_specific<Scratch> scratch;
    tbb::parallel_for(std::size_t{ 0 }, out.treelets.size(),
      [&](std::size_t t) { boxes[t] = this->build_treelet(t, scratch.local()); });
    if (!out.sample_ids.empty())
    {
      this->add_up_levels();
    }
    tbb::parallel_for(
      std::size_t{ 0 }, out.treelets.size(), [&](std::size_t t) { this->take_sample(t); });
    out.nodes = shallow_tree(boxes, out.bounds);
    return std::move(this->out_);
  }

private:
  struct Scratch
  {
    std::vector<TreeletKey> keys;
    std::vector<TreeletKey> room;
    std::vector<std::uint16_t> ordinals; ///< particles down to a level
    std::vector<std::uint16_t> kept;     ///< particles that go on to coarser levels
    std::vector<std::uint8_t> levels;    ///< stable samples: by ordinal
    std::vector<std::uint32_t> counts;   ///< stable samples: by level
    std::vector<std::uint32_t> of_block; ///< stable samples: by block
  };

  // Returns the positions in one array, copied if they are in several.
  ArrayView positions(LargeArray<std::byte>& copied) const
  {
    const ArrayView* const single = this->particles_.single(0);
    if (single || this->particles_.count() == 0)
    {
      return single ? *single : this->particles_.array(0);
    }
    const ArrayView& array = this->particles_.array(0);
    copied.reset(this->particles_.count() * tuple_bytes(array));
    this->particles_.copy(0, this->particles_.count(), 0, copied.data());
    return ArrayView::packed(array.type, array.components, copied.data());
  }

  void assign_slots(const ArrayView& positions)
  {
    const std::size_t n = this->source_.size();
    this->out_.slot.reset(n);
    scatter_numbers(this->source_.data(), n, { 0, static_cast<std::uint32_t>(n) },
      reinterpret_cast<std::byte*>(this->out_.slot.data()));
    this->out_.positions.reset(n * 3 * sizeof(T));
    scatter(
      this->out_.slot.data(), { nullptr, 0, n }, positions, nullptr, this->out_.positions.data());
  }

  // Orders the particles of a treelet, fills its blocks' boxes, and returns its box.
  Box build_treelet(std::size_t t, Scratch& scratch)
  {
    const Treelet& treelet = this->out_.treelets[t];
    if (!treelet.finite)
    {
      this->order_as_they_come(t, scratch);
      constexpr double inf = std::numeric_limits<double>::infinity();
      return { { -inf, -inf, -inf }, { inf, inf, inf } };
    }
    const auto* positions =
      reinterpret_cast<const T*>(this->out_.positions.data()) + std::size_t{ 3 } * treelet.first;
    const Box box = tight_box(positions, treelet.count);
    const TreeletGrid grid(box);
    std::vector<TreeletKey>& keys = scratch.keys;
    keys.resize(treelet.count);
    grid.fill_keys(positions, treelet.count, keys.data());
    const std::uint32_t size = this->out_.block_particles;
    scratch.room.resize(treelet.count + kPartitionRoom);
    order_treelet(grid, keys.data(), treelet.count, size, scratch.room.data());
    for (std::uint32_t begin = 0, block = treelet.first_block; begin < treelet.count;
         begin += size, ++block)
    {
      const std::uint32_t count = std::min(size, treelet.count - begin);
      this->out_.block_boxes[block] = grid.quantise(tight_cells(&keys[begin], count));
    }
    this->sort_by_level(t, scratch);
    return box;
  }

  void order_as_they_come(std::size_t t, Scratch& scratch)
  {
    const Treelet& treelet = this->out_.treelets[t];
    scratch.keys.resize(treelet.count);
    for (std::uint32_t i = 0; i != treelet.count; ++i)
    {
      scratch.keys[i] = key_of_number(static_cast<std::uint16_t>(i));
    }
    const std::uint32_t size = this->out_.block_particles;
    const auto first = this->out_.block_boxes.begin() + treelet.first_block;
    std::fill(first, first + (treelet.count + size - 1) / size,
      format::BlockBoxRecord{ { 0, 0, 0 }, { 255, 255, 255 } });
    this->sort_by_level(t, scratch);
  }

  // Writes the treelet's part of local_slot and local_block.
  void sort_by_level(std::size_t t, Scratch& scratch)
  {
    if (this->out_.sample_ids.empty())
    {
      this->sort_evenly(this->out_.treelets[t], scratch);
    }
    else
    {
      this->sort_by_sample(t, scratch);
    }
  }

  // Within a block, ordinals ascend by level, so that BLOCK_LEVELS stores only the number in each.
  void sort_by_sample(std::size_t t, Scratch& scratch)
  {
    const Treelet& treelet = this->out_.treelets[t];
    const std::size_t level_count = this->out_.levels.size();
    scratch.levels.resize(treelet.count);
    scratch.room.resize(treelet.count + kPartitionRoom);
    scratch.counts.assign(level_count, 0);
    std::vector<std::uint32_t>& next = scratch.of_block;
    const std::uint32_t size = this->out_.block_particles;
    std::uint64_t block = treelet.first_block;
    for (std::uint32_t begin = 0; begin < treelet.count; begin += size, ++block)
    {
      const std::uint32_t end = std::min(begin + size, treelet.count);
      next.assign(level_count, 0);
      for (std::uint32_t i = begin; i != end; ++i)
      {
        const std::uint32_t number = this->source_[treelet.first + number_of(scratch.keys[i])];
        scratch.levels[i] = this->levels_[number];
        ++next[scratch.levels[i]];
      }
      std::uint32_t place = begin;
      for (std::size_t level = 0; level != level_count; ++level)
      {
        scratch.counts[level] += next[level];
        place += std::exchange(next[level], place);
      }
      for (std::uint32_t i = begin; i != end; ++i)
      {
        scratch.room[next[scratch.levels[i]]++] = scratch.keys[i];
      }
      place = begin;
      for (std::size_t level = 0; level != level_count; ++level)
      {
        std::fill(&scratch.levels[place], &scratch.levels[0] + next[level],
          static_cast<std::uint8_t>(level));
        place = next[level];
      }
      format::encode_block_levels(&scratch.levels[begin], end - begin,
        &this->out_.block_levels[block * this->block_levels_bytes_]);
    }
    std::copy_n(scratch.room.begin(), treelet.count, scratch.keys.begin());
    std::copy(scratch.counts.begin(), scratch.counts.end(),
      this->out_.in_levels.begin() + static_cast<std::ptrdiff_t>((t + 1) * level_count));
    std::uint32_t place = 0;
    for (std::uint32_t& count : scratch.counts)
    {
      place += std::exchange(count, place);
    }
    for (std::uint32_t i = 0; i != treelet.count; ++i)
    {
      this->place(
        treelet, scratch.counts[scratch.levels[i]]++, static_cast<std::uint16_t>(i), scratch.keys);
    }
  }

  // Replaces the counts of each treelet by the sums over all treelets before it.
  void add_up_levels()
  {
    const std::size_t step = this->out_.levels.size();
    for (std::size_t i = step; i != this->out_.in_levels.size(); ++i)
    {
      this->out_.in_levels[i] += this->out_.in_levels[i - step];
    }
  }

  // Sorts ordinals level by level, from fine to coarse: each level takes those that are not kept
  // for the next coarser one (FORMAT.md section 8).
  void sort_evenly(const Treelet& treelet, Scratch& scratch)
  {
    const LevelTable& levels = this->out_.levels;
    scratch.ordinals.resize(treelet.count + kOrdinalsPerCopy);
    scratch.kept.resize(treelet.count + kOrdinalsPerCopy);
    std::iota(scratch.ordinals.begin(), scratch.ordinals.end(), std::uint16_t{ 0 });
    std::uint64_t first = treelet.first; // x of the treelet's first ordinal
    std::uint32_t count = treelet.count;
    for (std::size_t level = levels.size() - 1; level != 0; --level)
    {
      const std::uint64_t first_kept = levels.coarser(level - 1, first);
      const auto kept =
        static_cast<std::uint32_t>(levels.coarser(level - 1, first + count) - first_kept);
      this->sort_out(treelet, scratch, { level, first, count, kept });
      scratch.ordinals.swap(scratch.kept);
      first = first_kept;
      count = kept;
    }
    for (std::uint32_t i = 0; i != count; ++i)
    {
      this->place(treelet, i, scratch.ordinals[i], scratch.keys);
    }
  }

  // The part of a treelet in a level and all coarser ones.
  struct Part
  {
    std::size_t level;
    std::uint64_t first; ///< x of the first of `ordinals`
    std::uint32_t count; ///< number of ordinals
    std::uint32_t kept;
  };

  // Places the ordinals that stay in a level after the space for those that are kept, which it
  // copies to scratch.kept. If r of 2^32 are kept, then with c = 2^32 - r the ones that stay are at
  // floor(m * 2^32 / c) for m = 0, 1, 2 ...; those in between are copied together.
  void sort_out(const Treelet& treelet, Scratch& scratch, const Part& part)
  {
    const std::uint64_t c = (std::uint64_t{ 1 } << 32) - this->out_.levels.keep[part.level - 1];
    const std::uint64_t step = (std::uint64_t{ 1 } << 32) / c;
    const std::uint64_t step_rest = (std::uint64_t{ 1 } << 32) % c;
    const std::uint64_t m = (part.first - this->out_.levels.coarser(part.level - 1, part.first));
    std::uint64_t next = (m << 32) / c - part.first;
    std::uint64_t rest = (m << 32) % c;
    std::uint16_t* kept = scratch.kept.data();
    std::uint64_t from = 0;
    for (std::uint32_t place = part.kept; place != part.count; ++place)
    {
      for (std::uint64_t i = 0; i < next - from; i += kOrdinalsPerCopy)
      {
        std::memcpy(kept + i, &scratch.ordinals[from + i], kOrdinalsPerCopy * sizeof(*kept));
      }
      kept += next - from;
      this->place(treelet, place, scratch.ordinals[next], scratch.keys);
      from = next + 1;
      rest += step_rest;
      next += step + (rest >= c);
      rest -= rest >= c ? c : 0;
    }
    std::copy(&scratch.ordinals[from], &scratch.ordinals[part.count], kept);
  }

  void place(const Treelet& treelet, std::uint32_t place, std::uint16_t ordinal,
    const std::vector<TreeletKey>& keys)
  {
    this->out_.local_slot[treelet.first + place] = number_of(keys[ordinal]);
    this->out_.local_block[treelet.first + place] =
      static_cast<std::uint16_t>(ordinal * this->inverse_block_ >> 32);
  }

  void take_sample(std::size_t t)
  {
    const std::uint32_t slot = this->out_.treelets[t].first;
    std::vector<std::uint32_t>& sample = this->out_.sample;
    this->out_.for_each_run(t,
      [&](std::size_t, std::uint64_t position, std::uint64_t offset, std::uint64_t count)
      {
        for (std::uint64_t i = 0; i < count && position + i < sample.size(); ++i)
        {
          sample[position + i] = this->source_[slot + this->out_.local_slot[slot + offset + i]];
        }
      });
  }

  static constexpr std::size_t kOrdinalsPerCopy = 8;

  const ParticleParts& particles_;
  const BuildOptions& options_;
  SpatialOrder out_;
  LargeArray<std::uint32_t> source_; ///< the caller's particle of each slot
  std::uint64_t inverse_block_ = 0;  ///< 2^32 / block_particles
  LargeArray<std::uint8_t> levels_;  ///< stable samples: level of each of the caller's particles
  std::uint64_t block_levels_bytes_ = 0;
};
}

SpatialOrder build_order(const ParticleParts& particles, const BuildOptions& options)
{
  return particles.array(0).type == ScalarType::Float32
    ? OrderBuilder<float>(particles, options).run()
    : OrderBuilder<double>(particles, options).run();
}
}
