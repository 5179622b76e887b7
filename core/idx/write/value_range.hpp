// SPDX-License-Identifier: BSD-3-Clause
// Smallest and largest values of fields, which the text tells displays.
#pragma once

#include "bat/idx/header.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace bat::idx
{
/// Of the finite values; the first is above the second if there are none.
[[nodiscard]] std::pair<double, double> value_range(
  ScalarType type, const void* values, std::uint64_t count);

/// Of fields with one component, in OpenVisus's dialect. One pair per field.
void set_ranges(Header& header, const std::vector<std::pair<double, double>>& ranges);
}
