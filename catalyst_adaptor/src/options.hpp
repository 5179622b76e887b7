// SPDX-License-Identifier: BSD-3-Clause
// User options, from the node catalyst/bat and the file named by CATALYST_BAT_CONFIG.
#pragma once

#include "grid_outputs.hpp"
#include "names.hpp"
#include "node.hpp"

#include "bat/file.hpp"
#include "bat/idx/write.hpp"
#include "bat/insitu.hpp"
#include "bat/mpi.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bat::catalyst
{
/// The options for writing one channel (README.md describes each).
struct ChannelOptions
{
  std::string output = "{name}_{timestep:06d}.bat";
  std::optional<std::vector<std::string>> fields; ///< none: all
  std::uint64_t every = 1;
  std::optional<insitu::TrackOptions> tracks; ///< none: no tracks
  std::string tracks_text;                    ///< the same options as text
  bool keep_ghosts = false;
  bool unpack_ids = true;                           ///< unpacks AMReX ids
  mpi::WriteOptions write = linking_repeats();      ///< sorted indexes: of species that have them
  std::vector<std::string> grid_outputs;            ///< none: {name}.idx in the folder of `output`
  idx::WriteOptions write_grid;                     ///< options for grids, except step and time
  BricksOptions bricks;                             ///< for velocity fields
  std::map<std::string, ChannelOptions> of_species; ///< different options, by topology or mesh

  [[nodiscard]] std::vector<std::string> list_grid_outputs() const;

private:
  static mpi::WriteOptions linking_repeats()
  {
    mpi::WriteOptions options;
    options.build.repeats = Repeats::Link;
    return options;
  }
};

struct Options
{
  ChannelOptions all;
  std::optional<std::vector<std::string>> channels; ///< none: all
  std::map<std::string, ChannelOptions> of_channel; ///< channels with different options
  bool stop_on_error = false;
  /// True if `output` or `channels` are given: files named by io pipelines are then not requested.
  bool names_output = false;

  [[nodiscard]] const ChannelOptions& of(const std::string& channel) const;
  [[nodiscard]] const ChannelOptions& of(const SpeciesKey& species) const;
  [[nodiscard]] bool has(const std::string& channel) const;
};

/// The options for species that have the topology, or are the mesh, of this name.
[[nodiscard]] const ChannelOptions& species_options(
  const ChannelOptions& channel, const SpeciesKey& species);

/// Tracks of a species with these attributes: with the names that its fields have in the file, with
/// the id found where none is named, and without attributes that only other species of the channel
/// have.
[[nodiscard]] insitu::TrackOptions track_options_for(const insitu::TrackOptions& tracks,
  const std::vector<Attribute>& attributes, const std::set<std::string>& of_others,
  const std::string& topology);

/// Returns the `requested` indexes that are possible for fields with these numbers of components.
[[nodiscard]] std::vector<std::string> resolve_indexes(
  const std::vector<std::string>& requested, const std::map<std::string, int>& fields);

/// The same for error bounds. Position bounds stay, and so do invalid texts, which the write
/// rejects.
[[nodiscard]] std::vector<std::string> resolve_error_bounds(
  const std::vector<std::string>& requested, const std::map<std::string, int>& fields);

/// An object, list, text or number as JSON. Throws Error{InvalidArgument} for anything else.
[[nodiscard]] nlohmann::json to_json(const Node& node);
/// Throws Error{InvalidArgument}, naming the line, if the text cannot be read or is not valid JSON.
[[nodiscard]] nlohmann::json read_config(const std::string& path);
/// Throws Error{InvalidArgument} naming `source`, the key, what was found and what is allowed.
[[nodiscard]] Options parse_options(const nlohmann::json& json, const std::string& source);
/// `over` takes precedence, key by key.
[[nodiscard]] nlohmann::json merged(const nlohmann::json& json, const nlohmann::json& over);
}
