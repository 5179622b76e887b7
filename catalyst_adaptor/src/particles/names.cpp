// SPDX-License-Identifier: BSD-3-Clause
#include "names.hpp"

#include "bat/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

namespace bat::catalyst
{
namespace
{
// Names that simulations give to the only topology of a mesh.
constexpr std::array<std::string_view, 6> kNamesThatSayNothing = { "main", "mesh", "particles",
  "points", "topo", "topology" };

// Names that they give to its pieces, before a number.
constexpr std::array<std::string_view, 12> kPiecesThatSayNothing = { "block", "box", "chunk",
  "domain", "part", "partition", "patch", "piece", "proc", "rank", "subdomain", "tile" };

template <class Names>
bool contains(const Names& names, std::string_view name)
{
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool starts_with(std::string_view text, std::string_view begin)
{
  return text.substr(0, begin.size()) == begin;
}
}

std::string name_of(const SpeciesKey& key)
{
  const std::string mesh =
    key.mesh.empty() ? key.channel : fmt::format("{}_{}", key.channel, key.mesh);
  const bool says_nothing = key.topology.empty() || key.topology == key.channel ||
    key.topology == key.mesh || contains(kNamesThatSayNothing, key.topology);
  return says_nothing ? mesh : fmt::format("{}_{}", mesh, key.topology);
}

std::vector<std::string> names_of(const std::vector<SpeciesKey>& species)
{
  std::vector<std::string> names;
  std::transform(species.begin(), species.end(), std::back_inserter(names), &name_of);
  for (std::size_t i = 0; i != names.size(); ++i)
  {
    const auto same = std::find(names.begin(), names.begin() + static_cast<long>(i), names[i]);
    if (same != names.begin() + static_cast<long>(i))
    {
      const SpeciesKey& other = species[static_cast<std::size_t>(same - names.begin())];
      throw Error(ErrorCode::InvalidArgument,
        fmt::format(
          "two species are named '{}': topology '{}' of channel '{}' and topology '{}' of "
          "channel '{}'; names of channels, meshes and topologies must make different "
          "ones",
          names[i], other.topology, other.channel, species[i].topology, species[i].channel));
    }
  }
  return names;
}

std::string parse_mesh(const std::string& child, bool is_domain)
{
  if (starts_with(child, "domain_"))
  {
    return "";
  }
  if (!is_domain)
  {
    return child;
  }
  const std::size_t last = child.find_last_not_of("0123456789");
  if (last == std::string::npos)
  {
    return "";
  }
  if (last + 1 == child.size())
  {
    return child;
  }
  const std::size_t end = child.find_last_not_of("_-. ", last);
  const std::string word = end == std::string::npos ? "" : child.substr(0, end + 1);
  return contains(kPiecesThatSayNothing, word) ? "" : word;
}
}
