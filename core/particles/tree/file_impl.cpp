// SPDX-License-Identifier: BSD-3-Clause
#include "particles/tree/file_impl.hpp"

#include "particles/format/hdf5_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <type_traits>

namespace bat
{
using format::SectionKind;

std::uint64_t bytes_per_particle(
  ScalarType positions, const std::vector<Attribute>& attributes) noexcept
{
  std::uint64_t bytes = tuple_bytes(positions, 3);
  for (const Attribute& attribute : attributes)
  {
    bytes += attribute.alias ? 0 : tuple_bytes(attribute.type, attribute.components);
  }
  return bytes;
}

File::Impl::Impl(std::unique_ptr<io::RandomAccessFile> opened)
  : source(std::move(opened))
  , header(format::read_header(*this->source))
  , sections(format::read_sections(*this->source, this->header))
  , schema(format::read_schema(*this->source, this->header, this->sections))
  , keys_(std::make_unique<LazyKey[]>(this->schema.keys.size()))
{
  for (const format::SectionRecord& section : this->sections)
  {
    const std::string name = format::describe(section, this->schema);
    const std::uint64_t particles = this->header.particle_count;
    const auto kind = static_cast<SectionKind>(section.kind);
    std::unique_ptr<format::PagedSection> paged;
    std::unique_ptr<format::ColumnSection> column;
    if (const auto type = format::element_type(kind, section.index, this->schema))
    {
      column = std::make_unique<format::ColumnSection>(*this->source, section,
        format::has_chunks(section) ? format::find_section(this->sections, SectionKind::ChunkTable,
                                        format::column_number(kind, section.index))
                                    : nullptr,
        *type, particles, name);
    }
    else if ((section.flags & format::kPaged) != 0)
    {
      paged = std::make_unique<format::PagedSection>(*this->source, section,
        format::shape_of(section, this->schema, particles).element_bytes, name);
    }
    this->paged_.push_back(std::move(paged));
    this->columns_.push_back(std::move(column));
  }
}

std::size_t File::Impl::number_of(SectionKind kind, std::uint32_t index) const
{
  return static_cast<std::size_t>(
    format::find_section(this->sections, kind, index) - this->sections.data());
}

const format::PagedSection& File::Impl::paged(SectionKind kind, std::uint32_t index) const
{
  return *this->paged_[this->number_of(kind, index)];
}

const format::ColumnSection& File::Impl::column(SectionKind kind, std::uint32_t index) const
{
  return *this->columns_[this->number_of(kind, index)];
}

ViewState File::Impl::hdf5_view() const
{
  const format::LeafViewFacts facts =
    format::leaf_view_facts(this->header, this->sections, this->schema, {});
  ViewState view;
  view.reason = format::reason_against_view(facts);
  view.exists = view.reason.empty() &&
    format::find_section(this->sections, SectionKind::Hdf5Objects) != nullptr;
  if (view.exists)
  {
    view.attribute_reasons = format::reasons_against_attributes(facts);
  }
  return view;
}

bool File::Impl::has_sorted_index(std::size_t key) const
{
  return format::find_section(
           this->sections, SectionKind::SortedIndex, static_cast<std::uint32_t>(key)) != nullptr;
}

void File::Impl::prefetch_remote(
  const std::vector<std::pair<SectionKind, std::uint32_t>>& requested) const
{
  if (!this->source->is_remote())
  {
    return;
  }
  std::vector<io::ByteRange> ranges;
  for (const auto& [kind, index] : requested)
  {
    if (const format::SectionRecord* section = format::find_section(this->sections, kind, index))
    {
      ranges.push_back({ section->offset, section->bytes });
    }
  }
  this->source->prefetch(ranges);
}

const SpatialIndex& File::Impl::spatial_index() const
{
  std::call_once(this->spatial_loaded_, [this] { this->load_spatial_index(); });
  return this->spatial_;
}

void File::Impl::load_spatial_index() const
{
  const io::RandomAccessFile& file = *this->source;
  this->prefetch_remote({ { SectionKind::ShallowTree, 0 }, { SectionKind::Treelets, 0 },
    { SectionKind::TreeletLevels, 0 } });
  SpatialIndex index;
  index.nodes = format::read_records<format::NodeRecord>(
    file, *format::find_section(this->sections, SectionKind::ShallowTree));
  index.treelets = format::read_records<format::TreeletRecord>(
    file, *format::find_section(this->sections, SectionKind::Treelets));
  std::uint64_t ordinal = 0;
  std::uint64_t block = 0;
  for (std::size_t t = 0; t != index.treelets.size(); ++t)
  {
    const format::TreeletRecord& treelet = index.treelets[t];
    if (treelet.count == 0 || (treelet.flags & ~format::kNonFinite) != 0)
    {
      const std::string record = fmt::format("TREELETS: treelet {}", t);
      format::check_field(file, treelet.count != 0, record, "count", "0", "1 or more");
      format::check_field(file, false, record, "flags", std::to_string(treelet.flags), "0 or 1");
    }
    index.first_ordinal.push_back(ordinal);
    index.first_block.push_back(block);
    ordinal += treelet.count;
    block += (treelet.count + std::uint64_t{ this->schema.head.block_particles } - 1) /
      this->schema.head.block_particles;
  }
  index.first_ordinal.push_back(ordinal);
  index.first_block.push_back(block);
  if (ordinal != this->header.particle_count || block != this->schema.head.block_count)
  {
    format::corrupt(file,
      fmt::format("TREELETS add up to {} particles and {} blocks; expected {} and {}", ordinal,
        block, this->header.particle_count, this->schema.head.block_count));
  }
  std::vector<bool> non_finite;
  for (const format::TreeletRecord& treelet : index.treelets)
  {
    non_finite.push_back((treelet.flags & format::kNonFinite) != 0);
  }
  index.leaf_nodes = format::check_tree(file, "SHALLOW_TREE", index.nodes, non_finite);
  if (!this->schema.sample_ids.empty())
  {
    index.in_levels = this->load_treelet_levels(index);
  }
  this->spatial_ = std::move(index);
}

std::vector<std::uint32_t> File::Impl::load_treelet_levels(const SpatialIndex& index) const
{
  const io::RandomAccessFile& file = *this->source;
  const auto counts = format::read_records<std::uint32_t>(
    file, *format::find_section(this->sections, SectionKind::TreeletLevels));
  const LevelTable& levels = this->schema.levels;
  const std::size_t step = levels.size();
  std::vector<std::uint64_t> before(step);
  std::vector<std::uint32_t> all;
  all.reserve(counts.size() + step);
  for (std::size_t t = 0; t != index.treelets.size() + 1; ++t)
  {
    all.insert(all.end(), before.begin(), before.end());
    if (t == index.treelets.size())
    {
      break;
    }
    std::uint64_t sum = 0;
    for (std::size_t level = 0; level != step; ++level)
    {
      sum += counts[t * step + level];
      before[level] += counts[t * step + level];
    }
    if (sum != index.treelets[t].count)
    {
      format::corrupt(file,
        fmt::format("TREELET_LEVELS: treelet {} has {} particles in all levels; expected {}", t,
          sum, index.treelets[t].count));
    }
  }
  for (std::size_t level = 0; level != step; ++level)
  {
    const std::uint64_t needed = levels.end[level] - levels.begin(level);
    if (before[level] != needed)
    {
      format::corrupt(file,
        fmt::format("TREELET_LEVELS: level {} has {} particles in all treelets; expected {}", level,
          before[level], needed));
    }
  }
  return all;
}

namespace
{
template <class V>
void check_edges(const io::RandomAccessFile& file, const KeyIndex& index, std::size_t k)
{
  for (std::size_t i = 0; i != index.edges.size(); ++i)
  {
    const V edge = from_bits<V>(index.edges[i]);
    // Also false for NaN.
    if (!(edge == edge) || (i != 0 && !(from_bits<V>(index.edges[i - 1]) < edge)))
    {
      format::corrupt(file, fmt::format("BIN_EDGES {}: edge {} is not ascending", k, i));
    }
  }
}

template <class V>
void check_treelet_keys(
  const io::RandomAccessFile& file, const KeyIndex& index, std::size_t k, std::uint32_t bin_count)
{
  for (std::size_t t = 0; t != index.treelets.size(); ++t)
  {
    const format::TreeletKeyRecord& treelet = index.treelets[t];
    const V minimum = from_bits<V>(treelet.minimum);
    const V maximum = from_bits<V>(treelet.maximum);
    const auto check = [&](bool good, const char* field, auto found, const std::string& allowed)
    {
      if (!good)
      {
        format::check_field(file, false, fmt::format("TREELET_KEYS {}: treelet {}", k, t), field,
          std::to_string(found), allowed);
      }
    };
    check(minimum == minimum, "minimum", minimum, "a number");
    check(maximum == maximum, "maximum", maximum, "a number");
    check(treelet.first_bin <= treelet.last_bin, "first_bin", treelet.first_bin,
      fmt::format("0 to last_bin, which is {}", treelet.last_bin));
    check(treelet.last_bin < bin_count, "last_bin", treelet.last_bin,
      fmt::format("0 to {}", bin_count - 1));
    check((treelet.flags & ~format::kHasNaN) == 0, "flags", treelet.flags, "0 or 1");
    check(treelet.reserved == 0, "reserved", treelet.reserved, "0");
  }
}
}

const KeyIndex& File::Impl::key_index(std::size_t key) const
{
  LazyKey& lazy = this->keys_[key];
  std::call_once(lazy.loaded, [&] { lazy.index = this->load_key_index(key); });
  return lazy.index;
}

KeyIndex File::Impl::load_key_index(std::size_t k) const
{
  const io::RandomAccessFile& file = *this->source;
  const auto key = static_cast<std::uint32_t>(k);
  const format::KeyRecord& record = this->schema.keys[k];
  KeyIndex index;
  const auto read = [&](auto& records, SectionKind kind)
  {
    using Record = typename std::decay_t<decltype(records)>::value_type;
    const format::SectionRecord& section = *format::find_section(this->sections, kind, key);
    records = format::read_records<Record>(file, section, format::describe(section, this->schema));
  };
  read(index.edges, SectionKind::BinEdges);
  read(index.treelets, SectionKind::TreeletKeys);
  if (record.bitmap_bytes == 1 || record.bitmap_bytes == 2)
  {
    read(index.dictionary, SectionKind::BitmapDictionary);
    if (std::adjacent_find(index.dictionary.begin(), index.dictionary.end(),
          std::greater_equal<>()) != index.dictionary.end())
    {
      format::corrupt(file, fmt::format("BITMAP_DICTIONARY {} is not in ascending order", k));
    }
  }
  dispatch(this->schema.key_class(k),
    [&](auto value)
    {
      using V = decltype(value);
      check_edges<V>(file, index, k);
      check_treelet_keys<V>(file, index, k, record.bin_count);
    });
  return index;
}
}
