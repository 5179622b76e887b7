#include "vtkBATReader.h"

#include "BATToVTK.h"
#include "LoadedParticles.h"
#include "OpenFile.h"
#include "VertexCells.h"
#include "vtkBATErrors.h"

#include "bat/bat.hpp"

#include "vtkCommand.h"
#include "vtkDataArraySelection.h"
#include "vtkDataSetAttributes.h"
#include "vtkDoubleArray.h"
#include "vtkErrorCode.h"
#include "vtkInformation.h"
#include "vtkInformationDoubleVectorKey.h"
#include "vtkInformationVector.h"
#include "vtkObjectFactory.h"
#include "vtkPolyData.h"
#include "vtkStreamingDemandDrivenPipeline.h"
#include "vtkStringArray.h"

#include <vtksys/SystemTools.hxx>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace
{
// What is loaded first while RefineWhileIdle is on, how each step grows, and the share of a step
// that is not worth one of its own.
constexpr std::uint64_t FirstParticles = 500000;
constexpr double Growth = 0.1;
constexpr double SmallRest = 0.25;

constexpr double RadiusOfSpacing = 0.6;

// An error that comes again within this time is the same one.
constexpr std::chrono::seconds RepeatedErrors(1);

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

bat::AttributeValues ParseIds(std::string text)
{
  std::replace_if(
    text.begin(), text.end(), [](char c) { return c == ',' || c == ';'; }, ' ');
  std::istringstream words(text);
  bat::AttributeValues ids;
  for (std::string word; words >> word;)
  {
    ids.values.push_back(bat::parse_number(word));
  }
  return ids;
}

std::string FindIdAttribute(const bat::Dataset& file, const std::string& name)
{
  if (!name.empty())
  {
    return file.attributes()[file.attribute_index(name)].name;
  }
  for (const bat::Attribute& attribute : file.attributes())
  {
    if (attribute.role == vtkDataSetAttributes::GLOBALIDS + 1)
    {
      return attribute.name;
    }
  }
  std::string names;
  for (const bat::Attribute& attribute : file.attributes())
  {
    std::string plain = vtksys::SystemTools::LowerCase(attribute.name);
    plain.erase(std::remove(plain.begin(), plain.end(), '_'), plain.end());
    for (const char* usual : { "id", "ids", "particleid", "particleids", "globalid", "globalids" })
    {
      if (plain == usual)
      {
        return attribute.name;
      }
    }
    names += (names.empty() ? "" : ", ") + attribute.name;
  }
  throw bat::Error(bat::ErrorCode::InvalidArgument,
    file.name() + ": Ids are asked for, but no attribute is called id; name one of " +
      (names.empty() ? "none" : names) + " as IdAttribute");
}
}

//------------------------------------------------------------------------------
class vtkBATReader::vtkInternals
{
public:
  explicit vtkInternals(vtkBATReader* reader)
    : Reader(reader)
  {
  }

  bat::Query MakeQuery(const bat::Dataset& file) const
  {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    bat::Query query;
    query.quality = this->Reader->Quality;
    if (this->Reader->UseBox)
    {
      const double* box = this->Reader->Box;
      query.box = bat::Box{ { box[0], box[2], box[4] }, { box[1], box[3], box[5] } };
    }
    const std::vector<std::string> names = file.attribute_names();
    for (const RangeTexts& texts : this->Ranges)
    {
      bat::AttributeRange range = bat::parse_range_target(texts.Target, names);
      range.lower = ParseEnd(texts.Minimum, -infinity);
      range.upper = ParseEnd(texts.Maximum, infinity);
      query.ranges.push_back(range);
    }
    if (this->Reader->Ids && *this->Reader->Ids)
    {
      bat::AttributeValues ids = ParseIds(this->Reader->Ids);
      if (!ids.values.empty()) // blanks alone are no list
      {
        ids.attribute = FindIdAttribute(file, TextOrEmpty(this->Reader->IdAttribute));
        query.values.push_back(std::move(ids));
      }
    }
    return query;
  }

  // At most, and a few more, because pieces are not of exactly the same size.
  std::uint64_t RowsAt(double quality, const bat::Dataset& file) const
  {
    constexpr std::uint64_t few = 65536;
    return std::min(this->MostParticles(),
             static_cast<std::uint64_t>(quality * static_cast<double>(file.particle_count()))) +
      few;
  }

  std::uint64_t MostParticles() const
  {
    const vtkIdType budget = this->Reader->ParticleBudget;
    return budget > 0 ? static_cast<std::uint64_t>(budget)
                      : std::numeric_limits<std::uint64_t>::max();
  }

  std::vector<std::size_t> WantedAttributes(const bat::Dataset& file) const
  {
    vtkDataArraySelection* selection = this->Reader->PointDataArraySelection;
    std::vector<std::size_t> wanted;
    for (std::size_t i = 0; i < file.attributes().size(); ++i)
    {
      const char* name = file.attributes()[i].name.c_str();
      if (selection->ArrayIsEnabled(name) || !selection->ArrayExists(name))
      {
        wanted.push_back(i);
      }
    }
    return wanted;
  }

  // Sets the quality of the step that comes next, and how many rows there may be in the end.
  // Returns the quality that refining leads to. Looks at the whole query only, so that all pieces
  // choose the same.
  double ChooseQuality(bat_vtk::LoadedParticles::Request& request)
  {
    bat::QueryOptions options;
    if (request.SkipDamaged)
    {
      options.on_damage = [](std::size_t, const bat::Error&) {}; // told of when it is loaded
    }
    bat::Query& query = request.Query;
    query.quality = request.File->quality_within(query, this->MostParticles(), options);
    const double target = query.quality;
    if (this->Reader->RefineWhileIdle)
    {
      request.MostRows = this->RowsAt(target, *request.File) / query.parts;
      double step = request.File->quality_within(query, FirstParticles, options);
      // Not what this piece has managed to load: all pieces take the same steps.
      if (this->Refined.Generation == request.Generation &&
        bat_vtk::SameConditions(this->Refined.Query, query))
      {
        const double before = this->Refined.Query.quality;
        const double growth = std::max(step, Growth * before);
        step = std::max(step, this->Stepping ? before + growth : before);
        if (this->Stepping && target - step < SmallRest * growth)
        {
          step = target;
        }
      }
      query.quality = std::min(target, step);
      this->Refined = { query, request.Generation };
    }
    this->Reader->SuggestedRadius = RadiusOfSpacing * request.File->spacing(query, options);
    return target;
  }

  bat_vtk::OpenFile File;
  bat_vtk::LoadedParticles Loaded;
  std::string Version;
  std::vector<RangeTexts> Ranges;
  bool FillingSelection = false;
  bool MoreWanted = false; ///< LoadMore was called
  bool Stepping = false;   ///< because of it this update loads more than the one before
  bool PutOff = false;     ///< not any longer
  struct
  {
    bat::Query Query;
    std::uint64_t Generation = 0;
  } Refined; ///< the last step
  bat_vtk::VertexCells Cells;
  struct
  {
    vtkNew<vtkPolyData> Output; ///< with the arrays of the reader's output
    vtkIdType Count = 0;
    double Quality = 0.0;
    double Radius = 0.0;
  } Shown; ///< what an update that is aborted returns to
  bool KeepWhenAborted = false;
  std::string Reported; ///< last error, empty after a success
  std::chrono::steady_clock::time_point ReportedTime;
  std::uint64_t WarnedGeneration = 0;
  std::set<std::size_t> Warned; ///< leaf files of that generation
  bool ComputeHistograms = false;
  std::uint64_t HistogramsGeneration = 0; ///< for which they are known

private:
  vtkBATReader* Reader;
};

//------------------------------------------------------------------------------
vtkStandardNewMacro(vtkBATReader);
vtkInformationKeyMacro(vtkBATReader, LOAD_STEPS, DoubleVector);

//------------------------------------------------------------------------------
vtkBATReader::vtkBATReader()
  : Internals(new vtkInternals(this))
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
  this->SetIds(nullptr);
  this->SetIdAttribute(nullptr);
}

//------------------------------------------------------------------------------
void vtkBATReader::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "FileName: " << (this->FileName ? this->FileName : "(none)") << "\n";
  os << indent << "Quality: " << this->Quality << "\n";
  os << indent << "ParticleBudget: " << this->ParticleBudget << "\n";
  os << indent << "RefineWhileIdle: " << (this->RefineWhileIdle ? "on" : "off") << "\n";
  os << indent << "SkipDamaged: " << (this->SkipDamaged ? "on" : "off") << "\n";
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
  os << indent << "Ids: " << (this->Ids ? this->Ids : "(any)") << "\n";
  os << indent << "IdAttribute: " << (this->IdAttribute ? this->IdAttribute : "(found by its name)")
     << "\n";
  os << indent << "VertexCells: " << this->VertexCells << "\n";
  os << indent << "PointDataArraySelection:\n";
  this->PointDataArraySelection->PrintSelf(os, indent.GetNextIndent());
  os << indent << "FileVersion: " << this->GetFileVersion() << "\n";
  os << indent << "ParticleCount: " << this->ParticleCount << "\n";
  os << indent << "LeafFileCount: " << this->LeafFileCount << "\n";
  os << indent << "FileBytes: " << this->FileBytes << "\n";
  os << indent << "LoadedCount: " << this->LoadedCount << "\n";
  os << indent << "LoadedQuality: " << this->LoadedQuality << "\n";
  os << indent << "TargetQuality: " << this->TargetQuality << "\n";
  os << indent << "SuggestedRadius: " << this->SuggestedRadius << "\n";
  os << indent << "KeepWhenAborted: " << (this->GetKeepWhenAborted() ? "on" : "off") << "\n";
  os << indent << "Aborted: " << (this->Aborted ? "yes" : "no") << "\n";
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
  os << indent << "ParticleBytesInfo:\n";
  for (vtkIdType i = 0; i + 1 < this->ParticleBytesInfo->GetNumberOfValues(); i += 2)
  {
    os << indent.GetNextIndent() << this->ParticleBytesInfo->GetValue(i) << ": "
       << this->ParticleBytesInfo->GetValue(i + 1) << "\n";
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
  const bat::Dataset* file = this->Internals->File.Current();
  if (!file || !this->Internals->ComputeHistograms)
  {
    return this->NoHistograms;
  }
  if (this->Internals->HistogramsGeneration != this->Internals->File.Generation())
  {
    this->Internals->HistogramsGeneration =
      this->Internals->File.Generation(); // damage is said once
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
  const bat::Dataset* file = this->Internals->File.Current();
  return file ? static_cast<vtkIdType>(file->bytes_read()) : 0;
}

//------------------------------------------------------------------------------
vtkStringArray* vtkBATReader::GetParticleBytesInfo()
{
  return this->ParticleBytesInfo;
}

//------------------------------------------------------------------------------
void vtkBATReader::SetKeepWhenAborted(bool keep)
{
  this->Internals->KeepWhenAborted = keep; // not Modified: the output stays as it is
}

//------------------------------------------------------------------------------
bool vtkBATReader::GetKeepWhenAborted() const
{
  return this->Internals->KeepWhenAborted;
}

//------------------------------------------------------------------------------
void vtkBATReader::LoadMore()
{
  if (this->RefineWhileIdle)
  {
    this->Internals->MoreWanted = true;
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkBATReader::PutOffStep()
{
  this->Internals->PutOff = this->Internals->Stepping;
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
  // For one Apply, ParaView asks several times for what has failed.
  vtkInternals& self = *this->Internals;
  const auto now = std::chrono::steady_clock::now();
  const bool again = self.Reported == text && now - self.ReportedTime < RepeatedErrors;
  self.Reported = text;
  self.ReportedTime = now;
  if (again)
  {
    return 0;
  }
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
  this->LeafFileCount = 0;
  this->FileBytes = 0;
  std::fill_n(this->Bounds, 6, 0.0);
  this->AttributeRangesInfo->Reset();
  this->ParticleBytesInfo->Reset();
  this->Internals->Version.clear();
  if (!this->FileName || !*this->FileName)
  {
    return this->Fail(vtkErrorCode::NoFileNameError, "FileName must be set");
  }
  vtkInformation* outInfo = outputVector->GetInformationObject(0);
  try
  {
    const bat::Dataset& file = this->Internals->File.Get(this->FileName);

    this->Internals->Version = file.format_version();
    this->ParticleCount = static_cast<vtkIdType>(file.particle_count());
    this->LeafFileCount = static_cast<vtkIdType>(file.leaves().size());
    this->FileBytes = static_cast<vtkIdType>(file.file_bytes());
    bat_vtk::DescribeRanges(file, this->AttributeRangesInfo);
    bat_vtk::DescribeBytes(file, this->ParticleBytesInfo);

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
void vtkBATReader::WarnOfDamage()
{
  vtkInternals& self = *this->Internals;
  if (self.WarnedGeneration != self.File.Generation())
  {
    self.WarnedGeneration = self.File.Generation();
    self.Warned.clear();
  }
  for (const auto& [leaf, text] : self.Loaded.Damaged())
  {
    if (self.Warned.insert(leaf).second)
    {
      vtkWarningMacro(<< "left out: " << text);
    }
  }
}

//------------------------------------------------------------------------------
void vtkBATReader::ReadAhead(const char* fileName)
{
  const bat::Dataset* file = this->Internals->File.Current();
  if (!file || !fileName || !*fileName)
  {
    return;
  }
  std::vector<std::string> attributes;
  for (const std::size_t i : this->Internals->WantedAttributes(*file))
  {
    attributes.push_back(file->attributes()[i].name);
  }
  vtkInternals& self = *this->Internals;
  self.File.ReadAhead(fileName, self.MakeQuery(*file), self.MostParticles(), attributes);
}

//------------------------------------------------------------------------------
void vtkBATReader::GiveUp(vtkPolyData* output)
{
  const auto& shown = this->Internals->Shown;
  output->ShallowCopy(shown.Output);
  this->LoadedCount = shown.Count;
  this->LoadedQuality = shown.Quality;
  this->TargetQuality = shown.Quality;
  this->SuggestedRadius = shown.Radius;
  this->Aborted = true;
  this->SetAbortOutput(false); // the executive would take the output away
}

//------------------------------------------------------------------------------
int vtkBATReader::RequestData(
  vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector)
{
  this->SetErrorCode(vtkErrorCode::NoError);
  this->LoadedCount = 0;
  // Nothing is left to refine if this fails.
  this->LoadedQuality = 0.0;
  this->TargetQuality = 0.0;
  // The step that was given up is still to be taken.
  this->Internals->Stepping = std::exchange(this->Internals->MoreWanted, false) && !this->Aborted;
  this->Internals->PutOff = false;
  this->Aborted = false;
  this->SetAbortExecute(0); // it was for the update before
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

  bat_vtk::LoadedParticles& loaded = this->Internals->Loaded;
  auto& shown = this->Internals->Shown;
  const auto forget = [&]()
  {
    shown.Output->Initialize();
    shown.Count = 0;
    shown.Quality = 0.0;
    shown.Radius = 0.0;
  };
  try
  {
    const bat::Dataset& file = this->Internals->File.Get(this->FileName);
    this->Internals->File.Keep();
    bat_vtk::LoadedParticles::Request request;
    request.File = &file;
    request.Generation = this->Internals->File.Generation();
    request.Query = this->Internals->MakeQuery(file);
    request.Query.part = static_cast<std::uint32_t>(std::min(piece, pieces - 1));
    request.Query.parts = static_cast<std::uint32_t>(pieces);
    request.Attributes = this->Internals->WantedAttributes(file);
    request.SkipDamaged = this->SkipDamaged;
    request.Progress = [this](double share)
    {
      this->UpdateProgress(share);
      return !this->Internals->PutOff && !this->CheckAbort();
    };
    const auto before = this->Internals->Refined;
    const double target = this->Internals->ChooseQuality(request);
    if (!loaded.CanAdd(request))
    {
      this->Internals->Cells = {};
      if (!this->Internals->KeepWhenAborted)
      {
        forget();
      }
    }
    // VTK may ask for pieces beyond the last.
    if (piece < pieces && !loaded.Load(request))
    {
      this->GiveUp(output);
      if (this->Internals->PutOff)
      {
        this->Internals->Refined = before;
        this->TargetQuality = target;
        this->Aborted = false;
      }
      return 1;
    }
    this->TargetQuality = target;
    if (piece >= pieces)
    {
      return 1;
    }
    this->WarnOfDamage();
    this->Internals->Reported.clear();
    this->LoadedQuality = loaded.Quality();
    this->LoadedCount = static_cast<vtkIdType>(loaded.Count());
    bat_vtk::FillOutput(file, loaded, request.Attributes, output);
    if (this->VertexCells != NO_CELLS)
    {
      output->SetVerts(this->Internals->Cells.Make(
        loaded.Count(), request.MostRows, this->VertexCells == ONE_PER_PARTICLE));
    }
    const std::vector<double> steps = loaded.NumberedSteps();
    loaded.Positions()->GetInformation()->Set(
      LOAD_STEPS(), steps.data(), static_cast<int>(steps.size()));
    bat_vtk::AddProvenance(file, loaded.Quality(), this->Quality, output);
    shown.Output->ShallowCopy(output);
    shown.Count = this->LoadedCount;
    shown.Quality = this->LoadedQuality;
    shown.Radius = this->SuggestedRadius;
  }
  catch (const bat::Error& error)
  {
    this->TargetQuality = 0.0;
    output->Initialize(); // a half-filled output looks like success downstream
    loaded.Clear();
    forget();
    return this->Fail(bat_vtk::ToVTKErrorCode(error.code()), error.what());
  }
  catch (const std::exception& error)
  {
    this->TargetQuality = 0.0;
    output->Initialize();
    forget();
    return this->Fail(vtkErrorCode::UnknownError, error.what());
  }
  return 1;
}
