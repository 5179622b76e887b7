// Looks at every byte of a file and holds it against FORMAT.md.

#include "bat/validate.hpp"

#include "bat/dataset/dataset_impl.hpp"
#include "bat/dataset/top_writer.hpp"
#include "bat/error.hpp"
#include "bat/file.hpp"
#include "bat/format/checksum.hpp"
#include "bat/format/index_layout.hpp"
#include "bat/format/levels.hpp"
#include "bat/tree/bins.hpp"
#include "bat/tree/file_impl.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace bat
{
namespace
{
using format::corrupt;
using format::SectionKind;

struct Extent
{
  std::uint64_t begin;
  std::uint64_t end;
  std::string what;
};

void check_zero(const io::RandomAccessFile& source, std::uint64_t begin, std::uint64_t end)
{
  std::vector<unsigned char> bytes(std::min<std::uint64_t>(end - begin, 1 << 20));
  while (begin != end)
  {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), end - begin));
    source.read(begin, bytes.data(), count);
    for (std::size_t i = 0; i != count; ++i)
    {
      if (bytes[i] != 0)
      {
        corrupt(source,
          fmt::format("byte {} belongs to no section and is {} instead of 0", begin + i, bytes[i]));
      }
    }
    begin += count;
  }
}

// Nothing overlaps, and what lies between is zero.
void check_layout(const io::RandomAccessFile& source, const format::Header& header,
  const std::vector<format::SectionRecord>& sections)
{
  std::vector<Extent> extents{ { 0, sizeof(header), "the header" },
    { header.section_table_offset,
      header.section_table_offset + sections.size() * sizeof(format::SectionRecord),
      "the section table" } };
  for (const format::SectionRecord& s : sections)
  {
    extents.push_back({ s.offset, s.offset + s.bytes, format::describe(s) });
    if ((s.flags & format::kPaged) != 0)
    {
      extents.push_back(
        { s.checksums_offset,
          s.checksums_offset + format::PageLayout(s.bytes).checksums_bytes(),
          "the page checksums of " + format::describe(s) });
    }
  }
  extents.erase(std::remove_if(
                  extents.begin(), extents.end(), [](const Extent& e) { return e.begin == e.end; }),
    extents.end());
  std::sort(extents.begin(), extents.end(),
    [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i != extents.size(); ++i)
  {
    if (extents[i].begin < extents[i - 1].end)
    {
      corrupt(source,
        fmt::format("{} and {} overlap at offset {}", extents[i - 1].what, extents[i].what,
          extents[i].begin));
    }
    check_zero(source, extents[i - 1].end, extents[i].begin);
  }
  check_zero(source, extents.back().end, header.file_bytes);
}

// Sections that nothing else reads too.
void check_checksums(const io::RandomAccessFile& source,
  const std::vector<format::SectionRecord>& sections, const format::Schema& schema)
{
  for (const format::SectionRecord& s : sections)
  {
    const std::string name = format::describe(s, schema);
    if ((s.flags & format::kPaged) == 0)
    {
      (void)format::read_plain(source, s, name);
      continue;
    }
    format::PagedSection(source, s, 1, name).check();
  }
}

// Unless its kind belongs in a file of this kind, and its number is one that the schema has.
void check_place(const io::RandomAccessFile& source, const format::SectionRecord& s,
  const format::Schema& schema, format::FileKind kind)
{
  const format::SectionKindRow* row = format::find_section_kind(s.kind);
  if (!row || row->kind == SectionKind::ChunkTable)
  {
    return; // of a later version
  }
  if (!format::belongs_in(*row, kind))
  {
    corrupt(source,
      fmt::format("{} is in a {}, where it does not belong", format::describe(s),
        kind == format::FileKind::Top ? "top file" : "leaf file"));
  }
  const std::uint64_t numbers = format::section_numbers(*row, schema);
  if (s.index >= numbers)
  {
    corrupt(source,
      fmt::format("{} has number {}; numbers below {} are allowed", row->name, s.index, numbers));
  }
}

void check_metadata(
  const io::RandomAccessFile& source, const std::vector<format::SectionRecord>& sections)
{
  if (format::find_section(sections, SectionKind::Metadata) &&
    !scan_json_object(format::read_text(source, sections, SectionKind::Metadata)))
  {
    corrupt(source, "METADATA is not a JSON object");
  }
}

class Validator
{
public:
  explicit Validator(const File& file)
    : file_(file)
    , impl_(file.impl())
    , source_(*file.impl().source)
  {
  }

  void run()
  {
    check_layout(this->source_, this->impl_.header, this->impl_.sections);
    for (const format::SectionRecord& section : this->impl_.sections)
    {
      this->check_expected(section);
    }
    check_checksums(this->source_, this->impl_.sections, this->impl_.schema);
    check_metadata(this->source_, this->impl_.sections);
    (void)this->impl_.spatial_index(); // counts agree before they are used
    this->find_file_positions();
    this->check_positions();
    for (std::uint32_t k = 0; k != this->impl_.schema.head.attribute_count; ++k)
    {
      this->check_attribute(k);
    }
  }

private:
  void check_expected(const format::SectionRecord& s) const
  {
    const format::Schema& schema = this->impl_.schema;
    check_place(this->source_, s, schema, format::FileKind::Leaf);
    const auto kind = static_cast<SectionKind>(s.kind);
    const bool is_of_bitmaps =
      kind == SectionKind::BlockBitmaps || kind == SectionKind::BitmapDictionary;
    if (is_of_bitmaps && !format::shape_of(kind, s.index, schema, this->file_.particle_count()))
    {
      corrupt(this->source_,
        fmt::format("{} should not be there: bitmaps of the key have {} bytes",
          format::describe(s, schema), schema.keys[s.index].bitmap_bytes));
    }
  }

  void find_file_positions()
  {
    const LevelTable& levels = this->impl_.schema.levels;
    this->file_positions_.resize(this->file_.particle_count());
    tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, this->file_positions_.size(), 4096),
      [&](const auto& ordinals)
      {
        for (std::uint64_t ordinal = ordinals.begin(); ordinal != ordinals.end(); ++ordinal)
        {
          for_each_run(levels, ordinal, ordinal + 1,
            [&](std::size_t, std::uint64_t at, std::uint64_t, std::uint64_t count)
            {
              if (count == 1)
              {
                this->file_positions_[ordinal] = static_cast<std::uint32_t>(at);
              }
            });
        }
      });
  }

  template <class T>
  std::vector<T> read_column(SectionKind kind, std::uint32_t index, std::size_t components) const
  {
    format::PageReader reader(this->impl_.paged(kind, index));
    std::vector<T> column(this->file_.particle_count() * components);
    const Span all{ 0, this->file_.particle_count() };
    reader.gather(&all, 1, reinterpret_cast<std::byte*>(column.data()));
    return column;
  }

  // visit(t, ordinal offset in the treelet, first value of the particle) for all particles, treelet
  // by treelet; begin(t) and end(t) around them.
  template <class T, class Begin, class Visit, class End>
  void for_each_particle(const std::vector<T>& column, std::size_t components, const Begin& begin,
    const Visit& visit, const End& end) const
  {
    const SpatialIndex& spatial = this->impl_.spatial_index();
    for (std::size_t t = 0; t != spatial.treelets.size(); ++t)
    {
      begin(t);
      const std::uint64_t first = spatial.first_ordinal[t];
      for (std::uint64_t i = 0; i != spatial.treelets[t].count; ++i)
      {
        visit(t, i, &column[this->file_positions_[first + i] * components]);
      }
      end(t);
    }
  }

  void check_positions() const
  {
    dispatch(this->file_.position_type(),
      [&](auto value)
      {
        using T = decltype(value);
        if constexpr (std::is_floating_point_v<T>)
        {
          this->check_positions_of<T>();
        }
      });
  }

  template <class T>
  void check_positions_of() const
  {
    const SpatialIndex& spatial = this->impl_.spatial_index();
    const std::uint32_t size = this->impl_.schema.head.block_particles;
    std::vector<format::BlockBoxRecord> boxes(this->file_.block_count());
    const Span all{ 0, boxes.size() };
    format::PageReader reader(this->impl_.paged(SectionKind::BlockBoxes));
    reader.gather(&all, 1, reinterpret_cast<std::byte*>(boxes.data()));

    this->check_flagged_block_boxes(boxes);
    constexpr double inf = std::numeric_limits<double>::infinity();
    const Box nothing{ { inf, inf, inf }, { -inf, -inf, -inf } };
    Box bounds = nothing;
    Box tight = nothing;
    const auto is_flagged = [&](std::size_t t)
    { return (spatial.treelets[t].flags & format::kNonFinite) != 0; };
    const std::vector<T> column = this->read_column<T>(SectionKind::Positions, 0, 3);
    this->for_each_particle(
      column, 3, [&](std::size_t) { tight = nothing; },
      [&](std::size_t t, std::uint64_t i, const T* p)
      {
        if (!std::isfinite(p[0]) || !std::isfinite(p[1]) || !std::isfinite(p[2]))
        {
          if (!is_flagged(t))
          {
            corrupt(this->source_,
              fmt::format("treelet {} has a particle that is not finite but is not marked so", t));
          }
          return;
        }
        const format::NodeRecord& node = spatial.nodes[spatial.leaf_nodes[t]];
        const std::uint64_t block = spatial.first_block[t] + i / size;
        for (std::size_t axis = 0; axis != 3; ++axis)
        {
          const auto x = static_cast<double>(p[axis]);
          const double a = node.lower[axis];
          const double b = node.upper[axis];
          tight.lower[axis] = std::min(tight.lower[axis], x);
          tight.upper[axis] = std::max(tight.upper[axis], x);
          if (!is_flagged(t) &&
            (x < format::block_coordinate(a, b, boxes[block].lower[axis]) ||
              x > format::block_coordinate(a, b, boxes[block].upper[axis])))
          {
            corrupt(
              this->source_, fmt::format("block {} has a particle outside of its box", block));
          }
        }
      },
      [&](std::size_t t)
      {
        const format::NodeRecord& node = spatial.nodes[spatial.leaf_nodes[t]];
        for (std::size_t axis = 0; axis != 3; ++axis)
        {
          bounds.lower[axis] = std::min(bounds.lower[axis], tight.lower[axis]);
          bounds.upper[axis] = std::max(bounds.upper[axis], tight.upper[axis]);
          if (!is_flagged(t) &&
            (tight.lower[axis] != node.lower[axis] || tight.upper[axis] != node.upper[axis]))
          {
            corrupt(this->source_, fmt::format("treelet {} does not fill its box", t));
          }
        }
      });
    const format::SchemaHead& head = this->impl_.schema.head;
    if (!std::equal(head.lower, head.lower + 3, bounds.lower.begin()) ||
      !std::equal(head.upper, head.upper + 3, bounds.upper.begin()))
    {
      corrupt(this->source_, "SCHEMA: the bounds are not those of the particles");
    }
    this->check_node_boxes();
    if (format::find_section(this->impl_.sections, SectionKind::Aliases))
    {
      this->check_position_keys(column);
    }
  }

  template <class T>
  void check_position_keys(const std::vector<T>& column) const
  {
    for (std::size_t k = 0; k != format::kPositionKeys; ++k)
    {
      double minimum = std::numeric_limits<double>::infinity();
      double maximum = -minimum;
      bool has_nan = false;
      for (std::size_t i = 0; i != column.size(); i += 3)
      {
        const double v = k == 3 ? magnitude(&column[i], 3) : static_cast<double>(column[i + k]);
        minimum = v < minimum ? v : minimum;
        maximum = v > maximum ? v : maximum;
        has_nan = has_nan || std::isnan(v);
      }
      const format::LeafKeyRecord& record = this->impl_.schema.position_keys[k];
      if (from_bits<double>(record.minimum) != minimum ||
        from_bits<double>(record.maximum) != maximum ||
        ((record.flags & format::kHasNaN) != 0) != has_nan)
      {
        corrupt(this->source_,
          fmt::format(
            "ALIASES: minimum, maximum or NaN mark of key {} of the positions is not that "
            "of its values",
            k));
      }
    }
  }

  // Those that say nothing have one way to say it.
  void check_flagged_block_boxes(const std::vector<format::BlockBoxRecord>& boxes) const
  {
    const SpatialIndex& spatial = this->impl_.spatial_index();
    for (std::size_t t = 0; t != spatial.treelets.size(); ++t)
    {
      if ((spatial.treelets[t].flags & format::kNonFinite) == 0)
      {
        continue;
      }
      for (std::uint64_t b = spatial.first_block[t]; b != spatial.first_block[t + 1]; ++b)
      {
        for (std::size_t axis = 0; axis != 3; ++axis)
        {
          if (boxes[b].lower[axis] != 0 || boxes[b].upper[axis] != 255)
          {
            corrupt(this->source_,
              fmt::format("BLOCK_BOXES: block {} of treelet {}, which may hold particles that are "
                          "not finite, has {} to {} on the {} axis; 0 to 255 are needed",
                b, t, boxes[b].lower[axis], boxes[b].upper[axis], "xyz"[axis]));
          }
        }
      }
    }
  }

  void check_node_boxes() const
  {
    const std::vector<format::NodeRecord>& nodes = this->impl_.spatial_index().nodes;
    for (std::size_t i = 0; i != nodes.size(); ++i)
    {
      if (nodes[i].skip == i + 1)
      {
        continue;
      }
      const format::NodeRecord& left = nodes[i + 1];
      const format::NodeRecord& right = nodes[left.skip];
      for (int axis = 0; axis != 3; ++axis)
      {
        if (nodes[i].lower[axis] != std::min(left.lower[axis], right.lower[axis]) ||
          nodes[i].upper[axis] != std::max(left.upper[axis], right.upper[axis]))
        {
          corrupt(this->source_,
            fmt::format("SHALLOW_TREE: the box of node {} is not that of its children", i));
        }
      }
    }
  }

  void check_attribute(std::uint32_t k) const
  {
    const Attribute& attribute = this->file_.attributes()[k];
    const auto components = static_cast<std::size_t>(attribute.components);
    dispatch(attribute.type,
      [&](auto value)
      {
        using T = decltype(value);
        const std::vector<T> column = this->read_column<T>(SectionKind::Attribute, k, components);
        for (std::size_t c = 0; c != attribute.keys.size(); ++c)
        {
          const std::size_t key = this->impl_.schema.first_keys[k] + c;
          if (c == components)
          {
            this->check_key<double>(key, column, components,
              [components](const T* tuple) { return magnitude(tuple, components); });
          }
          else
          {
            using V = ClassOf<T>;
            this->check_key<V>(
              key, column, components, [c](const T* tuple) { return static_cast<V>(tuple[c]); });
          }
        }
      });
  }

  std::vector<std::uint32_t> block_bitmaps(std::size_t k) const
  {
    const format::KeyRecord& record = this->impl_.schema.keys[k];
    std::vector<std::uint32_t> bitmaps;
    if (record.bitmap_bytes == 0)
    {
      return bitmaps;
    }
    const std::uint64_t blocks = this->file_.block_count();
    std::vector<unsigned char> bytes(blocks * record.bitmap_bytes);
    const Span all{ 0, blocks };
    format::PageReader reader(
      this->impl_.paged(SectionKind::BlockBitmaps, static_cast<std::uint32_t>(k)));
    reader.gather(&all, 1, reinterpret_cast<std::byte*>(bytes.data()));
    const KeyIndex& index = this->impl_.key_index(k);
    for (std::uint64_t b = 0; b != blocks; ++b)
    {
      std::uint32_t number = 0;
      std::memcpy(&number, &bytes[b * record.bitmap_bytes], record.bitmap_bytes);
      if (record.bitmap_bytes == 4)
      {
        bitmaps.push_back(number);
        continue;
      }
      if (number >= index.dictionary.size())
      {
        corrupt(this->source_,
          fmt::format("BLOCK_BITMAPS {}: block {} has number {} of a dictionary of {}", k, b,
            number, index.dictionary.size()));
      }
      bitmaps.push_back(index.dictionary[number]);
    }
    return bitmaps;
  }

  template <class V, class T, class Value>
  void check_key(std::size_t k, const std::vector<T>& column, std::size_t components,
    const Value& value_of) const
  {
    constexpr bool has_infinity = std::numeric_limits<V>::has_infinity;
    constexpr V above =
      has_infinity ? std::numeric_limits<V>::infinity() : std::numeric_limits<V>::max();
    constexpr V below =
      has_infinity ? -std::numeric_limits<V>::infinity() : std::numeric_limits<V>::lowest();
    const SpatialIndex& spatial = this->impl_.spatial_index();
    const KeyIndex& index = this->impl_.key_index(k);
    const std::uint32_t size = this->impl_.schema.head.block_particles;
    const std::vector<std::uint32_t> bitmaps = this->block_bitmaps(k);
    std::vector<V> edges;
    for (const std::uint64_t bits : index.edges)
    {
      edges.push_back(from_bits<V>(bits));
    }
    const auto bad = [&](std::size_t t, const char* what)
    { corrupt(this->source_, fmt::format("TREELET_KEYS {}: treelet {} has {}", k, t, what)); };
    V minimum = above;
    V maximum = below;
    bool nan = false;
    V lowest = above;
    V highest = below;
    bool has_nan = false;
    std::uint32_t needed = 0;
    this->for_each_particle(
      column, components,
      [&](std::size_t)
      {
        lowest = above;
        highest = below;
        has_nan = false;
        needed = 0;
      },
      [&](std::size_t t, std::uint64_t i, const T* tuple)
      {
        const V v = value_of(tuple);
        if (!(v == v))
        {
          has_nan = true;
          return;
        }
        lowest = std::min(lowest, v);
        highest = std::max(highest, v);
        const format::TreeletKeyRecord& record = index.treelets[t];
        const std::uint32_t bin = bin_of(edges, v);
        if (bin < record.first_bin || bin > record.last_bin)
        {
          bad(t, "a value outside of its bins");
        }
        const std::uint32_t bit = std::uint32_t{ 1 }
          << bit_of_bin(bin, record.first_bin, record.last_bin);
        needed |= bit;
        const std::uint64_t block = spatial.first_block[t] + i / size;
        if (!bitmaps.empty() && (bitmaps[block] & bit) == 0)
        {
          corrupt(this->source_,
            fmt::format("BLOCK_BITMAPS {}: the bitmap of block {} lacks bit {:#x}", k, block, bit));
        }
      },
      [&](std::size_t t)
      {
        const format::TreeletKeyRecord& record = index.treelets[t];
        if (from_bits<V>(record.minimum) != lowest || from_bits<V>(record.maximum) != highest)
        {
          bad(t, "another minimum or maximum than its values");
        }
        if (((record.flags & format::kHasNaN) != 0) != has_nan)
        {
          bad(t, "a wrong mark for NaN");
        }
        if (lowest <= highest
            ? record.first_bin != bin_of(edges, lowest) || record.last_bin != bin_of(edges, highest)
            : record.first_bin != 0 || record.last_bin != 0 || record.bitmap != 0)
        {
          bad(t, "other bins than its minimum and maximum");
        }
        if (!bitmaps.empty())
        {
          needed = 0;
          for (std::uint64_t b = spatial.first_block[t]; b != spatial.first_block[t + 1]; ++b)
          {
            needed |= bitmaps[b];
          }
        }
        if (record.bitmap != needed)
        {
          bad(t, "another bitmap than that of its blocks");
        }
        minimum = std::min(minimum, lowest);
        maximum = std::max(maximum, highest);
        nan = nan || has_nan;
      });
    const format::KeyRecord& record = this->impl_.schema.keys[k];
    if (from_bits<V>(record.minimum) != minimum || from_bits<V>(record.maximum) != maximum ||
      ((record.flags & format::kHasNaN) != 0) != nan)
    {
      corrupt(this->source_,
        fmt::format("SCHEMA: minimum, maximum or NaN mark of key {} is not that of its values", k));
    }
    if (this->impl_.has_sorted_index(k))
    {
      this->check_sorted_index<V>(k, column, components, value_of);
    }
  }

  // That each entry has its particle's value and comes after the one before it: with as many
  // entries as particles, each particle is then there once.
  template <class V, class T, class Value>
  void check_sorted_index(std::size_t k, const std::vector<T>& column, std::size_t components,
    const Value& value_of) const
  {
    const std::uint64_t n = this->file_.particle_count();
    const auto bad = [&](const std::string& what)
    { corrupt(this->source_, fmt::format("SORTED_INDEX {}: {}", k, what)); };
    const format::IndexLayout layout(n);
    std::vector<std::byte> bytes(layout.bytes());
    const Span all{ 0, bytes.size() };
    format::PageReader reader(
      this->impl_.paged(SectionKind::SortedIndex, static_cast<std::uint32_t>(k)));
    reader.gather(&all, 1, bytes.data());
    const auto value_at = [&](std::uint64_t offset)
    {
      V value;
      std::memcpy(&value, &bytes[offset], sizeof(value));
      return value;
    };
    const auto expect_zero = [&](std::uint64_t begin, std::uint64_t end)
    {
      if (std::any_of(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
            bytes.begin() + static_cast<std::ptrdiff_t>(end),
            [](std::byte b) { return b != std::byte{ 0 }; }))
      {
        bad(fmt::format("bytes {} to {} are not zero", begin, end));
      }
    };
    const auto same = [](V a, V b) { return a == b || (!(a == a) && !(b == b)); };
    for (std::size_t level = 0; level + 1 < layout.level_count(); ++level)
    {
      const std::uint64_t begin = layout.page_offset(level, 0);
      const std::uint64_t pages = layout.page_count(level + 1);
      for (std::uint64_t p = 0; p != pages; ++p)
      {
        if (!same(value_at(begin + p * sizeof(V)), value_at(layout.page_offset(level + 1, p))))
        {
          bad(fmt::format("value {} of level {} is not the first of its page", p, level));
        }
      }
      expect_zero(begin + pages * sizeof(V), layout.page_offset(level + 1, 0));
    }
    V last{};
    std::uint32_t last_position = 0;
    for (std::uint64_t i = 0; i != n; ++i)
    {
      const std::uint64_t at = layout.entry_offset(i);
      const V value = value_at(at);
      std::uint32_t position;
      std::memcpy(&position, &bytes[at + offsetof(format::IndexEntry, position)], sizeof(position));
      if (position >= n || !same(value, value_of(&column[position * components])))
      {
        bad(fmt::format("entry {} is not that of the particle at file position {}", i, position));
      }
      // NaN stands last: nothing but NaN comes after it.
      const bool ascending =
        same(last, value) ? last_position < position : last < value || !(value == value);
      if (i != 0 && !ascending)
      {
        bad(fmt::format("entry {} is not in ascending order", i));
      }
      last = value;
      last_position = position;
      if (i + 1 != n)
      {
        expect_zero(at + sizeof(format::IndexEntry), layout.entry_offset(i + 1));
      }
    }
  }

  const File& file_;
  const File::Impl& impl_;
  const io::RandomAccessFile& source_;
  std::vector<std::uint32_t> file_positions_; ///< of each ordinal
};
}

void validate(const File& file)
{
  Validator(file).run();
}

namespace
{
// What one file says of its keys and box, and another must say as well.
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

}

void validate_top(const TopFile& top)
{
  const io::RandomAccessFile& source = *top.source;
  check_layout(source, top.header, top.sections);
  for (const format::SectionRecord& s : top.sections)
  {
    check_place(source, s, top.schema, format::FileKind::Top);
  }
  check_checksums(source, top.sections, top.schema);
  check_metadata(source, top.sections);
  const format::LeafFiles& files = top.leaf_files();

  // The parts that follow from the leaf files' records.
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
      corrupt(source,
        fmt::format(
          "SCHEMA: minimum, maximum or NaN mark of key {} is not that of the leaf files", k));
    }
  }
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
      corrupt(source, "SCHEMA: the bounds are not those of the leaf files");
    }
  }
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
        corrupt(source, fmt::format("AGGREGATION_TREE: the box of node {} is not tight", i));
      }
    }
  }
}

namespace
{
// A leaf file against what the top file says of it.
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
      fmt::format("LEAF_FILES: the record of leaf file {} is not that of {}", i, path.string()));
  }
  return entry;
}
}

namespace
{
// The keys of positions, which a top file merges and does not list leaf by leaf.
void validate_position_keys(const TopFile& top, const std::vector<LeafEntry>& leaves)
{
  const auto merged = merge_position_keys(leaves);
  for (std::size_t k = 0; k != format::kPositionKeys; ++k)
  {
    if (!same_keys(merged[k], top.schema.position_keys[k], ValueClass::Float))
    {
      corrupt(*top.source,
        fmt::format("ALIASES: minimum, maximum or NaN mark of key {} of the positions is not that "
                    "of the leaf files",
          k));
    }
  }
}
}

void validate(const Dataset& dataset)
{
  const Dataset::Impl& impl = dataset.impl();
  if (impl.top)
  {
    validate_top(*impl.top);
  }
  std::vector<LeafEntry> leaves;
  for (std::size_t i = 0; i != impl.leaves().size(); ++i)
  {
    impl.leaf(i).validate();
    if (impl.top)
    {
      leaves.push_back(validate_entry(*impl.top, i, impl.leaves()[i].path));
    }
  }
  if (impl.top)
  {
    validate_position_keys(*impl.top, leaves);
  }
}

void validate(const std::filesystem::path& path)
{
  validate(Dataset::open(path));
}
}
