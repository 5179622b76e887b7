#include "common/codec/snap.hpp"

#include "bat/error.hpp"
#include "common/codec/grid_point.hpp"

#include <fmt/format.h>

#include <cmath>

namespace bat::codec
{
namespace
{
template <class T>
std::size_t snap_numbers(double bound, T* numbers, std::size_t count) noexcept
{
  const double step = grid_step(bound);
  std::size_t kept = 0;
  for (std::size_t i = 0; i != count; ++i)
  {
    const T point = nearest_grid_point(numbers[i], step);
    const bool near = is_within(static_cast<double>(point), static_cast<double>(numbers[i]), bound);
    kept += !near;
    numbers[i] = near ? point : numbers[i];
  }
  return kept;
}
}

std::size_t snap(const ColumnShape& shape, double bound, void* values, std::size_t count)
{
  check(shape);
  if (!(bound > 0) || !std::isfinite(grid_step(bound)))
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("error bound {}: allowed are positive numbers up to half of the largest", bound));
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
        fmt::format(
          "error bound of a column of {}: allowed are float32 and float64", name_of(shape.type)));
  }
}
}
