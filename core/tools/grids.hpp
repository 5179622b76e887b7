// SPDX-License-Identifier: BSD-3-Clause
// Grid support for bat_info and bat_validate: velocities in bricks, and structured grids (.idx).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace bat::tools
{
/// Returns whether a path names a grid, by its ending: .bricks, .bricks.series, .idx.
[[nodiscard]] bool is_grid(const std::string& path);

/// Returns the content of a grid as JSON; for a series, with all its levels. Throws Error. If a
/// level cannot be read, `is_whole` becomes false and the level has the reason.
[[nodiscard]] nlohmann::json describe_grid(const std::string& path, bool& is_whole);

/// Returns the same as text for people.
[[nodiscard]] std::string tell_grid(const nlohmann::json& about);

/// Reads every byte and checks every rule. Returns what was checked, as the end of a sentence.
/// Throws Error for the first fault.
[[nodiscard]] std::string validate_grid(const std::string& path);
}
