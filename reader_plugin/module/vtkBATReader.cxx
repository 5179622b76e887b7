#include "vtkBATReader.h"

#include "BATToVTK.h"
#include "vtkBATErrors.h"

#include "bat/bat.hpp"

#include "vtkCellArray.h"
#include "vtkCommand.h"
#include "vtkDataArray.h"
#include "vtkDataArraySelection.h"
#include "vtkDoubleArray.h"
#include "vtkErrorCode.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkObjectFactory.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"
#include "vtkStreamingDemandDrivenPipeline.h"
#include "vtkStringArray.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <sys/stat.h>

namespace
{
// Tells one state of a file on disk from another: a rewritten file has another inode, time or size.
struct FileStamp
{
  std::filesystem::file_time_type Time;
  std::uintmax_t Size = 0;
  std::uint64_t Inode = 0;

  bool operator==(const FileStamp& other) const
  {
    return this->Time == other.Time && this->Size == other.Size && this->Inode == other.Inode;
  }
};

std::optional<FileStamp> StampOf(const std::filesystem::path& path)
{
  std::error_code error;
  FileStamp stamp;
  stamp.Time = std::filesystem::last_write_time(path, error);
  if (!error)
  {
    stamp.Size = std::filesystem::file_size(path, error);
  }
  struct stat status;
  if (error || ::stat(path.string().c_str(), &status) != 0)
  {
    return std::nullopt;
  }
  stamp.Inode = static_cast<std::uint64_t>(status.st_ino);
  return stamp;
}

struct RangeTexts
{
  std::string Target;
  std::string Minimum;
  std::string Maximum;
};

bat::Number ParseEnd(const std::string& text, double ifEmpty)
{
  return text.empty() ? bat::Number(ifEmpty) : bat::parse_number(text);
}

std::string TextOrEmpty(const char* text)
{
  return text ? text : "";
}
}

//------------------------------------------------------------------------------
class vtkBATReader::vtkInternals
{
public:
  /// The file, opened if it is another one than last time or has changed on disk.
  const bat::Dataset& Open(const char* fileName)
  {
    const std::filesystem::path path = std::filesystem::u8path(fileName);
    // Taken before opening: a file that is replaced in between is opened again next time.
    const std::optional<FileStamp> stamp = StampOf(path);
    if (!this->File || !stamp || !(stamp == this->Stamp) || this->OpenName != fileName)
    {
      this->Close();
      this->File = bat::Dataset::open(path);
      this->OpenName = fileName;
      this->Stamp = stamp;
      this->Version = this->File->format_version();
    }
    return *this->File;
  }

  void Close()
  {
    this->File.reset();
    this->Stamp.reset();
    this->OpenName.clear();
    this->Version.clear();
    this->HistogramsKnown = false;
  }

  std::vector<bat::AttributeRange> ParseRanges(const std::vector<std::string>& names) const
  {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    std::vector<bat::AttributeRange> ranges;
    for (const RangeTexts& texts : this->Ranges)
    {
      bat::AttributeRange range = bat::parse_range_target(texts.Target, names);
      range.lower = ParseEnd(texts.Minimum, -infinity);
      range.upper = ParseEnd(texts.Maximum, infinity);
      ranges.push_back(range);
    }
    return ranges;
  }

  std::optional<bat::Dataset> File;
  std::string Version;
  std::vector<RangeTexts> Ranges;
  bool FillingSelection = false;
  bool ComputeHistograms = false;
  bool HistogramsKnown = false; ///< of this file

private:
  std::string OpenName;
  std::optional<FileStamp> Stamp;
};

//------------------------------------------------------------------------------
vtkStandardNewMacro(vtkBATReader);

//------------------------------------------------------------------------------
vtkBATReader::vtkBATReader()
  : Internals(new vtkInternals)
{
  this->SetNumberOfInputPorts(0);
  this->SetNumberOfOutputPorts(1);
  this->PointDataArraySelection->AddObserver(
    vtkCommand::ModifiedEvent, this, &vtkBATReader::SelectionModified);
}

//------------------------------------------------------------------------------
vtkBATReader::~vtkBATReader()
{
  this->SetFileName(nullptr);
}

//------------------------------------------------------------------------------
void vtkBATReader::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "FileName: " << (this->FileName ? this->FileName : "(none)") << "\n";
  os << indent << "Quality: " << this->Quality << "\n";
  os << indent << "UseBox: " << (this->UseBox ? "on" : "off") << "\n";
  os << indent << "Box:";
  for (double end : this->Box)
  {
    os << " " << end;
  }
  os << "\n";
  os << indent << "AttributeRanges: " << this->Internals->Ranges.size() << "\n";
  for (const RangeTexts& range : this->Internals->Ranges)
  {
    os << indent.GetNextIndent() << range.Target << ": " << range.Minimum << " to " << range.Maximum
       << "\n";
  }
  os << indent << "VertexCells: " << this->VertexCells << "\n";
  os << indent << "PointDataArraySelection:\n";
  this->PointDataArraySelection->PrintSelf(os, indent.GetNextIndent());
  os << indent << "FileVersion: " << this->GetFileVersion() << "\n";
  os << indent << "ParticleCount: " << this->ParticleCount << "\n";
  os << indent << "LoadedCount: " << this->LoadedCount << "\n";
  os << indent << "ComputeHistograms: " << (this->GetComputeHistograms() ? "on" : "off") << "\n";
  os << indent << "BytesRead: " << this->GetBytesRead() << "\n";
  os << indent << "Bounds:";
  for (double end : this->Bounds)
  {
    os << " " << end;
  }
  os << "\n";
  os << indent << "AttributeRangesInfo:\n";
  for (vtkIdType i = 0; i + 2 < this->AttributeRangesInfo->GetNumberOfValues(); i += 3)
  {
    os << indent.GetNextIndent() << this->AttributeRangesInfo->GetValue(i) << ": "
       << this->AttributeRangesInfo->GetValue(i + 1) << " to "
       << this->AttributeRangesInfo->GetValue(i + 2) << "\n";
  }
}

//------------------------------------------------------------------------------
int vtkBATReader::CanReadFile(const char* fileName)
{
  return fileName && bat::Dataset::can_open(std::filesystem::u8path(fileName)) ? 1 : 0;
}

//------------------------------------------------------------------------------
void vtkBATReader::AddAttributeRange(const char* target, const char* minimum, const char* maximum)
{
  this->Internals->Ranges.push_back(
    { TextOrEmpty(target), TextOrEmpty(minimum), TextOrEmpty(maximum) });
  this->Modified();
}

//------------------------------------------------------------------------------
void vtkBATReader::ClearAttributeRanges()
{
  if (!this->Internals->Ranges.empty())
  {
    this->Internals->Ranges.clear();
    this->Modified();
  }
}

//------------------------------------------------------------------------------
vtkDataArraySelection* vtkBATReader::GetPointDataArraySelection()
{
  return this->PointDataArraySelection;
}

//------------------------------------------------------------------------------
vtkStringArray* vtkBATReader::GetAttributeRangesInfo()
{
  return this->AttributeRangesInfo;
}

//------------------------------------------------------------------------------
void vtkBATReader::SetComputeHistograms(bool compute)
{
  this->Internals->ComputeHistograms = compute; // not Modified: the output stays as it is
}

//------------------------------------------------------------------------------
bool vtkBATReader::GetComputeHistograms() const
{
  return this->Internals->ComputeHistograms;
}

//------------------------------------------------------------------------------
vtkDoubleArray* vtkBATReader::GetAttributeHistograms()
{
  const std::optional<bat::Dataset>& file = this->Internals->File;
  if (!file || !this->Internals->ComputeHistograms)
  {
    return this->NoHistograms;
  }
  if (!this->Internals->HistogramsKnown)
  {
    this->Internals->HistogramsKnown = true; // damage is said once
    try
    {
      bat_vtk::DescribeHistograms(*file, this->AttributeHistograms);
    }
    catch (const bat::Error& error)
    {
      this->AttributeHistograms->Reset();
      this->Fail(bat_vtk::ToVTKErrorCode(error.code()), error.what());
    }
  }
  return this->AttributeHistograms;
}

//------------------------------------------------------------------------------
const char* vtkBATReader::GetFileVersion() const
{
  return this->Internals->Version.c_str();
}

//------------------------------------------------------------------------------
vtkIdType vtkBATReader::GetBytesRead() const
{
  const std::optional<bat::Dataset>& file = this->Internals->File;
  return file ? static_cast<vtkIdType>(file->bytes_read()) : 0;
}

//------------------------------------------------------------------------------
void vtkBATReader::SelectionModified()
{
  // Names that are found in the file change nothing about what the user asked for.
  if (!this->Internals->FillingSelection)
  {
    this->Modified();
  }
}

//------------------------------------------------------------------------------
int vtkBATReader::Fail(unsigned long code, const std::string& text)
{
  this->SetErrorCode(code);
  const std::string name = TextOrEmpty(this->FileName);
  // The core names the file where it can.
  if (name.empty() || text.find(name) != std::string::npos)
  {
    vtkErrorMacro(<< text);
  }
  else
  {
    vtkErrorMacro(<< name << ": " << text);
  }
  return 0;
}

//------------------------------------------------------------------------------
int vtkBATReader::RequestInformation(
  vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector)
{
  this->SetErrorCode(vtkErrorCode::NoError);
  this->ParticleCount = 0;
  std::fill_n(this->Bounds, 6, 0.0);
  this->AttributeRangesInfo->Reset();
  if (!this->FileName || !*this->FileName)
  {
    return this->Fail(vtkErrorCode::NoFileNameError, "FileName must be set");
  }
  vtkInformation* outInfo = outputVector->GetInformationObject(0);
  try
  {
    const bat::Dataset& file = this->Internals->Open(this->FileName);

    this->ParticleCount = static_cast<vtkIdType>(file.particle_count());
    bat_vtk::DescribeRanges(file, this->AttributeRangesInfo);

    // Names that this file lacks stay: in a series of files another one may have them.
    this->Internals->FillingSelection = true;
    for (const std::string& name : file.attribute_names())
    {
      if (!this->PointDataArraySelection->ArrayExists(name.c_str()))
      {
        this->PointDataArraySelection->AddArray(name.c_str());
      }
    }
    this->Internals->FillingSelection = false;

    const std::optional<bat::Box> box = file.bounds();
    for (int axis = 0; axis < 3; ++axis)
    {
      this->Bounds[2 * axis] = box ? box->lower[axis] : 0.0;
      this->Bounds[2 * axis + 1] = box ? box->upper[axis] : 0.0;
    }
    if (box)
    {
      outInfo->Set(vtkDataObject::BOUNDING_BOX(), this->Bounds, 6);
    }
    else
    {
      outInfo->Remove(vtkDataObject::BOUNDING_BOX());
    }

    if (const std::optional<double> time = file.time())
    {
      const double range[2] = { *time, *time };
      outInfo->Set(vtkStreamingDemandDrivenPipeline::TIME_STEPS(), range, 1);
      outInfo->Set(vtkStreamingDemandDrivenPipeline::TIME_RANGE(), range, 2);
    }
    else
    {
      outInfo->Remove(vtkStreamingDemandDrivenPipeline::TIME_STEPS());
      outInfo->Remove(vtkStreamingDemandDrivenPipeline::TIME_RANGE());
    }
    outInfo->Set(vtkAlgorithm::CAN_HANDLE_PIECE_REQUEST(), 1);
  }
  catch (const bat::Error& error)
  {
    this->Internals->FillingSelection = false;
    return this->Fail(bat_vtk::ToVTKErrorCode(error.code()), error.what());
  }
  catch (const std::exception& error)
  {
    this->Internals->FillingSelection = false;
    return this->Fail(vtkErrorCode::UnknownError, error.what());
  }
  return 1;
}

//------------------------------------------------------------------------------
int vtkBATReader::RequestData(
  vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector)
{
  this->SetErrorCode(vtkErrorCode::NoError);
  this->LoadedCount = 0;
  vtkInformation* outInfo = outputVector->GetInformationObject(0);
  vtkPolyData* output = vtkPolyData::GetData(outputVector);
  output->Initialize();
  if (!this->FileName || !*this->FileName)
  {
    return this->Fail(vtkErrorCode::NoFileNameError, "FileName must be set");
  }

  using Pipeline = vtkStreamingDemandDrivenPipeline;
  const int pieces = outInfo->Has(Pipeline::UPDATE_NUMBER_OF_PIECES())
    ? std::max(1, outInfo->Get(Pipeline::UPDATE_NUMBER_OF_PIECES()))
    : 1;
  const int piece = outInfo->Has(Pipeline::UPDATE_PIECE_NUMBER())
    ? std::max(0, outInfo->Get(Pipeline::UPDATE_PIECE_NUMBER()))
    : 0;

  try
  {
    const bat::Dataset& file = this->Internals->Open(this->FileName);

    bat::Query query;
    query.quality = this->Quality;
    if (this->UseBox)
    {
      query.box = bat::Box{ { this->Box[0], this->Box[2], this->Box[4] },
        { this->Box[1], this->Box[3], this->Box[5] } };
    }
    query.ranges = this->Internals->ParseRanges(file.attribute_names());
    query.part = static_cast<std::uint32_t>(piece);
    query.parts = static_cast<std::uint32_t>(pieces);
    const bat::DatasetSelection selection = piece < pieces
      ? file.select(query)
      : bat::DatasetSelection(); // VTK may ask for pieces beyond the last

    // Progress counts bytes: positions and attributes differ in width.
    double bytesTotal = 0.0;
    double bytesDone = 0.0;
    const double positionBytes = 3.0 * static_cast<double>(bat::size_of(file.position_type()));
    std::vector<std::size_t> wanted;
    bytesTotal += positionBytes;
    for (std::size_t i = 0; i < file.attributes().size(); ++i)
    {
      const bat::Attribute& attribute = file.attributes()[i];
      if (this->PointDataArraySelection->ArrayIsEnabled(attribute.name.c_str()) ||
        !this->PointDataArraySelection->ArrayExists(attribute.name.c_str()))
      {
        wanted.push_back(i);
        bytesTotal += attribute.components * static_cast<double>(bat::size_of(attribute.type));
      }
    }

    output->SetPoints(bat_vtk::ReadPoints(file, selection));
    bytesDone += positionBytes;
    for (std::size_t i : wanted)
    {
      this->UpdateProgress(bytesDone / bytesTotal);
      if (this->CheckAbort())
      {
        output->Initialize();
        return 1;
      }
      const bat::Attribute& attribute = file.attributes()[i];
      bat_vtk::AddArrayWithRole(
        output->GetPointData(), bat_vtk::ReadAttribute(file, i, selection), attribute.role);
      bytesDone += attribute.components * static_cast<double>(bat::size_of(attribute.type));
    }

    if (this->VertexCells == ONE_PER_PARTICLE)
    {
      output->SetVerts(bat_vtk::MakeVertices(selection.count));
    }
    else if (this->VertexCells == ONE_POLY_VERTEX)
    {
      output->SetVerts(bat_vtk::MakePolyVertex(selection.count));
    }
    if (const std::optional<double> time = file.time())
    {
      output->GetInformation()->Set(vtkDataObject::DATA_TIME_STEP(), *time);
    }
    this->LoadedCount = static_cast<vtkIdType>(selection.count);
  }
  catch (const bat::Error& error)
  {
    output->Initialize(); // a half-filled output looks like success downstream
    return this->Fail(bat_vtk::ToVTKErrorCode(error.code()), error.what());
  }
  catch (const std::exception& error)
  {
    output->Initialize();
    return this->Fail(vtkErrorCode::UnknownError, error.what());
  }
  return 1;
}
