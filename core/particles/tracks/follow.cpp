// SPDX-License-Identifier: BSD-3-Clause
// Finds particles step by step in parallel, then joins the results into arrays over all steps.

#include "bat/follow.hpp"

#include "bat/nearest_name.hpp"
#include "bat/tracks.hpp"
#include "common/arena.hpp"
#include "common/fail.hpp"
#include "particles/dataset/dataset_impl.hpp"
#include "particles/dataset/file_leaf.hpp"
#include "particles/query/sorted_lookup.hpp"
#include "particles/tracks/follow_steps.hpp"
#include "particles/tree/file_impl.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <thread>
#include <tuple>
#include <utility>

namespace bat
{
namespace
{
/// Particles in a leaf file that have one of the ids, in file order.
struct FoundRows
{
  Selection selection;
  std::vector<std::uint64_t> values; ///< bits of their ids
  ValueClass type = ValueClass::Float;
};

Number number_at(ScalarType type, const std::byte* values, std::size_t i)
{
  return dispatch(type,
    [&](auto value) -> Number
    {
      std::memcpy(&value, values + i * sizeof(value), sizeof(value));
      return static_cast<ClassOf<decltype(value)>>(value);
    });
}

/// Reads one step.
class StepReader
{
public:
  StepReader(const Dataset& dataset, const FollowRequest& request, const RequestedIds& requested,
    const FollowOptions& options, StepResult& result)
    : dataset_(dataset)
    , impl_(dataset.impl())
    , request_(request)
    , requested_(requested)
    , options_(options)
    , result_(result)
  {
    this->query_options_.threads = options.threads;
  }

  void read()
  {
    this->result_.is_empty = this->dataset_.particle_count() == 0;
    if (this->result_.is_empty && this->lacks_ids())
    {
      return;
    }
    this->find_attributes();
    Query query;
    query.values = { { this->dataset_.attributes()[this->id_].name, {}, this->request_.ids } };
    const query::Conditions conditions = this->impl_.conditions(query);
    for (const Dataset::Impl::Task& task : this->impl_.tasks(conditions))
    {
      const auto read_leaf = [&]
      {
        const LeafSource& leaf = this->impl_.leaf(task.leaf);
        this->read_leaf(leaf, query::of_leaf(conditions, leaf.particle_count(), task.ordinals));
      };
      if (!this->options_.leave_out_damaged)
      {
        read_leaf();
        continue;
      }
      // A particle's values are kept only after all of them are read, so a damaged leaf file leaves
      // no trace.
      const std::optional<Error> error = attempt(read_leaf);
      if (error && !Dataset::Impl::is_damage(error->code()))
      {
        throw Error(*error);
      }
      if (error)
      {
        this->result_.problems.push_back(
          { 0, error->code(), error->what() }); // collect_results() numbers
      }
    }
  }

private:
  // A step without particles may lack columns. All ids are then absent.
  [[nodiscard]] bool lacks_ids() const
  {
    const std::vector<Attribute>& attributes = this->dataset_.attributes();
    const auto lacks = [&](const std::string& name)
    {
      return std::none_of(
        attributes.begin(), attributes.end(), [&](const Attribute& a) { return a.name == name; });
    };
    const std::string& id = this->request_.id_attribute;
    const std::string& second = this->request_.second_attribute;
    return (id.empty() ? !find_id_attribute(attributes) : lacks(id)) ||
      (!second.empty() && lacks(second));
  }

  void find_attributes()
  {
    const std::vector<Attribute>& attributes = this->dataset_.attributes();
    this->id_ = this->find_id();
    if (!this->request_.second.empty())
    {
      this->second_ = this->find_second();
      this->need_scalar(*this->second_);
    }
    this->add_column("positions", this->dataset_.position_type(), 3);
    for (std::size_t i = 0; i != attributes.size(); ++i)
    {
      this->result_.names.push_back(attributes[i].name);
      const auto& names = this->request_.attributes;
      const bool requested = names
        ? std::find(names->begin(), names->end(), attributes[i].name) != names->end()
        : i != this->id_ && i != this->second_;
      if (requested)
      {
        this->attributes_.push_back(i);
        this->add_column(attributes[i].name, attributes[i].type, attributes[i].components);
      }
    }
  }

  [[nodiscard]] std::size_t find_id() const
  {
    std::optional<std::size_t> id;
    if (!this->request_.id_attribute.empty())
    {
      id = this->dataset_.attribute_index(this->request_.id_attribute);
    }
    else
    {
      id = find_id_attribute(this->dataset_.attributes());
    }
    if (!id)
    {
      refuse(fmt::format("{}: no attribute is called id; specify the attribute with the ids, one "
                         "of: {}",
        this->dataset_.name(), fmt::join(this->dataset_.attribute_names(), ", ")));
    }
    this->need_scalar(*id);
    return *id;
  }

  [[nodiscard]] std::size_t find_second() const
  {
    if (!this->request_.second_attribute.empty())
    {
      return this->dataset_.attribute_index(this->request_.second_attribute);
    }
    const auto second = find_second_id_attribute(this->dataset_.attributes(), this->id_);
    if (!second)
    {
      refuse(fmt::format("{}: ids are pairs, but no attribute is the cpu of '{}'; specify the "
                         "second id attribute, one of: {}",
        this->dataset_.name(), this->dataset_.attributes()[this->id_].name,
        fmt::join(this->dataset_.attribute_names(), ", ")));
    }
    return *second;
  }

  void need_scalar(std::size_t index) const
  {
    const Attribute& attribute = this->dataset_.attributes()[index];
    if (attribute.components != 1)
    {
      refuse(fmt::format("{}: attribute '{}' has {} components; ids must have one",
        this->dataset_.name(), attribute.name, attribute.components));
    }
  }

  void add_column(const std::string& name, ScalarType type, int components)
  {
    StepColumn column{ name, type, components, {} };
    column.values.resize(this->request_.ids.size() * tuple_bytes(type, components));
    fill_absent(
      type, column.values.data(), this->request_.ids.size() * static_cast<std::size_t>(components));
    this->result_.columns.push_back(std::move(column));
  }

  void read_leaf(const LeafSource& leaf, const query::Conditions& conditions)
  {
    if (conditions.nothing())
    {
      return;
    }
    const FoundRows rows = this->find_rows(leaf, conditions);
    if (rows.selection.count == 0)
    {
      return;
    }
    // Assigns rows to ids. An id that already has a row keeps it.
    std::vector<std::pair<std::size_t, std::size_t>> kept;
    std::vector<std::uint32_t> counts = this->result_.counts;
    const std::vector<std::byte> second = this->read_second(leaf, rows.selection);
    for (std::size_t row = 0; row != rows.values.size(); ++row)
    {
      this->for_each_id(rows.type, rows.values[row],
        [&](std::size_t i)
        {
          if (this->second_ && !this->is_second(second, row, i))
          {
            return;
          }
          if (counts[i]++ == 0)
          {
            kept.emplace_back(row, i);
          }
        });
    }
    std::vector<std::vector<std::byte>> values;
    for (std::size_t c = 0; c != this->result_.columns.size(); ++c)
    {
      values.push_back(this->read_column(leaf, rows.selection, c));
    }
    for (std::size_t c = 0; c != this->result_.columns.size(); ++c)
    {
      StepColumn& column = this->result_.columns[c];
      const std::size_t bytes = tuple_bytes(column.type, column.components);
      for (const auto& [row, i] : kept)
      {
        std::memcpy(&column.values[i * bytes], &values[c][row * bytes], bytes);
      }
    }
    this->result_.counts = std::move(counts);
  }

  [[nodiscard]] FoundRows find_rows(const LeafSource& leaf, const query::Conditions& conditions)
  {
    FoundRows found;
    const ScalarType type = this->dataset_.attributes()[this->id_].type;
    found.type = value_class(type);
    const auto* own = dynamic_cast<const FileLeaf*>(&leaf);
    const query::KeyCondition& condition = conditions.keys.front();
    const bool has_index =
      own && !condition.of_positions && own->file().impl().has_sorted_index(condition.key);
    this->result_.has_all_indexes = this->result_.has_all_indexes && has_index;
    if (has_index)
    {
      const auto rows = query::look_up_rows(own->file().impl(), condition, leaf.particle_count());
      if (rows)
      {
        for (const query::IndexRow& row : *rows)
        {
          std::vector<Span>& spans = found.selection.spans;
          if (!spans.empty() && spans.back().first + spans.back().count == row.position)
          {
            ++spans.back().count;
          }
          else
          {
            spans.push_back({ row.position, 1 });
          }
          found.values.push_back(row.value);
        }
        found.selection.count = rows->size();
        return found;
      }
    }
    found.selection = leaf.select(conditions, this->query_options_);
    if (!has_index)
    {
      this->result_.compared += found.selection.tested;
    }
    std::vector<std::byte> ids(found.selection.count * size_of(type));
    leaf.read_attribute(this->id_, found.selection, ids.data(), this->query_options_);
    for (std::size_t row = 0; row != found.selection.count; ++row)
    {
      found.values.push_back(
        std::visit([](auto value) { return to_bits(value); }, number_at(type, ids.data(), row)));
    }
    return found;
  }

  template <class F>
  void for_each_id(ValueClass type, std::uint64_t bits, const F& f) const
  {
    dispatch(type,
      [&](auto example) { this->requested_.for_each(from_bits<decltype(example)>(bits), f); });
  }

  [[nodiscard]] std::vector<std::byte> read_second(
    const LeafSource& leaf, const Selection& selection) const
  {
    std::vector<std::byte> values;
    if (this->second_)
    {
      values.resize(selection.count * size_of(this->dataset_.attributes()[*this->second_].type));
      leaf.read_attribute(*this->second_, selection, values.data(), this->query_options_);
    }
    return values;
  }

  [[nodiscard]] bool is_second(
    const std::vector<std::byte>& values, std::size_t row, std::size_t i) const
  {
    const Number found =
      number_at(this->dataset_.attributes()[*this->second_].type, values.data(), row);
    return !is_nan(found) && compare(found, this->request_.second[i]) == 0;
  }

  [[nodiscard]] std::vector<std::byte> read_column(
    const LeafSource& leaf, const Selection& selection, std::size_t c) const
  {
    const StepColumn& column = this->result_.columns[c];
    std::vector<std::byte> values(selection.count * tuple_bytes(column.type, column.components));
    c == 0 ? leaf.read_positions(selection, values.data(), this->query_options_)
           : leaf.read_attribute(
               this->attributes_[c - 1], selection, values.data(), this->query_options_);
    return values;
  }

  const Dataset& dataset_;
  const Dataset::Impl& impl_;
  const FollowRequest& request_;
  const RequestedIds& requested_;
  const FollowOptions& options_;
  QueryOptions query_options_;
  StepResult& result_;
  std::size_t id_ = 0;
  std::optional<std::size_t> second_;
  std::vector<std::size_t> attributes_; ///< attributes of the columns after the positions
};

StepResult read_step(const SeriesStep& listed, const FollowRequest& request,
  const RequestedIds& requested, const FollowOptions& options)
{
  StepResult result;
  result.step.path = listed.path;
  result.step.time = listed.time;
  result.counts.resize(request.ids.size());
  const std::optional<Error> error = attempt(
    [&]
    {
      OpenOptions how;
      how.map = options.map;
      const Dataset dataset = Dataset::open(listed.path, how);
      if (!result.step.time)
      {
        result.step.time = dataset.time();
      }
      result.step.step = dataset.step();
      const bool has_particles = dataset.particle_count() != 0;
      if (request.unwrap_by_files)
      {
        result.cell = named_cell(dataset.metadata(), dataset.name());
        if (!result.cell && has_particles)
        {
          refuse(fmt::format("{}: its metadata does not define a periodic box", dataset.name()));
        }
      }
      if (has_particles)
      {
        StepReader(dataset, request, requested, options, result).read();
      }
      result.bytes_read = dataset.bytes_read();
    });
  if (error && options.leave_out_damaged && Dataset::Impl::is_damage(error->code()))
  {
    result.problems.push_back({ 0, error->code(), error->what() });
    result.columns.clear();
  }
  else
  {
    result.error = error;
  }
  return result;
}

/// Reports progress on the calling thread, and records whether it cancelled.
class Progress
{
public:
  Progress(const std::function<bool(double)>& on_progress, std::size_t all)
    : on_progress_(on_progress)
    , all_(all)
  {
  }

  [[nodiscard]] bool is_cancelled() const noexcept { return this->cancelled_; }

  void one_is_done()
  {
    const std::size_t done = ++this->done_;
    if (this->on_progress_ && std::this_thread::get_id() == this->caller_ && !this->cancelled_)
    {
      this->cancelled_ =
        !this->on_progress_(static_cast<double>(done) / static_cast<double>(this->all_));
    }
  }

private:
  const std::function<bool(double)>& on_progress_;
  std::size_t all_;
  std::thread::id caller_ = std::this_thread::get_id();
  std::atomic<std::size_t> done_{ 0 };
  std::atomic<bool> cancelled_{ false };
};

/// The unit of reading: a step, or a block of a tracks file.
struct Task
{
  std::size_t listed = 0;
  const TracksReader* tracks = nullptr;
  std::size_t block = 0;
  std::optional<Error> damage; ///< damage in a skipped tracks file
  std::vector<StepResult> results;
};

std::vector<Task> make_tasks(const std::vector<SeriesStep>& steps, const FollowRequest& request,
  const RequestedIds& requested, const FollowOptions& options,
  std::vector<std::unique_ptr<TracksReader>>& readers)
{
  std::vector<Task> tasks;
  for (std::size_t i = 0; i != steps.size(); ++i)
  {
    if (!is_tracks(steps[i].path))
    {
      tasks.push_back({ i, nullptr, 0, std::nullopt, {} });
      continue;
    }
    const std::optional<Error> error = attempt(
      [&]
      {
        readers.push_back(std::make_unique<TracksReader>(steps[i], request, requested, options));
        for (std::size_t block = 0; block != readers.back()->blocks(); ++block)
        {
          tasks.push_back({ i, readers.back().get(), block, std::nullopt, {} });
        }
      });
    if (error && (!options.leave_out_damaged || !Dataset::Impl::is_damage(error->code())))
    {
      throw Error(*error);
    }
    if (error)
    {
      tasks.push_back({ i, nullptr, 0, error, {} });
    }
  }
  return tasks;
}

void read_task(Task& task, const std::vector<SeriesStep>& steps, const FollowRequest& request,
  const RequestedIds& requested, const FollowOptions& options)
{
  if (task.damage) // like a damaged dataset: a step without particles
  {
    StepResult& result = task.results.emplace_back();
    result.step.path = steps[task.listed].path;
    result.counts.resize(request.ids.size());
    result.problems.push_back({ 0, task.damage->code(), task.damage->what() });
    return;
  }
  if (!task.tracks)
  {
    task.results.push_back(read_step(steps[task.listed], request, requested, options));
    return;
  }
  const std::optional<Error> error = attempt([&] { task.results = task.tracks->read(task.block); });
  if (error)
  {
    task.results.emplace_back().error = error;
  }
}

// Collects results in the order of steps, and of samples within tracks files.
std::vector<StepResult> collect_results(std::vector<Task>& tasks)
{
  std::vector<StepResult> results;
  for (std::size_t first = 0; first != tasks.size();)
  {
    std::vector<StepResult> of_step;
    const bool is_tracks = tasks[first].tracks != nullptr;
    const std::size_t listed = tasks[first].listed;
    for (; first != tasks.size() && tasks[first].listed == listed; ++first)
    {
      std::move(
        tasks[first].results.begin(), tasks[first].results.end(), std::back_inserter(of_step));
    }
    if (is_tracks)
    {
      TracksReader::leave_out_replaced(of_step);
    }
    std::move(of_step.begin(), of_step.end(), std::back_inserter(results));
  }
  for (std::size_t s = 0; s != results.size(); ++s)
  {
    for (TrailProblem& problem : results[s].problems)
    {
      problem.step = s;
    }
  }
  return results;
}

std::vector<StepResult> read_steps(
  const std::vector<SeriesStep>& steps, const FollowRequest& request, const FollowOptions& options)
{
  const RequestedIds requested(request.ids);
  std::vector<std::unique_ptr<TracksReader>> readers;
  std::vector<Task> tasks = make_tasks(steps, request, requested, options, readers);
  Progress progress(options.progress, tasks.size());
  std::atomic<std::size_t> first_failed{ tasks.size() }; // an earlier task may be the one to report
  in_arena(options.threads,
    [&]
    {
      tbb::parallel_for(
        std::size_t{ 0 }, tasks.size(),
        [&](std::size_t i)
        {
          if (progress.is_cancelled() || i > first_failed)
          {
            return;
          }
          read_task(tasks[i], steps, request, requested, options);
          if (tasks[i].results.front().error)
          {
            std::size_t first = first_failed;
            while (i < first && !first_failed.compare_exchange_weak(first, i))
            {
            }
          }
          progress.one_is_done();
        },
        tbb::simple_partitioner());
    });
  if (progress.is_cancelled())
  {
    throw Error(ErrorCode::Cancelled, "following particles was cancelled");
  }
  for (const Task& task : tasks)
  {
    if (!task.results.empty() && task.results.front().error)
    {
      throw Error(*task.results.front().error);
    }
  }
  if (options.progress && !options.progress(1))
  {
    throw Error(ErrorCode::Cancelled, "following particles was cancelled");
  }
  return collect_results(tasks);
}

int bits_of(ScalarType type)
{
  return static_cast<int>(8 * size_of(type));
}

// Returns the type that holds every value of both.
std::optional<ScalarType> common_type(ScalarType a, ScalarType b)
{
  if (a == b)
  {
    return a;
  }
  ValueClass class_a = value_class(a);
  ValueClass class_b = value_class(b);
  if (class_a == class_b)
  {
    return bits_of(a) > bits_of(b) ? a : b;
  }
  if (class_a == ValueClass::Float || (class_b == ValueClass::Unsigned))
  {
    std::swap(a, b);
    std::swap(class_a, class_b);
  }
  if (class_b == ValueClass::Float) // `a` is an integer of at most 24 or 53 bits
  {
    return bits_of(a) <= 16 ? std::optional(b)
      : bits_of(a) <= 32    ? std::optional(ScalarType::Float64)
                            : std::nullopt;
  }
  // `a` is unsigned, `b` is not.
  const int bits = std::max(2 * bits_of(a), bits_of(b));
  return bits > 64 ? std::nullopt
    : bits == 64   ? std::optional(ScalarType::Int64)
    : bits == 32   ? std::optional(ScalarType::Int32)
                   : std::optional(ScalarType::Int16);
}

// Converts `count` values of type `from` to type `to`, which holds them.
void convert(
  ScalarType from, const std::byte* values, ScalarType to, std::byte* out, std::size_t count)
{
  if (from == to)
  {
    std::memcpy(out, values, count * size_of(from));
    return;
  }
  dispatch(from,
    [&](auto value)
    {
      dispatch(to,
        [&](auto converted)
        {
          for (std::size_t i = 0; i != count; ++i)
          {
            std::memcpy(&value, values + i * sizeof(value), sizeof(value));
            converted = static_cast<decltype(converted)>(value);
            std::memcpy(out + i * sizeof(converted), &converted, sizeof(converted));
          }
        });
    });
}

// Null if the step lacks it. An attribute may have the same name as the positions.
StepColumn* find_column(StepResult& result, const std::optional<std::string>& attribute)
{
  std::vector<StepColumn>& columns = result.columns;
  if (columns.empty() || !attribute)
  {
    return columns.empty() ? nullptr : &columns.front();
  }
  const auto found = std::find_if(columns.begin() + 1, columns.end(),
    [&](const StepColumn& column) { return column.name == *attribute; });
  return found == columns.end() ? nullptr : &*found;
}

// Finds the column of each step, or null, and sets the type and components that hold all values.
std::vector<StepColumn*> find_columns(
  std::vector<StepResult>& results, const std::optional<std::string>& attribute, TrailColumn& all)
{
  std::vector<StepColumn*> found(results.size());
  const std::string* first = nullptr; // file that has decided the type so far
  // Types of steps without particles count only if no other step has the column.
  const bool is_anywhere = std::any_of(results.begin(), results.end(),
    [&](StepResult& result) { return !result.is_empty && find_column(result, attribute); });
  for (std::size_t s = 0; s != results.size(); ++s)
  {
    StepResult& result = results[s];
    StepColumn* const column = find_column(result, attribute);
    if (!column || (result.is_empty && is_anywhere))
    {
      continue;
    }
    const std::string& file = result.step.path.native();
    const std::optional<ScalarType> type =
      first ? common_type(all.type, column->type) : std::optional(column->type);
    if (!type || (first && column->components != all.components))
    {
      refuse(fmt::format("'{}' is {}[{}] in {} and {}[{}] in {}; {}", all.name, name_of(all.type),
        all.components, *first, name_of(column->type), column->components, file,
        type ? "the numbers of components must agree"
             : "no type holds the values of both exactly"));
    }
    first = !first || *type != all.type ? &file : first;
    all.type = *type;
    all.components = column->components;
    all.in_step[s] = 1;
    found[s] = column;
  }
  return found;
}

// Merges the columns of all steps and frees their memory. `attribute` is unset for the positions.
TrailColumn assemble(
  std::vector<StepResult>& results, const std::optional<std::string>& attribute, std::size_t ids)
{
  TrailColumn all;
  all.name = attribute.value_or("positions");
  all.components = attribute ? 1 : 3;
  all.in_step.resize(results.size());
  const std::vector<StepColumn*> found = find_columns(results, attribute, all);
  const auto components = static_cast<std::size_t>(all.components);
  const std::size_t numbers = ids * components;
  const std::size_t bytes = numbers * size_of(all.type);
  all.values.resize(results.size() * bytes);
  for (std::size_t s = 0; s != results.size(); ++s)
  {
    std::byte* const out = all.values.data() + s * bytes;
    if (!found[s])
    {
      fill_absent(all.type, out, numbers);
      continue;
    }
    convert(found[s]->type, found[s]->values.data(), all.type, out, numbers);
    std::vector<std::byte>().swap(found[s]->values);
    // Absent integers are 0, which must become NaN if integers were converted to floating-point
    // numbers.
    for (std::size_t i = 0; found[s]->type != all.type && i != ids; ++i)
    {
      if (results[s].counts[i] == 0)
      {
        fill_absent(all.type, out + i * components * size_of(all.type), components);
      }
    }
  }
  return all;
}

std::vector<std::string> names_of(
  const std::vector<StepResult>& results, const FollowRequest& request)
{
  std::vector<std::string> names;
  std::vector<std::string> known;
  bool has_particles = false;
  const auto add = [](const std::string& name, std::vector<std::string>& to)
  {
    if (std::find(to.begin(), to.end(), name) == to.end())
    {
      to.push_back(name);
    }
  };
  for (const StepResult& result : results)
  {
    has_particles = has_particles || !result.columns.empty();
    for (const std::string& name : result.names)
    {
      add(name, known);
    }
    for (std::size_t c = 1; c < result.columns.size(); ++c)
    {
      add(result.columns[c].name, names);
    }
  }
  if (!request.attributes)
  {
    return names;
  }
  for (const std::string& name : *request.attributes)
  {
    if (has_particles && std::find(names.begin(), names.end(), name) == names.end())
    {
      refuse(fmt::format("{}: no step has an attribute '{}'{}", results.front().step.path.string(),
        name, bat::available(name, fmt::format("{}", fmt::join(known, ", ")))));
    }
  }
  return *request.attributes;
}

void unwrap(TrailColumn& positions, const std::vector<StepResult>& results, std::size_t ids,
  const FollowRequest& request)
{
  const std::optional<PeriodicCell> fixed =
    request.periodic_box ? std::optional(cell_of(*request.periodic_box)) : std::nullopt;
  if (!fixed && !request.unwrap_by_files)
  {
    return;
  }
  const std::size_t numbers = results.size() * ids * 3;
  std::vector<std::byte> wide(numbers * sizeof(double));
  convert(positions.type, positions.values.data(), ScalarType::Float64, wide.data(), numbers);
  std::vector<Unwrapped> particles(ids);
  for (std::size_t s = 0; s != results.size(); ++s)
  {
    const std::optional<PeriodicCell>& cell = fixed ? fixed : results[s].cell;
    for (std::size_t i = 0; cell && i != ids; ++i)
    {
      if (results[s].counts[i] != 0)
      {
        std::array<double, 3> at{};
        std::byte* const bytes = &wide[(s * ids + i) * sizeof(at)];
        std::memcpy(at.data(), bytes, sizeof(at));
        at = particles[i].next(at, *cell);
        std::memcpy(bytes, at.data(), sizeof(at));
      }
    }
  }
  positions.type = ScalarType::Float64;
  positions.values = std::move(wide);
}

void check(const FollowRequest& request)
{
  if (request.ids.empty())
  {
    refuse("no ids to follow");
  }
  if ((!request.second_attribute.empty() || !request.second.empty()) &&
    request.second.size() != request.ids.size())
  {
    refuse(fmt::format("{} ids, but {} values of the second attribute '{}'; the counts must agree",
      request.ids.size(), request.second.size(), request.second_attribute));
  }
  for (const std::vector<Number>& numbers : { std::cref(request.ids), std::cref(request.second) })
  {
    if (std::any_of(numbers.begin(), numbers.end(), is_nan))
    {
      refuse("an id is NaN; ids must be numbers");
    }
  }
  if (request.periodic_box && request.unwrap_by_files)
  {
    refuse("a periodic box is given and that of the files is requested; only one of them is "
           "allowed");
  }
  if (request.periodic_box)
  {
    (void)cell_of(*request.periodic_box);
  }
  if (request.attributes)
  {
    std::vector<std::string> names = *request.attributes;
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end())
    {
      refuse(fmt::format("the attribute '{}' is requested twice", *twice));
    }
  }
}

std::string format_advice(
  const Trails& trails, const std::vector<StepResult>& results, const FollowRequest& request)
{
  if (trails.steps_without_index != 0)
  {
    const std::string id = request.id_attribute.empty() ? "id" : request.id_attribute;
    return fmt::format(
      "{} of {} steps have no sorted index of the ids; {} particles were compared instead. Write "
      "the files with the option sorted_indexes, or add an index with 'parabat repack "
      "--sorted-indexes {}'",
      trails.steps_without_index, trails.steps.size(), trails.compared, id);
  }
  const bool only_tracks = std::all_of(results.begin(), results.end(),
    [](const StepResult& result) { return result.from_tracks && result.problems.empty(); });
  std::size_t absent = 0;
  for (std::size_t i = 0; i != trails.ids; ++i)
  {
    bool is_there = false;
    for (std::size_t s = 0; s != trails.steps.size() && !is_there; ++s)
    {
      is_there = trails.is_there(s, i);
    }
    absent += is_there ? 0 : 1;
  }
  return only_tracks && absent != 0 && !results.empty()
    ? fmt::format("{} of {} ids are not in the tracks file; the series of the same run may "
                  "contain them",
        absent, trails.ids)
    : std::string();
}
}

Trails follow(
  const std::vector<SeriesStep>& steps, const FollowRequest& request, const FollowOptions& options)
{
  check(request);
  std::vector<StepResult> results = read_steps(steps, request, options);
  Trails trails;
  trails.ids = request.ids.size();
  const std::vector<std::string> names = names_of(results, request);
  trails.positions = assemble(results, std::nullopt, trails.ids);
  for (const std::string& name : names)
  {
    trails.attributes.push_back(assemble(results, name, trails.ids));
  }
  trails.counts.reserve(results.size() * trails.ids);
  for (StepResult& result : results)
  {
    trails.steps.push_back(std::move(result.step));
    trails.counts.insert(trails.counts.end(), result.counts.begin(), result.counts.end());
    trails.steps_without_index += result.has_all_indexes ? 0 : 1;
    trails.compared += result.compared;
    trails.bytes_read += result.bytes_read;
    std::move(result.problems.begin(), result.problems.end(), std::back_inserter(trails.problems));
  }
  unwrap(trails.positions, results, trails.ids, request);
  trails.advice = format_advice(trails, results, request);
  return trails;
}
}
