// SPDX-License-Identifier: BSD-3-Clause
// The steps of a series, read from a file list (.bat.series).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bat
{
/// A step of a series.
struct SeriesStep
{
  std::filesystem::path path; ///< path of its dataset
  std::optional<double> time; ///< as listed, in the simulation's unit
};

/// Returns whether a path is a list of steps for ParaView and series writers: it ends in
/// ".series".
[[nodiscard]] bool is_series(const std::filesystem::path& path);

/// Returns whether a path is a tracks file: it ends in ".tracks.bat".
[[nodiscard]] bool is_tracks(const std::filesystem::path& path);

/// Returns the steps of the list at `path` in its order, with paths that Dataset::open() accepts.
/// Any other path is returned as the only step. No dataset is opened. Throws Error: NotFound and
/// CannotOpen, the list; Corrupt if it is not a list of files, or a time is not finite.
[[nodiscard]] std::vector<SeriesStep> read_series(const std::filesystem::path& path);

/// Returns a JSON array of objects with `path` and, if it is known, `time`. Throws
/// Error{InvalidArgument} for a path that is not valid UTF-8.
[[nodiscard]] std::string to_json(const std::vector<SeriesStep>& steps);
}
