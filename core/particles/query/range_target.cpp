// SPDX-License-Identifier: BSD-3-Clause
// Parses names of range targets like "velocity[1]".

#include "bat/error.hpp"
#include "bat/nearest_name.hpp"
#include "bat/query.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace bat
{
AttributeRange parse_range_target(std::string_view text, const std::vector<std::string>& names)
{
  const auto known = [&](std::string_view name)
  { return std::find(names.begin(), names.end(), name) != names.end(); };
  AttributeRange range;
  range.attribute = std::string(text);
  if (known(text))
  {
    return range;
  }
  const std::size_t open = text.rfind('[');
  if (open != std::string_view::npos && text.back() == ']' && known(text.substr(0, open)))
  {
    int component = 0;
    const char* end = text.data() + text.size() - 1;
    const auto result = std::from_chars(text.data() + open + 1, end, component);
    if (result.ec == std::errc() && result.ptr == end && component >= 0)
    {
      range.attribute = std::string(text.substr(0, open));
      range.component = component;
      return range;
    }
  }
  throw Error(ErrorCode::InvalidArgument,
    fmt::format("unknown attribute '{}'{}", text,
      bat::available(text, fmt::format("{}", fmt::join(names, ", ")))));
}
}
