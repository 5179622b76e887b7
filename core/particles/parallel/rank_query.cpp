// SPDX-License-Identifier: BSD-3-Clause
#include "particles/parallel/rank_query.hpp"

#include <algorithm>

namespace bat::mpi
{
namespace
{
// The share of a leaf file's particles that a query returns if they are spread evenly. A list of
// values is assumed to match few.
double expected_share(const Query& query, const LeafInfo& leaf, const LeafRequest& request)
{
  const bool few = std::any_of(query.values.begin(), query.values.end(),
    [](const AttributeValues& values) { return !values.negated; });
  if (few || leaf.particles == 0)
  {
    return 0;
  }
  double share = (query.quality - query.after_quality) *
    static_cast<double>(request.end - request.begin) / static_cast<double>(leaf.particles);
  for (std::size_t axis = 0; query.box && leaf.bounds && axis != 3; ++axis)
  {
    const double lower = leaf.bounds->lower[axis];
    const double upper = leaf.bounds->upper[axis];
    const double inside =
      std::min(upper, query.box->upper[axis]) - std::max(lower, query.box->lower[axis]);
    share *= upper > lower ? std::clamp(inside / (upper - lower), 0.0, 1.0) : 1.0;
  }
  return share;
}
}

RankQuery::RankQuery(
  const Dataset& from, const Query& requested, const std::vector<std::string>& names)
  : dataset(from)
  , query(requested)
  , conditions(from.impl().conditions(requested))
{
  this->columns.push_back({ std::nullopt, bat::tuple_bytes(from.position_type(), 3) });
  for (const std::string& name : names)
  {
    const std::size_t index = from.attribute_index(name);
    const Attribute& attribute = from.attributes()[index];
    this->columns.push_back({ index, bat::tuple_bytes(attribute.type, attribute.components) });
  }
  for (const ReadColumn& column : this->columns)
  {
    this->row_bytes += column.bytes;
  }
  for (const Dataset::Impl::Task& task : from.impl().tasks(this->conditions))
  {
    LeafRequest request{ task.leaf, task.ordinals.begin, task.ordinals.end, 0 };
    request.share = expected_share(requested, from.leaves()[task.leaf], request);
    this->leaves.push_back(request);
  }
  std::sort(this->leaves.begin(), this->leaves.end(),
    [](const LeafRequest& a, const LeafRequest& b) { return a.leaf < b.leaf; });
}

double RankQuery::column_share() const
{
  return std::min(1.0,
    static_cast<double>(this->row_bytes) / static_cast<double>(this->dataset.bytes_per_particle()));
}

std::vector<std::size_t> RankQuery::attributes() const
{
  std::vector<std::size_t> numbers;
  for (const ReadColumn& column : this->columns)
  {
    if (column.attribute)
    {
      numbers.push_back(*column.attribute);
    }
  }
  return numbers;
}

Particles empty_answer(const RankQuery& query, const std::vector<std::string>& names)
{
  Particles particles;
  particles.position_type = query.dataset.position_type();
  for (std::size_t i = 0; i != names.size(); ++i)
  {
    const Attribute& attribute = query.dataset.attributes()[*query.columns[i + 1].attribute];
    particles.columns.push_back({ names[i], attribute.type, attribute.components, {} });
  }
  return particles;
}

void resize(Particles& particles, const RankQuery& query, std::uint64_t count)
{
  particles.count = count;
  particles.positions.resize(count * query.columns[0].bytes);
  for (std::size_t i = 0; i != particles.columns.size(); ++i)
  {
    particles.columns[i].values.resize(count * query.columns[i + 1].bytes);
  }
}

std::byte* column_of(Particles& particles, std::size_t column)
{
  return column == 0 ? particles.positions.data() : particles.columns[column - 1].values.data();
}
}
