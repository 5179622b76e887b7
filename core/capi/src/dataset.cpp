// Open datasets, queries, selections.

#include "handles.hpp"
#include "status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <vector>

namespace bat::capi
{
namespace
{
const bat::Dataset& opened(const bat_dataset* dataset)
{
  return need(dataset, "dataset").dataset;
}

const bat::Attribute& attribute_at(const bat_dataset* dataset, int index)
{
  const auto& attributes = opened(dataset).attributes();
  if (index < 0 || static_cast<std::size_t>(index) >= attributes.size())
  {
    refuse(fmt::format(
      "{}: attribute number {}; there are {}", opened(dataset).name(), index, attributes.size()));
  }
  return attributes[static_cast<std::size_t>(index)];
}

// The one of a component, or of the value or magnitude.
const bat::Key& key_of(const bat::Attribute& attribute, int component)
{
  if (component == BAT_WHOLE && attribute.components == 1)
  {
    component = 0;
  }
  for (const bat::Key& key : attribute.keys)
  {
    if (key.component == component)
    {
      return key;
    }
  }
  refuse(fmt::format("component {} of attribute '{}', which has {}", component, attribute.name,
    attribute.components));
}

std::int64_t exact(const bat::Number& number, const std::string& name)
{
  if (const auto* value = std::get_if<std::int64_t>(&number))
  {
    return *value;
  }
  const auto* value = std::get_if<std::uint64_t>(&number);
  if (!value || *value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
  {
    refuse(fmt::format("an end {} of the range of '{}' is no int64", to_string(number), name));
  }
  return static_cast<std::int64_t>(*value);
}

void open(const char* path, const bat::OpenOptions& options, bat_dataset** out)
{
  need(out, "result pointer");
  *out = nullptr;
  *out = new bat_dataset(bat::Dataset::open(need_text(path, "path"), options));
}

// Of a leaf file, map(file, count, options) gives the values of as many particles as a quality has.
template <class Map>
void map_column(const bat_dataset* dataset, std::uint64_t leaf, double quality, const void** values,
  std::uint64_t* count, const Map& map)
{
  need(values, "result pointer");
  need(count, "result pointer");
  *values = nullptr;
  *count = 0;
  const bat::File& file = opened(dataset).leaf_file(leaf);
  const std::uint64_t particles = file.particles_at(quality);
  *values = map(file, particles, dataset->map_options);
  *count = particles;
}

// Where values go, checked.
void* room(const bat_dataset* dataset, const bat_selection* selection, void* out, std::size_t bytes,
  std::size_t tuple_bytes, const std::string& what)
{
  const bat_selection& own = need(selection, "selection");
  if (own.dataset != &need(dataset, "dataset"))
  {
    refuse(fmt::format("{}: the selection was made from another dataset", opened(dataset).name()));
  }
  const std::uint64_t wanted = own.selection.count * tuple_bytes;
  if (bytes < wanted)
  {
    refuse(fmt::format("{}: {} of {} particles take {} bytes; the array has {}",
      opened(dataset).name(), what, own.selection.count, wanted, bytes));
  }
  if (wanted != 0)
  {
    need(static_cast<std::byte*>(out), "array for values");
  }
  return out;
}

void add_range(
  bat_query* query, const char* attribute, int component, bat::Number lower, bat::Number upper)
{
  bat_query& own = need(query, "query");
  bat::AttributeRange range;
  range.attribute = need_text(attribute, "attribute name");
  if (component != BAT_WHOLE)
  {
    range.component = component;
  }
  range.lower = lower;
  range.upper = upper;
  own.query.ranges.push_back(std::move(range));
}

// V is the alternative of bat::Number that holds every T.
template <class T, class V>
std::vector<bat::Number> copy_as(const void* values, std::size_t count)
{
  const T* const begin = static_cast<const T*>(values);
  std::vector<bat::Number> numbers;
  numbers.reserve(count);
  std::transform(begin, begin + count, std::back_inserter(numbers),
    [](T value) { return bat::Number(static_cast<V>(value)); });
  return numbers;
}

std::vector<bat::Number> numbers_of(bat::ScalarType type, const void* values, std::size_t count)
{
  switch (type)
  {
    case bat::ScalarType::Int8:
      return copy_as<std::int8_t, std::int64_t>(values, count);
    case bat::ScalarType::UInt8:
      return copy_as<std::uint8_t, std::uint64_t>(values, count);
    case bat::ScalarType::Int16:
      return copy_as<std::int16_t, std::int64_t>(values, count);
    case bat::ScalarType::UInt16:
      return copy_as<std::uint16_t, std::uint64_t>(values, count);
    case bat::ScalarType::Int32:
      return copy_as<std::int32_t, std::int64_t>(values, count);
    case bat::ScalarType::UInt32:
      return copy_as<std::uint32_t, std::uint64_t>(values, count);
    case bat::ScalarType::Int64:
      return copy_as<std::int64_t, std::int64_t>(values, count);
    case bat::ScalarType::UInt64:
      return copy_as<std::uint64_t, std::uint64_t>(values, count);
    case bat::ScalarType::Float32:
      return copy_as<float, double>(values, count);
    case bat::ScalarType::Float64:
      break;
  }
  return copy_as<double, double>(values, count);
}

// Kept before it is looked at, so that a query after a refused box fails, on all ranks.
void set_box(bat_query& query, const bat::Box& box, bool half_open)
{
  query.query.box = box;
  query.query.half_open = half_open;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    if (std::isnan(box.lower[axis]) || std::isnan(box.upper[axis]))
    {
      refuse(fmt::format("an end of the box along {} is NaN", "xyz"[axis]));
    }
  }
}
}

bat_selection* select(const bat_dataset* dataset, const bat_query* query, int default_threads)
{
  auto selection = std::make_unique<bat_selection>();
  selection->dataset = &need(dataset, "dataset");
  selection->options.threads =
    query && query->options.threads > 0 ? query->options.threads : default_threads;
  selection->selection =
    dataset->dataset.select(query ? query->query : bat::Query{}, selection->options);
  return selection.release();
}

void read_positions(
  const bat_dataset* dataset, const bat_selection* selection, void* out, std::size_t bytes)
{
  const std::size_t tuple = 3 * size_of(opened(dataset).position_type());
  void* const values = room(dataset, selection, out, bytes, tuple, "positions");
  opened(dataset).read_positions(selection->selection, values, selection->options);
}

void read_attribute(const bat_dataset* dataset, const char* name, const bat_selection* selection,
  void* out, std::size_t bytes)
{
  const std::size_t index = opened(dataset).attribute_index(need_text(name, "attribute name"));
  const bat::Attribute& attribute = opened(dataset).attributes()[index];
  const std::size_t tuple =
    size_of(attribute.type) * static_cast<std::size_t>(attribute.components);
  void* const values =
    room(dataset, selection, out, bytes, tuple, fmt::format("values of '{}'", attribute.name));
  opened(dataset).read_attribute(index, selection->selection, values, selection->options);
}
}

using namespace bat::capi;

int bat_open(const char* path, bat_dataset** out)
{
  return guard([&] { open(path, {}, out); });
}

int bat_open_mapped(const char* path, bat_dataset** out)
{
  bat::OpenOptions options;
  options.map = true;
  return guard([&] { open(path, options, out); });
}

void bat_close(bat_dataset* dataset)
{
  delete dataset;
}

int bat_dataset_count(const bat_dataset* dataset, uint64_t* particles)
{
  return guard([&] { need(particles, "result pointer") = opened(dataset).particle_count(); });
}

int bat_dataset_position_type(const bat_dataset* dataset, int* type)
{
  return guard(
    [&] { need(type, "result pointer") = static_cast<int>(opened(dataset).position_type()); });
}

int bat_dataset_bounds(const bat_dataset* dataset, double* box)
{
  return guard(
    [&]
    {
      need(box, "box");
      constexpr double inf = std::numeric_limits<double>::infinity();
      const bat::Box bounds =
        opened(dataset).bounds().value_or(bat::Box{ { inf, inf, inf }, { -inf, -inf, -inf } });
      for (std::size_t axis = 0; axis != 3; ++axis)
      {
        box[axis] = bounds.lower[axis];
        box[axis + 3] = bounds.upper[axis];
      }
    });
}

int bat_dataset_time(const bat_dataset* dataset, int* has, double* time)
{
  return guard(
    [&]
    {
      const std::optional<double> value = opened(dataset).time();
      need(has, "result pointer") = value ? 1 : 0;
      need(time, "result pointer") = value.value_or(0);
    });
}

int bat_dataset_step(const bat_dataset* dataset, int* has, int64_t* step)
{
  return guard(
    [&]
    {
      const std::optional<std::int64_t> value = opened(dataset).step();
      need(has, "result pointer") = value ? 1 : 0;
      need(step, "result pointer") = value.value_or(0);
    });
}

int bat_dataset_metadata(const bat_dataset* dataset, const char** json)
{
  return guard([&] { need(json, "result pointer") = need(dataset, "dataset").metadata.c_str(); });
}

int bat_dataset_leaf_files(const bat_dataset* dataset, uint64_t* files)
{
  return guard([&] { need(files, "result pointer") = opened(dataset).leaves().size(); });
}

int bat_dataset_file_bytes(const bat_dataset* dataset, uint64_t* bytes)
{
  return guard([&] { need(bytes, "result pointer") = opened(dataset).file_bytes(); });
}

int bat_dataset_attribute_count(const bat_dataset* dataset, int* attributes)
{
  return guard(
    [&] {
      need(attributes, "result pointer") = static_cast<int>(opened(dataset).attributes().size());
    });
}

int bat_dataset_attribute(
  const bat_dataset* dataset, int index, const char** name, int* type, int* components)
{
  return guard(
    [&]
    {
      const bat::Attribute& attribute = attribute_at(dataset, index);
      if (name)
      {
        *name = attribute.name.c_str();
      }
      if (type)
      {
        *type = static_cast<int>(attribute.type);
      }
      if (components)
      {
        *components = attribute.components;
      }
    });
}

int bat_dataset_attribute_index(const bat_dataset* dataset, const char* name, int* index)
{
  return guard(
    [&]
    {
      need(index, "result pointer") = -1;
      *index = static_cast<int>(opened(dataset).attribute_index(need_text(name, "attribute name")));
    });
}

int bat_dataset_attribute_range(
  const bat_dataset* dataset, int index, int component, double* minimum, double* maximum)
{
  return guard(
    [&]
    {
      const bat::Key& key = key_of(attribute_at(dataset, index), component);
      need(minimum, "result pointer") = bat::to_double(key.minimum);
      need(maximum, "result pointer") = bat::to_double(key.maximum);
    });
}

int bat_dataset_attribute_range_int64(
  const bat_dataset* dataset, int index, int component, int64_t* minimum, int64_t* maximum)
{
  return guard(
    [&]
    {
      const bat::Attribute& attribute = attribute_at(dataset, index);
      const bat::Key& key = key_of(attribute, component);
      need(minimum, "result pointer") = exact(key.minimum, attribute.name);
      need(maximum, "result pointer") = exact(key.maximum, attribute.name);
    });
}

int bat_query_create(bat_query** out)
{
  return guard(
    [&]
    {
      need(out, "result pointer") = nullptr;
      *out = new bat_query;
    });
}

void bat_query_free(bat_query* query)
{
  delete query;
}

int bat_query_set_quality(bat_query* query, double quality, double after_quality)
{
  return guard(
    [&]
    {
      bat_query& own = need(query, "query");
      own.query.quality = quality;
      own.query.after_quality = after_quality;
      if (!(quality >= 0 && quality <= 1 && after_quality >= 0 && after_quality <= quality))
      {
        refuse(fmt::format("quality {} after {}; 0 <= after_quality <= quality <= 1 is allowed",
          quality, after_quality));
      }
    });
}

int bat_query_set_box(bat_query* query, const double* box)
{
  return guard([&] { set_box(need(query, "query"), box_of(box), false); });
}

int bat_query_set_box_half_open(bat_query* query, const double* box)
{
  return guard([&] { set_box(need(query, "query"), box_of(box), true); });
}

int bat_query_add_range(
  bat_query* query, const char* attribute, int component, double lower, double upper)
{
  return guard([&] { add_range(query, attribute, component, lower, upper); });
}

int bat_query_add_range_int64(
  bat_query* query, const char* attribute, int component, int64_t lower, int64_t upper)
{
  return guard([&] { add_range(query, attribute, component, lower, upper); });
}

int bat_query_add_range_uint64(
  bat_query* query, const char* attribute, int component, uint64_t lower, uint64_t upper)
{
  return guard([&] { add_range(query, attribute, component, lower, upper); });
}

int bat_query_add_values(bat_query* query, const char* attribute, int component, int type,
  const void* values, uint64_t count)
{
  return guard(
    [&]
    {
      bat_query& own = need(query, "query");
      bat::AttributeValues list{ need_text(attribute, "attribute name"), std::nullopt, {} };
      if (component != BAT_WHOLE)
      {
        list.component = component;
      }
      const bat::ScalarType scalar = type_of(type);
      if (count != 0)
      {
        need(static_cast<const std::byte*>(values), "array of values");
      }
      list.values = numbers_of(scalar, values, count);
      own.query.values.push_back(std::move(list));
    });
}

int bat_query_set_part(bat_query* query, uint32_t part, uint32_t parts)
{
  return guard(
    [&]
    {
      bat_query& own = need(query, "query");
      own.query.part = part;
      own.query.parts = parts;
      if (part >= parts)
      {
        refuse(fmt::format("part {} of {}", part, parts));
      }
    });
}

int bat_query_set_threads(bat_query* query, int threads)
{
  return guard(
    [&]
    {
      bat_query& own = need(query, "query");
      if (threads < 0)
      {
        refuse(fmt::format("{} threads", threads));
      }
      own.options.threads = threads;
    });
}

int bat_select(const bat_dataset* dataset, const bat_query* query, bat_selection** out)
{
  return guard(
    [&]
    {
      need(out, "result pointer") = nullptr;
      *out = select(dataset, query, 0);
    });
}

void bat_selection_free(bat_selection* selection)
{
  delete selection;
}

int bat_selection_count(const bat_selection* selection, uint64_t* particles)
{
  return guard(
    [&]
    {
      need(particles, "result pointer") = 0;
      *particles = need(selection, "selection").selection.count;
    });
}

int bat_read_positions(
  const bat_dataset* dataset, const bat_selection* selection, void* out, size_t bytes)
{
  return guard([&] { read_positions(dataset, selection, out, bytes); });
}

int bat_read_attribute(const bat_dataset* dataset, const char* name, const bat_selection* selection,
  void* out, size_t bytes)
{
  return guard([&] { read_attribute(dataset, name, selection, out, bytes); });
}

int bat_map_positions(
  const bat_dataset* dataset, uint64_t leaf, double quality, const void** values, uint64_t* count)
{
  return guard(
    [&]
    {
      map_column(dataset, leaf, quality, values, count,
        [](const bat::File& file, std::uint64_t particles, const bat::QueryOptions& options)
        { return file.map_positions(particles, options); });
    });
}

int bat_map_attribute(const bat_dataset* dataset, const char* name, uint64_t leaf, double quality,
  const void** values, uint64_t* count)
{
  return guard(
    [&]
    {
      map_column(dataset, leaf, quality, values, count,
        [&](const bat::File& file, std::uint64_t particles, const bat::QueryOptions& options)
        {
          const std::size_t index =
            opened(dataset).attribute_index(need_text(name, "attribute name"));
          return file.map_attribute(index, particles, options);
        });
    });
}
