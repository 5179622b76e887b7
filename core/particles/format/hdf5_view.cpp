// SPDX-License-Identifier: BSD-3-Clause
#include "particles/format/hdf5_view.hpp"

#include "common/numbers.hpp"
#include "common/round_up.hpp"
#include "particles/format/encode_parts.hpp"
#include "particles/format/hdf5.hpp"
#include "particles/format/hdf5_numbers.hpp"
#include "particles/format/levels.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>
#include <type_traits>
#include <utility>

namespace bat::format
{
namespace
{
using hdf5::Bytes;
using hdf5::Link;

/// Text of METADATA that describes arrays.
class Units
{
public:
  explicit Units(const std::string& metadata)
  {
    // Nothing else is kept: metadata can be large and deep.
    bool in_units = false;
    const auto keep = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value)
    {
      using Event = nlohmann::json::parse_event_t;
      if (depth == 1 && event == Event::key)
      {
        in_units = value == "units";
      }
      const bool is_unit = event == Event::key || (event == Event::value && value.is_string());
      return depth == 0 || (in_units && (depth == 1 || (depth == 2 && is_unit)));
    };
    const auto parsed = nlohmann::json::parse(metadata, keep, false);
    if (parsed.is_object() && parsed.contains("units") && parsed["units"].is_object())
    {
      this->units_ = parsed["units"];
    }
  }

  /// Returns the unit of an array with these names, of the first that has one.
  [[nodiscard]] std::vector<hdf5::Attribute> of(const std::vector<std::string>& names) const
  {
    constexpr std::size_t kMaxUnitBytes = 1000;
    for (const std::string& name : names)
    {
      const auto found = this->units_.find(name);
      if (found == this->units_.end() || !found->is_string())
      {
        continue;
      }
      const auto& text = found->get_ref<const std::string&>();
      if (!text.empty() && text.size() <= kMaxUnitBytes)
      {
        return { hdf5::text_attribute("units", text, hdf5::CharacterSet::Utf8) };
      }
    }
    return {};
  }

private:
  nlohmann::json units_ = nlohmann::json::object();
};

/// Collects objects one after another, each at a multiple of 8.
class Objects
{
public:
  explicit Objects(std::uint64_t offset)
    : address_(offset - kSuperblockOffset)
  {
  }

  /// Returns the address of the object.
  std::uint64_t add(const Bytes& object)
  {
    const std::uint64_t address = this->next_address();
    append(this->bytes_, object.data(), object.size());
    return address;
  }

  std::uint64_t add(const hdf5::DataSet& data_set) { return this->add(hdf5::encode(data_set)); }

  /// Adds a data set that keeps its values in its header.
  template <class T>
  std::uint64_t add_values(ScalarType type, const std::vector<T>& values, std::uint32_t links = 1)
  {
    Bytes bytes;
    append(bytes, values.data(), values.size() * sizeof(T));
    return this->add(
      { hdf5::number_type(type), { values.size() }, hdf5::compact(bytes), {}, {}, links, {} });
  }

  /// Adds the numbers from 0 to count - 1, and more to fill the last chunk.
  std::uint64_t add_numbers(std::uint64_t count)
  {
    std::vector<hdf5::Chunk> chunks;
    for (std::uint64_t k = 0; k * hdf5::kChunkNumbers < count; ++k)
    {
      const Bytes chunk = hdf5::numbers_chunk(k);
      chunks.push_back({ this->add(chunk), static_cast<std::uint32_t>(chunk.size()) });
    }
    const Bytes layout = chunks.size() == 1
      ? hdf5::in_one_chunk(chunks[0], hdf5::kChunkNumbers)
      : hdf5::in_chunks(this->add_tree(chunks), hdf5::kChunkNumbers);
    return this->add(
      { hdf5::number_type(ScalarType::Int64), { chunks.size() * hdf5::kChunkNumbers }, layout, {},
        hdf5::shuffled_and_deflated_twice(), 1, {} });
  }

  [[nodiscard]] Bytes take() { return std::move(this->bytes_); }

private:
  // Returns the address of the root.
  std::uint64_t add_tree(const std::vector<hdf5::Chunk>& chunks)
  {
    const std::uint64_t node_bytes = hdf5::encode(hdf5::TreeNode()).size();
    std::vector<hdf5::Chunk> children = chunks;
    std::uint64_t chunks_each = 1;
    for (unsigned level = 0; level == 0 || children.size() != 1; ++level)
    {
      const std::uint64_t first_address = this->next_address();
      const std::size_t node_count =
        (children.size() + hdf5::kTreeChildren - 1) / hdf5::kTreeChildren;
      std::vector<hdf5::Chunk> nodes;
      for (std::size_t i = 0; i != node_count; ++i)
      {
        const std::size_t begin = i * hdf5::kTreeChildren;
        const std::size_t end = std::min(begin + hdf5::kTreeChildren, children.size());
        hdf5::TreeNode node;
        node.level = level;
        node.left = i == 0 ? hdf5::kUndefined : first_address + (i - 1) * node_bytes;
        node.right = i + 1 == node_count ? hdf5::kUndefined : first_address + (i + 1) * node_bytes;
        node.first = begin * chunks_each;
        node.end = std::min<std::uint64_t>(end * chunks_each, chunks.size());
        node.chunks_each = chunks_each;
        node.chunk_numbers = hdf5::kChunkNumbers;
        node.children.assign(children.begin() + static_cast<std::ptrdiff_t>(begin),
          children.begin() + static_cast<std::ptrdiff_t>(end));
        nodes.push_back({ this->add(hdf5::encode(node)), node.children[0].bytes });
      }
      children = std::move(nodes);
      chunks_each *= hdf5::kTreeChildren;
    }
    return children[0].address;
  }

  std::uint64_t next_address()
  {
    this->bytes_.resize(round_up(this->bytes_.size(), 8));
    return this->address_ + this->bytes_.size();
  }

  std::uint64_t address_;
  Bytes bytes_;
};

// Adds group BAT: time and step as attributes, METADATA and `numbers` as data sets.
std::uint64_t add_own_group(Objects& objects, const ViewFacts& facts, std::uint64_t numbers)
{
  std::vector<hdf5::Attribute> attributes;
  if (facts.time)
  {
    attributes.push_back(hdf5::number_attribute("time", *facts.time));
  }
  if (facts.step)
  {
    attributes.push_back(hdf5::integers_attribute("step", {}, { *facts.step }));
  }
  std::vector<Link> links;
  constexpr std::uint64_t kMaxTextBytes = std::numeric_limits<std::uint32_t>::max();
  if (!facts.metadata.empty() && facts.metadata.size() <= kMaxTextBytes)
  {
    links.push_back({ "metadata",
      objects.add({ hdf5::text_type(facts.metadata.size(), hdf5::CharacterSet::Utf8), {},
        hdf5::contiguous(facts.metadata_offset - kSuperblockOffset, facts.metadata.size()), {}, {},
        1, {} }) });
  }
  links.push_back({ "numbers", numbers });
  return objects.add(hdf5::group(links, attributes));
}

// Returns the column that an attribute is or repeats: 0 the positions, 1 + k attribute k.
std::size_t array_of(const std::vector<Attribute>& attributes, std::size_t k)
{
  const std::optional<Alias>& alias = attributes[k].alias;
  if (!alias)
  {
    return 1 + k;
  }
  return alias->attribute ? 1 + *alias->attribute : 0;
}

// Returns why the view leaves out attribute k, or nothing.
std::string reason_against(const LeafViewFacts& facts, std::size_t k)
{
  const Attribute& attribute = facts.attributes[k];
  if (attribute.name.find('/') != std::string::npos)
  {
    return "its name has a '/'";
  }
  if (attribute.name == ".")
  {
    return "its name is '.'";
  }
  if (attribute.name.size() + hdf5::kLinkBytes > hdf5::kMaxMessageBytes)
  {
    return fmt::format("its name has {} bytes", attribute.name.size());
  }
  const std::size_t array = array_of(facts.attributes, k);
  if (attribute.alias && attribute.alias->component >= 0)
  {
    const int components = array == 0 ? 3 : facts.attributes[array - 1].components;
    if (components != 1)
    {
      return fmt::format("it repeats {}", to_string(*attribute.alias, facts.attributes));
    }
  }
  return facts.columns[array].encoding == kRaw ? "" : "it is compressed";
}

// An array of values, as it is stored or put together from other files.
struct ShownArray
{
  ElementType type;
  Bytes layout;
  Bytes fill_value;
};

// What a grid is made of.
struct Grid
{
  std::vector<std::uint64_t> parts;                       ///< numbers of points
  std::vector<ShownArray> arrays;                         ///< positions, attributes
  std::vector<std::pair<std::string, std::size_t>> names; ///< of attributes, and their arrays
};

std::uint64_t sum_of(const std::vector<std::uint64_t>& counts)
{
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{ 0 });
}

// Returns the layout of a virtual data set. HDF5 rejects an empty list.
Bytes virtual_layout(std::uint64_t values, std::uint64_t heap, std::size_t list)
{
  return values == 0 ? hdf5::contiguous(hdf5::kUndefined, 0) : hdf5::in_other_data_sets(heap, list);
}

// Adds the group of the attributes of a grid, and returns it and the positions.
std::pair<std::uint64_t, std::uint64_t> add_arrays(
  Objects& objects, const Grid& grid, const Units& units)
{
  const std::uint64_t points = sum_of(grid.parts);
  std::vector<std::vector<std::string>> names_of(grid.arrays.size());
  names_of[0] = { "positions" };
  for (const auto& [name, array] : grid.names)
  {
    names_of[array].push_back(name);
  }
  const auto add = [&](std::size_t number)
  {
    const std::vector<std::string>& names = names_of[number];
    const ShownArray& array = grid.arrays[number];
    hdf5::Dimensions dimensions{ points };
    if (array.type.components != 1)
    {
      dimensions.push_back(static_cast<std::uint64_t>(array.type.components));
    }
    return objects.add({ hdf5::number_type(array.type.type), std::move(dimensions), array.layout,
      array.fill_value, {}, static_cast<std::uint32_t>(names.size()), units.of(names) });
  };
  std::vector<std::uint64_t> addresses(grid.arrays.size(), hdf5::kUndefined);
  addresses[0] = add(0);
  std::vector<Link> links;
  for (const auto& [name, array] : grid.names)
  {
    if (addresses[array] == hdf5::kUndefined)
    {
      addresses[array] = add(array);
    }
    links.push_back({ name, addresses[array] });
  }
  return { objects.add(hdf5::group(links)), addresses[0] };
}

// Adds the cells of a grid, a vertex for each point, as links of its group. In each part,
// connectivity and offsets count from 0: both are rows of `numbers`.
void add_cells(Objects& objects, const Grid& grid, std::vector<Link>& links)
{
  constexpr const char* kNumbers = "/BAT/numbers";
  const std::uint64_t points = sum_of(grid.parts);
  std::vector<std::int64_t> counts;
  hdf5::MappingList connectivity;
  hdf5::MappingList offsets;
  std::uint64_t begin = 0;
  for (const std::uint64_t count : grid.parts)
  {
    // Each part has one offset more than it has cells.
    const std::uint64_t first_offset = begin + counts.size();
    if (count != 0)
    {
      connectivity.mappings.push_back({ ".", kNumbers, { 0, count }, { begin, count } });
    }
    offsets.mappings.push_back({ ".", kNumbers, { 0, count + 1 }, { first_offset, count + 1 } });
    counts.push_back(static_cast<std::int64_t>(count));
    begin += count;
  }
  const std::uint64_t heap = objects.add(hdf5::heap({ connectivity, offsets }));
  const auto add = [&](std::uint64_t values, std::size_t list)
  {
    return objects.add({ hdf5::number_type(ScalarType::Int64), { values },
      virtual_layout(values, heap, list), {}, {}, 1, {} });
  };
  const std::vector<std::string> count_names{ "NumberOfPoints", "NumberOfCells",
    "NumberOfConnectivityIds" };
  const std::uint64_t counts_address =
    objects.add_values(ScalarType::Int64, counts, static_cast<std::uint32_t>(count_names.size()));
  for (const std::string& name : count_names)
  {
    links.push_back({ name, counts_address });
  }
  links.push_back({ "Connectivity", add(points, 1) });
  links.push_back({ "Offsets", add(points + grid.parts.size(), 2) });
  constexpr std::byte kVertex{ 1 };
  links.push_back({ "Types",
    objects.add({ hdf5::number_type(ScalarType::UInt8), { points },
      hdf5::contiguous(hdf5::kUndefined, points), { kVertex }, {}, 1, {} }) });
}

// Adds time and step as VTK knows them; a data set without dimensions would crash VTK 9.3.
std::uint64_t add_field_data(Objects& objects, const ViewFacts& facts)
{
  std::vector<Link> links;
  if (facts.time)
  {
    links.push_back(
      { "TimeValue", objects.add_values(ScalarType::Float64, std::vector<double>{ *facts.time }) });
  }
  if (facts.step)
  {
    links.push_back(
      { "step", objects.add_values(ScalarType::Int64, std::vector<std::int64_t>{ *facts.step }) });
  }
  return objects.add(hdf5::group(links));
}

// Encodes everything, the root group last.
Hdf5Objects encode(Objects& objects, const Grid& grid, const ViewFacts& facts)
{
  const auto [point_data, positions] = add_arrays(objects, grid, Units(facts.metadata));
  std::vector<Link> links{ { "Points", positions }, { "PointData", point_data },
    { "CellData", objects.add(hdf5::group({})) }, { "FieldData", add_field_data(objects, facts) } };
  add_cells(objects, grid, links);
  // Version 1 has all that is used here, and VTK 9.2 warns about others.
  const std::uint64_t vtk_group = objects.add(hdf5::group(links,
    { hdf5::integers_attribute("Version", { 2 }, { 1, 0 }),
      hdf5::text_attribute("Type", "UnstructuredGrid", hdf5::CharacterSet::Ascii) }));
  const std::uint64_t numbers =
    objects.add_numbers(1 + *std::max_element(grid.parts.begin(), grid.parts.end()));
  const std::uint64_t own_group = add_own_group(objects, facts, numbers);
  const std::uint64_t root =
    objects.add(hdf5::group({ { "VTKHDF", vtk_group }, { "BAT", own_group } }));
  return { objects.take(), root };
}

// Returns the number of particles of a quality in leaf files of these sizes.
std::uint64_t count_at(double quality, const std::vector<std::uint64_t>& particles)
{
  return std::accumulate(particles.begin(), particles.end(), std::uint64_t{ 0 },
    [&](std::uint64_t sum, std::uint64_t n) { return sum + bat::count_at(quality, n); });
}

// Returns the qualities at which the parts of a view end.
std::vector<double> qualities_of(const std::vector<std::uint64_t>& particles)
{
  constexpr std::uint64_t kMinPartPoints = 1000;
  std::vector<double> qualities{ 1 };
  std::uint64_t count = sum_of(particles);
  for (double share = 10;; share *= 10)
  {
    // Every leaf file has a particle at each quality: the count of many does not fall for ever.
    const std::uint64_t next = count_at(1 / share, particles);
    if (next < kMinPartPoints || next > count / 2)
    {
      break;
    }
    qualities.push_back(1 / share);
    count = next;
  }
  std::reverse(qualities.begin(), qualities.end());
  return qualities;
}

// Returns the numbers of points of the parts.
std::vector<std::uint64_t> parts_of(const std::vector<std::uint64_t>& particles)
{
  std::vector<std::uint64_t> parts;
  double before = 0;
  for (const double quality : qualities_of(particles))
  {
    parts.push_back(count_at(quality, particles) - count_at(before, particles));
    before = quality;
  }
  return parts;
}

// Escapes a name for a mapping, in which %b has a meaning.
std::string in_mappings(const std::string& name)
{
  std::string escaped;
  for (const char c : name)
  {
    escaped.append(c == '%' ? 2 : 1, c);
  }
  return escaped;
}

// Returns where the rows of an array in a top file are: part by part, and in each part leaf file by
// leaf file.
std::vector<hdf5::Mapping> mappings(const TopViewFacts& facts, const std::string& path)
{
  std::vector<hdf5::Mapping> rows;
  std::uint64_t target = 0;
  double before = 0;
  for (const double quality : qualities_of(facts.particles))
  {
    for (std::size_t i = 0; i != facts.leaf_names.size(); ++i)
    {
      const std::uint64_t begin = bat::count_at(before, facts.particles[i]);
      const std::uint64_t count = bat::count_at(quality, facts.particles[i]) - begin;
      if (count != 0)
      {
        rows.push_back({ in_mappings(facts.leaf_names[i]), in_mappings(path), { begin, count },
          { target, count } });
        target += count;
      }
    }
    before = quality;
  }
  return rows;
}

// Returns whether a view of this size is small enough beside its leaf files.
bool is_small(std::uint64_t view_bytes, const TopViewFacts& facts)
{
  constexpr std::uint64_t kAlwaysSmall = 1 << 20;
  constexpr std::uint64_t kNeverSmall = 32 << 20;
  constexpr std::uint64_t kMinRatio = 1000;
  return view_bytes <= std::clamp(facts.leaf_bytes / kMinRatio, kAlwaysSmall, kNeverSmall);
}

// Returns a lower bound of the size of a view.
std::uint64_t min_bytes(const TopViewFacts& facts)
{
  constexpr std::uint64_t kMinMappingBytes = 100;
  constexpr std::uint64_t kMinChunkBytes = 1000;
  const auto leaves = static_cast<std::uint64_t>(std::count_if(facts.particles.begin(),
    facts.particles.end(), [](std::uint64_t particles) { return particles != 0; }));
  std::set<std::size_t> arrays{ 0 };
  std::uint64_t mapping_bytes = kMinMappingBytes;
  for (const std::size_t k : facts.shown)
  {
    if (arrays.insert(array_of(facts.attributes, k)).second)
    {
      mapping_bytes += kMinMappingBytes + facts.attributes[k].name.size();
    }
  }
  const std::vector<std::uint64_t> parts = parts_of(facts.particles);
  const std::uint64_t chunks = *std::max_element(parts.begin(), parts.end()) / hdf5::kChunkNumbers;
  return leaves * mapping_bytes + kMinChunkBytes * chunks;
}

// Returns the bytes of a value that no particle has: NaN, or 0 for integers.
Bytes missing_value(ScalarType type)
{
  Bytes bytes;
  dispatch(type,
    [&](auto value)
    {
      using T = decltype(value);
      if constexpr (std::is_floating_point_v<T>)
      {
        value = std::numeric_limits<T>::quiet_NaN();
        append(bytes, &value, sizeof(value));
      }
    });
  return bytes;
}
}

std::vector<SectionRecord> columns_of(const std::vector<SectionRecord>& sections)
{
  std::vector<SectionRecord> columns;
  std::copy_if(sections.begin(), sections.end(), std::back_inserter(columns),
    [](const SectionRecord& s) { return is_column(static_cast<SectionKind>(s.kind)); });
  return columns;
}

ViewFacts view_facts(const Header& header, const std::vector<SectionRecord>& sections,
  const Schema& schema, std::string metadata)
{
  ViewFacts facts;
  facts.position_type = static_cast<ScalarType>(schema.head.position_type);
  facts.attributes = schema.attributes;
  facts.metadata = std::move(metadata);
  if (const SectionRecord* section = find_section(sections, SectionKind::Metadata))
  {
    facts.metadata_offset = section->offset;
  }
  if ((header.flags & kHasTime) != 0)
  {
    facts.time = header.time;
  }
  if ((header.flags & kHasStep) != 0)
  {
    facts.step = header.step;
  }
  if (const SectionRecord* section = find_section(sections, SectionKind::Hdf5Objects))
  {
    facts.objects_offset = section->offset;
  }
  return facts;
}

LeafViewFacts leaf_view_facts(const Header& header, const std::vector<SectionRecord>& sections,
  const Schema& schema, std::string metadata)
{
  return { view_facts(header, sections, schema, std::move(metadata)), header.particle_count,
    columns_of(sections) };
}

std::string reason_against_view(const LeafViewFacts& facts)
{
  constexpr std::size_t kMaxNameBytes = 1 << 24;
  if (facts.columns[0].encoding != kRaw)
  {
    return "the positions are compressed";
  }
  const std::size_t bytes = std::accumulate(facts.attributes.begin(), facts.attributes.end(),
    std::size_t{ 0 }, [](std::size_t sum, const Attribute& a) { return sum + a.name.size(); });
  return bytes <= kMaxNameBytes ? "" : fmt::format("the names have {} bytes", bytes);
}

std::vector<std::string> reasons_against_attributes(const LeafViewFacts& facts)
{
  std::vector<std::string> reasons;
  for (std::size_t k = 0; k != facts.attributes.size(); ++k)
  {
    reasons.push_back(reason_against(facts, k));
  }
  return reasons;
}

Hdf5Objects leaf_objects(const LeafViewFacts& facts)
{
  Objects objects(facts.objects_offset);
  Grid grid;
  grid.parts = parts_of({ facts.particles });
  const auto add_array = [&](const ElementType& type, const SectionRecord& column)
  {
    const std::uint64_t address =
      column.bytes == 0 ? hdf5::kUndefined : column.offset - kSuperblockOffset;
    grid.arrays.push_back({ type, hdf5::contiguous(address, column.bytes), {} });
  };
  add_array({ facts.position_type, 3 }, facts.columns[0]);
  for (std::size_t k = 0; k != facts.attributes.size(); ++k)
  {
    const Attribute& attribute = facts.attributes[k];
    if (!attribute.alias)
    {
      add_array({ attribute.type, attribute.components }, facts.columns[1 + k]);
    }
    if (reason_against(facts, k).empty())
    {
      grid.names.emplace_back(attribute.name, array_of(facts.attributes, k));
    }
  }
  return encode(objects, grid, facts);
}

std::optional<Hdf5Objects> top_objects(const TopViewFacts& facts)
{
  if (!is_small(min_bytes(facts), facts) || 1 + facts.shown.size() > hdf5::kMaxHeapLists)
  {
    return std::nullopt;
  }
  Objects objects(facts.objects_offset);
  Grid grid;
  std::vector<hdf5::MappingList> lists;
  const auto add_array = [&](const ElementType& type, const std::string& path)
  {
    lists.push_back({ static_cast<std::uint64_t>(type.components), mappings(facts, path) });
    grid.arrays.push_back({ type, {}, missing_value(type.type) });
  };
  add_array({ facts.position_type, 3 }, "/VTKHDF/Points");
  std::vector<std::size_t> numbers(1 + facts.attributes.size(), 0);
  for (const std::size_t k : facts.shown)
  {
    const Attribute& attribute = facts.attributes[k];
    const std::size_t array = array_of(facts.attributes, k);
    if (array != 0 && numbers[array] == 0)
    {
      numbers[array] = grid.arrays.size();
      add_array({ attribute.type, attribute.components }, "/VTKHDF/PointData/" + attribute.name);
    }
    grid.names.emplace_back(attribute.name, numbers[array]);
  }
  const std::uint64_t heap = objects.add(hdf5::heap(lists));
  for (std::size_t i = 0; i != grid.arrays.size(); ++i)
  {
    grid.arrays[i].layout = virtual_layout(sum_of(facts.particles), heap, i + 1);
  }
  grid.parts = parts_of(facts.particles);
  Hdf5Objects view = encode(objects, grid, facts);
  return is_small(view.bytes.size(), facts) ? std::optional(std::move(view)) : std::nullopt;
}

std::vector<std::byte> hdf5_superblock(const Hdf5Objects& objects, std::uint64_t file_bytes)
{
  return hdf5::superblock(kSuperblockOffset, objects.root, file_bytes);
}
}
