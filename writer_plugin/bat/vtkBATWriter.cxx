// SPDX-License-Identifier: BSD-3-Clause
#include "vtkBATWriter.h"

#include "DataFacts.h"
#include "VTKToBAT.h"
#include "WriterRanks.h"
#include "vtkBATErrors.h"

#include "bat/error.hpp"
#include "bat/write_options.hpp"
#ifdef BAT_WRITER_HAS_MPI
#include "bat/mpi.hpp"
#endif

#include "vtkAlgorithm.h"
#include "vtkDataObject.h"
#include "vtkErrorCode.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkMultiProcessController.h"
#include "vtkObjectFactory.h"
#include "vtkStreamingDemandDrivenPipeline.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

//------------------------------------------------------------------------------
vtkStandardNewMacro(vtkBATWriter);
vtkCxxSetObjectMacro(vtkBATWriter, Controller, vtkMultiProcessController);

namespace
{
std::filesystem::path PathOf(const char* fileName)
{
  return std::filesystem::u8path(fileName);
}

std::string LowerCase(std::string text)
{
  for (char& letter : text)
  {
    letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  return text;
}

// Separates the key of a remark from its text.
constexpr char KeyEnd = '\0';

std::vector<std::string> KeysAndTexts(const std::vector<bat_vtk::Warning>& warnings)
{
  std::vector<std::string> remarks;
  for (const bat_vtk::Warning& warning : warnings)
  {
    std::string where;
    if (!warning.Block.empty())
    {
      where = warning.Block + (warning.Blocks > 1 ? " and others: " : ": ");
    }
    remarks.push_back(warning.Key + KeyEnd + where + warning.Text);
  }
  return remarks;
}
}

//------------------------------------------------------------------------------
vtkBATWriter::vtkBATWriter()
  : Options(std::make_unique<bat::WriteOptions>())
{
  this->SetController(vtkMultiProcessController::GetGlobalController());
}

//------------------------------------------------------------------------------
vtkBATWriter::~vtkBATWriter()
{
  this->SetController(nullptr);
  this->SetFileName(nullptr);
}

//------------------------------------------------------------------------------
void vtkBATWriter::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "FileName: " << (this->FileName ? this->FileName : "(none)") << "\n";
  os << indent << "XColumn: " << this->XColumn << "\n";
  os << indent << "YColumn: " << this->YColumn << "\n";
  os << indent << "ZColumn: " << this->ZColumn << "\n";
  os << indent << "BlockParticles: " << this->GetBlockParticles() << "\n";
  os << indent << "TreeletParticles: " << this->GetTreeletParticles() << "\n";
  os << indent << "Controller: " << this->Controller << "\n";
  os << indent << "LeafFileSize: " << this->LeafFileSize << "\n";
  os << indent << "Aggregation: " << this->GetAggregation() << "\n";
  os << indent << "WriteGhostParticles: " << this->WriteGhostParticles << "\n";
  os << indent << "TimeStep: " << this->TimeStep << "\n";
  os << indent << "SortedIndexes:";
  for (const std::string& attribute : this->Options->build.sorted_indexes)
  {
    os << " " << attribute;
  }
  os << "\n";
  os << indent << "Options: " << bat::to_json(*this->Options) << "\n";
  os << indent << "Report: " << this->Report << "\n";
}

//------------------------------------------------------------------------------
template <typename T>
void vtkBATWriter::SetMember(T& member, T value)
{
  if (member != value)
  {
    member = value;
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkBATWriter::SetBlockParticles(int particles)
{
  this->SetMember(
    this->Options->build.block_particles, static_cast<std::uint32_t>(std::max(0, particles)));
}

//------------------------------------------------------------------------------
int vtkBATWriter::GetBlockParticles() const
{
  return static_cast<int>(this->Options->build.block_particles);
}

//------------------------------------------------------------------------------
void vtkBATWriter::SetTreeletParticles(int particles)
{
  this->SetMember(
    this->Options->build.treelet_particles, static_cast<std::uint32_t>(std::max(0, particles)));
}

//------------------------------------------------------------------------------
int vtkBATWriter::GetTreeletParticles() const
{
  return static_cast<int>(this->Options->build.treelet_particles);
}

//------------------------------------------------------------------------------
void vtkBATWriter::SetAggregation(int type)
{
  this->SetMember(
    this->Options->mode, static_cast<bat::PlanMode>(std::clamp<int>(type, ADAPTIVE, UNIFORM_GRID)));
}

//------------------------------------------------------------------------------
int vtkBATWriter::GetAggregation() const
{
  return static_cast<int>(this->Options->mode);
}

//------------------------------------------------------------------------------
void vtkBATWriter::AddSortedIndex(const char* attribute)
{
  // A property without elements may set "".
  if (attribute && *attribute)
  {
    this->Options->build.sorted_indexes.emplace_back(attribute);
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkBATWriter::ClearSortedIndexes()
{
  this->Options->build.sorted_indexes.clear();
  this->Modified();
}

//------------------------------------------------------------------------------
void vtkBATWriter::AddStableSample(const char* attribute)
{
  if (attribute && *attribute)
  {
    this->Options->build.stable_samples.emplace_back(attribute);
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkBATWriter::ClearStableSamples()
{
  this->Options->build.stable_samples.clear();
  this->Modified();
}

//------------------------------------------------------------------------------
void vtkBATWriter::AddErrorBound(const char* bound)
{
  // A property without elements may set "".
  if (bound && *bound)
  {
    this->Options->build.error_bounds.emplace_back(bound);
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkBATWriter::ClearErrorBounds()
{
  this->Options->build.error_bounds.clear();
  this->Modified();
}

//------------------------------------------------------------------------------
template <typename F>
void vtkBATWriter::SetOption(const char* name, const F& set)
{
  const std::string option = name ? name : "";
  const std::string before = bat::to_json(*this->Options);
  const std::optional<bat::Error> failure = bat::attempt([&] { set(*this->Options, option); });
  const bool wasRefused = this->Refused.erase(option) != 0;
  if (failure)
  {
    this->Refused[option] = failure->what();
    vtkErrorMacro(<< failure->what());
  }
  if (failure || wasRefused || bat::to_json(*this->Options) != before)
  {
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkBATWriter::SetIntegerOption(const char* name, int value)
{
  this->SetOption(name,
    [value](bat::WriteOptions& options, const std::string& option)
    { bat::set_option(options, option, std::int64_t{ value }); });
}

//------------------------------------------------------------------------------
void vtkBATWriter::SetRealOption(const char* name, double value)
{
  this->SetOption(name,
    [value](bat::WriteOptions& options, const std::string& option)
    { bat::set_option(options, option, value); });
}

//------------------------------------------------------------------------------
void vtkBATWriter::SetTextOption(const char* name, const char* value)
{
  this->SetOption(name,
    [value](bat::WriteOptions& options, const std::string& option)
    {
      const std::string text = value ? value : "";
      // Panels use "Lossless", and the library "lossless".
      bat::add_to_option(options, option, option == "compression" ? LowerCase(text) : text);
    });
}

//------------------------------------------------------------------------------
void vtkBATWriter::ClearTextOption(const char* name)
{
  this->SetOption(name,
    [](bat::WriteOptions& options, const std::string& option)
    { bat::set_option(options, option, std::vector<std::string>()); });
}

//------------------------------------------------------------------------------
int vtkBATWriter::ProcessRequest(
  vtkInformation* request, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  using Pipeline = vtkStreamingDemandDrivenPipeline;
  if (request->Has(Pipeline::REQUEST_UPDATE_EXTENT()) && this->Controller)
  {
    vtkInformation* input = inputVector[0]->GetInformationObject(0);
    input->Set(Pipeline::UPDATE_PIECE_NUMBER(), this->Controller->GetLocalProcessId());
    input->Set(Pipeline::UPDATE_NUMBER_OF_PIECES(), this->Controller->GetNumberOfProcesses());
    input->Set(Pipeline::UPDATE_NUMBER_OF_GHOST_LEVELS(), 0);
    return 1;
  }
  return this->Superclass::ProcessRequest(request, inputVector, outputVector);
}

//------------------------------------------------------------------------------
int vtkBATWriter::FillInputPortInformation(int, vtkInformation* info)
{
  // Composite data must be named: the pipeline cannot loop over blocks for an algorithm without
  // output.
  info->Set(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkPointSet");
  info->Append(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkTable");
  info->Append(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkCompositeDataSet");
  return 1;
}

//------------------------------------------------------------------------------
void vtkBATWriter::Fail(unsigned long code, const std::string& text)
{
  this->SetErrorCode(code);
  this->Report.clear();
  if (this->Controller && this->Controller->GetLocalProcessId() != 0)
  {
    return; // all ranks have the same error; rank 0 reports it
  }
  const std::string name = this->FileName ? this->FileName : "";
  // The core names the file if it can.
  if (name.empty() || text.find(name) != std::string::npos)
  {
    vtkErrorMacro(<< text);
  }
  else
  {
    vtkErrorMacro(<< name << ": " << text);
  }
}

//------------------------------------------------------------------------------
// Reports the results of KeysAndTexts() on all ranks: each remark once, however many time steps
// this writes, and on the first rank only.
void vtkBATWriter::Warn(const std::vector<std::string>& remarks)
{
  for (const std::string& remark : remarks)
  {
    const std::size_t end = remark.find(KeyEnd);
    if (this->Warned.insert(remark.substr(0, end)).second &&
      (!this->Controller || this->Controller->GetLocalProcessId() == 0))
    {
      vtkWarningMacro(<< this->FileName << ": " << remark.substr(end + 1));
    }
  }
}

//------------------------------------------------------------------------------
// Converts the input, or finds why it cannot be converted. Collective through `all`.
struct vtkBATWriter::Conversion
{
  bat_vtk::ConvertedInput Input;
  std::optional<bat::Error> Failure;
};

//------------------------------------------------------------------------------
vtkBATWriter::Conversion vtkBATWriter::Convert(const Union& all)
{
  Conversion conversion;
  conversion.Failure = bat::attempt(
    [&]
    {
      if (!this->Refused.empty())
      {
        throw bat::Error(bat::ErrorCode::InvalidArgument, this->Refused.begin()->second);
      }
      bat_vtk::Grids grids = bat_vtk::DecideOnGrids(this->GetInput(), all);
      this->HadParticles = this->HadParticles || grids == bat_vtk::Grids::LeaveOut;
      grids = this->HadParticles ? bat_vtk::Grids::LeaveOut : grids;
      conversion.Input = bat_vtk::ConvertInput(this->GetInput(),
        { { this->XColumn, this->YColumn, this->ZColumn }, this->WriteGhostParticles, grids });
      bat::ParticleView& particles = conversion.Input.Particles;
      if (!particles.time)
      {
        particles.time = bat_vtk::RequestedTime(this->GetInputInformation(0, 0));
      }
      if (!particles.step && this->TimeStep >= 0)
      {
        particles.step = this->TimeStep;
      }
    });
  this->Warn(all(KeysAndTexts(conversion.Input.Warnings)));
  return conversion;
}

//------------------------------------------------------------------------------
bat::WriteOptions vtkBATWriter::WriteOptions()
{
  bat::WriteOptions options = *this->Options;
  if (this->LeafFileSize > 0)
  {
    options.target_bytes = static_cast<std::uint64_t>(this->LeafFileSize * 1048576.0);
  }
  options.build.progress = [this](double fraction)
  {
    this->UpdateProgress(fraction);
    return !this->CheckAbort();
  };
  return options;
}

//------------------------------------------------------------------------------
void vtkBATWriter::WriteData()
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
#ifdef BAT_WRITER_HAS_MPI
    if (MPI_Comm* communicator = bat_vtk::CommunicatorOf(this->Controller))
    {
      const Conversion conversion =
        this->Convert([communicator](const std::vector<std::string>& local)
          { return bat::mpi::gather_names(*communicator, local); });
      // Input that one rank cannot convert is an error on all ranks, so that none waits for it in a
      // collective call.
      bat::mpi::agree(*communicator, conversion.Failure);
      bat::mpi::WriteOptions options;
      static_cast<bat::WriteOptions&>(options) = this->WriteOptions();
      this->Report = bat::mpi::to_json(bat::mpi::write_dataset(
        *communicator, PathOf(this->FileName), conversion.Input.Particles, options));
      return;
    }
#endif
    const Conversion conversion =
      this->Convert([](const std::vector<std::string>& local) { return local; });
    if (conversion.Failure)
    {
      throw bat::Error(*conversion.Failure);
    }
    this->Report = bat::to_json(bat::write_file(
      PathOf(this->FileName), conversion.Input.Particles, this->WriteOptions().build));
  }
  catch (...)
  {
    const bat::Error error = bat::current_error();
    this->Fail(bat_vtk::ToVTKErrorCode(error.code()), error.what());
  }
}
