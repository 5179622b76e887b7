// Names of species and files, the same on all ranks and in all steps.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace bat::catalyst
{
/// A topology of particles in a channel; mesh: of a multimesh, else empty. Without a topology: a
/// channel that has always been empty.
struct SpeciesKey
{
  std::string channel;
  std::string mesh;
  std::string topology;

  [[nodiscard]] bool operator<(const SpeciesKey& other) const
  {
    return std::tie(this->channel, this->mesh, this->topology) <
      std::tie(other.channel, other.mesh, other.topology);
  }
};

/// Gives children names below their parent: the parent's own to one that was alone when it was
/// first seen, PARENT_CHILD to all others. A child keeps its name.
class ChildNames
{
public:
  /// Names of `children` in their order. They differ; one that is alone and empty is not
  /// remembered.
  std::vector<std::string> names(
    const std::string& parent, const std::vector<std::string>& children);

private:
  std::map<std::string, std::map<std::string, std::string>> names_;
};

/// CHANNEL, CHANNEL_TOPOLOGY, CHANNEL_MESH or CHANNEL_MESH_TOPOLOGY, as short as it can be.
class SpeciesNames
{
public:
  /// Names of `species` in their order. Throws Error{InvalidArgument} if two have the same.
  std::vector<std::string> names(const std::vector<SpeciesKey>& species);
  /// Those of a channel that have names.
  [[nodiscard]] std::vector<SpeciesKey> known(const std::string& channel) const;

private:
  ChildNames meshes_;
  ChildNames topologies_;
  std::map<SpeciesKey, std::string> known_;
};
}
