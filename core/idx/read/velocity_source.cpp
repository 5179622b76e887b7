// SPDX-License-Identifier: BSD-3-Clause
#include "bat/idx/velocity_source.hpp"

#include "bat/error.hpp"
#include "common/fail.hpp"
#include "idx/format/order.hpp"
#include "idx/format/scatter.hpp"
#include "idx/read/block_cache.hpp"
#include "idx/read/block_reader.hpp"
#include "idx/read/visus_address.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace bat::idx
{
namespace
{
bool is_real(const Field& field)
{
  return field.type == ScalarType::Float32 || field.type == ScalarType::Float64;
}

std::string type_text(const Field& field)
{
  return fmt::format("'{}' {}[{}]", field.name, name_of(field.type), field.components);
}

// Lists all fields with their types.
std::string list_of(const std::vector<Field>& fields)
{
  std::vector<std::string> texts(fields.size());
  std::transform(fields.begin(), fields.end(), texts.begin(), type_text);
  return fmt::format("{}", fmt::join(texts, ", "));
}

constexpr const char* kAllowed =
  "a velocity is one field with 2 or 3 components, or 2 or 3 fields with one, of type float32 or "
  "float64";

std::vector<std::size_t> only_field(const Dataset& dataset)
{
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i != dataset.fields().size(); ++i)
  {
    const Field& field = dataset.fields()[i];
    if (is_real(field) && (field.components == 2 || field.components == 3))
    {
      found.push_back(i);
    }
  }
  if (found.size() != 1)
  {
    refuse(dataset.name(),
      fmt::format("{} can be the velocity in {}; {}: specify the field or fields",
        found.empty() ? "no single field" : "several fields", list_of(dataset.fields()), kAllowed));
  }
  return found;
}

std::vector<std::size_t> fields_of(const Dataset& dataset, const std::vector<std::string>& names)
{
  if (names.empty())
  {
    return only_field(dataset);
  }
  std::vector<std::size_t> fields;
  for (const std::string& name : names)
  {
    fields.push_back(dataset.field_index(name));
    const Field& field = dataset.fields()[fields.back()];
    const bool fits =
      names.size() == 1 ? field.components == 2 || field.components == 3 : field.components == 1;
    if (names.size() > 3 || !fits || !is_real(field))
    {
      refuse(dataset.name(),
        fmt::format(
          "field {} is one of {} for the velocity; {}", type_text(field), names.size(), kAllowed));
    }
    const Field& first = dataset.fields()[fields.front()];
    if (field.type != first.type)
    {
      refuse(dataset.name(),
        fmt::format("fields {} and {}: the fields of a velocity must have the same type",
          type_text(first), type_text(field)));
    }
  }
  return fields;
}

BrickGrid grid_of(
  const Dataset& dataset, const std::vector<std::size_t>& fields, const VelocityOptions& options)
{
  const Geometry geometry = dataset.geometry();
  if (!geometry.warning.empty())
  {
    refuse(dataset.name(), geometry.warning + "; velocities must be along the axes of the samples");
  }
  const Field& field = dataset.fields()[fields.front()];
  BrickGrid grid;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    const std::int64_t first = dataset.box().lower[axis];
    grid.points[axis] = dataset.box().upper[axis] - first + 1;
    grid.spacing[axis] = geometry.spacing[axis];
    grid.origin[axis] = geometry.origin[axis] + static_cast<double>(first) * grid.spacing[axis];
  }
  grid.cyclic = options.cyclic;
  grid.edge = options.edge;
  grid.components = fields.size() == 1 ? field.components : static_cast<int>(fields.size());
  grid.type = field.type;
  if (const std::string fault = find_fault(grid); !fault.empty())
  {
    refuse(dataset.name(), fault);
  }
  return grid;
}

void check_times(const Dataset& dataset, const std::vector<double>& times)
{
  if (times.empty())
  {
    throw Error(ErrorCode::NotFound, fmt::format("{}: no time steps yet", dataset.name()));
  }
  for (std::size_t i = 0; i != times.size(); ++i)
  {
    if (!std::isfinite(times[i]) || (i != 0 && !(times[i] > times[i - 1])))
    {
      throw Error(ErrorCode::Corrupt,
        fmt::format("{}: the time of step {} of {} is {}{}; times must be finite and increase",
          dataset.name(), i, times.size(), times[i],
          i == 0 ? "" : fmt::format(", after {}", times[i - 1])));
    }
  }
}

// Used for absent blocks; these bits mean no flow in bricks too.
void fill_with_nan(ScalarType type, std::byte* values, std::size_t bytes)
{
  const auto fill = [&](auto nan)
  {
    for (std::size_t at = 0; at != bytes; at += sizeof(nan))
    {
      std::memcpy(values + at, &nan, sizeof(nan));
    }
  };
  type == ScalarType::Float32 ? fill(std::numeric_limits<float>::quiet_NaN())
                              : fill(std::numeric_limits<double>::quiet_NaN());
}
}

struct VelocitySource::Impl
{
  Impl(const std::filesystem::path& path, const VelocityOptions& options)
    : dataset(Dataset::open(path))
    , source(parse_visus_address(path), this->dataset.text(), this->dataset.header())
    , order(this->source.order)
    , steps(this->dataset.steps())
    , times(this->dataset.times())
    , fields(fields_of(this->dataset, options.fields))
    , grid(grid_of(this->dataset, this->fields, options))
    , blocks(options.block_bytes, this->field_bytes() << this->order.bits_per_block())
  {
    check_times(this->dataset, this->times);
    for (int level = this->order.bits_per_block(); level <= this->order.levels(); ++level)
    {
      this->levels.push_back(this->order.blocks_of_level(level));
    }
  }

  // Size of a sample of one field.
  [[nodiscard]] std::size_t field_bytes() const
  {
    return static_cast<std::size_t>(this->dataset.fields()[this->fields.front()].sample_bytes());
  }

  // Size of a block's samples in the dataset's box.
  [[nodiscard]] Lattice make_lattice(
    const format::LevelBlocks& level, const format::Point& place) const
  {
    Lattice lattice;
    lattice.distance = level.distance;
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      const std::int64_t distance = level.distance[axis];
      const std::int64_t first = level.origin[axis] + place[axis] * level.counts[axis] * distance;
      const std::int64_t last = first + (level.counts[axis] - 1) * distance;
      const std::int64_t lower = this->dataset.box().lower[axis];
      const std::int64_t before = first < lower ? (lower - first + distance - 1) / distance : 0;
      lattice.first[axis] = first + before * distance;
      const std::int64_t upper = std::min(last, this->dataset.box().upper[axis]);
      lattice.count[axis] =
        upper < lattice.first[axis] ? 0 : (upper - lattice.first[axis]) / distance + 1;
    }
    return lattice;
  }

  [[nodiscard]] BlockSamples read_block(const BlockKey& key, const format::LevelBlocks& level,
    const format::Point& place, std::uint64_t& bytes_read) const
  {
    const Lattice lattice = this->make_lattice(level, place);
    BlockSamples samples;
    samples.shape.level = level.level;
    samples.shape.origin = lattice.first;
    samples.shape.distance = lattice.distance;
    samples.shape.counts = lattice.count;
    samples.values.resize(static_cast<std::size_t>(lattice.samples()) * this->field_bytes());
    BlockRead read;
    read.field = key.field;
    read.step = this->steps[key.step];
    read.lattice = lattice;
    read.level = level.level;
    read.known_level = key.block == 0 ? -1 : level.level - 1;
    read.array = samples.values.data();
    ReadOptions options;
    options.threads = 1;
    const ReadReport report = read_blocks(this->source, read, options);
    bytes_read += report.bytes_read;
    ++this->read_count;
    if (report.absent_blocks != 0)
    {
      ++this->absent_count;
      samples.values = {};
    }
    return samples;
  }

  // Reads the samples of a brick for one field, packed. Returns the number of bytes read from
  // files.
  std::uint64_t gather(
    std::size_t step, std::size_t field, const Lattice& brick, std::byte* values) const
  {
    const std::size_t sample = this->field_bytes();
    std::uint64_t bytes_read = 0;
    for (const format::LevelBlocks& level : this->levels)
    {
      const format::BlockRange range = this->order.blocks_with(level, brick);
      for (std::int64_t z = range.lower[2]; z <= range.upper[2]; ++z)
      {
        for (std::int64_t y = range.lower[1]; y <= range.upper[1]; ++y)
        {
          for (std::int64_t x = range.lower[0]; x <= range.upper[0]; ++x)
          {
            const format::Point place{ x, y, z };
            const BlockKey key{ step, field, this->order.block_at(level, place) };
            this->blocks.use(
              key, [&] { return this->read_block(key, level, place, bytes_read); },
              [&](const BlockSamples& block)
              {
                if (block.values.empty())
                {
                  std::vector<std::byte> nan(sample);
                  fill_with_nan(this->grid.type, nan.data(), sample);
                  fill_samples(this->order.common(level, place, brick), nan.data(), sample, values,
                    compute_strides(brick.count));
                  return;
                }
                copy_samples<Direction::ToArray>(this->order.common(block.shape, {}, brick),
                  block.shape.counts, nullptr, sample, block.values.data(), values,
                  compute_strides(brick.count));
              });
          }
        }
      }
    }
    return bytes_read;
  }

  Dataset dataset;
  Source source;
  const format::Order& order; ///< of the source
  std::vector<std::int64_t> steps;
  std::vector<double> times;
  std::vector<std::size_t> fields; ///< one, or one for each component
  BrickGrid grid;
  std::vector<format::LevelBlocks> levels; ///< starting at the level of block 0
  mutable BlockCache blocks;
  mutable std::atomic<std::uint64_t> read_count{ 0 };
  mutable std::atomic<std::uint64_t> absent_count{ 0 };
};

VelocitySource::VelocitySource(std::unique_ptr<const Impl> impl)
  : impl_(std::move(impl))
{
}
VelocitySource::~VelocitySource() = default;

std::shared_ptr<const VelocitySource> VelocitySource::open(
  const std::filesystem::path& path, const VelocityOptions& options)
{
  return std::shared_ptr<const VelocitySource>(
    new VelocitySource(std::make_unique<const Impl>(path, options)));
}

const BrickGrid& VelocitySource::grid() const noexcept
{
  return this->impl_->grid;
}
const std::vector<double>& VelocitySource::times() const noexcept
{
  return this->impl_->times;
}
const Dataset& VelocitySource::dataset() const noexcept
{
  return this->impl_->dataset;
}
std::uint64_t VelocitySource::max_block_bytes() const
{
  return this->impl_->blocks.max_bytes();
}
std::uint64_t VelocitySource::blocks_read() const
{
  return this->impl_->read_count;
}
std::uint64_t VelocitySource::absent_blocks() const
{
  return this->impl_->absent_count;
}

std::string VelocitySource::level_name(std::size_t level) const
{
  const Impl& impl = *this->impl_;
  return level < impl.steps.size()
    ? fmt::format("{}: time step {}", impl.dataset.name(), impl.steps[level])
    : impl.dataset.name();
}

std::uint64_t VelocitySource::read(std::size_t level, std::uint64_t brick, BrickMemory to) const
{
  const Impl& impl = *this->impl_;
  if (level >= impl.steps.size() || brick >= impl.grid.brick_count())
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{}: brick {} of time step {} is out of range; the dataset has {} and {}",
        impl.dataset.name(), brick, level, impl.grid.brick_count(), impl.steps.size()));
  }
  const std::array<std::int64_t, 3> place = impl.grid.brick_place(brick);
  Lattice lattice;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    lattice.first[axis] = impl.dataset.box().lower[axis] + place[axis] * impl.grid.edge;
    lattice.count[axis] = impl.grid.brick_points(axis, place[axis]);
  }
  const auto samples = static_cast<std::size_t>(lattice.samples());
  const std::size_t part = impl.field_bytes();
  const std::size_t point = impl.grid.point_bytes();
  thread_local std::vector<std::byte> all;
  thread_local std::vector<std::byte> one;
  all.resize(samples * point);
  one.resize(impl.fields.size() == 1 ? 0 : samples * part);
  std::uint64_t bytes_read = 0;
  for (std::size_t i = 0; i != impl.fields.size(); ++i)
  {
    std::byte* const values = impl.fields.size() == 1 ? all.data() : one.data();
    bytes_read += impl.gather(level, impl.fields[i], lattice, values);
    for (std::size_t at = 0; at * part < one.size(); ++at)
    {
      std::memcpy(all.data() + at * point + i * part, one.data() + at * part, part);
    }
  }
  const std::size_t row = static_cast<std::size_t>(lattice.count[0]) * point;
  const std::byte* from = all.data();
  for (std::int64_t z = 0; z != lattice.count[2]; ++z)
  {
    for (std::int64_t y = 0; y != lattice.count[1]; ++y, from += row)
    {
      std::memcpy(to.first + static_cast<std::size_t>(z) * to.plane_bytes +
          static_cast<std::size_t>(y) * to.row_bytes,
        from, row);
    }
  }
  return bytes_read;
}
}
