// SPDX-License-Identifier: BSD-3-Clause
#include "particles/repack/repack_leaf.hpp"

#include "bat/error.hpp"
#include "bat/file.hpp"
#include "particles/dataset/file_leaf.hpp"
#include "particles/format/encode.hpp"
#include "particles/tree/file_impl.hpp"
#include "particles/write/check_input.hpp"
#include "particles/write/option_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <set>

namespace bat
{
namespace
{
constexpr std::uint64_t kParticlesPerRead = std::uint64_t{ 1 }
  << 18; // particles that are read back at once

const AttributeView& stored(const ParticleView& view, std::size_t array)
{
  return view.attributes[array - 1];
}

std::string name_of_array(const ParticleView& view, std::size_t array)
{
  return array == 0 ? "positions" : stored(view, array).name;
}

const ArrayView& array_of(const ParticleView& view, std::size_t array)
{
  return array == 0 ? view.positions : stored(view, array).values;
}

void read_array(const LeafSource& leaf, std::size_t array, const Selection& selection,
  std::byte* out, const QueryOptions& options)
{
  if (array == 0)
  {
    leaf.read_positions(selection, out, options);
  }
  else
  {
    leaf.read_attribute(array - 1, selection, out, options);
  }
}

const File* own_file(const LeafSource& leaf)
{
  const auto* own = dynamic_cast<const FileLeaf*>(&leaf);
  return own ? &own->file() : nullptr;
}

// Names of the sorted indexes, as in the option.
std::vector<std::string> list_sorted_indexes(const File& file)
{
  std::vector<std::string> names;
  for (const Attribute& attribute : file.attributes())
  {
    for (const Key& key : attribute.keys)
    {
      if (!attribute.alias && key.has_sorted_index)
      {
        const bool whole = attribute.components == 1 || key.component < 0;
        names.push_back(
          whole ? attribute.name : fmt::format("{}[{}]", attribute.name, key.component));
      }
    }
  }
  return names;
}

// Guesses the limit of the treelet size, which the file does not store: limits are usually powers
// of two, and treelets are joined as far as the limit allows. Limits of other writers may exceed
// the maximum here.
std::uint32_t treelet_particles_of(const File& file)
{
  std::uint32_t largest = 0;
  const auto& treelets = file.impl().spatial_index().treelets;
  for (const format::TreeletRecord& treelet : treelets)
  {
    largest = std::max(largest, treelet.count);
  }
  std::uint32_t limit =
    treelets.size() > 1 ? write::kMinTreeletParticles : BuildOptions().treelet_particles;
  while (limit < std::min(largest, write::kMaxTreeletParticles))
  {
    limit *= 2;
  }
  return limit;
}

void keep_storage(const File& file, BuildOptions& build)
{
  std::set<std::uint32_t> chunks;
  const auto inspect = [&](std::optional<std::size_t> attribute)
  {
    if (!file.storage(attribute).is_compressed)
    {
      return;
    }
    build.compression = Compression::Lossless;
    const auto& column = attribute
      ? file.impl().column(format::SectionKind::Attribute, static_cast<std::uint32_t>(*attribute))
      : file.impl().column(format::SectionKind::Positions);
    chunks.insert(column.chunks().chunk_particles());
  };
  inspect(std::nullopt);
  for (std::size_t k = 0; k != file.attributes().size(); ++k)
  {
    if (!file.attributes()[k].alias)
    {
      inspect(k);
    }
  }
  build.chunk_particles =
    chunks.size() == 1 ? std::max(*chunks.begin(), write::kMinChunkParticles) : 0;
}

std::vector<std::size_t> keys_with_index(const File& file)
{
  std::vector<std::size_t> keys;
  for (std::size_t key = 0; key != file.impl().schema.keys.size(); ++key)
  {
    if (file.impl().has_sorted_index(key))
    {
      keys.push_back(key);
    }
  }
  return keys;
}

// Takes all changeable options from the leaf file, except bounds and sorted indexes.
void keep(const LeafSource& leaf, BuildOptions& build)
{
  if (const File* file = own_file(leaf))
  {
    keep_storage(*file, build);
    build.block_particles = std::max(file->block_particles(), write::kMinBlockParticles);
    build.treelet_particles = treelet_particles_of(*file);
    // A file whose positions are compressed says nothing about the view that it would have.
    build.hdf5_view = file->hdf5_view().exists || file->storage({}).is_compressed;
  }
}

void keep_sorted_indexes(const LeafSource& leaf, BuildOptions& build)
{
  const File* file = own_file(leaf);
  if (!file)
  {
    return;
  }
  build.sorted_indexes = list_sorted_indexes(*file);
  const ParticleView schema = make_schema(file->position_type(), file->attributes());
  if (write::indexed_keys(schema, build) != keys_with_index(*file))
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{}: the name of an attribute equals that of a component with a sorted index, "
                  "so the index cannot be kept; specify sorted_indexes, or an empty list",
        file->name()));
  }
}

std::vector<std::string> in_words(
  const ParticleView& schema, const std::vector<format::SampleIdRecord>& ids)
{
  std::vector<std::string> words;
  for (const format::SampleIdRecord& id : ids)
  {
    // Component 0 of an attribute with one component is the same as the attribute.
    const AttributeView& attribute = schema.attributes[id.attribute];
    const int component = attribute.values.components == 1 ? -1 : id.component;
    words.push_back(fmt::format("component {} of '{}'", component, attribute.name));
  }
  return words;
}

void keep_stable_samples(const LeafSource& leaf, BuildOptions& build)
{
  const File* file = own_file(leaf);
  if (!file)
  {
    return;
  }
  build.stable_samples = file->stable_samples();
  const ParticleView schema = make_schema(file->position_type(), file->attributes());
  if (in_words(schema, write::sample_ids(schema, build)) !=
    in_words(schema, file->impl().schema.sample_ids))
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{}: the name of an attribute equals that of a component used for stable "
                  "samples, so these cannot be kept; specify stable_samples, or an empty list",
        file->name()));
  }
}

[[noreturn]] void fail(const std::string& name, const std::string& what)
{
  throw Error(ErrorCode::WriteFailed,
    fmt::format(
      "{}: the written file differs from the source: {}; nothing was replaced", name, what));
}

bool same_bits(const std::optional<double>& a, const std::optional<double>& b)
{
  return a.has_value() == b.has_value() && (!a || std::memcmp(&*a, &*b, sizeof(double)) == 0);
}

std::string format_description(const Attribute& a, const std::vector<Attribute>& all)
{
  return fmt::format("'{}', {} x {}, hints {} and {}{}", a.name, name_of(a.type), a.components,
    a.role, a.host_type, a.alias ? ", repeats " + to_string(*a.alias, all) : "");
}

void check_schema(const File& file, const std::string& name, const ParticleView& schema)
{
  const std::vector<Attribute> expected = format::attributes_of(schema);
  const std::vector<Attribute>& found = file.attributes();
  if (file.position_type() != schema.positions.type || found.size() != expected.size())
  {
    fail(name, "the position type or the attributes differ");
  }
  for (std::size_t k = 0; k != found.size(); ++k)
  {
    const std::string is = format_description(found[k], found);
    const std::string ought = format_description(expected[k], expected);
    if (is != ought)
    {
      fail(name, fmt::format("attribute {} is {} instead of {}", k, is, ought));
    }
  }
  if (!same_bits(file.time(), schema.time) || file.step() != schema.step ||
    format::metadata_text(file.metadata()) != format::metadata_text(schema.metadata))
  {
    fail(name, "time, step or metadata differ");
  }
}
}

ParticleView make_schema(ScalarType position_type, const std::vector<Attribute>& attributes)
{
  ParticleView schema;
  schema.positions = ArrayView::packed(position_type, 3, nullptr);
  for (const Attribute& attribute : attributes)
  {
    if (!attribute.alias)
    {
      schema.attributes.push_back(
        { attribute.name, ArrayView::packed(attribute.type, attribute.components, nullptr),
          attribute.role, attribute.host_type });
      continue;
    }
    const std::optional<std::size_t>& target = attribute.alias->attribute;
    schema.aliases.push_back({ attribute.name, target ? attributes[*target].name : std::string(),
      attribute.alias->component, attribute.role, attribute.host_type });
  }
  return schema;
}

std::vector<std::size_t> stored_arrays(const ParticleView& schema)
{
  std::vector<std::size_t> arrays(schema.attributes.size() + 1);
  for (std::size_t i = 0; i != arrays.size(); ++i)
  {
    arrays[i] = i;
  }
  return arrays;
}

LeafColumns::LeafColumns(const LeafSource& leaf, const ParticleView& schema,
  const std::vector<std::size_t>& requested, int threads, const OnProgress& on_progress)
  : view_(schema)
  , arrays_(schema.attributes.size() + 1)
{
  QueryOptions options;
  options.threads = threads;
  this->view_.count = leaf.particle_count();
  Selection all;
  all.count = this->view_.count;
  if (all.count != 0)
  {
    all.spans.push_back({ 0, all.count });
  }
  double done = 0;
  for (const std::size_t array : requested)
  {
    on_progress(done++ / static_cast<double>(requested.size()));
    ArrayView& view = array == 0 ? this->view_.positions : this->view_.attributes[array - 1].values;
    LargeArray<std::byte>& values = this->arrays_[array];
    values.reset(all.count * tuple_bytes(view.type, view.components));
    read_array(leaf, array, all, values.data(), options);
    view = ArrayView::packed(view.type, view.components, values.data());
  }
}

bool is_compressed(const LeafSource& leaf)
{
  BuildOptions build;
  if (const File* file = own_file(leaf))
  {
    keep_storage(*file, build);
  }
  return build.compression != Compression::None;
}

std::map<std::string, double> collect_bounds(const LeafSource& leaf)
{
  std::map<std::string, double> bounds;
  const File* file = own_file(leaf);
  if (!file)
  {
    return bounds;
  }
  if (const double bound = file->storage(std::nullopt).bound; bound > 0)
  {
    bounds["positions"] = bound;
  }
  for (std::size_t k = 0; k != file->attributes().size(); ++k)
  {
    const Attribute& attribute = file->attributes()[k];
    if (const double bound = file->storage(k).bound; !attribute.alias && bound > 0)
    {
      bounds[attribute.name] = bound;
    }
  }
  return bounds;
}

// Requested bounds replace those that the arrays have; 0 makes an array lossless.
void set_error_bounds(
  const LeafSource& leaf, const std::vector<write::ErrorBound>& bounds, BuildOptions& build)
{
  std::map<std::string, double> all = collect_bounds(leaf);
  for (const write::ErrorBound& bound : bounds)
  {
    all[bound.name] = bound.value;
  }
  for (auto bound = all.begin(); bound != all.end();)
  {
    bound = bound->second == 0 ? all.erase(bound) : std::next(bound);
  }
  build.compression = !all.empty()              ? Compression::Bounded
    : build.compression == Compression::Bounded ? Compression::Lossless
                                                : build.compression;
  for (const auto& [name, bound] : all)
  {
    build.error_bounds.push_back(fmt::format("{}={}", name, bound));
  }
}

BuildOptions make_build_options(const LeafSource& leaf, const RepackOptions& options,
  const std::vector<write::ErrorBound>& bounds)
{
  BuildOptions build;
  keep(leaf, build);
  const BuildOptions& request = options.build;
  const auto change = [&](const char* name, auto member)
  {
    if (options.changed.count(name) != 0)
    {
      build.*member = request.*member;
    }
  };
  change("sorted_indexes", &BuildOptions::sorted_indexes);
  if (options.changed.count("sorted_indexes") == 0)
  {
    keep_sorted_indexes(leaf, build);
  }
  change("stable_samples", &BuildOptions::stable_samples);
  if (options.changed.count("stable_samples") == 0)
  {
    keep_stable_samples(leaf, build);
  }
  change("compression", &BuildOptions::compression);
  change("hdf5_view", &BuildOptions::hdf5_view);
  change("chunk_particles", &BuildOptions::chunk_particles);
  change("treelet_particles", &BuildOptions::treelet_particles);
  if (options.changed.count("index_budget") != 0)
  {
    build.block_particles = 0; // the budget chooses it
    build.index_budget = request.index_budget;
  }
  change("block_particles", &BuildOptions::block_particles);
  const bool may_have_bounds =
    options.changed.count("compression") == 0 || request.compression == Compression::Bounded;
  if (may_have_bounds)
  {
    set_error_bounds(leaf, bounds, build);
  }
  if (build.compression == Compression::None)
  {
    build.chunk_particles = 0; // there are none
  }
  build.threads = request.threads;
  build.flush = request.flush;
  return build;
}

ParticleSum expected_sum(const ParticleView& particles, const BuildOptions& build)
{
  std::vector<SummedColumn> columns;
  for (const std::size_t array : stored_arrays(particles))
  {
    const ArrayView& view = array_of(particles, array);
    columns.push_back(
      { name_of_array(particles, array), view.type, view.components, view.component[0], 0 });
  }
  for (const write::ErrorBound& bound : write::error_bounds(particles, build))
  {
    columns[bound.array].bound = bound.value;
  }
  return compute_sum(columns, particles.count);
}

void check_leaf(const std::string& path, const std::string& name, const ParticleView& schema,
  std::uint64_t count, const ParticleSum& sum, const BuildOptions& build,
  const OnProgress& on_progress)
{
  const FileLeaf leaf(File::open(path));
  const File& file = leaf.file();
  if (file.particle_count() != count)
  {
    fail(name, fmt::format("{} particles instead of {}", file.particle_count(), count));
  }
  check_schema(file, name, schema);
  if (keys_with_index(file) != write::indexed_keys(schema, build))
  {
    fail(name, "the sorted indexes differ");
  }
  if (in_words(schema, write::sample_ids(schema, build)) !=
    in_words(schema, file.impl().schema.sample_ids))
  {
    fail(name, "the stable sample attributes differ");
  }

  QueryOptions options;
  options.threads = build.threads;
  ParticleSum found;
  std::vector<SummedColumn> columns;
  std::vector<std::vector<std::byte>> values;
  for (const std::size_t array : stored_arrays(schema))
  {
    const ArrayView& view = array_of(schema, array);
    values.emplace_back(
      std::min(count, kParticlesPerRead) * tuple_bytes(view.type, view.components));
    columns.push_back({ {}, view.type, view.components, values.back().data(), 0 });
  }
  for (std::uint64_t first = 0; first < count; first += kParticlesPerRead)
  {
    on_progress(static_cast<double>(first) / static_cast<double>(count));
    Selection portion;
    portion.count = std::min(kParticlesPerRead, count - first);
    portion.spans.push_back({ first, portion.count });
    for (const std::size_t array : stored_arrays(schema))
    {
      read_array(leaf, array, portion, values[array].data(), options);
    }
    const ParticleSum some = compute_sum(columns, portion.count);
    found.add(some.low, some.high);
  }
  on_progress(1);
  if (!(found == sum))
  {
    fail(name, fmt::format("the values of its {} particles differ", count));
  }
}
}
