// SPDX-License-Identifier: BSD-3-Clause
// Writes the files of a step, and records what has been written so far.
#pragma once

#include "census.hpp"
#include "names.hpp"
#include "options.hpp"

#include "bat/insitu.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bat::catalyst
{
/// A species and its output options.
struct Job
{
  std::string channel;
  insitu::Species species;
  Step step;
  std::string pattern;
  ChannelOptions options;
  bool needs_file = true; ///< if false, only tracks are written
  bool needs_tracks = false;
};

struct Totals
{
  std::uint64_t steps = 0;
  std::uint64_t failed_steps = 0;
  std::uint64_t files = 0;
  std::uint64_t particles = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;
};

class Outputs
{
public:
  using Notice = insitu::SeriesWriter::Notice;
  explicit Outputs(Notice notice)
    : notice_(std::move(notice))
  {
  }

  /// Collective. Writes the species of one step, which are the same on all ranks except for their
  /// pieces. Throws Error on all ranks after writing those that did not fail.
  void write(MPI_Comm comm, const Step& step, std::vector<Job> jobs);
  void count_step(bool is_whole) noexcept
  {
    ++(is_whole ? this->totals_.steps : this->totals_.failed_steps);
  }

  [[nodiscard]] const std::optional<Step>& last_step() const { return this->last_step_; }
  [[nodiscard]] const std::vector<insitu::WrittenFile>& last_files() const
  {
    return this->last_files_;
  }
  [[nodiscard]] const Totals& totals() const { return this->totals_; }

private:
  struct Output
  {
    std::string settings; // may change from step to step
    std::optional<insitu::SeriesWriter> writer;
  };
  [[nodiscard]] std::vector<insitu::FilePattern> collect_patterns(const std::vector<Job>& jobs);
  [[nodiscard]] insitu::SeriesWriter& find_writer(
    const Job& job, const insitu::FilePattern& pattern);

  Notice notice_;
  std::map<std::string, std::string> channels_; // user of each pattern without names
  std::map<std::string, Output> outputs_;       // keys: pattern and species
  std::optional<Step> last_step_;
  std::vector<insitu::WrittenFile> last_files_;
  Totals totals_;
};
}
