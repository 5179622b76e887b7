// Which particles match.
#pragma once

#include "bat/file.hpp"
#include "bat/query/conditions.hpp"
#include "bat/query/leaf_source.hpp"

namespace bat::query
{
[[nodiscard]] Selection select(
  const File::Impl& file, const Conditions& conditions, const QueryOptions& options);
/// The treelets, but for those of particles that are not finite.
[[nodiscard]] std::vector<Region> regions(const File::Impl& file);
[[nodiscard]] std::uint64_t upper_bound(const File::Impl& file, const Conditions& conditions);
}
