// SPDX-License-Identifier: BSD-3-Clause
#include "vtkBATSeriesReader.h"

#include "Failure.h"
#include "SeriesMember.h"

#include "bat/address.hpp"
#include "bat/error.hpp"
#include "bat/series.hpp"

#include "vtkDataObject.h"
#include "vtkErrorCode.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkMultiProcessController.h"
#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkProcessModule.h"
#include "vtkStreamingDemandDrivenPipeline.h"
#include "vtkStringArray.h"

// VTK's bundled copy, if it has one: its headers rename all others by a macro.
#include "vtk_nlohmannjson.h"
#include VTK_NLOHMANN_JSON(json.hpp)

#include <vtksys/FStream.hxx>

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <stdexcept>

namespace
{
// Returns the name of one file in a list; sets its time if it has one.
std::string ReadEntry(const nlohmann::json& entry, std::vector<double>& times)
{
  if (entry.is_string())
  {
    return entry.get<std::string>();
  }
  times.push_back(entry.at("time").get<double>());
  return entry.at("name").get<std::string>();
}

// Returns the problem, or "".
std::string ReadRemoteList(
  const char* address, vtkStringArray* filesToRead, std::vector<double>& times)
{
  if (const std::string fault = bat_vtk::FindNameFault(address); !fault.empty())
  {
    return bat::display_name(address) + ": " + fault;
  }
  const std::optional<bat::Error> error = bat::attempt(
    [&]
    {
      for (const bat::SeriesStep& step : bat::read_series(address))
      {
        filesToRead->InsertNextValue(step.path.u8string());
        if (step.time)
        {
          times.push_back(*step.time);
        }
      }
    });
  if (!error && filesToRead->GetNumberOfValues() == 0)
  {
    return bat::display_name(address) + ": not a list of files: no files";
  }
  return error ? error->what() : "";
}
}

//------------------------------------------------------------------------------
vtkStandardNewMacro(vtkBATSeriesReader);

//------------------------------------------------------------------------------
void vtkBATSeriesReader::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
}

//------------------------------------------------------------------------------
bat_vtk::SeriesMember* vtkBATSeriesReader::Inner() const
{
  return dynamic_cast<bat_vtk::SeriesMember*>(this->Reader);
}

//------------------------------------------------------------------------------
int vtkBATSeriesReader::CanReadFile(const char* filename)
{
  const bool isList = filename && bat::is_series(std::filesystem::u8path(filename));
  return isList ? 1 : this->Superclass::CanReadFile(filename);
}

//------------------------------------------------------------------------------
// Always succeeds, because the superclass would ask, and complain, at every request. A list that
// cannot be read has no files, and the inner reader reports the reason.
int vtkBATSeriesReader::ReadMetaDataFile(const char* metafilename, vtkStringArray* filesToRead,
  std::vector<double>& timeValues, int maxFilesToRead)
{
  this->ListError.clear();
  if (!this->UseJsonMetaFile)
  {
    return this->Superclass::ReadMetaDataFile(
      metafilename, filesToRead, timeValues, maxFilesToRead);
  }
  if (bat::is_address(metafilename))
  {
    this->ListError = ReadRemoteList(metafilename, filesToRead, timeValues);
    return 1;
  }
  vtksys::ifstream file(metafilename);
  if (!file)
  {
    this->ListError = std::string(metafilename) + ": cannot open the list of files";
    return 1;
  }
  try
  {
    const nlohmann::json files = nlohmann::json::parse(file).at("files");
    for (const nlohmann::json& entry : files)
    {
      const std::string name = ReadEntry(entry, timeValues);
      filesToRead->InsertNextValue(this->FromRelativeToMetaFile(metafilename, name.c_str()));
    }
    if (files.empty())
    {
      throw std::runtime_error("no files");
    }
  }
  catch (const std::exception& error)
  {
    filesToRead->Initialize();
    timeValues.clear();
    this->ListError = std::string(metafilename) + ": not a list of files: " + error.what() +
      R"(; allowed is {"file-series-version": "1.0", "files": [{"name": "a.bat", "time": 0}, ...]})";
  }
  return 1;
}

//------------------------------------------------------------------------------
int vtkBATSeriesReader::RequestInformation(
  vtkInformation* request, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  bat_vtk::SeriesMember* reader = this->Inner();
  if (!reader)
  {
    return this->Superclass::RequestInformation(request, inputVector, outputVector);
  }
  // All processes run this and RequestData.
  reader->SetController(vtkMultiProcessController::GetGlobalController());
  reader->Refuse(vtkErrorCode::FileFormatError, this->ListError.c_str());

  this->Times.clear();
  this->Unreadable.clear();
  this->Looking = Pass::Look;
  int result = this->Superclass::RequestInformation(request, inputVector, outputVector);
  const int files = static_cast<int>(this->GetNumberOfFileNames());
  // A list defines the times.
  this->Numbered = !this->UseMetaFile && !this->UseJsonMetaFile && this->HasEqualTimes();
  if ((!this->Unreadable.empty() || this->Numbered) && files > 1)
  {
    if (this->Numbered)
    {
      this->Times.clear();
      for (int index = 0; index < files; ++index)
      {
        this->Times[index] = { static_cast<double>(index) };
      }
    }
    this->PlaceUnreadable();
    this->Looking = Pass::Place;
    result = this->Superclass::RequestInformation(request, inputVector, outputVector);
  }
  this->Looking = Pass::None;

  // Callers need the information of the step that is shown, not of the last one.
  if (files > 0)
  {
    vtkInformation* outInfo = outputVector->GetInformationObject(0);
    vtkNew<vtkInformationVector> ofFile;
    ofFile->SetNumberOfInformationObjects(this->GetNumberOfOutputPorts());
    this->RequestInformationForInput(this->ChooseShown(outInfo), request, ofFile);
    vtkInformation* shown = ofFile->GetInformationObject(0);
    outInfo->CopyEntry(shown, vtkDataObject::BOUNDING_BOX());
    outInfo->CopyEntry(shown, vtkStreamingDemandDrivenPipeline::WHOLE_EXTENT());
    outInfo->CopyEntry(shown, vtkDataObject::ORIGIN());
    outInfo->CopyEntry(shown, vtkDataObject::SPACING());
    // A run may begin before it has any particles; the last step most probably has some.
    for (int index = files - 1; index >= 0 && reader->LacksColumns(); --index)
    {
      reader->LearnColumns(this->GetFileName(static_cast<unsigned int>(index)));
    }
  }
  this->ErrorCode =
    this->Reader->GetErrorCode(); // avoids the setter, because no request may modify the reader
  return result;
}

//------------------------------------------------------------------------------
void vtkBATSeriesReader::DescribeTime(double time)
{
  this->DescribedTime = time;
  vtkNew<vtkInformation> nothingRequested;
  if (this->Reader && this->GetNumberOfFileNames() > 0)
  {
    // As in a request, another file name does not count as a change of this reader.
    this->BeforeFileNameMTime = this->GetMTime();
    this->RequestInformationForInput(this->ChooseShown(nothingRequested), nullptr, nullptr);
    this->FileNameMTime = this->Reader->GetMTime();
  }
}

//------------------------------------------------------------------------------
// Returns the file of the requested time, or of the currently shown one.
int vtkBATSeriesReader::ChooseShown(vtkInformation* outInfo)
{
  using Pipeline = vtkStreamingDemandDrivenPipeline;
  vtkNew<vtkInformation> requested;
  if (outInfo->Has(Pipeline::UPDATE_TIME_STEP()))
  {
    requested->Set(Pipeline::UPDATE_TIME_STEP(), outInfo->Get(Pipeline::UPDATE_TIME_STEP()));
  }
  else if (this->DescribedTime)
  {
    requested->Set(Pipeline::UPDATE_TIME_STEP(), *this->DescribedTime);
  }
  const int last = static_cast<int>(this->GetNumberOfFileNames()) - 1;
  return std::min(std::max(0, this->ChooseInput(requested)), last);
}

//------------------------------------------------------------------------------
// If two files with one step each have the same time, one of them could not be shown. Usually all
// of them have step 0 and no time.
bool vtkBATSeriesReader::HasEqualTimes() const
{
  std::set<double> different;
  for (const auto& [index, times] : this->Times)
  {
    if (times.size() != 1)
    {
      return false;
    }
    different.insert(times.front());
  }
  return different.size() < this->Times.size();
}

//------------------------------------------------------------------------------
// Files that cannot be read still have steps, because otherwise other files would take their
// places. Their times continue those of the nearest files that have a time. If no file has one, all
// are numbered.
void vtkBATSeriesReader::PlaceUnreadable()
{
  const std::map<int, std::vector<double>> known = this->Times;
  if (known.empty())
  {
    return;
  }
  for (const int index : this->Unreadable)
  {
    if (known.count(index) != 0)
    {
      continue; // numbered
    }
    auto after = known.upper_bound(index);
    after = after == known.begin() ? std::next(after) : after;
    after = after == known.end() ? std::prev(after) : after;
    const auto before = after == known.begin() ? after : std::prev(after);
    const double step = before == after
      ? 1.0
      : (after->second.front() - before->second.back()) / (after->first - before->first);
    const auto nearest = index > after->first ? after : before;
    double time = (index < nearest->first ? nearest->second.front() : nearest->second.back()) +
      step * (index - nearest->first);
    const auto isTaken = [&](const auto& other)
    { return std::find(other.second.begin(), other.second.end(), time) != other.second.end(); };
    while (std::any_of(this->Times.begin(), this->Times.end(), isTaken))
    {
      time = std::nextafter(time, std::numeric_limits<double>::infinity());
    }
    this->Times[index] = { time };
  }
}

//------------------------------------------------------------------------------
int vtkBATSeriesReader::RequestInformationForInput(
  int index, vtkInformation* request, vtkInformationVector* outputVector)
{
  using Pipeline = vtkStreamingDemandDrivenPipeline;
  this->RequestedIndex = index;
  vtkInformation* outInfo = outputVector ? outputVector->GetInformationObject(0) : nullptr;
  if (outInfo && this->Looking == Pass::Place)
  {
    outInfo->Remove(Pipeline::TIME_RANGE());
    outInfo->Remove(Pipeline::TIME_STEPS());
    const auto found = this->Times.find(index);
    if (found != this->Times.end())
    {
      outInfo->Set(
        Pipeline::TIME_STEPS(), found->second.data(), static_cast<int>(found->second.size()));
    }
    return 1;
  }
  const int result = this->Superclass::RequestInformationForInput(index, request, outputVector);
  bat_vtk::SeriesMember* reader = this->Inner();
  if (outInfo && reader && this->Looking == Pass::Look)
  {
    if (outInfo->Has(Pipeline::TIME_STEPS()))
    {
      const double* times = outInfo->Get(Pipeline::TIME_STEPS());
      this->Times[index].assign(times, times + outInfo->Length(Pipeline::TIME_STEPS()));
      return result;
    }
    if (this->Reader->GetErrorCode() != vtkErrorCode::NoError)
    {
      this->Unreadable.push_back(index);
    }
    if (!this->Unreadable.empty() && this->GetNumberOfFileNames() > 1)
    {
      const double any = index; // so that the other files are inspected
      outInfo->Set(Pipeline::TIME_STEPS(), &any, 1);
    }
  }
  return result;
}

//------------------------------------------------------------------------------
int vtkBATSeriesReader::RequestData(
  vtkInformation* request, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  const int result = this->Superclass::RequestData(request, inputVector, outputVector);
  bat_vtk::SeriesMember* reader = this->Inner();
  if (!result || !reader)
  {
    return result;
  }
  this->ErrorCode = this->Reader->GetErrorCode();
  const int index = this->RequestedIndex;
  if (this->LoadedIndex >= 0 && index != this->LoadedIndex)
  {
    const int next = index + (index > this->LoadedIndex ? 1 : -1);
    if (next >= 0 && next < static_cast<int>(this->GetNumberOfFileNames()))
    {
      reader->ReadAhead(this->GetFileName(static_cast<unsigned int>(next)));
    }
  }
  this->LoadedIndex = index;
  if (this->Numbered)
  {
    vtkDataObject* output = vtkDataObject::GetData(outputVector);
    output->GetInformation()->Set(vtkDataObject::DATA_TIME_STEP(), static_cast<double>(index));
  }

  if (!this->Warned && this->ErrorCode == vtkErrorCode::NoError &&
    vtkProcessModule::GetProcessType() == vtkProcessModule::PROCESS_BATCH &&
    vtkProcessModule::GetProcessModule()->GetPartitionId() == 0)
  {
    const std::string cut = reader->GetCutByBudget();
    if (!cut.empty())
    {
      this->Warned = true;
      vtkWarningMacro(<< cut);
    }
  }
  return result;
}
