// SPDX-License-Identifier: BSD-3-Clause
// Text of addresses, headers and profiles. The functions of <cctype> depend on the locale.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace bat::io
{
[[nodiscard]] constexpr char to_lower(char c) noexcept
{
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

[[nodiscard]] inline std::string lower_case(std::string_view text)
{
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), to_lower);
  return lower;
}

/// Removes blanks, tabs and line ends from both ends.
[[nodiscard]] inline std::string_view trim(std::string_view text) noexcept
{
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  return begin == std::string_view::npos
    ? std::string_view()
    : text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}
}
