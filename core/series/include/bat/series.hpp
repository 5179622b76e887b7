// SPDX-License-Identifier: BSD-3-Clause
// The steps of a series, as lists of files (.bat.series) have them.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace bat
{
/// A step of a series.
struct SeriesStep
{
  std::filesystem::path path; ///< of its dataset
  std::optional<double> time; ///< as listed, in the simulation's unit
};

/// Whether a path is that of a list of steps, as ParaView and writers of series know it: whether it
/// ends in ".series".
[[nodiscard]] bool is_series(const std::filesystem::path& path);

/// Whether a path is that of a tracks file: whether it ends in ".tracks.bat".
[[nodiscard]] bool is_tracks(const std::filesystem::path& path);

/// The steps that the list at `path` has, in its order, with the paths as Dataset::open() takes
/// them; of any other path, that one as the only step. No dataset is opened. Throws Error: NotFound
/// and CannotOpen, the list; Corrupt if it is no list of files, or a time is no finite number.
[[nodiscard]] std::vector<SeriesStep> read_series(const std::filesystem::path& path);
}
