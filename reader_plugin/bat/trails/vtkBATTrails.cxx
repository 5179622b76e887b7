// SPDX-License-Identifier: BSD-3-Clause
#include "vtkBATTrails.h"

#include "IdList.h"
#include "IdPairsOf.h"
#include "TrailsToVTK.h"
#include "vtkBATErrors.h"

#include "bat/bat.hpp"

#include "vtkDataArraySelection.h"
#include "vtkDataObject.h"
#include "vtkErrorCode.h"
#include "vtkExecutive.h"
#include "vtkInformation.h"
#include "vtkInformationIntegerKey.h"
#include "vtkInformationVector.h"
#include "vtkObjectFactory.h"
#include "vtkPolyData.h"
#include "vtkSmartPointer.h"
#include "vtkStreamingDemandDrivenPipeline.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace
{
constexpr std::uint64_t ManyCompared = 10000000; // ids, which take a while

std::string TextOrEmpty(const char* text)
{
  return text ? text : "";
}

/// The inputs on which reading depends.
struct TrailRequest
{
  std::vector<bat::SeriesStep> Steps;
  bat::FollowRequest Request;
  bool SkipDamaged = false;
  bool IsNobody = false; ///< a process that has no ids
};

// Keeps the ids assigned to one of `pieces` processes. A process without ids reads the first id,
// for the names of its arrays, and shows nothing.
void KeepShare(TrailRequest& requested, std::size_t piece, std::size_t pieces)
{
  bat::FollowRequest& request = requested.Request;
  const std::size_t count = request.ids.size();
  const std::size_t first = count * piece / pieces;
  const std::size_t end = count * (piece + 1) / pieces;
  requested.IsNobody = first == end;
  const auto take = [&](std::vector<bat::Number>& numbers)
  {
    if (!numbers.empty())
    {
      numbers = requested.IsNobody
        ? std::vector<bat::Number>{ numbers.front() }
        : std::vector<bat::Number>(numbers.begin() + static_cast<std::ptrdiff_t>(first),
            numbers.begin() + static_cast<std::ptrdiff_t>(end));
    }
  };
  take(request.ids);
  take(request.second);
}

std::vector<std::string> CollectChosen(vtkDataArraySelection* selection)
{
  std::vector<std::string> chosen;
  for (int i = 0; i < selection->GetNumberOfArrays(); ++i)
  {
    if (selection->GetArraySetting(i) != 0)
    {
      chosen.push_back(selection->GetArrayName(i));
    }
  }
  return chosen;
}

bat::Trails FollowParticles(const TrailRequest& requested, const bat::FollowOptions& options)
{
  bat::Trails trails = bat::follow(requested.Steps, requested.Request, options);
  if (requested.IsNobody)
  {
    std::fill(trails.counts.begin(), trails.counts.end(), 0);
  }
  return trails;
}

bool IsSame(const TrailRequest& a, const TrailRequest& b)
{
  const auto boxOf = [](const bat::FollowRequest& request)
  { return request.periodic_box.value_or(bat::Box{}); };
  const auto isSameStep = [](const bat::SeriesStep& x, const bat::SeriesStep& y)
  { return x.path == y.path && x.time == y.time; };
  return std::equal(a.Steps.begin(), a.Steps.end(), b.Steps.begin(), b.Steps.end(), isSameStep) &&
    a.Request.id_attribute == b.Request.id_attribute && a.Request.ids == b.Request.ids &&
    a.Request.second_attribute == b.Request.second_attribute &&
    a.Request.second == b.Request.second && a.Request.attributes == b.Request.attributes &&
    a.Request.periodic_box.has_value() == b.Request.periodic_box.has_value() &&
    boxOf(a.Request).lower == boxOf(b.Request).lower &&
    boxOf(a.Request).upper == boxOf(b.Request).upper &&
    a.Request.unwrap_by_files == b.Request.unwrap_by_files && a.SkipDamaged == b.SkipDamaged &&
    a.IsNobody == b.IsNobody;
}

bool DoAscend(const std::vector<double>& times)
{
  return std::adjacent_find(
           times.begin(), times.end(), [](double a, double b) { return !(a < b); }) == times.end();
}
}

//------------------------------------------------------------------------------
class vtkBATTrails::vtkInternals
{
public:
  std::vector<std::string> FileNames;
  vtkSmartPointer<vtkDataArraySelection> Selection = vtkSmartPointer<vtkDataArraySelection>::New();

  std::vector<bat::SeriesStep> Steps; ///< after FindSteps()
  std::vector<double> Times;
  std::string IdName;
  std::string SecondName;            ///< second id attribute; empty if ids alone are unique
  std::optional<bat::Tracks> Tracks; ///< set for a tracks file

  /// Ids without their second numbers, and the particles that have them.
  struct SharedIds
  {
    std::vector<bat::SeriesStep> Steps;
    std::string IdName;
    std::string SecondName;
    std::vector<bat::Number> Ids;
    bool SkipDamaged = false;
    bat_vtk::IdPairs Pairs;
  };
  std::optional<SharedIds> Shared;

  std::optional<TrailRequest> Followed; ///< request that produced Particles
  bat_vtk::FollowedParticles Particles;
  vtkSmartPointer<vtkPolyData> Lines; ///< lines of the steps in Shown
  std::pair<std::size_t, std::size_t> Shown;

  // Finds the steps in the order of their times, and the times. Throws bat::Error.
  void FindSteps()
  {
    this->Steps.clear();
    this->Tracks.reset();
    for (const std::string& name : this->FileNames)
    {
      if (bat::is_tracks(name))
      {
        this->FindSamples(name);
        return;
      }
      std::vector<bat::SeriesStep> steps = bat::read_series(name);
      std::move(steps.begin(), steps.end(), std::back_inserter(this->Steps));
    }
    std::vector<std::pair<double, bat::SeriesStep>> byTime;
    for (const bat::SeriesStep& step : this->Steps)
    {
      const std::optional<double> time = step.time ? step.time : OwnTime(step);
      if (!time)
      {
        break;
      }
      byTime.emplace_back(*time, step);
    }
    this->Times.clear();
    if (byTime.size() == this->Steps.size())
    {
      std::stable_sort(byTime.begin(), byTime.end(),
        [](const auto& a, const auto& b) { return a.first < b.first; });
      for (const auto& [time, step] : byTime)
      {
        this->Times.push_back(time);
      }
    }
    if (this->Times.size() == this->Steps.size() && DoAscend(this->Times))
    {
      std::transform(byTime.begin(), byTime.end(), this->Steps.begin(),
        [](const auto& pair) { return pair.second; });
      return;
    }
    this->NumberSteps(this->Steps.size());
  }

  // Uses the times of the samples that were followed: since then, a file may have grown or a run
  // may have been repeated.
  void TakeTimes(const bat::Trails& trails)
  {
    std::vector<std::optional<double>> times;
    for (const bat::TrailStep& step : trails.steps)
    {
      times.push_back(step.time);
    }
    this->TakeTimes(times);
  }

  // Describes the first file that has particles or, if none can be read, the fault of the first.
  // Throws bat::Error.
  void Describe(const std::string& idAttribute, const std::string& secondAttribute)
  {
    if (this->Tracks)
    {
      std::vector<std::string> names;
      for (const bat::Attribute& attribute : this->Tracks->schema.attributes)
      {
        names.push_back(attribute.name);
      }
      this->IdName = idAttribute.empty() ? this->Tracks->schema.id_attribute : idAttribute;
      this->SecondName =
        secondAttribute.empty() ? this->Tracks->schema.second_attribute : secondAttribute;
      this->TellAttributes(names);
      return;
    }
    std::optional<bat::Error> first;
    for (const bat::SeriesStep& step : this->Steps)
    {
      std::optional<bat::Error> error = bat::attempt(
        [&]
        {
          const bat::Dataset dataset = bat::Dataset::open(step.path);
          if (dataset.particle_count() != 0)
          {
            this->Describe(dataset, idAttribute, secondAttribute);
          }
        });
      if (!error && !this->IdName.empty())
      {
        return;
      }
      first = first ? first : error;
    }
    if (first)
    {
      throw bat::Error(*first);
    }
  }

  // Returns all particles with the ids, which several may share. Throws bat::Error.
  const bat_vtk::IdPairs& PairsOf(
    const std::vector<bat::Number>& ids, bool skipDamaged, std::size_t maximum)
  {
    const auto isSameStep = [](const bat::SeriesStep& a, const bat::SeriesStep& b)
    { return a.path == b.path; };
    if (!this->Shared || this->Shared->IdName != this->IdName || this->Shared->Ids != ids ||
      this->Shared->SecondName != this->SecondName || this->Shared->SkipDamaged != skipDamaged ||
      !std::equal(this->Shared->Steps.begin(), this->Shared->Steps.end(), this->Steps.begin(),
        this->Steps.end(), isSameStep))
    {
      this->Shared.reset();
      bat_vtk::IdPairs pairs = this->Tracks ? bat_vtk::FindIdPairs(*this->Tracks, ids, maximum)
                                            : bat_vtk::FindIdPairs(this->Steps, this->IdName,
                                                this->SecondName, ids, maximum, skipDamaged);
      this->Shared = SharedIds{ this->Steps, this->IdName, this->SecondName, ids, skipDamaged,
        std::move(pairs) };
    }
    return this->Shared->Pairs;
  }

  // Returns the particles named by `text`; without a text, all of a tracks file. Throws bat::Error.
  void ChooseIds(TrailRequest& requested, const std::string& text, std::size_t maximum)
  {
    bat::FollowRequest& request = requested.Request;
    if (text.find(':') == std::string::npos)
    {
      request.ids = bat_vtk::ListIds(text, maximum);
      if (!request.ids.empty() && !this->SecondName.empty())
      {
        const bat_vtk::IdPairs& pairs = this->PairsOf(request.ids, requested.SkipDamaged, maximum);
        request.ids = pairs.First;
        request.second = pairs.Second;
      }
    }
    else
    {
      bat_vtk::IdPairs pairs = bat_vtk::ParseIdPairs(text);
      request.ids = std::move(pairs.First);
      request.second = std::move(pairs.Second);
      if (this->SecondName.empty() && !this->IdName.empty())
      {
        throw bat::Error(bat::ErrorCode::InvalidArgument,
          "Ids are pairs, but no attribute is the cpu of '" + this->IdName +
            "'; set Second Id Attribute");
      }
    }
    request.second_attribute = request.second.empty() ? "" : this->SecondName;
    if (request.ids.empty() && this->Tracks)
    {
      this->ChooseAll(request, maximum);
    }
  }

  // Throws bat::Error for more than `maximum`.
  void ChooseAll(bat::FollowRequest& request, std::size_t maximum) const
  {
    request.ids = this->Tracks->ids;
    request.second = this->Tracks->second;
    request.second_attribute = this->Tracks->schema.second_attribute;
    if (request.ids.size() > maximum)
    {
      throw bat::Error(bat::ErrorCode::InvalidArgument,
        this->FileNames.front() + ": has " + std::to_string(request.ids.size()) +
          " particles; at most " + std::to_string(maximum) +
          " can be followed: select them with Ids");
    }
  }

  std::size_t StepAt(double time) const
  {
    const auto after = std::upper_bound(this->Times.begin(), this->Times.end(), time);
    return after == this->Times.begin() ? 0
                                        : static_cast<std::size_t>(after - this->Times.begin()) - 1;
  }

private:
  // Finds the samples of a tracks file. Throws bat::Error.
  void FindSamples(const std::string& name)
  {
    if (this->FileNames.size() != 1)
    {
      throw bat::Error(
        bat::ErrorCode::InvalidArgument, name + ": is a tracks file and must be the only file");
    }
    this->Tracks = bat::Tracks::open(name);
    this->Steps = { { name, std::nullopt } };
    std::vector<std::optional<double>> times;
    for (const bat::Tracks::Sample& sample : this->Tracks->samples)
    {
      times.push_back(sample.time);
    }
    this->TakeTimes(times);
  }

  void TakeTimes(const std::vector<std::optional<double>>& times)
  {
    this->Times.clear();
    for (const std::optional<double>& time : times)
    {
      if (time)
      {
        this->Times.push_back(*time);
      }
    }
    if (this->Times.size() != times.size() || !DoAscend(this->Times))
    {
      this->NumberSteps(times.size());
    }
  }

  void NumberSteps(std::size_t count)
  {
    this->Times.resize(count);
    for (std::size_t i = 0; i < count; ++i)
    {
      this->Times[i] = static_cast<double>(i);
    }
  }

  static std::optional<double> OwnTime(const bat::SeriesStep& step)
  {
    std::optional<double> time;
    (void)bat::attempt([&] { time = bat::Dataset::open(step.path).time(); });
    return time;
  }

  void Describe(
    const bat::Dataset& dataset, const std::string& idAttribute, const std::string& secondAttribute)
  {
    std::string id = idAttribute;
    if (id.empty())
    {
      const std::optional<std::size_t> found = bat::find_id_attribute(dataset.attributes());
      if (!found)
      {
        std::string names;
        for (const std::string& name : dataset.attribute_names())
        {
          names += (names.empty() ? "" : ", ") + name;
        }
        throw bat::Error(bat::ErrorCode::InvalidArgument,
          dataset.name() + ": no attribute is called id; set one of " +
            (names.empty() ? "none" : names) + " as Id Attribute");
      }
      id = dataset.attributes()[*found].name;
    }
    this->IdName = id;
    this->SecondName = secondAttribute;
    const std::vector<std::string> names = dataset.attribute_names();
    const auto at = std::find(names.begin(), names.end(), id);
    if (secondAttribute.empty() && at != names.end())
    {
      const std::optional<std::size_t> second = bat::find_second_id_attribute(
        dataset.attributes(), static_cast<std::size_t>(at - names.begin()));
      this->SecondName = second ? names[*second] : "";
    }
    this->TellAttributes(names);
  }

  void TellAttributes(const std::vector<std::string>& all)
  {
    std::set<std::string> names;
    for (const std::string& name : all)
    {
      if (name != this->IdName && name != this->SecondName)
      {
        names.insert(name);
        this->Selection->AddArray(name.c_str());
      }
    }
    for (int i = this->Selection->GetNumberOfArrays() - 1; i >= 0; --i)
    {
      if (names.count(this->Selection->GetArrayName(i)) == 0)
      {
        this->Selection->RemoveArrayByIndex(i);
      }
    }
  }
};

//------------------------------------------------------------------------------
vtkStandardNewMacro(vtkBATTrails);

//------------------------------------------------------------------------------
vtkBATTrails::vtkBATTrails()
  : Internals(std::make_unique<vtkInternals>())
{
  this->SetNumberOfInputPorts(0);
  this->SetNumberOfOutputPorts(2);
}

//------------------------------------------------------------------------------
vtkBATTrails::~vtkBATTrails()
{
  this->SetIds(nullptr);
  this->SetIdAttribute(nullptr);
  this->SetSecondIdAttribute(nullptr);
}

//------------------------------------------------------------------------------
void vtkBATTrails::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "FileNames:";
  for (const std::string& name : this->Internals->FileNames)
  {
    os << " " << name;
  }
  os << "\n";
  os << indent << "Ids: " << (this->Ids ? this->Ids : "(none)") << "\n";
  os << indent
     << "IdAttribute: " << (this->IdAttribute ? this->IdAttribute : "(determined by name)") << "\n";
  os << indent << "SecondIdAttribute: "
     << (this->SecondIdAttribute ? this->SecondIdAttribute : "(determined by name)") << "\n";
  os << indent << "Show: " << this->Show << "\n";
  os << indent << "NumberOfSteps: " << this->NumberOfSteps << "\n";
  os << indent << "Unwrap: " << this->Unwrap << "\n";
  os << indent << "PeriodicBox:";
  for (const double end : this->PeriodicBox)
  {
    os << " " << end;
  }
  os << "\n";
  os << indent << "SkipDamaged: " << (this->SkipDamaged ? "on" : "off") << "\n";
  os << indent << "FoundCount: " << this->GetFoundCount() << "\n";
}

//------------------------------------------------------------------------------
int vtkBATTrails::CanReadFile(const char* name)
{
  const std::string path = TextOrEmpty(name);
  return bat::is_tracks(path) && !bat::attempt([&] { (void)bat::Tracks::open(path); }) ? 1 : 0;
}

//------------------------------------------------------------------------------
void vtkBATTrails::AddFileName(const char* name)
{
  this->Internals->FileNames.push_back(TextOrEmpty(name));
  this->Modified();
}

//------------------------------------------------------------------------------
void vtkBATTrails::RemoveAllFileNames()
{
  if (!this->Internals->FileNames.empty())
  {
    this->Internals->FileNames.clear();
    this->Modified();
  }
}

//------------------------------------------------------------------------------
vtkDataArraySelection* vtkBATTrails::GetPointDataArraySelection() const
{
  return this->Internals->Selection;
}

//------------------------------------------------------------------------------
void vtkBATTrails::Reload()
{
  this->Internals->Followed.reset();
  this->Internals->Shared.reset();
  this->Modified();
}

//------------------------------------------------------------------------------
vtkIdType vtkBATTrails::GetFoundCount() const
{
  const bat::Trails& trails = this->Internals->Particles.Trails;
  vtkIdType found = 0;
  for (std::size_t id = 0; id < trails.ids; ++id)
  {
    for (std::size_t step = 0; step < trails.steps.size(); ++step)
    {
      if (trails.is_there(step, id))
      {
        ++found;
        break;
      }
    }
  }
  return found;
}

//------------------------------------------------------------------------------
vtkMTimeType vtkBATTrails::GetMTime()
{
  return std::max(this->Superclass::GetMTime(), this->Internals->Selection->GetMTime());
}

//------------------------------------------------------------------------------
int vtkBATTrails::FillOutputPortInformation(int, vtkInformation* info)
{
  info->Set(vtkDataObject::DATA_TYPE_NAME(), "vtkPolyData");
  return 1;
}

//------------------------------------------------------------------------------
int vtkBATTrails::Fail(unsigned long code, const std::string& text)
{
  this->SetErrorCode(code);
  vtkErrorMacro(<< text);
  return 0;
}

//------------------------------------------------------------------------------
int vtkBATTrails::RequestInformation(
  vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector)
{
  using Pipeline = vtkStreamingDemandDrivenPipeline;
  this->SetErrorCode(vtkErrorCode::NoError);
  vtkInternals& self = *this->Internals;
  if (self.FileNames.empty())
  {
    return this->Fail(vtkErrorCode::NoFileNameError, "FileNames must be set");
  }
  self.IdName.clear();
  self.SecondName.clear();
  const std::optional<bat::Error> error = bat::attempt(
    [&]
    {
      self.FindSteps();
      self.Describe(TextOrEmpty(this->IdAttribute), TextOrEmpty(this->SecondIdAttribute));
    });
  for (int port = 0; port < this->GetNumberOfOutputPorts(); ++port)
  {
    vtkInformation* outInfo = outputVector->GetInformationObject(port);
    outInfo->Set(CAN_HANDLE_PIECE_REQUEST(), 1);
    outInfo->Remove(Pipeline::TIME_STEPS());
    outInfo->Remove(Pipeline::TIME_RANGE());
    if (!error && !self.Times.empty())
    {
      const double range[2] = { self.Times.front(), self.Times.back() };
      outInfo->Set(Pipeline::TIME_STEPS(), self.Times.data(), static_cast<int>(self.Times.size()));
      outInfo->Set(Pipeline::TIME_RANGE(), range, 2);
    }
  }
  if (error)
  {
    return this->Fail(bat_vtk::ToVTKErrorCode(error->code()), error->what());
  }
  return 1;
}

//------------------------------------------------------------------------------
bool vtkBATTrails::Follow(std::size_t piece, std::size_t pieces)
{
  vtkInternals& self = *this->Internals;
  TrailRequest requested;
  requested.Steps = self.Steps;
  requested.SkipDamaged = this->SkipDamaged;
  bat::FollowRequest& request = requested.Request;
  request.id_attribute = self.IdName;
  self.ChooseIds(requested, TextOrEmpty(this->Ids), static_cast<std::size_t>(MaximumIds));
  if (request.ids.empty() || self.IdName.empty())
  {
    self.Followed.reset();
    self.Particles = {};
    return false;
  }
  KeepShare(requested, piece, pieces);
  request.attributes = CollectChosen(self.Selection);
  request.unwrap_by_files = this->Unwrap == BOX_OF_FILES;
  if (this->Unwrap == PERIODIC_BOX)
  {
    const double* box = this->PeriodicBox;
    request.periodic_box = bat::Box{ { box[0], box[2], box[4] }, { box[1], box[3], box[5] } };
  }
  if (self.Followed && IsSame(*self.Followed, requested))
  {
    if (self.Tracks)
    {
      self.TakeTimes(self.Particles.Trails);
    }
    return true;
  }
  self.Followed.reset();
  self.Lines = nullptr;
  self.Particles = {};
  bat::FollowOptions options;
  options.leave_out_damaged = this->SkipDamaged;
  options.progress = [this](double share)
  {
    this->UpdateProgress(share);
    return !this->CheckAbort();
  };
  bat::Trails trails = FollowParticles(requested, options);
  if (piece == 0)
  {
    this->Warn(trails);
  }
  if (self.Tracks)
  {
    self.TakeTimes(trails);
  }
  if (trails.steps.empty())
  {
    return false;
  }
  self.Particles = { std::move(trails), self.Times, self.IdName, request.second_attribute,
    request.ids, request.second };
  self.Followed = std::move(requested);
  return true;
}

//------------------------------------------------------------------------------
void vtkBATTrails::Warn(const bat::Trails& trails)
{
  for (const bat::TrailProblem& problem : trails.problems)
  {
    vtkWarningMacro(<< "skipped: " << problem.text);
  }
  if (trails.compared >= ManyCompared || (this->Internals->Tracks && !trails.advice.empty()))
  {
    vtkWarningMacro(<< trails.advice);
  }
  if (std::any_of(
        trails.counts.begin(), trails.counts.end(), [](std::uint32_t n) { return n > 1; }))
  {
    vtkWarningMacro("ids belong to several particles in one step, and only the first is shown; "
                    "set Second Id Attribute to an attribute that distinguishes them");
  }
}

//------------------------------------------------------------------------------
int vtkBATTrails::RequestData(
  vtkInformation* request, vtkInformationVector**, vtkInformationVector* outputVector)
{
  using Pipeline = vtkStreamingDemandDrivenPipeline;
  this->SetErrorCode(vtkErrorCode::NoError);
  vtkInternals& self = *this->Internals;
  vtkPolyData* trails = vtkPolyData::GetData(outputVector, 0);
  vtkPolyData* heads = vtkPolyData::GetData(outputVector, 1);
  // The other output was requested for another time.
  const int port = request->Get(vtkExecutive::FROM_OUTPUT_PORT());
  vtkInformation* outInfo = outputVector->GetInformationObject(std::max(port, 0));
  const auto numberOf = [outInfo](vtkInformationIntegerKey* key, int otherwise)
  { return static_cast<std::size_t>(outInfo->Has(key) ? outInfo->Get(key) : otherwise); };
  const std::size_t pieces = numberOf(Pipeline::UPDATE_NUMBER_OF_PIECES(), 1);
  const std::size_t piece = numberOf(Pipeline::UPDATE_PIECE_NUMBER(), 0);
  const std::optional<bat::Error> error = bat::attempt(
    [&]
    {
      trails->Initialize();
      heads->Initialize();
      // VTK may ask for pieces beyond the last.
      if (piece >= pieces || !this->Follow(piece, pieces))
      {
        return;
      }
      std::size_t present = 0;
      if (outInfo->Has(Pipeline::UPDATE_TIME_STEP()))
      {
        present = self.StepAt(outInfo->Get(Pipeline::UPDATE_TIME_STEP()));
      }
      const std::size_t end = this->Show == WHOLE ? self.Times.size() : present + 1;
      const std::size_t maximum =
        this->Show == LAST_STEPS ? static_cast<std::size_t>(this->NumberOfSteps) : end;
      const std::pair<std::size_t, std::size_t> shown{ end - std::min(end, maximum), end };
      if (!self.Lines || self.Shown != shown)
      {
        self.Lines = bat_vtk::MakeTrails(self.Particles, shown.first, shown.second);
        self.Shown = shown;
      }
      trails->ShallowCopy(self.Lines);
      heads->ShallowCopy(bat_vtk::MakeHeads(self.Particles, present));
      for (vtkPolyData* output : { trails, heads })
      {
        output->GetInformation()->Set(vtkDataObject::DATA_TIME_STEP(), self.Times[present]);
      }
    });
  if (!error)
  {
    return 1;
  }
  trails->Initialize(); // a half-filled output looks like success downstream
  heads->Initialize();
  if (error->code() == bat::ErrorCode::Cancelled)
  {
    this->SetErrorCode(bat_vtk::ToVTKErrorCode(error->code()));
    return 1; // the user has asked for it
  }
  return this->Fail(bat_vtk::ToVTKErrorCode(error->code()), error->what());
}
