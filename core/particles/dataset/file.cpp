// SPDX-License-Identifier: BSD-3-Clause
#include "bat/file.hpp"

#include "bat/error.hpp"
#include "particles/query/column_reader.hpp"
#include "particles/query/conditions.hpp"
#include "particles/query/select.hpp"
#include "particles/tree/file_impl.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>
#include <type_traits>

namespace bat
{
using format::SectionKind;

File::File(std::unique_ptr<Impl> impl)
  : impl_(std::move(impl))
{
}
File::File(File&&) noexcept = default;
File& File::operator=(File&&) noexcept = default;
File::~File() = default;

File File::open(const std::filesystem::path& path, const OpenOptions& options)
{
  auto source =
    std::make_unique<io::RandomAccessFile>(path, options.map ? io::Access::Map : io::Access::Read);
  source->set_observer(options.on_read);
  return File(std::make_unique<Impl>(std::move(source)));
}

File File::from_memory(Bytes bytes, std::string name)
{
  return File(std::make_unique<Impl>(
    std::make_unique<io::RandomAccessFile>(std::move(bytes), std::move(name))));
}

File File::from_memory(std::vector<std::byte> bytes, std::string name)
{
  return File(std::make_unique<Impl>(
    std::make_unique<io::RandomAccessFile>(std::move(bytes), std::move(name))));
}

bool File::has_magic(const std::filesystem::path& path) noexcept
{
  try
  {
    unsigned char magic[sizeof(format::kMagic)];
    const io::RandomAccessFile file(path);
    file.read(0, magic, sizeof(magic));
    return std::memcmp(magic, format::kMagic, sizeof(magic)) == 0;
  }
  catch (const std::exception&)
  {
    return false;
  }
}

const std::string& File::name() const noexcept
{
  return this->impl_->source->name();
}

std::uint64_t File::file_bytes() const noexcept
{
  return this->impl_->header.file_bytes;
}

std::string File::format_version() const
{
  return fmt::format("{}.{}", this->impl_->header.version_major, this->impl_->header.version_minor);
}

std::uint64_t File::particle_count() const noexcept
{
  return this->impl_->header.particle_count;
}

ScalarType File::position_type() const noexcept
{
  return static_cast<ScalarType>(this->impl_->schema.head.position_type);
}

std::optional<Box> File::bounds() const noexcept
{
  const format::SchemaHead& head = this->impl_->schema.head;
  if (head.lower[0] > head.upper[0])
  {
    return std::nullopt;
  }
  return Box{ { head.lower[0], head.lower[1], head.lower[2] },
    { head.upper[0], head.upper[1], head.upper[2] } };
}

std::optional<double> File::time() const noexcept
{
  const format::Header& header = this->impl_->header;
  return (header.flags & format::kHasTime) ? std::optional<double>(header.time) : std::nullopt;
}

std::optional<std::int64_t> File::step() const noexcept
{
  const format::Header& header = this->impl_->header;
  return (header.flags & format::kHasStep) ? std::optional<std::int64_t>(header.step)
                                           : std::nullopt;
}

std::string File::metadata() const
{
  return format::read_text(*this->impl_->source, this->impl_->sections, SectionKind::Metadata);
}

std::string to_string(const Alias& alias, const std::vector<Attribute>& attributes)
{
  const std::string target = alias.attribute ? attributes.at(*alias.attribute).name : "position";
  return alias.component < 0 ? target : fmt::format("{}[{}]", target, alias.component);
}

const std::vector<Attribute>& File::attributes() const noexcept
{
  return this->impl_->schema.attributes;
}

std::vector<std::string> File::attribute_names() const
{
  std::vector<std::string> names;
  for (const Attribute& attribute : this->attributes())
  {
    names.push_back(attribute.name);
  }
  return names;
}

std::size_t File::attribute_index(std::string_view name) const
{
  return query::find_attribute(this->name(), this->attributes(), name);
}

std::uint64_t File::bytes_per_particle() const noexcept
{
  return bat::bytes_per_particle(this->position_type(), this->attributes());
}

std::uint64_t File::treelet_count() const noexcept
{
  return this->impl_->schema.head.treelet_count;
}

std::uint64_t File::block_count() const noexcept
{
  return this->impl_->schema.head.block_count;
}

std::uint32_t File::block_particles() const noexcept
{
  return this->impl_->schema.head.block_particles;
}

const std::vector<std::uint64_t>& File::level_ends() const noexcept
{
  return this->impl_->schema.levels.end;
}

std::vector<std::string> File::stable_samples() const
{
  return format::sample_names(this->impl_->schema);
}

std::string to_json(const Hdf5ViewInfo& view)
{
  nlohmann::ordered_json json{ { "exists", view.exists }, { "reason", view.reason },
    { "left_out", nlohmann::ordered_json::array() } };
  for (const LeftOut& array : view.left_out)
  {
    json["left_out"].push_back({ { "name", array.name }, { "reason", array.reason } });
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Hdf5ViewInfo File::hdf5_view() const
{
  ViewState state = this->impl_->hdf5_view();
  Hdf5ViewInfo view{ state.exists, std::move(state.reason), {} };
  for (std::size_t k = 0; k != state.attribute_reasons.size(); ++k)
  {
    if (!state.attribute_reasons[k].empty())
    {
      view.left_out.push_back({ this->attributes()[k].name, state.attribute_reasons[k] });
    }
  }
  return view;
}

std::uint64_t File::data_bytes() const noexcept
{
  return this->bytes_per_particle() * this->particle_count();
}

std::uint64_t File::particles_at(double quality) const
{
  query::check_quality(this->name(), quality);
  return count_at(quality, this->particle_count());
}

namespace
{
query::Conditions make_file_conditions(const File& file, const Query& query)
{
  return query::make_conditions({ file.name(), file.particle_count(), file.attributes() },
    query::part_ordinals(file.name(), file.particle_count(), query), query);
}

// Whole elements.
query::Column column_of(const format::ColumnSection& section)
{
  return { section, 0, section.element_bytes() };
}

query::Column positions_of(const File& file)
{
  return column_of(file.impl().column(SectionKind::Positions));
}

query::Column attribute_of(const File& file, std::size_t index)
{
  if (index >= file.attributes().size())
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{}: attribute number {} is out of range; the file has {}", file.name(), index,
        file.attributes().size()));
  }
  const Attribute& a = file.attributes()[index];
  if (!a.alias)
  {
    return column_of(file.impl().column(SectionKind::Attribute, static_cast<std::uint32_t>(index)));
  }
  query::Column column =
    a.alias->attribute ? attribute_of(file, *a.alias->attribute) : positions_of(file);
  if (a.alias->component >= 0)
  {
    column.value_bytes = size_of(a.type);
    column.offset_bytes = column.value_bytes * static_cast<std::uint64_t>(a.alias->component);
  }
  return column;
}
}

ColumnStorage File::storage(std::optional<std::size_t> attribute) const
{
  const format::ColumnSection& column =
    (attribute ? attribute_of(*this, *attribute) : positions_of(*this)).section;
  return { column.element_bytes() * this->particle_count(), column.stored_bytes(),
    column.has_chunks(), column.has_chunks() ? column.chunks().bound() : 0 };
}

std::uint64_t File::upper_bound(const Query& query) const
{
  return query::upper_bound(*this->impl_, make_file_conditions(*this, query));
}

Selection File::select(const Query& query, const QueryOptions& options) const
{
  return query::select(*this->impl_, make_file_conditions(*this, query), options);
}

void File::read_positions(const Selection& selection, void* out, const QueryOptions& options) const
{
  const query::Column column = positions_of(*this);
  query::fetch(*this->impl_, column, selection, static_cast<std::byte*>(out), options);
}

void File::read_attribute(
  std::size_t index, const Selection& selection, void* out, const QueryOptions& options) const
{
  const query::Column column = attribute_of(*this, index);
  query::fetch(*this->impl_, column, selection, static_cast<std::byte*>(out), options);
}

const void* File::map_positions(std::uint64_t count, const QueryOptions& options) const
{
  const query::Column column = positions_of(*this);
  return query::map_column(*this->impl_, column, count, options);
}

const void* File::map_attribute(
  std::size_t index, std::uint64_t count, const QueryOptions& options) const
{
  const query::Column column = attribute_of(*this, index);
  if (column.value_bytes != column.section.element_bytes())
  {
    const Attribute& a = this->attributes()[index];
    throw Error(ErrorCode::InvalidArgument,
      fmt::format(
        "{}: attribute '{}' is {} and not stored in a column of its own; use read_attribute()",
        this->name(), a.name, to_string(*a.alias, this->attributes())));
  }
  return query::map_column(*this->impl_, column, count, options);
}

std::uint64_t File::bytes_read() const noexcept
{
  return this->impl_->source->bytes_read();
}

void File::for_each(const Query& query,
  const std::function<void(std::uint64_t, const std::array<double, 3>&)>& visit) const
{
  constexpr std::uint64_t kParticlesPerBatch = 65536;
  const Selection all = this->select(query);
  dispatch(this->position_type(),
    [&](auto value)
    {
      using T = decltype(value);
      std::vector<T> positions;
      for (const Span& span : all.spans)
      {
        for (std::uint64_t first = span.first; first != span.first + span.count;)
        {
          const std::uint64_t count = std::min(kParticlesPerBatch, span.first + span.count - first);
          positions.resize(3 * count);
          this->read_positions({ { { first, count } }, count, 0 }, positions.data());
          for (std::uint64_t i = 0; i != count; ++i)
          {
            visit(first + i,
              { static_cast<double>(positions[3 * i]), static_cast<double>(positions[3 * i + 1]),
                static_cast<double>(positions[3 * i + 2]) });
          }
          first += count;
        }
      }
    });
}
}
