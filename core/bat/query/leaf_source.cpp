#include "bat/query/leaf_source.hpp"

#include "bat/error.hpp"
#include "bat/query/conditions.hpp"

#include <fmt/format.h>

namespace bat
{
query::Conditions LeafSource::conditions(const Query& query, const RankInterval& ranks) const
{
  const std::uint64_t n = this->particle_count();
  if (ranks.begin > ranks.end || ranks.end > n)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{}: ranks {} to {} are asked for; there are 0 to {}", this->name(), ranks.begin,
        ranks.end, n));
  }
  return query::make_conditions({ this->name(), n, this->attributes() }, ranks, query);
}

std::uint64_t LeafSource::upper_bound(const Query& query, const RankInterval& ranks) const
{
  return this->upper_bound(this->conditions(query, ranks));
}

Selection LeafSource::select(
  const Query& query, const RankInterval& ranks, const QueryOptions& options) const
{
  return this->select(this->conditions(query, ranks), options);
}
}
