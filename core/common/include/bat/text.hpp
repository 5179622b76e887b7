// SPDX-License-Identifier: BSD-3-Clause
// What names and metadata have to be, and how they are shown.
#pragma once

#include <string>
#include <string_view>

namespace bat
{
/// Whether the bytes are UTF-8, as names of attributes, species and files in lists have to be. A
/// zero byte is one of its characters. Never throws for what is in `text`.
[[nodiscard]] bool is_utf8(const std::string& text);

/// The text without anything that a terminal would obey: control characters of ASCII, and such
/// bytes where the text is not UTF-8, become "\x1b", other control characters and marks of
/// direction "\u202e"; all else stays, and so does what is in `keep`, characters of ASCII. In a
/// text of JSON, with `keep` "\n", the values stay what they are.
[[nodiscard]] std::string printable(std::string_view text, std::string_view keep = {});
}
