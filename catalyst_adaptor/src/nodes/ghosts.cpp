// SPDX-License-Identifier: BSD-3-Clause
#include "ghosts.hpp"

#include "bat/error.hpp"

#include <fmt/format.h>

namespace bat::catalyst
{
namespace
{
// Bits of VTK's ghost array: duplicate and hidden, for points and for cells.
constexpr std::int64_t kDuplicate = 1;
constexpr std::int64_t kHiddenPoint = 2;
constexpr std::int64_t kHiddenCell = 32;
}

Ghosts ghosts_in(const Node& domain, const std::string& field)
{
  const auto fields = domain.find("state/metadata/vtk_fields");
  const auto kind = fields ? fields->child_named(field) : std::nullopt;
  const auto type = kind ? kind->find("attribute_type") : std::nullopt;
  if (field == "vtkGhostType" || (type && type->string().value_or("") == "Ghosts"))
  {
    return Ghosts::OfVtk;
  }
  return field == "ascent_ghosts" ? Ghosts::OfAscent : Ghosts::None;
}

void require_marks(const Numbers& marks, Ghosts kind, const std::string& path)
{
  if (kind == Ghosts::OfVtk && !is_integer(marks.type))
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format(
        "{} marks ghosts with {}; it must contain bits of an integer", path, name_of(marks.type)));
  }
}

bool is_hidden(const Numbers& marks, Ghosts kind, bool of_elements, std::uint64_t i)
{
  const std::int64_t hidden = of_elements ? kHiddenCell : kHiddenPoint;
  return kind == Ghosts::OfVtk && (int64_at(marks, i) & (hidden | kDuplicate)) == hidden;
}

bool is_marked(const Numbers& marks, Ghosts kind, bool of_elements, std::uint64_t i)
{
  if (!is_integer(marks.type))
  {
    return float64_at(marks, i) != 0;
  }
  const std::int64_t bits =
    kind == Ghosts::OfAscent ? -1 : kDuplicate | (of_elements ? kHiddenCell : kHiddenPoint);
  return (int64_at(marks, i) & bits) != 0;
}
}
