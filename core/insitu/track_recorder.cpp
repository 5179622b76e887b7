// SPDX-License-Identifier: BSD-3-Clause
// The track recorder follows chosen particles through a run and appends them to one tracks file.
//
// Each step, every rank scans the ids of its own particles and sends the chosen ones to rank 0:
//
//   rank 0   ids: 7 3 9 ...  --hash bits--> 3 ------.
//   rank 1   ids: 4 8 1 ...  --hash bits--> 8 1 -----+--> rank 0: one sample --> NAME.tracks.bat
//   rank 2   ids: 2 6 5 ...  --hash bits--> (none) -'
//
// Particles are chosen by a list of ids, by id (every n-th), or by a box. A box is evaluated once:
// the ids found in it at the first step with particles in it are kept for the rest of the run, and
// a restarted run reads them back from the samples before. Most particles are not chosen, so each
// id is first tested against a table of 2^18 hash bits, which stays in the processor's cache; only
// hits are looked up in the sorted list of ids. A record is the id, its second part and the packed
// values, in words of 8 bytes. All ranks agree on the schema, that of the first rank with
// particles, before they send.
#include "insitu/track_recorder.hpp"

#include "bat/follow.hpp"
#include "bat/nearest_name.hpp"
#include "common/fail.hpp"
#include "common/numbers.hpp"
#include "particles/parallel/rank_particles.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace bat::insitu
{
namespace
{
constexpr char kSubject[] = "tracks"; // for messages

using nlohmann::json;

constexpr int kHashBits = 18; // 32 KiB, which stay in the cache

std::size_t hash_of(std::uint64_t bits) noexcept
{
  return static_cast<std::size_t>((bits * 0x9E3779B97F4A7C15u) >> (64 - kHashBits));
}

/// A name and the location of its values; empty if the view has no such attribute.
std::optional<AttributeView> find(const ParticleView& view, const std::string& name)
{
  for (const AttributeView& attribute : view.attributes)
  {
    if (attribute.name == name)
    {
      return attribute;
    }
  }
  for (const AliasView& alias : view.aliases)
  {
    if (alias.name != name)
    {
      continue;
    }
    AttributeView found{ name, view.positions, alias.role, alias.host_type };
    if (!alias.attribute.empty())
    {
      found.values = find(view, alias.attribute).value().values; // RankParticles has checked them
    }
    if (alias.component >= 0)
    {
      found.values.component[0] = found.values.component[static_cast<std::size_t>(alias.component)];
      found.values.components = 1;
    }
    return found;
  }
  return std::nullopt;
}

std::vector<std::string> names_in(const ParticleView& view)
{
  std::vector<std::string> names;
  for (const AttributeView& attribute : view.attributes)
  {
    names.push_back(attribute.name);
  }
  for (const AliasView& alias : view.aliases)
  {
    names.push_back(alias.name);
  }
  return names;
}

std::vector<Attribute> attributes_in(const ParticleView& view)
{
  std::vector<Attribute> attributes;
  for (const std::string& name : names_in(view))
  {
    const AttributeView found = find(view, name).value();
    attributes.push_back(
      { name, found.values.type, found.values.components, found.role, found.host_type, {} });
  }
  return attributes;
}

AttributeView need(const ParticleView& view, const std::string& name)
{
  const std::optional<AttributeView> found = find(view, name);
  if (!found)
  {
    refuse(kSubject,
      fmt::format("unknown attribute '{}'{}", name,
        bat::available(name, fmt::format("{}", fmt::join(names_in(view), ", ")))));
  }
  return *found;
}

ArrayView need_ids(const ParticleView& view, const std::string& name)
{
  const AttributeView found = need(view, name);
  if (found.values.components != 1)
  {
    refuse(kSubject,
      fmt::format("'{}' has {} components; ids must have one", name, found.values.components));
  }
  return found.values;
}

// Returns the bits of a value as a tracks file stores it.
template <class T>
std::uint64_t bits_of(T value)
{
  const auto wide = static_cast<ClassOf<T>>(value);
  return wide == 0 ? 0 : to_bits(wide);
}

template <class T>
T value_at(const ArrayView& values, std::size_t component, std::uint64_t row)
{
  T value;
  std::memcpy(&value, values.component[component] + row * values.stride_bytes, sizeof(value));
  return value;
}

// Returns the bits of a number in the class of `type`; empty if no value of that class equals the
// number.
std::optional<std::uint64_t> bits_of(const Number& number, ScalarType type)
{
  return dispatch(value_class(type),
    [&](auto example) -> std::optional<std::uint64_t>
    {
      using V = decltype(example);
      const ClassRange<V> range = to_class<V>(number, number);
      if (range.empty || range.upper < range.lower)
      {
        return std::nullopt;
      }
      return range.lower == 0 ? 0 : to_bits(range.lower);
    });
}

// Two are equal if their texts are.
std::string format_text(const TrackOptions& options)
{
  std::string text;
  const auto add = [&](const std::string& part)
  { text += fmt::format("{}:{};", part.size(), part); };
  const auto add_numbers = [&](const std::vector<Number>& numbers)
  {
    add(fmt::format("{}", numbers.size()));
    for (const Number& number : numbers)
    {
      std::visit(
        [&](auto value) { add(fmt::format("{} {}", number.index(), to_bits(value))); }, number);
    }
  };
  add_numbers(options.ids);
  add_numbers(options.second);
  for (std::size_t axis = 0; options.box && axis != 3; ++axis)
  {
    add(fmt::format("{} {}", options.box->lower[axis], options.box->upper[axis]));
  }
  add(fmt::format("{} {}", options.every_id, options.attributes ? options.attributes->size() : 0));
  add(options.attributes ? "named" : "all");
  for (const std::string& name : options.attributes.value_or(std::vector<std::string>()))
  {
    add(name);
  }
  add(options.id_attribute);
  add(options.second_attribute);
  return text;
}

json schema_json(const TrackSchema& schema, const std::string& metadata)
{
  json attributes = json::array();
  for (const Attribute& a : schema.attributes)
  {
    attributes.push_back({ a.name, static_cast<int>(a.type), a.components, a.role, a.host_type });
  }
  return { { "id", schema.id_attribute }, { "id_type", static_cast<int>(schema.id_type) },
    { "second", schema.second_attribute }, { "second_type", static_cast<int>(schema.second_type) },
    { "position_type", static_cast<int>(schema.position_type) }, { "attributes", attributes },
    { "metadata", metadata } };
}

// A record that ranks exchange is an id, its second part, and the values.
std::size_t words_per_row(const TrackSchema& schema)
{
  return 2 + (track_bytes(schema) + 7) / 8;
}

// Builds the particles of a sample from such records.
TrackSample take_sample(const std::vector<std::uint64_t>& rows, const TrackSchema& schema)
{
  const std::size_t words = words_per_row(schema);
  const std::size_t row_bytes = track_bytes(schema);
  const std::size_t count = rows.size() / words;
  TrackSample sample;
  sample.schema = schema;
  sample.values.resize(count * row_bytes);
  for (std::size_t i = 0; i != count; ++i)
  {
    const std::uint64_t* const row = &rows[i * words];
    sample.ids.push_back(row[0]);
    if (!schema.second_attribute.empty())
    {
      sample.second.push_back(row[1]);
    }
    std::memcpy(sample.values.data() + i * row_bytes, row + 2, row_bytes);
  }
  return sample;
}

TrackSchema make_schema(const json& text)
{
  TrackSchema schema;
  schema.id_attribute = text.at("id").get<std::string>();
  schema.id_type = static_cast<ScalarType>(text.at("id_type").get<int>());
  schema.second_attribute = text.at("second").get<std::string>();
  schema.second_type = static_cast<ScalarType>(text.at("second_type").get<int>());
  schema.position_type = static_cast<ScalarType>(text.at("position_type").get<int>());
  for (const json& a : text.at("attributes"))
  {
    Attribute attribute;
    attribute.name = a.at(0).get<std::string>();
    attribute.type = static_cast<ScalarType>(a.at(1).get<int>());
    attribute.components = a.at(2).get<int>();
    attribute.role = a.at(3).get<std::uint8_t>();
    attribute.host_type = a.at(4).get<std::uint32_t>();
    schema.attributes.push_back(std::move(attribute));
  }
  return schema;
}
}

/// Returns where the values of a view are.
struct TrackRecorder::Source
{
  TrackSchema schema;
  ArrayView id;
  ArrayView second;
  std::vector<ArrayView> values; ///< positions, and the attributes of the schema

  /// Returns them in the order of another schema with the same attributes. Throws
  /// Error{InvalidArgument}.
  void fit(const TrackSchema& other)
  {
    const auto text = [](ScalarType type, int components)
    { return fmt::format("{}[{}]", name_of(type), components); };
    const auto same = [&](const std::string& name, ScalarType local, int components,
                        ScalarType theirs, int their_components)
    {
      if (local != theirs || components != their_components)
      {
        refuse(kSubject,
          fmt::format("'{}' is {} here and {} on another rank or piece", name,
            text(local, components), text(theirs, their_components)));
      }
    };
    same("positions", this->schema.position_type, 3, other.position_type, 3);
    same(other.id_attribute, this->schema.id_type, 1, other.id_type, 1);
    same(other.second_attribute, this->schema.second_type, 1, other.second_type, 1);
    if (this->schema.id_attribute != other.id_attribute ||
      this->schema.attributes.size() != other.attributes.size())
    {
      refuse(kSubject,
        fmt::format("ids are '{}' with {} attributes here, and '{}' with {} on another rank or "
                    "piece",
          this->schema.id_attribute, this->schema.attributes.size(), other.id_attribute,
          other.attributes.size()));
    }
    std::vector<ArrayView> ordered = { this->values.front() };
    for (const Attribute& requested : other.attributes)
    {
      const auto found =
        std::find_if(this->schema.attributes.begin(), this->schema.attributes.end(),
          [&](const Attribute& a) { return a.name == requested.name; });
      if (found == this->schema.attributes.end())
      {
        refuse(kSubject,
          fmt::format(
            "attribute '{}' is missing, but another rank or piece has it", requested.name));
      }
      same(requested.name, found->type, found->components, requested.type, requested.components);
      ordered.push_back(
        this->values[1 + static_cast<std::size_t>(found - this->schema.attributes.begin())]);
    }
    this->values = std::move(ordered);
    this->schema = other;
  }

  /// Returns nothing if a value is NaN, which cannot be an id.
  [[nodiscard]] std::optional<Id> id_at(std::uint64_t row) const
  {
    const auto bits = [&](const ArrayView& values, ScalarType type)
    {
      return dispatch(type,
        [&](auto example) -> std::optional<std::uint64_t>
        {
          using T = decltype(example);
          const T value = value_at<T>(values, 0, row);
          if constexpr (std::is_floating_point_v<T>)
          {
            if (std::isnan(value))
            {
              return std::nullopt;
            }
          }
          return bits_of(value);
        });
    };
    const auto first = bits(this->id, this->schema.id_type);
    const auto other = this->schema.second_attribute.empty()
      ? std::optional<std::uint64_t>(0)
      : bits(this->second, this->schema.second_type);
    return first && other ? std::optional(Id{ *first, *other }) : std::nullopt;
  }

  /// Packs the position and attributes of a particle.
  void copy_values(std::uint64_t row, std::byte* out) const
  {
    for (const ArrayView& array : this->values)
    {
      const std::size_t bytes = size_of(array.type);
      for (int c = 0; c != array.components; ++c, out += bytes)
      {
        std::memcpy(
          out, array.component[static_cast<std::size_t>(c)] + row * array.stride_bytes, bytes);
      }
    }
  }
};

struct TrackRecorder::RankSources
{
  std::optional<mpi::RankParticles> particles;
  std::vector<Source> sources; ///< one for each part of the particles; none if no part has ids
  std::string text;            ///< JSON of the schema and the metadata; "{}" without ids
};

struct TrackRecorder::Agreed
{
  bool is_empty = false; ///< no rank has particles
  TrackSchema schema;
  std::string metadata;
};

TrackRecorder::TrackRecorder(std::filesystem::path path, std::string species,
  const TrackOptions& options, bool flush, SeriesWriter::Notice notice)
  : path_(std::move(path))
  , species_(std::move(species))
  , options_(options)
  , flush_(flush)
  , notice_(std::move(notice))
{
}

TrackRecorder::~TrackRecorder()
{
  if (!this->writer_)
  {
    return;
  }
  if (const std::optional<Error> error = attempt([&] { this->writer_->finish(); }))
  {
    (void)attempt(
      [&]
      {
        this->notice_(fmt::format("{}: all samples were written, but could not be reordered: {}; "
                                  "use 'parabat repack'",
          this->path_.string(), error->what()));
      });
  }
}

bool TrackRecorder::has_ids(const ParticleView& view) const
{
  return !this->options_.id_attribute.empty() ||
    find_id_attribute(attributes_in(view), this->species_).has_value();
}

std::string TrackRecorder::choose_id(const std::vector<Attribute>& all) const
{
  if (!this->options_.id_attribute.empty())
  {
    return this->options_.id_attribute;
  }
  const std::optional<std::size_t> found = find_id_attribute(all, this->species_);
  return found ? all[*found].name : "id";
}

// Returns the attribute that makes pairs of the ids; "" if ids are single numbers.
std::string TrackRecorder::choose_second(
  const std::vector<Attribute>& all, const std::string& id) const
{
  std::vector<std::string> names;
  for (const Attribute& attribute : all)
  {
    names.push_back(attribute.name);
  }
  std::string second = this->options_.second_attribute;
  if (second.empty())
  {
    const auto at = static_cast<std::size_t>(
      std::find(names.begin(), names.end(), id) - names.begin()); // need_ids() has found it
    const std::optional<std::size_t> found = find_second_id_attribute(all, at);
    second = found ? all[*found].name : "";
  }
  if (second.empty() && !this->options_.second.empty())
  {
    refuse(kSubject,
      fmt::format("ids are pairs, but no attribute is the cpu of '{}'; set the option "
                  "second, one of {}",
        id, fmt::join(names, ", ")));
  }
  return second;
}

TrackRecorder::Source TrackRecorder::make_source(const ParticleView& view) const
{
  const std::vector<Attribute> all = attributes_in(view);
  const std::string id = this->choose_id(all);
  Source source;
  source.schema.id_attribute = id;
  source.id = need_ids(view, id);
  source.schema.id_type = source.id.type;
  const std::string second = this->choose_second(all, id);
  if (!second.empty())
  {
    source.second = need_ids(view, second);
    source.schema.second_attribute = second;
    source.schema.second_type = source.second.type;
  }
  if (this->options_.every_id != 0 && value_class(source.id.type) == ValueClass::Float)
  {
    refuse(kSubject,
      fmt::format("every_id: '{}' is {}; ids must be integers", id, name_of(source.id.type)));
  }
  source.schema.position_type = view.positions.type;
  source.values.push_back(view.positions);
  for (const std::string& name : this->options_.attributes.value_or(names_in(view)))
  {
    if (name == id || name == second)
    {
      continue; // the file has it anyway
    }
    const AttributeView found = need(view, name);
    source.schema.attributes.push_back(
      { name, found.values.type, found.values.components, found.role, found.host_type, {} });
    source.values.push_back(found.values);
  }
  return source;
}

void TrackRecorder::choose_listed(const TrackSchema& schema)
{
  this->any_second_ = this->options_.second.empty();
  this->chosen_.clear();
  for (std::size_t i = 0; i != this->options_.ids.size(); ++i)
  {
    const auto id = bits_of(this->options_.ids[i], schema.id_type);
    const auto second = this->options_.second.empty()
      ? std::optional<std::uint64_t>(0)
      : bits_of(this->options_.second[i], schema.second_type);
    if (id && second)
    {
      this->chosen_.emplace_back(*id, *second);
    }
  }
}

bool TrackRecorder::is_chosen(const Id& id) const
{
  return std::binary_search(
    this->chosen_.begin(), this->chosen_.end(), Id{ id.first, this->any_second_ ? 0 : id.second });
}

// Collective. Leaves in chosen_ and hashes_ what this step keeps.
void TrackRecorder::choose(const mpi::OwnComm& comm, std::int64_t step, const TrackSchema& schema,
  const std::vector<Id>& in_box)
{
  const bool is_new_type = !this->listed_for_ || this->listed_for_->id_type != schema.id_type ||
    this->listed_for_->second_type != schema.second_type;
  if (!this->options_.ids.empty() && is_new_type)
  {
    mpi::collective(comm.get(), [&] { this->choose_listed(schema); });
  }
  else if (this->options_.box && (!this->chosen_at_ || step <= *this->chosen_at_))
  {
    // A continued run keeps the ids of the samples before; otherwise those in the box now are
    // chosen. Samples without particles are skipped, whether from this run or an earlier one.
    TracksWriter::Ids before;
    mpi::collective(comm.get(),
      [&]
      {
        if (comm.rank() == 0 && (this->chosen_at_ || !this->has_looked_back_))
        {
          before = this->writer_->ids_before(step);
        }
      });
    std::vector<Id> ids = mpi::gather_records(comm, in_box);
    mpi::collective(comm.get(),
      [&]
      {
        if (!before.ids.empty())
        {
          ids.clear();
          for (std::size_t i = 0; i != before.ids.size(); ++i)
          {
            ids.emplace_back(before.ids[i], before.second.empty() ? 0 : before.second[i]);
          }
        }
      });
    mpi::broadcast_records(comm, ids);
    this->chosen_ = std::move(ids);
    this->chosen_at_ = this->chosen_.empty() ? std::nullopt : std::optional(step);
    this->has_looked_back_ = true;
  }
  else
  {
    return;
  }
  mpi::collective(comm.get(),
    [&]
    {
      std::sort(this->chosen_.begin(), this->chosen_.end());
      this->chosen_.erase(
        std::unique(this->chosen_.begin(), this->chosen_.end()), this->chosen_.end());
      this->hashes_.assign((std::size_t{ 1 } << kHashBits) / 64, 0);
      for (const Id& id : this->chosen_)
      {
        const std::size_t hash = hash_of(id.first);
        this->hashes_[hash / 64] |= std::uint64_t{ 1 } << (hash % 64);
      }
      this->listed_for_ = schema;
    });
}

// Collective. Ranks with other options would exchange other messages, and with a list of a rank's
// own ids, particles that leave the rank would be lost.
void TrackRecorder::check_options(const mpi::OwnComm& comm)
{
  if (this->has_agreed_)
  {
    return;
  }
  std::string own;
  mpi::collective(comm.get(), [&] { own = format_text(this->options_); });
  std::string first = own;
  mpi::broadcast_text(comm, first);
  mpi::collective(comm.get(),
    [&]
    {
      if (own != first)
      {
        refuse(kSubject,
          fmt::format("the options of rank {} ({} ids, box {}, every_id {}, id '{}', second "
                      "'{}') differ from those of rank 0; all ranks must agree",
            comm.rank(), this->options_.ids.size(), this->options_.box ? "given" : "none",
            this->options_.every_id, this->options_.id_attribute, this->options_.second_attribute));
      }
    });
  this->has_agreed_ = true;
}

void TrackRecorder::find_sources(const std::vector<mpi::Piece>& pieces, RankSources& own) const
{
  own.particles.emplace(pieces);
  const auto& parts = own.particles->parts();
  if (parts.empty())
  {
    TrackSchema schema;
    schema.id_attribute = this->options_.id_attribute.empty() ? "id" : this->options_.id_attribute;
    schema.second_attribute = this->options_.second_attribute;
    own.text = schema_json(schema, pieces.empty() ? "" : pieces.front().particles.metadata).dump();
    return;
  }
  if (std::none_of(
        parts.begin(), parts.end(), [&](const auto& part) { return this->has_ids(part.view); }))
  {
    own.text = "{}";
    return;
  }
  for (const auto& part : parts)
  {
    own.sources.push_back(this->make_source(part.view));
  }
  own.text = schema_json(own.sources.front().schema, parts.front().view.metadata).dump();
}

// Collective. The schema is that of the first rank with particles; nothing if it has no ids.
std::optional<TrackRecorder::Agreed> TrackRecorder::agree_on_schema(
  const mpi::OwnComm& comm, RankSources& own)
{
  const int candidate =
    own.particles->parts().empty() ? std::numeric_limits<int>::max() : comm.rank();
  int first = 0;
  MPI_Allreduce(&candidate, &first, 1, MPI_INT, MPI_MIN, comm.get());
  Agreed agreed;
  agreed.is_empty = first == std::numeric_limits<int>::max();
  mpi::broadcast_text(comm, own.text, agreed.is_empty ? 0 : first);
  const json description = json::parse(own.text);
  if (description.empty())
  {
    mpi::collective(comm.get(),
      [&]
      {
        if (!own.sources.empty())
        {
          refuse(kSubject,
            fmt::format("'{}' contains the ids on this rank, but is missing on another rank",
              own.sources.front().schema.id_attribute));
        }
      });
    if (comm.rank() == 0 && !this->has_reported_)
    {
      this->has_reported_ = true;
      this->notice_(fmt::format(
        "{}: no tracks are recorded, because no attribute is called id; set the option id",
        this->path_.string()));
    }
    return std::nullopt;
  }
  agreed.schema = make_schema(description);
  agreed.metadata = description.at("metadata").get<std::string>();
  mpi::collective(comm.get(),
    [&]
    {
      if (own.sources.size() != own.particles->parts().size())
      {
        refuse(
          kSubject, fmt::format("this rank has no attribute '{}'", agreed.schema.id_attribute));
      }
      for (Source& source : own.sources)
      {
        source.fit(agreed.schema);
      }
    });
  return agreed;
}

void TrackRecorder::open_writer()
{
  if (this->writer_)
  {
    return;
  }
  const std::filesystem::path folder = this->path_.parent_path();
  if (!folder.empty())
  {
    std::filesystem::create_directories(folder);
  }
  this->writer_.emplace(this->path_, this->flush_);
}

std::vector<TrackRecorder::Id> TrackRecorder::find_in_box(const RankSources& own) const
{
  std::vector<Id> ids;
  const Box& box = *this->options_.box;
  const auto& parts = own.particles->parts();
  for (std::size_t p = 0; p != parts.size(); ++p)
  {
    for (std::uint64_t i = 0; i != parts[p].count; ++i)
    {
      const std::array<double, 3> at = own.particles->position(parts[p].first + i);
      bool inside = true;
      for (std::size_t axis = 0; axis != 3; ++axis)
      {
        inside = inside && at[axis] >= box.lower[axis] && at[axis] <= box.upper[axis];
      }
      if (!inside)
      {
        continue;
      }
      if (const auto id = own.sources[p].id_at(parts[p].row(parts[p].first + i)))
      {
        ids.push_back(*id);
      }
    }
  }
  return ids;
}

// Returns whether an id with that value may be selected, before its second part is read.
template <class T>
bool TrackRecorder::may_keep(T id) const
{
  if constexpr (std::is_floating_point_v<T>)
  {
    if (std::isnan(id))
    {
      return false; // NaN is not an id
    }
  }
  else if (this->options_.every_id != 0)
  {
    const auto magnitude =
      id < 0 ? std::uint64_t{ 0 } - static_cast<std::uint64_t>(id) : static_cast<std::uint64_t>(id);
    return magnitude % this->options_.every_id == 0;
  }
  const std::size_t hash = hash_of(bits_of(id));
  return (this->hashes_[hash / 64] >> (hash % 64) & 1) != 0;
}

// Collects records of the particles to keep: id, second part, values.
std::vector<std::uint64_t> TrackRecorder::collect_rows(
  const RankSources& own, const TrackSchema& schema) const
{
  const std::size_t words = words_per_row(schema);
  const auto& parts = own.particles->parts();
  std::vector<std::uint64_t> rows;
  std::vector<std::uint64_t> found;
  for (std::size_t p = 0; p != parts.size(); ++p)
  {
    const Source& source = own.sources[p];
    found.clear();
    dispatch(schema.id_type,
      [&](auto example)
      {
        using T = decltype(example);
        const std::uint64_t count = parts[p].count;
        for (std::uint64_t i = 0; i != count; ++i)
        {
          const std::uint64_t row = parts[p].row(parts[p].first + i);
          if (this->may_keep(value_at<T>(source.id, 0, row)))
          {
            found.push_back(row);
          }
        }
      });
    for (const std::uint64_t row : found)
    {
      const std::optional<Id> id = source.id_at(row);
      if (!id || (this->options_.every_id == 0 && !this->is_chosen(*id)))
      {
        continue;
      }
      const std::size_t at = rows.size();
      rows.resize(at + words);
      rows[at] = id->first;
      rows[at + 1] = id->second;
      source.copy_values(row, reinterpret_cast<std::byte*>(&rows[at + 2]));
    }
  }
  return rows;
}

std::uint64_t TrackRecorder::record(
  const mpi::OwnComm& comm, std::int64_t step, double time, const std::vector<mpi::Piece>& pieces)
{
  this->check_options(comm);
  RankSources own;
  mpi::collective(comm.get(), [&] { this->find_sources(pieces, own); });
  const std::optional<Agreed> agreed = this->agree_on_schema(comm, own);
  if (!agreed)
  {
    return 0;
  }
  const TrackSchema& schema = agreed->schema;
  mpi::collective(comm.get(),
    [&]
    {
      if (comm.rank() == 0)
      {
        this->open_writer();
      }
    });

  std::vector<Id> in_box;
  if (this->options_.box && (!this->chosen_at_ || step <= *this->chosen_at_))
  {
    mpi::collective(comm.get(), [&] { in_box = this->find_in_box(own); });
  }
  if (!agreed->is_empty)
  {
    this->choose(comm, step, schema, in_box);
  }

  std::vector<std::uint64_t> rows;
  mpi::collective(comm.get(), [&] { rows = this->collect_rows(own, schema); });
  const std::vector<std::uint64_t> all = mpi::gather_records(comm, rows);
  std::uint64_t count = all.size() / words_per_row(schema);
  mpi::collective(comm.get(),
    [&]
    {
      if (comm.rank() == 0)
      {
        TrackSample sample = take_sample(all, schema);
        sample.step = step;
        sample.time = time;
        sample.metadata = agreed->metadata;
        this->writer_->append(sample);
      }
    });
  MPI_Bcast(&count, 1, MPI_UINT64_T, 0, comm.get());
  return count;
}
}
