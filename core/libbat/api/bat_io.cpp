// SPDX-License-Identifier: BSD-3-Clause
// The C API of the paper's library over bat::mpi; bat_io.h lists the differences.

#include "bat_io.h"

#include "capi/collective.hpp"
#include "capi/handles.hpp"
#include "capi/status.hpp"

#include "bat/bat_mpi.h"
#include "bat/mpi.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <system_error>

namespace bat::capi
{
namespace
{
struct Column
{
  std::string name;
  const void* data = nullptr;
  std::uint64_t size = 0;
  BATDataType type = BTD_UNKNOWN;
};

struct State
{
  Column positions;
  std::vector<Column> attributes;
  bat_options options;
  std::uint32_t fixed_aggregators = 0;
  bat_report report{};
  std::string statistics;
};

struct File
{
  explicit File(Dataset opened)
    : dataset(std::move(opened))
  {
  }
  Dataset dataset;
  std::array<float, 6> global_bounds{};
  std::optional<std::array<float, 6>> read_bounds;
  std::string read_mode = "auto";
  std::string statistics;
  mpi::Particles particles;
  bool has_particles = false;
};

struct Layout
{
  ScalarType type = ScalarType::Float64;
  int components = 0;
};

// Scalars have the numbers of ScalarType; then groups of eight, without 64-bit integers.
constexpr std::array kGroupTypes = { ScalarType::Int8, ScalarType::UInt8, ScalarType::Int16,
  ScalarType::UInt16, ScalarType::Int32, ScalarType::UInt32, ScalarType::Float32,
  ScalarType::Float64 };
constexpr std::array kGroupComponents = { 2, 3, 4, 4, 9, 16 };
static_assert(BTD_FLOAT_64 == static_cast<int>(ScalarType::Float64));
static_assert(BTD_MAT4_DOUBLE == BTD_VEC2_I8 + kGroupTypes.size() * kGroupComponents.size() - 1);

Layout parse_layout(int number, const std::string& what)
{
  if (number <= BTD_UNKNOWN || number > BTD_MAT4_DOUBLE)
  {
    refuse(fmt::format("{} of unknown type {}", what, number));
  }
  if (number < BTD_VEC2_I8)
  {
    return { static_cast<ScalarType>(number), 1 };
  }
  const auto place = static_cast<std::size_t>(number - BTD_VEC2_I8);
  const Layout layout{ kGroupTypes[place % kGroupTypes.size()],
    kGroupComponents[place / kGroupTypes.size()] };
  if (layout.components > kMaxComponents)
  {
    refuse(fmt::format(
      "{} with {} components; at most {} are allowed", what, layout.components, kMaxComponents));
  }
  return layout;
}

BATDataType find_data_type(ScalarType type, int components)
{
  if (components == 1)
  {
    return static_cast<BATDataType>(type);
  }
  const auto scalar = std::find(kGroupTypes.begin(), kGroupTypes.end(), type);
  const auto group = std::find(kGroupComponents.begin(), kGroupComponents.end(), components);
  if (scalar == kGroupTypes.end() || group == kGroupComponents.end())
  {
    return BTD_UNKNOWN;
  }
  return static_cast<BATDataType>(BTD_VEC2_I8 +
    static_cast<std::size_t>(group - kGroupComponents.begin()) * kGroupTypes.size() +
    static_cast<std::size_t>(scalar - kGroupTypes.begin()));
}

// The attributes declared by a rank without particles, if they can be written. Other ranks may
// declare more.
ParticleView declared(const State& state, ParticleView view)
{
  (void)attempt(
    [&]
    {
      const Layout layout = parse_layout(state.positions.type, "positions");
      view.positions.type = layout.components == 3 ? layout.type : view.positions.type;
    });
  for (const Column& column : state.attributes)
  {
    (void)attempt(
      [&]
      {
        const Layout layout = parse_layout(column.type, column.name);
        view.attributes.push_back(
          { column.name, ArrayView::packed(layout.type, layout.components, nullptr) });
      });
  }
  return view;
}

ParticleView make_view(const State& state)
{
  ParticleView view;
  view.count = need_size(state.positions.size, "the position count");
  view.positions = ArrayView::packed(ScalarType::Float32, 3, nullptr);
  if (view.count == 0)
  {
    return declared(state, view);
  }
  const Layout layout = parse_layout(state.positions.type, "positions");
  if (layout.components != 3)
  {
    refuse(fmt::format("positions with {} components", layout.components));
  }
  view.positions = ArrayView::packed(layout.type, 3, state.positions.data);
  for (const Column& column : state.attributes)
  {
    const std::string what = fmt::format("attribute '{}'", column.name);
    const Layout values = parse_layout(column.type, what);
    if (need_size(column.size, "the size of " + what) < view.count)
    {
      refuse(
        fmt::format("{} has {} values, but there are {} particles", what, column.size, view.count));
    }
    AttributeView attribute;
    attribute.name = column.name;
    attribute.values = ArrayView::packed(values.type, values.components, column.data);
    view.attributes.push_back(std::move(attribute));
  }
  return view;
}

// The target size that divides the particles of all ranks into `files` leaf files.
std::uint64_t target_of(const ParticleView& view, std::uint32_t files)
{
  const std::uint64_t local = bytes_per_particle(view) * view.count;
  std::uint64_t all = 0;
  MPI_Allreduce(&local, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return std::max<std::uint64_t>(1, (all + files - 1) / files);
}

bool is_root()
{
  int initialized = 0;
  MPI_Initialized(&initialized);
  int rank = 0;
  if (initialized)
  {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  }
  return rank == 0;
}

// Programs written for that library do not check a status.
void report_failure(int status, const char* function)
{
  if (status != BAT_OK && is_root())
  {
    std::fprintf(stderr, "%s: %s\n", function, bat_last_error());
  }
}

// A call that cannot report errors; its arguments are checked later.
template <class Handle, class F>
void set(void* handle, F&& f)
{
  if (handle)
  {
    guard([&] { f(*static_cast<Handle*>(handle)); });
  }
  else
  {
    fail(BAT_INVALID_ARGUMENT, "the state or file is NULL");
  }
}

// NULL becomes NaN, which the next collective call refuses.
std::array<float, 6> copy_of(const float* bounds)
{
  std::array<float, 6> copy;
  copy.fill(std::numeric_limits<float>::quiet_NaN());
  if (bounds)
  {
    std::copy_n(bounds, copy.size(), copy.begin());
  }
  return copy;
}

// The member in the dataset's metadata.
constexpr const char* kDeclaredBounds = "declared_bounds";

// Collective. Adds to the metadata the box around the boxes that ranks declare; empty if no rank
// declares one.
std::string format_metadata(const std::optional<Box>& local)
{
  constexpr double inf = std::numeric_limits<double>::infinity();
  std::array<double, 6> ends{}; // upper ends with the other sign, so that one reduction does
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    ends[axis] = local ? local->lower[axis] : inf;
    ends[axis + 3] = local ? -local->upper[axis] : inf;
  }
  MPI_Allreduce(MPI_IN_PLACE, ends.data(), 6, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  if (ends[0] == inf)
  {
    return "";
  }
  nlohmann::json bounds = nlohmann::json::array();
  for (std::size_t i = 0; i != ends.size(); ++i)
  {
    bounds.push_back(i < 3 ? ends[i] : -ends[i]);
  }
  return nlohmann::json{ { kDeclaredBounds, bounds } }.dump();
}

// Metadata may contain anything.
std::optional<Box> declared_bounds(const Dataset& dataset)
{
  const nlohmann::json metadata = nlohmann::json::parse(dataset.metadata(), nullptr, false);
  const auto found =
    metadata.is_object() ? metadata.find(kDeclaredBounds) : nlohmann::json::const_iterator();
  if (!metadata.is_object() || found == metadata.end() || !found->is_array() ||
    found->size() != 6 ||
    !std::all_of(found->begin(), found->end(), [](const auto& end) { return end.is_number(); }))
  {
    return std::nullopt;
  }
  const auto ends = found->get<std::array<double, 6>>();
  return Box{ { ends[0], ends[1], ends[2] }, { ends[3], ends[4], ends[5] } };
}

// The box that ranks declared, widened to contain all particles, so that a query for it misses
// none.
std::optional<Box> global_bounds(const Dataset& dataset)
{
  const std::optional<Box> tight = dataset.bounds();
  std::optional<Box> bounds = declared_bounds(dataset);
  if (!bounds || !tight)
  {
    return bounds ? bounds : tight;
  }
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    bounds->lower[axis] = std::min(bounds->lower[axis], tight->lower[axis]);
    bounds->upper[axis] = std::max(bounds->upper[axis], tight->upper[axis]);
  }
  return bounds;
}

std::array<float, 6> outwards(const std::optional<Box>& bounds)
{
  constexpr float inf = std::numeric_limits<float>::infinity();
  if (!bounds)
  {
    return { inf, inf, inf, -inf, -inf, -inf };
  }
  std::array<float, 6> result{};
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    const auto lower = static_cast<float>(bounds->lower[axis]);
    const auto upper = static_cast<float>(bounds->upper[axis]);
    result[axis] =
      static_cast<double>(lower) > bounds->lower[axis] ? std::nextafter(lower, -inf) : lower;
    result[axis + 3] =
      static_cast<double>(upper) < bounds->upper[axis] ? std::nextafter(upper, inf) : upper;
  }
  return result;
}

Query parse_query(const File& file)
{
  Query query;
  if (!file.read_bounds)
  {
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    query.part = static_cast<std::uint32_t>(rank);
    query.parts = static_cast<std::uint32_t>(ranks);
    return query;
  }
  constexpr double inf = std::numeric_limits<double>::infinity();
  Box box;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    const float upper = (*file.read_bounds)[axis + 3];
    box.lower[axis] = (*file.read_bounds)[axis];
    box.upper[axis] = upper >= file.global_bounds[axis + 3] ? inf : upper;
  }
  query.box = box;
  query.half_open = true;
  return query;
}

std::string existing_name(const std::string& name)
{
  const std::string with_suffix = name + ".pbat";
  std::error_code ignored;
  return !Dataset::can_open(name) && std::filesystem::exists(with_suffix, ignored) ? with_suffix
                                                                                   : name;
}
}
}

using namespace bat::capi;

BATParticleState bat_io_allocate(void)
{
  State* state = nullptr;
  guard([&] { state = new State; });
  return state;
}

void bat_io_free(BATParticleState state)
{
  delete static_cast<State*>(state);
}

void bat_io_set_positions(
  BATParticleState state, void* positions, const uint64_t size, BATDataType type)
{
  set<State>(state, [&](State& s) { s.positions = { "", positions, size, type }; });
}

void bat_io_set_attribute(
  BATParticleState state, const char* name, void* data, const uint64_t size, BATDataType type)
{
  set<State>(state,
    [&](State& s)
    {
      const Column column{ name ? name : "", data, size, type };
      const auto found = std::find_if(s.attributes.begin(), s.attributes.end(),
        [&](const Column& other) { return other.name == column.name; });
      if (found != s.attributes.end())
      {
        *found = column;
      }
      else
      {
        s.attributes.push_back(column);
      }
    });
}

void bat_io_set_local_bounds(BATParticleState state, const float* bounds)
{
  set<State>(state,
    [&](State& s)
    {
      const std::array<float, 6> box = copy_of(bounds);
      s.options.local_bounds = bat::Box{ { box[0], box[1], box[2] }, { box[3], box[4], box[5] } };
    });
}

void bat_io_set_bytes_per_subfile(BATParticleState state, const uint64_t size)
{
  set<State>(state, [&](State& s) { s.options.target_bytes = size; });
}

void bat_io_set_find_best_axis(BATParticleState state, const uint32_t find_best)
{
  set<State>(state,
    [&](State& s)
    {
      s.options.mode = bat::PlanMode::RankBorder;
      s.options.find_best_axis = find_best != 0;
    });
}

void bat_io_set_max_split_imbalance_ratio(BATParticleState state, const float ratio)
{
  set<State>(state,
    [&](State& s)
    {
      s.options.mode = bat::PlanMode::RankBorder;
      s.options.max_split_imbalance_ratio = ratio;
    });
}

void bat_io_set_max_overfull_aggregator_factor(BATParticleState state, const float factor)
{
  set<State>(state,
    [&](State& s)
    {
      s.options.mode = bat::PlanMode::RankBorder;
      s.options.max_overfull_factor = factor;
    });
}

void bat_io_set_build_local_trees(BATParticleState state, const uint32_t build_local)
{
  static_cast<void>(state);
  static_cast<void>(build_local);
}

void bat_io_set_fixed_aggregation(BATParticleState state, const uint32_t num_aggregators)
{
  set<State>(state, [&](State& s) { s.fixed_aggregators = num_aggregators; });
}

uint64_t bat_io_write(BATParticleState state, const char* file_name)
{
  bat_particles particles;
  bat_options options;
  std::string path;
  bat_report report{};
  int status = collective(MPI_COMM_WORLD,
    [&]
    {
      const State& s = need(static_cast<State*>(state), "state");
      path = need_text(file_name, "file name") + ".pbat";
      particles.view = make_view(s);
      options = s.options;
      check(options);
      need_size(options.target_bytes, "bytes_per_subfile");
      need_at_most(static_cast<std::int32_t>(s.fixed_aggregators),
        std::numeric_limits<std::int32_t>::max(), "the aggregator count");
    });
  if (status == BAT_OK)
  {
    particles.view.metadata = format_metadata(options.local_bounds);
    // Rank 0's number is used, as all its options are.
    std::uint32_t files = static_cast<State*>(state)->fixed_aggregators;
    MPI_Bcast(&files, 1, MPI_UINT32_T, 0, MPI_COMM_WORLD);
    if (files != 0)
    {
      options.mode = bat::PlanMode::Aug;
      options.target_bytes = target_of(particles.view, files);
    }
    status = bat_mpi_write(MPI_COMM_WORLD, path.c_str(), &particles, &options, &report);
    static_cast<State*>(state)->report = report;
  }
  report_failure(status, "bat_io_write");
  return report.file_bytes;
}

const char* bat_io_get_performance_statistics(BATParticleState state)
{
  const char* result = nullptr;
  const int status = collective(
    MPI_COMM_WORLD, [&] { need(static_cast<State*>(state), "state").statistics.clear(); });
  if (status != BAT_OK)
  {
    report_failure(status, "bat_io_get_performance_statistics");
    return result;
  }
  State& s = *static_cast<State*>(state);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<std::uint64_t> counts(rank == 0 ? static_cast<std::size_t>(ranks) : 0);
  MPI_Gather(&s.positions.size, 1, MPI_UINT64_T, counts.data(), 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  if (rank == 0)
  {
    guard(
      [&]
      {
        std::array<char, 2048> report{};
        bat_report_json(&s.report, report.data(), report.size());
        s.statistics = fmt::format("{{\"mpi_size\":{},\"total_bytes_written\":{},\"report\":{},"
                                   "\"ranks\":[",
          ranks, s.report.file_bytes, report.data());
        for (std::size_t r = 0; r != counts.size(); ++r)
        {
          s.statistics += fmt::format(
            "{}{{\"mpi_rank\":{},\"local_particle_count\":{}}}", r == 0 ? "" : ",", r, counts[r]);
        }
        s.statistics += "]}";
      });
    result = s.statistics.c_str();
  }
  return result;
}

BATParticleFile bat_io_open(const char* file_name)
{
  File* file = nullptr;
  std::string name;
  int status = collective(MPI_COMM_WORLD,
    [&]
    {
      name = need_text(file_name, "file name");
      if (is_root())
      {
        name = existing_name(name);
      }
    });
  if (status == BAT_OK)
  {
    status = guard(
      [&]
      {
        file = new File(bat::mpi::open_dataset(MPI_COMM_WORLD, name));
        file->global_bounds = outwards(global_bounds(file->dataset));
      });
  }
  report_failure(status, "bat_io_open");
  return file;
}

void bat_io_close(BATParticleFile file)
{
  delete static_cast<File*>(file);
}

const float* bat_io_get_global_bounds(BATParticleFile file)
{
  return file ? static_cast<File*>(file)->global_bounds.data() : nullptr;
}

uint64_t bat_io_get_num_attributes(BATParticleFile file)
{
  return file ? static_cast<File*>(file)->dataset.attributes().size() : 0;
}

uint64_t bat_io_get_num_points(BATParticleFile file)
{
  return file ? static_cast<File*>(file)->dataset.particle_count() : 0;
}

void bat_io_get_attribute_description(
  BATParticleFile file, uint64_t id, const char** name, float* range, BATDataType* type)
{
  const int status = guard(
    [&]
    {
      need(name, "result pointer") = nullptr;
      need(type, "result pointer") = BTD_UNKNOWN;
      need(range, "result pointer");
      const auto& attributes = need(static_cast<File*>(file), "file").dataset.attributes();
      if (need_size(id, "the attribute number") >= attributes.size())
      {
        refuse(fmt::format(
          "attribute number {} is out of range; the file has {}", id, attributes.size()));
      }
      const bat::Attribute& attribute = attributes[id];
      const bat::Key& key = attribute.keys.back(); // key of the value, or of the magnitude
      *name = attribute.name.c_str();
      range[0] = static_cast<float>(bat::to_double(key.minimum));
      range[1] = static_cast<float>(bat::to_double(key.maximum));
      *type = find_data_type(attribute.type, attribute.components);
    });
  report_failure(status, "bat_io_get_attribute_description");
}

void bat_io_set_read_bounds(BATParticleFile file, const float* bounds)
{
  set<File>(file, [&](File& f) { f.read_bounds = copy_of(bounds); });
}

void bat_io_set_read_mode(BATParticleFile file, const char* mode)
{
  set<File>(file, [&](File& f) { f.read_mode = mode ? mode : ""; });
}

const char* bat_io_get_read_statistics(BATParticleFile file)
{
  return file ? static_cast<File*>(file)->statistics.c_str() : nullptr;
}

uint64_t bat_io_read(BATParticleFile file)
{
  bat::mpi::ReadOptions options;
  int status = collective(MPI_COMM_WORLD,
    [&]
    {
      File& f = need(static_cast<File*>(file), "file");
      f.has_particles = false;
      f.statistics.clear();
      options.mode = bat::mpi::parse_read_mode(f.read_mode);
    });
  if (status == BAT_OK)
  {
    File& f = *static_cast<File*>(file);
    status = guard(
      [&]
      {
        f.particles = {};
        bat::mpi::ReadReport report;
        f.particles =
          bat::mpi::read_particles(MPI_COMM_WORLD, f.dataset, parse_query(f), {}, options, &report);
        f.statistics = to_json(report);
        f.has_particles = true;
      });
  }
  report_failure(status, "bat_io_read");
  return status == BAT_OK ? static_cast<File*>(file)->particles.count : 0;
}

void bat_io_get_positions(
  BATParticleFile file, const void** positions, uint64_t* size, BATDataType* type)
{
  *positions = nullptr;
  *size = 0;
  *type = BTD_UNKNOWN;
  const auto* f = static_cast<const File*>(file);
  if (f && f->has_particles)
  {
    *positions = f->particles.positions.data();
    *size = f->particles.count;
    *type = find_data_type(f->particles.position_type, 3);
  }
}

void bat_io_get_attribute(
  BATParticleFile file, const char* name, const void** data, uint64_t* size, BATDataType* type)
{
  *data = nullptr;
  *size = 0;
  *type = BTD_UNKNOWN;
  const auto* f = static_cast<const File*>(file);
  if (!f || !f->has_particles || !name)
  {
    return;
  }
  for (const bat::mpi::Particles::Column& column : f->particles.columns)
  {
    if (column.name == name)
    {
      *data = column.values.data();
      *size = column.values.size();
      *type = find_data_type(column.type, column.components);
    }
  }
}
