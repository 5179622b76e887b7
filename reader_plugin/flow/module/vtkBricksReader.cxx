// SPDX-License-Identifier: BSD-3-Clause
#include "vtkBricksReader.h"

#include "Agreement.h"
#include "Extents.h"
#include "Failure.h"
#include "FileStamp.h"
#include "FlowFields.h"
#include "ReportedOnce.h"
#include "vtkBATArrays.h"
#include "vtkFlowSource.h"

#include "bat/address.hpp"
#include "bat/bricks/series.hpp"
#include "bat/error.hpp"

#include "vtkDoubleArray.h"
#include "vtkErrorCode.h"
#include "vtkFloatArray.h"
#include "vtkImageData.h"
#include "vtkInformation.h"
#include "vtkInformationObjectBaseKey.h"
#include "vtkInformationVector.h"
#include "vtkMultiProcessController.h"
#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkPointData.h"
#include "vtkSmartPointer.h"
#include "vtkStreamingDemandDrivenPipeline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using bat_vtk::Extent;
using bat_vtk::Failure;
using Pipeline = vtkStreamingDemandDrivenPipeline;

namespace
{
constexpr double Mebibyte = 1024.0 * 1024.0;
constexpr int ImageComponents = 3; // vectors of VTK

bool IsAlone()
{
  vtkMultiProcessController* controller = vtkMultiProcessController::GetGlobalController();
  return !controller || controller->GetNumberOfProcesses() < 2;
}

std::string TextOrEmpty(const char* text)
{
  return text ? text : "";
}

// The image to produce.
struct ImagePlan
{
  bool IsFull = false;
  Extent Whole = bat_vtk::EmptyExtent;
  std::array<double, 3> Origin{};
  std::array<double, 3> Spacing{ { 1, 1, 1 } };

  friend bool operator==(const ImagePlan& a, const ImagePlan& b)
  {
    return a.IsFull == b.IsFull && a.Whole == b.Whole && a.Origin == b.Origin &&
      a.Spacing == b.Spacing;
  }
};

/// The preview's points along an axis: from end to end of the domain, about as many as bricks.
class PreviewAxis
{
public:
  PreviewAxis(const bat::BrickGrid& grid, std::size_t axis)
    : Bricks(grid.bricks(axis))
    , Edge(grid.edge)
    , Cells(grid.cells(axis))
    , IsCyclic(grid.cyclic[axis])
  {
    // If the last brick begins at the end of the domain, its first points are also the last points.
    this->Count = this->Bricks + (this->Cells > this->Edge * (this->Bricks - 1) ? 1 : 0);
  }

  [[nodiscard]] std::int64_t GetCount() const { return this->Count; }
  /// Distance between the preview's points, in points of the field.
  [[nodiscard]] double GetStep() const
  {
    return this->Count > 1 ? static_cast<double>(this->Cells) / static_cast<double>(this->Count - 1)
                           : this->Edge;
  }

  struct Place
  {
    std::int64_t Bricks[2]; ///< bricks whose first points are before and after it
    double Share;           ///< share of the second brick
  };
  [[nodiscard]] Place At(std::int64_t number) const
  {
    const double at = static_cast<double>(number) * this->GetStep();
    const auto before =
      std::min(static_cast<std::int64_t>(at / static_cast<double>(this->Edge)), this->Bricks - 1);
    const auto first = static_cast<double>(before * this->Edge);
    if (before + 1 < this->Bricks)
    {
      return { { before, before + 1 }, (at - first) / static_cast<double>(this->Edge) };
    }
    // Only cyclic axes have a known value after the first points of the last bricks.
    return { { before, this->IsCyclic ? 0 : before },
      this->IsCyclic ? (at - first) / (static_cast<double>(this->Cells) - first) : 0.0 };
  }

private:
  std::int64_t Bricks;
  std::int64_t Edge;
  std::int64_t Cells;
  bool IsCyclic;
  std::int64_t Count = 1;
};

ImagePlan MakePlan(const bat::BrickGrid& grid, bool full, const double* box)
{
  ImagePlan plan;
  plan.IsFull = full;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    const PreviewAxis preview(grid, axis);
    const std::int64_t points = full ? grid.points[axis] : preview.GetCount();
    const std::string name = std::string("xyz").substr(axis, 1);
    plan.Origin[axis] = grid.origin[axis];
    plan.Spacing[axis] = grid.spacing[axis] * (full ? 1 : preview.GetStep());
    double first = 0;
    auto last = static_cast<double>(points - 1);
    if (box)
    {
      const double lower = box[2 * axis];
      const double upper = box[2 * axis + 1];
      if (!(lower <= upper)) // NaN, too
      {
        std::ostringstream text;
        text << "Box goes from " << lower << " to " << upper << " along " << name
             << "; its ends must be in ascending order";
        bat_vtk::Refuse(text.str());
      }
      first = std::max(first, std::ceil((lower - plan.Origin[axis]) / plan.Spacing[axis]));
      last = std::min(last, std::floor((upper - plan.Origin[axis]) / plan.Spacing[axis]));
    }
    if (last > std::numeric_limits<int>::max())
    {
      bat_vtk::Refuse(std::to_string(points) + " points along " + name +
        ": VTK images have fewer; choose a smaller Box");
    }
    plan.Whole[2 * axis] = static_cast<int>(std::min(first, last + 1));
    plan.Whole[2 * axis + 1] = static_cast<int>(last);
  }
  if (bat_vtk::IsEmpty(plan.Whole))
  {
    plan.Whole = bat_vtk::EmptyExtent;
  }
  return plan;
}

double BytesOf(const ImagePlan& plan, const bat::BrickGrid& grid)
{
  double bytes = static_cast<double>(ImageComponents * bat::tuple_bytes(grid.type, 1));
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    bytes *= static_cast<double>(plan.Whole[2 * axis + 1]) - plan.Whole[2 * axis] + 1;
  }
  return bytes;
}

// Converts `count` points with `components` each to VTK vectors.
void CopyPoints(const std::byte* from, const bat::BrickGrid& grid, vtkIdType count, std::byte* to)
{
  const std::size_t own = grid.point_bytes();
  const std::size_t bytes = bat::tuple_bytes(grid.type, ImageComponents);
  for (vtkIdType i = 0; i < count; ++i)
  {
    std::memcpy(to, from, own);
    std::memset(to + own, 0, bytes - own);
    from += own;
    to += bytes;
  }
}

// Computes the preview's points between the first points of neighbouring bricks.
template <typename T>
void FillPreview(const bat::BrickGrid& grid, const T* from, const Extent& extent, T* to)
{
  const PreviewAxis axes[3] = { { grid, 0 }, { grid, 1 }, { grid, 2 } };
  const auto components = static_cast<std::size_t>(grid.components);
  for (int z = extent[4]; z <= extent[5]; ++z)
  {
    for (int y = extent[2]; y <= extent[3]; ++y)
    {
      for (int x = extent[0]; x <= extent[1]; ++x)
      {
        const PreviewAxis::Place places[3] = { axes[0].At(x), axes[1].At(y), axes[2].At(z) };
        double sum[ImageComponents] = { 0, 0, 0 };
        const T* nearest = from;
        double maximum = 0;
        for (unsigned int corner = 0; corner < 8; ++corner)
        {
          double weight = 1;
          std::array<std::int64_t, 3> brick{};
          for (std::size_t axis = 0; axis < 3; ++axis)
          {
            const unsigned int end = corner >> axis & 1U;
            brick[axis] = places[axis].Bricks[end];
            weight *= end == 1 ? places[axis].Share : 1 - places[axis].Share;
          }
          if (!(weight > 0))
          {
            continue;
          }
          const T* const values = from + grid.brick_number(brick) * components;
          nearest = weight > maximum ? values : nearest;
          maximum = std::max(maximum, weight);
          for (std::size_t c = 0; c < components; ++c)
          {
            sum[c] += weight * static_cast<double>(values[c]);
          }
        }
        // A point for which only one value counts, or next to which there is no flow, takes the
        // nearest value.
        const bool isMixed = maximum < 1 && std::isfinite(sum[0] + sum[1] + sum[2]);
        for (std::size_t c = 0; c < ImageComponents; ++c)
        {
          *to++ = c >= components ? T(0) : isMixed ? static_cast<T>(sum[c]) : nearest[c];
        }
      }
    }
  }
}
}

//------------------------------------------------------------------------------
class vtkBricksReader::vtkInternals
{
public:
  // Throws bat::Error and Failure.
  void Open()
  {
    if (this->Names.empty() || this->Names.front().empty())
    {
      throw Failure{ vtkErrorCode::NoFileNameError, "FileName must be set" };
    }
    std::vector<std::filesystem::path> paths;
    std::vector<std::optional<bat_vtk::FileStamp>> stamps;
    for (const std::string& name : this->Names)
    {
      if (const std::string fault = bat_vtk::FindNameFault(name); !fault.empty())
      {
        throw Failure{ vtkErrorCode::UserError, fault };
      }
      paths.push_back(std::filesystem::u8path(name));
      // The stamp is taken before opening: a file replaced in between is opened again next time.
      stamps.push_back(bat_vtk::FileStamp::Of(paths.back()));
    }
    const bool isGone = std::find(stamps.begin(), stamps.end(), std::nullopt) != stamps.end();
    if (!this->Series || this->IsToReopen || isGone || !(this->Stamps == stamps) ||
      this->OpenNames != this->Names)
    {
      const std::shared_ptr<const bat::bricks::Series> before = std::move(this->Series);
      this->Series = nullptr;
      this->Series = before && this->OpenNames == this->Names ? before->reopen()
                                                              : bat::bricks::Series::open(paths);
      if (before && before->times().size() == this->Series->times().size() &&
        before->continues_in(*this->Series))
      {
        this->Series = before; // keeps the bricks that filters have in memory
      }
      this->OpenNames = this->Names;
      this->Stamps = stamps;
      this->IsToReopen = false;
    }
  }

  // Returns the last level that is not after the requested time, or else the first.
  std::size_t LevelAt(vtkInformation* outInfo) const
  {
    if (!this->Series || !outInfo->Has(Pipeline::UPDATE_TIME_STEP()))
    {
      return 0;
    }
    const std::vector<double>& times = this->Series->times();
    const double time = outInfo->Get(Pipeline::UPDATE_TIME_STEP());
    const auto after = std::upper_bound(times.begin(), times.end(), time);
    return after == times.begin() ? 0 : static_cast<std::size_t>(after - times.begin()) - 1;
  }

  // Collective at the first request after a change, if the files are at addresses. Requests what
  // the processes need from the server once.
  void PrefetchImage(vtkInformation* outInfo, vtkMTimeType changed)
  {
    const std::string name = this->Names.empty() ? "" : this->Names.front();
    Cause cause{ changed, std::nullopt }; // the same on all processes
    if (outInfo->Has(Pipeline::UPDATE_TIME_STEP()))
    {
      cause.Time = outInfo->Get(Pipeline::UPDATE_TIME_STEP());
    }
    if (IsAlone() || !bat::is_address(name) || cause == this->LastCause)
    {
      return;
    }
    this->LastCause = cause;
    vtkMultiProcessController* controller = vtkMultiProcessController::GetGlobalController();
    const Extent extent = bat_vtk::Intersection(
      bat_vtk::ExtentIn(outInfo, Pipeline::UPDATE_EXTENT()), this->Plan.Whole);
    // A process that could not open the files takes part too.
    const bool isEmpty = !this->Series || bat_vtk::PointsIn(extent) == 0;
    if (!bat_vtk::ReduceAny(controller, !isEmpty))
    {
      return;
    }
    // Faults show when the image is filled.
    static_cast<void>(Failure::Of(
      [&]()
      {
        bat_vtk::ReadFirstOnRoot(controller, name,
          [&]()
          {
            if (!this->Series)
            {
              return;
            }
            const bat::bricks::File& file = this->Series->level(this->LevelAt(outInfo));
            this->Plan.IsFull ? static_cast<void>(file.count_bricks())
                              : static_cast<void>(file.preview());
          });
      }));
    bat_vtk::PrefetchShared(controller, name,
      [&]()
      {
        if (this->Plan.IsFull && !isEmpty)
        {
          const auto [first, count] = PointsOf(extent);
          this->Series->level(this->LevelAt(outInfo)).prefetch_box(first, count);
        }
      });
  }

  // Throws bat::Error.
  void FillImage(vtkInformation* outInfo, vtkImageData* output) const
  {
    const Extent extent = bat_vtk::Intersection(
      bat_vtk::ExtentIn(outInfo, Pipeline::UPDATE_EXTENT()), this->Plan.Whole);
    output->SetExtent(const_cast<int*>(extent.data()));
    output->SetOrigin(this->Plan.Origin.data());
    output->SetSpacing(this->Plan.Spacing.data());
    const vtkIdType points = bat_vtk::PointsIn(extent);
    if (points == 0)
    {
      return; // filters that read bricks themselves ask for nothing
    }
    const bat::bricks::File& file = this->Series->level(this->LevelAt(outInfo));
    const bat::BrickGrid& grid = file.grid();
    vtkSmartPointer<vtkDataArray> array;
    if (grid.type == bat::ScalarType::Float32)
    {
      array = vtkSmartPointer<vtkFloatArray>::New();
    }
    else
    {
      array = vtkSmartPointer<vtkDoubleArray>::New();
    }
    array->SetName(file.header().field.c_str());
    array->SetNumberOfComponents(ImageComponents);
    bat_vtk::TakeMemory(
      array, points, file.name() + ": the requested points", "a smaller Box reduces this");
    auto* to = static_cast<std::byte*>(array->GetVoidPointer(0));
    if (this->Plan.IsFull)
    {
      this->ReadPoints(file, extent, points, to);
    }
    else
    {
      CutPreview(file, extent, to);
    }
    output->GetPointData()->SetVectors(array);
    output->GetInformation()->Set(
      vtkDataObject::DATA_TIME_STEP(), this->Series->times()[this->LevelAt(outInfo)]);
  }

  std::shared_ptr<const bat::bricks::Series> Series; // shared with filters that trace in it
  std::vector<std::string> Names;
  std::vector<std::string> OpenNames;
  std::vector<std::optional<bat_vtk::FileStamp>> Stamps;
  bool IsToReopen = false;
  vtkNew<vtkFlowSource> Flow;

  // The last image with points, for this plan, and of a level that is unchanged in Series.
  vtkNew<vtkImageData> Image;
  ImagePlan ImageIs;
  std::shared_ptr<const bat::bricks::Series> ImageOf;

  [[nodiscard]] bool HasImage() const
  {
    return this->ImageOf && this->Series && this->ImageIs == this->Plan &&
      (this->ImageOf == this->Series || this->ImageOf->continues_in(*this->Series));
  }

  ImagePlan Plan;               ///< announced by RequestInformation
  Failure NoPlan;               ///< why there is no plan
  vtkMTimeType DescribedAt = 0; ///< change of the reader for which information was requested

  std::string ErrorText;
  std::string Warned;
  bat_vtk::ReportedOnce Reported;

private:
  struct Cause
  {
    vtkMTimeType Changed = 0;
    std::optional<double> Time; ///< requested

    bool operator==(const Cause& other) const
    {
      return this->Changed == other.Changed && this->Time == other.Time;
    }
  };

  using Numbers = std::array<std::int64_t, 3>;

  // Returns the first point, and the number of points along each axis.
  static std::pair<Numbers, Numbers> PointsOf(const Extent& extent)
  {
    std::pair<Numbers, Numbers> points;
    for (std::size_t axis = 0; axis < 3; ++axis)
    {
      points.first[axis] = extent[2 * axis];
      points.second[axis] = std::int64_t{ extent[2 * axis + 1] } - extent[2 * axis] + 1;
    }
    return points;
  }

  Cause LastCause;

  void ReadPoints(
    const bat::bricks::File& file, const Extent& extent, vtkIdType points, std::byte* to) const
  {
    const auto [first, count] = PointsOf(extent);
    const std::size_t bytes = static_cast<std::size_t>(points) * file.grid().point_bytes();
    if (file.grid().components == ImageComponents)
    {
      file.read_box(first, count, to, bytes);
      return;
    }
    std::vector<std::byte> values(bytes);
    file.read_box(first, count, values.data(), bytes);
    CopyPoints(values.data(), file.grid(), points, to);
  }

  static void CutPreview(const bat::bricks::File& file, const Extent& extent, std::byte* to)
  {
    const std::vector<std::byte> all = file.preview();
    if (file.grid().type == bat::ScalarType::Float32)
    {
      FillPreview(file.grid(), reinterpret_cast<const float*>(all.data()), extent,
        reinterpret_cast<float*>(to));
    }
    else
    {
      FillPreview(file.grid(), reinterpret_cast<const double*>(all.data()), extent,
        reinterpret_cast<double*>(to));
    }
  }
};

//------------------------------------------------------------------------------
vtkStandardNewMacro(vtkBricksReader);

//------------------------------------------------------------------------------
vtkBricksReader::vtkBricksReader()
  : Internals(std::make_unique<vtkInternals>())
{
  this->SetNumberOfInputPorts(0);
  this->SetNumberOfOutputPorts(1);
}

//------------------------------------------------------------------------------
vtkBricksReader::~vtkBricksReader() = default;

//------------------------------------------------------------------------------
void vtkBricksReader::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  const auto print = [&](const char* name, const double* numbers, int count)
  {
    os << indent << name << ":";
    std::for_each(numbers, numbers + count, [&os](double number) { os << " " << number; });
    os << "\n";
  };
  for (const std::string& name : this->Internals->Names)
  {
    os << indent << "FileName: " << name << "\n";
  }
  os << indent << "FullResolution: " << (this->FullResolution ? "on" : "off") << "\n";
  os << indent << "MemoryBudget: " << this->MemoryBudget << "\n";
  os << indent << "UseBox: " << (this->UseBox ? "on" : "off") << "\n";
  print("Box", this->Box, 6);
  os << indent << "CacheSize: " << this->CacheSize << "\n";
  os << indent << "IOThreads: " << this->IOThreads << "\n";
  print("Bounds", this->Bounds, 6);
  print("FullDimensions", this->FullDimensions, 3);
  os << indent << "BrickCount: " << this->BrickCount << "\n";
  os << indent << "ErrorText: " << this->Internals->ErrorText << "\n";
  this->Internals->Flow->PrintSelf(os, indent.GetNextIndent());
}

//------------------------------------------------------------------------------
int vtkBricksReader::CanReadFile(const char* fileName)
{
  const std::filesystem::path path = std::filesystem::u8path(TextOrEmpty(fileName));
  const std::string name = bat::file_name(path);
  const std::string list = ".bricks.series";
  const bool isList =
    name.size() >= list.size() && name.compare(name.size() - list.size(), list.size(), list) == 0;
  return isList || bat::bricks::File::can_open(path) ? 1 : 0;
}

//------------------------------------------------------------------------------
void vtkBricksReader::SetFileName(const char* name)
{
  const std::vector<std::string> names(name ? 1 : 0, TextOrEmpty(name));
  if (this->Internals->Names != names)
  {
    this->Internals->Names = names;
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkBricksReader::AddFileName(const char* name)
{
  if (name)
  {
    this->Internals->Names.emplace_back(name);
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkBricksReader::RemoveAllFileNames()
{
  this->SetFileName(nullptr);
}

//------------------------------------------------------------------------------
const char* vtkBricksReader::GetFileName() const
{
  return this->Internals->Names.empty() ? nullptr : this->Internals->Names.front().c_str();
}

//------------------------------------------------------------------------------
const char* vtkBricksReader::GetErrorText() const
{
  return this->Internals->ErrorText.c_str();
}

//------------------------------------------------------------------------------
void vtkBricksReader::Reload()
{
  this->Internals->IsToReopen = true;
  this->Internals->Flow->Modified(); // retries failed requests
  this->Modified();
}

//------------------------------------------------------------------------------
void vtkBricksReader::Modified()
{
  this->Internals->Reported.SettingChanged();
  this->Superclass::Modified();
}

//------------------------------------------------------------------------------
void vtkBricksReader::Report(const Failure& failure)
{
  vtkInternals& self = *this->Internals;
  this->ErrorCode = failure.Code; // SetErrorCode() would count as a change of the reader
  const std::string name = TextOrEmpty(this->GetFileName());
  self.ErrorText = failure.TextWith(name);
  if (failure && self.Reported.Add(name, self.ErrorText))
  {
    vtkErrorMacro(<< self.ErrorText);
  }
}

//------------------------------------------------------------------------------
void vtkBricksReader::Warn(const std::string& text)
{
  vtkMultiProcessController* controller = vtkMultiProcessController::GetGlobalController();
  if (this->Internals->Warned != text && (!controller || controller->GetLocalProcessId() == 0))
  {
    this->Internals->Warned = text;
    vtkWarningMacro(<< TextOrEmpty(this->GetFileName()) << ": " << text);
  }
}

//------------------------------------------------------------------------------
int vtkBricksReader::RequestInformation(
  vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector)
{
  vtkInformation* outInfo = outputVector->GetInformationObject(0);
  outInfo->Set(vtkAlgorithm::CAN_PRODUCE_SUB_EXTENT(), 1);
  this->Internals->Reported.BeginUpdate(TextOrEmpty(this->GetFileName()));
  this->DescribeNothing(outInfo);
  // Processes may request information again for themselves.
  const bool isChanged = this->GetMTime() != this->Internals->DescribedAt;
  const std::string name = TextOrEmpty(this->GetFileName());
  vtkMultiProcessController* controller =
    isChanged ? vtkMultiProcessController::GetGlobalController() : nullptr;
  Failure failure = Failure::Of(
    [&]() { bat_vtk::ReadFirstOnRoot(controller, name, [&]() { this->DescribeFile(outInfo); }); });
  if (!bat_vtk::IsAlone(controller) && bat::is_address(name))
  {
    // All announce times or none, so that all take part in PrefetchImage().
    failure = bat_vtk::FirstFailure(controller, failure, name, "");
  }
  this->Internals->DescribedAt = this->GetMTime();
  this->Internals->NoPlan = failure;
  if (failure)
  {
    this->DescribeNothing(outInfo);
  }
  this->Report(failure);
  return 1;
}

//------------------------------------------------------------------------------
void vtkBricksReader::DescribeNothing(vtkInformation* outInfo)
{
  std::fill_n(this->Bounds, 6, 0.0);
  std::fill_n(this->FullDimensions, 3, 0.0);
  this->BrickCount = 0;
  this->Internals->Plan = {};
  outInfo->Set(Pipeline::WHOLE_EXTENT(), bat_vtk::EmptyExtent.data(), 6);
  outInfo->Remove(Pipeline::TIME_STEPS());
  outInfo->Remove(Pipeline::TIME_RANGE());
  outInfo->Remove(vtkFlowSource::FLOW_SOURCE());
}

//------------------------------------------------------------------------------
void vtkBricksReader::DescribeFile(vtkInformation* outInfo)
{
  vtkInternals& self = *this->Internals;
  self.Open();
  const bat::BrickGrid& grid = self.Series->grid();
  const std::vector<double>& times = self.Series->times();
  const std::array<double, 6> domain = bat_vtk::DomainOf(grid);
  std::copy(domain.begin(), domain.end(), this->Bounds);
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    this->FullDimensions[axis] = static_cast<double>(grid.points[axis]);
  }
  this->BrickCount = static_cast<vtkIdType>(grid.brick_count() * times.size());
  bat_vtk::AnnounceTimes(outInfo, times);

  bat::flow::CacheOptions options;
  options.bytes = static_cast<std::uint64_t>(std::min(this->CacheSize * Mebibyte, 1.8e19));
  options.io_threads = this->IOThreads;
  options.hints_file = bat::flow::hints_beside(self.Series->name());
  self.Flow->SetSource(self.Series);
  self.Flow->SetCacheOptions(options);
  outInfo->Set(vtkFlowSource::FLOW_SOURCE(), self.Flow);

  const double* box = this->UseBox ? this->Box : nullptr;
  self.Plan = MakePlan(grid, this->FullResolution, box);
  if (this->FullResolution)
  {
    vtkMultiProcessController* controller = vtkMultiProcessController::GetGlobalController();
    const double maximum =
      this->MemoryBudget * Mebibyte * (controller ? controller->GetNumberOfProcesses() : 1);
    const double bytes = BytesOf(self.Plan, grid);
    if (this->MemoryBudget > 0 && bytes > maximum)
    {
      std::ostringstream text;
      text << "all points need " << bytes / Mebibyte << " MiB, but Memory Per Process allows "
           << maximum / Mebibyte
           << " in all processes; the first point of each brick is shown. A smaller Box needs less";
      this->Warn(text.str());
      self.Plan = MakePlan(grid, false, box);
    }
  }
  outInfo->Set(Pipeline::WHOLE_EXTENT(), self.Plan.Whole.data(), 6);
  outInfo->Set(vtkDataObject::ORIGIN(), self.Plan.Origin.data(), 3);
  outInfo->Set(vtkDataObject::SPACING(), self.Plan.Spacing.data(), 3);
}

//------------------------------------------------------------------------------
int vtkBricksReader::RequestData(
  vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector)
{
  vtkInternals& self = *this->Internals;
  vtkImageData* output = vtkImageData::GetData(outputVector);
  vtkInformation* outInfo = outputVector->GetInformationObject(0);
  output->Initialize();
  Failure failure = self.NoPlan;
  self.PrefetchImage(outInfo, this->GetMTime());
  if (!failure)
  {
    failure = Failure::Of([&]() { self.FillImage(outInfo, output); });
  }
  if (failure)
  {
    output->Initialize(); // a half-filled output looks like success downstream
  }
  else if (output->GetNumberOfPoints() > 0)
  {
    self.Image->ShallowCopy(output);
    self.ImageIs = self.Plan;
    self.ImageOf = self.Series;
  }
  else if (IsAlone() && self.HasImage())
  {
    // A filter that reads bricks has requested an empty image: the current output stays unchanged.
    // With many processes, one may have no part of an image.
    output->ShallowCopy(self.Image);
  }
  this->Report(failure);
  self.Reported.EndUpdate();
  return 1;
}
