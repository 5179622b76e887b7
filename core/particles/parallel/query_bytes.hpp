// SPDX-License-Identifier: BSD-3-Clause
// A query on its way from one rank to another.
#pragma once

#include "bat/query.hpp"

#include <cstddef>
#include <vector>

namespace bat::mpi
{
void append_query(std::vector<std::byte>& bytes, const Query& query);
/// Parses the bytes that append_query() appended, up to `end`.
[[nodiscard]] Query parse_query(const std::byte* begin, const std::byte* end);
}
