// SPDX-License-Identifier: BSD-3-Clause
// Computes the position in space of a header's samples.
#pragma once

#include "bat/idx/dataset.hpp"
#include "bat/idx/header.hpp"

namespace bat::idx::format
{
[[nodiscard]] Geometry compute_geometry(const Header& header);

/// Sets the keys in a header whose box is known, so that compute_geometry() returns exactly this;
/// sets none if they are not needed.
void set_geometry(
  Header& header, const std::array<double, 3>& origin, const std::array<double, 3>& spacing);
}
