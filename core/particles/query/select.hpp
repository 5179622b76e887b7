// SPDX-License-Identifier: BSD-3-Clause
// Selects the particles that match, or estimates their number.
#pragma once

#include "bat/file.hpp"
#include "particles/query/conditions.hpp"
#include "particles/query/leaf_source.hpp"

namespace bat::query
{
[[nodiscard]] Selection select(
  const File::Impl& file, const Conditions& conditions, const QueryOptions& options);
/// The treelets, except those with non-finite coordinates.
[[nodiscard]] std::vector<Region> regions(const File::Impl& file);
[[nodiscard]] std::uint64_t upper_bound(const File::Impl& file, const Conditions& conditions);
/// Expected matches among `count` particles, given `matches` of `tested` others.
[[nodiscard]] std::uint64_t estimate_share(
  std::uint64_t count, std::uint64_t matches, std::uint64_t tested);
/// See Dataset::estimate_count. At most `sampled` particles are tested; each page read for them
/// counts as at least 128.
[[nodiscard]] CountEstimate estimate_count(
  const File::Impl& file, const Conditions& conditions, std::uint64_t sampled);
}
