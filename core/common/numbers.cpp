// SPDX-License-Identifier: BSD-3-Clause
#include "common/numbers.hpp"

#include "bat/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

namespace bat
{
std::size_t size_of(ScalarType type) noexcept
{
  return dispatch(type, [](auto value) { return sizeof(value); });
}

std::string_view name_of(ScalarType type) noexcept
{
  static constexpr std::string_view kNames[] = { "unknown", "int8", "uint8", "int16", "uint16",
    "int32", "uint32", "int64", "uint64", "float32", "float64" };
  const auto code = static_cast<std::size_t>(type);
  return code < std::size(kNames) ? kNames[code] : kNames[0];
}

ValueClass value_class(ScalarType type) noexcept
{
  return dispatch(type,
    [](auto value)
    {
      using V = ClassOf<decltype(value)>;
      return std::is_same_v<V, double>    ? ValueClass::Float
        : std::is_same_v<V, std::int64_t> ? ValueClass::Signed
                                          : ValueClass::Unsigned;
    });
}

Number number_from_bits(std::uint64_t bits, ValueClass type) noexcept
{
  return dispatch(type, [bits](auto value) -> Number { return from_bits<decltype(value)>(bits); });
}

Number parse_number(std::string_view text)
{
  while (!text.empty() && text.front() == ' ')
  {
    text.remove_prefix(1);
  }
  while (!text.empty() && text.back() == ' ')
  {
    text.remove_suffix(1);
  }
  if (text.size() > 1 && text.front() == '+' && text[1] != '-')
  {
    text.remove_prefix(1);
  }
  const char* end = text.data() + text.size();
  const auto parse = [&](auto& value)
  {
    const auto result = std::from_chars(text.data(), end, value);
    return !text.empty() && result.ec == std::errc() && result.ptr == end;
  };
  std::int64_t i = 0;
  if (parse(i))
  {
    return i;
  }
  std::uint64_t u = 0;
  if (parse(u))
  {
    return u;
  }
  double d = 0;
  if (parse(d))
  {
    return d;
  }
  throw Error(ErrorCode::InvalidArgument, fmt::format("'{}' is not a number", text));
}

std::string to_string(const Number& number)
{
  return std::visit([](auto value) { return fmt::format("{}", value); }, number);
}

double to_double(const Number& number) noexcept
{
  return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

bool is_nan(const Number& number) noexcept
{
  const double* d = std::get_if<double>(&number);
  return d && std::isnan(*d);
}

namespace
{
template <class T>
int three_way(T a, T b) noexcept
{
  return a < b ? -1 : a > b ? 1 : 0;
}

int compare_double_int(double d, __int128 i) noexcept
{
  // All 64-bit integers are strictly inside this range, in which conversion to __int128 is exact.
  constexpr double kBeyondInt64 = 36893488147419103232.0; // 2^65
  if (d >= kBeyondInt64)
  {
    return 1;
  }
  if (d <= -kBeyondInt64)
  {
    return -1;
  }
  const double whole = std::floor(d);
  const int order = three_way<__int128>(static_cast<__int128>(whole), i);
  return order == 0 && d > whole ? 1 : order;
}

double double_not_below(const Number& number) noexcept
{
  const double d = to_double(number);
  return compare(d, number) < 0 ? std::nextafter(d, std::numeric_limits<double>::infinity()) : d;
}

double double_not_above(const Number& number) noexcept
{
  const double d = to_double(number);
  return compare(d, number) > 0 ? std::nextafter(d, -std::numeric_limits<double>::infinity()) : d;
}

// The number must be inside the range of V; `round` rounds a double to an integer.
template <class V, class Round>
V to_integer(const Number& number, Round round) noexcept
{
  return std::visit(
    [round](auto value)
    {
      if constexpr (std::is_same_v<decltype(value), double>)
      {
        return static_cast<V>(round(value));
      }
      else
      {
        return static_cast<V>(value);
      }
    },
    number);
}
}

int compare(const Number& a, const Number& b) noexcept
{
  return std::visit(
    [](auto x, auto y) -> int
    {
      constexpr bool x_float = std::is_same_v<decltype(x), double>;
      constexpr bool y_float = std::is_same_v<decltype(y), double>;
      if constexpr (x_float && y_float)
      {
        return three_way(x, y);
      }
      else if constexpr (x_float)
      {
        return compare_double_int(x, y);
      }
      else if constexpr (y_float)
      {
        return -compare_double_int(y, x);
      }
      else
      {
        return three_way<__int128>(x, y);
      }
    },
    a, b);
}

template <class V>
ClassRange<V> to_class(const Number& lower, const Number& upper) noexcept
{
  if constexpr (std::is_same_v<V, double>)
  {
    return { double_not_below(lower), double_not_above(upper), false };
  }
  else
  {
    const Number minimum = std::numeric_limits<V>::min();
    const Number maximum = std::numeric_limits<V>::max();
    ClassRange<V> range{ std::numeric_limits<V>::min(), std::numeric_limits<V>::max(), false };
    if (compare(lower, maximum) > 0 || compare(upper, minimum) < 0)
    {
      range.empty = true;
      return range;
    }
    if (compare(lower, minimum) > 0)
    {
      range.lower = to_integer<V>(lower, [](double d) { return std::ceil(d); });
    }
    if (compare(upper, maximum) < 0)
    {
      range.upper = to_integer<V>(upper, [](double d) { return std::floor(d); });
    }
    range.empty = range.lower > range.upper; // e.g. [1.2, 1.8]
    return range;
  }
}
template ClassRange<double> to_class(const Number&, const Number&) noexcept;
template ClassRange<std::int64_t> to_class(const Number&, const Number&) noexcept;
template ClassRange<std::uint64_t> to_class(const Number&, const Number&) noexcept;
}
