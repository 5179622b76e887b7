// SPDX-License-Identifier: BSD-3-Clause
#include "mesh_reader.hpp"

#include "components.hpp"
#include "domains.hpp"
#include "ghosts.hpp"
#include "host_numbers.hpp"
#include "names.hpp"
#include "packed_ids.hpp"

#include "bat/error.hpp"
#include "bat/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

namespace bat::catalyst
{
namespace
{
[[noreturn]] void refuse(const std::string& what)
{
  throw Error(ErrorCode::InvalidArgument, what);
}

// A fault in a mesh that prevents reading any field.
class BadMesh : public Error
{
public:
  using Error::Error;
};

bool contains(const std::vector<std::string>& names, const std::string& name)
{
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Returns ids whose halves are not adjacent, as in AMReX structs.
std::vector<std::string> pairs_apart(const std::map<std::string, Numbers>& integers)
{
  std::map<std::string, std::string> types;
  for (const auto& [name, numbers] : integers)
  {
    types.emplace(name, "int32");
  }
  std::vector<std::string> apart;
  for (const std::string& stem : find_half_pairs(types))
  {
    const Numbers& low = integers.at(stem + "_id");
    const Numbers& high = integers.at(stem + "_cpu");
    if (low.count != 0 &&
      (high.data != low.data + sizeof(std::int32_t) || high.stride_bytes != low.stride_bytes))
    {
      apart.push_back(stem);
    }
  }
  return apart;
}

class Reader
{
public:
  Reader(Channel& channel, const ReadOptions& options)
    : channel_(channel)
    , options_(options)
  {
  }

  void read_domain(const DomainNode& place);
  void ignore(const std::string& what);

private:
  // A particle topology in the domain that is being read.
  struct Topology
  {
    std::uint64_t vertices = 0;
    Order by_vertex; // positions and fields of vertices
    Order by_element;
    Domain domain;
    std::byte* ghosts = nullptr;             // room for one per particle
    std::map<std::string, Numbers> integers; // fields of one int32, where the simulation has them
  };
  struct Field
  {
    Node node;
    Topology* topology = nullptr;
    bool of_elements = false;
    std::vector<Numbers> components;

    [[nodiscard]] const Order& order() const
    {
      return this->of_elements ? this->topology->by_element : this->topology->by_vertex;
    }
  };

  void read_topology(const Node& domain, const Node& node);
  [[nodiscard]] bool are_particles(const Node& topology);
  [[nodiscard]] std::size_t species(const std::string& mesh, const std::string& topology);
  [[nodiscard]] std::vector<Numbers> read_axes(const Node& domain, const Node& topology) const;
  [[nodiscard]] Order read_connectivity(const Node& topology, std::uint64_t vertices) const;
  void read_fields(const Node& domain, const std::string& mesh);
  [[nodiscard]] bool is_requested(const Node& field, const std::string& mesh) const;
  void read_ghosts(const Node& node, Ghosts kind);
  void read_attribute(const Node& node, const std::string& mesh);
  [[nodiscard]] std::optional<Field> read_field(const Node& node, std::string& unsuited);
  [[nodiscard]] bool is_of_particles(const Node& field) const;
  [[nodiscard]] Topology* find_topology(const Node& field, bool has_values);
  void check_length(const Field& field, const Node& component, std::uint64_t count) const;
  [[nodiscard]] Numbers array(const Node& node) const;
  void add_attribute(const Field& field);
  void add_ghosts(const Field& field, Ghosts kind);

  Channel& channel_;
  const ReadOptions& options_;
  DeviceMemory device_;
  std::map<std::string, Topology> topologies_;
  std::set<std::string> ignored_; // topologies of this domain
};

void Reader::ignore(const std::string& what)
{
  this->channel_.warnings.push_back(what);
}

void Reader::read_domain(const DomainNode& place)
{
  const auto& [domain, mesh, is_placeholder] = place;
  this->channel_.has_placeholder = this->channel_.has_placeholder || is_placeholder;
  this->topologies_.clear();
  this->ignored_.clear();
  const auto topologies = domain.find("topologies");
  const auto coordsets = domain.find("coordsets");
  if (!topologies && coordsets && coordsets->size() != 0)
  {
    static_cast<void>(domain.require("topologies"));
  }
  for (std::size_t i = 0; topologies && i != topologies->size(); ++i)
  {
    const Node node = topologies->child(i);
    if (node.is_empty())
    {
      this->topologies_.emplace(node.name(), Topology());
    }
    else if (this->are_particles(node))
    {
      this->read_topology(domain, node);
    }
    else
    {
      this->ignored_.insert(node.name());
      this->channel_.has_others = true;
    }
  }
  this->read_fields(domain, mesh);
  for (auto& [name, topology] : this->topologies_)
  {
    const ParticleView& particles = topology.domain.particles;
    if (particles.count == 0 && is_placeholder)
    {
      continue;
    }
    topology.domain.apart = pairs_apart(topology.integers);
    const std::size_t species = this->species(mesh, name);
    if (particles.count != 0 || !particles.attributes.empty())
    {
      this->channel_.species[species].domains.push_back(std::move(topology.domain));
    }
  }
}

bool Reader::are_particles(const Node& topology)
{
  const std::string type = topology.require_string("type");
  const auto shape = topology.find("elements/shape");
  const std::string shape_name = shape ? shape->string().value_or("") : "";
  if (type == "points" || (type == "unstructured" && shape_name == "point"))
  {
    return true;
  }
  if (type == "uniform")
  {
    return false; // these become grids
  }
  const std::string elements = shape_name.empty() ? "" : fmt::format(" of shape {}", shape_name);
  this->ignore(fmt::format("channel {}, topology {} is {}{}, not particles: it was not written",
    this->channel_.name, topology.name(), type, elements));
  return false;
}

std::size_t Reader::species(const std::string& mesh, const std::string& topology)
{
  auto& all = this->channel_.species;
  const auto found = std::find_if(all.begin(), all.end(),
    [&](const FoundSpecies& s) { return s.mesh == mesh && s.topology == topology; });
  if (found != all.end())
  {
    return static_cast<std::size_t>(found - all.begin());
  }
  all.push_back({ mesh, topology, {} });
  return all.size() - 1;
}

void Reader::read_topology(const Node& domain, const Node& node)
{
  Topology topology;
  const std::vector<Numbers> axes = this->read_axes(domain, node);
  topology.vertices = axes.empty() ? 0 : axes.front().count;
  topology.by_vertex = this->read_connectivity(node, topology.vertices);
  topology.by_element.particles = topology.by_vertex.particles;
  ParticleView& particles = topology.domain.particles;
  particles.count = topology.by_vertex.particles;
  if (!axes.empty())
  {
    particles.positions = this->channel_.arrays.positions(axes, topology.by_vertex);
  }
  this->topologies_.emplace(node.name(), std::move(topology));
}

// Empty if the coordset is empty; arrays of length 0 still have a type.
std::vector<Numbers> Reader::read_axes(const Node& domain, const Node& topology) const
{
  const std::string name = topology.require_string("coordset");
  const Node coordsets = domain.require("coordsets");
  const auto coordset = coordsets.child_named(name);
  if (!coordset)
  {
    refuse(fmt::format("{}/coordset is '{}'; {} has {}", topology.path(), name, coordsets.path(),
      coordsets.format_child_names()));
  }
  if (coordset->is_empty())
  {
    return {};
  }
  if (const std::string type = coordset->require_string("type"); type != "explicit")
  {
    refuse(fmt::format("{}/type is '{}'; particles need 'explicit'", coordset->path(), type));
  }
  const Node values = coordset->require("values");
  std::vector<Numbers> axes;
  for (const char* axis : { "x", "y", "z" })
  {
    if (const auto node = values.find(axis))
    {
      axes.push_back(this->array(*node));
    }
  }
  if (axes.size() != values.size() || axes.empty())
  {
    refuse(fmt::format("{} has {}; allowed are x, y and z", values.path(),
      values.size() == 0 ? "no components" : values.format_child_names()));
  }
  for (std::size_t axis = 1; axis != axes.size(); ++axis)
  {
    if (axes[axis].count != axes[0].count)
    {
      refuse(fmt::format("{} has {} values, but {} has {}; the counts must agree",
        values.child(0).path(), axes[0].count, values.child(axis).path(), axes[axis].count));
    }
  }
  return axes;
}

Order Reader::read_connectivity(const Node& topology, std::uint64_t vertices) const
{
  Order order;
  order.particles = vertices;
  if (topology.require_string("type") == "points")
  {
    return order;
  }
  const auto node = topology.find("elements/connectivity");
  if (!node && vertices != 0)
  {
    static_cast<void>(topology.require("elements/connectivity"));
  }
  const Numbers indices = node && !node->is_empty() ? this->array(*node) : Numbers{};
  order.particles = indices.count;
  if (indices.count != 0 && !is_integer(indices.type))
  {
    refuse(
      fmt::format("{} has type {}; it must contain integers", node->path(), name_of(indices.type)));
  }
  bool in_order = true;
  for (std::uint64_t i = 0; i != indices.count; ++i)
  {
    const auto vertex = static_cast<std::uint64_t>(int64_at(indices, i));
    if (vertex >= vertices)
    {
      refuse(fmt::format("{} has {} at {}; allowed are indexes of {} vertices, starting at 0",
        node->path(), int64_at(indices, i), i, vertices));
    }
    in_order = in_order && vertex == i;
  }
  if (!in_order)
  {
    order.values.resize(indices.count);
    for (std::uint64_t i = 0; i != indices.count; ++i)
    {
      order.values[i] = static_cast<std::uint64_t>(int64_at(indices, i));
    }
  }
  return order;
}

Numbers Reader::array(const Node& node) const
{
  return host_numbers(node, this->device_);
}

void Reader::read_fields(const Node& domain, const std::string& mesh)
{
  const auto fields = domain.find("fields");
  for (std::size_t i = 0; fields && i != fields->size(); ++i)
  {
    const Node node = fields->child(i);
    const std::string name = node.name();
    const Ghosts ghosts = ghosts_in(domain, name);
    if (ghosts != Ghosts::None && !this->options_.keep_ghosts)
    {
      this->read_ghosts(node, ghosts);
    }
    else if (this->is_requested(node, mesh))
    {
      this->read_attribute(node, mesh);
    }
    else if (this->is_of_particles(node))
    {
      this->channel_.fields.insert(name);
    }
  }
}

bool Reader::is_requested(const Node& field, const std::string& mesh) const
{
  const auto topology = field.find("topology");
  const auto& of_species = this->options_.fields_of_species;
  auto found = of_species.find(topology ? topology->string().value_or("") : "");
  found = found == of_species.end() ? of_species.find(mesh) : found;
  const auto& fields = found == of_species.end() ? this->options_.fields : found->second;
  return !fields || contains(*fields, field.name()) ||
    (this->options_.unpack_ids && may_hold_ids(field.name(), *fields));
}

// A fault in the ghost marks fails the step: without them, other ranks' particles would count as
// this rank's.
void Reader::read_ghosts(const Node& node, Ghosts kind)
{
  std::string unsuited;
  if (const auto field = this->read_field(node, unsuited))
  {
    this->channel_.fields.insert(node.name());
    if (field->topology->domain.particles.count != 0)
    {
      this->add_ghosts(*field, kind);
    }
  }
  else if (!unsuited.empty())
  {
    refuse(fmt::format("{} marks ghosts and {}", node.path(), unsuited));
  }
}

// An unreadable field does not prevent writing the particles.
void Reader::read_attribute(const Node& node, const std::string& mesh)
{
  std::string unsuited;
  const auto leave_out = [&](const std::string& reason, bool is_wrong)
  {
    const std::string topology =
      this->is_of_particles(node) ? node.find("topology")->string().value_or("") : "";
    this->channel_.unread.push_back({ mesh, topology, node.name(), reason, is_wrong });
  };
  try
  {
    if (const auto field = this->read_field(node, unsuited))
    {
      this->channel_.fields.insert(node.name());
      this->add_attribute(*field);
    }
    else if (!unsuited.empty())
    {
      leave_out(unsuited, false);
    }
  }
  catch (const BadMesh&)
  {
    throw;
  }
  catch (const Error& e)
  {
    leave_out(e.what(), true);
  }
}

bool Reader::is_of_particles(const Node& field) const
{
  const auto topology = field.find("topology");
  return topology && this->topologies_.count(topology->string().value_or("")) != 0;
}

// Empty if the field belongs to no particle topology, or has a type that is not written; `unsuited`
// says which. If the domain has no particles, arrays of length 0 declare the fields to come.
std::optional<Reader::Field> Reader::read_field(const Node& node, std::string& unsuited)
{
  if (const auto topology = node.find("topology");
      topology && this->ignored_.count(topology->string().value_or("")) != 0)
  {
    return std::nullopt;
  }
  const auto values = node.find("values");
  const auto leaves = values ? find_components(*values) : std::nullopt;
  const bool has_values = values && !values->is_empty() &&
    (!leaves ||
      std::any_of(leaves->begin(), leaves->end(),
        [](const Node& leaf) { return leaf.numbers()->count != 0; }));
  Field field{ node, this->find_topology(node, has_values), false, {} };
  if (!field.topology)
  {
    return std::nullopt;
  }
  if (!has_values && field.topology->vertices == 0)
  {
    const bool is_typed = values && !values->is_empty() && leaves && !leaves->empty() &&
      leaves->size() <= static_cast<std::size_t>(kMaxComponents);
    for (std::size_t c = 0; is_typed && c != leaves->size(); ++c)
    {
      field.components.push_back(*(*leaves)[c].numbers());
    }
    return is_typed ? std::optional(field) : std::nullopt;
  }
  field.of_elements = is_of_elements(node);
  const Node all = node.require("values");
  if (!leaves)
  {
    unsuited = fmt::format("has type {}, not numbers", all.type_name());
    return std::nullopt;
  }
  if (leaves->empty())
  {
    refuse(fmt::format("{} has no components", all.path()));
  }
  if (leaves->size() > static_cast<std::size_t>(kMaxComponents))
  {
    unsuited = fmt::format("has {} components, more than {}", leaves->size(), kMaxComponents);
    return std::nullopt;
  }
  for (const Node& component : *leaves)
  {
    field.components.push_back(this->array(component));
    this->check_length(field, component, field.components.back().count);
  }
  return field;
}

Reader::Topology* Reader::find_topology(const Node& field, bool has_values)
{
  const auto node = field.find("topology");
  if (!node && !has_values)
  {
    return nullptr;
  }
  const std::string name = field.require_string("topology");
  const auto found = this->topologies_.find(name);
  if (found != this->topologies_.end())
  {
    return &found->second;
  }
  if (has_values)
  {
    std::vector<std::string> names(this->ignored_.begin(), this->ignored_.end());
    for (const auto& [other, topology] : this->topologies_)
    {
      names.push_back(other);
    }
    refuse(fmt::format("{}/topology is '{}'; the topologies are {}", field.path(), name,
      names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
  }
  return nullptr;
}

void Reader::check_length(const Field& field, const Node& component, std::uint64_t count) const
{
  const std::uint64_t needed =
    field.of_elements ? field.topology->by_element.particles : field.topology->vertices;
  if (count != needed)
  {
    const std::string what = fmt::format("{} has {} values, but the topology has {} {}",
      component.path(), count, needed, field.of_elements ? "elements" : "vertices");
    if (needed == 0)
    {
      throw BadMesh(ErrorCode::InvalidArgument, what); // its coordinates are missing
    }
    refuse(what);
  }
}

void Reader::add_attribute(const Field& field)
{
  AttributeView attribute;
  attribute.name = field.node.name();
  attribute.values = this->channel_.arrays.attribute(field.components, field.order());
  if (field.components.size() == 1 && field.components.front().type == ScalarType::Int32)
  {
    field.topology->integers.emplace(attribute.name, field.components.front());
  }
  field.topology->domain.particles.attributes.push_back(std::move(attribute));
}

void Reader::add_ghosts(const Field& field, Ghosts kind)
{
  if (field.components.size() != 1)
  {
    refuse(fmt::format("{} marks ghosts with {} components; it must have one", field.node.path(),
      field.components.size()));
  }
  const Numbers& marks = field.components.front();
  require_marks(marks, kind, field.node.path());
  Topology& topology = *field.topology;
  const Order& order = field.order();
  for (std::uint64_t i = 0; i != order.particles; ++i)
  {
    const bool marked = is_marked(marks, kind, field.of_elements, order.value_of(i));
    if (marked && !topology.ghosts)
    {
      topology.ghosts = this->channel_.arrays.room(order.particles);
      topology.domain.ghosts = ArrayView::packed(ScalarType::UInt8, 1, topology.ghosts);
    }
    if (marked)
    {
      topology.ghosts[i] = std::byte{ 1 };
    }
  }
}

// Names become file and attribute names.
void require_utf8(const Channel& channel)
{
  const auto require = [](const std::string& name, const char* what)
  {
    if (!is_utf8(name))
    {
      refuse(fmt::format("the name of a {} is not valid UTF-8", what));
    }
  };
  for (const FoundSpecies& species : channel.species)
  {
    require(species.mesh + species.topology, "species");
  }
  for (const UnreadField& field : channel.unread)
  {
    require(field.name, "field");
  }
  for (const std::string& field : channel.fields)
  {
    require(field, "field");
  }
}

void check_memory_space(const Node& channel)
{
  const auto node = channel.find("memoryspace");
  const auto space = node ? node->string() : std::nullopt;
  if (space && (*space == "cuda" || *space == "hip" || *space == "kokkos" || *space == "sycl"))
  {
    refuse(fmt::format("{} is '{}'; arrays must be in host memory: copy them before "
                       "catalyst_execute",
      node->path(), *space));
  }
}
}

State read_state(const Node& node)
{
  State state;
  const auto timestep = node.find("state/timestep");
  const auto number = timestep ? timestep : node.find("state/cycle");
  if (number && !number->is_empty())
  {
    const auto numbers = number->numbers();
    const double value = numbers && numbers->count == 1 ? float64_at(*numbers, 0) : 0.5;
    if (value != std::floor(value) || std::abs(value) > 0x1p62)
    {
      refuse(fmt::format(
        "{} has type {}; it must be a whole number", number->path(), number->type_name()));
    }
    state.number =
      is_integer(numbers->type) ? int64_at(*numbers, 0) : static_cast<std::int64_t>(value);
  }
  if (const auto time = node.find("state/time"); time && !time->is_empty())
  {
    const auto seconds = time->numbers();
    const bool is_one = seconds && seconds->count == 1;
    state.time = is_one ? float64_at(*seconds, 0) : std::numeric_limits<double>::quiet_NaN();
    if (!std::isfinite(*state.time))
    {
      refuse(fmt::format("{} has type {}; it must be a finite number", time->path(),
        is_one ? fmt::format("{} with {}", time->type_name(), *state.time) : time->type_name()));
    }
  }
  return state;
}

Channel read_channel(const Node& channel, const ReadOptions& options)
{
  Channel result;
  result.name = channel.name();
  result.state = read_state(channel);
  const auto data = channel.find("data");
  if (!data || data->is_empty())
  {
    return result;
  }
  check_memory_space(channel);
  Reader reader(result, options);
  const std::string type = channel.require_string("type");
  if (type == "mesh" || type == "multimesh")
  {
    for (const DomainNode& domain : domains_in(*data, type == "multimesh"))
    {
      reader.read_domain(domain);
    }
  }
  else
  {
    result.has_others = true;
    reader.ignore(fmt::format(
      "channel {} has type {}, not mesh or multimesh: it was not written", result.name, type));
  }
  require_utf8(result);
  return result;
}
}
