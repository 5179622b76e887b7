// Which particles match.
#pragma once

#include "bat/file.hpp"
#include "query/conditions.hpp"

namespace bat::query
{
/// `ranks` take the place of the query's part.
[[nodiscard]] Selection select(
  const File& file, const Query& query, const RankInterval& ranks, const QueryOptions& options);
/// The treelets, but for those of particles that are not finite.
[[nodiscard]] std::vector<Region> regions(const File& file);
[[nodiscard]] std::uint64_t upper_bound(
  const File& file, const Query& query, const RankInterval& ranks);
}
