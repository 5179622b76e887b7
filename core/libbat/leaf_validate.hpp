// SPDX-License-Identifier: BSD-3-Clause
// Checks the assumptions that queries make about a leaf file.
#pragma once

#include "libbat/leaf.hpp"

namespace bat::libbat
{
/// Reads everything. Throws the Error for the first fault that would make a query lose particles: a
/// particle outside bounds or beyond the plane of a node, or a bitmap without the bit of a value.
void validate(const Leaf& leaf);
}
