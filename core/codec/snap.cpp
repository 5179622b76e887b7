// SPDX-License-Identifier: BSD-3-Clause
#include "codec/snap.hpp"

#include "bat/error.hpp"
#include "codec/grid_loops.hpp"

#include <fmt/format.h>

#include <cmath>

namespace bat::codec
{
std::size_t snap(const ColumnShape& shape, double bound, void* values, std::size_t count)
{
  check(shape);
  if (!(bound > 0) || !std::isfinite(grid_step(bound)))
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("error bound {} is out of range; allowed are positive numbers up to half of "
                  "the largest",
        bound));
  }
  const std::size_t numbers = count * shape.components;
  switch (shape.type)
  {
    case ScalarType::Float32:
      return snap_numbers(bound, static_cast<float*>(values), numbers);
    case ScalarType::Float64:
      return snap_numbers(bound, static_cast<double*>(values), numbers);
    default:
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("an error bound for a column of {}; allowed are float32 and float64",
          name_of(shape.type)));
  }
}
}
