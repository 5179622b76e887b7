// SPDX-License-Identifier: BSD-3-Clause
#include "particles/query/leaf_source.hpp"

#include "bat/error.hpp"
#include "particles/query/conditions.hpp"

#include <fmt/format.h>

namespace bat
{
query::Conditions LeafSource::conditions(const Query& query, const OrdinalInterval& ordinals) const
{
  const std::uint64_t n = this->particle_count();
  if (ordinals.begin > ordinals.end || ordinals.end > n)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{}: ordinals {} to {} are requested; allowed are 0 to {}", this->name(),
        ordinals.begin, ordinals.end, n));
  }
  return query::make_conditions({ this->name(), n, this->attributes() }, ordinals, query);
}

std::uint64_t LeafSource::upper_bound(const Query& query, const OrdinalInterval& ordinals) const
{
  return this->upper_bound(this->conditions(query, ordinals));
}

Selection LeafSource::select(
  const Query& query, const OrdinalInterval& ordinals, const QueryOptions& options) const
{
  return this->select(this->conditions(query, ordinals), options);
}
}
