// SPDX-License-Identifier: BSD-3-Clause
// Names species: the same on all ranks, in all steps, and after a restart.
#pragma once

#include <string>
#include <tuple>
#include <vector>

namespace bat::catalyst
{
/// A particle topology in a channel; `mesh` is empty unless it is in a multimesh. A key without a
/// topology stands for a channel that has always been empty.
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
  [[nodiscard]] bool operator==(const SpeciesKey& other) const
  {
    return std::tie(this->channel, this->mesh, this->topology) ==
      std::tie(other.channel, other.mesh, other.topology);
  }
};

/// Part of a uniform topology that becomes a dataset: its vertex fields or its element fields.
struct GridKey
{
  SpeciesKey topology;
  bool elements = false;

  [[nodiscard]] bool operator<(const GridKey& other) const
  {
    return std::tie(this->topology, this->elements) < std::tie(other.topology, other.elements);
  }
  [[nodiscard]] bool operator==(const GridKey& other) const
  {
    return std::tie(this->topology, this->elements) == std::tie(other.topology, other.elements);
  }
};

/// CHANNEL, CHANNEL_TOPOLOGY, CHANNEL_MESH or CHANNEL_MESH_TOPOLOGY. A topology with a generic name
/// (mesh, points, particles, ... or that of its channel or mesh) is left out. The name depends only
/// on the key, not on other species or on the order in which they appear.
[[nodiscard]] std::string name_of(const SpeciesKey& key);

/// Names of `species`, in their order. Throws Error{InvalidArgument} if two have the same name.
[[nodiscard]] std::vector<std::string> names_of(const std::vector<SpeciesKey>& species);

/// The mesh that a child of a multimesh is, or is a piece of: "" for domain_*, which are pieces of
/// the channel's only mesh; for other domains, the name without its trailing number, or "" if that
/// is generic (block, box, patch, rank, ...).
[[nodiscard]] std::string parse_mesh(const std::string& child, bool is_domain);
}
