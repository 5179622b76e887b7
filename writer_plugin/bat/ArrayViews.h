// SPDX-License-Identifier: BSD-3-Clause
// Passes VTK arrays to the writer: borrowed if possible, else copied.
#ifndef ArrayViews_h
#define ArrayViews_h

#include "bat/particles.hpp"

#include "vtkType.h"

#include <cstddef>
#include <memory>
#include <vector>

class vtkDataArray;

namespace bat_vtk
{
/// Owns the memory of views that do not borrow it.
using Storage = std::vector<std::shared_ptr<void>>;

/// Returns zeroed memory.
std::byte* Allocate(std::size_t bytes, Storage& storage);

/// Views an array of a type that ToScalarType() knows.
bat::ArrayView MakeView(vtkDataArray* array, Storage& storage);

/// Copies component `c` of `count` values from number `first` on, as float or double, `outStride`
/// values apart.
template <typename Out>
void ConvertComponent(const bat::ArrayView& view, int c, std::size_t first, std::size_t count,
  Out* out, std::size_t outStride);

/// Copies `count` tuples from number `first` on, packed, bit for bit.
void PackTuples(const bat::ArrayView& view, std::size_t first, std::size_t count, std::byte* out);

/// Copies the tuples at `places`, packed, bit for bit.
bat::ArrayView GatherTuples(
  const bat::ArrayView& view, const std::vector<vtkIdType>& places, Storage& storage);
}

#endif
