// SPDX-License-Identifier: BSD-3-Clause
// Encodes the particles of one leaf file (FORMAT.md sections 4 to 12). It works on one column at a
// time, so that the memory of a write to a file depends on the largest column:
//
//   | header | POSITIONS | ATTRIBUTE 0 | ... | index | page checksums | SCHEMA ... | table |
//              ^ each column: level 0 of all treelets, then level 1, and so on
//
// 1. build_order() decides the place of each particle and makes the tree of boxes.
// 2. Keys get the edges of their bins from a sample of the particles.
// 3. For each column, treelets are handled in parallel: gather the values in treelet order, copy
//    each level's run to its place in the column, and add the values to the ranges and bitmaps
//    of the attribute's keys. Sorted indexes are made from the finished column.
// 4. The index follows, then the schema. SectionWriter keeps the section table, checksums and
//    chunks, and writes the header at the end, when all sizes are known.

#include "particles/write/encoder.hpp"

#include "bat/error.hpp"
#include "common/arena.hpp"
#include "common/memory/large_array.hpp"
#include "common/numbers.hpp"
#include "particles/format/encode.hpp"
#include "particles/format/index_layout.hpp"
#include "particles/format/layout.hpp"
#include "particles/tree/bin_edges.hpp"
#include "particles/write/check_input.hpp"
#include "particles/write/column_source.hpp"
#include "particles/write/error_bounds.hpp"
#include "particles/write/gather.hpp"
#include "particles/write/key_index.hpp"
#include "particles/write/key_values.hpp"
#include "particles/write/position_ranges.hpp"
#include "particles/write/section_writer.hpp"
#include "particles/write/snapped.hpp"
#include "particles/write/sorted_index.hpp"
#include "particles/write/spatial_order.hpp"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>

namespace bat::write
{
namespace
{
using format::SectionKind;

using Clock = std::chrono::steady_clock;

/// Writes one leaf file to an Output.
class Encoder
{
public:
  Encoder(const ParticleParts& particles, const std::vector<ErrorBound>& bounds,
    const BuildOptions& options, Output& output)
    : particles_(particles)
    , attributes_(particles.schema().attributes)
    , options_(options)
    , output_(output)
    , codings_(particles.array_count())
    , sections_(output)
  {
    for (ColumnCoding& coding : this->codings_)
    {
      coding.is_compressed = options.compression != Compression::None && particles.count() != 0;
      coding.chunk_particles = options.chunk_particles;
    }
    for (const ErrorBound& bound : bounds)
    {
      this->codings_[bound.array].bound = bound.value;
    }
  }

  WriteReport run()
  {
    const auto start = Clock::now();
    this->report(0);
    if (this->options_.hdf5_view)
    {
      this->sections_.reserve_hdf5_view();
    }
    this->indexed_keys_ = indexed_keys(this->particles_.schema(), this->options_);
    this->order_ = build_order(this->particles_, this->options_);
    const auto built = Clock::now();

    this->make_keys();
    this->write_positions(this->particles_.array(0));
    std::size_t first_key = 0;
    for (std::size_t k = 0; k != this->attributes_.size(); ++k)
    {
      this->report(
        0.3 + 0.6 * static_cast<double>(k + 1) / static_cast<double>(this->attributes_.size() + 1));
      const ArrayView& values = this->attributes_[k].values;
      dispatch(values.type,
        [&](auto value) {
          this->write_attribute<decltype(value)>(static_cast<std::uint32_t>(k), first_key, values);
        });
      first_key += format::key_count(values.components);
    }
    this->report(0.95);
    this->write_index();
    this->write_schema();
    this->sections_.finish(
      this->particles_.count(), this->particles_.schema().time, this->particles_.schema().step);

    WriteReport report;
    report.particles = this->particles_.count();
    report.file_bytes = this->sections_.file_bytes();
    report.data_bytes = this->sections_.column_bytes();
    report.stored_bytes = this->sections_.stored_bytes();
    report.index_bytes = report.file_bytes - report.stored_bytes;
    report.sorted_index_bytes =
      this->indexed_keys_.size() * format::IndexLayout(this->particles_.count()).bytes();
    report.treelets = this->order_.treelets.size();
    for (const Treelet& treelet : this->order_.treelets)
    {
      report.largest_treelet = std::max<std::uint64_t>(report.largest_treelet, treelet.count);
    }
    report.block_particles = this->order_.block_particles;
    report.seconds_build = std::chrono::duration<double>(built - start).count();
    report.seconds_encode = std::chrono::duration<double>(Clock::now() - built).count();
    return report;
  }

private:
  void report(double fraction) const
  {
    if (this->options_.progress && !this->options_.progress(fraction))
    {
      throw Error(ErrorCode::Cancelled, "the write was cancelled");
    }
  }

  // Begins the column for an array of ParticleParts and returns all of its memory.
  std::byte* begin_column(std::size_t array)
  {
    const ArrayView& view = this->particles_.array(array);
    return this->sections_.begin_column(
      array == 0 ? SectionKind::Positions : SectionKind::Attribute,
      array == 0 ? 0 : static_cast<std::uint32_t>(array - 1), { view.type, view.components },
      this->particles_.count(), this->codings_[array]);
  }

  void write_positions(const ArrayView& view)
  {
    std::byte* column = this->begin_column(0);
    tbb::enumerable_thread_specific<std::vector<std::byte>> scratches;
    tbb::parallel_for(std::size_t{ 0 }, this->order_.treelets.size(),
      [&](std::size_t t)
      {
        const Treelet& treelet = this->order_.treelets[t];
        std::vector<std::byte>& local = scratches.local();
        local.resize(treelet.count * tuple_bytes(view));
        gather(&this->order_.local_slot[treelet.first], treelet.count,
          this->order_.positions.data() + treelet.first * tuple_bytes(view), tuple_bytes(view),
          local.data());
        this->place(t, local.data(), tuple_bytes(view), column);
        if (this->has_aliases())
        {
          this->position_ranges_.local().add(view.type, local.data(), treelet.count);
        }
      });
    this->order_.positions.reset(0);
    this->sections_.end_column();
  }

  [[nodiscard]] bool has_aliases() const { return !this->particles_.schema().aliases.empty(); }

  [[nodiscard]] PositionRanges position_ranges() const
  {
    PositionRanges all;
    for (const PositionRanges& some : this->position_ranges_)
    {
      all.add(some);
    }
    return all;
  }

  // Copies a treelet's values to their file positions; `values` is in the order of local_slot.
  void place(std::size_t treelet, const std::byte* values, std::uint64_t tuple_bytes,
    std::byte* column) const
  {
    this->order_.for_each_run(treelet,
      [&](std::size_t, std::uint64_t position, std::uint64_t offset, std::uint64_t count)
      {
        std::memcpy(
          column + position * tuple_bytes, values + offset * tuple_bytes, count * tuple_bytes);
      });
  }

  // Writes the column of an attribute: calls f(t, values) for each treelet in parallel, with
  // `values` in the order of local_slot; then g(column).
  template <class F, class G>
  void write_column(std::uint32_t index, const ArrayView& view, const F& f, const G& g)
  {
    const auto parts = this->source_.open(index + std::size_t{ 1 }, this->spare_bytes(view));
    std::byte* const column = this->begin_column(index + std::size_t{ 1 });
    tbb::enumerable_thread_specific<ColumnSource::Scratch> scratches;
    for (const ColumnSource::Part& part : parts)
    {
      this->source_.load(part);
      tbb::parallel_for(part.begin, part.end,
        [&](std::size_t t)
        {
          const Treelet& treelet = this->order_.treelets[t];
          const std::byte* values = this->source_.values(treelet, scratches.local());
          this->place(t, values, tuple_bytes(view), column);
          f(t, values);
        });
    }
    g(column);
    this->sections_.end_column();
  }

  // Returns the bytes that may be used in addition to this column: as many as it has or, if all
  // columns stay in memory, the space of those that come after it, and a little.
  [[nodiscard]] std::uint64_t spare_bytes(const ArrayView& view) const
  {
    constexpr std::uint64_t kSpareBytesPerParticle = 2; // per particle
    const std::uint64_t bytes = tuple_bytes(view) * this->particles_.count();
    const std::uint64_t to_come = this->particles_.row_bytes() * this->particles_.count() -
      this->sections_.column_bytes() - bytes;
    return this->output_.keeps_columns()
      ? to_come + kSpareBytesPerParticle * this->particles_.count()
      : bytes;
  }

  // Creates all keys with their edges, one key per thread.
  void make_keys()
  {
    for (std::size_t k = 0; k != this->attributes_.size(); ++k)
    {
      const ArrayView& view = this->attributes_[k].values;
      const int keys = static_cast<int>(format::key_count(view.components));
      for (int c = 0; c != keys; ++c)
      {
        BuiltKey key;
        key.component = static_cast<std::int16_t>(c == view.components ? -1 : c);
        key.type = key.component < 0 ? ValueClass::Float : value_class(view.type);
        this->keys_.push_back(std::move(key));
        this->key_attributes_.push_back(static_cast<std::uint32_t>(k));
      }
    }
    tbb::parallel_for(std::size_t{ 0 }, this->keys_.size(),
      [&](std::size_t k)
      {
        BuiltKey& key = this->keys_[k];
        const std::uint32_t attribute = this->key_attributes_[k];
        dispatch(this->attributes_[attribute].values.type,
          [&](auto value)
          {
            using T = decltype(value);
            key.edges = key.component < 0 ? this->edges<T, double>(attribute, key.component)
                                          : this->edges<T, ClassOf<T>>(attribute, key.component);
          });
      });
  }

  // Bits of the values where the bins of a key begin.
  template <class T, class V>
  std::vector<std::uint64_t> edges(std::size_t attribute, int component) const
  {
    const int of_tuple = this->attributes_[attribute].values.components;
    std::vector<V> sample;
    sample.reserve(this->order_.sample.size());
    const auto components = static_cast<std::size_t>(of_tuple);
    std::vector<T> tuples(this->order_.sample.size() * components);
    this->particles_.gather(this->order_.sample.data(), this->order_.sample.size(), attribute + 1,
      reinterpret_cast<std::byte*>(tuples.data()));
    for (std::size_t i = 0; i != this->order_.sample.size(); ++i)
    {
      const V value = key_value<T, V>(&tuples[i * components], of_tuple, component);
      if (!is_nan_value(value))
      {
        sample.push_back(value);
      }
    }
    std::vector<std::uint64_t> bits;
    for (const V edge : choose_edges(sample, bins_for(this->particles_.count())))
    {
      bits.push_back(to_bits(edge));
    }
    return bits;
  }

  template <class T>
  void write_attribute(std::uint32_t index, std::size_t first, const ArrayView& view)
  {
    using V = ClassOf<T>;
    const int scalars = view.components;
    std::vector<KeyIndexer<V>> indexers;
    for (int c = 0; c != scalars; ++c)
    {
      indexers.emplace_back(this->order_, this->keys_[first + static_cast<std::size_t>(c)]);
    }
    std::vector<KeyIndexer<double>> magnitude; // none or one
    if (scalars > 1)
    {
      magnitude.emplace_back(this->order_, this->keys_[first + static_cast<std::size_t>(scalars)]);
    }
    struct Scratch
    {
      std::vector<V> values;
      std::vector<double> magnitudes;
    };
    tbb::enumerable_thread_specific<Scratch> scratches;
    this->write_column(
      index, view,
      [&](std::size_t t, const std::byte* local)
      {
        const std::size_t count = this->order_.treelets[t].count;
        const T* tuples = reinterpret_cast<const T*>(local);
        Scratch& scratch = scratches.local();
        for (int c = 0; c != scalars; ++c)
        {
          indexers[static_cast<std::size_t>(c)].add_treelet(
            t, key_values<T, V>(tuples, count, scalars, c, scratch.values));
        }
        for (KeyIndexer<double>& indexer : magnitude)
        {
          indexer.add_treelet(
            t, key_values<T, double>(tuples, count, scalars, -1, scratch.magnitudes));
        }
      },
      [&](const std::byte* column)
      {
        const T* tuples = reinterpret_cast<const T*>(column);
        this->sort_keys<T, V>(tuples, scalars, first, 0, scalars);
        if (scalars > 1)
        {
          this->sort_keys<T, double>(tuples, scalars, first, -1, 0);
        }
      });
    this->write_sorted_indexes();
    for (KeyIndexer<V>& indexer : indexers)
    {
      indexer.finish();
    }
    for (KeyIndexer<double>& indexer : magnitude)
    {
      indexer.finish();
    }
  }

  // Builds the sorted indexes for keys from `first_key` on whose components are begin to end - 1;
  // the magnitude is -1. `tuples` are those of all particles by file position.
  template <class T, class V>
  void sort_keys(const T* tuples, int components, std::size_t first_key, int begin, int end)
  {
    const auto step = static_cast<std::size_t>(components);
    for (int c = begin; c != end; ++c)
    {
      const std::size_t key = first_key + static_cast<std::size_t>(c < 0 ? components : c);
      if (!std::binary_search(this->indexed_keys_.begin(), this->indexed_keys_.end(), key))
      {
        continue;
      }
      SortedIndex<V> index(this->particles_.count());
      tbb::parallel_for(std::uint64_t{ 0 }, this->particles_.count(),
        [&](std::uint64_t i) { index.set(i, key_value<T, V>(&tuples[i * step], components, c)); });
      this->sorted_indexes_.emplace_back(static_cast<std::uint32_t>(key), index.finish());
    }
  }

  void write_sorted_indexes()
  {
    for (const auto& [key, bytes] : this->sorted_indexes_)
    {
      this->sections_.write_paged(SectionKind::SortedIndex, key, bytes.data(), bytes.size());
    }
    this->sorted_indexes_.clear();
  }

  void write_index()
  {
    const SpatialOrder& order = this->order_;
    this->sections_.write_plain(
      SectionKind::Levels, 0, order.levels.keep.data(), 4 * order.levels.keep.size());
    this->sections_.write_plain(SectionKind::ShallowTree, 0, order.nodes.data(),
      sizeof(format::NodeRecord) * order.nodes.size());
    std::vector<format::TreeletRecord> treelets;
    treelets.reserve(order.treelets.size());
    for (const Treelet& treelet : order.treelets)
    {
      treelets.push_back({ treelet.count, treelet.finite ? 0 : format::kNonFinite });
    }
    this->sections_.write_plain(
      SectionKind::Treelets, 0, treelets.data(), sizeof(format::TreeletRecord) * treelets.size());
    if (!order.sample_ids.empty())
    {
      this->write_sample();
    }
    this->sections_.write_paged(SectionKind::BlockBoxes, 0, order.block_boxes.data(),
      sizeof(format::BlockBoxRecord) * order.block_boxes.size());
    tbb::parallel_for(std::size_t{ 0 }, this->keys_.size(),
      [&](std::size_t k) { choose_bitmaps(order, this->keys_[k]); });
    for (std::uint32_t k = 0; k != this->keys_.size(); ++k)
    {
      this->write_key(k, this->keys_[k]);
    }
    this->sections_.write_chunk_tables();
    this->sections_.write_page_checksums();
  }

  void write_sample()
  {
    const SpatialOrder& order = this->order_;
    const std::size_t step = order.levels.size();
    this->sections_.add_feature(format::kStableSamples);
    const std::vector<std::byte> ids = format::sample_ids_bytes(order.sample_ids);
    this->sections_.write_plain(SectionKind::SampleIds, 0, ids.data(), ids.size());
    std::vector<std::uint32_t> counts(order.treelets.size() * step);
    for (std::size_t i = 0; i != counts.size(); ++i)
    {
      counts[i] = order.in_levels[i + step] - order.in_levels[i];
    }
    this->sections_.write_plain(
      SectionKind::TreeletLevels, 0, counts.data(), sizeof(counts[0]) * counts.size());
    this->sections_.write_paged(
      SectionKind::BlockLevels, 0, order.block_levels.data(), order.block_levels.size());
  }

  void write_key(std::uint32_t k, BuiltKey& key)
  {
    this->sections_.write_plain(SectionKind::BinEdges, k, key.edges.data(), 8 * key.edges.size());
    this->sections_.write_plain(SectionKind::TreeletKeys, k, key.treelets.data(),
      sizeof(format::TreeletKeyRecord) * key.treelets.size());
    if (key.bitmap_bytes == 4)
    {
      this->sections_.write_paged(
        SectionKind::BlockBitmaps, k, key.bitmaps.data(), 4 * key.bitmaps.size());
    }
    else if (key.bitmap_bytes != 0)
    {
      this->sections_.write_plain(
        SectionKind::BitmapDictionary, k, key.dictionary.data(), 4 * key.dictionary.size());
      if (key.bitmap_bytes == 1)
      {
        this->write_numbers<std::uint8_t>(k, key);
      }
      else
      {
        this->write_numbers<std::uint16_t>(k, key);
      }
    }
  }

  template <class Number>
  void write_numbers(std::uint32_t k, const BuiltKey& key)
  {
    std::vector<Number> numbers(key.bitmaps.size());
    std::transform(key.bitmaps.begin(), key.bitmaps.end(), numbers.begin(),
      [](std::uint32_t number) { return static_cast<Number>(number); });
    this->sections_.write_paged(
      SectionKind::BlockBitmaps, k, numbers.data(), sizeof(Number) * numbers.size());
  }

  void write_schema()
  {
    format::SchemaHead head{};
    head.level_count = static_cast<std::uint32_t>(this->order_.levels.size());
    head.treelet_count = static_cast<std::uint32_t>(this->order_.treelets.size());
    head.block_count = this->order_.block_count;
    head.block_particles = this->order_.block_particles;
    head.position_type = static_cast<std::uint8_t>(this->particles_.array(0).type);
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      head.lower[axis] = this->order_.bounds.lower[axis];
      head.upper[axis] = this->order_.bounds.upper[axis];
    }
    const std::vector<Attribute> attributes = format::attributes_of(this->particles_.schema());
    std::vector<format::KeyRecord> keys;
    for (std::size_t k = 0; k != this->keys_.size(); ++k)
    {
      const BuiltKey& key = this->keys_[k];
      format::KeyRecord record{};
      record.attribute = this->key_attributes_[k];
      record.component = key.component;
      record.bitmap_bytes = key.bitmap_bytes;
      record.flags = key.has_nan ? format::kHasNaN : 0;
      record.bin_count = static_cast<std::uint32_t>(key.edges.size()) + 1;
      record.dictionary_count = static_cast<std::uint32_t>(key.dictionary.size());
      record.minimum = key.minimum;
      record.maximum = key.maximum;
      keys.push_back(record);
    }
    const std::vector<std::byte> schema = format::schema_bytes(head, attributes, keys);
    this->sections_.write_plain(SectionKind::Schema, 0, schema.data(), schema.size());
    const std::string metadata = format::metadata_text(this->particles_.schema().metadata);
    this->sections_.write_plain(SectionKind::Metadata, 0, metadata.data(), metadata.size());
    if (this->has_aliases())
    {
      const std::vector<std::byte> aliases =
        format::aliases_bytes(attributes, this->position_ranges().records());
      this->sections_.write_plain(SectionKind::Aliases, 0, aliases.data(), aliases.size());
    }
    if (this->options_.hdf5_view)
    {
      format::LeafViewFacts facts;
      facts.attributes = attributes;
      facts.metadata = metadata;
      facts.time = this->particles_.schema().time;
      facts.step = this->particles_.schema().step;
      facts.particles = this->particles_.count();
      facts.position_type = this->particles_.array(0).type;
      this->sections_.write_hdf5_view(std::move(facts));
    }
  }

  const ParticleParts& particles_;
  const std::vector<AttributeView>& attributes_;
  const BuildOptions& options_;
  Output& output_;
  SpatialOrder order_;
  ColumnSource source_{ this->particles_, this->order_ };
  std::vector<BuiltKey> keys_;
  std::vector<std::uint32_t> key_attributes_;
  std::vector<std::size_t> indexed_keys_; ///< ascending
  std::vector<ColumnCoding> codings_;     ///< one per array
  std::vector<std::pair<std::uint32_t, LargeArray<std::byte>>>
    sorted_indexes_; ///< to be written, by key
  SectionWriter sections_;
  tbb::enumerable_thread_specific<PositionRanges> position_ranges_;
};
}

WriteReport encode_leaf(const ParticleParts& particles, const BuildOptions& options, Output& output)
{
  return in_arena(options.threads,
    [&]
    {
      std::vector<ErrorBound> bounds = absolute_bounds(particles, options);
      bounds.erase(std::remove_if(bounds.begin(), bounds.end(),
                     [](const ErrorBound& bound) { return bound.value == 0; }),
        bounds.end());
      if (bounds.empty())
      {
        return Encoder(particles, bounds, options, output).run();
      }
      const SnappedParticles snapped(particles, bounds);
      return Encoder(snapped.parts(), bounds, options, output).run();
    });
}
}
