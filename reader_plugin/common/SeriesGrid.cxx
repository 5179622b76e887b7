// SPDX-License-Identifier: BSD-3-Clause
#include "SeriesGrid.h"

#include "vtkAlgorithm.h"
#include "vtkDataObject.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkMetaReader.h"
#include "vtkStreamingDemandDrivenPipeline.h"

#include <cmath>
#include <set>
#include <sstream>

namespace
{
using Pipeline = vtkStreamingDemandDrivenPipeline;

constexpr double Rounding = 1e-9; // share of a spacing

struct Grid
{
  double Origin[3] = { 0, 0, 0 };
  double Spacing[3] = { 1, 1, 1 };
  int Extent[6] = { 0, -1, 0, -1, 0, -1 }; ///< readers may not know that of one file

  // Returns false if the information does not define a grid.
  bool Get(vtkInformation* info)
  {
    if (!info || !info->Has(vtkDataObject::ORIGIN()) || !info->Has(vtkDataObject::SPACING()) ||
      !info->Has(Pipeline::WHOLE_EXTENT()))
    {
      return false;
    }
    info->Get(vtkDataObject::ORIGIN(), this->Origin);
    info->Get(vtkDataObject::SPACING(), this->Spacing);
    info->Get(Pipeline::WHOLE_EXTENT(), this->Extent);
    return true;
  }

  [[nodiscard]] bool IsLike(const Grid& other) const
  {
    bool is = true;
    for (int axis = 0; axis < 3; ++axis)
    {
      const double allowed = Rounding * std::abs(other.Spacing[axis]);
      const double cells = other.Extent[2 * axis + 1] - other.Extent[2 * axis] + 1;
      is = is && std::abs(this->Origin[axis] - other.Origin[axis]) <= allowed &&
        std::abs(this->Spacing[axis] - other.Spacing[axis]) * cells <= allowed;
    }
    return is;
  }

  [[nodiscard]] std::string Text() const
  {
    std::ostringstream text;
    text.precision(12);
    text << "origin " << this->Origin[0] << " " << this->Origin[1] << " " << this->Origin[2]
         << ", spacing " << this->Spacing[0] << " " << this->Spacing[1] << " " << this->Spacing[2];
    return text.str();
  }
};

std::string MovedGridOf(vtkMetaReader* series)
{
  vtkAlgorithm* reader = series->GetReader();
  vtkDataObject* data = series->GetOutputDataObject(0);
  // Other readers are not known to report the grid of each file.
  if (!reader || !reader->IsA("vtkXMLReader") || !data || !data->IsA("vtkImageData"))
  {
    return {};
  }
  reader->UpdateInformation();
  Grid given;
  Grid found;
  if (!given.Get(series->GetOutputInformation(0)) || !found.Get(reader->GetOutputInformation(0)) ||
    found.IsLike(given))
  {
    return {};
  }
  std::ostringstream text;
  text << "the file of this time step has a grid with " << found.Text();
  if (data->GetInformation()->Has(vtkDataObject::DATA_TIME_STEP()))
  {
    text << " (time " << data->GetInformation()->Get(vtkDataObject::DATA_TIME_STEP()) << ")";
  }
  text << ", but the reader of the series reports one with " << given.Text()
       << "; the grid of a flow must not change over time";
  return text.str();
}

std::string Look(vtkAlgorithm* algorithm, std::set<vtkAlgorithm*>& seen)
{
  if (!algorithm || !seen.insert(algorithm).second)
  {
    return {};
  }
  std::string found;
  if (auto* series = vtkMetaReader::SafeDownCast(algorithm))
  {
    found = MovedGridOf(series);
  }
  for (int port = 0; found.empty() && port < algorithm->GetNumberOfInputPorts(); ++port)
  {
    for (int i = 0; found.empty() && i < algorithm->GetNumberOfInputConnections(port); ++i)
    {
      found = Look(algorithm->GetInputAlgorithm(port, i), seen);
    }
  }
  return found;
}
}

//------------------------------------------------------------------------------
std::string bat_vtk::MovedGridAbove(vtkAlgorithm* producer)
{
  std::set<vtkAlgorithm*> seen;
  return Look(producer, seen);
}
