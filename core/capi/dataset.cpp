// SPDX-License-Identifier: BSD-3-Clause
// Implements open datasets, queries and selections.

#include "bat/scoped_stop.hpp"
#include "bat/validate.hpp"
#include "capi/handles.hpp"
#include "capi/status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace bat::capi
{
namespace
{
const bat_dataset& handle_of(const bat_dataset* dataset)
{
  if (!dataset)
  {
    refuse("the dataset is NULL: it was not opened, or was closed");
  }
  return *dataset;
}

const bat::Dataset& opened(const bat_dataset* dataset)
{
  return handle_of(dataset).dataset;
}

const bat::Attribute& attribute_at(const bat_dataset* dataset, std::int64_t index)
{
  const auto& attributes = opened(dataset).attributes();
  if (index < 0 || static_cast<std::uint64_t>(index) >= attributes.size())
  {
    refuse(fmt::format("{}: attribute number {} is out of range; the file has {}",
      opened(dataset).name(), index, attributes.size()));
  }
  return attributes[static_cast<std::size_t>(index)];
}

// The range of a component, or of the value or magnitude.
const bat::Key& key_of(const bat::Attribute& attribute, std::int64_t component)
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

// Checks that an integer equals an Other, which has at least as many bits.
template <class Other, class Integer>
bool fits(Integer value)
{
  static_assert(sizeof(Other) >= sizeof(Integer));
  if constexpr (std::is_signed_v<Integer> && std::is_unsigned_v<Other>)
  {
    return value >= 0;
  }
  else if constexpr (sizeof(Other) == sizeof(Integer) && std::is_unsigned_v<Integer> &&
    std::is_signed_v<Other>)
  {
    return value <= static_cast<Integer>(std::numeric_limits<Other>::max());
  }
  else
  {
    return true;
  }
}

template <class Integer>
Integer exact(const bat::Number& number, const std::string& name)
{
  return std::visit(
    [&](auto value) -> Integer
    {
      if constexpr (std::is_integral_v<decltype(value)>)
      {
        if (fits<Integer>(value))
        {
          return static_cast<Integer>(value);
        }
      }
      refuse(fmt::format("the range of '{}' ends at {}, which {}int64 cannot represent", name,
        to_string(number), std::is_signed_v<Integer> ? "" : "u"));
    },
    number);
}

template <class Integer>
int exact_range(const bat_dataset* dataset, std::int64_t index, std::int64_t component,
  Integer* minimum, Integer* maximum)
{
  return guard_use(dataset,
    [&]
    {
      const bat::Attribute& attribute = attribute_at(dataset, index);
      const bat::Key& key = key_of(attribute, component);
      need(minimum, "result pointer") = 0;
      need(maximum, "result pointer") = 0;
      if (!std::holds_alternative<double>(key.minimum) && key.minimum > key.maximum)
      {
        *minimum = std::numeric_limits<Integer>::max(); // no values, of whatever type
        *maximum = std::numeric_limits<Integer>::min();
        return;
      }
      const auto lower = exact<Integer>(key.minimum, attribute.name);
      *maximum = exact<Integer>(key.maximum, attribute.name);
      *minimum = lower;
    });
}

// Converts a box from the C API.
void give_box(const std::optional<bat::Box>& box, double* out)
{
  constexpr double inf = std::numeric_limits<double>::infinity();
  const bat::Box bounds = box.value_or(bat::Box{ { inf, inf, inf }, { -inf, -inf, -inf } });
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    out[axis] = bounds.lower[axis];
    out[axis + 3] = bounds.upper[axis];
  }
}

}

// Returns a query in which nothing was refused; NULL selects everything.
const bat::Query& request(const bat_query* query)
{
  static const bat::Query everything;
  if (query && !(query->refused_part + query->refused_condition).empty())
  {
    refuse(query->refused_part.empty() ? query->refused_condition : query->refused_part);
  }
  return query ? query->query : everything;
}

namespace
{
bat::QueryOptions parse_options(const bat_query* query)
{
  return query ? query->options : bat::QueryOptions{};
}

// Returns a column of a selection that carries its values.
const std::vector<std::byte>& column_of(
  const bat_selection& own, const std::optional<std::size_t>& attribute)
{
  if (!attribute)
  {
    return own.values->positions;
  }
  const auto found = own.values->attributes.find(*attribute);
  if (found == own.values->attributes.end())
  {
    const bat::Dataset& dataset = own.dataset->dataset;
    refuse(fmt::format("{}: attribute '{}' was not read with the particles", dataset.name(),
      dataset.attributes()[*attribute].name));
  }
  return found->second;
}

// Reads a selection in portions: read(portion, first) reads one whose first particle has index
// `first` in the selection. Without a progress function, everything is one portion.
template <class Read>
void in_portions(const bat_selection& selection, double from, double to, const Read& read)
{
  constexpr std::uint64_t kParticlesPerRead = 1u << 20;
  const Progress& progress = selection.progress;
  if (!progress.function || selection.values)
  {
    read(selection.selection, 0);
    return;
  }
  bat::StoppableProgress call([&](double share)
    { return progress.function(progress.data, from + (to - from) * share) == 0; },
    selection.dataset->dataset.is_remote());
  const auto report_progress = [&](double share)
  {
    if (!call(share))
    {
      throw Error(ErrorCode::Cancelled,
        fmt::format("{}: the read was cancelled", selection.dataset->dataset.name()));
    }
  };
  std::uint64_t done = 0;
  for (const bat::DatasetSelection& portion : bat::split(selection.selection, kParticlesPerRead))
  {
    report_progress(static_cast<double>(done) / static_cast<double>(selection.selection.count));
    read(portion, done);
    done += portion.count;
  }
  report_progress(1);
}

void open(const char* path, const bat::OpenOptions& options, bat_dataset** out)
{
  need(out, "result pointer");
  *out = nullptr;
  *out = new bat_dataset(bat::Dataset::open(need_text(path, "path"), options));
}

// Maps a leaf file: map(file, count, options) returns the values of the `count` particles of a
// quality.
template <class Map>
void map_column(const bat_dataset* dataset, std::uint64_t leaf, double quality, const void** values,
  std::uint64_t* count, const Map& map)
{
  need(values, "result pointer");
  need(count, "result pointer");
  *values = nullptr;
  *count = 0;
  const bat::File& file = opened(dataset).leaf_file(need_size(leaf, "the leaf file number"));
  const std::uint64_t particles = file.particles_at(quality);
  *values = map(file, particles, dataset->map_options);
  *count = particles;
}

// Reads the values of a portion, whose first particle has index `first` in the selection; positions
// if no attribute is given. Copies from memory if the selection carries its values.
void values_of(const bat_selection& own, const std::optional<std::size_t>& attribute,
  const bat::DatasetSelection& portion, std::uint64_t first, std::size_t tuple, std::byte* out)
{
  const bat::Dataset& dataset = own.dataset->dataset;
  if (own.values)
  {
    const std::vector<std::byte>& values = column_of(own, attribute);
    if (portion.count != 0)
    {
      std::memcpy(out, values.data() + first * tuple, portion.count * tuple);
    }
    return;
  }
  attribute ? dataset.read_attribute(*attribute, portion, out, own.options)
            : dataset.read_positions(portion, out, own.options);
}

// Checks the array that receives values, and returns it.
void* room(const bat_dataset* dataset, const bat_selection* selection, void* out, std::size_t bytes,
  std::size_t tuple_bytes, const std::string& what)
{
  const bat_selection& own = need(selection, "selection");
  if (own.dataset != &handle_of(dataset))
  {
    refuse(fmt::format("{}: the selection belongs to another dataset", opened(dataset).name()));
  }
  const std::uint64_t requested = own.selection.count * tuple_bytes;
  need_size(bytes, "the size of the array for " + what);
  if (bytes < requested)
  {
    refuse(fmt::format("{}: {} of {} particles need {} bytes, but the array has {}",
      opened(dataset).name(), what, own.selection.count, requested, bytes));
  }
  if (requested != 0)
  {
    need(static_cast<std::byte*>(out), "values array");
  }
  return out;
}

std::optional<int> component_of(std::int64_t component, const std::string& attribute)
{
  if (component == BAT_WHOLE)
  {
    return std::nullopt;
  }
  return static_cast<int>(need_at_most(component, bat::kMaxComponents - 1,
    fmt::format("the component of '{}' (-1 means all)", attribute)));
}

void add_range(bat_query* query, const char* attribute, std::int64_t component, bat::Number lower,
  bat::Number upper)
{
  bat_query& own = need(query, "query");
  bat::AttributeRange range;
  range.attribute = need_text(attribute, "attribute name");
  range.component = component_of(component, range.attribute);
  range.lower = lower;
  range.upper = upper;
  own.query.ranges.push_back(std::move(range));
}

// Calls f with a value of the C++ type that `type` names.
template <class F>
decltype(auto) with_type(bat::ScalarType type, F&& f)
{
  switch (type)
  {
    case bat::ScalarType::Int8:
      return f(std::int8_t{});
    case bat::ScalarType::UInt8:
      return f(std::uint8_t{});
    case bat::ScalarType::Int16:
      return f(std::int16_t{});
    case bat::ScalarType::UInt16:
      return f(std::uint16_t{});
    case bat::ScalarType::Int32:
      return f(std::int32_t{});
    case bat::ScalarType::UInt32:
      return f(std::uint32_t{});
    case bat::ScalarType::Int64:
      return f(std::int64_t{});
    case bat::ScalarType::UInt64:
      return f(std::uint64_t{});
    case bat::ScalarType::Float32:
      return f(float{});
    case bat::ScalarType::Float64:
      break;
  }
  return f(double{});
}

}

std::vector<bat::Number> numbers_of(bat::ScalarType type, const void* values, std::size_t count)
{
  std::vector<bat::Number> numbers;
  numbers.reserve(count);
  with_type(type,
    [&](auto example)
    {
      using T = decltype(example);
      // The alternative of bat::Number that holds every T.
      using V = std::conditional_t<std::is_floating_point_v<T>, double,
        std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;
      const T* const begin = static_cast<const T*>(values);
      std::transform(begin, begin + count, std::back_inserter(numbers),
        [](T value) { return bat::Number(static_cast<V>(value)); });
    });
  return numbers;
}

namespace
{
bool parse_flag(int value, const char* what)
{
  if (value != 0 && value != 1)
  {
    refuse(fmt::format("{} is {}; allowed are 0 and 1", what, value));
  }
  return value == 1;
}

void add_set(bat_query* query, const char* attribute, std::int64_t component, int type,
  const void* values, std::uint64_t count, const void* ranges, std::uint64_t range_count,
  int negated)
{
  bat_query& own = need(query, "query");
  bat::AttributeValues list;
  list.attribute = need_text(attribute, "attribute name");
  list.component = component_of(component, list.attribute);
  list.negated = parse_flag(negated, "negated");
  const bat::ScalarType scalar = type_of(type);
  if (need_size(count, "the value count") != 0)
  {
    need(static_cast<const std::byte*>(values), "values array");
  }
  if (need_size(range_count, "the range count") != 0)
  {
    need(static_cast<const std::byte*>(ranges), "range array");
  }
  list.values = numbers_of(scalar, values, count);
  const std::vector<bat::Number> ends = numbers_of(scalar, ranges, 2 * range_count);
  for (std::uint64_t i = 0; i != range_count; ++i)
  {
    list.ranges.push_back({ ends[2 * i], ends[2 * i + 1] });
  }
  own.query.values.push_back(std::move(list));
}

std::array<double, 3> vector_of(const double* xyz, const char* what)
{
  need(xyz, what);
  return { xyz[0], xyz[1], xyz[2] };
}

template <class Form>
void add_shape(bat_query* query, Form form, int outside)
{
  need(query, "query").query.shapes.push_back({ form, parse_flag(outside, "outside") });
}

// Reads one end of a range at an address; none if that is NULL.
bat::Number end_of(int type, const void* number, double none)
{
  return number ? numbers_of(type_of(type), number, 1).front() : bat::Number(none);
}

// Works as guard() does. A query with a refused condition never returns results.
template <class F>
int guard_condition(bat_query* query, F&& f) noexcept
{
  const int status = guard(f);
  if (status != BAT_OK && query && query->refused_condition.empty())
  {
    (void)guard([&] { query->refused_condition = last_error(); });
  }
  return status;
}

// Recorded before it is checked, so that a query with a refused box fails on all ranks.
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
  const bat::Query& question = request(query);
  auto selection = std::make_unique<bat_selection>();
  selection->dataset = &handle_of(dataset);
  selection->options.threads =
    query && query->options.threads > 0 ? query->options.threads : default_threads;
  selection->progress = query ? query->progress : Progress{};
  const Progress& progress = selection->progress;
  const bat::StoppableProgress while_waiting([&](double share)
    { return !progress.function || progress.function(progress.data, share) == 0; },
    progress.function && dataset->dataset.is_remote());
  selection->selection = dataset->dataset.select(question, selection->options);
  return selection.release();
}

void read_positions(
  const bat_dataset* dataset, const bat_selection* selection, void* out, std::size_t bytes)
{
  const std::size_t tuple = 3 * size_of(opened(dataset).position_type());
  void* const values = room(dataset, selection, out, bytes, tuple, "positions");
  in_portions(*selection, 0, 1,
    [&](const bat::DatasetSelection& portion, std::uint64_t first)
    {
      values_of(*selection, std::nullopt, portion, first, tuple,
        static_cast<std::byte*>(values) + first * tuple);
    });
}

namespace
{
// All attributes arrive in the time of one.
void prefetch_remote(
  const bat_dataset* dataset, const std::vector<std::string>& names, const bat_selection* selection)
{
  const bat::Dataset& source = opened(dataset);
  const bat_selection& own = need(selection, "selection");
  if (!source.is_remote() || own.dataset != &handle_of(dataset))
  {
    return;
  }
  std::vector<std::size_t> numbers;
  for (const std::string& name : names)
  {
    if (!source.is_absent_when_empty(name))
    {
      numbers.push_back(source.attribute_index(name));
    }
  }
  source.prefetch(own.selection, numbers);
}

// Maps reported progress to the range `from` to `to`.
void read_values(const bat_dataset* dataset, const char* name, const bat_selection* selection,
  void* out, std::size_t bytes, double from, double to)
{
  if (opened(dataset).is_absent_when_empty(need_text(name, "attribute name")))
  {
    return;
  }
  const std::size_t index = opened(dataset).attribute_index(need_text(name, "attribute name"));
  const bat::Attribute& attribute = opened(dataset).attributes()[index];
  const std::size_t tuple = tuple_bytes(attribute.type, attribute.components);
  void* const values =
    room(dataset, selection, out, bytes, tuple, fmt::format("values of '{}'", attribute.name));
  in_portions(*selection, from, to,
    [&](const bat::DatasetSelection& portion, std::uint64_t first)
    {
      values_of(
        *selection, index, portion, first, tuple, static_cast<std::byte*>(values) + first * tuple);
    });
}
}

void read_attribute(const bat_dataset* dataset, const char* name, const bat_selection* selection,
  void* out, std::size_t bytes)
{
  read_values(dataset, name, selection, out, bytes, 0, 1);
}

std::vector<std::string> names_of(std::uint64_t count, const char* const* names)
{
  if (need_size(count, "the attribute count") != 0)
  {
    need(names, "name list");
  }
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; i != count; ++i)
  {
    texts.push_back(need_text(names[i], "attribute name"));
  }
  return texts;
}

void read_attributes(const bat_dataset* dataset, const std::vector<std::string>& names,
  const bat_selection* selection, void* const* out, const std::size_t* bytes)
{
  if (!names.empty())
  {
    need(out, "array list");
    need(bytes, "size list");
  }
  prefetch_remote(dataset, names, selection);
  for (std::size_t i = 0; i != names.size(); ++i)
  {
    const auto share = [&](std::size_t n)
    { return static_cast<double>(n) / static_cast<double>(names.size()); };
    read_values(dataset, names[i].c_str(), selection, out[i], bytes[i], share(i), share(i + 1));
  }
}

namespace
{
// Checks that an array of W may take values of type S: W holds all of them, or W is the signed
// integer of the same width as an unsigned S, in which case each value is checked.
template <class W, class S>
constexpr bool is_wider()
{
  return std::is_floating_point_v<W> == std::is_floating_point_v<S> &&
    (sizeof(W) > sizeof(S) || (sizeof(W) == sizeof(S) && std::is_signed_v<W>)) &&
    (std::is_signed_v<W> || std::is_unsigned_v<S>);
}

// The values at `from` may overlap the end of the memory at `to`: none is overwritten before it is
// read.
template <class W, class S>
void widen(const std::byte* from, std::byte* to, std::uint64_t count, const std::string& what)
{
  for (std::uint64_t i = 0; i != count; ++i)
  {
    S value;
    std::memcpy(&value, from + i * sizeof(S), sizeof(S));
    const auto wide = static_cast<W>(value);
    if constexpr (std::is_integral_v<S>)
    {
      if (!fits<W>(value))
      {
        std::memset(to, 0, count * sizeof(W));
        refuse(fmt::format(
          "{} has the value {}, which does not fit in an int{}", what, value, 8 * sizeof(W)));
      }
    }
    std::memcpy(to + i * sizeof(W), &wide, sizeof(W));
  }
}

void read_attribute_as(const bat_dataset* dataset, const char* name, int type,
  const bat_selection* selection, void* out, std::size_t bytes)
{
  const bat::ScalarType requested = type_of(type);
  if (opened(dataset).is_absent_when_empty(need_text(name, "attribute name")))
  {
    return;
  }
  const std::size_t index = opened(dataset).attribute_index(need_text(name, "attribute name"));
  const bat::Attribute& attribute = opened(dataset).attributes()[index];
  if (requested == attribute.type)
  {
    read_attribute(dataset, name, selection, out, bytes);
    return;
  }
  const std::string what =
    fmt::format("{}: attribute '{}'", opened(dataset).name(), attribute.name);
  const auto components = static_cast<std::size_t>(attribute.components);
  with_type(attribute.type,
    [&](auto stored)
    {
      with_type(requested,
        [&](auto wide)
        {
          using S = decltype(stored);
          using W = decltype(wide);
          if constexpr (!is_wider<W, S>())
          {
            refuse(fmt::format("{} is {}, which cannot be read as {}", what,
              name_of(attribute.type), name_of(requested)));
          }
          else
          {
            auto* const values = static_cast<std::byte*>(room(dataset, selection, out, bytes,
              sizeof(W) * components, fmt::format("values of '{}'", attribute.name)));
            const std::uint64_t count = selection->selection.count * components;
            std::byte* const raw = values + count * (sizeof(W) - sizeof(S));
            values_of(*selection, index, selection->selection, 0, sizeof(S) * components, raw);
            widen<W, S>(raw, values, count, what);
          }
        });
    });
}
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
  release(dataset);
}

int bat_dataset_count(const bat_dataset* dataset, uint64_t* particles)
{
  return guard_use(
    dataset, [&] { need(particles, "result pointer") = opened(dataset).particle_count(); });
}

int bat_dataset_position_type(const bat_dataset* dataset, int* type)
{
  return guard_use(dataset,
    [&] { need(type, "result pointer") = static_cast<int>(opened(dataset).position_type()); });
}

int bat_dataset_bounds(const bat_dataset* dataset, double* box)
{
  return guard_use(dataset,
    [&]
    {
      need(box, "box");
      give_box(opened(dataset).bounds(), box);
    });
}

int bat_dataset_time(const bat_dataset* dataset, int* has, double* time)
{
  return guard_use(dataset,
    [&]
    {
      const std::optional<double> value = opened(dataset).time();
      need(has, "result pointer") = value ? 1 : 0;
      need(time, "result pointer") = value.value_or(0);
    });
}

int bat_dataset_step(const bat_dataset* dataset, int* has, int64_t* step)
{
  return guard_use(dataset,
    [&]
    {
      const std::optional<std::int64_t> value = opened(dataset).step();
      need(has, "result pointer") = value ? 1 : 0;
      need(step, "result pointer") = value.value_or(0);
    });
}

int bat_dataset_stable_sample(const bat_dataset* dataset, uint64_t index, const char** name)
{
  return guard_use(dataset,
    [&]
    {
      const std::vector<std::string>& names = handle_of(dataset).stable_samples;
      need(name, "result pointer") = index < names.size() ? names[index].c_str() : nullptr;
    });
}

int bat_dataset_metadata(const bat_dataset* dataset, const char** json)
{
  return guard_use(
    dataset, [&] { need(json, "result pointer") = handle_of(dataset).metadata.c_str(); });
}

int bat_dataset_hdf5_view(const bat_dataset* dataset, const char** json)
{
  return guard_use(dataset,
    [&]
    {
      const bat_dataset& handle = handle_of(dataset);
      std::call_once(
        handle.view_known, [&] { handle.view = bat::to_json(handle.dataset.hdf5_view()); });
      need(json, "result pointer") = handle.view.c_str();
    });
}

int bat_dataset_leaf_files(const bat_dataset* dataset, uint64_t* files)
{
  return guard_use(
    dataset, [&] { need(files, "result pointer") = opened(dataset).leaves().size(); });
}

int bat_dataset_file_bytes(const bat_dataset* dataset, uint64_t* bytes)
{
  return guard_use(dataset, [&] { need(bytes, "result pointer") = opened(dataset).file_bytes(); });
}

int bat_dataset_attribute_count(const bat_dataset* dataset, int* attributes)
{
  return guard_use(dataset,
    [&] {
      need(attributes, "result pointer") = static_cast<int>(opened(dataset).attributes().size());
    });
}

int bat_dataset_attribute(
  const bat_dataset* dataset, int64_t index, const char** name, int* type, int* components)
{
  return guard_use(dataset,
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
  return guard_use(dataset,
    [&]
    {
      need(index, "result pointer") = -1;
      *index = static_cast<int>(opened(dataset).attribute_index(need_text(name, "attribute name")));
    });
}

int bat_dataset_attribute_range(
  const bat_dataset* dataset, int64_t index, int64_t component, double* minimum, double* maximum)
{
  return guard_use(dataset,
    [&]
    {
      const bat::Key& key = key_of(attribute_at(dataset, index), component);
      need(minimum, "result pointer") = bat::to_double(key.minimum);
      need(maximum, "result pointer") = bat::to_double(key.maximum);
    });
}

int bat_dataset_attribute_range_int64(
  const bat_dataset* dataset, int64_t index, int64_t component, int64_t* minimum, int64_t* maximum)
{
  return exact_range(dataset, index, component, minimum, maximum);
}

int bat_dataset_attribute_range_uint64(const bat_dataset* dataset, int64_t index, int64_t component,
  uint64_t* minimum, uint64_t* maximum)
{
  return exact_range(dataset, index, component, minimum, maximum);
}

int bat_dataset_histogram(const bat_dataset* dataset, int64_t index, int64_t component, int axis,
  uint64_t bins, double* counts, double* lower, double* upper, double* straight_below)
{
  return guard_use(dataset,
    [&]
    {
      constexpr double inf = std::numeric_limits<double>::infinity();
      constexpr std::int64_t kMaxBins = 65536;
      need(lower, "result pointer") = inf;
      need(upper, "result pointer") = -inf;
      const bat::Key& key = key_of(attribute_at(dataset, index), component);
      if (axis != BAT_AXIS_LINEAR && axis != BAT_AXIS_LOGARITHMIC)
      {
        refuse(fmt::format("histogram axis {}; allowed are 0 and 1", axis));
      }
      const auto requested = static_cast<std::size_t>(
        need_at_most(static_cast<std::int64_t>(bins), kMaxBins, "the bin count"));
      need(counts, "counts array");
      std::fill_n(counts, requested, 0.0);
      const bat::Histogram histogram =
        opened(dataset).histogram(static_cast<std::size_t>(index), key.component, requested,
          axis == BAT_AXIS_LINEAR ? bat::HistogramAxis::Linear : bat::HistogramAxis::Logarithmic);
      if (straight_below)
      {
        *straight_below = histogram.straight_below;
      }
      if (!histogram.counts.empty())
      {
        std::copy(histogram.counts.begin(), histogram.counts.end(), counts);
        *lower = bat::to_double(histogram.lower);
        *upper = bat::to_double(histogram.upper);
      }
    });
}

int bat_dataset_leaf(const bat_dataset* dataset, uint64_t leaf, const char** path,
  uint64_t* particles, uint64_t* bytes, double* box)
{
  return guard_use(dataset,
    [&]
    {
      const std::vector<bat::LeafInfo>& leaves = opened(dataset).leaves();
      if (need_size(leaf, "the leaf file number") >= leaves.size())
      {
        refuse(fmt::format("{}: leaf file number {} is out of range; the dataset has {}",
          opened(dataset).name(), leaf, leaves.size()));
      }
      const bat::LeafInfo& info = leaves[static_cast<std::size_t>(leaf)];
      if (path)
      {
        *path = info.path.c_str();
      }
      if (particles)
      {
        *particles = info.particles;
      }
      if (bytes)
      {
        *bytes = info.file_bytes;
      }
      if (box)
      {
        give_box(info.bounds, box);
      }
    });
}

int bat_leaf_storage(const bat_dataset* dataset, uint64_t leaf, const char* attribute,
  uint64_t* raw_bytes, uint64_t* stored_bytes, int* is_compressed, double* bound)
{
  return guard_use(dataset,
    [&]
    {
      const bat::Dataset& data = opened(dataset);
      std::optional<std::size_t> index;
      if (attribute)
      {
        index = data.attribute_index(attribute);
      }
      const bat::ColumnStorage storage =
        data.leaf_file(need_size(leaf, "the leaf file number")).storage(index);
      if (raw_bytes)
      {
        *raw_bytes = storage.raw_bytes;
      }
      if (stored_bytes)
      {
        *stored_bytes = storage.stored_bytes;
      }
      if (is_compressed)
      {
        *is_compressed = storage.is_compressed ? 1 : 0;
      }
      if (bound)
      {
        *bound = storage.bound;
      }
    });
}

int bat_validate(const bat_dataset* dataset)
{
  return guard_use(dataset, [&] { bat::validate(opened(dataset)); });
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
        refuse(fmt::format("quality {} after {}; required is 0 <= after_quality <= quality <= 1",
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
  bat_query* query, const char* attribute, int64_t component, double lower, double upper)
{
  return guard_condition(query, [&] { add_range(query, attribute, component, lower, upper); });
}

int bat_query_add_range_int64(
  bat_query* query, const char* attribute, int64_t component, int64_t lower, int64_t upper)
{
  return guard_condition(query, [&] { add_range(query, attribute, component, lower, upper); });
}

int bat_query_add_range_uint64(
  bat_query* query, const char* attribute, int64_t component, uint64_t lower, uint64_t upper)
{
  return guard_condition(query, [&] { add_range(query, attribute, component, lower, upper); });
}

int bat_query_add_range_mixed(bat_query* query, const char* attribute, int64_t component,
  int lower_type, const void* lower, int upper_type, const void* upper)
{
  return guard_condition(query,
    [&]
    {
      constexpr double inf = std::numeric_limits<double>::infinity();
      add_range(query, attribute, component, end_of(lower_type, lower, -inf),
        end_of(upper_type, upper, inf));
    });
}

int bat_query_add_values(bat_query* query, const char* attribute, int64_t component, int type,
  const void* values, uint64_t count)
{
  return guard_condition(
    query, [&] { add_set(query, attribute, component, type, values, count, nullptr, 0, 0); });
}

int bat_query_add_set(bat_query* query, const char* attribute, int64_t component, int type,
  const void* values, uint64_t count, const void* ranges, uint64_t range_count, int negated)
{
  return guard_condition(query,
    [&]
    { add_set(query, attribute, component, type, values, count, ranges, range_count, negated); });
}

int bat_query_add_sphere(bat_query* query, const double* center, double radius, int outside)
{
  return guard_condition(query,
    [&] {
      add_shape(query, bat::Sphere{ vector_of(center, "center"), radius }, outside);
    });
}

int bat_query_add_slab(
  bat_query* query, const double* normal, double lower, double upper, int outside)
{
  return guard_condition(query,
    [&] {
      add_shape(query, bat::Slab{ vector_of(normal, "normal"), lower, upper }, outside);
    });
}

int bat_query_add_oriented_box(bat_query* query, const double* center, const double* axes,
  const double* half_extents, int outside)
{
  return guard_condition(query,
    [&]
    {
      need(axes, "axes");
      const bat::OrientedBox box{ vector_of(center, "center"),
        { vector_of(axes, "axes"), vector_of(axes + 3, "axes"), vector_of(axes + 6, "axes") },
        vector_of(half_extents, "half_extents") };
      add_shape(query, box, outside);
    });
}

int bat_query_fail(bat_query* query, const char* text)
{
  return guard_condition(query,
    [&]
    {
      need(query, "query");
      refuse(need_text(text, "text"));
    });
}

int bat_query_set_part(bat_query* query, int64_t part, int64_t parts)
{
  return guard(
    [&]
    {
      bat_query& own = need(query, "query");
      constexpr std::int64_t maximum = std::numeric_limits<std::uint32_t>::max();
      if (parts < 1 || parts > maximum || part < 0 || part >= parts)
      {
        // Recorded, so that a later query fails on all ranks.
        own.refused_part = fmt::format(
          "part {} of {}; allowed are 1 to {} parts, numbered from 0", part, parts, maximum);
        refuse(own.refused_part);
      }
      own.refused_part.clear();
      own.query.part = static_cast<std::uint32_t>(part);
      own.query.parts = static_cast<std::uint32_t>(parts);
    });
}

int bat_query_set_threads(bat_query* query, int64_t threads)
{
  return guard([&] { need(query, "query").options.threads = threads_of(threads); });
}

int bat_query_set_progress(bat_query* query, bat_progress progress, void* data)
{
  return guard([&] { need(query, "query").progress = { progress, data }; });
}

int bat_estimate_count(const bat_dataset* dataset, const bat_query* query, uint64_t* minimum,
  uint64_t* likely, uint64_t* maximum)
{
  return guard_use(dataset,
    [&]
    {
      const bat::CountEstimate estimate =
        opened(dataset).estimate_count(request(query), parse_options(query));
      for (const auto& [out, value] : { std::pair(minimum, estimate.minimum),
             std::pair(likely, estimate.likely), std::pair(maximum, estimate.maximum) })
      {
        if (out)
        {
          *out = value;
        }
      }
    });
}

int bat_upper_bound(const bat_dataset* dataset, const bat_query* query, uint64_t* particles)
{
  return guard_use(dataset,
    [&]
    {
      need(particles, "result pointer") = 0;
      *particles = opened(dataset).upper_bound(request(query), parse_options(query));
    });
}

int bat_quality_within(
  const bat_dataset* dataset, const bat_query* query, uint64_t budget, double* quality)
{
  return guard_use(dataset,
    [&]
    {
      need(quality, "result pointer") = 0;
      *quality = opened(dataset).quality_within(
        request(query), need_size(budget, "the budget"), parse_options(query));
    });
}

int bat_select(const bat_dataset* dataset, const bat_query* query, bat_selection** out)
{
  return guard_use(dataset,
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

int bat_selection_values(
  const bat_dataset* dataset, const bat_selection* selection, const char* name, const void** values)
{
  return guard_use(dataset,
    [&]
    {
      need(values, "result pointer") = nullptr;
      const bat_selection& own = need(selection, "selection");
      (void)room(dataset, selection, nullptr, 0, 0, "values");
      if (!own.values)
      {
        refuse("the selection has no values in memory; only selections from bat_mpi_read() do");
      }
      const std::optional<std::size_t> index =
        name ? std::optional(opened(dataset).attribute_index(name)) : std::nullopt;
      *values = column_of(own, index).data();
    });
}

int bat_selection_report(const bat_selection* selection, const char** json, const char** line)
{
  return guard(
    [&]
    {
      const bat_selection& own = need(selection, "selection");
      if (json)
      {
        *json = own.values ? own.values->report.c_str() : "";
      }
      if (line)
      {
        *line = own.values ? own.values->line.c_str() : "";
      }
    });
}

int bat_read_positions(
  const bat_dataset* dataset, const bat_selection* selection, void* out, size_t bytes)
{
  return guard_use(dataset, [&] { read_positions(dataset, selection, out, bytes); });
}

int bat_read_attribute(const bat_dataset* dataset, const char* name, const bat_selection* selection,
  void* out, size_t bytes)
{
  return guard_use(dataset, [&] { read_attribute(dataset, name, selection, out, bytes); });
}

int bat_read_attributes(const bat_dataset* dataset, uint64_t count, const char* const* names,
  const bat_selection* selection, void* const* out, const size_t* bytes)
{
  return guard_use(
    dataset, [&] { read_attributes(dataset, names_of(count, names), selection, out, bytes); });
}

int bat_read_attribute_as(const bat_dataset* dataset, const char* name, int type,
  const bat_selection* selection, void* out, size_t bytes)
{
  return guard_use(dataset, [&] { read_attribute_as(dataset, name, type, selection, out, bytes); });
}

int bat_map_positions(
  const bat_dataset* dataset, uint64_t leaf, double quality, const void** values, uint64_t* count)
{
  return guard_use(dataset,
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
  return guard_use(dataset,
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
