// SPDX-License-Identifier: BSD-3-Clause
// The list of a series, and the list of its steps under other names.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <vector>

namespace bat
{
/// A step of a series that is made from another series.
struct StepCopy
{
  std::filesystem::path in;
  std::filesystem::path out;
};

struct SeriesCopy
{
  std::vector<StepCopy> steps; ///< each file once, in the order of the list
  nlohmann::ordered_json list; ///< the new list
};

/// Reads the list at `in` and returns what to write for the one at `out`. Throws Error: NotFound,
/// CannotOpen, Corrupt; InvalidArgument if `out` is not a .series, or a step of it would replace
/// one of `in`.
[[nodiscard]] SeriesCopy make_series_copy(
  const std::filesystem::path& in, const std::filesystem::path& out);
}
