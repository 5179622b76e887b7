// SPDX-License-Identifier: BSD-3-Clause
#include "grid_reader.hpp"

#include "components.hpp"
#include "domains.hpp"
#include "ghosts.hpp"
#include "host_numbers.hpp"

#include "bat/error.hpp"
#include "bat/text.hpp"
#include "bat/types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace bat::catalyst
{
namespace
{
/// The maximum along an axis, so that samples can be counted.
constexpr std::int64_t kMaxVertices = (std::int64_t{ 1 } << 21) - 1;

[[noreturn]] void refuse(const std::string& what)
{
  throw Error(ErrorCode::InvalidArgument, what);
}

double real_at(const Node& node, const char* path, double standard)
{
  const auto found = node.find(path);
  if (!found || found->is_empty())
  {
    return standard;
  }
  const auto numbers = found->numbers();
  if (!numbers || numbers->count != 1 || !std::isfinite(float64_at(*numbers, 0)))
  {
    refuse(
      fmt::format("{} has type {}; it must be a finite number", found->path(), found->type_name()));
  }
  return float64_at(*numbers, 0);
}

std::int64_t count_at(const Node& node, const char* path)
{
  const auto found = node.find(path);
  if (!found || found->is_empty())
  {
    return 1;
  }
  const auto numbers = found->numbers();
  if (!numbers || numbers->count != 1 || !is_integer(numbers->type))
  {
    refuse(
      fmt::format("{} has type {}; it must be a vertex count", found->path(), found->type_name()));
  }
  const std::int64_t count = int64_at(*numbers, 0);
  if (count < 0 || count > kMaxVertices)
  {
    refuse(
      fmt::format("{} is {}; allowed are 0 to {} vertices", found->path(), count, kMaxVertices));
  }
  return count;
}

// Cylindrical and spherical coordinate systems have grids too.
void require_axes(const Node& coordset, const char* what, const std::array<const char*, 3>& paths)
{
  const auto node = coordset.find(what);
  for (std::size_t i = 0; node && i != node->size(); ++i)
  {
    const std::string path = fmt::format("{}/{}", what, node->child(i).name());
    if (std::find(paths.begin(), paths.end(), path) == paths.end())
    {
      refuse(fmt::format("{} is given; allowed are {}, {} and {}", node->child(i).path(), paths[0],
        paths[1], paths[2]));
    }
  }
}

std::uint64_t samples_in(const std::array<std::int64_t, 3>& dimensions)
{
  return static_cast<std::uint64_t>(dimensions[0]) * static_cast<std::uint64_t>(dimensions[1]) *
    static_cast<std::uint64_t>(dimensions[2]);
}

idx::LogicalBox whole(const std::array<std::int64_t, 3>& dimensions)
{
  return { {}, { dimensions[0] - 1, dimensions[1] - 1, dimensions[2] - 1 } };
}

// The smallest box of the added samples, and whether it contains no others.
class GrownBox
{
public:
  explicit GrownBox(const std::array<std::int64_t, 3>& dimensions)
    : box_{ dimensions, { -1, -1, -1 } }
  {
  }

  void add(const std::array<std::int64_t, 3>& at)
  {
    ++this->count_;
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      this->box_.lower[axis] = std::min(this->box_.lower[axis], at[axis]);
      this->box_.upper[axis] = std::max(this->box_.upper[axis], at[axis]);
    }
  }
  [[nodiscard]] std::optional<idx::LogicalBox> box() const
  {
    const auto& [lower, upper] = this->box_;
    const std::uint64_t inside = this->box_.is_empty()
      ? 0
      : samples_in({ upper[0] - lower[0] + 1, upper[1] - lower[1] + 1, upper[2] - lower[2] + 1 });
    return inside == this->count_ ? std::optional(this->box_) : std::nullopt;
  }

private:
  idx::LogicalBox box_;
  std::uint64_t count_ = 0;
};

// Vertices of a box of elements.
idx::LogicalBox vertices_of(const idx::LogicalBox& elements, const GridDomain& vertices)
{
  idx::LogicalBox box = elements;
  for (std::size_t axis = 0; axis != 3 && !elements.is_empty(); ++axis)
  {
    box.upper[axis] += vertices.dimensions[axis] > 1 ? 1 : 0;
  }
  return box;
}

// Positions of the samples of a uniform topology.
struct Shape
{
  std::array<double, 3> origin{};
  std::array<double, 3> spacing{ 1, 1, 1 };
  std::array<std::int64_t, 3> vertices{ 1, 1, 1 };
};

Shape shape_of(const Node& domain, const Node& topology)
{
  const std::string name = topology.require_string("coordset");
  const Node coordsets = domain.require("coordsets");
  const auto coordset = coordsets.child_named(name);
  if (!coordset)
  {
    refuse(fmt::format("{}/coordset is '{}'; {} has {}", topology.path(), name, coordsets.path(),
      coordsets.format_child_names()));
  }
  if (const std::string type = coordset->require_string("type"); type != "uniform")
  {
    refuse(
      fmt::format("{}/type is '{}'; a uniform topology needs 'uniform'", coordset->path(), type));
  }
  static_cast<void>(coordset->require("dims"));
  Shape shape;
  constexpr std::array<const char*, 3> dims = { "dims/i", "dims/j", "dims/k" };
  constexpr std::array<const char*, 3> origin = { "origin/x", "origin/y", "origin/z" };
  constexpr std::array<const char*, 3> spacing = { "spacing/dx", "spacing/dy", "spacing/dz" };
  require_axes(*coordset, "dims", dims);
  require_axes(*coordset, "origin", origin);
  require_axes(*coordset, "spacing", spacing);
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    shape.vertices[axis] = count_at(*coordset, dims[axis]);
    shape.origin[axis] = real_at(*coordset, origin[axis], 0);
    shape.spacing[axis] = real_at(*coordset, spacing[axis], 1);
    if (!(shape.spacing[axis] > 0))
    {
      refuse(fmt::format("{}/{} is {}; a spacing must be above 0", coordset->path(), spacing[axis],
        shape.spacing[axis]));
    }
  }
  return shape;
}

GridDomain new_domain(const GridKey& key, const Shape& shape)
{
  GridDomain grid;
  grid.key = key;
  grid.spacing = shape.spacing;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    const bool is_centre = key.elements && shape.vertices[axis] > 1;
    grid.dimensions[axis] = shape.vertices[axis] - (is_centre ? 1 : 0);
    grid.origin[axis] = shape.origin[axis] + (is_centre ? 0.5 * shape.spacing[axis] : 0.0);
  }
  grid.own = whole(grid.dimensions);
  grid.shown = grid.own;
  return grid;
}

// Reads one uniform topology of one domain.
class Reader
{
public:
  Reader(Grids& grids, const ReadOptions& options, Channel& channel, const SpeciesKey& key,
    const Shape& shape)
    : grids_(grids)
    , options_(options)
    , channel_(channel)
    , of_vertices_(new_domain({ key, false }, shape))
    , of_elements_(new_domain({ key, true }, shape))
  {
  }

  void read(const Node& domain)
  {
    const auto fields = domain.find("fields");
    for (std::size_t i = 0; fields && i != fields->size(); ++i)
    {
      const Node field = fields->child(i);
      const auto on = field.find("topology");
      if (on && on->string().value_or("") == this->of_vertices_.key.topology.topology)
      {
        this->read_field(field, ghosts_in(domain, field.name()));
      }
    }
    for (const auto& [grid, has_any] : { std::pair(&this->of_vertices_, this->has_vertices_),
           std::pair(&this->of_elements_, this->has_elements_) })
    {
      if (has_any && !grid->own.is_empty())
      {
        this->grids_.domains.push_back(std::move(*grid));
      }
    }
  }

private:
  void read_field(const Node& field, Ghosts ghosts)
  {
    const std::string name = field.name();
    if (!is_utf8(name))
    {
      refuse("a field name is not valid UTF-8");
    }
    this->channel_.fields.insert(name);
    if (ghosts != Ghosts::None && !this->options_.keep_ghosts)
    {
      this->cut_ghosts(field, ghosts);
      return;
    }
    const auto& requested = this->options_.fields;
    if (requested && std::find(requested->begin(), requested->end(), name) == requested->end())
    {
      return;
    }
    const auto leave_out = [&](const std::string& reason, bool is_wrong)
    {
      const SpeciesKey& topology = this->of_vertices_.key.topology;
      this->channel_.unread.push_back({ topology.mesh, topology.topology, name, reason, is_wrong });
    };
    // An unreadable field does not prevent writing the others.
    try
    {
      const bool elements = is_of_elements(field);
      (elements ? this->has_elements_ : this->has_vertices_) = true;
      GridDomain& grid = elements ? this->of_elements_ : this->of_vertices_;
      const std::string unsuited = this->add_values(name, field.require("values"), grid);
      if (!unsuited.empty())
      {
        leave_out(unsuited, false);
      }
    }
    catch (const Error& e)
    {
      if (e.code() != ErrorCode::InvalidArgument)
      {
        throw;
      }
      leave_out(e.what(), true);
    }
  }

  static void check_count(const Node& node, std::uint64_t found, const GridDomain& grid)
  {
    if (found != samples_in(grid.dimensions))
    {
      refuse(fmt::format("{} has {} values, but the topology has {} {}", node.path(), found,
        samples_in(grid.dimensions), grid.key.elements ? "elements" : "vertices"));
    }
  }

  // Adds the values of a field. If fields of this kind are never written, returns the reason;
  // otherwise empty.
  [[nodiscard]] std::string add_values(
    const std::string& name, const Node& values, GridDomain& grid)
  {
    const auto leaves = find_components(values);
    if (!leaves)
    {
      return fmt::format("has type {}, not numbers", values.type_name());
    }
    if (leaves->size() > idx::kMaxFieldComponents)
    {
      return fmt::format(
        "has {} components, more than {}", leaves->size(), idx::kMaxFieldComponents);
    }
    const std::string problem = idx::find_field_name_problem(name);
    const std::string allowed = idx::allowed_field_names({ name }).front();
    if (name.empty() || (!problem.empty() && allowed == name))
    {
      return fmt::format("has a name that a grid cannot have: it {}", problem);
    }
    if (allowed != name)
    {
      this->channel_.warnings.push_back(
        fmt::format("channel '{}': in .idx, the field '{}' is called '{}': its name {}",
          this->channel_.name, name, allowed, problem));
    }
    if (leaves->empty())
    {
      refuse(fmt::format("{} has no components", values.path()));
    }
    std::vector<Numbers> components;
    for (const Node& leaf : *leaves)
    {
      components.push_back(host_numbers(leaf, this->device_));
      check_count(leaf, components.back().count, grid);
      if (components.back().type != components.front().type)
      {
        refuse(fmt::format("{} has type {}, but other components have {}; all must have one type",
          leaf.path(), name_of(components.back().type), name_of(components.front().type)));
      }
    }
    grid.fields.push_back({ name, components.front().type, static_cast<int>(components.size()),
      this->packed(components) });
    return "";
  }

  // Borrowed if the values are contiguous.
  [[nodiscard]] const std::byte* packed(const std::vector<Numbers>& components)
  {
    const std::size_t size = size_of(components.front().type);
    const std::size_t columns = components.size();
    const std::byte* first = components.front().data;
    bool is_packed = true;
    for (std::size_t c = 0; c != columns; ++c)
    {
      is_packed = is_packed && components[c].stride_bytes == columns * size &&
        components[c].data == first + c * size;
    }
    if (is_packed)
    {
      return first;
    }
    const std::uint64_t samples = components.front().count;
    this->grids_.copies.push_back(std::make_unique<std::byte[]>(samples * columns * size));
    std::byte* const copy = this->grids_.copies.back().get();
    std::byte* to = copy;
    for (std::uint64_t i = 0; i != samples; ++i)
    {
      for (const Numbers& component : components)
      {
        std::memcpy(to, component.data + i * component.stride_bytes, size);
        to += size;
      }
    }
    return copy;
  }

  // The box of samples that are not duplicates, and the hidden samples in it. Vertices of this
  // rank's elements count as this rank's.
  void cut_ghosts(const Node& field, Ghosts kind)
  {
    const bool elements = is_of_elements(field);
    GridDomain& marked = elements ? this->of_elements_ : this->of_vertices_;
    const Node values = field.require("values");
    const Numbers marks = host_numbers(values, this->device_);
    check_count(values, marks.count, marked);
    require_marks(marks, kind, field.path());
    GrownBox own(marked.dimensions);
    GrownBox shown(marked.dimensions);
    std::vector<bool> hidden;
    std::uint64_t i = 0;
    for (std::int64_t z = 0; z != marked.dimensions[2]; ++z)
    {
      for (std::int64_t y = 0; y != marked.dimensions[1]; ++y)
      {
        for (std::int64_t x = 0; x != marked.dimensions[0]; ++x, ++i)
        {
          const bool is_shown = !is_marked(marks, kind, elements, i);
          if (is_shown)
          {
            own.add({ x, y, z });
            shown.add({ x, y, z });
          }
          else if (is_hidden(marks, kind, elements, i))
          {
            own.add({ x, y, z });
            hidden.resize(samples_in(marked.dimensions));
            hidden[i] = true;
          }
        }
      }
    }
    if (!own.box())
    {
      refuse(fmt::format("{} marks ghosts between others; only layers at the borders of a domain "
                         "are allowed",
        field.path()));
    }
    marked.own = *own.box();
    marked.shown = shown.box();
    marked.hidden = std::move(hidden);
    if (elements)
    {
      this->of_vertices_.own = vertices_of(marked.own, this->of_vertices_);
      this->of_vertices_.shown =
        marked.shown ? std::optional(vertices_of(*marked.shown, this->of_vertices_)) : std::nullopt;
    }
  }

  Grids& grids_;
  const ReadOptions& options_;
  Channel& channel_;
  DeviceMemory device_;
  GridDomain of_vertices_;
  GridDomain of_elements_;
  bool has_vertices_ = false; // fields that are wanted, whether they can be had or not
  bool has_elements_ = false;
};

// Conduit meshes have topologies of many types.
bool is_uniform(const Node& topology)
{
  const auto type = topology.find("type");
  return type && type->string().value_or("") == "uniform";
}
}

Grids read_grids(const Node& node, const ReadOptions& options, Channel& channel)
{
  Grids grids;
  const auto data = node.find("data");
  const auto type = node.find("type");
  const std::string kind = type ? type->string().value_or("") : "";
  if (!data || data->is_empty() || (kind != "mesh" && kind != "multimesh"))
  {
    return grids;
  }
  for (const DomainNode& domain : domains_in(*data, kind == "multimesh"))
  {
    const auto topologies = domain.node.find("topologies");
    for (std::size_t i = 0; topologies && i != topologies->size(); ++i)
    {
      const Node topology = topologies->child(i);
      if (!is_uniform(topology))
      {
        continue;
      }
      const Shape shape = shape_of(domain.node, topology);
      const SpeciesKey key{ channel.name, domain.mesh, topology.name() };
      if (!is_utf8(key.mesh + key.topology))
      {
        refuse("a grid name is not valid UTF-8");
      }
      if (samples_in(shape.vertices) != 0)
      {
        Reader(grids, options, channel, key, shape).read(domain.node);
      }
    }
  }
  return grids;
}
}
