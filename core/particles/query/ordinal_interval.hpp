// SPDX-License-Identifier: BSD-3-Clause
// Particles that are neighbours in spatial order.
#pragma once

#include <cstdint>

namespace bat
{
/// Ordinals begin to end - 1 of a leaf file: a compact piece of its space (FORMAT.md section 8).
struct OrdinalInterval
{
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};
}
