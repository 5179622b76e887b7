// SPDX-License-Identifier: BSD-3-Clause
// Grids of a step as .idx datasets that grow by a step.
#pragma once

#include "grid_plan.hpp"
#include "grid_reader.hpp"

#include "bat/idx/parallel.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace bat::catalyst
{
/// Names of datasets: as of files of particles (bat::insitu::FilePattern), with the extension .idx.
/// Without the number of the step in it, all steps are in one dataset.
class GridPattern
{
public:
  [[nodiscard]] static bool is_one(const std::string& pattern);
  /// Throws Error{InvalidArgument}: another extension, a placeholder that cannot be filled in.
  explicit GridPattern(std::string pattern);

  /// Puts "_{name}" before the number of the step or the extension, unless the name is in it.
  void add_name();
  [[nodiscard]] std::filesystem::path file(
    std::int64_t step, double time, const std::string& name) const;

private:
  std::string pattern_;
  bool has_step_ = false;
  bool adds_name_ = false;
};

/// A grid and how it is written; the same on all ranks.
struct GridJob
{
  GridKey key;
  GridPlan plan;
  std::string pattern;
  idx::WriteOptions options;
};

struct WrittenGrid
{
  std::string name;
  std::filesystem::path path;
  idx::WriteReport report;
  double seconds = 0;
};

class GridOutputs
{
public:
  /// Collective. Writes jobs from the domains of all ranks; folders are made. What fails does not
  /// keep the rest back. Throws Error on all ranks: as idx::write_together; a domain beside the
  /// lattice of the others; two grids that would be one file.
  void write(MPI_Comm comm, const std::vector<GridJob>& jobs, const std::vector<Grids>& mine);
  /// Of the last step.
  [[nodiscard]] const std::vector<WrittenGrid>& last() const { return this->last_; }

private:
  [[nodiscard]] std::vector<std::filesystem::path> files_of(const std::vector<GridJob>& jobs);

  std::map<std::string, std::string> channels_; // by pattern without names: whose it is
  std::vector<WrittenGrid> last_;
};
}
