// SPDX-License-Identifier: BSD-3-Clause
#include "vtkFlowSource.h"

#include "vtkAlgorithm.h"
#include "vtkAlgorithmOutput.h"
#include "vtkInformation.h"
#include "vtkInformationObjectBaseKey.h"
#include "vtkObjectFactory.h"

#include <utility>

//------------------------------------------------------------------------------
vtkStandardNewMacro(vtkFlowSource);
vtkInformationKeyRestrictedMacro(vtkFlowSource, FLOW_SOURCE, ObjectBase, "vtkFlowSource");

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
  int output = 0;
  vtkAlgorithm* input = filter->GetNumberOfInputConnections(port) > 0
    ? filter->GetInputAlgorithm(port, 0, output)
    : nullptr;
  while (input)
  {
    vtkInformation* info = input->GetOutputInformation(output);
    if (info && info->Has(FLOW_SOURCE()))
    {
      return vtkFlowSource::SafeDownCast(info->Get(FLOW_SOURCE()));
    }
    input = input->IsA("vtkPVPostFilter") && input->GetNumberOfInputConnections(0) > 0
      ? input->GetInputAlgorithm(0, 0, output)
      : nullptr;
  }
  return nullptr;
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
  if (options.bytes != this->Options.bytes || options.io_threads != this->Options.io_threads)
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
    this->Cache.emplace(this->Source, this->Options);
  }
  return *this->Cache;
}
