#include "bat/parallel/schema.hpp"

#include "parallel/agreement.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <climits>
#include <cstring>

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

// The arrays of `mine`, which texts call `what`, under the schema of `reference`.
ParticleView fit(
  const ParticleView& mine, ParticleView reference, const std::string& what, int reference_rank)
{
  const auto refuse = [&](const std::string& why)
  { throw Error(ErrorCode::InvalidArgument, what + why); };
  if (mine.positions.type != reference.positions.type)
  {
    refuse(fmt::format("positions are {} here and {} on rank {}", name_of(mine.positions.type),
      name_of(reference.positions.type), reference_rank));
  }
  for (AttributeView& wanted : reference.attributes)
  {
    const auto found = std::find_if(mine.attributes.begin(), mine.attributes.end(),
      [&](const AttributeView& a) { return a.name == wanted.name; });
    if (found == mine.attributes.end())
    {
      refuse(fmt::format("attribute '{}' is missing here; on rank {} it is {}", wanted.name,
        reference_rank, describe(wanted.values.type, wanted.values.components)));
    }
    if (found->values.type != wanted.values.type ||
      found->values.components != wanted.values.components)
    {
      refuse(fmt::format("attribute '{}' is {} here and {} on rank {}", wanted.name,
        describe(found->values.type, found->values.components),
        describe(wanted.values.type, wanted.values.components), reference_rank));
    }
    wanted.values = found->values;
  }
  for (const AttributeView& a : mine.attributes)
  {
    if (std::none_of(reference.attributes.begin(), reference.attributes.end(),
          [&](const AttributeView& wanted) { return wanted.name == a.name; }))
    {
      refuse(fmt::format("attribute '{}' ({}) is here and not on rank {}", a.name,
        describe(a.values.type, a.values.components), reference_rank));
    }
  }
  reference.count = mine.count;
  reference.positions = mine.positions;
  return reference;
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
  together(comm.get(),
    [&]
    {
      if (comm.rank() == reference_rank)
      {
        text = encode_schema(particles.schema());
      }
    });
  broadcast_text(comm, text, reference_rank);
  together(comm.get(),
    [&]
    {
      const ParticleView reference = decode_schema(text);
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
}
