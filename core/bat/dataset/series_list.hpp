// SPDX-License-Identifier: BSD-3-Clause
// The list of a series as it is written.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>

namespace bat
{
/// The object that the list at `path` is, whose "files" have names. Throws as read_series().
[[nodiscard]] nlohmann::ordered_json read_series_list(const std::filesystem::path& path);
}
