// SPDX-License-Identifier: BSD-3-Clause
#include "arrays.hpp"

#include <algorithm>
#include <cstring>

namespace bat::catalyst
{
namespace
{
bool is_signed_integer(ScalarType type) noexcept
{
  return type == ScalarType::Int8 || type == ScalarType::Int16 || type == ScalarType::Int32 ||
    type == ScalarType::Int64;
}

// Returns the type that holds all values; float64 if no integer type does.
ScalarType common_type(const std::vector<Numbers>& components) noexcept
{
  const auto all = [&](auto&& holds)
  {
    return std::all_of(
      components.begin(), components.end(), [&](const Numbers& c) { return holds(c.type); });
  };
  const ScalarType first = components.front().type;
  if (all([&](ScalarType type) { return type == first; }))
  {
    return first;
  }
  if (all([](ScalarType type) { return is_integer(type) && !is_signed_integer(type); }))
  {
    return ScalarType::UInt64;
  }
  return all([](ScalarType type) { return is_integer(type) && type != ScalarType::UInt64; })
    ? ScalarType::Int64
    : ScalarType::Float64;
}

bool can_borrow(const std::vector<Numbers>& components, const Order& order) noexcept
{
  const Numbers& first = components.front();
  return order.values.empty() &&
    std::all_of(components.begin(), components.end(),
      [&](const Numbers& c)
      { return c.type == first.type && c.stride_bytes == first.stride_bytes; });
}

ArrayView borrowed(const std::vector<Numbers>& components) noexcept
{
  ArrayView view;
  view.type = components.front().type;
  view.components = static_cast<int>(components.size());
  view.stride_bytes = components.front().stride_bytes;
  for (std::size_t c = 0; c != components.size(); ++c)
  {
    view.component[c] = components[c].data;
  }
  return view;
}

template <class T, class Read>
void convert(const Order& order, std::byte* out, std::size_t row_bytes, Read&& read)
{
  for (std::uint64_t i = 0; i != order.particles; ++i)
  {
    const T value = read(order.value_of(i));
    std::memcpy(out + i * row_bytes, &value, sizeof(T));
  }
}

void copy_column(
  const Numbers& from, const Order& order, ScalarType type, std::byte* out, std::size_t row_bytes)
{
  if (from.type == type)
  {
    const std::size_t size = size_of(type);
    for (std::uint64_t i = 0; i != order.particles; ++i)
    {
      std::memcpy(out + i * row_bytes, from.data + order.value_of(i) * from.stride_bytes, size);
    }
  }
  else if (type == ScalarType::Float64)
  {
    convert<double>(order, out, row_bytes, [&](std::uint64_t i) { return float64_at(from, i); });
  }
  else
  {
    // int64 and uint64 have the same bits.
    convert<std::int64_t>(
      order, out, row_bytes, [&](std::uint64_t i) { return int64_at(from, i); });
  }
}
}

std::byte* Arrays::room(std::size_t bytes)
{
  return this->copies_.emplace_back(std::make_unique<std::byte[]>(bytes)).get();
}

ArrayView Arrays::packed(
  const std::vector<Numbers>& components, const Order& order, ScalarType type, int columns)
{
  const std::size_t size = size_of(type);
  const std::size_t row_bytes = size * static_cast<std::size_t>(columns);
  std::byte* out = this->room(order.particles * row_bytes);
  for (std::size_t c = 0; c != components.size(); ++c)
  {
    copy_column(components[c], order, type, out + c * size, row_bytes);
  }
  return ArrayView::packed(type, columns, out);
}

ArrayView Arrays::attribute(const std::vector<Numbers>& components, const Order& order)
{
  return can_borrow(components, order)
    ? borrowed(components)
    : this->packed(components, order, common_type(components), static_cast<int>(components.size()));
}

ArrayView Arrays::positions(const std::vector<Numbers>& axes, const Order& order)
{
  const ScalarType common = common_type(axes);
  if (axes.size() == 3 && !is_integer(common) && can_borrow(axes, order))
  {
    return borrowed(axes);
  }
  return this->packed(axes, order, is_integer(common) ? ScalarType::Float64 : common, 3);
}
}
