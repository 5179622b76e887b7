// SPDX-License-Identifier: BSD-3-Clause
// An existing dataset anew: the same particles, stored in another way.
#pragma once

#include "bat/writer.hpp"

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace bat
{
/// What is to be another way.
struct RepackOptions
{
  /// `threads`, `flush` and `progress` hold in any case, of the others those that are named.
  BuildOptions build;
  /// Names of options (bat/write_options.hpp), of those that repack_option_names() has. All else
  /// stays as each leaf file has it: compression with chunks and bounds, sorted indexes, stable
  /// samples, the size of blocks, and that of treelets as near as the file tells. Sizes that other
  /// writers chose and this one has no option for become the nearest that it has.
  std::set<std::string> changed;
};

/// Options of a write that may be changed.
[[nodiscard]] const std::vector<std::string>& repack_option_names();

/// What a repack did. Sizes in bytes of all files; seconds of wall time.
struct RepackReport
{
  std::uint64_t particles = 0; ///< all of which were read back and compared
  std::uint64_t datasets = 0;  ///< 1, or of a series its steps
  std::uint64_t leaf_files = 0;
  std::uint64_t bytes_before = 0;
  std::uint64_t bytes_after = 0;
  double seconds = 0;
};
/// One line of JSON.
[[nodiscard]] std::string to_json(const RepackReport& report);

/// Writes the dataset at `in`, also one of the paper's library, to `out`, leaf file by leaf file:
/// memory is that of one of them and of its write. Particles stay in the leaf files that they are
/// in; names, order, types, hints and aliases of attributes, time, step and metadata stay. Each new
/// leaf file is read back and compared with what was read, all columns of all particles bit for
/// bit, before it gets its name; of an array that gets a bound, with its values on the grid of that
/// bound, none of which is farther than the bound from what it was. What is at `out` is replaced at
/// the end by one rename, as write_file() does; on any failure it is untouched and nothing is left
/// behind. `out` may be `in`, but not for files of the paper's library, and not a leaf file of a
/// dataset.
///
/// Error bounds without `compression` among the changed options mean Bounded. A bound is between
/// what is in `in` and in `out`: an array that has one already keeps it, or gives it up with
/// another compression or a bound of 0, and cannot get another. A bound that is given up comes into
/// the metadata, as "error_bounds" (FORMAT.md section 7).
///
/// If `in` is the list of a series (.series), each of its steps becomes a dataset OUT_0000.bat,
/// OUT_0001.bat and so on beside `out`, OUT.bat.series, which lists them as `in` does and comes
/// last; steps that are there are replaced one by one, and of a series that fails the new ones go.
///
/// A tracks file (bat/tracks.hpp) is put in order, as TracksWriter::finish() does; it has no
/// options but `flush`.
///
/// Not collective. Throws Error: InvalidArgument (options, `out`), Cancelled, those of
/// Dataset::open() and write_file(), and WriteFailed if what was written is not what was read.
RepackReport repack(const std::filesystem::path& in, const std::filesystem::path& out,
  const RepackOptions& options = {});

/// Files that repack() replaces or makes: `out`, or with a series those of its steps too.
[[nodiscard]] std::vector<std::filesystem::path> repack_targets(
  const std::filesystem::path& in, const std::filesystem::path& out);
}
