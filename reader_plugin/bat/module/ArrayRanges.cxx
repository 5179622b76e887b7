// SPDX-License-Identifier: BSD-3-Clause
#include "ArrayRanges.h"

#include "vtkDataArray.h"
#include "vtkInformation.h"
#include "vtkInformationDoubleVectorKey.h"
#include "vtkInformationInformationVectorKey.h"
#include "vtkInformationVector.h"
#include "vtkNew.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

namespace
{
constexpr double Infinite = std::numeric_limits<double>::infinity();

// Computes the range of the values of `at`; NaN compares as neither less nor greater. Uses lanes,
// because each step of a single minimum waits for the one before.
template <typename T, typename At>
std::array<T, 2> ComputeRange(vtkIdType rows, const At& at)
{
  constexpr vtkIdType lanes = 8;
  std::array<T, 2> range = { std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest() };
  if constexpr (std::numeric_limits<T>::has_infinity)
  {
    range = { std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity() };
  }
  std::array<T, lanes> lower;
  std::array<T, lanes> upper;
  lower.fill(range[0]);
  upper.fill(range[1]);
  const auto take = [&](vtkIdType lane, T value)
  {
    lower[lane] = value < lower[lane] ? value : lower[lane];
    upper[lane] = value > upper[lane] ? value : upper[lane];
  };
  vtkIdType row = 0;
  for (; row + lanes <= rows; row += lanes)
  {
    for (vtkIdType lane = 0; lane < lanes; ++lane)
    {
      take(lane, at(row + lane));
    }
  }
  for (; row < rows; ++row)
  {
    take(0, at(row));
  }
  return { *std::min_element(lower.begin(), lower.end()),
    *std::max_element(upper.begin(), upper.end()) };
}
}

//------------------------------------------------------------------------------
template <typename T>
void bat_vtk::ArrayRanges::ExtendWith(const T* values, vtkIdType rows)
{
  const auto count = static_cast<vtkIdType>(this->Components.size());
  const auto extend = [rows](Ranges& ranges, const auto& at)
  {
    using V = std::decay_t<decltype(at(0))>;
    const auto widen = [](Range& range, const std::array<V, 2>& by)
    {
      range.Lower = std::min(range.Lower, static_cast<double>(by[0]));
      range.Upper = std::max(range.Upper, static_cast<double>(by[1]));
    };
    const std::array<V, 2> all = ComputeRange<V>(rows, at);
    if (all[0] > all[1])
    {
      return; // no numbers
    }
    widen(ranges.All, all);
    if constexpr (std::numeric_limits<V>::has_infinity)
    {
      if (!std::isfinite(all[0]) || !std::isfinite(all[1]))
      {
        const auto finite = [&at](vtkIdType row)
        {
          const V value = at(row);
          return std::isfinite(value) ? value : std::numeric_limits<V>::quiet_NaN();
        };
        const std::array<V, 2> some = ComputeRange<V>(rows, finite);
        if (some[0] <= some[1])
        {
          widen(ranges.Finite, some);
        }
        return;
      }
    }
    widen(ranges.Finite, all);
  };
  for (vtkIdType c = 0; c < count; ++c)
  {
    extend(this->Components[c], [=](vtkIdType row) { return values[row * count + c]; });
  }
  if (count > 1)
  {
    extend(this->Squares,
      [=](vtkIdType row)
      {
        double sum = 0.0;
        for (vtkIdType c = 0; c < count; ++c)
        {
          const auto value = static_cast<double>(values[row * count + c]);
          sum += value * value;
        }
        return sum;
      });
  }
}

//------------------------------------------------------------------------------
void bat_vtk::ArrayRanges::Extend(vtkDataArray* array, vtkIdType first)
{
  if (this->Components.empty())
  {
    const Range nothing = { Infinite, -Infinite };
    this->Components.assign(array->GetNumberOfComponents(), { nothing, nothing });
    this->Squares = { nothing, nothing };
  }
  const vtkIdType rows = array->GetNumberOfTuples() - first;
  const vtkIdType values = first * array->GetNumberOfComponents();
  switch (array->GetDataType())
  {
    vtkTemplateMacro(
      this->ExtendWith(static_cast<const VTK_TT*>(array->GetVoidPointer(values)), rows));
    default:
      this->Components.clear();
  }
}

//------------------------------------------------------------------------------
std::optional<std::array<double, 6>> bat_vtk::ArrayRanges::Bounds() const
{
  std::array<double, 6> bounds;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    const Range& range = this->Components.at(axis).All;
    if (!(range.Lower <= range.Upper))
    {
      return std::nullopt;
    }
    bounds[2 * axis] = range.Lower;
    bounds[2 * axis + 1] = range.Upper;
  }
  return bounds;
}

//------------------------------------------------------------------------------
void bat_vtk::ArrayRanges::Store(vtkDataArray* array) const
{
  if (this->Components.empty())
  {
    return;
  }
  vtkInformation* info = array->GetInformation();
  const auto store =
    [](vtkInformation* to, vtkInformationDoubleVectorKey* key, double lower, double upper)
  {
    const double range[2] = { lower, upper };
    to->Set(key, range, 2);
  };
  const auto storeAll = [&](vtkInformationInformationVectorKey* key,
                          vtkInformationDoubleVectorKey* normKey, Range Ranges::*which)
  {
    for (const Ranges& ranges : this->Components)
    {
      if (!((ranges.*which).Lower <= (ranges.*which).Upper))
      {
        return; // leaves the result for empty arrays to VTK
      }
    }
    vtkNew<vtkInformationVector> perComponent;
    perComponent->SetNumberOfInformationObjects(static_cast<int>(this->Components.size()));
    for (std::size_t c = 0; c < this->Components.size(); ++c)
    {
      const Range& range = this->Components[c].*which;
      store(perComponent->GetInformationObject(static_cast<int>(c)),
        vtkDataArray::COMPONENT_RANGE(), range.Lower, range.Upper);
    }
    info->Set(key, perComponent);
    const Range& squares = this->Squares.*which;
    if (std::isfinite(this->Squares.All.Lower) && std::isfinite(this->Squares.All.Upper))
    {
      store(info, normKey, std::sqrt(squares.Lower), std::sqrt(squares.Upper));
    }
  };
  storeAll(vtkAbstractArray::PER_COMPONENT(), vtkDataArray::L2_NORM_RANGE(), &Ranges::All);
  storeAll(vtkAbstractArray::PER_FINITE_COMPONENT(), vtkDataArray::L2_NORM_FINITE_RANGE(),
    &Ranges::Finite);
}
