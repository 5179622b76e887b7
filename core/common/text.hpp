// SPDX-License-Identifier: BSD-3-Clause
// Checks texts stored in files: UTF-8 and JSON.
#pragma once

#include "bat/text.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bat
{
/// Facts about a JSON text, without its values.
struct JsonObject
{
  std::size_t depth = 1; ///< levels of objects and arrays
  bool is_empty = true;
  bool has_member = false; ///< the requested one, on the outermost level
  std::size_t end = 0;     ///< position of its closing brace
};

/// Returns facts about `text`, which must be one JSON object in UTF-8 with only white space around
/// it. Empty for any other text, for numbers that no double holds and for escapes of half a
/// surrogate pair.
[[nodiscard]] std::optional<JsonObject> scan_json_object(
  const std::string& text, std::string_view member = {});
}
