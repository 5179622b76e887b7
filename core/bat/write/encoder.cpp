// Lays out columns and index of a leaf file and writes them, one column at a time.

#include "bat/error.hpp"
#include "bat/format/checksum.hpp"
#include "bat/format/encode.hpp"
#include "bat/format/layout.hpp"
#include "bat/format/page_layout.hpp"
#include "bat/tree/bin_edges.hpp"
#include "bat/write/builder.hpp"
#include "bat/write/column_source.hpp"
#include "bat/write/gather.hpp"
#include "bat/write/key_index.hpp"
#include "bat/write/leaf_writer.hpp"
#include "bat/write/particle_parts.hpp"
#include "bat/write/repeats.hpp"
#include "bat/write/sorted_index.hpp"
#include "bat/writer.hpp"
#include "common/arena.hpp"
#include "common/io/atomic_file.hpp"
#include "common/large_array.hpp"
#include "common/numbers.hpp"

#include <nlohmann/json.hpp>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>

namespace bat
{
namespace
{
using format::SectionKind;
using write::BuiltKey;
using write::ColumnSource;
using write::gather;
using write::is_nan_value;
using write::KeyIndexer;
using write::ParticleParts;
using write::SpatialOrder;
using write::Treelet;
using write::tuple_bytes;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start)
{
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Where the bytes of a file go.
class Output
{
public:
  virtual ~Output() = default;
  /// Room for the bytes at `offset`, to be filled before the next call of anything.
  virtual std::byte* begin_column(std::uint64_t offset, std::uint64_t bytes) = 0;
  virtual void end_column() = 0;
  /// Whether columns stay in memory, where those that are still to come have their room already.
  [[nodiscard]] virtual bool keeps_columns() const = 0;
  virtual void write(std::uint64_t offset, const void* data, std::size_t bytes) = 0;
};

class MemoryOutput : public Output
{
public:
  MemoryOutput(std::uint64_t data_bytes, std::uint64_t sorted_index_bytes)
  {
    // Room for a usual index: growing later would copy everything.
    this->bytes_.reserve(data_bytes + sorted_index_bytes + data_bytes / 32 + (1u << 16));
  }
  std::byte* begin_column(std::uint64_t offset, std::uint64_t bytes) override
  {
    this->grow(offset, bytes);
    return this->bytes_.data() + offset;
  }
  void end_column() override {}
  [[nodiscard]] bool keeps_columns() const override { return true; }
  void write(std::uint64_t offset, const void* data, std::size_t bytes) override
  {
    this->grow(offset, bytes);
    if (bytes != 0)
    {
      std::memcpy(this->bytes_.data() + offset, data, bytes);
    }
  }
  Bytes take() { return std::move(this->bytes_); }

private:
  // Room for `bytes` at `offset`; what lies before them is padding.
  void grow(std::uint64_t offset, std::uint64_t bytes)
  {
    const std::uint64_t old = this->bytes_.size();
    if (offset + bytes > old)
    {
      this->bytes_.resize(offset + bytes);
    }
    if (offset > old)
    {
      std::fill_n(
        this->bytes_.begin() + static_cast<std::ptrdiff_t>(old), offset - old, std::byte{ 0 });
    }
  }
  Bytes bytes_;
};

class FileOutput : public Output
{
public:
  /// `flush`: the file will be committed with a flush.
  FileOutput(io::AtomicFile& file, bool flush)
    : file_(file)
    , flush_(flush)
  {
  }
  [[nodiscard]] double seconds() const { return this->seconds_; }
  std::byte* begin_column(std::uint64_t offset, std::uint64_t bytes) override
  {
    if (bytes > this->buffer_.size())
    {
      this->buffer_.reset(bytes);
    }
    this->offset_ = offset;
    this->size_ = bytes;
    return this->buffer_.data();
  }
  [[nodiscard]] bool keeps_columns() const override { return false; }
  void end_column() override
  {
    this->write(this->offset_, this->buffer_.data(), this->size_);
    if (this->flush_)
    {
      this->timed([&] { this->file_.begin_flush(this->offset_, this->size_); });
    }
  }
  void write(std::uint64_t offset, const void* data, std::size_t bytes) override
  {
    this->timed([&] { this->file_.write(offset, data, bytes); });
  }

private:
  template <class F>
  void timed(const F& f)
  {
    const auto start = Clock::now();
    f();
    this->seconds_ += seconds_since(start);
  }

  io::AtomicFile& file_;
  bool flush_;
  LargeArray<std::byte> buffer_;
  std::uint64_t offset_ = 0;
  std::uint64_t size_ = 0;
  double seconds_ = 0;
};

/// Writes one leaf file to an Output.
class Encoder
{
public:
  Encoder(const ParticleParts& particles, const BuildOptions& options, Output& output)
    : particles_(particles)
    , attributes_(particles.schema().attributes)
    , options_(options)
    , output_(output)
  {
  }

  WriteReport run()
  {
    const auto start = Clock::now();
    this->report(0);
    this->indexed_keys_ = write::indexed_keys(this->particles_.schema(), this->options_);
    this->order_ = write::build_order(this->particles_, this->options_);
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
    this->write_table_and_header();

    WriteReport report;
    report.particles = this->particles_.count();
    report.file_bytes = this->end_;
    report.data_bytes = this->data_bytes_;
    report.index_bytes = this->end_ - this->data_bytes_;
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

  // Reserves room for a paged section and begins its record.
  format::SectionRecord& add_section(SectionKind kind, std::uint32_t index, std::uint64_t bytes)
  {
    format::SectionRecord record{};
    record.kind = static_cast<std::uint32_t>(kind);
    record.index = index;
    record.flags = format::kPaged;
    record.offset = this->reserve(bytes, format::PageLayout(bytes).alignment());
    record.bytes = bytes;
    record.raw_bytes = bytes;
    this->sections_.push_back(record);
    return this->sections_.back();
  }

  std::uint64_t reserve(std::uint64_t bytes, std::uint64_t alignment)
  {
    const std::uint64_t offset = (this->end_ + alignment - 1) / alignment * alignment;
    this->end_ = offset + bytes;
    return offset;
  }

  void write_plain(SectionKind kind, std::uint32_t index, const void* data, std::uint64_t bytes)
  {
    const std::uint64_t offset = this->reserve(bytes, 8);
    this->sections_.push_back(format::plain_section(kind, index, offset, data, bytes));
    this->output_.write(offset, data, bytes);
  }

  void write_paged(SectionKind kind, std::uint32_t index, const void* data, std::uint64_t bytes)
  {
    format::SectionRecord& record = this->add_section(kind, index, bytes);
    this->output_.write(record.offset, data, bytes);
    this->add_page_checksums(static_cast<const std::byte*>(data), bytes);
  }

  // Of the section added last.
  void add_page_checksums(const std::byte* data, std::uint64_t bytes)
  {
    this->page_checksums_.emplace_back(
      this->sections_.size() - 1, format::page_checksums(data, bytes));
  }

  // Begins the section of a column and returns its memory, all of it.
  std::byte* begin_column(SectionKind kind, std::uint32_t index, const ArrayView& view)
  {
    const std::uint64_t bytes = tuple_bytes(view) * this->particles_.count();
    this->data_bytes_ += bytes;
    const format::SectionRecord& record = this->add_section(kind, index, bytes);
    return this->output_.begin_column(record.offset, bytes);
  }

  void end_column(const std::byte* column)
  {
    this->add_page_checksums(column, this->sections_.back().bytes);
    this->output_.end_column();
  }

  void write_positions(const ArrayView& view)
  {
    std::byte* column = this->begin_column(SectionKind::Positions, 0, view);
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
        this->place(treelet, local.data(), tuple_bytes(view), column);
        if (this->has_aliases())
        {
          extend(this->position_ranges_.local(), view.type, local.data(), treelet.count);
        }
      });
    this->order_.positions.reset(0);
    this->end_column(column);
  }

  [[nodiscard]] bool has_aliases() const { return !this->particles_.schema().aliases.empty(); }

  /// Of x, y, z and their magnitude.
  struct PositionRanges
  {
    std::array<double, format::kPositionKeys> minimum;
    std::array<double, format::kPositionKeys> maximum;
    std::array<bool, format::kPositionKeys> has_nan{};

    PositionRanges()
    {
      this->minimum.fill(std::numeric_limits<double>::infinity());
      this->maximum.fill(-std::numeric_limits<double>::infinity());
    }
  };

  static void extend(
    PositionRanges& ranges, ScalarType type, const std::byte* positions, std::size_t count)
  {
    const auto add = [&](auto value)
    {
      using T = decltype(value);
      const T* tuples = reinterpret_cast<const T*>(positions);
      for (std::size_t i = 0; i != count; ++i)
      {
        for (std::size_t k = 0; k != format::kPositionKeys; ++k)
        {
          const auto v = key_value<T, double>(tuples + 3 * i, 3, k == 3 ? -1 : static_cast<int>(k));
          ranges.minimum[k] = v < ranges.minimum[k] ? v : ranges.minimum[k];
          ranges.maximum[k] = v > ranges.maximum[k] ? v : ranges.maximum[k];
          ranges.has_nan[k] |= is_nan_value(v);
        }
      }
    };
    type == ScalarType::Float32 ? add(float{}) : add(double{});
  }

  [[nodiscard]] std::array<format::LeafKeyRecord, format::kPositionKeys> position_keys()
  {
    PositionRanges all;
    for (const PositionRanges& some : this->position_ranges_)
    {
      for (std::size_t k = 0; k != format::kPositionKeys; ++k)
      {
        all.minimum[k] = std::min(all.minimum[k], some.minimum[k]);
        all.maximum[k] = std::max(all.maximum[k], some.maximum[k]);
        all.has_nan[k] |= some.has_nan[k];
      }
    }
    std::array<format::LeafKeyRecord, format::kPositionKeys> keys{};
    for (std::size_t k = 0; k != format::kPositionKeys; ++k)
    {
      // Which zero came first depends on the number of threads.
      keys[k] = { to_bits(all.minimum[k] + 0.0), to_bits(all.maximum[k] + 0.0),
        all.has_nan[k] ? format::kHasNaN : 0, 0 };
    }
    return keys;
  }

  // Copies a treelet's values to their file positions; `values` is in the order of local_slot.
  void place(const Treelet& treelet, const std::byte* values, std::uint64_t tuple_bytes,
    std::byte* column) const
  {
    for_each_run(this->order_.levels, treelet.first, std::uint64_t{ treelet.first } + treelet.count,
      [&](std::size_t, std::uint64_t position, std::uint64_t offset, std::uint64_t count)
      {
        std::memcpy(
          column + position * tuple_bytes, values + offset * tuple_bytes, count * tuple_bytes);
      });
  }

  // Writes the column of an attribute and calls f(t, values) for each treelet in parallel, `values`
  // in the order of local_slot; then g(column).
  template <class F, class G>
  void write_column(std::uint32_t index, const ArrayView& view, const F& f, const G& g)
  {
    const auto parts = this->source_.open(index + std::size_t{ 1 }, this->spare_bytes(view));
    std::byte* const column = this->begin_column(SectionKind::Attribute, index, view);
    tbb::enumerable_thread_specific<ColumnSource::Scratch> scratches;
    for (const ColumnSource::Part& part : parts)
    {
      this->source_.load(part);
      tbb::parallel_for(part.begin, part.end,
        [&](std::size_t t)
        {
          const Treelet& treelet = this->order_.treelets[t];
          const std::byte* values = this->source_.values(treelet, scratches.local());
          this->place(treelet, values, tuple_bytes(view), column);
          f(t, values);
        });
    }
    g(column);
    this->end_column(column);
  }

  // Bytes that may be used beside this column of an attribute: as many as it has, or where all
  // columns stay in memory the room of those that come after it, and a little.
  [[nodiscard]] std::uint64_t spare_bytes(const ArrayView& view) const
  {
    constexpr std::uint64_t kLittle = 2; // per particle
    const std::uint64_t bytes = tuple_bytes(view) * this->particles_.count();
    const std::uint64_t to_come =
      this->particles_.row_bytes() * this->particles_.count() - this->data_bytes_ - bytes;
    return this->output_.keeps_columns() ? to_come + kLittle * this->particles_.count() : bytes;
  }

  // Value of a key of one particle.
  template <class T, class V>
  static V key_value(const T* tuple, int components, int component)
  {
    if constexpr (std::is_same_v<V, double>)
    {
      if (component < 0)
      {
        return magnitude(tuple, static_cast<std::size_t>(components));
      }
    }
    return static_cast<V>(tuple[component]);
  }

  // All keys with their edges, of which each takes one thread.
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

  // Values of a key of `count` tuples; `values` is room for them where the tuples are not already
  // what is asked for.
  template <class T, class V>
  static const V* key_values(
    const T* tuples, std::size_t count, int components, int component, std::vector<V>& values)
  {
    if constexpr (std::is_same_v<T, V>)
    {
      if (components == 1)
      {
        return tuples;
      }
    }
    const auto step = static_cast<std::size_t>(components);
    values.resize(count);
    for (std::size_t i = 0; i != count; ++i)
    {
      values[i] = key_value<T, V>(&tuples[i * step], components, component);
    }
    return values.data();
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

  // Makes the sorted indexes of keys `first_key` and following whose components are begin to end -
  // 1; the magnitude is -1. `tuples` are those of all particles by file position.
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
      write::SortedIndex<V> index(this->particles_.count());
      tbb::parallel_for(std::uint64_t{ 0 }, this->particles_.count(),
        [&](std::uint64_t i) { index.set(i, key_value<T, V>(&tuples[i * step], components, c)); });
      this->sorted_indexes_.emplace_back(static_cast<std::uint32_t>(key), index.finish());
    }
  }

  void write_sorted_indexes()
  {
    for (const auto& [key, bytes] : this->sorted_indexes_)
    {
      this->write_paged(SectionKind::SortedIndex, key, bytes.data(), bytes.size());
    }
    this->sorted_indexes_.clear();
  }

  void write_index()
  {
    const SpatialOrder& order = this->order_;
    this->write_plain(
      SectionKind::Levels, 0, order.levels.keep.data(), 4 * order.levels.keep.size());
    this->write_plain(SectionKind::ShallowTree, 0, order.nodes.data(),
      sizeof(format::NodeRecord) * order.nodes.size());
    std::vector<format::TreeletRecord> treelets;
    treelets.reserve(order.treelets.size());
    for (const Treelet& treelet : order.treelets)
    {
      treelets.push_back({ treelet.count, treelet.finite ? 0 : format::kNonFinite });
    }
    this->write_plain(
      SectionKind::Treelets, 0, treelets.data(), sizeof(format::TreeletRecord) * treelets.size());
    this->write_paged(SectionKind::BlockBoxes, 0, order.block_boxes.data(),
      sizeof(format::BlockBoxRecord) * order.block_boxes.size());
    tbb::parallel_for(std::size_t{ 0 }, this->keys_.size(),
      [&](std::size_t k) { write::choose_bitmaps(order, this->keys_[k]); });
    for (std::uint32_t k = 0; k != this->keys_.size(); ++k)
    {
      this->write_key(k, this->keys_[k]);
    }
    for (const auto& [section, sums] : this->page_checksums_)
    {
      const std::uint64_t offset = this->reserve(4 * sums.size(), 8);
      format::SectionRecord& record = this->sections_[section];
      const format::PageLayout layout(record.bytes);
      record.checksums_offset = offset;
      record.checksum = format::checksum(sums.data(), layout.group_checksums_bytes());
      this->output_.write(offset, sums.data(), 4 * sums.size());
    }
  }

  void write_key(std::uint32_t k, BuiltKey& key)
  {
    this->write_plain(SectionKind::BinEdges, k, key.edges.data(), 8 * key.edges.size());
    this->write_plain(SectionKind::TreeletKeys, k, key.treelets.data(),
      sizeof(format::TreeletKeyRecord) * key.treelets.size());
    if (key.bitmap_bytes == 4)
    {
      this->write_paged(SectionKind::BlockBitmaps, k, key.bitmaps.data(), 4 * key.bitmaps.size());
    }
    else if (key.bitmap_bytes != 0)
    {
      this->write_plain(
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
    this->write_paged(
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
    this->write_plain(SectionKind::Schema, 0, schema.data(), schema.size());
    const std::string metadata = format::metadata_text(this->particles_.schema().metadata);
    this->write_plain(SectionKind::Metadata, 0, metadata.data(), metadata.size());
    if (this->has_aliases())
    {
      const std::vector<std::byte> aliases =
        format::aliases_bytes(attributes, this->position_keys());
      this->write_plain(SectionKind::Aliases, 0, aliases.data(), aliases.size());
    }
  }

  void write_table_and_header()
  {
    const std::uint64_t table_bytes = sizeof(format::SectionRecord) * this->sections_.size();
    const format::Header header = format::finish_header(this->sections_,
      this->reserve(table_bytes, 8), this->particles_.count(), 0, this->particles_.schema().time,
      this->particles_.schema().step);
    this->output_.write(header.section_table_offset, this->sections_.data(), table_bytes);
    this->output_.write(0, &header, sizeof(header));
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
  std::vector<std::pair<std::uint32_t, LargeArray<std::byte>>>
    sorted_indexes_; ///< to be written, by key
  std::vector<format::SectionRecord> sections_;
  std::vector<std::pair<std::size_t, std::vector<std::uint32_t>>> page_checksums_;
  tbb::enumerable_thread_specific<PositionRanges> position_ranges_;
  std::uint64_t end_ = sizeof(format::Header);
  std::uint64_t data_bytes_ = 0;
};

WriteReport run_encoder(const ParticleParts& particles, const BuildOptions& options, Output& output)
{
  return in_arena(options.threads, [&] { return Encoder(particles, options, output).run(); });
}
}

std::string to_json(const WriteReport& report)
{
  const nlohmann::json json{ { "particles", report.particles }, { "leaf_files", 1 },
    { "file_bytes", report.file_bytes }, { "data_bytes", report.data_bytes }, { "ranks", 1 },
    { "seconds",
      { { "build", report.seconds_build + report.seconds_encode },
        { "write", report.seconds_write },
        { "total", report.seconds_build + report.seconds_encode + report.seconds_write } } } };
  return json.dump();
}

WriteReport write_leaf(
  io::AtomicFile& file, const ParticleParts& particles, const BuildOptions& options)
{
  write::check_input(particles, options);
  FileOutput output(file, options.flush);
  WriteReport report = run_encoder(particles, options, output);
  report.seconds_write = output.seconds();
  report.seconds_encode -= output.seconds();
  return report;
}

Bytes encode(const ParticleView& particles, const BuildOptions& options, WriteReport* report)
{
  const ParticleParts parts = write::link_repeats(particles, options);
  write::check_input(parts, options);
  MemoryOutput output(parts.row_bytes() * parts.count(),
    options.sorted_indexes.size() * format::IndexLayout(parts.count()).bytes());
  const WriteReport result = run_encoder(parts, options, output);
  if (report)
  {
    *report = result;
  }
  return output.take();
}
}
