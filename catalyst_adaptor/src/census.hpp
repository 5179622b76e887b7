// What is in a step, on one rank and then on all. Ranks exchange texts; this knows no MPI.
#pragma once

#include "mesh_reader.hpp"
#include "names.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bat::catalyst
{
struct Step
{
  std::int64_t number = 0;
  double time = 0;
};

class Census
{
public:
  void add(const Step& step);
  /// A channel that is there, whether it is read or not.
  void add_channel(const std::string& channel);
  void add(const Channel& channel);
  void add_warnings(const std::vector<std::string>& warnings);

  [[nodiscard]] std::vector<std::string> texts() const;
  /// Of several ranks, in their order.
  static Census of(const std::vector<std::string>& texts);

  /// The step that ranks have, or nothing. Throws Error{InvalidArgument} if they have several.
  [[nodiscard]] std::optional<Step> step() const;
  [[nodiscard]] const std::vector<std::string>& channels() const { return this->channels_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return this->warnings_; }
  /// Names of the fields of particles in a channel.
  [[nodiscard]] std::vector<std::string> fields(const std::string& channel) const;
  /// All that there are. Of a channel that is empty everywhere: what it has had before.
  [[nodiscard]] std::vector<SpeciesKey> species(const SpeciesNames& before) const;

private:
  std::vector<Step> steps_;
  std::vector<std::string> channels_;
  std::vector<SpeciesKey> species_;
  std::vector<std::string> empty_;  // channels in which there is nothing
  std::vector<std::string> others_; // channels with topologies that are no particles
  std::map<std::string, std::vector<std::string>> fields_;
  std::vector<std::string> warnings_;
};
}
