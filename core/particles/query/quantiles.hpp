// SPDX-License-Identifier: BSD-3-Clause
// The distribution of a key's values, from its bins.
#pragma once

#include "bat/file.hpp"

#include <cstddef>
#include <vector>

namespace bat::query
{
/// Returns values that divide those of key `key` of an attribute into parts of equal size,
/// ascending, without minimum and maximum. Empty if the edges in the index are not known to be such
/// quantiles: if they are too few, if values repeat so often that several quantiles coincide, or if
/// NaN or infinity occur.
[[nodiscard]] std::vector<Number> quantiles(
  const File& file, std::size_t attribute, std::size_t key);
}
