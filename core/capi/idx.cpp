// SPDX-License-Identifier: BSD-3-Clause
// Implements the functions of bat/bat_idx.h.

#include "bat/bat_idx.h"

#include "bat/idx/write_options.hpp"
#include "capi/grid_handles.hpp"
#include "capi/status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <utility>

namespace bat::capi
{
static_assert(BAT_IDX_MAX_COMPONENTS == idx::kMaxFieldComponents);

namespace
{
idx::LogicalBox logical_box(const std::int64_t* box)
{
  need(box, "box");
  return { { box[0], box[1], box[2] }, { box[3], box[4], box[5] } };
}

std::optional<idx::LogicalBox> box_or_all(const std::int64_t* box)
{
  return box ? std::optional(logical_box(box)) : std::nullopt;
}

void give(const idx::LogicalBox& box, std::int64_t* out)
{
  std::copy(box.lower.begin(), box.lower.end(), out);
  std::copy(box.upper.begin(), box.upper.end(), out + 3);
}

// Records the error, which the write reports.
template <class F>
int guard_grid(bat_grid* grid, F&& f) noexcept
{
  const int status = guard([&] { f(need(grid, "grid")); });
  if (status != BAT_OK && grid && grid->refused.empty())
  {
    (void)guard([&] { grid->refused = last_error(); });
  }
  return status;
}

const idx::Dataset& opened(const bat_idx* dataset)
{
  return need(dataset, "dataset").dataset;
}

const idx::Field& field_at(const bat_idx* dataset, std::int64_t index)
{
  const auto& fields = opened(dataset).fields();
  if (index < 0 || static_cast<std::uint64_t>(index) >= fields.size())
  {
    refuse(fmt::format("{}: field number {} is out of range; the file has {}",
      opened(dataset).name(), index, fields.size()));
  }
  return fields[static_cast<std::size_t>(index)];
}

int parse_level(const bat_idx* dataset, std::int64_t level)
{
  const int maximum = opened(dataset).levels();
  if (level < 0 || level > maximum)
  {
    refuse(fmt::format(
      "{}: level {} is out of range; allowed are 0 to {}", opened(dataset).name(), level, maximum));
  }
  return static_cast<int>(level);
}

std::vector<std::size_t> find_fields(
  const bat_idx* dataset, std::uint64_t count, const char* const* names)
{
  std::vector<std::size_t> fields;
  for (std::size_t i = 0; i != need_size(count, "the field count"); ++i)
  {
    need(names, "field list");
    fields.push_back(opened(dataset).field_index(need_text(names[i], "field name")));
  }
  for (std::size_t i = 0; count == 0 && i != opened(dataset).fields().size(); ++i)
  {
    fields.push_back(i);
  }
  return fields;
}

std::function<bool(double)> on_progress(bat_progress progress, void* data)
{
  return progress ? [=](double done) { return progress(data, done) == 0; }
                  : std::function<bool(double)>();
}

void add(const idx::ReadReport& did, bat_idx_read_report& sum)
{
  sum.samples += did.samples;
  sum.blocks += did.blocks;
  sum.absent_blocks += did.absent_blocks;
  sum.bytes_read += did.bytes_read;
}

int read(const bat_idx* dataset, const char* field, const std::int64_t* step, std::int64_t level,
  const std::int64_t* box, const std::optional<std::pair<std::int64_t, const void*>>& coarse,
  void* out, std::size_t bytes, bat_idx_read_report* report) noexcept
{
  if (report)
  {
    *report = {};
  }
  return guard_use(dataset,
    [&]
    {
      const idx::Dataset& source = opened(dataset);
      idx::Query query;
      query.field = source.field_index(need_text(field, "field name"));
      query.level = parse_level(dataset, level);
      query.box = box_or_all(box);
      query.step = step ? std::optional(*step) : std::nullopt;
      const std::uint64_t requested = source.lattice(query.level, query.box).samples() *
        source.fields()[query.field].sample_bytes();
      if (need_size(bytes, "the size of the array") < requested)
      {
        refuse(fmt::format("{}: level {} of '{}' needs {} bytes, but the array has {}",
          source.name(), level, field, requested, bytes));
      }
      idx::ReadOptions options = dataset->options;
      if (coarse)
      {
        options.coarse = idx::CoarseSamples{ parse_level(dataset, coarse->first),
          &need(static_cast<const std::byte*>(coarse->second), "array of the coarse level") };
      }
      if (requested != 0)
      {
        need(static_cast<std::byte*>(out), "values array");
      }
      const idx::ReadReport did = source.read(query, out, requested, options);
      if (report)
      {
        add(did, *report);
      }
    });
}
}

const bat_grid& accepted(const bat_grid* grid)
{
  const bat_grid& given = need(grid, "grid");
  if (!given.refused.empty())
  {
    refuse(given.refused);
  }
  for (const GridPiece& piece : given.pieces)
  {
    for (std::size_t f = 0; f != given.fields.size(); ++f)
    {
      if (f >= piece.values.size() || !piece.values[f])
      {
        refuse(fmt::format("a piece lacks the field '{}' of another piece", given.fields[f].name));
      }
    }
  }
  return given;
}

idx::WriteOptions grid_options(const bat_idx_options* options)
{
  return options ? options->options : idx::WriteOptions{};
}

bat_idx_report c_report(const idx::WriteReport& report)
{
  return { report.samples, report.files, report.file_bytes, report.blocks, report.messages_within,
    report.bytes_within, report.messages_between, report.bytes_between };
}
}

using namespace bat::capi;
namespace idx = bat::idx;

int bat_grid_create(bat_grid** out)
{
  return guard(
    [&]
    {
      need(out, "result pointer") = nullptr;
      *out = new bat_grid;
    });
}

void bat_grid_free(bat_grid* grid)
{
  delete grid;
}

int bat_grid_set_geometry(bat_grid* grid, const double* origin, const double* spacing)
{
  return guard_grid(grid,
    [&](bat_grid& handle)
    {
      need(origin, "origin");
      need(spacing, "spacing");
      std::copy_n(origin, 3, handle.origin.begin());
      std::copy_n(spacing, 3, handle.spacing.begin());
    });
}

int bat_grid_add_piece(bat_grid* grid, const int64_t* box, const int64_t* array_box)
{
  return guard_grid(grid,
    [&](bat_grid& handle) {
      handle.pieces.push_back({ logical_box(box), box_or_all(array_box), {} });
    });
}

int bat_grid_set_field(
  bat_grid* grid, const char* name, int type, int64_t components, const void* values)
{
  return guard_grid(grid,
    [&](bat_grid& handle)
    {
      const std::string text = need_text(name, "field name");
      if (handle.pieces.empty())
      {
        refuse(fmt::format("field '{}': no piece was added before it", text));
      }
      if (components < 1 || components > idx::kMaxFieldComponents)
      {
        refuse(fmt::format("field '{}': {} components; allowed are 1 to {}", text, components,
          idx::kMaxFieldComponents));
      }
      const idx::FieldValues field{ text, type_of(type), static_cast<int>(components), nullptr };
      need(static_cast<const std::byte*>(values), "samples array");
      auto found = std::find_if(handle.fields.begin(), handle.fields.end(),
        [&](const idx::FieldValues& f) { return f.name == text; });
      if (found == handle.fields.end())
      {
        handle.fields.push_back(field);
        found = handle.fields.end() - 1;
      }
      if (found->type != field.type || found->components != field.components)
      {
        refuse(fmt::format("field '{}': {}[{}] in one piece and {}[{}] in another", text,
          bat::name_of(found->type), found->components, bat::name_of(field.type),
          field.components));
      }
      std::vector<const void*>& arrays = handle.pieces.back().values;
      const auto number = static_cast<std::size_t>(found - handle.fields.begin());
      arrays.resize(std::max(arrays.size(), number + 1), nullptr);
      arrays[number] = values;
    });
}

int bat_grid_array_shape(const bat_grid* grid, int64_t* counts)
{
  return guard(
    [&]
    {
      need(counts, "result pointer");
      std::fill_n(counts, 3, 0);
      if (need(grid, "grid").pieces.empty())
      {
        refuse("no piece was added");
      }
      const GridPiece& piece = grid->pieces.back();
      const idx::LogicalBox& box = piece.stored ? *piece.stored : piece.box;
      for (std::size_t axis = 0; axis != 3; ++axis)
      {
        counts[axis] = box.is_empty() ? 0 : box.upper[axis] - box.lower[axis] + 1;
      }
    });
}

int bat_grid_fail(bat_grid* grid, const char* text)
{
  return guard_grid(grid, [&](bat_grid&) { refuse(need_text(text, "text")); });
}

int bat_idx_options_create(bat_idx_options** out)
{
  return guard(
    [&]
    {
      need(out, "result pointer") = nullptr;
      *out = new bat_idx_options;
    });
}

void bat_idx_options_free(bat_idx_options* options)
{
  delete options;
}

namespace
{
int set_option(bat_idx_options* options, const char* name, const idx::OptionValue& value)
{
  return guard([&]
    { idx::set_option(need(options, "options").options, need_text(name, "option name"), value); });
}
}

int bat_idx_options_set_integer(bat_idx_options* options, const char* name, int64_t value)
{
  return set_option(options, name, value);
}

int bat_idx_options_set_real(bat_idx_options* options, const char* name, double value)
{
  return set_option(options, name, value);
}

int bat_idx_options_set_text(bat_idx_options* options, const char* name, const char* value)
{
  return guard(
    [&]
    {
      idx::set_option(need(options, "options").options, need_text(name, "option name"),
        need_text(value, "option value"));
    });
}

const char* bat_idx_options_table(void)
{
  const char* text = "";
  (void)guard([&] { text = idx::option_table_json().c_str(); });
  return text;
}

int bat_idx_options_set_progress(bat_idx_options* options, bat_progress progress, void* data)
{
  return guard([&] { need(options, "options").options.progress = on_progress(progress, data); });
}

int bat_idx_write(
  const char* path, const bat_grid* grid, const bat_idx_options* options, bat_idx_report* report)
{
  if (report)
  {
    *report = {};
  }
  return guard(
    [&]
    {
      const std::string target = need_text(path, "path");
      const bat_grid& given = accepted(grid);
      if (given.pieces.size() != 1)
      {
        refuse(fmt::format("{}: the grid has {} pieces; use bat_mpi_idx_write to write more than "
                           "one",
          target, given.pieces.size()));
      }
      const GridPiece& piece = given.pieces.front();
      idx::Grid whole;
      whole.first = piece.box.lower;
      for (std::size_t axis = 0; axis != 3; ++axis)
      {
        if (piece.box.is_empty() || piece.box.lower[axis] < 0)
        {
          refuse(fmt::format("{}: along {}, a piece has samples {} to {}; at least one sample is "
                             "required, at 0 or above",
            target, "xyz"[axis], piece.box.lower[axis], piece.box.upper[axis]));
        }
        whole.dimensions[axis] = piece.box.upper[axis] - piece.box.lower[axis] + 1;
      }
      whole.origin = given.origin;
      whole.spacing = given.spacing;
      whole.fields = given.fields;
      whole.stored = piece.stored;
      for (std::size_t f = 0; f != whole.fields.size(); ++f)
      {
        whole.fields[f].values = piece.values[f];
      }
      const idx::WriteReport written = idx::write(target, whole, grid_options(options));
      if (report)
      {
        *report = c_report(written);
      }
    });
}

int bat_idx_open(const char* path, bat_idx** out)
{
  return guard(
    [&]
    {
      need(out, "result pointer") = nullptr;
      *out = new bat_idx(idx::Dataset::open(need_text(path, "path")));
    });
}

void bat_idx_close(bat_idx* dataset)
{
  release(dataset);
}

int bat_idx_get_info(const bat_idx* dataset, bat_idx_info* info)
{
  return guard_use(dataset,
    [&]
    {
      need(info, "result pointer") = {};
      const idx::Header& header = opened(dataset).header();
      give(header.box, info->box);
      std::copy_n(dataset->geometry.origin.begin(), 3, info->origin);
      std::copy_n(dataset->geometry.spacing.begin(), 3, info->spacing);
      info->blocks_per_file = header.blocks_per_file;
      info->arco = header.arco;
      info->levels = header.levels();
      info->axes = header.axes;
      info->version = header.version;
      info->pidx = header.pidx;
      info->bits_per_block = header.bits_per_block;
      info->big_endian = header.big_endian;
    });
}

int bat_idx_texts(
  const bat_idx* dataset, const char** bits, const char** text, const char** warning)
{
  return guard_use(dataset,
    [&]
    {
      const idx::Dataset& source = opened(dataset);
      const auto give_text = [](const char** out, const std::string& value)
      {
        if (out)
        {
          *out = value.c_str();
        }
      };
      give_text(bits, source.header().bits);
      give_text(text, source.text());
      give_text(warning, dataset->geometry.warning);
    });
}

int bat_idx_field_count(const bat_idx* dataset, int* fields)
{
  return guard_use(dataset,
    [&]
    {
      need(fields, "result pointer") = 0;
      *fields = static_cast<int>(opened(dataset).fields().size());
    });
}

int bat_idx_field(
  const bat_idx* dataset, int64_t index, const char** name, int* type, int* components)
{
  return guard_use(dataset,
    [&]
    {
      const idx::Field& field = field_at(dataset, index);
      if (name)
      {
        *name = field.name.c_str();
      }
      if (type)
      {
        *type = static_cast<int>(field.type);
      }
      if (components)
      {
        *components = field.components;
      }
    });
}

int bat_idx_field_index(const bat_idx* dataset, const char* name, int* index)
{
  return guard_use(dataset,
    [&]
    {
      need(index, "result pointer") = 0;
      *index = static_cast<int>(opened(dataset).field_index(need_text(name, "field name")));
    });
}

int bat_idx_field_range(
  const bat_idx* dataset, int64_t index, int64_t component, double* minimum, double* maximum)
{
  return guard_use(dataset,
    [&]
    {
      need(minimum, "result pointer") = std::numeric_limits<double>::infinity();
      need(maximum, "result pointer") = -std::numeric_limits<double>::infinity();
      const idx::Field& field = field_at(dataset, index);
      if (component < 0 || component >= field.components)
      {
        refuse(fmt::format(
          "component {} of field '{}', which has {}", component, field.name, field.components));
      }
      const auto c = static_cast<std::size_t>(component);
      if (c < field.minimum.size() && c < field.maximum.size())
      {
        *minimum = field.minimum[c];
        *maximum = field.maximum[c];
      }
    });
}

int bat_idx_step_count(const bat_idx* dataset, uint64_t* steps)
{
  return guard_use(dataset,
    [&]
    {
      need(steps, "result pointer") = 0;
      *steps = opened(dataset).steps().size();
    });
}

int bat_idx_steps(const bat_idx* dataset, uint64_t count, int64_t* steps, double* times)
{
  return guard_use(dataset,
    [&]
    {
      const std::vector<std::int64_t> there = opened(dataset).steps();
      if (need_size(count, "the step count") > there.size())
      {
        refuse(fmt::format("{}: {} steps were requested; the dataset has {}",
          opened(dataset).name(), count, there.size()));
      }
      if (steps)
      {
        std::copy_n(there.begin(), count, steps);
      }
      if (times)
      {
        const std::vector<double> of_steps = opened(dataset).times();
        std::copy_n(of_steps.begin(), std::min<std::size_t>(count, of_steps.size()), times);
      }
    });
}

int bat_idx_lattice(const bat_idx* dataset, int64_t level, const int64_t* box, int64_t* first,
  int64_t* distance, int64_t* count)
{
  return guard_use(dataset,
    [&]
    {
      const idx::Lattice lattice =
        opened(dataset).lattice(parse_level(dataset, level), box_or_all(box));
      const auto give_three = [](const std::array<std::int64_t, 3>& values, std::int64_t* out)
      {
        if (out)
        {
          std::copy(values.begin(), values.end(), out);
        }
      };
      give_three(lattice.first, first);
      give_three(lattice.distance, distance);
      give_three(lattice.count, count);
    });
}

int bat_idx_box_of(const bat_idx* dataset, const double* bounds, int64_t* box)
{
  return guard_use(
    dataset, [&] { give(opened(dataset).box_of(box_of(bounds)), &need(box, "result pointer")); });
}

int bat_idx_first_level(const bat_idx* dataset, const int64_t* box, int* level)
{
  return guard_use(dataset,
    [&]
    {
      need(level, "result pointer") = -1;
      *level = opened(dataset).first_level(logical_box(box)).value_or(-1);
    });
}

int bat_idx_get_cost(const bat_idx* dataset, uint64_t count, const char* const* fields,
  int64_t level, const int64_t* box, bat_idx_cost* cost)
{
  return guard_use(dataset,
    [&]
    {
      need(cost, "result pointer") = {};
      const idx::Cost found = opened(dataset).cost(
        find_fields(dataset, count, fields), parse_level(dataset, level), box_or_all(box));
      *cost = { found.samples, found.bytes, found.blocks, found.block_bytes };
    });
}

int bat_idx_finest_level(const bat_idx* dataset, uint64_t count, const char* const* fields,
  int64_t maximum, uint64_t budget_bytes, const int64_t* box, int* level)
{
  return guard_use(dataset,
    [&]
    {
      need(level, "result pointer") = 0;
      *level = opened(dataset).finest_level(find_fields(dataset, count, fields),
        parse_level(dataset, maximum), need_size(budget_bytes, "the budget"), box_or_all(box));
    });
}

int bat_idx_set_threads(bat_idx* dataset, int64_t threads)
{
  return guard_use(
    dataset, [&] { need(dataset, "dataset").options.threads = threads_of(threads); });
}

int bat_idx_set_progress(bat_idx* dataset, bat_progress progress, void* data)
{
  return guard_use(
    dataset, [&] { need(dataset, "dataset").options.progress = on_progress(progress, data); });
}

int bat_idx_read(const bat_idx* dataset, const char* field, const int64_t* step, int64_t level,
  const int64_t* box, void* out, size_t bytes, bat_idx_read_report* report)
{
  return read(dataset, field, step, level, box, {}, out, bytes, report);
}

int bat_idx_refine(const bat_idx* dataset, const char* field, const int64_t* step,
  int64_t coarse_level, const void* coarse, int64_t level, const int64_t* box, void* out,
  size_t bytes, bat_idx_read_report* report)
{
  return read(
    dataset, field, step, level, box, std::pair(coarse_level, coarse), out, bytes, report);
}

int bat_idx_validate(const bat_idx* dataset, bat_idx_read_report* report)
{
  if (report)
  {
    *report = {};
  }
  return guard_use(dataset,
    [&]
    {
      const idx::Dataset& source = opened(dataset);
      bat_idx_read_report sum{};
      const std::vector<std::int64_t> steps = source.steps();
      const double all = static_cast<double>(steps.size() * source.fields().size());
      double done = 0;
      for (const std::int64_t step : steps)
      {
        for (std::size_t field = 0; field != source.fields().size(); ++field)
        {
          idx::ReadOptions options = dataset->options;
          if (dataset->options.progress)
          {
            options.progress = [&](double share)
            { return dataset->options.progress((done + share) / all); };
          }
          add(source.check(field, step, options), sum);
          ++done;
        }
      }
      if (report)
      {
        *report = sum;
      }
    });
}
