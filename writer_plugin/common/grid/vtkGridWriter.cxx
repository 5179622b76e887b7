// SPDX-License-Identifier: BSD-3-Clause
#include "vtkGridWriter.h"

#include "WriterRanks.h"
#include "vtkBATErrors.h"

#include "bat/error.hpp"
#ifdef BAT_WRITER_HAS_MPI
#include "bat/ranks.hpp"
#endif

#include "vtkAlgorithm.h"
#include "vtkErrorCode.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkMultiProcessController.h"
#include "vtkStreamingDemandDrivenPipeline.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

using Pipeline = vtkStreamingDemandDrivenPipeline;

//------------------------------------------------------------------------------
vtkCxxSetObjectMacro(vtkGridWriter, Controller, vtkMultiProcessController);

//------------------------------------------------------------------------------
vtkGridWriter::vtkGridWriter()
{
  this->SetController(vtkMultiProcessController::GetGlobalController());
}

//------------------------------------------------------------------------------
vtkGridWriter::~vtkGridWriter()
{
  this->SetController(nullptr);
  this->SetFileName(nullptr);
}

//------------------------------------------------------------------------------
void vtkGridWriter::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "FileName: " << (this->FileName ? this->FileName : "(none)") << "\n";
  os << indent << "OtherSteps: " << this->OtherSteps << "\n";
  os << indent << "WriteAllTimeSteps: " << (this->WriteAllTimeSteps ? "on" : "off") << "\n";
  os << indent << "TimeStep: " << this->TimeStep << "\n";
  os << indent << "Flush: " << (this->Flush ? "on" : "off") << "\n";
  os << indent << "Threads: " << this->Threads << "\n";
  os << indent << "Controller: " << this->Controller << "\n";
  os << indent << "Report: " << this->Report << "\n";
}

//------------------------------------------------------------------------------
int vtkGridWriter::ProcessRequest(
  vtkInformation* request, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  vtkInformation* input = inputVector[0]->GetInformationObject(0);
  if (request->Has(vtkDemandDrivenPipeline::REQUEST_INFORMATION()))
  {
    this->Times.clear();
    if (input->Has(Pipeline::TIME_STEPS()))
    {
      const double* times = input->Get(Pipeline::TIME_STEPS());
      this->Times.assign(times, times + input->Length(Pipeline::TIME_STEPS()));
    }
    return 1;
  }
  if (request->Has(Pipeline::REQUEST_UPDATE_EXTENT()))
  {
    if (this->Controller)
    {
      input->Set(Pipeline::UPDATE_PIECE_NUMBER(), this->Controller->GetLocalProcessId());
      input->Set(Pipeline::UPDATE_NUMBER_OF_PIECES(), this->Controller->GetNumberOfProcesses());
      input->Set(Pipeline::UPDATE_NUMBER_OF_GHOST_LEVELS(), 0);
    }
    if (this->WriteAllTimeSteps && this->Current < this->Times.size())
    {
      input->Set(Pipeline::UPDATE_TIME_STEP(), this->Times[this->Current]);
    }
    return 1;
  }
  const int result = this->Superclass::ProcessRequest(request, inputVector, outputVector);
  if (request->Has(vtkDemandDrivenPipeline::REQUEST_DATA()))
  {
    ++this->Current;
    const bool continues = this->WriteAllTimeSteps && this->ErrorCode == vtkErrorCode::NoError &&
      this->Current < this->Times.size();
    if (continues)
    {
      request->Set(Pipeline::CONTINUE_EXECUTING(), 1);
    }
    else
    {
      request->Remove(Pipeline::CONTINUE_EXECUTING());
      this->Current = 0;
    }
  }
  return result;
}

//------------------------------------------------------------------------------
int vtkGridWriter::FillInputPortInformation(int, vtkInformation* info)
{
  // The input may be any data set, so that a message can explain what is wrong. Composite data must
  // be named: the pipeline cannot loop over blocks for an algorithm without output.
  info->Set(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkDataSet");
  info->Append(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkCompositeDataSet");
  return 1;
}

//------------------------------------------------------------------------------
bool vtkGridWriter::IsFirst() const
{
  return !this->Controller || this->Controller->GetLocalProcessId() == 0;
}

//------------------------------------------------------------------------------
int vtkGridWriter::WhatBecomesOfSteps() const
{
  const bool isFurther = this->WriteAllTimeSteps && this->Current > 0;
  return this->OtherSteps == REMOVE && isFurther ? KEEP : this->OtherSteps;
}

//------------------------------------------------------------------------------
std::size_t vtkGridWriter::CountSteps() const
{
  return this->WriteAllTimeSteps && !this->Times.empty() ? this->Times.size() : 1;
}

//------------------------------------------------------------------------------
void vtkGridWriter::Fail(unsigned long code, const std::string& text)
{
  this->SetErrorCode(code);
  this->Report.clear();
  if (!this->IsFirst())
  {
    return; // all ranks have the same error; rank 0 reports it
  }
  const std::string name = this->FileName ? this->FileName : "";
  // The core names the file if it can.
  const bool named = name.empty() || text.find(name) != std::string::npos;
  vtkErrorMacro(<< (named ? text : name + ": " + text));
}

//------------------------------------------------------------------------------
void vtkGridWriter::Warn(const std::string& text)
{
  if (this->Warned.insert(text).second && this->IsFirst())
  {
    vtkWarningMacro(<< this->FileName << ": " << text);
  }
}

//------------------------------------------------------------------------------
void vtkGridWriter::Agree(
  const std::optional<bat::Error>& failure, std::vector<std::string> warnings)
{
#ifdef BAT_WRITER_HAS_MPI
  if (MPI_Comm* communicator = bat_vtk::CommunicatorOf(this->Controller))
  {
    bat::mpi::agree(*communicator, failure);
    warnings = bat::mpi::gather_names(*communicator, warnings);
  }
#endif
  if (failure)
  {
    throw bat::Error(*failure);
  }
  for (const std::string& warning : warnings)
  {
    this->Warn(warning);
  }
}

//------------------------------------------------------------------------------
std::function<bool(double)> vtkGridWriter::Progress()
{
  return [this](double fraction)
  {
    this->UpdateProgress(fraction);
    return !this->CheckAbort();
  };
}

//------------------------------------------------------------------------------
void vtkGridWriter::WriteData()
{
  this->SetErrorCode(vtkErrorCode::NoError);
  this->Report.clear();
  if (!this->FileName || !*this->FileName)
  {
    this->Fail(vtkErrorCode::NoFileNameError, "FileName must be set");
    return;
  }
  try
  {
    this->Report = this->WriteStep();
  }
  catch (...)
  {
    const bat::Error error = bat::current_error();
    this->Fail(bat_vtk::ToVTKErrorCode(error.code()), error.what());
  }
}
