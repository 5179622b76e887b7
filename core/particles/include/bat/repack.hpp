// SPDX-License-Identifier: BSD-3-Clause
// Rewrites an existing dataset: the same particles, stored differently.
#pragma once

#include "bat/writer.hpp"

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace bat
{
/// What a repack changes.
struct RepackOptions
{
  /// `threads`, `flush` and `progress` always apply, the others only if `changed` names them.
  BuildOptions build;
  /// Names of options (bat/write_options.hpp) from repack_option_names(). All others stay as in
  /// each leaf file: compression with chunks and bounds, sorted indexes, stable samples, the block
  /// size, the HDF5 view, and the treelet size as nearly as the file shows it. Sizes that other
  /// writers chose and that no option of this one allows become the nearest allowed ones.
  std::set<std::string> changed;
};

/// Write options that may be changed.
[[nodiscard]] const std::vector<std::string>& repack_option_names();

/// The result of a repack. Sizes in bytes of all files; seconds of wall time.
struct RepackReport
{
  std::uint64_t particles = 0; ///< all were read back and compared
  std::uint64_t datasets = 0;  ///< 1, or the steps of a series
  std::uint64_t leaf_files = 0;
  std::uint64_t bytes_before = 0;
  std::uint64_t bytes_after = 0;
  double seconds = 0;
};
/// Returns one line of JSON.
[[nodiscard]] std::string to_json(const RepackReport& report);

/// Writes the dataset at `in`, which may be one of the paper's library, to `out`, leaf file by
/// leaf file. It needs memory for one leaf file and for writing it. Particles stay in their leaf
/// files; names, order, types, hints and aliases of attributes, time, step and metadata stay.
/// Before a new leaf file gets its name, it is read back and all columns of all particles are
/// compared bit for bit. An array that gets a bound is compared with its values on the grid of
/// that bound, none of which differs by more than the bound. An existing `out` is replaced at the
/// end by one rename, as write_file() does; on any failure it is untouched and nothing is left
/// behind. `out` may be `in`, but not for files of the paper's library, and not a leaf file of a
/// dataset.
///
/// Error bounds without `compression` among the changed options mean Bounded. A bound limits the
/// difference between `in` and `out`. An array that has one keeps it, or drops it with another
/// compression or a bound of 0, and cannot get another. A dropped bound is recorded in the metadata
/// as "error_bounds" (FORMAT.md section 7).
///
/// If `in` is the list of a series (.series), each of its steps becomes a dataset OUT_0000.bat,
/// OUT_0001.bat and so on next to `out`, OUT.bat.series, which lists them as `in` does and comes
/// last. Existing steps are replaced one by one; a failure removes new ones.
///
/// A tracks file (bat/tracks.hpp) is packed as by TracksWriter::finish(). Its only option is
/// `flush`.
///
/// Not collective. Throws Error: InvalidArgument (options, `out`), Cancelled, those of
/// Dataset::open() and write_file(), and WriteFailed if the written data differ from those read.
RepackReport repack(const std::filesystem::path& in, const std::filesystem::path& out,
  const RepackOptions& options = {});

/// Returns the files that repack() replaces or creates: `out` and, for a series, those of its
/// steps.
[[nodiscard]] std::vector<std::filesystem::path> repack_targets(
  const std::filesystem::path& in, const std::filesystem::path& out);
}
