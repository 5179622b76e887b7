// SPDX-License-Identifier: BSD-3-Clause
// Damage to .bat files, and everything that a reader may do with it. Needs core in the include
// path.
#pragma once

#include "bat/bat.hpp"
#include "particles/dataset/top_file.hpp"
#include "particles/format/checksum.hpp"
#include "particles/format/layout.hpp"
#include "particles/format/page_layout.hpp"
#include "particles/query/sorted_lookup.hpp"
#include "particles/tree/file_impl.hpp"
#include "support/brute_force.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace damage
{
namespace format = bat::format;
using Bytes = std::vector<std::byte>;
using Random = std::mt19937_64;

// ---- Damage -----------------------------------------------------------------------------------

inline Bytes cut(const Bytes& file, std::size_t size)
{
  return { file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size) };
}

inline Bytes extended(Bytes file, std::size_t more, std::byte value)
{
  file.insert(file.end(), more, value);
  return file;
}

inline void flip(Bytes& file, std::size_t bit)
{
  file[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
}

template <class T>
T load(const Bytes& file, std::uint64_t offset)
{
  T value;
  std::memcpy(&value, file.data() + offset, sizeof(T));
  return value;
}

template <class T>
void store(Bytes& file, std::uint64_t offset, const T& value)
{
  std::memcpy(file.data() + offset, &value, sizeof(T));
}

inline bool inside(std::uint64_t offset, std::uint64_t bytes, std::uint64_t size)
{
  return offset <= size && bytes <= size - offset;
}

/// Offset of each section's record, as far as header and table lie inside the file.
inline std::vector<std::uint64_t> section_records(const Bytes& file)
{
  std::vector<std::uint64_t> offsets;
  if (file.size() < sizeof(format::Header))
  {
    return offsets;
  }
  const auto header = load<format::Header>(file, 0);
  std::uint64_t at = header.section_table_offset;
  for (std::uint32_t i = 0; i != header.section_count; ++i, at += sizeof(format::SectionRecord))
  {
    if (!inside(at, sizeof(format::SectionRecord), file.size()))
    {
      break;
    }
    offsets.push_back(at);
  }
  return offsets;
}

/// Offset of the record of a section that must exist.
inline std::uint64_t section_record(
  const Bytes& file, format::SectionKind kind, std::uint32_t index = 0)
{
  for (const std::uint64_t at : section_records(file))
  {
    const auto record = load<format::SectionRecord>(file, at);
    if (record.kind == static_cast<std::uint32_t>(kind) && record.index == index)
    {
      return at;
    }
  }
  throw std::logic_error("the file has no such section");
}

/// Corrects the checksums of section table and header.
inline void repair_table(Bytes& file)
{
  if (file.size() < sizeof(format::Header))
  {
    return;
  }
  auto header = load<format::Header>(file, 0);
  const std::uint64_t table_bytes =
    std::uint64_t{ header.section_count } * sizeof(format::SectionRecord);
  if (inside(header.section_table_offset, table_bytes, file.size()))
  {
    header.section_table_checksum =
      format::checksum(file.data() + header.section_table_offset, table_bytes);
  }
  header.header_checksum = format::checksum(&header, offsetof(format::Header, header_checksum));
  store(file, 0, header);
}

/// Corrects every checksum, so that only the rules protect the reader from the damage.
inline void repair_checksums(Bytes& file)
{
  // Sections of a malicious file may overlap and so add up to any multiple of its size.
  std::uint64_t budget = 64 * file.size() + (1u << 20);
  for (const std::uint64_t at : section_records(file))
  {
    auto record = load<format::SectionRecord>(file, at);
    if (!inside(record.offset, record.bytes, file.size()) || record.bytes > budget)
    {
      continue;
    }
    budget -= record.bytes;
    if ((record.flags & format::kPaged) == 0)
    {
      record.checksum = format::checksum(file.data() + record.offset, record.bytes);
      store(file, at, record);
      continue;
    }
    const format::PageLayout layout(record.bytes);
    if (!inside(record.checksums_offset, layout.checksums_bytes(), file.size()))
    {
      continue;
    }
    const auto sums = format::page_checksums(file.data() + record.offset, record.bytes);
    std::copy_n(reinterpret_cast<const std::byte*>(sums.data()), layout.checksums_bytes(),
      file.begin() + static_cast<std::ptrdiff_t>(record.checksums_offset));
    record.checksum = format::checksum(sums.data(), layout.group_checksums_bytes());
    store(file, at, record);
  }
  repair_table(file);
}

/// The file with other content of a section that is not paged; the content is moved to the end of
/// the file.
inline Bytes with_section(Bytes file, format::SectionKind kind, const std::string& content)
{
  const std::uint64_t at = section_record(file, kind);
  auto record = load<format::SectionRecord>(file, at);
  std::fill_n(
    file.begin() + static_cast<std::ptrdiff_t>(record.offset), record.bytes, std::byte{ 0 });
  file.resize((file.size() + 7) / 8 * 8);
  record.offset = file.size();
  record.bytes = record.raw_bytes = content.size();
  const auto* data = reinterpret_cast<const std::byte*>(content.data());
  file.insert(file.end(), data, data + content.size());
  store(file, at, record);
  store<std::uint64_t>(file, offsetof(format::Header, file_bytes), file.size());
  repair_checksums(file);
  return file;
}

/// Stores a number that is likely to cause errors in a reader, in 1, 2, 4 or 8 bytes at a multiple
/// of that.
inline void poke(Bytes& file, std::uint64_t begin, std::uint64_t bytes, Random& random)
{
  const std::uint64_t width = std::min<std::uint64_t>(std::uint64_t{ 1 } << random() % 4, bytes);
  const std::uint64_t at = begin + random() % (bytes / width) * width;
  std::uint64_t value = 0;
  std::memcpy(&value, file.data() + at, width);
  switch (random() % 12)
  {
    case 0:
      value = 0;
      break;
    case 1:
      value = ~std::uint64_t{ 0 };
      break;
    case 2:
      value += 1;
      break;
    case 3:
      value -= 1;
      break;
    case 4:
      value = std::uint64_t{ 1 } << random() % 64;
      break;
    case 5:
      value = ~std::uint64_t{ 0 } >> random() % 64;
      break;
    case 6:
      value ^= std::uint64_t{ 1 } << random() % (8 * width);
      break;
    case 7:
      value = 0x7FF8000000000000; // NaN
      break;
    case 8:
      value = 0x7FF0000000000000 | random() % 2 << 63; // infinities
      break;
    case 9:
      value = file.size() / 8 * 8 + (random() % 3 - 1) * 8;
      break;
    case 10: // a neighbour
      std::memcpy(&value, file.data() + begin + random() % (bytes / width) * width, width);
      break;
    default:
      value = random();
      break;
  }
  std::memcpy(file.data() + at, &value, width);
}

/// A piece of the file that poke() may change.
struct Region
{
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};

/// Header, section table, or a section: kinds of sections are equally likely, whatever their sizes.
inline Region random_region(const Bytes& file, Random& random)
{
  const std::vector<std::uint64_t> records = section_records(file);
  const std::uint64_t features = load<format::Header>(file, 0).required_features;
  const bool is_top = (features & format::kSeveralLeafFiles) != 0;
  const std::uint64_t pick = random() % ((features & format::kStableSamples) != 0 ? 19 : 16);
  if (records.empty() || pick == 0)
  {
    return { 0, std::min<std::uint64_t>(file.size(), sizeof(format::Header)) };
  }
  if (pick == 1)
  {
    return { records[random() % records.size()], sizeof(format::SectionRecord) };
  }
  std::vector<Region> found;
  for (const std::uint64_t at : records)
  {
    const auto record = load<format::SectionRecord>(file, at);
    const format::SectionKind beside = // leaf file kinds come after top file kinds
      pick == 14 ? format::SectionKind::SortedIndex : format::SectionKind::ChunkTable;
    const std::uint64_t kind = pick >= 16
      ? static_cast<std::uint32_t>(format::SectionKind::SampleIds) + pick - 16
      : !is_top && pick >= 14 ? static_cast<std::uint32_t>(beside)
                              : pick - 1;
    if (record.kind == kind && record.bytes != 0 &&
      inside(record.offset, record.bytes, file.size()))
    {
      found.push_back({ record.offset, record.bytes });
    }
  }
  return found.empty() ? Region{ records[random() % records.size()], sizeof(format::SectionRecord) }
                       : found[random() % found.size()];
}

// ---- Reading it -------------------------------------------------------------------------------

/// All readable properties, as numbers to compare; nothing where the reader rejected the file.
struct Answers
{
  std::optional<bat::ErrorCode> refused; ///< by open
  std::vector<std::optional<std::uint64_t>> parts;
  bool sound = false; ///< validate() passes

  friend bool operator==(const Answers& a, const Answers& b)
  {
    return a.refused == b.refused && a.parts == b.parts && a.sound == b.sound;
  }
};

/// Whatever the file's condition, its selections have the shape that file.hpp promises.
inline void check_shape(const bat::File& file, const bat::Selection& selection)
{
  std::uint64_t end = 0;
  std::uint64_t count = 0;
  for (const bat::Span& span : selection.spans)
  {
    if (span.count == 0 || (count != 0 && span.first < end) ||
      !inside(span.first, span.count, file.particle_count()))
    {
      throw std::logic_error("a selection is not ascending, disjoint and inside the file");
    }
    end = span.first + span.count;
    count += span.count;
  }
  if (count != selection.count)
  {
    throw std::logic_error("a selection counts other particles than it has");
  }
}

inline void check_shape(const bat::Dataset& dataset, const bat::DatasetSelection& selection)
{
  std::uint64_t count = 0;
  std::size_t next = 0;
  for (const bat::DatasetSelection::Part& part : selection.parts)
  {
    if (part.leaf < next || part.leaf >= dataset.leaves().size() || part.selection.count == 0)
    {
      throw std::logic_error("a selection is not in the order of the leaf files");
    }
    next = part.leaf + 1;
    check_shape(
      bat::File::open(dataset.leaves()[part.leaf].path), part.selection); // that leaf file
    count += part.selection.count;
  }
  if (count != selection.count)
  {
    throw std::logic_error("a selection counts other particles than it has");
  }
}

class Digest
{
public:
  void add(const void* data, std::size_t bytes)
  {
    const std::uint64_t next[2] = { this->value_, format::checksum(data, bytes) };
    this->value_ = format::checksum(next, sizeof(next));
  }
  void add(const std::string& text) { this->add(text.data(), text.size()); }
  template <class T>
  void add_value(const T& value)
  {
    static_assert(std::is_arithmetic_v<T>);
    this->add(&value, sizeof(value));
  }
  [[nodiscard]] std::uint64_t value() const { return this->value_; }

private:
  std::uint64_t value_ = 0;
};

inline std::uint64_t digest_of_description(const bat::File& file)
{
  Digest digest;
  digest.add(file.format_version());
  digest.add_value(file.file_bytes());
  digest.add_value(file.particle_count());
  digest.add_value(static_cast<int>(file.position_type()));
  if (const auto bounds = file.bounds())
  {
    digest.add(bounds->lower.data(), sizeof(bounds->lower));
    digest.add(bounds->upper.data(), sizeof(bounds->upper));
  }
  digest.add_value(file.time().value_or(-1));
  digest.add_value(file.step().value_or(-1));
  for (const bat::Attribute& attribute : file.attributes())
  {
    digest.add(attribute.name);
    digest.add_value(static_cast<int>(attribute.type));
    digest.add_value(attribute.components);
    digest.add_value(attribute.role);
    digest.add_value(attribute.host_type);
    for (const bat::Key& key : attribute.keys)
    {
      digest.add_value(key.component);
      digest.add(bat::to_string(key.minimum));
      digest.add(bat::to_string(key.maximum));
      digest.add_value(key.has_nan);
    }
  }
  digest.add_value(file.treelet_count());
  digest.add_value(file.block_count());
  digest.add_value(file.block_particles());
  digest.add(file.level_ends().data(), 8 * file.level_ends().size());
  return digest.value();
}

inline void add(Digest& digest, const bat::Selection& selection)
{
  digest.add(selection.spans.data(), sizeof(bat::Span) * selection.spans.size());
}

inline void add(Digest& digest, const bat::DatasetSelection& selection)
{
  for (const bat::DatasetSelection::Part& part : selection.parts)
  {
    digest.add_value(part.leaf);
    add(digest, part.selection);
  }
}

/// Selects, counts, and reads every column of the selection, from a File or a Dataset.
template <class F>
std::uint64_t digest_of_query(const F& file, const bat::Query& query)
{
  const bat::QueryOptions one_thread{ 1 };
  const auto selection = file.select(query, one_thread);
  check_shape(file, selection);
  if (selection.count > file.upper_bound(query))
  {
    throw std::logic_error("a selection has more particles than its upper bound");
  }
  Digest digest;
  add(digest, selection);
  Bytes values(selection.count * 3 * bat::size_of(file.position_type()));
  file.read_positions(selection, values.data(), one_thread);
  digest.add(values.data(), values.size());
  for (std::size_t k = 0; k != file.attributes().size(); ++k)
  {
    const bat::Attribute& attribute = file.attributes()[k];
    values.resize(selection.count * bat::size_of(attribute.type) *
      static_cast<std::size_t>(attribute.components));
    file.read_attribute(k, selection, values.data(), one_thread);
    digest.add(values.data(), values.size());
  }
  return digest.value();
}

/// Boxes, ranges on every kind of key, and steps, fitted to the file's own description.
template <class F>
std::vector<bat::Query> queries_for(const F& file)
{
  std::vector<bat::Query> queries(1);
  bat::Query query;
  query.quality = 0.4;
  query.after_quality = 0.1;
  if (const auto bounds = file.bounds())
  {
    query.box = bounds;
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      query.box->upper[axis] =
        std::max(bounds->lower[axis], 0.4 * bounds->lower[axis] + 0.6 * bounds->upper[axis]);
    }
    queries.push_back(query);
    query.quality = 1;
    query.after_quality = 0;
    query.part = 1;
    query.parts = 3;
    queries.push_back(query);
  }
  // Tests a few attributes only: a malicious file may have tens of thousands.
  const std::size_t count = std::min<std::size_t>(file.attributes().size(), 12);
  query = {};
  for (std::size_t k = 0; k != count; ++k)
  {
    const bat::Attribute& attribute = file.attributes()[k];
    const std::size_t key = k % attribute.keys.size();
    const double a = bat::to_double(attribute.keys[key].minimum);
    const double b = bat::to_double(attribute.keys[key].maximum);
    if (!(a <= b))
    {
      continue;
    }
    bat::AttributeRange range;
    range.attribute = attribute.name;
    if (attribute.keys[key].component >= 0)
    {
      range.component = attribute.keys[key].component;
    }
    const double third = a + (b - a) / 3;
    range.lower = third >= a && third <= b ? bat::Number(third) : attribute.keys[key].minimum;
    range.upper = std::max(b, bat::to_double(range.lower));
    query.ranges = { range };
    queries.push_back(query);
    bat::AttributeValues list{ range.attribute, range.component, { range.lower } };
    list.values.insert(
      list.values.end(), { attribute.keys[key].minimum, attribute.keys[key].maximum, 0.0, 1, 7 });
    query.ranges.clear();
    query.values = { list };
    queries.push_back(query);
    query.values.clear();
  }
  if (queries.size() > 3)
  {
    query.box = queries[1].box;
    query.quality = 0.7;
    query.values = queries.back().values;
    queries.push_back(query);
  }
  return queries;
}

/// The sorted indexes' results for each condition of a query, whatever the cost; nothing for keys
/// without.
inline std::vector<std::optional<std::vector<std::uint32_t>>> look_up(
  const bat::File& file, const bat::Query& query)
{
  constexpr std::uint64_t kWhateverItCosts = std::uint64_t{ 1 } << 62;
  std::vector<std::optional<std::vector<std::uint32_t>>> found;
  const bat::query::Conditions conditions = bat::query::make_conditions(
    { file.name(), file.particle_count(), file.attributes() }, { 0, file.particle_count() }, query);
  for (const bat::query::KeyCondition& key : conditions.keys)
  {
    const bool empty = std::visit(
      [](const auto& requested) { return bat::query::is_empty(requested); }, key.requested);
    found.push_back(empty ? std::nullopt : bat::query::look_up(file.impl(), key, kWhateverItCosts));
  }
  return found;
}

inline std::uint64_t digest_of_look_up(const bat::File& file, const bat::Query& query)
{
  Digest digest;
  for (const auto& positions : look_up(file, query))
  {
    if (!positions)
    {
      continue;
    }
    for (std::size_t i = 0; i != positions->size(); ++i)
    {
      if ((*positions)[i] >= file.particle_count() ||
        (i != 0 && (*positions)[i - 1] >= (*positions)[i]))
      {
        throw std::logic_error("file positions of a sorted index do not ascend inside the file");
      }
    }
    digest.add(positions->data(), positions->size() * sizeof(std::uint32_t));
  }
  return digest.value();
}

/// A valid file answers exactly as a scan of every particle does.
inline void check_against_brute_force(const bat::File& file, const std::vector<bat::Query>& queries)
{
  constexpr std::uint64_t kMaxParticles = 20000; // slow malicious files may be skipped
  if (file.particle_count() > kMaxParticles)
  {
    return;
  }
  const brute_force::Table table = brute_force::read_all(file);
  for (const bat::Query& query : queries)
  {
    if (query.parts == 1 &&
      brute_force::positions_of(file.select(query)) != brute_force::select(table, query))
    {
      throw std::logic_error("a valid file answers otherwise than a look at every particle");
    }
    const auto looked_up = look_up(file, query);
    for (std::size_t i = 0; i != looked_up.size(); ++i)
    {
      bat::Query alone;
      if (i < query.ranges.size())
      {
        alone.ranges = { query.ranges[i] };
      }
      else
      {
        alone.values = { query.values[i - query.ranges.size()] };
      }
      const std::vector<std::uint64_t> expected = brute_force::select(table, alone);
      if (looked_up[i] &&
        !std::equal(looked_up[i]->begin(), looked_up[i]->end(), expected.begin(), expected.end()))
      {
        throw std::logic_error("a valid sorted index has other particles than a look at all finds");
      }
    }
  }
}

inline bool is_top(const Bytes& file)
{
  return file.size() >= sizeof(format::Header) &&
    (load<format::Header>(file, 0).required_features & format::kSeveralLeafFiles) != 0;
}

inline std::uint64_t digest_of_description(const bat::TopFile& top)
{
  Digest digest;
  digest.add_value(top.header.particle_count);
  digest.add_value(top.header.time);
  digest.add_value(top.header.step);
  digest.add(&top.schema.head, sizeof(top.schema.head));
  digest.add(top.schema.keys.data(), sizeof(format::KeyRecord) * top.schema.keys.size());
  for (const bat::Attribute& attribute : top.schema.attributes)
  {
    digest.add(attribute.name);
    digest.add_value(static_cast<int>(attribute.type));
    digest.add_value(attribute.components);
  }
  return digest.value();
}

inline std::uint64_t digest_of_leaf_files(const bat::TopFile& top)
{
  const format::LeafFiles& files = top.leaf_files();
  if (files.names.size() != files.leaves.size() ||
    files.nodes.size() != 2 * files.leaves.size() - 1 ||
    files.keys.size() != files.leaves.size() * top.schema.keys.size())
  {
    throw std::logic_error("the list of leaf files has not the shape that decode.hpp promises");
  }
  Digest digest;
  digest.add(files.leaves.data(), sizeof(format::LeafRecord) * files.leaves.size());
  digest.add(files.keys.data(), sizeof(format::LeafKeyRecord) * files.keys.size());
  digest.add(files.nodes.data(), sizeof(format::NodeRecord) * files.nodes.size());
  for (const std::string& name : files.names)
  {
    const std::string path = "/" + name + "/";
    if (name.empty() || path.find("/../") != std::string::npos ||
      path.find("//") != std::string::npos || path.find('\0') != std::string::npos)
    {
      throw std::logic_error("the name of a leaf file leads out of the folder: " + name);
    }
    digest.add(name);
  }
  // As queries walk it: this must end, and every leaf file be reached once.
  std::size_t leaf = 0;
  std::size_t jumps = 0;
  for (std::size_t node = 0; node != files.nodes.size(); ++node)
  {
    leaf += files.nodes[node].skip == node + 1;
  }
  for (std::size_t node = 0; node != files.nodes.size(); node = files.nodes[node].skip)
  {
    ++jumps;
  }
  if (leaf != files.leaves.size() || jumps != 1)
  {
    throw std::logic_error("the tree over the leaf files does not reach each once");
  }
  return digest.value();
}

/// All requests to a top file alone.
inline Answers ask_top(Bytes bytes)
{
  Answers answers;
  std::optional<bat::TopFile> top;
  const auto part = [&](auto&& compute)
  {
    answers.parts.emplace_back();
    try
    {
      answers.parts.back() = compute();
    }
    catch (const bat::Error&)
    {
    }
  };
  try
  {
    top.emplace(std::make_unique<bat::io::RandomAccessFile>(std::move(bytes), "damaged.bat"));
  }
  catch (const bat::Error& error)
  {
    answers.refused = error.code();
    return answers;
  }
  part([&] { return digest_of_description(*top); });
  part(
    [&]
    {
      Digest digest;
      digest.add(format::read_text(*top->source, top->sections, format::SectionKind::Metadata));
      return digest.value();
    });
  part([&] { return digest_of_leaf_files(*top); });
  try
  {
    bat::validate_top(*top);
    answers.sound = true;
  }
  catch (const bat::Error&)
  {
  }
  return answers;
}

/// All requests to the leaf file that open() opens.
template <class Open>
Answers ask_leaf(const Open& open, const std::vector<bat::Query>* queries)
{
  Answers answers;
  std::optional<bat::File> file;
  try
  {
    file.emplace(open());
  }
  catch (const bat::Error& error)
  {
    answers.refused = error.code();
    return answers;
  }
  const auto part = [&](auto&& compute)
  {
    answers.parts.emplace_back();
    try
    {
      answers.parts.back() = compute();
    }
    catch (const bat::Error&)
    {
    }
  };
  part([&] { return digest_of_description(*file); });
  part(
    [&]
    {
      Digest digest;
      digest.add(file->metadata());
      return digest.value();
    });
  std::vector<bat::Query> own;
  if (!queries)
  {
    own = queries_for(*file);
    queries = &own;
  }
  for (const bat::Query& query : *queries)
  {
    part([&] { return digest_of_query(*file, query); });
  }
  for (const bat::Query& query : *queries)
  {
    part([&] { return digest_of_look_up(*file, query); });
  }
  try
  {
    bat::validate(*file);
    answers.sound = true;
  }
  catch (const bat::Error&)
  {
    return answers;
  }
  check_against_brute_force(*file, *queries);
  return answers;
}

/// Opens, describes, queries and validates; for a top file, what needs no leaf files. Each part
/// either returns or throws bat::Error; any other exception is a failure and passes through.
inline Answers ask(Bytes bytes, const std::vector<bat::Query>* queries = nullptr)
{
  return is_top(bytes)
    ? ask_top(std::move(bytes))
    : ask_leaf([&] { return bat::File::from_memory(std::move(bytes), "damaged.bat"); }, queries);
}

inline bat::File open_mapped(const Bytes& bytes)
{
  const int descriptor = ::memfd_create("damaged.bat", MFD_CLOEXEC);
  if (descriptor < 0 ||
    ::write(descriptor, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
  {
    throw std::runtime_error("cannot make a file in memory");
  }
  const std::unique_ptr<const int, void (*)(const int*)> close(
    &descriptor, [](const int* d) { ::close(*d); });
  bat::OpenOptions options;
  options.map = true;
  return bat::File::open("/proc/self/fd/" + std::to_string(descriptor), options);
}

/// For a mapped leaf file.
inline Answers ask_mapped(const Bytes& bytes, const std::vector<bat::Query>* queries = nullptr)
{
  return ask_leaf([&] { return open_mapped(bytes); }, queries);
}
}
