// SPDX-License-Identifier: BSD-3-Clause
// The list of the files of a series that ParaView opens as one source: NAME.bat.series.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bat::insitu
{
struct SeriesEntry
{
  std::string file; ///< relative to the list's folder
  double time = 0;  ///< as listed: later than that of the entry before
  std::optional<std::int64_t> step;
  std::optional<double> clock; ///< the simulation's time, where it is known
};

/// In the order of their steps.
using SeriesEntries = std::vector<SeriesEntry>;

/// Entries of a list whose files exist, in order of their steps; none if there is no list. Throws
/// Error: CannotOpen; Corrupt if it is something else.
[[nodiscard]] SeriesEntries read_series(const std::filesystem::path& list);

/// What adding a step has meant for the others.
struct SeriesChange
{
  SeriesEntries dropped;      ///< steps from this one on, of a run that came before
  bool clock_is_back = false; ///< its time is listed later than the simulation's
  double time = 0;            ///< as it is listed
};
/// Puts a step in its place. Steps that are not before it go, if `is_of_this_series` says so of
/// their entries: the simulation has come back to this step. Its time is `clock`, or where that is
/// not later than the time before: as much later as the clock has moved since, or where the clock
/// has gone back, as steps before it have taken. `folder` is that of the list.
[[nodiscard]] SeriesChange add_to_series(SeriesEntries& entries,
  const std::filesystem::path& folder, const std::string& file, std::int64_t step, double clock,
  const std::function<bool(const SeriesEntry&)>& is_of_this_series);

/// Replaces the list by one atomic rename; `flush`: see BuildOptions. Throws Error: CannotOpen,
/// NoSpace, WriteFailed.
void write_series(const std::filesystem::path& list, const SeriesEntries& entries, bool flush);

/// Time and step that a file says of itself; nothing where it cannot be read.
struct OwnTime
{
  std::optional<double> time;
  std::optional<std::int64_t> step;
};
[[nodiscard]] OwnTime own_time_of(const std::filesystem::path& file);
}
