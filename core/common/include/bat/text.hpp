// SPDX-License-Identifier: BSD-3-Clause
// What names and metadata have to be.
#pragma once

#include <string>

namespace bat
{
/// Whether the bytes are UTF-8, as names of attributes, species and files in lists have to be. A
/// zero byte is one of its characters. Never throws for what is in `text`.
[[nodiscard]] bool is_utf8(const std::string& text);
}
