// SPDX-License-Identifier: BSD-3-Clause
#include "codec/column_shape.hpp"

#include "bat/error.hpp"

#include <fmt/format.h>

namespace bat::codec
{
void check(const ColumnShape& shape)
{
  const auto type = static_cast<unsigned>(shape.type);
  if (type < static_cast<unsigned>(ScalarType::Int8) ||
    type > static_cast<unsigned>(ScalarType::Float64))
  {
    throw Error(ErrorCode::InvalidArgument, fmt::format("a column has scalar type {}", type));
  }
  if (shape.components < 1 || shape.components > static_cast<std::uint32_t>(kMaxComponents))
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format(
        "a column has {} components; allowed are 1 to {}", shape.components, kMaxComponents));
  }
}
}
