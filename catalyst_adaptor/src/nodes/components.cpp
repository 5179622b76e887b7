// SPDX-License-Identifier: BSD-3-Clause
#include "components.hpp"

#include "bat/error.hpp"

#include <fmt/format.h>

namespace bat::catalyst
{
std::optional<std::vector<Node>> find_components(const Node& values)
{
  std::vector<Node> components;
  const bool is_leaf = !values.is_object() && !values.is_list();
  for (std::size_t c = 0; c != (is_leaf ? 1 : values.size()); ++c)
  {
    components.push_back(is_leaf ? values : values.child(c));
    if (!components.back().numbers())
    {
      return std::nullopt;
    }
  }
  return components;
}

bool is_of_elements(const Node& field)
{
  const std::string association = field.require_string("association");
  if (association != "vertex" && association != "element")
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format(
        "{}/association is '{}'; allowed are 'vertex' and 'element'", field.path(), association));
  }
  return association == "element";
}
}
