// SPDX-License-Identifier: BSD-3-Clause
// Writes a grid as an .idx dataset, or adds it to one as a step.
#pragma once

#include "bat/idx/dataset.hpp"
#include "bat/idx/header.hpp"
#include "bat/routing.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bat::idx
{
/// The caller's array with all samples of the grid, x fastest, components interleaved.
struct FieldValues
{
  std::string name; ///< UTF-8 without blanks, '+', '#', brackets or '/'
  ScalarType type = ScalarType::Float32;
  int components = 1; ///< 1 to kMaxFieldComponents
  const void* values = nullptr;
};

/// A grid to write. The arrays stay the caller's.
struct Grid
{
  std::array<std::int64_t, 3> dimensions{ 1, 1, 1 }; ///< samples along each axis, 1 or more
  /// Logical coordinates of the first sample, 0 or more.
  std::array<std::int64_t, 3> first{};
  /// Position of logical 0 0 0, and the sample distance: finite, and above 0.
  std::array<double, 3> origin{};
  std::array<double, 3> spacing{ 1, 1, 1 };
  std::vector<FieldValues> fields; ///< at least one
  /// Box of the arrays if they have more samples than the grid, which lies inside it: for instance
  /// ghost layers, which may begin below 0.
  std::optional<LogicalBox> stored;
};

/// The programs that should read the files.
enum class Dialect
{
  OpenVisus, ///< all options below; OpenVisus and this library read everything
  PIDX       ///< HZ order, not packed, names as PIDX and VisIt expect them
};

/// How to treat samples in the box of all pieces that no rank has.
enum class MissingSamples
{
  Refuse, ///< are an error that names one
  Zero    ///< are zeros
};

enum class WriteMode
{
  Auto,    ///< AddStep if the options have a step, else Replace
  Replace, ///< the dataset is this step; the previous content is removed
  AddStep, ///< the others stay; the step is new, or is replaced
  /// Earlier steps stay and later ones are removed: for simulations, which may go back when they
  /// are restarted. If no earlier steps exist, the file may have been of any kind.
  Continue
};

struct WriteOptions
{
  WriteMode mode = WriteMode::Auto;
  std::optional<std::int64_t> step; ///< 0 or more; 0 by default
  std::optional<double> time;       ///< simulation time; for all steps of a dataset, or none

  Codec codec = Codec::Raw;
  int zip_level = 6; ///< zlib level, 1 (fast) to 9 (small)
  Layout layout = Layout::RowMajor;
  Dialect dialect = Dialect::OpenVisus;
  /// Samples per block: 2 to this power, up to 28; 0 chooses: 15, or less for small grids.
  int bits_per_block = 0;
  /// Approximate size of a file, with all fields.
  std::uint64_t file_bytes = std::uint64_t{ 64 } << 20;

  MissingSamples missing = MissingSamples::Refuse; ///< missing samples in a collective write
  Routing routing;                                 ///< exchange between ranks
  /// Maximum number of threads; 0 for as many as oneTBB finds. Does not change the bytes.
  int threads = 0;
  /// Waits until all bytes are on disk before the dataset names them.
  bool flush = true;
  /// Called from the calling thread with a fraction in [0, 1]; false cancels the write.
  std::function<bool(double)> progress;

  [[nodiscard]] std::int64_t step_number() const { return this->step.value_or(0); }
  /// The mode, or what Auto stands for.
  [[nodiscard]] WriteMode effective_mode() const
  {
    return this->mode != WriteMode::Auto ? this->mode
      : this->step                       ? WriteMode::AddStep
                                         : WriteMode::Replace;
  }
};

struct WriteReport
{
  std::uint64_t samples = 0;
  std::uint64_t files = 0;      ///< files with samples
  std::uint64_t file_bytes = 0; ///< their total size
  std::uint64_t blocks = 0;
  // Data that ranks sent each other, within nodes and between nodes. Collective calls are not
  // counted; messages also exclude data that ranks of a node exchange in shared memory.
  std::uint64_t messages_within = 0;
  std::uint64_t bytes_within = 0;
  std::uint64_t messages_between = 0;
  std::uint64_t bytes_between = 0;
};

/// Returns why a written field cannot have this name; empty if it can.
[[nodiscard]] std::string find_field_name_problem(const std::string& name);

/// Returns valid, distinct names for fields: each is unchanged if it is allowed and not taken,
/// otherwise '_' replaces invalid characters and a number is appended to names that are taken.
/// Names that are not UTF-8 stay unchanged and are refused later.
[[nodiscard]] std::vector<std::string> allowed_field_names(const std::vector<std::string>& names);

/// Returns the header that write() gives a dataset of this one step. It depends only on grid
/// (without its values) and options, so it is the same on every rank. Throws
/// Error{InvalidArgument}.
[[nodiscard]] Header plan_header(
  const std::filesystem::path& path, const Grid& grid, const WriteOptions& options);

/// Writes NAME.idx and the folder NAME next to it. The samples of a step appear in one folder by a
/// rename, and the text that names them by a second rename; until then, and after any failure, the
/// old dataset is unchanged. When a step among others is replaced, no text names it while its files
/// are exchanged (IDX.md section 8). At the end, steps that the new text does not name are removed
/// if this library wrote them, and so are the leftovers of killed writers. The same input gives the
/// same bytes for any number of threads. Besides the arrays, needs about 16 MiB, or two blocks if
/// they are more. Throws Error: InvalidArgument (grid, options, name; a step added to a dataset of
/// another shape or with other fields, naming the difference), CannotOpen, WriteFailed, NoSpace,
/// Cancelled.
WriteReport write(
  const std::filesystem::path& path, const Grid& grid, const WriteOptions& options = {});
}
