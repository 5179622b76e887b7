// Particles against conditions, one by one. Whose values they are and where they came from is the
// caller's affair: all formats share these comparisons.
#pragma once

#include "bat/file.hpp"
#include "query/conditions.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::query
{
/// Extends the last span where `next` follows it without a gap.
void append(std::vector<Span>& spans, const Span& next);

/// Clears match[i] of each position outside `box`. `positions` has x, y, z of match.size()
/// particles in `type` and is aligned for it.
void match_box(
  ScalarType type, const std::byte* positions, const Box& box, std::vector<std::uint8_t>& match);

/// The same for a key; `values` has `attribute.components` values for each particle.
void match_key(const Attribute& attribute, const std::byte* values, const KeyCondition& condition,
  std::vector<std::uint8_t>& match);

/// Appends the runs of particles of `span` that match; match[i] tells of particle span.first + i.
void append_matches(const Span& span, const std::uint8_t* match, std::vector<Span>& out);
}
