// SPDX-License-Identifier: BSD-3-Clause
// Which particles match.
#pragma once

#include "bat/file.hpp"
#include "particles/query/conditions.hpp"
#include "particles/query/leaf_source.hpp"

namespace bat::query
{
[[nodiscard]] Selection select(
  const File::Impl& file, const Conditions& conditions, const QueryOptions& options);
/// The treelets, but for those of particles that are not finite.
[[nodiscard]] std::vector<Region> regions(const File::Impl& file);
[[nodiscard]] std::uint64_t upper_bound(const File::Impl& file, const Conditions& conditions);
/// What `matches` of `tested` particles let expect of `count` others.
[[nodiscard]] std::uint64_t estimate_share(
  std::uint64_t count, std::uint64_t matches, std::uint64_t tested);
/// As Dataset::estimate_count. `sampled` is the most particles to test; pages of a column that are
/// read for it count as 128 at least.
[[nodiscard]] CountEstimate estimate_count(
  const File::Impl& file, const Conditions& conditions, std::uint64_t sampled);
}
