// SPDX-License-Identifier: BSD-3-Clause
#include "idx/format/geometry.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

namespace bat::idx::format
{
namespace
{
// Origin and spacing of a matrix that only scales by positive factors and translates.
std::optional<Geometry> of_matrix(const std::array<double, 16>& matrix, const LogicalBox& box)
{
  Geometry geometry;
  for (std::size_t row = 0; row != 4; ++row)
  {
    for (std::size_t column = 0; column != 3; ++column)
    {
      const double value = matrix[4 * row + column];
      if (row != column && value != 0)
      {
        return std::nullopt;
      }
      if (row == column)
      {
        const bool flat = value == 0 && box.lower[row] == box.upper[row];
        if (!flat && !(value > 0))
        {
          return std::nullopt;
        }
        geometry.spacing[row] = flat ? 1 : value;
        geometry.origin[row] = matrix[4 * row + 3];
      }
    }
  }
  return matrix[15] == 1 ? std::optional(geometry) : std::nullopt;
}
}

Geometry compute_geometry(const Header& header)
{
  Geometry geometry;
  if (header.physic_box)
  {
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      const std::int64_t first = header.box.lower[axis];
      const std::int64_t samples = header.box.upper[axis] - first + 1;
      const double lower = (*header.physic_box)[2 * axis];
      const double size = (*header.physic_box)[2 * axis + 1] - lower;
      const double spacing = size / static_cast<double>(samples);
      const bool flat = samples == 1 && size == 0;
      if (!flat && !(std::isfinite(spacing) && spacing > 0))
      {
        geometry = {};
        geometry.warning = fmt::format("(physic_box) has size {} along axis {}, which has {} "
                                       "samples; sizes must be above 0, so samples are placed at "
                                       "their logical coordinates",
          size, axis, samples);
        break;
      }
      geometry.spacing[axis] = flat ? 1 : spacing;
      geometry.origin[axis] = lower - static_cast<double>(first) * geometry.spacing[axis];
    }
  }
  else if (header.logic_to_physic)
  {
    const std::optional<Geometry> found = of_matrix(*header.logic_to_physic, header.box);
    geometry = found.value_or(geometry);
    if (!found)
    {
      geometry.warning = "(logic_to_physic) is more than a positive scale and a translation, so "
                         "samples are placed at their logical coordinates";
    }
  }
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    geometry.origin[axis] +=
      static_cast<double>(header.partition_offset[axis]) * geometry.spacing[axis];
  }
  return geometry;
}

void set_geometry(
  Header& header, const std::array<double, 3>& origin, const std::array<double, 3>& spacing)
{
  const auto is_right = [&]
  {
    const Geometry geometry = compute_geometry(header);
    return geometry.origin == origin && geometry.spacing == spacing && geometry.warning.empty();
  };
  header.physic_box.reset();
  header.logic_to_physic.reset();
  if (is_right())
  {
    return;
  }
  header.physic_box.emplace();
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    const auto first = static_cast<double>(header.box.lower[axis]);
    const auto end = static_cast<double>(header.box.upper[axis] + 1);
    (*header.physic_box)[2 * axis] = origin[axis] + first * spacing[axis];
    (*header.physic_box)[2 * axis + 1] = origin[axis] + end * spacing[axis];
  }
  if (is_right())
  {
    return;
  }
  // Sizes lose precision if a small grid lies far from 0; a matrix keeps both numbers exactly.
  header.physic_box.reset();
  std::array<double, 16> matrix{};
  matrix[15] = 1;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    matrix[5 * axis] = spacing[axis];
    matrix[4 * axis + 3] = origin[axis];
  }
  header.logic_to_physic = matrix;
}
}
