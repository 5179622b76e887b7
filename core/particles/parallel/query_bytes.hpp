// SPDX-License-Identifier: BSD-3-Clause
// Serializes a query to send it to another rank.
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
