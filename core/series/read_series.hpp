// SPDX-License-Identifier: BSD-3-Clause
// The list of a series as it is written.
#pragma once

#include "series/series_list.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace bat
{
/// The object that the list at `path` is, whose "files" have names. Throws as read_series().
[[nodiscard]] nlohmann::ordered_json read_series_list(const std::filesystem::path& path);

/// Its names, times and steps, as its checksum counts them.
[[nodiscard]] series::Entries list_entries(const nlohmann::ordered_json& list);
}
