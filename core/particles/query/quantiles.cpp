// SPDX-License-Identifier: BSD-3-Clause
#include "particles/query/quantiles.hpp"

#include "common/numbers.hpp"
#include "particles/tree/bin_edges.hpp"
#include "particles/tree/file_impl.hpp"

#include <cmath>

namespace bat::query
{
namespace
{
// Fewer bins are less exact than a sample.
constexpr std::uint32_t kMinQuantiles = 128;
}

std::vector<Number> quantiles(const File& file, std::size_t attribute, std::size_t key)
{
  const File::Impl& impl = file.impl();
  if (const std::optional<Alias>& alias = file.attributes()[attribute].alias)
  {
    const std::size_t same =
      alias->component < 0 ? key : static_cast<std::size_t>(alias->component);
    return alias->attribute ? quantiles(file, *alias->attribute, same) : std::vector<Number>();
  }
  const Key& range = file.attributes()[attribute].keys[key];
  const std::size_t k = impl.schema.first_keys[attribute] + key;
  const std::uint32_t bins = impl.schema.keys[k].bin_count;
  if (range.has_nan || bins < kMinQuantiles || bins != bins_for(file.particle_count()) ||
    !std::isfinite(to_double(range.minimum)) || !std::isfinite(to_double(range.maximum)))
  {
    return {};
  }
  const ValueClass type = impl.schema.key_class(k);
  std::vector<Number> values;
  for (const std::uint64_t edge : impl.key_index(k).edges)
  {
    values.push_back(number_from_bits(edge, type));
  }
  // If every distinct value has an edge, the last edge is the largest of them.
  return compare(values.back(), range.maximum) < 0 ? values : std::vector<Number>();
}
}
