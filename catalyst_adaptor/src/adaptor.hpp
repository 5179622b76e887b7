// SPDX-License-Identifier: BSD-3-Clause
// Implements the Catalyst calls and holds the state between them.
#pragma once

#include "census.hpp"
#include "communicator.hpp"
#include "conduit_api.hpp"
#include "failure.hpp"
#include "grid_outputs.hpp"
#include "mesh_reader.hpp"
#include "named_fields.hpp"
#include "options.hpp"
#include "outputs.hpp"
#include "pipelines.hpp"
#include "warnings.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bat::catalyst
{
/// Writes a simulation's channels. The calls are collective where MPI runs, and once failures have
/// been exchanged, they are the same on all ranks. One object serves the time between two
/// catalyst_initialize calls.
class Adaptor
{
public:
  Adaptor();
  /// Called once. If a rank fails while MPI does not run yet, execute() informs the others.
  void initialize(const conduit_node* params);
  void execute(const conduit_node* params);
  /// Puts the last step and the totals below catalyst/bat. Not collective.
  void report(conduit_node* params, int status, const std::string& message) const;

  /// True if this rank reports for all ranks.
  [[nodiscard]] bool is_root() const;
  [[nodiscard]] bool stops_on_error() const noexcept { return this->stops_on_error_; }
  [[noreturn]] void stop(int status) const;

private:
  void read_params(const conduit_node* params);
  void join();
  void share_options();
  void collective(int status, const std::function<void()>& local) const;
  [[nodiscard]] std::vector<std::string> compute_union(const std::vector<std::string>& texts) const;

  void execute_step(const std::optional<Node>& root);
  [[nodiscard]] std::optional<Options> parse_step_options(const std::optional<Node>& root) const;
  struct StepData
  {
    std::vector<Channel> channels; // this rank's channels
    std::vector<Grids> grids;
    Census census; // census over all ranks
  };
  [[nodiscard]] StepData read_step(const std::optional<Node>& root, const Options& options) const;
  [[nodiscard]] std::vector<Failure> write_files(StepData& data, const Options& options);
  void write_step(const std::optional<Node>& root, const Options& options);
  [[nodiscard]] bool is_requested(const std::string& channel, const Options& options) const;
  /// True if this call writes a channel or its tracks.
  [[nodiscard]] bool needs_file(const ChannelOptions& options) const;
  [[nodiscard]] bool needs_tracks(const ChannelOptions& options) const;
  [[nodiscard]] bool is_due(const ChannelOptions& options) const;
  [[nodiscard]] bool is_due(const Options& options) const;
  void unpack_ids(std::vector<Channel>& channels, const Census& census) const;
  void choose_fields(Census& census, const Options& options);
  void set_fields(Job& job, const SpeciesKey& key, const Census& census);
  [[nodiscard]] std::vector<Channel> read_channels(
    const Node& root, const Options& options, Census& census, std::vector<Grids>& grids) const;
  struct Origins
  {
    std::array<double, 3> of_bricks{};
    std::array<double, 3> of_grid{};
  };
  [[nodiscard]] std::vector<Origins> find_origins(
    const std::map<GridKey, GridPlan>& plans, const std::vector<Grids>& grids) const;
  [[nodiscard]] std::vector<GridJob> make_grid_jobs(const Census& census, const Step& step,
    const Options& options, const std::vector<Grids>& grids);
  [[nodiscard]] std::vector<std::string> grid_patterns(
    const std::string& channel, const Census& census, const Options& options) const;
  void refuse_wrong_fields() const;
  [[nodiscard]] std::vector<Job> make_jobs(
    std::vector<Channel>& channels, const Census& census, const Step& step, const Options& options);

  std::optional<ConduitApi> api_;
  nlohmann::json node_options_ = nlohmann::json::object();
  nlohmann::json file_options_ = nlohmann::json::object();
  std::vector<Pipeline> pipelines_;
  std::vector<std::string> early_warnings_; // from initialize
  Warnings warnings_;
  NamedFields named_fields_;
  std::optional<std::int64_t> comm_handle_;
  std::optional<Failure> failure_; // from initialize, on this rank
  std::optional<Communicator> communicator_;
  bool joined_ = false;
  bool stops_on_error_ = false; // from this call's options; once joined, the same on all ranks

  Options options_;
  std::uint64_t calls_ = 0;       // calls of execute before this one
  std::vector<SpeciesKey> known_; // species of the steps so far
  struct Fields
  {
    std::vector<Attribute> written;
    std::set<std::string> names; // their names, and names of packed ids
  };
  std::map<SpeciesKey, Fields> fields_; // fields at the last step that had particles
  Outputs outputs_;
  GridOutputs grid_outputs_;
  struct LeftOut
  {
    std::vector<std::pair<std::string, std::string>> channels; // channel and reason
    std::vector<UnwrittenField> fields;
  };
  LeftOut left_out_; // left out in the last step
};
}
