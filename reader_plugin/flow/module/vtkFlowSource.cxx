// SPDX-License-Identifier: BSD-3-Clause
#include "vtkFlowSource.h"

#include "bat/error.hpp"
#include "vtkAlgorithm.h"
#include "vtkAlgorithmOutput.h"
#include "vtkInformation.h"
#include "vtkInformationObjectBaseKey.h"
#include "vtkInformationStringKey.h"
#include "vtkObjectFactory.h"
#include "vtkStreamingDemandDrivenPipeline.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>
#include <vector>

namespace
{
// Finds the information of the output to which a filter's port is connected, if it describes a
// flow.
vtkInformation* InformationOfInput(vtkAlgorithm* filter, int port)
{
  int output = 0;
  vtkAlgorithm* input = filter->GetNumberOfInputConnections(port) > 0
    ? filter->GetInputAlgorithm(port, 0, output)
    : nullptr;
  while (input)
  {
    vtkInformation* info = input->GetOutputInformation(output);
    if (info &&
      (info->Has(vtkFlowSource::FLOW_SOURCE()) || info->Has(vtkFlowSource::FLOW_PROBLEM())))
    {
      return info;
    }
    input = input->IsA("vtkPVPostFilter") && input->GetNumberOfInputConnections(0) > 0
      ? input->GetInputAlgorithm(0, 0, output)
      : nullptr;
  }
  return nullptr;
}

bool HasTimes(vtkInformation* info, const std::vector<double>& times)
{
  using Pipeline = vtkStreamingDemandDrivenPipeline;
  const auto count = static_cast<std::size_t>(
    info->Has(Pipeline::TIME_STEPS()) ? info->Length(Pipeline::TIME_STEPS()) : 0);
  return count == times.size() &&
    std::equal(times.begin(), times.end(), info->Get(Pipeline::TIME_STEPS()));
}
}

//------------------------------------------------------------------------------
vtkStandardNewMacro(vtkFlowSource);
vtkInformationKeyRestrictedMacro(vtkFlowSource, FLOW_SOURCE, ObjectBase, "vtkFlowSource");
vtkInformationKeyMacro(vtkFlowSource, FLOW_PROBLEM, String);

//------------------------------------------------------------------------------
vtkFlowSource::vtkFlowSource() = default;
vtkFlowSource::~vtkFlowSource() = default;

//------------------------------------------------------------------------------
void vtkFlowSource::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "Source: " << (this->Source ? this->Source->level_name(0) : "(none)") << "\n";
  os << indent << "Bytes of bricks: " << (this->Cache ? this->Cache->bytes() : 0) << " of "
     << this->Options.bytes << "\n";
  os << indent << "IOThreads: " << this->Options.io_threads << "\n";
}

//------------------------------------------------------------------------------
vtkFlowSource* vtkFlowSource::OfInput(vtkAlgorithm* filter, int port)
{
  vtkInformation* info = InformationOfInput(filter, port);
  vtkFlowSource* flow = info ? vtkFlowSource::SafeDownCast(info->Get(FLOW_SOURCE())) : nullptr;
  return flow && HasTimes(info, flow->GetSource()->times()) ? flow : nullptr;
}

//------------------------------------------------------------------------------
std::string vtkFlowSource::ProblemOfInput(vtkAlgorithm* filter, int port)
{
  vtkInformation* info = InformationOfInput(filter, port);
  if (info && info->Has(FLOW_PROBLEM()))
  {
    return info->Get(FLOW_PROBLEM());
  }
  return info && !OfInput(filter, port)
    ? "its time steps are in several files; a flow is one file with all time steps"
    : std::string();
}

//------------------------------------------------------------------------------
void vtkFlowSource::SetSource(std::shared_ptr<const bat::BrickSource> source)
{
  if (source != this->Source)
  {
    this->Cache.reset();
    this->Source = std::move(source);
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkFlowSource::SetCacheOptions(const bat::flow::CacheOptions& options)
{
  if (options.bytes != this->Options.bytes || options.io_threads != this->Options.io_threads ||
    options.hints_file != this->Options.hints_file)
  {
    this->Cache.reset();
    this->Options = options;
    this->Modified();
  }
}

//------------------------------------------------------------------------------
const bat::flow::Cache& vtkFlowSource::GetCache()
{
  if (!this->Cache)
  {
    bat::flow::Cache cache(this->Source, this->Options);
    if (this->Options.bytes != 0 && this->Options.bytes < cache.min_bytes())
    {
      constexpr double kMebibyte = 1 << 20;
      std::ostringstream text;
      text << "Cache Size is too small: " << static_cast<double>(this->Options.bytes) / kMebibyte
           << " MiB for bricks; allowed are at least "
           << std::ceil(static_cast<double>(cache.min_bytes()) / kMebibyte * 100) / 100
           << " MiB, or 0 for 512 MiB";
      throw bat::Error(bat::ErrorCode::InvalidArgument, text.str());
    }
    this->Cache.emplace(std::move(cache));
  }
  return *this->Cache;
}
