#include "vtkBATWriter.h"

#include "VTKToBAT.h"
#include "vtkBATErrors.h"

#include "bat/writer.hpp"

#include "vtkAlgorithm.h"
#include "vtkDataObject.h"
#include "vtkErrorCode.h"
#include "vtkInformation.h"
#include "vtkObjectFactory.h"

#include <cstdint>
#include <exception>
#include <filesystem>
#include <string>

//------------------------------------------------------------------------------
vtkStandardNewMacro(vtkBATWriter);

//------------------------------------------------------------------------------
vtkBATWriter::~vtkBATWriter()
{
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
  os << indent << "BlockParticles: " << this->BlockParticles << "\n";
  os << indent << "TreeletParticles: " << this->TreeletParticles << "\n";
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
  const std::string name = this->FileName ? this->FileName : "";
  // The core names the file where it can.
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
void vtkBATWriter::WriteData()
{
  this->SetErrorCode(vtkErrorCode::NoError);
  if (!this->FileName || !*this->FileName)
  {
    this->Fail(vtkErrorCode::NoFileNameError, "FileName must be set");
    return;
  }
  try
  {
    const bat_vtk::ConvertedInput input =
      bat_vtk::ConvertInput(this->GetInput(), { this->XColumn, this->YColumn, this->ZColumn });
    for (const std::string& warning : input.Warnings)
    {
      vtkWarningMacro(<< this->FileName << ": " << warning);
    }

    bat::BuildOptions options;
    options.block_particles = static_cast<std::uint32_t>(this->BlockParticles);
    options.treelet_particles = static_cast<std::uint32_t>(this->TreeletParticles);
    options.progress = [this](double fraction)
    {
      this->UpdateProgress(fraction);
      return !this->CheckAbort();
    };
    bat::write_file(std::filesystem::u8path(this->FileName), input.Particles, options);
  }
  catch (const bat::Error& error)
  {
    this->Fail(bat_vtk::ToVTKErrorCode(error.code()), error.what());
  }
  catch (const std::exception& error)
  {
    this->Fail(vtkErrorCode::UnknownError, error.what());
  }
}
