// SPDX-License-Identifier: BSD-3-Clause
// The value of the key (fields): names, types and options.
#pragma once

#include "bat/idx/header.hpp"
#include "bat/types.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bat::idx::format
{
/// A text of 1 MiB holds hardly more.
inline constexpr std::size_t kMaxFields = 100000;

/// `decisive`: no block header records its packing (arco), so the options must be known ones.
/// Throws Refused.
[[nodiscard]] std::vector<Field> parse_fields(std::string_view text, bool decisive);
[[nodiscard]] std::string fields_text(const std::vector<Field>& fields, bool pidx);

/// Stores the value as `type` in the size_of(type) bytes at `to`. Returns false if an integer type
/// cannot hold it.
[[nodiscard]] bool store_number(const Number& number, ScalarType type, std::byte* to) noexcept;
}
