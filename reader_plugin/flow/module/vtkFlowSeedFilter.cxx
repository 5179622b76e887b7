// SPDX-License-Identifier: BSD-3-Clause
#include "vtkFlowSeedFilter.h"

#include "FlowFields.h"

#include "vtkDataObject.h"
#include "vtkInformation.h"

#include <sstream>

//------------------------------------------------------------------------------
vtkFlowSeedFilter::vtkFlowSeedFilter()
{
  this->SetNumberOfInputPorts(2);
}

//------------------------------------------------------------------------------
vtkFlowSeedFilter::~vtkFlowSeedFilter() = default;

//------------------------------------------------------------------------------
void vtkFlowSeedFilter::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "Backward: " << (this->Backward ? "on" : "off") << "\n";
  os << indent << "LimitTimes: " << (this->LimitTimes ? "on" : "off") << "\n";
  os << indent << "StartTime: " << this->StartTime << "\n";
  os << indent << "EndTime: " << this->EndTime << "\n";
}

//------------------------------------------------------------------------------
void vtkFlowSeedFilter::SetSourceConnection(vtkAlgorithmOutput* seeds)
{
  this->SetInputConnection(1, seeds);
}

//------------------------------------------------------------------------------
int vtkFlowSeedFilter::FillOutputPortInformation(int, vtkInformation* info)
{
  info->Set(vtkDataObject::DATA_TYPE_NAME(), "vtkPolyData");
  return 1;
}

//------------------------------------------------------------------------------
void vtkFlowSeedFilter::Describe(vtkFlowSource* flow, vtkInformation* outInfo)
{
  outInfo->Set(CAN_HANDLE_PIECE_REQUEST(), 1);
  if (flow && this->ShowsPresentTime())
  {
    bat_vtk::AnnounceTimes(outInfo, flow->GetSource()->times());
  }
}

//------------------------------------------------------------------------------
std::array<double, 2> vtkFlowSeedFilter::Times(const std::vector<double>& times) const
{
  const double start = this->LimitTimes ? this->StartTime : times.front();
  const double end = this->LimitTimes ? this->EndTime : times.back();
  const bool isSteady = times.size() == 1;
  const bool isWithin = (start >= times.front() || (isSteady && this->Backward)) &&
    (end <= times.back() || (isSteady && !this->Backward));
  if (!(start < end && isWithin))
  {
    std::ostringstream text;
    text << "Start Time is " << start << " and End Time " << end
         << "; StartTime must be before EndTime, and ";
    if (isSteady)
    {
      text << "neither " << (this->Backward ? "after " : "before ") << times.front()
           << ", the time of a steady flow";
    }
    else
    {
      text << "the series has times from " << times.front() << " to " << times.back();
    }
    bat_vtk::Refuse(text.str());
  }
  return { start, end };
}
