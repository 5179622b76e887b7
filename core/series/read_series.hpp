// SPDX-License-Identifier: BSD-3-Clause
// Reads, parses and formats the text of a series list: the only parser of lists.
#pragma once

#include "series/entries.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace bat::series
{
/// Whether each file of a list must have a time.
enum class Times
{
  Optional,
  Required
};

/// Returns the text of the list at `path`. Throws Error: NotFound, CannotOpen.
[[nodiscard]] std::string read_text(const std::filesystem::path& path);

/// Parses the text into an object. Its "files" have names and finite times. Its checksum is right,
/// if it has one. Throws Error{Corrupt}, which names `path`.
[[nodiscard]] nlohmann::ordered_json parse_list(
  const std::string& text, const std::filesystem::path& path, Times times);

/// Returns the text of such an object.
[[nodiscard]] std::string format_list(const nlohmann::ordered_json& list);

/// Returns names, times and steps in such an object. The time is 0 if the list has none.
[[nodiscard]] Entries list_entries(const nlohmann::ordered_json& list);
}
