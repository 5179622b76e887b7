// SPDX-License-Identifier: BSD-3-Clause
// Computes key values from tuples.
#pragma once

#include "common/numbers.hpp"

#include <cstddef>
#include <type_traits>
#include <vector>

namespace bat::write
{
template <class V>
[[nodiscard]] bool is_nan_value(V value) noexcept
{
  return value != value;
}

/// Value of a key for one particle; component -1 is the magnitude.
template <class T, class V>
[[nodiscard]] V key_value(const T* tuple, int components, int component)
{
  if constexpr (std::is_same_v<V, double>)
  {
    if (component < 0)
    {
      return magnitude(tuple, static_cast<std::size_t>(components));
    }
  }
  return static_cast<V>(tuple[component]);
}

/// Returns the values of a key for `count` tuples; `values` has space for them unless the tuples
/// already are the requested values.
template <class T, class V>
[[nodiscard]] const V* key_values(
  const T* tuples, std::size_t count, int components, int component, std::vector<V>& values)
{
  if constexpr (std::is_same_v<T, V>)
  {
    if (components == 1)
    {
      return tuples;
    }
  }
  const auto step = static_cast<std::size_t>(components);
  values.resize(count);
  for (std::size_t i = 0; i != count; ++i)
  {
    values[i] = key_value<T, V>(&tuples[i * step], components, component);
  }
  return values.data();
}
}
