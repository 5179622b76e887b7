// SPDX-License-Identifier: BSD-3-Clause
#include "particles/dataset/top_writer.hpp"

#include "common/numbers.hpp"
#include "common/round_up.hpp"
#include "particles/format/encode.hpp"
#include "particles/format/encode_parts.hpp"
#include "particles/format/hdf5.hpp"
#include "particles/format/hdf5_view.hpp"
#include "particles/tree/bounds.hpp"
#include "particles/tree/file_impl.hpp"
#include "particles/write/shallow_tree.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

namespace bat
{
namespace
{
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Box box_of(const format::LeafRecord& leaf)
{
  Box box;
  const bool everything = (leaf.flags & format::kNonFinite) != 0;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    box.lower[axis] = everything ? -kInfinity : leaf.lower[axis];
    box.upper[axis] = everything ? kInfinity : leaf.upper[axis];
  }
  return box;
}

format::LeafFiles files_of(const std::vector<LeafEntry>& leaves)
{
  format::LeafFiles files;
  for (const LeafEntry& leaf : leaves)
  {
    files.leaves.push_back(leaf.record);
    files.keys.insert(files.keys.end(), leaf.keys.begin(), leaf.keys.end());
    files.names.push_back(leaf.name);
  }
  return files;
}

/// The boxes of the leaf files, and the box and particles of the dataset.
struct Extents
{
  Box bounds = empty_box();
  std::vector<Box> boxes;
  std::uint64_t particles = 0;
};

Extents collect_extents(const std::vector<LeafEntry>& leaves)
{
  Extents extents;
  for (const LeafEntry& leaf : leaves)
  {
    extents.particles += leaf.record.particles;
    extents.boxes.push_back(box_of(leaf.record));
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      extents.bounds.lower[axis] = std::min(extents.bounds.lower[axis], leaf.record.lower[axis]);
      extents.bounds.upper[axis] = std::max(extents.bounds.upper[axis], leaf.record.upper[axis]);
    }
  }
  return extents;
}

/// The bytes of a top file, section by section.
class TopSections
{
public:
  /// Leaves the place of HDF5_SUPERBLOCK free if asked to.
  explicit TopSections(bool reserve_hdf5_view)
    : bytes_(reserve_hdf5_view ? format::kSuperblockOffset + format::hdf5::kSuperblockBytes
                               : sizeof(format::Header))
  {
  }

  void add(format::SectionKind kind, const void* data, std::size_t size)
  {
    this->align();
    this->sections_.push_back(format::plain_section(kind, 0, this->bytes_.size(), data, size));
    format::append(this->bytes_, data, size);
  }

  /// The offset of the section added last.
  [[nodiscard]] std::uint64_t last_offset() const { return this->sections_.back().offset; }
  /// The offset of the section added next.
  [[nodiscard]] std::uint64_t next_offset()
  {
    this->align();
    return this->bytes_.size();
  }

  /// Adds the HDF5 view; no section may follow.
  void add_hdf5_view(const format::Hdf5Objects& objects)
  {
    this->add(format::SectionKind::Hdf5Objects, objects.bytes.data(), objects.bytes.size());
    const std::vector<std::byte> superblock = format::hdf5_superblock(
      objects, this->next_offset() + (this->sections_.size() + 1) * sizeof(format::SectionRecord));
    this->sections_.push_back(format::plain_section(format::SectionKind::Hdf5Superblock, 0,
      format::kSuperblockOffset, superblock.data(), superblock.size()));
    std::copy(superblock.begin(), superblock.end(),
      this->bytes_.begin() + static_cast<std::ptrdiff_t>(format::kSuperblockOffset));
  }

  /// Adds the table and the header.
  std::vector<std::byte> finish(std::uint64_t particles, std::uint64_t features,
    std::optional<double> time, std::optional<std::int64_t> step)
  {
    const format::Header header =
      format::finish_header(this->sections_, this->next_offset(), particles, features, time, step);
    format::append(
      this->bytes_, this->sections_.data(), this->sections_.size() * sizeof(format::SectionRecord));
    std::memcpy(this->bytes_.data(), &header, sizeof(header));
    return std::move(this->bytes_);
  }

private:
  void align() { this->bytes_.resize(round_up(this->bytes_.size(), 8)); }

  std::vector<std::byte> bytes_;
  std::vector<format::SectionRecord> sections_;
};

// Returns LeafEntry::in_view.
std::optional<std::vector<std::uint8_t>> shown_in_view(const File::Impl& file)
{
  const ViewState view = file.hdf5_view();
  if (!view.exists)
  {
    return std::nullopt;
  }
  std::vector<std::uint8_t> shown;
  for (const std::string& reason : view.attribute_reasons)
  {
    shown.push_back(reason.empty() ? 1 : 0);
  }
  return shown;
}

// Key records of the dataset: extremes over the leaf files.
std::vector<format::KeyRecord> merge_keys(const TopContents& contents)
{
  std::vector<format::KeyRecord> keys;
  for (std::size_t a = 0; a != contents.attributes.size(); ++a)
  {
    const Attribute& attribute = contents.attributes[a];
    if (attribute.alias)
    {
      break; // the remaining ones are aliases too
    }
    const auto count = static_cast<int>(format::key_count(attribute.components));
    for (int c = 0; c != count; ++c)
    {
      format::KeyRecord record{};
      record.attribute = static_cast<std::uint32_t>(a);
      record.component = static_cast<std::int16_t>(c == attribute.components ? -1 : c);
      record.bin_count = 1;
      const std::size_t k = keys.size();
      const ValueClass type =
        record.component < 0 ? ValueClass::Float : value_class(attribute.type);
      dispatch(type,
        [&](auto value)
        {
          using V = decltype(value);
          auto minimum = from_bits<V>(contents.leaves[0].keys[k].minimum);
          auto maximum = from_bits<V>(contents.leaves[0].keys[k].maximum);
          for (const LeafEntry& leaf : contents.leaves)
          {
            minimum = std::min(minimum, from_bits<V>(leaf.keys[k].minimum));
            maximum = std::max(maximum, from_bits<V>(leaf.keys[k].maximum));
            record.flags |= static_cast<std::uint8_t>(leaf.keys[k].flags);
          }
          record.minimum = to_bits(minimum);
          record.maximum = to_bits(maximum);
        });
      keys.push_back(record);
    }
  }
  return keys;
}
}

std::array<format::LeafKeyRecord, format::kPositionKeys> merge_position_keys(
  const std::vector<LeafEntry>& leaves)
{
  auto merged = leaves[0].position_keys;
  for (const LeafEntry& leaf : leaves)
  {
    for (std::size_t k = 0; k != format::kPositionKeys; ++k)
    {
      const format::LeafKeyRecord& key = leaf.position_keys[k];
      merged[k].minimum =
        to_bits(std::min(from_bits<double>(merged[k].minimum), from_bits<double>(key.minimum)));
      merged[k].maximum =
        to_bits(std::max(from_bits<double>(merged[k].maximum), from_bits<double>(key.maximum)));
      merged[k].flags |= key.flags;
    }
  }
  return merged;
}

bool add_leaves_to_view(format::TopViewFacts& facts, const std::vector<LeafEntry>& leaves)
{
  std::vector<std::uint8_t> shown(facts.attributes.size(), 1);
  for (const LeafEntry& leaf : leaves)
  {
    if (!leaf.in_view || leaf.in_view->size() != shown.size())
    {
      return false;
    }
    facts.leaf_names.push_back(leaf.name);
    facts.particles.push_back(leaf.record.particles);
    facts.leaf_bytes += leaf.record.file_bytes;
    std::transform(shown.begin(), shown.end(), leaf.in_view->begin(), shown.begin(),
      [](std::uint8_t a, std::uint8_t b) { return static_cast<std::uint8_t>(a & b); });
  }
  for (std::size_t k = 0; k != shown.size(); ++k)
  {
    if (shown[k] != 0)
    {
      facts.shown.push_back(k);
    }
  }
  return true;
}

LeafEntry describe_leaf(const std::filesystem::path& path, std::string name)
{
  const File file = File::open(path);
  const File::Impl& impl = file.impl();
  LeafEntry entry;
  entry.name = std::move(name);
  entry.record.particles = file.particle_count();
  entry.record.file_bytes = file.file_bytes();
  entry.record.header_checksum = impl.header.header_checksum;
  std::copy_n(impl.schema.head.lower, 3, entry.record.lower);
  std::copy_n(impl.schema.head.upper, 3, entry.record.upper);
  entry.record.name_bytes = static_cast<std::uint32_t>(entry.name.size());
  for (const format::TreeletRecord& treelet : impl.spatial_index().treelets)
  {
    entry.record.flags |= treelet.flags & format::kNonFinite;
  }
  for (const format::KeyRecord& key : impl.schema.keys)
  {
    entry.keys.push_back({ key.minimum, key.maximum, key.flags, 0 });
  }
  entry.position_keys = impl.schema.position_keys;
  entry.in_view = shown_in_view(impl);
  entry.sample_ids = impl.schema.sample_ids;
  return entry;
}

void append_entry(std::vector<char>& bytes, const LeafEntry& entry)
{
  const auto append = [&](const void* data, std::size_t size)
  {
    const auto* from = static_cast<const char*>(data);
    bytes.insert(bytes.end(), from, from + size);
  };
  append(&entry.record, sizeof(entry.record));
  append(entry.position_keys.data(), sizeof(entry.position_keys));
  append(entry.keys.data(), entry.keys.size() * sizeof(format::LeafKeyRecord));
  const std::uint8_t has_view = entry.in_view ? 1 : 0;
  append(&has_view, sizeof(has_view));
  if (entry.in_view)
  {
    append(entry.in_view->data(), entry.in_view->size());
  }
  append(entry.name.data(), entry.name.size());
}

std::vector<LeafEntry> parse_entries(
  const std::vector<char>& bytes, const std::vector<Attribute>& attributes)
{
  std::size_t keys = 0;
  for (const Attribute& attribute : attributes)
  {
    keys += attribute.alias ? 0 : format::key_count(attribute.components);
  }
  const char* at = bytes.data();
  const auto take = [&](void* to, std::size_t size)
  {
    if (size != 0)
    {
      std::memcpy(to, at, size);
      at += size;
    }
  };
  std::vector<LeafEntry> entries;
  while (at != bytes.data() + bytes.size())
  {
    LeafEntry entry;
    take(&entry.record, sizeof(entry.record));
    take(entry.position_keys.data(), sizeof(entry.position_keys));
    entry.keys.resize(keys);
    take(entry.keys.data(), keys * sizeof(format::LeafKeyRecord));
    std::uint8_t has_view = 0;
    take(&has_view, sizeof(has_view));
    if (has_view != 0)
    {
      entry.in_view.emplace(attributes.size());
      take(entry.in_view->data(), attributes.size());
    }
    entry.name.resize(entry.record.name_bytes);
    take(entry.name.data(), entry.name.size());
    entries.push_back(std::move(entry));
  }
  return entries;
}

TopContents make_contents(const ParticleView& schema)
{
  TopContents contents;
  contents.position_type = schema.positions.type;
  contents.attributes = format::attributes_of(schema);
  contents.time = schema.time;
  contents.step = schema.step;
  contents.metadata = schema.metadata;
  return contents;
}

std::vector<std::byte> encode_top(const TopContents& contents)
{
  format::TopViewFacts view;
  view.position_type = contents.position_type;
  view.attributes = contents.attributes;
  view.time = contents.time;
  view.step = contents.step;
  const bool may_have_view = add_leaves_to_view(view, contents.leaves);
  TopSections sections(may_have_view);
  const Extents extents = collect_extents(contents.leaves);
  format::SchemaHead head{};
  head.position_type = static_cast<std::uint8_t>(contents.position_type);
  std::copy(extents.bounds.lower.begin(), extents.bounds.lower.end(), head.lower);
  std::copy(extents.bounds.upper.begin(), extents.bounds.upper.end(), head.upper);
  const std::vector<std::byte> schema =
    format::schema_bytes(head, contents.attributes, merge_keys(contents));
  sections.add(format::SectionKind::Schema, schema.data(), schema.size());
  const std::string metadata = format::metadata_text(contents.metadata);
  sections.add(format::SectionKind::Metadata, metadata.data(), metadata.size());
  view.metadata_offset = sections.last_offset();
  if (!contents.attributes.empty() && contents.attributes.back().alias)
  {
    const std::vector<std::byte> aliases =
      format::aliases_bytes(contents.attributes, merge_position_keys(contents.leaves));
    sections.add(format::SectionKind::Aliases, aliases.data(), aliases.size());
  }
  std::uint64_t features = format::kSeveralLeafFiles;
  if (!contents.sample_ids.empty())
  {
    const std::vector<std::byte> ids = format::sample_ids_bytes(contents.sample_ids);
    sections.add(format::SectionKind::SampleIds, ids.data(), ids.size());
    features |= format::kStableSamples;
  }
  const std::vector<format::NodeRecord> nodes = write::shallow_tree(extents.boxes, extents.bounds);
  sections.add(
    format::SectionKind::AggregationTree, nodes.data(), nodes.size() * sizeof(format::NodeRecord));
  const std::vector<std::byte> leaf_files = format::leaf_files_bytes(files_of(contents.leaves));
  sections.add(format::SectionKind::LeafFiles, leaf_files.data(), leaf_files.size());
  if (may_have_view)
  {
    view.metadata = metadata;
    view.objects_offset = sections.next_offset();
    if (const std::optional<format::Hdf5Objects> objects = format::top_objects(view))
    {
      sections.add_hdf5_view(*objects);
    }
  }
  return sections.finish(extents.particles, features, contents.time, contents.step);
}
}
