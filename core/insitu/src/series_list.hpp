// The list of the files of a series that ParaView opens as one source: NAME.bat.series.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace bat::insitu
{
/// Files, relative to the list's folder, and their times, ascending.
using SeriesEntries = std::vector<std::pair<std::string, double>>;

/// Entries of a list whose files exist; none if there is no list. Throws Error: CannotOpen; Corrupt
/// if it is something else.
[[nodiscard]] SeriesEntries read_series(const std::filesystem::path& list);
/// Adds a file, or changes its time.
void add_to_series(SeriesEntries& entries, const std::string& file, double time);
/// Replaces the list by one atomic rename; `flush`: see BuildOptions. Throws Error: CannotOpen, NoSpace, WriteFailed.
void write_series(const std::filesystem::path& list, const SeriesEntries& entries, bool flush);
}
