// SPDX-License-Identifier: BSD-3-Clause
// Scalar types, exact numbers and boxes, the small vocabulary of all other headers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace bat
{
/// Types of stored values. The numbers are those of FORMAT.md section 2 and never change.
enum class ScalarType : std::uint8_t
{
  Int8 = 1,
  UInt8 = 2,
  Int16 = 3,
  UInt16 = 4,
  Int32 = 5,
  UInt32 = 6,
  Int64 = 7,
  UInt64 = 8,
  Float32 = 9,
  Float64 = 10
};

/// Size of one value in bytes.
[[nodiscard]] std::size_t size_of(ScalarType type) noexcept;
/// Size of a packed value of several components in bytes.
[[nodiscard]] inline std::size_t tuple_bytes(ScalarType type, int components) noexcept
{
  return size_of(type) * static_cast<std::size_t>(components);
}
/// The name of a type: "int8" ... "float64".
[[nodiscard]] std::string_view name_of(ScalarType type) noexcept;

/// Maximum number of components of an attribute.
inline constexpr int kMaxComponents = 9;

/// A number without loss: ids beyond 2^53 do not fit in a double.
using Number = std::variant<double, std::int64_t, std::uint64_t>;

/// Parses a number. Decimal integers become int64 or uint64, all other numbers (including "inf")
/// double. Throws Error{InvalidArgument} for other text.
[[nodiscard]] Number parse_number(std::string_view text);
/// Returns the shortest text that reads back as the same number.
[[nodiscard]] std::string to_string(const Number& number);
/// Returns the nearest double.
[[nodiscard]] double to_double(const Number& number) noexcept;

/// Closed axis-aligned box: particles on its faces are inside. Ends may be infinite.
struct Box
{
  std::array<double, 3> lower{};
  std::array<double, 3> upper{};
};
}
