// SPDX-License-Identifier: BSD-3-Clause
// Writes the grids of a step as .idx datasets, or adds them to series of .bricks files.
#pragma once

#include "grid_plan.hpp"
#include "grid_reader.hpp"

#include "bat/bricks/parallel.hpp"
#include "bat/idx/parallel.hpp"
#include "bat/insitu.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bat::catalyst
{
/// Dataset names follow the rules for particle files (bat::insitu::FilePattern), with the extension
/// .idx or .bricks. If the name does not contain the step number, all steps go into one .idx.
class GridPattern
{
public:
  [[nodiscard]] static bool is_one(const std::string& pattern);
  /// Throws Error{InvalidArgument}: the extension is a different one, or a placeholder cannot be
  /// filled in.
  explicit GridPattern(std::string pattern);

  [[nodiscard]] bool is_bricks() const { return this->is_bricks_; }

  /// Inserts "_{name}" before the step number or the extension, unless the pattern contains the
  /// name.
  void add_name();
  [[nodiscard]] std::filesystem::path file(
    std::int64_t step, double time, const std::string& name) const;
  /// The list of .bricks files.
  [[nodiscard]] std::filesystem::path series(const std::string& name) const;

private:
  std::string pattern_;
  std::optional<insitu::FilePattern> with_step_; ///< set if it contains the step number
  bool adds_name_ = false;
  bool is_bricks_ = false;
};

/// The options for writing velocity fields.
struct BricksOptions
{
  std::vector<std::string> velocity; ///< names of fields, see find_velocity()
  std::array<bool, 3> cyclic{};
  bool compress = true;
};

/// A grid and its output options; the same on all ranks.
struct GridJob
{
  GridKey key;
  GridPlan plan;
  std::string pattern;
  idx::WriteOptions options; ///< its step, time, threads and flush hold for .bricks, too
  Velocity velocity;         ///< for .bricks
  BricksOptions bricks;
};

struct WrittenGrid
{
  std::string name;
  std::filesystem::path path;
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;
};

class GridOutputs
{
public:
  using Notice = bricks::GrowingSeries::Notice;
  explicit GridOutputs(Notice notice)
    : notice_(std::move(notice))
  {
  }

  /// Collective. Writes jobs from the domains of all ranks and creates folders. A failed job does
  /// not stop the others. Throws Error on all ranks: as idx::write_collective and
  /// bricks::write_collective; if a domain is off the lattice of the others; if an .idx has hidden
  /// samples other than at domain borders; if two grids would be one file.
  void write(MPI_Comm comm, const std::vector<GridJob>& jobs, const std::vector<Grids>& local);
  /// The grids written in the last step.
  [[nodiscard]] const std::vector<WrittenGrid>& last() const { return this->last_; }

private:
  struct Place
  {
    GridPattern pattern;
    std::filesystem::path file;
  };
  [[nodiscard]] std::vector<Place> places_of(const std::vector<GridJob>& jobs);
  [[nodiscard]] WrittenGrid write_grid(
    MPI_Comm comm, const GridJob& job, const Place& place, const std::vector<Grids>& local);
  [[nodiscard]] bricks::GrowingSeries& find_series(const GridJob& job, const GridPattern& pattern);

  Notice notice_;
  std::map<std::string, std::string> channels_; // user of each pattern without names
  // The keys are lists; the values are whether these are flushed.
  std::map<std::pair<std::filesystem::path, bool>, bricks::GrowingSeries> series_;
  std::vector<WrittenGrid> last_;
};
}
