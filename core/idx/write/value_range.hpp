// SPDX-License-Identifier: BSD-3-Clause
// Smallest and largest values of fields, which the text provides for displays.
#pragma once

#include "bat/idx/header.hpp"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace bat::idx
{
/// Returns the range of finite values; the first is above the second if there are none.
[[nodiscard]] std::pair<double, double> value_range(
  ScalarType type, const void* values, std::uint64_t count);

/// Does the same for a box in an array of one component with `dimensions` samples: `values` points
/// to its first sample, `counts` are its samples along each axis.
[[nodiscard]] std::pair<double, double> value_range(ScalarType type, const void* values,
  const std::array<std::int64_t, 3>& counts, const std::array<std::int64_t, 3>& dimensions);

/// Ranges of fields with one component, in OpenVisus's dialect. One pair per field.
void set_ranges(Header& header, const std::vector<std::pair<double, double>>& ranges);
}
