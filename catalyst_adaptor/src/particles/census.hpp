// SPDX-License-Identifier: BSD-3-Clause
// Describes the contents of a step, on one rank and then on all. Ranks exchange texts; this code
// does not use MPI.
#pragma once

#include "mesh_reader.hpp"
#include "names.hpp"
#include "packed_ids.hpp"

#include "bat/file.hpp"
#include "bat/types.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bat::catalyst
{
struct Step
{
  std::int64_t number = 0;
  double time = 0;
};

/// A requested field that no file of a step contains.
struct UnwrittenField
{
  SpeciesKey topology; ///< without a topology: all topologies of the mesh
  std::string field;
  std::string reason;
  bool is_wrong = true; ///< if false, its kind is never written

  [[nodiscard]] bool is_of(const SpeciesKey& species) const;
};

/// Names of fields, and their types: "float64 x 3".
using Schema = std::map<std::string, std::string>;
[[nodiscard]] std::string type_name(ScalarType type, int components);

/// Facts that ranks report about their domains of a grid, each once.
struct GridCensus
{
  std::vector<std::array<double, 3>> spacings;
  std::vector<Schema> schemas;
};

class Census
{
public:
  void add(const State& state);
  /// A channel that exists, whether or not it is read.
  void add_channel(const std::string& channel);
  void add(const Channel& channel);
  /// A domain of a grid in a channel that was added.
  void add_grid(const GridKey& key, const std::array<double, 3>& spacing, const Schema& schema);
  /// A channel that cannot be read, and why.
  void add_unreadable(const std::string& channel, const std::string& reason);
  void add_warnings(const std::vector<std::string>& warnings);
  /// The io pipelines that are requested in this step; others are not.
  void add_pipelines(const std::vector<std::string>& names);

  [[nodiscard]] std::vector<std::string> texts() const;
  /// Combines the texts of several ranks, in their order.
  static Census of(const std::vector<std::string>& texts);

  /// The ranks' common step, or the counted one. Throws Error{InvalidArgument} if ranks have
  /// different steps.
  [[nodiscard]] Step step(std::int64_t counted) const;
  /// The step of a channel, which may define its own number and time.
  [[nodiscard]] Step step(const std::string& channel, const Step& of_all) const;
  [[nodiscard]] const std::vector<std::string>& channels() const { return this->channels_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return this->warnings_; }
  /// Names of the fields of particles and grids in a channel.
  [[nodiscard]] std::vector<std::string> fields(const std::string& channel) const;
  /// The fields, with their numbers of components, on all ranks with particles of a species; if no
  /// rank has particles, the fields that any rank declares.
  [[nodiscard]] std::map<std::string, int> written_fields(const SpeciesKey& species) const;
  /// The same with their types; ids that are unpacked are id and cpu.
  [[nodiscard]] std::vector<Attribute> written_attributes(const SpeciesKey& species) const;
  /// Treats ids of these species as unpacked from now on.
  void set_unpacked(const std::vector<SpeciesKey>& species) { this->unpacked_ = species; }
  /// Restricts the written fields of these species from now on. Parts of unpacked ids stay because
  /// they cannot be chosen individually.
  void set_chosen(std::map<SpeciesKey, std::vector<std::string>> fields)
  {
    this->chosen_ = std::move(fields);
  }
  /// True if set_chosen() includes a field, given by the name under which it is written.
  [[nodiscard]] bool is_chosen(const SpeciesKey& species, const std::string& field) const;
  /// AMReX ids that all ranks have packed, whether or not they are unpacked.
  [[nodiscard]] std::optional<PackedIds> packed_ids(const SpeciesKey& species) const;
  /// The same for species whose ids are unpacked.
  [[nodiscard]] std::optional<PackedIds> unpacked_ids(const SpeciesKey& species) const;
  /// A species' written fields under all names that options may use: including packed ids, and id
  /// if a field contains ids.
  [[nodiscard]] std::map<std::string, int> known_fields(const SpeciesKey& species) const;
  [[nodiscard]] bool has_particles(const SpeciesKey& species) const;
  /// True if a channel has particles or grids.
  [[nodiscard]] bool has_values(const std::string& channel) const;
  /// A species' field names that options contain, as they are written.
  [[nodiscard]] std::vector<std::string> resolve(
    const SpeciesKey& species, const std::vector<std::string>& names, bool with_second_ids) const;
  /// Grids in channels that can be read.
  [[nodiscard]] std::map<GridKey, GridCensus> grids() const;
  /// The fields that all domains of a grid have.
  [[nodiscard]] std::vector<std::string> written_fields(const GridKey& grid) const;
  /// Channels that a rank cannot read, with the reason from the first such rank.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& unreadable() const
  {
    return this->unreadable_;
  }
  /// Fields that a rank cannot read or that differ between ranks: no rank writes them.
  [[nodiscard]] std::vector<UnwrittenField> unwritten() const;
  /// All species in readable channels. A channel that is empty everywhere has the species in
  /// `before`, which are all it has had; if it has had none, one without a topology, unless ranks
  /// have placeholders for others.
  [[nodiscard]] std::vector<SpeciesKey> species(const std::vector<SpeciesKey>& before) const;
  /// True if an io pipeline is requested.
  [[nodiscard]] bool has_pipeline(const std::string& name) const;

private:
  /// Adds one of the texts().
  void add_text(const std::string& text);
  [[nodiscard]] std::vector<std::string>& list_of(const std::string& kind);
  void agree_on_states_of_channels();
  void take_declared();
  [[nodiscard]] Schema agreed_schema(const SpeciesKey& species) const;
  [[nodiscard]] bool can_be_read(const std::string& channel) const;

  std::vector<State> states_;
  std::map<std::string, std::vector<State>> states_of_channels_;
  std::vector<std::string> channels_;
  std::vector<SpeciesKey> species_;
  std::map<SpeciesKey, std::vector<Schema>> schemas_;    // distinct schemas
  std::map<SpeciesKey, std::vector<Schema>> declared_;   // declared by domains without particles
  std::map<SpeciesKey, std::vector<std::string>> apart_; // halves of ids that are not neighbours
  std::vector<SpeciesKey> unpacked_;
  std::map<SpeciesKey, std::vector<std::string>> chosen_; // if not all fields are written
  std::vector<SpeciesKey> with_particles_;
  std::map<GridKey, GridCensus> grids_;
  std::vector<std::string> empty_;        // channels in which there is nothing
  std::vector<std::string> others_;       // channels with topologies that are not particles
  std::vector<std::string> placeholders_; // channels with species that a rank does not know
  std::map<std::string, std::vector<std::string>> fields_;
  std::vector<UnwrittenField> unwritten_;
  std::vector<std::pair<std::string, std::string>> unreadable_;
  std::vector<std::string> warnings_;
  std::optional<std::vector<std::string>> pipelines_;
};
}
