// From what is set on a reader to the conditions of a query.
#ifndef Conditions_h
#define Conditions_h

#include "bat/dataset.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

class vtkBATReader;

namespace bat_vtk
{
constexpr std::size_t TextsOfRange = 3; ///< target, minimum, maximum

/// Adds ranges to a query as vtkBATReader::AddAttributeRange describes them. Throws bat::Error.
void AddRanges(const bat::Dataset& file, const std::vector<std::string>& texts, bat::Query& query);

/// Numbers and ranges as vtkBATReader::SetIds describes them. Throws bat::Error.
bat::AttributeValues ParseIds(std::string text);

/// The region of a reader. Empty if it has none.
std::optional<bat::Shape> RegionOf(vtkBATReader* reader);
}

#endif
