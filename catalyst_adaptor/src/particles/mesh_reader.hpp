// SPDX-License-Identifier: BSD-3-Clause
// Reads particles from the Blueprint nodes of a channel. Uses Conduit, but neither ranks nor files.
#pragma once

#include "arrays.hpp"
#include "device_memory.hpp"
#include "node.hpp"

#include "bat/particles.hpp"

#include <cstdint>
#include <map>
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
  bool unpack_ids = true;                         ///< reads what wanted ids are packed in
  /// Fields of species that have their own options, by topology or mesh.
  std::map<std::string, std::optional<std::vector<std::string>>> fields_of_species = {};
};

/// The step as a node describes it; parts may be missing.
struct State
{
  std::optional<std::int64_t> number;
  std::optional<double> time;
};
/// Reads `node`/state. Throws Error{InvalidArgument}if a number is not an integer or a time is not
/// finite.
[[nodiscard]] State read_state(const Node& node);

/// Particles in one topology of one domain; without particles, the attributes that it declares.
struct Domain
{
  ParticleView particles;
  std::optional<ArrayView> ghosts; ///< uint8, 1 for particles that are to be left out
  /// Names X of int32 fields X_id and X_cpu that are not adjacent in structs.
  std::vector<std::string> apart;
};

/// A particle topology; its domains may all be empty here.
struct FoundSpecies
{
  std::string mesh; ///< name within a multimesh, else empty
  std::string topology;
  std::vector<Domain> domains;
};

/// A requested field that cannot be read.
struct UnreadField
{
  std::string mesh;
  std::string topology; ///< empty if it names no existing one
  std::string name;
  std::string reason;
  bool is_wrong = true; ///< if false, its kind is never written
};

struct Channel
{
  std::string name;
  State state;                       ///< the channel's own state
  std::vector<FoundSpecies> species; ///< in order of appearance
  bool has_others = false;           ///< topologies that are not particles
  bool has_placeholder = false;      ///< species that this rank does not know
  std::set<std::string> fields;      ///< names of all fields of particles and grids, written or not
  std::vector<UnreadField> unread;
  std::vector<std::string> warnings;
  Arrays arrays; ///< copies that `species` borrows
};

/// Reads a node like catalyst/channels/NAME. The result borrows the arrays of the simulation.
/// Fields that are not requested are ignored. Throws Error{InvalidArgument}, naming the path, what
/// was found and what is allowed, if particle data or ghost marks are missing, have the wrong type
/// or length, are out of range, or are on a GPU.
[[nodiscard]] Channel read_channel(const Node& channel, const ReadOptions& options);
}
