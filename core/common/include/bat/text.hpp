// SPDX-License-Identifier: BSD-3-Clause
// Checks that names and metadata are valid text, and makes text safe to show.
#pragma once

#include <string>
#include <string_view>

namespace bat
{
/// Returns whether the bytes are UTF-8, as required for names of attributes, species and listed
/// files. A zero byte counts as a character. Never throws because of the content.
[[nodiscard]] bool is_utf8(const std::string& text);

/// Escapes everything that a terminal would obey: ASCII control characters, and such bytes in text
/// that is not UTF-8, become "\x1b", other control characters and direction marks "\u202e". All
/// else stays, and so do the ASCII characters in `keep`. In JSON text, with `keep` "\n", the values
/// do not change.
[[nodiscard]] std::string printable(std::string_view text, std::string_view keep = {});
}
