#include "names.hpp"

#include "bat/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bat::catalyst
{
namespace
{
// What is below each parent, in order of appearance.
using Children = std::map<std::string, std::vector<std::string>>;

void add(Children& children, const std::string& parent, const std::string& child)
{
  auto& known = children[parent];
  if (std::find(known.begin(), known.end(), child) == known.end())
  {
    known.push_back(child);
  }
}

// Name of each child, by parent and child.
std::map<std::pair<std::string, std::string>, std::string> all_names(
  ChildNames& names, const Children& children)
{
  std::map<std::pair<std::string, std::string>, std::string> result;
  for (const auto& [parent, list] : children)
  {
    const std::vector<std::string> found = names.names(parent, list);
    for (std::size_t i = 0; i != list.size(); ++i)
    {
      result.emplace(std::pair(parent, list[i]), found[i]);
    }
  }
  return result;
}

void require_different(const std::vector<std::string>& names)
{
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("two species are named '{}'; names of channels, meshes and topologies must make "
                  "different ones",
        *twice));
  }
}
}

std::vector<std::string> ChildNames::names(
  const std::string& parent, const std::vector<std::string>& children)
{
  if (children.size() == 1 && children.front().empty())
  {
    return { parent };
  }
  auto& known = this->names_[parent];
  const bool alone = known.empty() && children.size() == 1;
  std::vector<std::string> names;
  for (const std::string& child : children)
  {
    const std::string fresh = alone ? parent : fmt::format("{}_{}", parent, child);
    names.push_back(known.emplace(child, fresh).first->second);
  }
  return names;
}

std::vector<std::string> SpeciesNames::names(const std::vector<SpeciesKey>& species)
{
  Children meshes;
  for (const SpeciesKey& s : species)
  {
    add(meshes, s.channel, s.mesh);
  }
  const auto mesh_names = all_names(this->meshes_, meshes);
  Children topologies;
  for (const SpeciesKey& s : species)
  {
    add(topologies, mesh_names.at({ s.channel, s.mesh }), s.topology);
  }
  const auto topology_names = all_names(this->topologies_, topologies);
  std::vector<std::string> names;
  for (const SpeciesKey& s : species)
  {
    names.push_back(topology_names.at({ mesh_names.at({ s.channel, s.mesh }), s.topology }));
    if (!s.topology.empty())
    {
      this->known_.emplace(s, names.back());
    }
  }
  require_different(names);
  return names;
}

std::vector<SpeciesKey> SpeciesNames::known(const std::string& channel) const
{
  std::vector<SpeciesKey> result;
  for (const auto& [key, name] : this->known_)
  {
    if (key.channel == channel)
    {
      result.push_back(key);
    }
  }
  return result;
}
}
