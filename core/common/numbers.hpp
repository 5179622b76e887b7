// SPDX-License-Identifier: BSD-3-Clause
// Value classes (FORMAT.md section 2) and comparisons across them that never round.
#pragma once

#include "bat/types.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace bat
{
enum class ValueClass
{
  Float,   ///< f64
  Signed,  ///< i64
  Unsigned ///< u64
};

[[nodiscard]] ValueClass value_class(ScalarType type) noexcept;

/// Returns a number below 0, 0, or above 0 for a < b, a == b, a > b on the real line. Neither may
/// be NaN.
[[nodiscard]] int compare(const Number& a, const Number& b) noexcept;
[[nodiscard]] bool is_nan(const Number& number) noexcept;

/// A closed range in the class V = double, int64_t or uint64_t that holds exactly the values of the
/// class in the real range.
template <class V>
struct ClassRange
{
  using Value = V;
  V lower;
  V upper;
  bool empty = false;
};
template <class V>
[[nodiscard]] ClassRange<V> to_class(const Number& lower, const Number& upper) noexcept;

/// Converts a value to the bits stored in 8 bytes, and back.
template <class V>
[[nodiscard]] std::uint64_t to_bits(V value) noexcept
{
  static_assert(sizeof(V) == 8);
  std::uint64_t bits;
  std::memcpy(&bits, &value, 8);
  return bits;
}
template <class V>
[[nodiscard]] V from_bits(std::uint64_t bits) noexcept
{
  static_assert(sizeof(V) == 8);
  V value;
  std::memcpy(&value, &bits, 8);
  return value;
}
[[nodiscard]] Number number_from_bits(std::uint64_t bits, ValueClass type) noexcept;

/// Returns the magnitude of one particle's components: the formula of FORMAT.md section 11, in its
/// order.
template <class T>
[[nodiscard]] double magnitude(const T* components, std::size_t count) noexcept
{
  auto v = static_cast<double>(components[0]);
  double sum = v * v;
  for (std::size_t c = 1; c != count; ++c)
  {
    v = static_cast<double>(components[c]);
    sum += v * v;
  }
  return std::sqrt(sum);
}

/// Calls f with a value of the C++ type named by `type`.
template <class F>
decltype(auto) dispatch(ScalarType type, F&& f)
{
  switch (type)
  {
    case ScalarType::Int8:
      return f(std::int8_t{});
    case ScalarType::UInt8:
      return f(std::uint8_t{});
    case ScalarType::Int16:
      return f(std::int16_t{});
    case ScalarType::UInt16:
      return f(std::uint16_t{});
    case ScalarType::Int32:
      return f(std::int32_t{});
    case ScalarType::UInt32:
      return f(std::uint32_t{});
    case ScalarType::Int64:
      return f(std::int64_t{});
    case ScalarType::UInt64:
      return f(std::uint64_t{});
    case ScalarType::Float32:
      return f(float{});
    case ScalarType::Float64:
      break;
  }
  return f(double{});
}

/// Calls f with a value of the C++ type of a class.
template <class F>
decltype(auto) dispatch(ValueClass type, F&& f)
{
  switch (type)
  {
    case ValueClass::Signed:
      return f(std::int64_t{});
    case ValueClass::Unsigned:
      return f(std::uint64_t{});
    case ValueClass::Float:
      break;
  }
  return f(double{});
}

/// The class type of a scalar type.
template <class T>
using ClassOf = std::conditional_t<std::is_floating_point_v<T>, double,
  std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;
}
