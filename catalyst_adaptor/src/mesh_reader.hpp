// Particles in the Blueprint nodes of a channel. Knows Conduit, but neither ranks nor files.
#pragma once

#include "arrays.hpp"
#include "device_memory.hpp"
#include "node.hpp"

#include "bat/particles.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bat::catalyst
{
struct ReadOptions
{
  bool keep_ghosts = false;
  std::optional<std::vector<std::string>> fields; ///< none: all
};

/// Particles of one topology of one domain; at least one.
struct Domain
{
  ParticleView particles;
  std::optional<ArrayView> ghosts; ///< uint8, 1 for particles that are to be left out
};

/// A topology of particles; its domains may all be empty here.
struct FoundSpecies
{
  std::string mesh; ///< of a multimesh, else empty
  std::string topology;
  std::vector<Domain> domains;
};

struct Channel
{
  std::string name;
  std::vector<FoundSpecies> species; ///< in order of appearance
  bool has_others = false;           ///< topologies that are no particles
  std::set<std::string> fields;      ///< names of all fields of particles, written or not
  std::vector<std::string> warnings;
  Arrays arrays; ///< copies that `species` borrows
};

/// Reads a node like catalyst/channels/NAME. What it returns borrows the arrays of the simulation.
/// Throws Error{InvalidArgument} naming path, found and allowed: something is missing, of another
/// type or length, out of range, or on a GPU.
[[nodiscard]] Channel read_channel(const Node& channel, const ReadOptions& options);
}
