// SPDX-License-Identifier: BSD-3-Clause
// Tests particles against conditions one by one. The caller fetches the values, so that all formats
// share these comparisons.
#pragma once

#include "bat/file.hpp"
#include "common/elements.hpp"
#include "particles/query/conditions.hpp"
#include "particles/query/matches.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::query
{
/// Extends the last span if `next` follows it without a gap.
void append(std::vector<Span>& spans, const Span& next);

/// Keeps those of the next particles of `matches` that satisfy the condition; `values` belong to
/// `attribute`, all components of each particle.
void match_key(const Attribute& attribute, const Elements* values, std::size_t part_count,
  const KeyCondition& condition, Matches& matches);

/// Appends the runs of matches among the particles of `span`, which are the next ones in `matches`.
void append_matches(const Span& span, Matches& matches, std::vector<Span>& out);
}
