// SPDX-License-Identifier: BSD-3-Clause
// Implements particle descriptions, options, and writing a file.

#include "capi/handles.hpp"
#include "capi/status.hpp"

#include "bat/piece_writer.hpp"
#include "bat/repack.hpp"
#include "bat/text.hpp"
#include "bat/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

namespace bat::capi
{
ScalarType type_of(int number)
{
  if (number < BAT_INT8 || number > BAT_FLOAT64)
  {
    refuse(fmt::format("unknown value type {}; allowed: 1 (int8) to 10 (float64)", number));
  }
  return static_cast<ScalarType>(number);
}

Box box_of(const double* box)
{
  need(box, "box");
  return { { box[0], box[1], box[2] }, { box[3], box[4], box[5] } };
}

void check_local_bounds(const Box& box)
{
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    const double lower = box.lower[axis];
    const double upper = box.upper[axis];
    if (!std::isfinite(lower) || !std::isfinite(upper) || lower > upper)
    {
      refuse(fmt::format("local bounds along {} are [{}, {}]; both ends must be finite and "
                         "ascending",
        "xyz"[axis], lower, upper));
    }
  }
}

void check(const bat_options& options)
{
  if (options.local_bounds)
  {
    check_local_bounds(*options.local_bounds);
  }
}

const ParticleView& accepted(const bat_particles& particles)
{
  if (!particles.refused.empty())
  {
    refuse(particles.refused.begin()->second);
  }
  return particles.view;
}

int threads_of(std::int64_t threads)
{
  return static_cast<int>(need_at_most(threads, std::numeric_limits<int>::max(), "threads"));
}

std::size_t stride_of(std::size_t stride, std::size_t bytes, const std::string& what)
{
  need_size(stride, what + ": the stride");
  if (stride != 0 && stride < bytes)
  {
    refuse(fmt::format("{}: the stride is {} bytes; allowed are at least {}, the size of one "
                       "particle, or 0 for packed values",
      what, stride, bytes));
  }
  return stride != 0 ? stride : bytes;
}

namespace
{
std::string attribute_text(const std::string& name)
{
  return fmt::format("attribute '{}'", name);
}

ArrayView array_of(int type, std::int64_t components, const void* values, std::size_t stride,
  const std::string& what)
{
  if (components < 1 || components > kMaxComponents)
  {
    refuse(fmt::format("{}: {} components; allowed are 1 to {}", what, components, kMaxComponents));
  }
  ArrayView view = ArrayView::packed(type_of(type), static_cast<int>(components), values);
  view.stride_bytes = stride_of(stride, view.stride_bytes, what);
  return view;
}

ArrayView make_separate_array(int type, std::int64_t components, const void* const* values,
  std::size_t stride, const std::string& what)
{
  need(values, "component list");
  ArrayView view = array_of(type, components, nullptr, 0, what);
  view.stride_bytes = stride_of(stride, size_of(view.type), what);
  for (std::size_t c = 0; c != static_cast<std::size_t>(components); ++c)
  {
    view.component[c] = static_cast<const std::byte*>(values[c]);
  }
  return view;
}

void set_positions(bat_particles& particles, const ArrayView& values)
{
  if (values.type != ScalarType::Float32 && values.type != ScalarType::Float64)
  {
    refuse(fmt::format("position type {}; allowed are float32 and float64", name_of(values.type)));
  }
  particles.view.positions = values;
}

void set_attribute(bat_particles& particles, const std::string& name, const ArrayView& values)
{
  auto& attributes = particles.view.attributes;
  const auto found = std::find_if(attributes.begin(), attributes.end(),
    [&](const AttributeView& attribute) { return attribute.name == name; });
  if (found != attributes.end())
  {
    found->values = values;
    return;
  }
  AttributeView attribute;
  attribute.name = name;
  attribute.values = values;
  attributes.push_back(std::move(attribute));
}

// Works as guard() does. The error of a refused array stays in the handle until one with this name
// is accepted; `name` is "" for positions.
template <class F>
int guard_array(bat_particles* particles, const std::string& name, F&& f) noexcept
{
  const int status = guard(f);
  if (particles)
  {
    (void)guard(
      [&]
      {
        if (status == BAT_OK)
        {
          particles->refused.erase(name);
        }
        else
        {
          particles->refused[name] = last_error();
        }
      });
  }
  return status;
}

// Does the same for an attribute. An invalid name could never be accepted later, so it is refused
// immediately, and the handle does not change.
template <class F>
int guard_attribute(bat_particles* particles, const char* name, F&& f) noexcept
{
  std::string text;
  const int status = guard(
    [&]
    {
      text = need_text(name, "attribute name");
      if (text.empty() || text.size() > 65535 || !is_utf8(text))
      {
        refuse(fmt::format("{}: a name must have 1 to 65535 bytes of UTF-8, found {} bytes",
          attribute_text(text), text.size()));
      }
    });
  return status == BAT_OK ? guard_array(particles, text, [&] { f(text); }) : status;
}

int guard_option(bat_options* options, const char* name, const OptionValue& value) noexcept
{
  return guard(
    [&]
    {
      bat_options& own = need(options, "options");
      const std::string option = need_text(name, "name");
      set_option(own, option, value);
      own.given.insert(option);
    });
}

template <class Handle, class... Arguments>
void create(Handle** out, Arguments&&... arguments)
{
  need(out, "result pointer");
  *out = nullptr;
  *out = new Handle{ std::forward<Arguments>(arguments)... };
}
}
}

using namespace bat::capi;

size_t bat_type_size(int type)
{
  return type < BAT_INT8 || type > BAT_FLOAT64 ? 0
                                               : bat::size_of(static_cast<bat::ScalarType>(type));
}

int bat_particles_create(uint64_t count, bat_particles** out)
{
  return guard(
    [&]
    {
      need(out, "result pointer") = nullptr;
      need_size(count, "the particle count");
      create(out);
      (*out)->view.count = count;
      (*out)->view.positions = bat::ArrayView::packed(bat::ScalarType::Float64, 3, nullptr);
    });
}

void bat_particles_free(bat_particles* particles)
{
  delete particles;
}

int bat_particles_set_positions(bat_particles* particles, int type, const void* xyz, size_t stride)
{
  return guard_array(particles, "",
    [&]
    { set_positions(need(particles, "particles"), array_of(type, 3, xyz, stride, "positions")); });
}

int bat_particles_set_positions_separate(
  bat_particles* particles, int type, const void* x, const void* y, const void* z, size_t stride)
{
  const void* const values[] = { x, y, z };
  return guard_array(particles, "",
    [&]
    {
      set_positions(
        need(particles, "particles"), make_separate_array(type, 3, values, stride, "positions"));
    });
}

int bat_particles_set_attribute(bat_particles* particles, const char* name, int type,
  int64_t components, const void* values, size_t stride)
{
  return guard_attribute(particles, name,
    [&](const std::string& text)
    {
      set_attribute(need(particles, "particles"), text,
        array_of(type, components, values, stride, attribute_text(text)));
    });
}

int bat_particles_set_attribute_separate(bat_particles* particles, const char* name, int type,
  int64_t components, const void* const* values, size_t stride)
{
  return guard_attribute(particles, name,
    [&](const std::string& text)
    {
      set_attribute(need(particles, "particles"), text,
        make_separate_array(type, components, values, stride, attribute_text(text)));
    });
}

int bat_particles_set_time(bat_particles* particles, double time)
{
  return guard([&] { need(particles, "particles").view.time = time; });
}

int bat_particles_set_step(bat_particles* particles, int64_t step)
{
  return guard([&] { need(particles, "particles").view.step = step; });
}

int bat_particles_set_metadata(bat_particles* particles, const char* json)
{
  return guard([&] { need(particles, "particles").view.metadata = need_text(json, "metadata"); });
}

int bat_options_create(bat_options** out)
{
  return guard([&] { create(out); });
}

void bat_options_free(bat_options* options)
{
  delete options;
}

int bat_options_set_integer(bat_options* options, const char* name, int64_t value)
{
  return guard_option(options, name, value);
}

int bat_options_set_real(bat_options* options, const char* name, double value)
{
  return guard_option(options, name, value);
}

int bat_options_set_text(bat_options* options, const char* name, const char* value)
{
  return guard(
    [&]
    {
      bat_options& own = need(options, "options");
      const std::string option = need_text(name, "name");
      bat::add_to_option(own, option, need_text(value, "value"));
      own.given.insert(option);
    });
}

int bat_options_set_list(
  bat_options* options, const char* name, uint64_t count, const char* const* texts)
{
  return guard(
    [&]
    {
      bat_options& own = need(options, "options");
      const std::string option = need_text(name, "name");
      if (need_size(count, "the string count") != 0)
      {
        need(texts, "list of strings");
      }
      std::vector<std::string> list;
      for (uint64_t i = 0; i != count; ++i)
      {
        list.push_back(need_text(texts[i], "text"));
      }
      bat::set_option(own, option, list);
      own.given.insert(option);
    });
}

const char* bat_options_table(void)
{
  const char* table = "";
  (void)guard([&] { table = bat::option_table_json().c_str(); });
  return table;
}

int bat_options_set_target_bytes(bat_options* options, uint64_t bytes)
{
  return guard_option(options, "target_bytes", static_cast<std::int64_t>(bytes));
}

int bat_options_set_mode(bat_options* options, int mode)
{
  return guard_option(options, "mode", bat::EnumNumber{ mode });
}

int bat_options_set_threads(bat_options* options, int64_t threads)
{
  return guard_option(options, "threads", threads);
}

int bat_options_set_flush(bat_options* options, int flush)
{
  return guard_option(options, "flush", flush != 0);
}

int bat_options_add_sorted_index(bat_options* options, const char* attribute)
{
  return guard(
    [&]
    {
      bat_options& own = need(options, "options");
      own.build.sorted_indexes.push_back(need_text(attribute, "attribute name"));
      own.given.insert("sorted_indexes");
    });
}

int bat_options_set_repeats(bat_options* options, int repeats, int compare_values)
{
  const int status = guard_option(options, "repeats", bat::EnumNumber{ repeats });
  return status == BAT_OK ? guard_option(options, "compare_values", compare_values != 0) : status;
}

int bat_options_set_local_bounds(bat_options* options, const double* box)
{
  return guard(
    [&]
    {
      bat_options& own = need(options, "options");
      // Recorded before it is checked, so that the write reports it to all ranks.
      own.local_bounds = box_of(box);
      check(own);
    });
}

int bat_options_set_find_best_axis(bat_options* options, int find)
{
  return guard_option(options, "find_best_axis", find != 0);
}

int bat_options_set_split_limits(bat_options* options, double ratio, double factor)
{
  return guard(
    [&]
    {
      bat_options& own = need(options, "options");
      bat_options changed = own;
      bat::set_option(changed, "max_split_imbalance_ratio", ratio);
      bat::set_option(changed, "max_overfull_factor", factor);
      changed.given.insert({ "max_split_imbalance_ratio", "max_overfull_factor" });
      own = std::move(changed);
    });
}

int bat_options_set_progress(bat_options* options, bat_progress progress, void* data)
{
  return guard(
    [&]
    {
      bat_options& own = need(options, "options");
      own.build.progress = progress ? [progress, data](double done)
      { return progress(data, done) == 0; }
                                    : std::function<bool(double)>{};
    });
}

namespace
{
void give_text(const std::string& found, char* text, std::size_t size)
{
  need(text, "text");
  if (found.size() + 1 > size)
  {
    refuse(fmt::format("the report needs {} bytes; the buffer has {}", found.size() + 1, size));
  }
  std::memcpy(text, found.c_str(), found.size() + 1);
}
}

int bat_report_json(const bat_report* report, char* text, size_t size)
{
  return guard(
    [&]
    {
      const bat_report& r = need(report, "report");
      const std::string json = fmt::format(
        "{{\"particles\":{},\"skipped\":{},\"leaf_files\":{},\"target_bytes\":{},\"file_bytes\":{},"
        "\"data_bytes\":{},\"largest_leaf_bytes\":{},\"moved_bytes\":{},\"ranks\":{},\"nodes\":{},"
        "\"aggregators\":{},\"threads\":{},\"leaders\":{},\"messages_within_nodes\":{},"
        "\"bytes_within_nodes\":{},\"messages_between_nodes\":{},\"bytes_between_nodes\":{},"
        "\"max_received_messages\":{},\"max_received_bytes\":{},\"peak_memory_bytes\":{},"
        "\"advice\":\"{}\","
        "\"seconds\":{{\"check\":{},\"plan\":{},\"exchange\":{},\"build\":{},\"write\":{},"
        "\"commit\":{},\"total\":{}}}}}",
        r.particles, r.skipped, r.leaf_files, r.target_bytes, r.file_bytes, r.data_bytes,
        r.largest_leaf_bytes, r.moved_bytes, r.ranks, r.nodes, r.aggregators, r.threads, r.leaders,
        r.messages_within, r.bytes_within, r.messages_between, r.bytes_between, r.max_received,
        r.max_received_bytes, r.peak_memory_bytes, r.advice, r.seconds_check, r.seconds_plan,
        r.seconds_exchange, r.seconds_build, r.seconds_write, r.seconds_commit, r.seconds_total);
      give_text(json, text, size);
    });
}

int bat_report_line(const bat_report* report, char* text, size_t size)
{
  return guard(
    [&]
    {
      const bat_report& r = need(report, "report");
      const auto mb = [](std::uint64_t bytes) { return static_cast<double>(bytes) / 1e6; };
      const std::string line = fmt::format(
        "wrote {} particles ({:.3f} MB) as {} leaf files by {} of {} ranks on {} nodes{}, {} or "
        "more threads each: {:.3f} s (check {:.3f}, plan {:.3f}, exchange {:.3f}, build {:.3f}, "
        "write "
        "{:.3f}, commit {:.3f}); {} messages ({:.3f} MB) within nodes and {} ({:.3f} MB) between "
        "them, at most {} ({:.3f} MB) to one rank; peak memory {:.1f} MB{}{}",
        r.particles, mb(r.data_bytes), r.leaf_files, r.aggregators, r.ranks, r.nodes,
        r.leaders == 0 ? "" : fmt::format(" through {} leaders", r.leaders), r.threads,
        r.seconds_total, r.seconds_check, r.seconds_plan, r.seconds_exchange, r.seconds_build,
        r.seconds_write, r.seconds_commit, r.messages_within, mb(r.bytes_within),
        r.messages_between, mb(r.bytes_between), r.max_received, mb(r.max_received_bytes),
        mb(r.peak_memory_bytes), r.advice[0] ? ". " : "", r.advice);
      give_text(line, text, size);
    });
}

int bat_write(
  const char* path, const bat_particles* particles, const bat_options* options, bat_report* report)
{
  if (report)
  {
    *report = {};
  }
  return guard(
    [&]
    {
      const std::string target = need_text(path, "path");
      bat::BuildOptions build;
      if (options)
      {
        check(*options);
        build = options->build;
      }
      const bat::WriteReport written =
        bat::write_file(target, accepted(need(particles, "particles")), build);
      if (report)
      {
        report->particles = written.particles;
        report->leaf_files = 1;
        report->target_bytes = written.data_bytes;
        report->file_bytes = written.file_bytes;
        report->data_bytes = written.data_bytes;
        report->largest_leaf_bytes = written.data_bytes;
        report->ranks = 1;
        report->nodes = 1;
        report->aggregators = 1;
        report->seconds_build = written.seconds_build + written.seconds_encode;
        report->seconds_write = written.seconds_write;
        report->seconds_total = report->seconds_build + report->seconds_write;
      }
    });
}

int bat_piece_writer_create(
  const char* path, const bat_options* options, uint64_t memory_bytes, bat_piece_writer** out)
{
  return guard(
    [&]
    {
      need(out, "out");
      *out = nullptr;
      bat::WriteOptions chosen;
      if (options)
      {
        check(*options);
        if (options->local_bounds)
        {
          refuse("local bounds apply to parallel writes; pieces belong to one process");
        }
        chosen = *options;
      }
      *out = new bat_piece_writer(need_text(path, "path"), chosen, memory_bytes);
    });
}

int bat_piece_writer_add(bat_piece_writer* writer, const bat_particles* piece)
{
  return guard_use(writer,
    [&]
    {
      bat::PieceWriter& own = need(writer, "writer").writer;
      const std::optional<bat::Error> refused =
        bat::attempt([&] { (void)accepted(need(piece, "particles")); });
      if (refused)
      {
        own.fail(refused->what());
        throw *refused;
      }
      own.add(piece->view);
    });
}

int bat_piece_writer_fail(bat_piece_writer* writer, const char* text)
{
  return guard_use(writer, [&] { need(writer, "writer").writer.fail(need_text(text, "text")); });
}

int bat_piece_writer_finish(bat_piece_writer* writer, bat_report* report)
{
  if (report)
  {
    *report = {};
  }
  return guard_use(writer,
    [&]
    {
      const bat::PieceReport written = need(writer, "writer").writer.finish();
      if (report)
      {
        report->particles = written.particles;
        report->leaf_files = written.leaf_files;
        report->target_bytes = written.target_bytes;
        report->file_bytes = written.file_bytes;
        report->data_bytes = written.data_bytes;
        report->largest_leaf_bytes = written.largest_leaf_bytes;
        report->ranks = 1;
        report->nodes = 1;
        report->aggregators = 1;
        report->seconds_plan = written.seconds_plan;
        report->seconds_exchange = written.seconds_sort;
        report->seconds_build = written.seconds_build;
        report->seconds_write = written.seconds_write;
        report->seconds_total = written.seconds_plan + written.seconds_sort +
          written.seconds_build + written.seconds_write;
      }
    });
}

void bat_piece_writer_free(bat_piece_writer* writer)
{
  release(writer);
}

int bat_repack(
  const char* in, const char* out, const bat_options* options, bat_repack_report* report)
{
  if (report)
  {
    *report = {};
  }
  return guard(
    [&]
    {
      const std::string from = need_text(in, "the path to read");
      const std::string to = need_text(out, "the path to write");
      bat::RepackOptions repack;
      if (options)
      {
        if (options->local_bounds)
        {
          refuse("local bounds apply to parallel writes; an existing dataset keeps its leaf files");
        }
        repack.build = options->build;
        repack.changed = options->given;
      }
      const bat::RepackReport done = bat::repack(from, to, repack);
      if (report)
      {
        report->particles = done.particles;
        report->datasets = done.datasets;
        report->leaf_files = done.leaf_files;
        report->bytes_before = done.bytes_before;
        report->bytes_after = done.bytes_after;
        report->seconds = done.seconds;
      }
    });
}
