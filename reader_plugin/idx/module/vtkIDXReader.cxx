// SPDX-License-Identifier: BSD-3-Clause
#include "vtkIDXReader.h"

#include "Agreement.h"
#include "Failure.h"
#include "FileStamp.h"
#include "GridPlan.h"
#include "IDXNumbers.h"
#include "LevelRefining.h"
#include "ReportedOnce.h"
#include "vtkBATArrays.h"
#include "vtkBATScalarTypes.h"
#include "vtkFlowSource.h"

#include "bat/address.hpp"
#include "bat/error.hpp"
#include "bat/free_memory.hpp"
#include "bat/idx/dataset.hpp"
#include "bat/idx/velocity_source.hpp"
#include "bat/nearest_name.hpp"
#include "bat/recorded_reads.hpp"
#include "bat/scoped_stop.hpp"

#include "vtkCommand.h"
#include "vtkCommunicator.h"
#include "vtkDataArray.h"
#include "vtkDataArraySelection.h"
#include "vtkDataSetAttributes.h"
#include "vtkDoubleArray.h"
#include "vtkErrorCode.h"
#include "vtkFieldData.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkInformationIntegerKey.h"
#include "vtkInformationObjectBaseKey.h"
#include "vtkInformationStringKey.h"
#include "vtkInformationVector.h"
#include "vtkMultiProcessController.h"
#include "vtkObjectFactory.h"
#include "vtkPointData.h"
#include "vtkSmartPointer.h"
#include "vtkStreamingDemandDrivenPipeline.h"
#include "vtkTypeInt64Array.h"

#include <vtksys/SystemTools.hxx>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

using bat_vtk::Extent;
using bat_vtk::Failure;
using Pipeline = vtkStreamingDemandDrivenPipeline;

namespace
{
constexpr double Mebibyte = 1024.0 * 1024.0;

// If no VTK scalar has the type, uses the fixed-size one.
constexpr std::uint32_t NoHostType = 0;

std::string TextOrEmpty(const char* text)
{
  return text ? text : "";
}

void AddNumber(vtkFieldData* field, const char* name, std::int64_t value)
{
  vtkNew<vtkTypeInt64Array> array;
  array->SetName(name);
  array->InsertNextValue(value);
  // GUI_HIDE removes it from the arrays to colour by; the information panel still lists it.
  array->GetInformation()->Set(vtkAbstractArray::GUI_HIDE(), 1);
  field->AddArray(array);
}

// Refuses a read if the samples of all fields do not fit into memory.
void CheckMemory(const bat::idx::Dataset& file, const bat_vtk::GridPlan& plan, vtkIdType samples)
{
  double bytes = 0.0;
  for (const std::size_t index : plan.Question.Fields)
  {
    bytes +=
      static_cast<double>(samples) * static_cast<double>(file.fields()[index].sample_bytes());
  }
  bat::check_memory(bytes,
    file.name() + ": the samples of level " + std::to_string(plan.Level) + " requested",
    "a lower Resolution, a smaller Box or a limit in Memory Per Process reduces this");
}

vtkSmartPointer<vtkDataArray> MakeArray(
  const bat::idx::Dataset& file, const bat::idx::Field& field, vtkIdType samples)
{
  vtkSmartPointer<vtkDataArray> array;
  array.TakeReference(vtkDataArray::CreateDataArray(bat_vtk::ToVTKType(field.type, NoHostType)));
  array->SetName(field.name.c_str());
  array->SetNumberOfComponents(field.components);
  bat_vtk::TakeMemory(array, samples, file.name() + ": field '" + field.name + "'");
  return array;
}

void AddFacts(vtkFieldData* field, const bat::idx::Dataset& file, const bat_vtk::GridPlan& plan)
{
  AddNumber(field, "level", plan.Level);
  AddNumber(field, "level_requested", plan.Requested);
  AddNumber(field, "levels", file.levels());
  AddNumber(field, "samples", bat_vtk::PointsIn(plan.Whole));
}

double Saturated(double number)
{
  return std::min(number, 1.8e19); // limit for 64 bits
}
}

//------------------------------------------------------------------------------
class vtkIDXReader::vtkInternals
{
public:
  explicit vtkInternals(vtkIDXReader* reader)
    : Reader(reader)
  {
  }

  // Throws bat::Error and Failure.
  const bat::idx::Dataset& Open()
  {
    if (this->Refused)
    {
      throw this->Refused;
    }
    const std::string name = TextOrEmpty(this->Reader->FileName);
    if (name.empty())
    {
      throw Failure{ vtkErrorCode::NoFileNameError, "FileName must be set" };
    }
    if (const std::string fault = bat_vtk::FindNameFault(name); !fault.empty())
    {
      throw Failure{ vtkErrorCode::UserError, fault };
    }
    const std::filesystem::path path = std::filesystem::u8path(name);
    // The stamp is taken before opening: a file replaced in between is opened again next time.
    const std::optional<bat_vtk::FileStamp> stamp = bat_vtk::FileStamp::Of(path);
    if (!this->File || !stamp || !(this->Stamp == stamp) || this->OpenName != name ||
      (!bat::is_address(name) && !this->File->is_as_opened()))
    {
      this->File.reset();
      this->File.emplace(bat::idx::Dataset::open(path));
      this->OpenName = name;
      this->Stamp = stamp;
      ++this->Generation;
    }
    return *this->File;
  }

  // Returns the file that RequestInformation has opened, even if it has changed since; otherwise
  // the current one.
  const bat::idx::Dataset& Announced()
  {
    return this->Plan.Question.Generation != 0 ? *this->File : this->Open();
  }

  // Returns the fields to read, if they form the velocity of the announced file. Throws Failure.
  std::vector<std::string> VelocityFields() const
  {
    std::vector<std::string> vectors;
    std::vector<std::string> scalars;
    for (const std::size_t index : this->Plan.Question.Fields)
    {
      const bat::idx::Field& field = this->File->fields()[index];
      if (field.type == bat::ScalarType::Float32 || field.type == bat::ScalarType::Float64)
      {
        if (field.components == 2 || field.components == 3)
        {
          vectors.push_back(field.name);
        }
        else if (field.components == 1)
        {
          scalars.push_back(field.name);
        }
      }
    }
    if (vectors.size() == 1)
    {
      return vectors;
    }
    const std::size_t requested = this->Plan.Question.Fields.size();
    if (scalars.size() != requested || requested < 2 || requested > 3)
    {
      throw Failure{ vtkErrorCode::UserError,
        "check one field with 2 or 3 components of type float or double, or two or three fields "
        "with one component, and no others" };
    }
    return scalars;
  }

  // Returns the announced file as a flow; the same one as long as nothing has changed. Throws
  // bat::Error and Failure.
  void OpenFlow(double cacheMebibytes)
  {
    bat::idx::VelocityOptions options;
    options.fields = this->VelocityFields();
    // The rest of the memory is for bricks.
    const double memory = cacheMebibytes == 0
      ? static_cast<double>(bat::flow::CacheOptions::usual_bytes)
      : cacheMebibytes * Mebibyte;
    options.block_bytes = static_cast<std::uint64_t>(Saturated(std::ceil(memory / 4)));
    FlowCause cause{ this->Generation, this->Steps, options.fields, options.block_bytes };
    if (!this->Flow->GetSource() || !(this->LastFlow == cause))
    {
      bat::flow::CacheOptions bricks;
      bricks.bytes = 3 * std::min(options.block_bytes, std::uint64_t{ 1 } << 62);
      bricks.hints_file = bat::flow::hints_beside(std::filesystem::u8path(this->OpenName));
      this->Flow->SetSource(
        bat::idx::VelocitySource::open(std::filesystem::u8path(this->OpenName), options));
      this->Flow->SetCacheOptions(bricks);
      this->LastFlow = std::move(cause);
    }
  }

  std::vector<std::size_t> RequestedFields(const bat::idx::Dataset& file) const
  {
    vtkDataArraySelection* selection = this->Reader->PointDataArraySelection;
    std::vector<std::size_t> requested;
    for (std::size_t i = 0; i < file.fields().size(); ++i)
    {
      const char* name = file.fields()[i].name.c_str();
      if (selection->ArrayIsEnabled(name) || !selection->ArrayExists(name))
      {
        requested.push_back(i);
      }
    }
    return requested;
  }

  bat_vtk::GridPlan MakePlan(const bat::idx::Dataset& file) const
  {
    const vtkIDXReader& reader = *this->Reader;
    const double processes = this->Controller ? this->Controller->GetNumberOfProcesses() : 1;
    bat_vtk::GridSettings settings;
    settings.Resolution = reader.Resolution;
    settings.BudgetBytes =
      static_cast<std::uint64_t>(Saturated(std::ceil(reader.MemoryBudget * Mebibyte * processes)));
    settings.FirstBytes =
      static_cast<std::uint64_t>(bat_vtk::FirstMebibytes * Mebibyte * processes);
    settings.Refine = reader.RefineWhileIdle;
    settings.Fields = this->RequestedFields(file);
    if (reader.UseBox)
    {
      settings.Box.emplace();
      std::copy_n(reader.Box, 6, settings.Box->begin());
    }
    return bat_vtk::MakePlan(file, this->Generation, settings, this->Refining);
  }

  // Returns the last step that is not after the requested time, or else the first.
  std::size_t StepAt(vtkInformation* outInfo) const
  {
    if (!outInfo->Has(Pipeline::UPDATE_TIME_STEP()) || this->Times.empty())
    {
      return 0;
    }
    const double time = outInfo->Get(Pipeline::UPDATE_TIME_STEP());
    const auto after = std::upper_bound(this->Times.begin(), this->Times.end(), time);
    return after == this->Times.begin() ? 0
                                        : static_cast<std::size_t>(after - this->Times.begin()) - 1;
  }

  bool IsFirst() const { return !this->Controller || this->Controller->GetLocalProcessId() == 0; }

  // A name that an earlier file had, e.g. another one of the series, may return.
  void WarnOfUnknownFields(const bat::idx::Dataset& file)
  {
    vtkDataArraySelection* selection = this->Reader->PointDataArraySelection;
    for (int i = 0; i < selection->GetNumberOfArrays(); ++i)
    {
      const std::string name = selection->GetArrayName(i);
      if (!selection->GetArraySetting(i) || this->KnownFields.count(name) != 0)
      {
        continue;
      }
      std::string names;
      for (const bat::idx::Field& field : file.fields())
      {
        names += (names.empty() ? "" : ", ") + field.name;
      }
      this->Reader->Warn("field " + name,
        "unknown field '" + name + "' in PointArrayStatus" + bat::available(name, names));
    }
  }

  // Identifies an update that becomes necessary for a reason other than its extent; the same on all
  // processes.
  struct Cause
  {
    vtkMTimeType Time = 0;
    std::size_t Step = 0;
    bool operator==(const Cause& other) const
    {
      return this->Time == other.Time && this->Step == other.Step;
    }
  };

  // Collective, unless `alone`.
  void WarnOfAbsentBlocks(std::size_t step, bool alone)
  {
    double counts[2] = { this->AbsentBlocks, this->Blocks };
    if (!alone && this->Controller)
    {
      const double local[2] = { counts[0], counts[1] };
      this->Controller->AllReduce(local, counts, 2, vtkCommunicator::SUM_OP);
    }
    if (counts[0] > 0)
    {
      const std::string where =
        this->Steps.size() > 1 ? " at time step " + std::to_string(this->Steps[step]) : "";
      this->Reader->Warn("absent" + where,
        std::to_string(static_cast<std::int64_t>(counts[0])) + " of " +
          std::to_string(static_cast<std::int64_t>(counts[1])) + " blocks are missing" + where +
          "; their samples have the default value");
    }
  }

  void Deliver(vtkImageData* output)
  {
    vtkIDXReader* reader = this->Reader;
    this->Shown.Output->ShallowCopy(output);
    this->Shown.Level = reader->LoadedLevel;
    this->Shown.Samples = reader->LoadedSamples;
  }

  // Delivers the current output again.
  void Cancel(vtkImageData* output)
  {
    vtkIDXReader* reader = this->Reader;
    this->Refining.Cancelled();
    this->DeliverShown(output);
    // Refining does not resume by itself after the user has stopped it.
    reader->TargetLevel = this->Refining.IsAborted() ? this->Shown.Level : this->Plan.Target;
    reader->SetAbortOutput(false); // the executive would take the output away
  }

  void DeliverShown(vtkImageData* output)
  {
    output->ShallowCopy(this->Shown.Output);
    this->Reader->LoadedLevel = this->Shown.Level;
    this->Reader->LoadedSamples = this->Shown.Samples;
  }

  void ForgetShown()
  {
    this->Shown.Output->Initialize();
    this->Shown.Level = -1;
    this->Shown.Samples = 0;
  }

  struct Amounts
  {
    std::uint64_t Bytes = 0;
    std::uint64_t AbsentBlocks = 0;
  };

  // Reads the requested fields as arrays of `points`. Throws bat::Error.
  // Collective if the dataset is at an address. Requests what the processes need from the server
  // once. Faults show when the samples are read.
  void Prefetch(vtkInformation* outInfo)
  {
    vtkIDXReader* reader = this->Reader;
    const std::string name = TextOrEmpty(reader->FileName);
    const auto prefetch = [&](const Extent& extent)
    {
      if (this->NoPlan || !this->File || bat_vtk::IsEmpty(extent))
      {
        return;
      }
      bat::idx::Query query;
      query.level = this->Plan.Level;
      query.box = this->File->box_of_extent(query.level, extent);
      if (!this->Steps.empty())
      {
        query.step = this->Steps[this->StepAt(outInfo)];
      }
      for (const std::size_t field : this->Plan.Question.Fields)
      {
        query.field = field;
        this->File->prefetch(query);
      }
    };
    if (bat_vtk::IsAlone(this->Controller) || !bat::is_address(name))
    {
      return;
    }
    bat::StoppableProgress progress(
      [reader](double share)
      {
        reader->UpdateProgress(share);
        return !reader->CheckAbort();
      },
      true);
    static_cast<void>(Failure::Of(
      [&]()
      {
        bat_vtk::ReadFirstOnRoot(this->Controller, name,
          [&]()
          {
            const bat::HeldPrefetches held; // only what locates the blocks
            prefetch(this->Plan.Whole);
          });
      }));
    bat_vtk::PrefetchShared(this->Controller, name,
      [&]()
      {
        prefetch(bat_vtk::Intersection(
          bat_vtk::ExtentIn(outInfo, Pipeline::UPDATE_EXTENT()), this->Plan.Whole));
      });
  }

  Amounts ReadFields(bat::idx::Query query, vtkIdType samples, vtkPointData* points)
  {
    vtkIDXReader* reader = this->Reader;
    const bat::idx::Dataset& file = *this->File;
    Amounts amounts;
    double done = 0.0;
    const double all = static_cast<double>(this->Plan.Question.Fields.size());
    bat::idx::ReadOptions options;
    options.progress = [&](double share)
    {
      reader->UpdateProgress((done + share) / all);
      return !this->Refining.IsPutOff() && !reader->CheckAbort();
    };
    CheckMemory(file, this->Plan, samples);
    for (const std::size_t index : this->Plan.Question.Fields)
    {
      const bat::idx::Field& field = file.fields()[index];
      const vtkSmartPointer<vtkDataArray> array = MakeArray(file, field, samples);
      if (samples > 0)
      {
        query.field = index;
        const bat::idx::ReadReport report = file.read(query, array->GetVoidPointer(0),
          static_cast<std::size_t>(samples) * field.sample_bytes(), options);
        amounts.AbsentBlocks += report.absent_blocks;
        this->Blocks += static_cast<double>(report.blocks);
        amounts.Bytes += report.bytes_read;
      }
      const int number = points->AddArray(array);
      if (!points->GetScalars())
      {
        points->SetActiveAttribute(number, vtkDataSetAttributes::SCALARS);
      }
      done += 1.0;
    }
    return amounts;
  }

  std::optional<bat::idx::Dataset> File;
  std::string OpenName;
  std::optional<bat_vtk::FileStamp> Stamp;
  std::uint64_t Generation = 0;

  bat_vtk::GridPlan Plan;       ///< announced by RequestInformation
  Failure NoPlan;               ///< why there is no plan
  vtkMTimeType DescribedAt = 0; ///< change of the reader for which information was requested
  std::vector<std::int64_t> Steps;
  std::vector<double> Times;
  bat_vtk::LevelRefining Refining;

  struct FlowCause
  {
    std::uint64_t Generation = 0;
    std::vector<std::int64_t> Steps; ///< steps in the folder, if the text does not list them
    std::vector<std::string> Fields;
    std::uint64_t BlockBytes = 0;

    bool operator==(const FlowCause& other) const
    {
      return this->Generation == other.Generation && this->Steps == other.Steps &&
        this->Fields == other.Fields && this->BlockBytes == other.BlockBytes;
    }
  };
  vtkNew<vtkFlowSource> Flow;
  FlowCause LastFlow; ///< cause of its source

  enum class End
  {
    Loaded,
    Cancelled,
    Failed
  };
  std::optional<Cause> LastCause;
  End LastEnd = End::Loaded;
  Failure LastFailure;
  struct
  {
    vtkNew<vtkImageData> Output; ///< shares the arrays of the reader's output
    int Level = -1;
    vtkIdType Samples = 0;
  } Shown; ///< restored if an update is cancelled

  double Blocks = 0.0;       ///< blocks needed by the last update
  double AbsentBlocks = 0.0; ///< absent ones among these
  bool KeepWhenAborted = false;
  bool FillingSelection = false;
  bool ChoosingFile = false;
  Failure Refused; ///< set by the reader that chooses the files
  std::string Version;
  std::string ErrorText;
  std::string LoadError;
  bat_vtk::ReportedOnce Reported;
  std::set<std::string> Warned;      ///< files and kinds of warnings
  std::set<std::string> KnownFields; ///< fields of all files so far
  vtkSmartPointer<vtkMultiProcessController> Controller;

private:
  vtkIDXReader* Reader;
};

//------------------------------------------------------------------------------
vtkStandardNewMacro(vtkIDXReader);

//------------------------------------------------------------------------------
vtkIDXReader::vtkIDXReader()
  : Internals(new vtkInternals(this))
{
  static_assert(bat_vtk::FinestResolution == 62, "as the range of Resolution");
  this->SetNumberOfInputPorts(0);
  this->SetNumberOfOutputPorts(1);
  this->PointDataArraySelection->AddObserver(
    vtkCommand::ModifiedEvent, this, &vtkIDXReader::SelectionModified);
}

//------------------------------------------------------------------------------
vtkIDXReader::~vtkIDXReader()
{
  this->SetFileName(nullptr);
}

//------------------------------------------------------------------------------
void vtkIDXReader::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  const auto print = [&](const char* name, const double* numbers, int count)
  {
    os << indent << name << ":";
    std::for_each(numbers, numbers + count, [&os](double number) { os << " " << number; });
    os << "\n";
  };
  os << indent << "FileName: " << (this->FileName ? this->FileName : "(none)") << "\n";
  os << indent << "Resolution: " << this->Resolution << "\n";
  os << indent << "MemoryBudget: " << this->MemoryBudget << "\n";
  os << indent << "RefineWhileIdle: " << (this->RefineWhileIdle ? "on" : "off") << "\n";
  os << indent << "UseBox: " << (this->UseBox ? "on" : "off") << "\n";
  print("Box", this->Box, 6);
  os << indent << "CacheSize: " << this->CacheSize << "\n";
  os << indent << "PointDataArraySelection:\n";
  this->PointDataArraySelection->PrintSelf(os, indent.GetNextIndent());
  os << indent << "FileVersion: " << this->GetFileVersion() << "\n";
  os << indent << "Levels: " << this->Levels << "\n";
  print("Bounds", this->Bounds, 6);
  print("FullDimensions", this->FullDimensions, 3);
  os << indent << "LoadedLevel: " << this->LoadedLevel << "\n";
  os << indent << "TargetLevel: " << this->TargetLevel << "\n";
  os << indent << "LoadedSamples: " << this->LoadedSamples << "\n";
  os << indent << "BytesRead: " << this->BytesRead << "\n";
  os << indent << "KeepWhenAborted: " << (this->GetKeepWhenAborted() ? "on" : "off") << "\n";
  os << indent << "Aborted: " << (this->GetAborted() ? "yes" : "no") << "\n";
  os << indent << "ErrorText: " << this->Internals->ErrorText << "\n";
  os << indent << "LoadError: " << this->Internals->LoadError << "\n";
  os << indent << "Controller: " << this->Internals->Controller.Get() << "\n";
}

//------------------------------------------------------------------------------
int vtkIDXReader::CanReadFile(const char* fileName)
{
  return fileName && bat::idx::Dataset::can_open(std::filesystem::u8path(fileName)) ? 1 : 0;
}

//------------------------------------------------------------------------------
void vtkIDXReader::SetFileName(const char* name)
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
void vtkIDXReader::Modified()
{
  // A series alternates between files: that alone does not report an error again.
  if (!this->Internals->ChoosingFile)
  {
    this->Internals->Reported.SettingChanged();
  }
  this->Superclass::Modified();
}

//------------------------------------------------------------------------------
vtkDataArraySelection* vtkIDXReader::GetPointDataArraySelection()
{
  return this->PointDataArraySelection;
}

//------------------------------------------------------------------------------
void vtkIDXReader::SelectionModified()
{
  // Names that are found in the file do not change the user's request.
  if (!this->Internals->FillingSelection)
  {
    this->Modified();
  }
}

//------------------------------------------------------------------------------
const char* vtkIDXReader::GetFileVersion() const
{
  return this->Internals->Version.c_str();
}

//------------------------------------------------------------------------------
vtkDoubleArray* vtkIDXReader::GetLoadCost()
{
  this->LoadCost->Reset();
  const Failure failure = Failure::Of(
    [&]()
    {
      const bat::idx::Dataset& file = this->Internals->Announced();
      const bat_vtk::GridPlan plan = this->Internals->MakePlan(file);
      const auto& box = plan.Question.Box;
      const bat::idx::Lattice lattice = file.lattice(plan.Target, box);
      const auto cost = [&](int level) { return file.cost(plan.Question.Fields, level, box); };
      const auto add = [&](auto number)
      { this->LoadCost->InsertNextValue(static_cast<double>(number)); };
      add(plan.Target);
      std::for_each(lattice.count.begin(), lattice.count.end(), add);
      add(cost(plan.Target).bytes);
      add(cost(plan.Target).block_bytes);
      add(plan.Requested);
      add(cost(plan.Requested).bytes);
      add(file.levels());
      add(plan.Target < file.levels() ? cost(plan.Target + 1).bytes : 0);
    });
  this->Internals->LoadError = failure.TextWith(TextOrEmpty(this->FileName));
  return this->LoadCost;
}

//------------------------------------------------------------------------------
const char* vtkIDXReader::GetLoadError() const
{
  return this->Internals->LoadError.c_str();
}

//------------------------------------------------------------------------------
void vtkIDXReader::SetKeepWhenAborted(bool keep)
{
  this->Internals->KeepWhenAborted = keep; // no Modified(): the output stays as it is
}

//------------------------------------------------------------------------------
bool vtkIDXReader::GetKeepWhenAborted() const
{
  return this->Internals->KeepWhenAborted;
}

//------------------------------------------------------------------------------
bool vtkIDXReader::GetAborted() const
{
  return this->Internals->Refining.IsAborted();
}

//------------------------------------------------------------------------------
void vtkIDXReader::LoadMore()
{
  if (this->RefineWhileIdle)
  {
    this->Internals->Refining.AskForStep();
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkIDXReader::PutOffStep()
{
  this->Internals->Refining.PutOff();
}

//------------------------------------------------------------------------------
const char* vtkIDXReader::GetErrorText() const
{
  return this->Internals->ErrorText.c_str();
}

//------------------------------------------------------------------------------
void vtkIDXReader::SetController(vtkMultiProcessController* controller)
{
  this->Internals->Controller = controller; // no Modified(): the output stays as it is
}

//------------------------------------------------------------------------------
vtkMultiProcessController* vtkIDXReader::GetController() const
{
  return this->Internals->Controller;
}

//------------------------------------------------------------------------------
void vtkIDXReader::Refuse(unsigned long code, const char* text)
{
  this->Internals->Refused = {};
  if (text && *text)
  {
    this->Internals->Refused = { code, text };
  }
}

//------------------------------------------------------------------------------
void vtkIDXReader::ReadAhead(const char*) {}

//------------------------------------------------------------------------------
std::string vtkIDXReader::GetCutByBudget() const
{
  const bat_vtk::GridPlan& plan = this->Internals->Plan;
  if (this->LoadedLevel < 0 || this->LoadedLevel >= plan.Requested)
  {
    return "";
  }
  return TextOrEmpty(this->FileName) + ": level " + std::to_string(this->LoadedLevel) + " of " +
    std::to_string(plan.Requested) + " is loaded, " +
    (plan.Target < plan.Requested ? "to stay within Memory Per Process; 0 means no limit"
                                  : "because Refine While Idle is on, which starts with less");
}

//------------------------------------------------------------------------------
void vtkIDXReader::Report(const Failure& failure)
{
  vtkInternals& self = *this->Internals;
  this->ErrorCode = failure.Code; // SetErrorCode() would count as a change of the reader
  const std::string name = TextOrEmpty(this->FileName);
  self.ErrorText = failure.TextWith(name);
  if (failure && self.IsFirst() && self.Reported.Add(name, self.ErrorText))
  {
    vtkErrorMacro(<< self.ErrorText);
  }
}

//------------------------------------------------------------------------------
void vtkIDXReader::Warn(const std::string& kind, const std::string& text)
{
  const std::string name = TextOrEmpty(this->FileName);
  if (this->Internals->Warned.insert(name + "\n" + kind).second && this->Internals->IsFirst())
  {
    vtkWarningMacro(<< name << ": " << text);
  }
}

//------------------------------------------------------------------------------
int vtkIDXReader::RequestInformation(
  vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector)
{
  vtkInformation* outInfo = outputVector->GetInformationObject(0);
  outInfo->Set(vtkAlgorithm::CAN_PRODUCE_SUB_EXTENT(), 1);
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
  this->Internals->NoPlan = failure;
  if (failure)
  {
    this->DescribeNothing(outInfo);
  }
  this->Report(failure);
  return 1;
}

//------------------------------------------------------------------------------
void vtkIDXReader::DescribeNothing(vtkInformation* outInfo)
{
  vtkInternals& self = *this->Internals;
  this->Levels = 0;
  std::fill_n(this->Bounds, 6, 0.0);
  std::fill_n(this->FullDimensions, 3, 0.0);
  self.Version.clear();
  self.Plan = {};
  self.Steps.clear();
  self.Times.clear();
  outInfo->Set(Pipeline::WHOLE_EXTENT(), bat_vtk::EmptyExtent.data(), 6);
  outInfo->Remove(Pipeline::TIME_STEPS());
  outInfo->Remove(Pipeline::TIME_RANGE());
  outInfo->Remove(vtkFlowSource::FLOW_SOURCE());
  outInfo->Remove(vtkFlowSource::FLOW_PROBLEM());
}

//------------------------------------------------------------------------------
void vtkIDXReader::DescribeFile(vtkInformation* outInfo)
{
  vtkInternals& self = *this->Internals;
  const bat::idx::Dataset& file = self.Open();
  self.Version = file.header().pidx ? "6.1 (PIDX)" : std::to_string(file.header().version);
  this->Levels = file.levels();
  const std::array<double, 6> bounds = bat_vtk::ComputeBounds(file);
  std::copy(bounds.begin(), bounds.end(), this->Bounds);
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    this->FullDimensions[axis] =
      static_cast<double>(file.box().upper[axis] - file.box().lower[axis] + 1);
  }

  // Names that this file lacks stay: in a series of files another one may have them.
  self.FillingSelection = true;
  for (const bat::idx::Field& field : file.fields())
  {
    self.KnownFields.insert(field.name);
    if (!this->PointDataArraySelection->ArrayExists(field.name.c_str()))
    {
      this->PointDataArraySelection->AddArray(field.name.c_str());
    }
  }
  self.FillingSelection = false;

  self.Steps = file.steps();
  self.Times = file.times();
  // If several steps had the same time, only the last one could be shown.
  for (std::size_t i = 1; i < self.Times.size(); ++i)
  {
    self.Times[i] = std::max(
      self.Times[i], std::nextafter(self.Times[i - 1], std::numeric_limits<double>::infinity()));
  }
  if (!self.Times.empty())
  {
    outInfo->Set(Pipeline::TIME_STEPS(), self.Times.data(), static_cast<int>(self.Times.size()));
    const double range[2] = { self.Times.front(), self.Times.back() };
    outInfo->Set(Pipeline::TIME_RANGE(), range, 2);
  }

  self.Plan = self.MakePlan(file);
  outInfo->Set(Pipeline::WHOLE_EXTENT(), self.Plan.Whole.data(), 6);
  outInfo->Set(vtkDataObject::ORIGIN(), self.Plan.Origin.data(), 3);
  outInfo->Set(vtkDataObject::SPACING(), self.Plan.Spacing.data(), 3);
  if (!self.Plan.Warning.empty())
  {
    this->Warn(self.Plan.Warning, self.Plan.Warning);
  }
  this->DescribeFlow(outInfo);
}

//------------------------------------------------------------------------------
// Filters that need a flow report this problem.
void vtkIDXReader::DescribeFlow(vtkInformation* outInfo)
{
  vtkInternals& self = *this->Internals;
  const Failure failure = Failure::Of(
    [&]()
    {
      self.OpenFlow(this->CacheSize);
      outInfo->Set(vtkFlowSource::FLOW_SOURCE(), self.Flow);
    });
  if (failure)
  {
    outInfo->Set(
      vtkFlowSource::FLOW_PROBLEM(), failure.TextWith(TextOrEmpty(this->FileName)).c_str());
  }
}

//------------------------------------------------------------------------------
// A cancelled load sets `cancelled` and is not a failure.
Failure vtkIDXReader::TryLoading(vtkInformation* outInfo, vtkImageData* output, bool& cancelled)
{
  return Failure::Of(
    [&]()
    {
      try
      {
        this->LoadExtent(outInfo, output);
      }
      catch (const bat::Error& error)
      {
        cancelled = error.code() == bat::ErrorCode::Cancelled;
        if (!cancelled)
        {
          throw;
        }
      }
    });
}

//------------------------------------------------------------------------------
// Collective, unless only the extent of the update has changed.
void vtkIDXReader::DeliverEnd(
  vtkImageData* output, const Failure& failure, bool cancelled, bool isSame)
{
  using End = vtkInternals::End;
  vtkInternals& self = *this->Internals;
  if (failure)
  {
    self.Refining.Failed();
    self.Stamp.reset();           // files may have been replaced: they are opened again
    this->DeliverNothing(output); // a half-filled output looks like success downstream
    self.ForgetShown();
    self.LastEnd = End::Failed;
    self.LastFailure = failure;
  }
  else if (cancelled)
  {
    self.Cancel(output);
    self.LastEnd = End::Cancelled;
  }
  else
  {
    self.Refining.Loaded();
    self.Deliver(output);
    self.WarnOfAbsentBlocks(self.LastCause->Step, isSame);
    self.WarnOfUnknownFields(*self.File);
    self.Reported.Loaded(TextOrEmpty(this->FileName));
    self.LastEnd = End::Loaded;
  }
}

//------------------------------------------------------------------------------
int vtkIDXReader::RequestData(
  vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector)
{
  using End = vtkInternals::End;
  vtkInternals& self = *this->Internals;
  vtkImageData* output = vtkImageData::GetData(outputVector);
  vtkInformation* outInfo = outputVector->GetInformationObject(0);
  const vtkInternals::Cause cause{ this->GetMTime(), self.StepAt(outInfo) };
  const bool isSame = self.LastCause == cause;
  if (isSame && self.LastEnd == End::Cancelled)
  {
    self.DeliverShown(output); // until the next request
    return 1;
  }
  // Filters that read bricks themselves request no sample on any process, at the first time step:
  // nothing is loaded for that, and the previous output and its state stay.
  const bool wants = self.NoPlan || bat_vtk::IsEmpty(self.Plan.Whole) ||
    !bat_vtk::IsEmpty(bat_vtk::ExtentIn(outInfo, Pipeline::UPDATE_EXTENT()));
  if (!isSame && !bat_vtk::ReduceAny(self.Controller, wants))
  {
    output->Initialize();
    if (!self.Times.empty())
    {
      output->GetInformation()->Set(vtkDataObject::DATA_TIME_STEP(), self.Times[cause.Step]);
    }
    return 1;
  }
  self.LastCause = cause;
  self.Refining.Begin(self.Plan.Question, self.Plan.Level);
  this->SetAbortExecute(0); // it was for the update before
  self.Reported.BeginUpdate(TextOrEmpty(this->FileName));
  this->DeliverNothing(output);

  bool cancelled = false;
  Failure failure = isSame && self.LastEnd == End::Failed ? self.LastFailure : Failure{};
  if (!isSame)
  {
    self.Prefetch(outInfo);
  }
  if (!failure)
  {
    failure = this->TryLoading(outInfo, output, cancelled);
  }
  // Some processes may request other extents of the same data while others do not.
  if (!isSame)
  {
    failure = bat_vtk::FirstFailure(self.Controller, failure, TextOrEmpty(this->FileName),
      self.File ? self.File->text() : std::string());
  }
  this->DeliverEnd(output, failure, cancelled, isSame);
  this->Report(failure);
  self.Reported.EndUpdate();
  return 1;
}

//------------------------------------------------------------------------------
void vtkIDXReader::DeliverNothing(vtkImageData* output)
{
  output->Initialize();
  output->GetInformation()->Remove(vtkDataObject::DATA_TIME_STEP());
  this->LoadedLevel = -1;
  this->TargetLevel = -1; // nothing is left to refine
  this->LoadedSamples = 0;
  this->BytesRead = 0;
  this->Internals->Blocks = 0.0;
  this->Internals->AbsentBlocks = 0.0;
}

//------------------------------------------------------------------------------
void vtkIDXReader::LoadExtent(vtkInformation* outInfo, vtkImageData* output)
{
  vtkInternals& self = *this->Internals;
  if (self.NoPlan)
  {
    throw self.NoPlan;
  }
  const bat::idx::Dataset& file = *self.File; // the announced file, which may have grown since
  const bat_vtk::GridPlan& plan = self.Plan;
  if (!self.KeepWhenAborted && !self.Refining.IsStep())
  {
    self.ForgetShown();
  }
  const std::size_t step = self.StepAt(outInfo);
  const Extent extent =
    bat_vtk::Intersection(bat_vtk::ExtentIn(outInfo, Pipeline::UPDATE_EXTENT()), plan.Whole);
  output->SetExtent(const_cast<int*>(extent.data()));
  output->SetOrigin(plan.Origin[0], plan.Origin[1], plan.Origin[2]);
  output->SetSpacing(plan.Spacing[0], plan.Spacing[1], plan.Spacing[2]);
  const vtkIdType samples = bat_vtk::PointsIn(extent);

  bat::idx::Query query;
  query.level = plan.Level;
  query.box = file.box_of_extent(plan.Level, extent);
  if (!self.Steps.empty())
  {
    query.step = self.Steps[step];
  }
  const vtkInternals::Amounts amounts = self.ReadFields(query, samples, output->GetPointData());

  this->LoadedLevel = plan.Level;
  this->TargetLevel = plan.Target;
  this->LoadedSamples = samples;
  this->BytesRead = static_cast<vtkIdType>(amounts.Bytes);
  vtkFieldData* about = output->GetFieldData();
  AddFacts(about, file, plan);
  AddNumber(about, "bytes_read", static_cast<std::int64_t>(amounts.Bytes));
  AddNumber(about, "absent_blocks", static_cast<std::int64_t>(amounts.AbsentBlocks));
  self.AbsentBlocks = static_cast<double>(amounts.AbsentBlocks);
  if (query.step)
  {
    AddNumber(about, "timestep", *query.step); // used by writers
    output->GetInformation()->Set(vtkDataObject::DATA_TIME_STEP(), self.Times[step]);
  }
}
