// SPDX-License-Identifier: BSD-3-Clause
// Converts a reader's settings to the conditions of a query.
#ifndef Conditions_h
#define Conditions_h

#include "bat/dataset.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace bat_vtk
{
constexpr std::size_t TextsOfRange = 3; ///< target, minimum, maximum

/// Adds ranges to a query as vtkBATReader::AddAttributeRange describes them. Throws bat::Error.
void AddRanges(const bat::Dataset& file, const std::vector<std::string>& texts, bat::Query& query);

/// True if two queries differ at most in quality, step and part.
bool SameConditions(const bat::Query& a, const bat::Query& b);

/// Returns a box whose axes are rotated by degrees about x, y and z, as vtkBATReader::SetRegion
/// describes.
bat::OrientedBox MakeOrientedBox(
  const double center[3], const double halfExtents[3], const double rotation[3]);
}

#endif
