// SPDX-License-Identifier: BSD-3-Clause
#include "particles/parallel/schema.hpp"

#include "particles/write/error_bounds.hpp"
#include "particles/write/repeats.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <climits>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

namespace bat::mpi
{
namespace
{
std::string describe(ScalarType type, int components)
{
  return fmt::format("{} x {}", components, name_of(type));
}

std::uint64_t bits(double value)
{
  std::uint64_t result;
  std::memcpy(&result, &value, sizeof(result));
  return result;
}

double from_bits(std::uint64_t value)
{
  double result;
  std::memcpy(&result, &value, sizeof(result));
  return result;
}

std::string encode_schema(const ParticleView& particles)
{
  nlohmann::json schema;
  schema["positions"] = static_cast<int>(particles.positions.type);
  schema["attributes"] = nlohmann::json::array();
  for (const AttributeView& a : particles.attributes)
  {
    schema["attributes"].push_back(
      { a.name, static_cast<int>(a.values.type), a.values.components, a.role, a.host_type });
  }
  schema["aliases"] = nlohmann::json::array();
  for (const AliasView& a : particles.aliases)
  {
    schema["aliases"].push_back({ a.name, a.attribute, a.component, a.role, a.host_type });
  }
  if (particles.time)
  {
    schema["time"] = bits(*particles.time);
  }
  if (particles.step)
  {
    schema["step"] = *particles.step;
  }
  schema["metadata"] = particles.metadata;
  const std::vector<std::uint8_t> bytes = nlohmann::json::to_cbor(schema);
  return { bytes.begin(), bytes.end() };
}

ParticleView decode_schema(const std::string& text)
{
  const nlohmann::json schema = nlohmann::json::from_cbor(text.begin(), text.end());
  ParticleView particles;
  particles.positions.type = static_cast<ScalarType>(schema.at("positions").get<int>());
  particles.positions.components = 3;
  for (const nlohmann::json& a : schema.at("attributes"))
  {
    AttributeView attribute;
    attribute.name = a.at(0).get<std::string>();
    attribute.values.type = static_cast<ScalarType>(a.at(1).get<int>());
    attribute.values.components = a.at(2).get<int>();
    attribute.role = a.at(3).get<std::uint8_t>();
    attribute.host_type = a.at(4).get<std::uint32_t>();
    particles.attributes.push_back(std::move(attribute));
  }
  for (const nlohmann::json& a : schema.at("aliases"))
  {
    particles.aliases.push_back({ a.at(0).get<std::string>(), a.at(1).get<std::string>(),
      a.at(2).get<int>(), a.at(3).get<std::uint8_t>(), a.at(4).get<std::uint32_t>() });
  }
  if (schema.contains("time"))
  {
    particles.time = from_bits(schema.at("time").get<std::uint64_t>());
  }
  if (schema.contains("step"))
  {
    particles.step = schema.at("step").get<std::int64_t>();
  }
  particles.metadata = schema.at("metadata").get<std::string>();
  return particles;
}

std::string describe(const AliasView& alias)
{
  return fmt::format("component {} of {}", alias.component,
    alias.attribute.empty() ? "the positions" : "'" + alias.attribute + "'");
}

// Checks that both have the same names, in any order.
void check_aliases(const std::vector<AliasView>& local, const std::vector<AliasView>& reference,
  const std::string& what, int reference_rank)
{
  const auto find = [](const std::vector<AliasView>& all, const std::string& name)
  {
    return std::find_if(all.begin(), all.end(), [&](const AliasView& a) { return a.name == name; });
  };
  for (const AliasView& requested : reference)
  {
    const auto found = find(local, requested.name);
    if (found == local.end() || found->attribute != requested.attribute ||
      found->component != requested.component)
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("{}alias '{}' is {} here and {} on rank {}", what, requested.name,
          found == local.end() ? std::string("missing") : describe(*found), describe(requested),
          reference_rank));
    }
  }
  for (const AliasView& alias : local)
  {
    if (find(reference, alias.name) == reference.end())
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("{}alias '{}' ({}) exists here but not on rank {}", what, alias.name,
          describe(alias), reference_rank));
    }
  }
}

// Returns the arrays of `local`, called `what` in messages, under the schema of `reference`.
ParticleView fit(
  const ParticleView& local, ParticleView reference, const std::string& what, int reference_rank)
{
  const auto refuse = [&](const std::string& why)
  { throw Error(ErrorCode::InvalidArgument, what + why); };
  if (local.positions.type != reference.positions.type)
  {
    refuse(fmt::format("positions are {} here and {} on rank {}", name_of(local.positions.type),
      name_of(reference.positions.type), reference_rank));
  }
  for (AttributeView& requested : reference.attributes)
  {
    const auto found = std::find_if(local.attributes.begin(), local.attributes.end(),
      [&](const AttributeView& a) { return a.name == requested.name; });
    if (found == local.attributes.end())
    {
      refuse(fmt::format("attribute '{}' is missing here; on rank {} it is {}", requested.name,
        reference_rank, describe(requested.values.type, requested.values.components)));
    }
    if (found->values.type != requested.values.type ||
      found->values.components != requested.values.components)
    {
      refuse(fmt::format("attribute '{}' is {} here and {} on rank {}", requested.name,
        describe(found->values.type, found->values.components),
        describe(requested.values.type, requested.values.components), reference_rank));
    }
    requested.values = found->values;
  }
  for (const AttributeView& a : local.attributes)
  {
    if (std::none_of(reference.attributes.begin(), reference.attributes.end(),
          [&](const AttributeView& requested) { return requested.name == a.name; }))
    {
      refuse(fmt::format("attribute '{}' ({}) exists here but not on rank {}", a.name,
        describe(a.values.type, a.values.components), reference_rank));
    }
  }
  check_aliases(local.aliases, reference.aliases, what, reference_rank);
  reference.count = local.count;
  reference.positions = local.positions;
  return reference;
}

// The declaration of a column. Columns are identified by name, positions by "".
struct Declared
{
  std::string name;
  std::string kind;

  [[nodiscard]] bool operator==(const Declared& other) const
  {
    return this->name == other.name && this->kind == other.kind;
  }
};

std::vector<Declared> columns_in(const ParticleView& particles)
{
  std::vector<Declared> columns{ { "", std::string(name_of(particles.positions.type)) } };
  for (const AttributeView& a : particles.attributes)
  {
    columns.push_back({ a.name, describe(a.values.type, a.values.components) });
  }
  for (const AliasView& a : particles.aliases)
  {
    columns.push_back({ a.name, "an alias of " + describe(a) });
  }
  return columns;
}

using Contradiction = std::pair<Declared, Declared>;

// Adds the further columns of `more` to `all`, or returns the first column that both describe
// differently.
std::optional<Contradiction> merge(ParticleView& all, const ParticleView& more)
{
  const std::vector<Declared> known = columns_in(all);
  const auto find = [&](const std::string& name)
  {
    return std::find_if(
      known.begin(), known.end(), [&](const Declared& column) { return column.name == name; });
  };
  for (const Declared& column : columns_in(more))
  {
    const auto same = find(column.name);
    if (same != known.end() && !(*same == column))
    {
      return Contradiction{ *same, column };
    }
  }
  const auto add_new = [&](auto& to, const auto& from)
  {
    std::copy_if(from.begin(), from.end(), std::back_inserter(to),
      [&](const auto& column) { return find(column.name) == known.end(); });
  };
  add_new(all.attributes, more.attributes);
  add_new(all.aliases, more.aliases);
  return std::nullopt;
}

// Collective. Returns the first rank that declares this.
int first_rank_with(const OwnComm& comm, const RankParticles& particles, const Declared& column)
{
  const std::vector<ParticleView>& declared = particles.declared();
  const bool is_here = std::any_of(declared.begin(), declared.end(),
    [&](const ParticleView& view)
    {
      const std::vector<Declared> columns = columns_in(view);
      return std::find(columns.begin(), columns.end(), column) != columns.end();
    });
  const int here = is_here ? comm.rank() : INT_MAX;
  int first = INT_MAX;
  MPI_Allreduce(&here, &first, 1, MPI_INT, MPI_MIN, comm.get());
  return first;
}

// Collective, if no rank has particles. Gives `schema` the columns that any rank declares.
void add_declared(const OwnComm& comm, const RankParticles& particles, ParticleView& schema)
{
  std::vector<std::string> texts;
  collective(comm.get(),
    [&]
    {
      for (ParticleView view : particles.declared())
      {
        view.time.reset(); // most pieces and ranks are then equal
        view.step.reset();
        view.metadata.clear();
        std::string declared = encode_schema(view);
        if (std::find(texts.begin(), texts.end(), declared) == texts.end())
        {
          texts.push_back(std::move(declared));
        }
      }
    });
  texts = gather_names(comm, texts);
  std::optional<Contradiction> found;
  collective(comm.get(),
    [&]
    {
      ParticleView all;
      for (std::size_t i = 0; i != texts.size() && !found; ++i)
      {
        const ParticleView declared = decode_schema(texts[i]);
        if (i == 0)
        {
          all.positions = declared.positions;
        }
        found = merge(all, declared);
      }
      if (!texts.empty())
      {
        schema.positions = all.positions;
        schema.attributes = all.attributes;
        schema.aliases = all.aliases;
      }
    });
  if (!found)
  {
    return;
  }
  const auto& [one, other] = *found;
  const int first = first_rank_with(comm, particles, one);
  const int second = first_rank_with(comm, particles, other);
  throw Error(ErrorCode::InvalidArgument,
    fmt::format("{} {} on rank {} and {} {}; all ranks must agree",
      one.name.empty() ? std::string("positions are") : fmt::format("attribute '{}' is", one.name),
      one.kind, first, other.kind,
      first == second ? std::string("in another piece there") : fmt::format("on rank {}", second)));
}
}

std::uint64_t agree_on_schema(const OwnComm& comm, RankParticles& particles)
{
  const std::uint64_t count = particles.count();
  std::uint64_t total = 0;
  MPI_Allreduce(&count, &total, 1, MPI_UINT64_T, MPI_SUM, comm.get());
  const int here = count != 0 ? comm.rank() : INT_MAX;
  int reference_rank = INT_MAX;
  MPI_Allreduce(&here, &reference_rank, 1, MPI_INT, MPI_MIN, comm.get());
  reference_rank = reference_rank == INT_MAX ? 0 : reference_rank;

  std::string text;
  collective(comm.get(),
    [&]
    {
      if (comm.rank() == reference_rank)
      {
        text = encode_schema(particles.schema());
      }
    });
  broadcast_text(comm, text, reference_rank);
  ParticleView reference;
  collective(comm.get(), [&] { reference = decode_schema(text); });
  if (total == 0)
  {
    add_declared(comm, particles, reference);
  }
  collective(comm.get(),
    [&]
    {
      const bool several = particles.parts().size() > 1;
      particles.adopt(reference,
        [&](const ParticleView& view, std::size_t part)
        {
          return fit(view, reference, several ? fmt::format("piece {}: ", part) : std::string(),
            reference_rank);
        });
    });
  return total;
}

void leave_out_bounds(BuildOptions& options)
{
  if (options.compression == Compression::Bounded)
  {
    options.compression = Compression::Lossless;
    options.error_bounds.clear();
  }
}

void agree_on_bounds(const OwnComm& comm, const RankParticles& particles, BuildOptions& options)
{
  std::vector<write::ErrorBound> bounds;
  std::vector<double> ends; // ends of ranges: largest values, and smallest ones negated
  std::size_t ranges = 0;
  collective(comm.get(),
    [&]
    {
      bounds = write::error_bounds(particles.schema(), options);
      for (const write::FiniteRange& range : write::compute_ranges(particles, bounds))
      {
        ends.push_back(range.upper);
        ends.push_back(-range.lower);
        ++ranges;
      }
    });
  if (bounds.empty())
  {
    return;
  }
  MPI_Allreduce(
    MPI_IN_PLACE, ends.data(), static_cast<int>(ends.size()), MPI_DOUBLE, MPI_MAX, comm.get());
  collective(comm.get(),
    [&]
    {
      std::vector<write::FiniteRange> all;
      for (std::size_t i = 0; i != ranges; ++i)
      {
        all.push_back({ -ends[2 * i + 1], ends[2 * i] });
      }
      options.error_bounds = write::format_texts(write::absolute_bounds(bounds, all));
    });
}

void link_repeats(const OwnComm& comm, RankParticles& particles, const BuildOptions& options)
{
  if (options.repeats == Repeats::Store)
  {
    return;
  }
  // For each attribute, the array that it repeats and the same negated: both maxima belong to one
  // value if all ranks with particles agree, and at least one exists.
  constexpr write::Repeat kNothingToSay = -std::numeric_limits<write::Repeat>::max();
  std::vector<write::Repeat> both;
  std::vector<write::Repeat> largest;
  collective(comm.get(),
    [&]
    {
      const std::vector<write::Repeat> here = write::find_repeats(particles, options);
      both.assign(2 * here.size(), kNothingToSay);
      for (std::size_t i = 0; i != here.size() && particles.count() != 0; ++i)
      {
        both[i] = here[i];
        both[here.size() + i] = -here[i];
      }
      largest.resize(both.size());
    });
  MPI_Allreduce(
    both.data(), largest.data(), static_cast<int>(both.size()), MPI_INT64_T, MPI_MAX, comm.get());
  collective(comm.get(),
    [&]
    {
      const std::size_t attributes = largest.size() / 2;
      std::vector<write::Repeat> repeats(attributes, write::kNoRepeat);
      for (std::size_t i = 0; i != attributes; ++i)
      {
        repeats[i] = largest[i] == -largest[attributes + i] ? largest[i] : write::kNoRepeat;
      }
      particles.adopt(write::without_repeats(particles.schema(), repeats, options.repeats),
        [&](const ParticleView& view, std::size_t)
        { return write::without_repeats(view, repeats, options.repeats); });
    });
}
}
