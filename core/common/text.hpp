// SPDX-License-Identifier: BSD-3-Clause
// Texts that files hold: UTF-8 and JSON.
#pragma once

#include "bat/text.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bat
{
/// What is to be known of the text of a JSON object without a look at its values.
struct JsonObject
{
  std::size_t depth = 1; ///< levels of objects and arrays
  bool is_empty = true;
  bool has_member = false; ///< the member that was asked for, on the outermost level
  std::size_t end = 0;     ///< where its closing brace is
};

/// Empty unless `text` is one JSON object by RFC 8259 in UTF-8 and nothing else but space around
/// it. The grammar decides: numbers may be beyond any type, and escapes may be halves of pairs.
[[nodiscard]] std::optional<JsonObject> scan_json_object(
  const std::string& text, std::string_view member = {});
}
