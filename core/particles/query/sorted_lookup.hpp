// SPDX-License-Identifier: BSD-3-Clause
// Finds particles through a sorted index (FORMAT.md section 11).
#pragma once

#include "bat/file.hpp"
#include "particles/query/conditions.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace bat::query
{
/// Returns ascending file positions of all particles that satisfy the condition, whatever the step
/// and part. Empty if its key has no sorted index, if the condition is negated, or if testing
/// `tested` particles one by one is about as fast.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> look_up(
  const File::Impl& file, const KeyCondition& condition, std::uint64_t tested);

/// A particle in a sorted index.
struct IndexRow
{
  std::uint64_t value = 0; ///< bits, of the class of the key
  std::uint32_t position = 0;
};

/// Works as look_up(), and returns the particles' values too.
[[nodiscard]] std::optional<std::vector<IndexRow>> look_up_rows(
  const File::Impl& file, const KeyCondition& condition, std::uint64_t tested);
}
