// SPDX-License-Identifier: BSD-3-Clause
// Tracks the ranges of an array that grows at its end, so that VTK need not scan all of it again.
#ifndef ArrayRanges_h
#define ArrayRanges_h

#include "vtkType.h"

#include <array>
#include <optional>
#include <vector>

class vtkDataArray;

namespace bat_vtk
{
/// Computes what vtkDataArray::GetRange and GetFiniteRange return for each component, and for the
/// magnitude if all magnitudes are finite. NaN is not part of a range.
class ArrayRanges
{
public:
  /// Includes the values from row `first` on. Bit arrays are ignored.
  void Extend(vtkDataArray* array, vtkIdType first);
  /// Sets VTK's cached ranges of `array`, until it is modified (vtkAbstractArray::PER_COMPONENT,
  /// vtkDataArray::L2_NORM_RANGE and those for finite values).
  void Store(vtkDataArray* array) const;
  /// Lower and upper end of each of three components. Empty if one of them has no numbers.
  [[nodiscard]] std::optional<std::array<double, 6>> Bounds() const;

private:
  struct Range
  {
    double Lower;
    double Upper;
  };
  struct Ranges
  {
    Range All;
    Range Finite;
  };
  template <typename T>
  void ExtendWith(const T* values, vtkIdType rows);

  std::vector<Ranges> Components;
  Ranges Squares = {}; ///< squared magnitudes of vectors
};
}

#endif
