// SPDX-License-Identifier: BSD-3-Clause
// Answers an unknown name with the known names, the nearest first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bat
{
/// Returns at most three of the names that a few typing errors turn into `name`, nearest first.
/// Case is ignored.
[[nodiscard]] std::vector<std::string_view> nearest_names(
  std::string_view name, const std::vector<std::string_view>& names);

/// Completes "unknown attribute 'velocty'" with "; did you mean 'velocity'? Available: id,
/// velocity", or "; available: id, mass" if no name is near. `names` are separated by ", ". For a
/// path, the part after the last '/' is compared.
[[nodiscard]] std::string available(std::string_view name, std::string_view names);
}
