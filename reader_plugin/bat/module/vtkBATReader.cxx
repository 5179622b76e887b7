// SPDX-License-Identifier: BSD-3-Clause
#include "vtkBATReader.h"

#include "Agreement.h"
#include "BATToVTK.h"
#include "Conditions.h"
#include "Failure.h"
#include "FileDescription.h"
#include "IdList.h"
#include "LoadedParticles.h"
#include "OpenFile.h"
#include "ParticleArrays.h"
#include "ReaderNumbers.h"
#include "Refining.h"
#include "ReportedOnce.h"
#include "VertexCells.h"

#include "bat/bat.hpp"
#include "bat/nearest_name.hpp"

#include "vtkCommand.h"
#include "vtkDataArraySelection.h"
#include "vtkDoubleArray.h"
#include "vtkErrorCode.h"
#include "vtkInformation.h"
#include "vtkInformationDoubleVectorKey.h"
#include "vtkInformationVector.h"
#include "vtkMultiProcessController.h"
#include "vtkMultiProcessStream.h"
#include "vtkObjectFactory.h"
#include "vtkPointData.h"
#include "vtkPolyData.h"
#include "vtkSmartPointer.h"
#include "vtkStreamingDemandDrivenPipeline.h"
#include "vtkStringArray.h"

#include <vtksys/SystemTools.hxx>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using bat_vtk::Failure;

namespace
{
std::string TextOrEmpty(const char* text)
{
  return text ? text : "";
}

std::string WithCommas(vtkIdType number)
{
  constexpr std::size_t group = 3;
  std::string text = std::to_string(number);
  for (std::size_t place = text.size(); place > group;)
  {
    place -= group;
    text.insert(place, ",");
  }
  return text;
}

void PrintNumbers(ostream& os, vtkIndent indent, const char* name, const double* numbers, int count)
{
  os << indent << name << ":";
  std::for_each(numbers, numbers + count, [&os](double number) { os << " " << number; });
  os << "\n";
}

// Prints a name and its text on one line each.
void PrintPairs(ostream& os, vtkIndent indent, const char* name, vtkStringArray* texts)
{
  os << indent << name << ":\n";
  for (vtkIdType i = 0; i + 1 < texts->GetNumberOfValues(); i += 2)
  {
    os << indent.GetNextIndent() << texts->GetValue(i) << ": " << texts->GetValue(i + 1) << "\n";
  }
}

// Prints a name and its range on one line each.
void PrintRanges(ostream& os, vtkIndent indent, const char* name, vtkStringArray* texts)
{
  os << indent << name << ":\n";
  for (vtkIdType i = 0; i + 2 < texts->GetNumberOfValues(); i += 3)
  {
    os << indent.GetNextIndent() << texts->GetValue(i) << ": " << texts->GetValue(i + 1) << " to "
       << texts->GetValue(i + 2) << "\n";
  }
}

// Returns "" if it is not found in a file without particles, which may lack columns.
std::string FindIdAttribute(const bat::Dataset& file, const std::string& name)
{
  const std::vector<std::string> known = file.attribute_names();
  if (file.particle_count() == 0 && std::find(known.begin(), known.end(), name) == known.end() &&
    (!name.empty() || !bat::find_id_attribute(file.attributes())))
  {
    return "";
  }
  if (!name.empty())
  {
    return file.attributes()[file.attribute_index(name)].name;
  }
  if (const std::optional<std::size_t> id = bat::find_id_attribute(file.attributes()))
  {
    return file.attributes()[*id].name;
  }
  std::string names;
  for (const bat::Attribute& attribute : file.attributes())
  {
    names += (names.empty() ? "" : ", ") + attribute.name;
  }
  throw bat::Error(bat::ErrorCode::InvalidArgument,
    file.name() + ": Ids are set, but no attribute is called id; set one of " +
      (names.empty() ? "none" : names) + " as Id Attribute");
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

  // Throws bat::Error and Failure.
  const bat::Dataset& Open()
  {
    if (this->Refused)
    {
      throw this->Refused;
    }
    if (TextOrEmpty(this->Reader->FileName).empty())
    {
      throw Failure{ vtkErrorCode::NoFileNameError, "FileName must be set" };
    }
    if (const std::string fault = bat_vtk::FindNameFault(this->Reader->FileName); !fault.empty())
    {
      throw Failure{ vtkErrorCode::UserError, fault };
    }
    return this->File.Get(this->Reader->FileName);
  }

  bat::Shape Region() const
  {
    const vtkBATReader& reader = *this->Reader;
    const auto vector = [](const double* numbers) {
      return std::array<double, 3>{ numbers[0], numbers[1], numbers[2] };
    };
    bat::Shape shape;
    shape.negated = reader.RegionOutside;
    switch (reader.Region)
    {
      case vtkBATReader::SPHERE:
        shape.form = bat::Sphere{ vector(reader.RegionCenter), reader.RegionRadius };
        break;
      case vtkBATReader::SLAB:
        shape.form =
          bat::Slab{ vector(reader.RegionNormal), reader.RegionLimits[0], reader.RegionLimits[1] };
        break;
      default:
        shape.form = bat_vtk::MakeOrientedBox(
          reader.RegionCenter, reader.RegionHalfExtents, reader.RegionRotation);
        break;
    }
    return shape;
  }

  bat::Query MakeQuery(const bat::Dataset& file) const
  {
    bat::Query query;
    query.quality = this->Reader->Quality;
    if (this->Reader->UseBox)
    {
      const double* box = this->Reader->Box;
      query.box = bat::Box{ { box[0], box[2], box[4] }, { box[1], box[3], box[5] } };
    }
    if (this->Reader->Region != vtkBATReader::NO_REGION)
    {
      query.shapes.push_back(this->Region());
    }
    bat_vtk::AddRanges(file, this->RangeTexts, query);
    if (this->Reader->Ids && *this->Reader->Ids)
    {
      bat::AttributeValues ids = bat_vtk::ParseIds(this->Reader->Ids);
      if (!ids.values.empty() || !ids.ranges.empty()) // blanks alone are not a list
      {
        ids.negated = this->Reader->IdsMode == ALL_BUT_THESE;
        ids.attribute = FindIdAttribute(file, TextOrEmpty(this->Reader->IdAttribute));
        if (!ids.attribute.empty())
        {
          query.values.push_back(std::move(ids));
        }
      }
    }
    return query;
  }

  // Returns an upper limit. It includes a reserve, because pieces differ slightly in size.
  std::uint64_t RowsAt(double quality, const bat::Dataset& file) const
  {
    constexpr std::uint64_t few = 65536;
    return std::min(this->MaxParticles(),
             static_cast<std::uint64_t>(quality * static_cast<double>(file.particle_count()))) +
      few;
  }

  std::uint64_t MaxParticles() const
  {
    const vtkIdType budget = this->Reader->ParticleBudget;
    return budget > 0 ? static_cast<std::uint64_t>(budget)
                      : std::numeric_limits<std::uint64_t>::max();
  }

  std::vector<std::size_t> RequestedAttributes(const bat::Dataset& file) const
  {
    vtkDataArraySelection* selection = this->Reader->PointDataArraySelection;
    std::vector<std::size_t> requested;
    for (std::size_t i = 0; i < file.attributes().size(); ++i)
    {
      const char* name = file.attributes()[i].name.c_str();
      if (selection->ArrayIsEnabled(name) || !selection->ArrayExists(name))
      {
        requested.push_back(i);
      }
    }
    return requested;
  }

  bat::QueryOptions OptionsOfEstimates() const
  {
    bat::QueryOptions options;
    if (this->Reader->SkipDamaged)
    {
      options.on_damage = [](std::size_t, const bat::Error&) {}; // notified when it is loaded
    }
    return options;
  }

  // Sets the quality of the next step, and the maximum number of rows. Returns the quality at which
  // refining ends. Uses the whole query only, so that all pieces choose the same.
  double ChooseQuality(bat_vtk::LoadedParticles::Request& request)
  {
    const bat::QueryOptions options = this->OptionsOfEstimates();
    bat::Query& query = request.Query;
    query.quality = request.File->quality_within(query, this->MaxParticles(), options);
    const double target = query.quality;
    if (this->Reader->RefineWhileIdle)
    {
      request.MaxRows = this->RowsAt(target, *request.File) / query.parts;
      const double first = request.File->quality_within(query, bat_vtk::StepParticles, options);
      query.quality = this->Refining.Choose(query, request.Generation, target, first);
    }
    else
    {
      this->Refining.LoadAtOnce(query, request.Generation);
    }
    this->Reader->SuggestedRadius =
      bat_vtk::RadiusOfSpacing * request.File->spacing(query, options);
    return target;
  }

  bool IsFirst() const { return !this->Controller || this->Controller->GetLocalProcessId() == 0; }

  using Damage = bat_vtk::LoadedParticles::Damage;

  // Distinguishes the open file from others, in any process.
  std::string ReadFileState() const
  {
    const bat::Dataset* file = this->File.Current();
    return !file ? ""
                 : TextOrEmpty(this->Reader->FileName) + " " +
        std::to_string(file->particle_count()) + " " + std::to_string(file->file_bytes());
  }

  // Shares failures: the first failure of any process becomes that of all, and leaf files skipped
  // by any process are skipped by all. Returns false if some processes must load again for that.
  bool Agree(Failure& failure)
  {
    if (!this->Controller || this->Controller->GetNumberOfProcesses() < 2)
    {
      return true;
    }
    const std::map<std::size_t, Damage>& damaged = this->Loaded.Damaged();
    const bat_vtk::Comparison found =
      bat_vtk::Compare(this->Controller, !damaged.empty(), failure, this->ReadFileState());
    if (!found.AnyTrouble && !found.Differ)
    {
      return true;
    }
    if (found.Differ && !failure)
    {
      failure = bat_vtk::OtherFileElsewhere(TextOrEmpty(this->Reader->FileName));
    }
    vtkMultiProcessStream own;
    own << static_cast<vtkTypeUInt64>(failure.Code) << failure.Text
        << static_cast<vtkTypeUInt64>(damaged.size());
    for (const auto& [leaf, damage] : damaged)
    {
      own << static_cast<vtkTypeUInt64>(leaf) << damage.Text
          << static_cast<vtkTypeUInt64>(damage.Column);
    }
    std::vector<vtkMultiProcessStream> all;
    this->Controller->AllGather(own, all);

    failure = {};
    std::map<std::size_t, Damage> combined;
    std::set<vtkTypeUInt64> counts;
    for (vtkMultiProcessStream& stream : all)
    {
      vtkTypeUInt64 code = 0;
      vtkTypeUInt64 leaves = 0;
      std::string text;
      stream >> code >> text >> leaves;
      if (!failure)
      {
        failure = { static_cast<unsigned long>(code), text };
      }
      counts.insert(leaves);
      for (; leaves != 0; --leaves)
      {
        vtkTypeUInt64 leaf = 0;
        vtkTypeUInt64 column = 0;
        stream >> leaf >> text >> column;
        combined.emplace(leaf, Damage{ text, static_cast<std::size_t>(column) });
      }
    }
    this->Loaded.LeaveOut(combined);
    return failure || (counts.size() == 1 && *counts.begin() == combined.size());
  }

  // Collective, once for each load of a file at an address.
  void Prefetch(const std::function<void()>& prefetch)
  {
    this->HasPrefetched = true;
    bat_vtk::PrefetchShared(this->Controller, TextOrEmpty(this->Reader->FileName), prefetch);
  }

  void WarnOfDamage()
  {
    if (this->WarnedGeneration != this->File.Generation())
    {
      this->WarnedGeneration = this->File.Generation();
      this->Warned.clear();
    }
    for (const auto& [leaf, damage] : this->Loaded.Damaged())
    {
      if (this->Warned.insert(leaf).second && this->IsFirst())
      {
        vtkWarningWithObjectMacro(this->Reader, << "skipped: " << damage.Text);
      }
    }
  }

  // A name that an earlier file had, e.g. another one of the series, may return.
  void WarnOfUnknownAttributes(const bat::Dataset& file)
  {
    vtkDataArraySelection* selection = this->Reader->PointDataArraySelection;
    for (int i = 0; i < selection->GetNumberOfArrays() && file.particle_count() != 0; ++i)
    {
      const std::string name = selection->GetArrayName(i);
      if (!selection->GetArraySetting(i) || this->KnownAttributes.count(name) != 0 ||
        !this->WarnedAttributes.insert(name).second || !this->IsFirst())
      {
        continue;
      }
      std::string names;
      for (const bat::Attribute& attribute : file.attributes())
      {
        names += (names.empty() ? "" : ", ") + attribute.name;
      }
      vtkWarningWithObjectMacro(this->Reader, << file.name() << ": unknown attribute '" << name
                                              << "' in PointArrayStatus"
                                              << bat::available(name, names));
    }
  }

  // Columns that other files of a series have, but this file without particles lacks, are empty.
  void AddMissing(const bat::Dataset& file, vtkPolyData* output) const
  {
    vtkDataArraySelection* selection = this->Reader->PointDataArraySelection;
    const std::vector<std::string> own = file.attribute_names();
    for (const auto& [name, column] : this->KnownAttributes)
    {
      if (std::find(own.begin(), own.end(), name) == own.end() &&
        selection->ArrayIsEnabled(name.c_str()))
      {
        output->GetPointData()->AddArray(bat_vtk::MakeAttribute(column));
      }
    }
  }

  // Adds the columns of a file to the selection; new ones are enabled.
  void Know(const bat::Dataset& file)
  {
    this->FillingSelection = true;
    for (const bat::Attribute& attribute : file.attributes())
    {
      if (file.particle_count() != 0 || this->KnownAttributes.count(attribute.name) == 0)
      {
        this->KnownAttributes[attribute.name] = attribute;
      }
      if (!this->Reader->PointDataArraySelection->ArrayExists(attribute.name.c_str()))
      {
        this->Reader->PointDataArraySelection->AddArray(attribute.name.c_str());
      }
    }
    this->FillingSelection = false;
  }

  void Deliver(const bat_vtk::LoadedParticles::Request& request, vtkPolyData* output)
  {
    vtkBATReader* reader = this->Reader;
    const bat::Dataset& file = *request.File;
    const bat_vtk::LoadedParticles& loaded = this->Loaded;
    reader->LoadedQuality = loaded.Quality();
    reader->LoadedCount = static_cast<vtkIdType>(loaded.Count());
    bat_vtk::FillOutput(file, loaded, request.Attributes, output);
    if (file.particle_count() == 0)
    {
      this->AddMissing(file, output);
    }
    if (reader->VertexCells != NO_CELLS)
    {
      output->SetVerts(
        this->Cells.Make(loaded.Count(), request.MaxRows, reader->VertexCells == ONE_PER_PARTICLE));
    }
    const std::vector<double> steps = loaded.NumberedSteps();
    loaded.Positions()->GetInformation()->Set(
      LOAD_STEPS(), steps.data(), static_cast<int>(steps.size()));
    bat_vtk::AddProvenance(file, loaded.Quality(), reader->Quality, output);
    this->Shown.Output->ShallowCopy(output);
    this->Shown.Count = reader->LoadedCount;
    this->Shown.Quality = reader->LoadedQuality;
    this->Shown.Radius = reader->SuggestedRadius;
  }

  // Delivers the current output again. `target` is the quality to which a postponed step leads.
  void Cancel(double target, vtkPolyData* output)
  {
    vtkBATReader* reader = this->Reader;
    this->Refining.Cancelled();
    output->ShallowCopy(this->Shown.Output);
    reader->LoadedCount = this->Shown.Count;
    reader->LoadedQuality = this->Shown.Quality;
    // Refining does not resume by itself after the user has stopped it.
    reader->TargetQuality = this->Refining.IsAborted() ? this->Shown.Quality : target;
    reader->SuggestedRadius = this->Shown.Radius;
    reader->SetAbortOutput(false); // the executive would take the output away
  }

  void ForgetShown()
  {
    this->Shown.Output->Initialize();
    this->Shown.Count = 0;
    this->Shown.Quality = 0.0;
    this->Shown.Radius = 0.0;
  }

  bat_vtk::OpenFile File;
  bat_vtk::LoadedParticles Loaded;
  std::string Version;
  std::string FoundIdAttribute; ///< empty if there is none
  std::string FoundSecondIdAttribute;
  std::string StableSamples;
  std::vector<std::string> RangeTexts; ///< target, minimum, maximum, target, ...
  bool FillingSelection = false;
  bat_vtk::Refining Refining;
  bat_vtk::VertexCells Cells;
  struct
  {
    vtkNew<vtkPolyData> Output; ///< shares the arrays of the reader's output
    vtkIdType Count = 0;
    double Quality = 0.0;
    double Radius = 0.0;
  } Shown; ///< restored if an update is cancelled
  bool HasPrefetched = false;
  vtkMTimeType DescribedAt = 0; ///< change of the reader for which information was requested
  bool KeepWhenAborted = false;
  Failure Refused; ///< set by the reader that chooses the files
  std::string MatchError;
  std::string ErrorText;
  bat_vtk::ReportedOnce Reported;
  bool ChoosingFile = false;
  vtkSmartPointer<vtkMultiProcessController> Controller;
  std::uint64_t WarnedGeneration = 0;
  std::set<std::size_t> Warned;                          ///< leaf files of that generation
  std::map<std::string, bat::Attribute> KnownAttributes; ///< attributes of all files so far
  std::set<std::string> WarnedAttributes;                ///< since the selection was last changed
  bool ComputeHistograms = false;
  bool EstimateMatches = false;
  std::uint64_t HistogramsGeneration = 0; ///< generation for which they are known
  double SpacingSpread = 1.0;
  std::uint64_t SpreadGeneration = 0; ///< generation for which it is known

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
  PrintNumbers(os, indent, "Box", this->Box, 6);
  os << indent << "Region: " << this->Region << "\n";
  os << indent << "RegionOutside: " << (this->RegionOutside ? "on" : "off") << "\n";
  PrintNumbers(os, indent, "RegionCenter", this->RegionCenter, 3);
  os << indent << "RegionRadius: " << this->RegionRadius << "\n";
  PrintNumbers(os, indent, "RegionNormal", this->RegionNormal, 3);
  PrintNumbers(os, indent, "RegionLimits", this->RegionLimits, 2);
  PrintNumbers(os, indent, "RegionHalfExtents", this->RegionHalfExtents, 3);
  PrintNumbers(os, indent, "RegionRotation", this->RegionRotation, 3);
  const std::vector<std::string>& texts = this->Internals->RangeTexts;
  os << indent << "AttributeRanges: " << texts.size() / bat_vtk::TextsOfRange << "\n";
  for (std::size_t i = 0; i + 2 < texts.size(); i += bat_vtk::TextsOfRange)
  {
    os << indent.GetNextIndent() << texts[i] << ": " << texts[i + 1] << " to " << texts[i + 2]
       << "\n";
  }
  os << indent << "Ids: " << (this->Ids ? this->Ids : "(any)") << "\n";
  os << indent << "IdsMode: " << (this->IdsMode == ONLY_THESE ? "only these" : "all but these")
     << "\n";
  os << indent
     << "IdAttribute: " << (this->IdAttribute ? this->IdAttribute : "(determined by name)") << "\n";
  os << indent << "FoundIdAttribute: " << this->GetFoundIdAttribute() << "\n";
  os << indent << "FoundSecondIdAttribute: " << this->GetFoundSecondIdAttribute() << "\n";
  os << indent << "StableSamples: " << this->GetStableSamples() << "\n";
  os << indent << "VertexCells: " << this->VertexCells << "\n";
  os << indent << "PointDataArraySelection:\n";
  this->PointDataArraySelection->PrintSelf(os, indent.GetNextIndent());
  os << indent << "FileVersion: " << this->GetFileVersion() << "\n";
  os << indent << "ParticleCount: " << this->ParticleCount << "\n";
  os << indent << "LeafFileCount: " << this->LeafFileCount << "\n";
  os << indent << "FileBytes: " << this->FileBytes << "\n";
  os << indent << "SampleQuality: " << this->SampleQuality << "\n";
  os << indent << "LoadedCount: " << this->LoadedCount << "\n";
  os << indent << "LoadedQuality: " << this->LoadedQuality << "\n";
  os << indent << "TargetQuality: " << this->TargetQuality << "\n";
  os << indent << "SuggestedRadius: " << this->SuggestedRadius << "\n";
  os << indent << "KeepWhenAborted: " << (this->GetKeepWhenAborted() ? "on" : "off") << "\n";
  os << indent << "Aborted: " << (this->GetAborted() ? "yes" : "no") << "\n";
  os << indent << "ErrorText: " << this->Internals->ErrorText << "\n";
  os << indent << "Controller: " << this->Internals->Controller.Get() << "\n";
  os << indent << "ComputeHistograms: " << (this->GetComputeHistograms() ? "on" : "off") << "\n";
  os << indent << "EstimateMatches: " << (this->GetEstimateMatches() ? "on" : "off") << "\n";
  os << indent << "BytesRead: " << this->GetBytesRead() << "\n";
  PrintNumbers(os, indent, "Bounds", this->Bounds, 6);
  PrintRanges(os, indent, "AttributeRangesInfo", this->AttributeRangesInfo);
  PrintPairs(os, indent, "ParticleBytesInfo", this->ParticleBytesInfo);
}

//------------------------------------------------------------------------------
int vtkBATReader::CanReadFile(const char* fileName)
{
  return fileName && bat::Dataset::can_open(std::filesystem::u8path(fileName)) ? 1 : 0;
}

//------------------------------------------------------------------------------
void vtkBATReader::SetFileName(const char* name)
{
  if (TextOrEmpty(this->FileName) == TextOrEmpty(name))
  {
    return;
  }
  delete[] this->FileName;
  this->FileName = name ? vtksys::SystemTools::DuplicateString(name) : nullptr;
  this->Internals->ChoosingFile = true;
  this->Modified();
  this->Internals->ChoosingFile = false;
}

//------------------------------------------------------------------------------
void vtkBATReader::Modified()
{
  // A series alternates between files: that alone does not report an error again.
  vtkInternals& self = *this->Internals;
  if (!self.ChoosingFile)
  {
    self.Reported.SettingChanged();
  }
  this->Superclass::Modified();
}

//------------------------------------------------------------------------------
void vtkBATReader::AddAttributeRange(const char* target, const char* minimum, const char* maximum)
{
  for (const char* text : { target, minimum, maximum })
  {
    this->AddAttributeRangeText(text);
  }
}

//------------------------------------------------------------------------------
void vtkBATReader::AddAttributeRangeText(const char* text)
{
  this->Internals->RangeTexts.push_back(TextOrEmpty(text));
  this->Modified();
}

//------------------------------------------------------------------------------
void vtkBATReader::ClearAttributeRanges()
{
  if (!this->Internals->RangeTexts.empty())
  {
    this->Internals->RangeTexts.clear();
    this->Modified();
  }
}

//------------------------------------------------------------------------------
const char* vtkBATReader::GetFoundIdAttribute() const
{
  return this->Internals->FoundIdAttribute.c_str();
}

//------------------------------------------------------------------------------
const char* vtkBATReader::GetFoundSecondIdAttribute() const
{
  return this->Internals->FoundSecondIdAttribute.c_str();
}

//------------------------------------------------------------------------------
const char* vtkBATReader::GetStableSamples() const
{
  return this->Internals->StableSamples.c_str();
}

//------------------------------------------------------------------------------
std::string vtkBATReader::FindIdsError(const char* text)
{
  return Failure::Of([text]() { bat_vtk::ParseIds(TextOrEmpty(text)); }).Text;
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
  this->Internals->ComputeHistograms = compute; // no Modified(): the output stays as it is
}

//------------------------------------------------------------------------------
bool vtkBATReader::GetComputeHistograms() const
{
  return this->Internals->ComputeHistograms;
}

//------------------------------------------------------------------------------
// Computes histograms and values. Returns false if they are not requested, or no file is open.
bool vtkBATReader::DescribeSpread()
{
  const bat::Dataset* file = this->Internals->File.Current();
  if (!file || !this->Internals->ComputeHistograms)
  {
    return false;
  }
  if (this->Internals->HistogramsGeneration != this->Internals->File.Generation())
  {
    this->Internals->HistogramsGeneration =
      this->Internals->File.Generation(); // damage is said once
    const auto describe = [&](auto* array, const auto& fill)
    {
      try
      {
        fill(*file, array);
      }
      catch (const bat::Error& error)
      {
        array->Reset();
        // A load that fails, or has yet to run, reports its own message; one is enough.
        if (this->LoadedCount > 0 && this->Internals->ErrorText.empty())
        {
          this->Say(error.what());
        }
      }
    };
    describe(this->AttributeHistograms.Get(), bat_vtk::DescribeHistograms);
    describe(this->AttributeValues.Get(), bat_vtk::DescribeFewValues);
  }
  return true;
}

//------------------------------------------------------------------------------
vtkDoubleArray* vtkBATReader::GetAttributeHistograms()
{
  return this->DescribeSpread() ? this->AttributeHistograms : this->NoHistograms;
}

//------------------------------------------------------------------------------
vtkStringArray* vtkBATReader::GetAttributeValues()
{
  return this->DescribeSpread() ? this->AttributeValues : this->NoValues;
}

//------------------------------------------------------------------------------
void vtkBATReader::SetEstimateMatches(bool estimate)
{
  this->Internals->EstimateMatches = estimate; // no Modified(): the output stays as it is
}

//------------------------------------------------------------------------------
bool vtkBATReader::GetEstimateMatches() const
{
  return this->Internals->EstimateMatches;
}

//------------------------------------------------------------------------------
vtkDoubleArray* vtkBATReader::GetMatchEstimate()
{
  this->MatchEstimate->Reset();
  if (this->Internals->EstimateMatches)
  {
    const Failure failure = Failure::Of(
      [&]()
      {
        const bat::Dataset& file = this->Internals->Open();
        const bat::CountEstimate estimate = file.estimate_count(
          this->Internals->MakeQuery(file), this->Internals->OptionsOfEstimates());
        for (const std::uint64_t count : { estimate.minimum, estimate.likely, estimate.maximum })
        {
          this->MatchEstimate->InsertNextValue(static_cast<double>(count));
        }
      });
    this->Internals->MatchError = failure.Text;
  }
  return this->MatchEstimate;
}

//------------------------------------------------------------------------------
const char* vtkBATReader::GetMatchError() const
{
  return this->Internals->MatchError.c_str();
}

//------------------------------------------------------------------------------
double vtkBATReader::GetSpacingSpread()
{
  vtkInternals& self = *this->Internals;
  const bat::Dataset* file = self.File.Current();
  if (!file || this->LoadedCount == 0)
  {
    return 1.0; // merely opening a file must not wait
  }
  if (self.SpreadGeneration != self.File.Generation())
  {
    self.SpreadGeneration = self.File.Generation();
    self.SpacingSpread = 1.0;
    // Damage is reported by the update that loads the particles.
    static_cast<void>(
      Failure::Of([&]() { self.SpacingSpread = bat_vtk::ComputeSpacingSpread(*file); }));
  }
  return self.SpacingSpread;
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
  this->Internals->KeepWhenAborted = keep; // no Modified(): the output stays as it is
}

//------------------------------------------------------------------------------
bool vtkBATReader::GetKeepWhenAborted() const
{
  return this->Internals->KeepWhenAborted;
}

//------------------------------------------------------------------------------
bool vtkBATReader::GetAborted() const
{
  return this->Internals->Refining.IsAborted();
}

//------------------------------------------------------------------------------
void vtkBATReader::LoadMore()
{
  if (this->RefineWhileIdle)
  {
    this->Internals->Refining.AskForStep();
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkBATReader::PutOffStep()
{
  this->Internals->Refining.PutOff();
}

//------------------------------------------------------------------------------
void vtkBATReader::SelectionModified()
{
  // Names that are found in the file do not change the user's request.
  if (!this->Internals->FillingSelection)
  {
    this->Internals->WarnedAttributes.clear();
    this->Modified();
  }
}

//------------------------------------------------------------------------------
const char* vtkBATReader::GetErrorText() const
{
  return this->Internals->ErrorText.c_str();
}

//------------------------------------------------------------------------------
void vtkBATReader::SetController(vtkMultiProcessController* controller)
{
  this->Internals->Controller = controller; // no Modified(): the output stays as it is
}

//------------------------------------------------------------------------------
vtkMultiProcessController* vtkBATReader::GetController() const
{
  return this->Internals->Controller;
}

//------------------------------------------------------------------------------
void vtkBATReader::Refuse(unsigned long code, const char* text)
{
  this->Internals->Refused = {};
  if (text && *text)
  {
    this->Internals->Refused = { code, text };
  }
}

//------------------------------------------------------------------------------
void vtkBATReader::Say(const std::string& text)
{
  vtkInternals& self = *this->Internals;
  if (self.IsFirst() && self.Reported.Add(TextOrEmpty(this->FileName), text))
  {
    vtkErrorMacro(<< text);
  }
}

//------------------------------------------------------------------------------
void vtkBATReader::Report(const Failure& failure)
{
  this->ErrorCode = failure.Code; // SetErrorCode() would count as a change of the reader
  std::string& text = this->Internals->ErrorText;
  text = failure.TextWith(TextOrEmpty(this->FileName));
  if (failure)
  {
    this->Say(text);
  }
}

//------------------------------------------------------------------------------
int vtkBATReader::RequestInformation(
  vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector)
{
  vtkInformation* outInfo = outputVector->GetInformationObject(0);
  outInfo->Set(vtkAlgorithm::CAN_HANDLE_PIECE_REQUEST(), 1);
  this->DescribeNothing(outInfo);
  // Processes may request information again for themselves.
  const bool isChanged = this->GetMTime() != this->Internals->DescribedAt;
  const Failure failure = Failure::Of(
    [&]()
    {
      bat_vtk::ReadFirstOnRoot(isChanged ? this->Internals->Controller.Get() : nullptr,
        TextOrEmpty(this->FileName), [&]() { this->DescribeFile(outInfo); });
    });
  this->Internals->DescribedAt = this->GetMTime();
  this->Internals->FillingSelection = false;
  if (failure)
  {
    this->DescribeNothing(outInfo);
  }
  this->Report(failure);
  return 1;
}

//------------------------------------------------------------------------------
void vtkBATReader::DescribeNothing(vtkInformation* outInfo)
{
  this->ParticleCount = 0;
  this->LeafFileCount = 0;
  this->FileBytes = 0;
  this->SampleQuality = 1.0;
  std::fill_n(this->Bounds, 6, 0.0);
  this->DescribeBounds();
  this->AttributeRangesInfo->Reset();
  this->ParticleBytesInfo->Reset();
  this->Internals->Version.clear();
  this->Internals->FoundIdAttribute.clear();
  this->Internals->FoundSecondIdAttribute.clear();
  this->Internals->StableSamples.clear();
  outInfo->Remove(vtkDataObject::BOUNDING_BOX());
  outInfo->Remove(vtkStreamingDemandDrivenPipeline::TIME_STEPS());
  outInfo->Remove(vtkStreamingDemandDrivenPipeline::TIME_RANGE());
}

//------------------------------------------------------------------------------
void vtkBATReader::DescribeBounds()
{
  for (int axis = 0; axis < 3; ++axis)
  {
    const double* ends = this->Bounds + 2 * axis;
    this->BoundsHalfExtents[axis] = 0.5 * (ends[1] - ends[0]);
    this->BoundsCenter[axis] = ends[0] + this->BoundsHalfExtents[axis];
  }
  this->BoundsRadius = *std::max_element(this->BoundsHalfExtents, this->BoundsHalfExtents + 3);
  std::copy_n(this->Bounds + 4, 2, this->BoundsLimits);
}

//------------------------------------------------------------------------------
void vtkBATReader::DescribeFile(vtkInformation* outInfo)
{
  const bat::Dataset& file = this->Internals->Open();
  this->Internals->Version = file.format_version();
  this->ParticleCount = static_cast<vtkIdType>(file.particle_count());
  this->LeafFileCount = static_cast<vtkIdType>(file.leaves().size());
  this->FileBytes = static_cast<vtkIdType>(file.file_bytes());
  this->SampleQuality = bat_vtk::SampleOf(file).Quality;
  this->Internals->StableSamples.clear();
  for (const std::string& id : file.stable_samples())
  {
    this->Internals->StableSamples += (this->Internals->StableSamples.empty() ? "" : ", ") + id;
  }
  // A missing id attribute is an error only if Ids is set.
  static_cast<void>(Failure::Of(
    [&]()
    {
      const std::string id = FindIdAttribute(file, TextOrEmpty(this->IdAttribute));
      this->Internals->FoundIdAttribute = id;
      const std::optional<std::size_t> second = id.empty()
        ? std::nullopt
        : bat::find_second_id_attribute(file.attributes(), file.attribute_index(id));
      this->Internals->FoundSecondIdAttribute = second ? file.attributes()[*second].name : "";
    }));
  bat_vtk::DescribeRanges(file, this->AttributeRangesInfo);
  bat_vtk::DescribeBytes(file, this->ParticleBytesInfo);

  // Names that this file lacks stay: in a series of files another one may have them.
  this->Internals->Know(file);

  if (const std::optional<bat::Box> box = file.bounds())
  {
    for (int axis = 0; axis < 3; ++axis)
    {
      this->Bounds[2 * axis] = box->lower[axis];
      this->Bounds[2 * axis + 1] = box->upper[axis];
    }
    this->DescribeBounds();
    outInfo->Set(vtkDataObject::BOUNDING_BOX(), this->Bounds, 6);
  }
  if (const std::optional<double> time = file.time())
  {
    const double range[2] = { *time, *time };
    outInfo->Set(vtkStreamingDemandDrivenPipeline::TIME_STEPS(), range, 1);
    outInfo->Set(vtkStreamingDemandDrivenPipeline::TIME_RANGE(), range, 2);
  }
}

//------------------------------------------------------------------------------
std::string vtkBATReader::GetCutByBudget() const
{
  if (this->LoadedQuality >= this->Quality)
  {
    return "";
  }
  std::ostringstream text;
  text << this->FileName << ": loaded a sample of quality " << this->LoadedQuality << " of its "
       << WithCommas(this->ParticleCount)
       << " particles, to stay within Particle Budget = " << this->ParticleBudget
       << "; 0 means no limit"
       << (this->RefineWhileIdle ? ", and because Refine While Idle is on, which starts with "
                                   "fewer"
                                 : "");
  return text.str();
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
  for (const std::size_t i : this->Internals->RequestedAttributes(*file))
  {
    attributes.push_back(file->attributes()[i].name);
  }
  vtkInternals& self = *this->Internals;
  self.File.ReadAhead(fileName, self.MakeQuery(*file), self.MaxParticles(), attributes);
}

//------------------------------------------------------------------------------
bool vtkBATReader::LacksColumns() const
{
  const bat::Dataset* file = this->Internals->File.Current();
  return file && file->particle_count() == 0 && file->attributes().empty() &&
    this->Internals->KnownAttributes.empty();
}

//------------------------------------------------------------------------------
void vtkBATReader::LearnColumns(const char* fileName)
{
  // A fault in this file is reported when the file is shown.
  static_cast<void>(Failure::Of(
    [&]() { this->Internals->Know(bat::Dataset::open(std::filesystem::u8path(fileName))); }));
}

//------------------------------------------------------------------------------
int vtkBATReader::RequestData(
  vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector)
{
  vtkInternals& self = *this->Internals;
  self.Refining.Begin();
  this->SetAbortExecute(0); // it was for the update before
  self.Reported.BeginUpdate(TextOrEmpty(this->FileName));
  vtkPolyData* output = vtkPolyData::GetData(outputVector);
  vtkInformation* outInfo = outputVector->GetInformationObject(0);
  Failure failure;
  do
  {
    // The numbers of the last load stay until this one ends, because the panel shows them
    // meanwhile.
    output->Initialize();
    output->GetInformation()->Remove(vtkDataObject::DATA_TIME_STEP());
    self.HasPrefetched = false;
    failure = Failure::Of([&]() { this->LoadPiece(outInfo, output); });
    if (!self.HasPrefetched)
    {
      self.Prefetch([]() {}); // the others wait for a process that failed or has nothing to load
    }
  } while (!self.Agree(failure));
  if (failure)
  {
    self.Refining.Failed();
    this->DeliverNothing(output); // a half-filled output looks like success downstream
    self.Loaded.Clear();
    self.Cells = {};
    self.ForgetShown();
  }
  else if (!this->GetAborted())
  {
    self.WarnOfDamage();
    self.WarnOfUnknownAttributes(*self.File.Current());
    self.Reported.Loaded(TextOrEmpty(this->FileName));
  }
  this->Report(failure);
  self.Reported.EndUpdate();
  return 1;
}

//------------------------------------------------------------------------------
void vtkBATReader::DeliverNothing(vtkPolyData* output)
{
  output->Initialize();
  output->GetInformation()->Remove(vtkDataObject::DATA_TIME_STEP());
  this->LoadedCount = 0;
  this->LoadedQuality = 0.0;
  this->TargetQuality = 0.0; // nothing is left to refine
  this->SuggestedRadius = 0.0;
}

//------------------------------------------------------------------------------
void vtkBATReader::LoadPiece(vtkInformation* outInfo, vtkPolyData* output)
{
  using Pipeline = vtkStreamingDemandDrivenPipeline;
  const int pieces = outInfo->Has(Pipeline::UPDATE_NUMBER_OF_PIECES())
    ? std::max(1, outInfo->Get(Pipeline::UPDATE_NUMBER_OF_PIECES()))
    : 1;
  const int piece = outInfo->Has(Pipeline::UPDATE_PIECE_NUMBER())
    ? std::max(0, outInfo->Get(Pipeline::UPDATE_PIECE_NUMBER()))
    : 0;

  vtkInternals& self = *this->Internals;
  bat_vtk::LoadedParticles& loaded = self.Loaded;
  bat_vtk::LoadedParticles::Request request;
  double target = 0.0;
  bat_vtk::ReadFirstOnRoot(self.Controller, TextOrEmpty(this->FileName),
    [&]()
    {
      const bat::Dataset& file = self.Open();
      self.File.Keep();
      request.File = &file;
      request.Generation = self.File.Generation();
      request.Query = self.MakeQuery(file);
      request.Query.part = static_cast<std::uint32_t>(std::min(piece, pieces - 1));
      request.Query.parts = static_cast<std::uint32_t>(pieces);
      request.Attributes = self.RequestedAttributes(file);
      request.SkipDamaged = this->SkipDamaged;
      target = self.ChooseQuality(request);
      if (pieces > 1)
      {
        loaded.ReadCommon(request, self.IsFirst());
      }
    });
  request.Prefetch = [&self](const std::function<void()>& prefetch) { self.Prefetch(prefetch); };
  request.Progress = [this](double share)
  {
    this->UpdateProgress(share);
    return !this->Internals->Refining.IsPutOff() && !this->CheckAbort();
  };
  if (!loaded.CanAdd(request))
  {
    self.Cells = {};
    if (!self.KeepWhenAborted)
    {
      self.ForgetShown();
    }
  }
  // VTK may ask for pieces beyond the last.
  const bool isPiece = piece < pieces;
  if (isPiece && !loaded.Load(request))
  {
    self.Cancel(target, output);
    return;
  }
  self.Refining.Loaded();
  if (isPiece)
  {
    self.Deliver(request, output);
  }
  else
  {
    this->DeliverNothing(output);
  }
  this->TargetQuality = target;
}
