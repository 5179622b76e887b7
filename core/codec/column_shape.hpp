// SPDX-License-Identifier: BSD-3-Clause
// The shape of a column for codecs: the type of its numbers, and the number of them per value.
#pragma once

#include "bat/types.hpp"

#include <cstddef>
#include <cstdint>

namespace bat::codec
{
struct ColumnShape
{
  ScalarType type = ScalarType::Float32;
  std::uint32_t components = 1; ///< 1 to kMaxComponents

  [[nodiscard]] std::size_t value_bytes() const noexcept
  {
    return size_of(this->type) * this->components;
  }
};

/// Throws Error{InvalidArgument} for an unknown type or too many components.
void check(const ColumnShape& shape);
}
