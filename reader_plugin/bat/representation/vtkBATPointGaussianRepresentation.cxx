// SPDX-License-Identifier: BSD-3-Clause
#include "vtkBATPointGaussianRepresentation.h"

#include "BlockPointGaussianMapper.h"
#include "GlowLegend.h"
#include "LocalSpacing.h"
#include "ParticleBlocks.h"

#include "vtkActor.h"
#include "vtkBoundingBox.h"
#include "vtkCommunicator.h"
#include "vtkCompositeDataIterator.h"
#include "vtkCompositeDataSet.h"
#include "vtkDataArray.h"
#include "vtkInformation.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkMultiProcessController.h"
#include "vtkObjectFactory.h"
#include "vtkPVRenderView.h"
#include "vtkPointData.h"
#include "vtkPointGaussianMapper.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"
#include "vtkProperty.h"
#include "vtkRenderer.h"
#include "vtkScalarsToColors.h"
#include "vtkWeakPointer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <vector>

using bat_vtk::LocalSpacing;

namespace
{
// Drawing half of them takes at most a tenth of a second, even without a graphics card.
constexpr double MaxSampledParticles = 500000.0;

// Maximum size of a glow drawn by several ranks, each of which has all of its particles.
constexpr vtkIdType MaxSharedParticles = 2000000;

// Maximum number of particles from which the brightness of a glow is computed.
constexpr vtkIdType MaxCountedParticles = 200000;

// Balls in sparse places would hide the dense ones behind them, and stray particles would look like
// larger grains.
constexpr float LargestSphereFactor = 1.0F;
// Larger splats take longer to draw than they are worth.
constexpr float LargestGlowFactor = 2.0F;

bool IsParallel()
{
  vtkMultiProcessController* controller = vtkMultiProcessController::GetGlobalController();
  return controller && controller->GetNumberOfProcesses() > 1;
}

std::vector<vtkPolyData*> CollectBlocks(vtkDataObject* data)
{
  std::vector<vtkPolyData*> blocks;
  if (auto* composite = vtkCompositeDataSet::SafeDownCast(data))
  {
    auto leaves = vtkSmartPointer<vtkCompositeDataIterator>::Take(composite->NewIterator());
    for (leaves->InitTraversal(); !leaves->IsDoneWithTraversal(); leaves->GoToNextItem())
    {
      auto* block = vtkPolyData::SafeDownCast(leaves->GetCurrentDataObject());
      if (block && block->GetNumberOfPoints() > 0)
      {
        blocks.push_back(block);
      }
    }
  }
  return blocks;
}

bat_vtk::ColumnDensity::Range CountColumns(vtkDataObject* data)
{
  const std::vector<vtkPolyData*> blocks = CollectBlocks(data);
  vtkIdType count = 0;
  vtkBoundingBox box;
  for (vtkPolyData* block : blocks)
  {
    count += block->GetNumberOfPoints();
    box.AddBounds(block->GetPoints()->GetBounds());
  }
  double bounds[6] = { 0.0, 0.0, 0.0, 0.0, 0.0, 0.0 };
  if (box.IsValid())
  {
    box.GetBounds(bounds);
  }
  bat_vtk::ColumnDensity columns(bounds);
  for (vtkPolyData* block : blocks)
  {
    using bat_vtk::ParticleBlocks;
    const double larger = ParticleBlocks::NumberOf(block, ParticleBlocks::RadiusScaleName);
    columns.Add(block->GetPoints()->GetData(), static_cast<int>(1 + count / MaxCountedParticles),
      larger * larger * larger);
  }
  return columns.Find();
}

// Returns an even sample of the particles of all processes, the same in each.
std::vector<std::array<double, 3>> SampleOf(vtkDataObject* data)
{
  const std::vector<vtkPolyData*> blocks = CollectBlocks(data);
  vtkMultiProcessController* controller =
    IsParallel() ? vtkMultiProcessController::GetGlobalController() : nullptr;
  double count = 0.0;
  for (vtkPolyData* block : blocks)
  {
    count += static_cast<double>(block->GetNumberOfPoints());
  }
  if (controller)
  {
    const double own = count;
    controller->AllReduce(&own, &count, 1, vtkCommunicator::SUM_OP);
  }
  const auto stride =
    static_cast<vtkIdType>(1.0 + count / static_cast<double>(LocalSpacing::MaxSampledParticles));
  std::vector<std::array<double, 3>> sample;
  vtkIdType next = 0;
  for (vtkPolyData* block : blocks)
  {
    const vtkIdType rows = block->GetNumberOfPoints();
    for (; next < rows; next += stride)
    {
      sample.emplace_back();
      block->GetPoints()->GetPoint(next, sample.back().data());
    }
    next -= rows;
  }
  if (!controller)
  {
    return sample;
  }
  const auto own = static_cast<vtkIdType>(3 * sample.size());
  std::vector<vtkIdType> lengths(static_cast<std::size_t>(controller->GetNumberOfProcesses()));
  controller->AllGather(&own, lengths.data(), 1);
  std::vector<vtkIdType> offsets(lengths.size());
  std::partial_sum(lengths.begin(), lengths.end() - 1, offsets.begin() + 1);
  std::vector<std::array<double, 3>> all(
    static_cast<std::size_t>(offsets.back() + lengths.back()) / 3);
  // If one process runs out of memory, all fail.
  sample.resize(std::max<std::size_t>(sample.size(), 1));
  all.resize(std::max<std::size_t>(all.size(), 1));
  controller->AllGatherV(
    sample.front().data(), all.front().data(), own, lengths.data(), offsets.data());
  all.resize(static_cast<std::size_t>(offsets.back() + lengths.back()) / 3);
  return all;
}

std::string InSmallLetters(const char* name)
{
  std::string small = name ? name : "";
  std::transform(small.begin(), small.end(), small.begin(),
    [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}
}

class vtkBATPointGaussianRepresentation::vtkInternals
{
public:
  bat_vtk::ParticleBlocks Blocks;
  vtkSmartPointer<bat_vtk::BlockPointGaussianMapper> Mapper =
    vtkSmartPointer<bat_vtk::BlockPointGaussianMapper>::New();

  vtkWeakPointer<vtkDataObject> Prepared; ///< ProcessedData that is as the look needs it
  std::shared_ptr<LocalSpacing> Spacing;  ///< null if no look needs it
  double SpacedLoad = 0.0;                ///< load with these distances; 0: none
  double SpacedCount = 0.0;               ///< particles that they were taken from

  bat_vtk::ColumnDensity::Range Columns{};
  bat_vtk::GlowLegend Legend;
  vtkWeakPointer<vtkDataObject> Counted; ///< data from which Columns were computed
  bool MissesSizes = false;              ///< whether this was reported
};

vtkStandardNewMacro(vtkBATPointGaussianRepresentation);

//------------------------------------------------------------------------------
vtkBATPointGaussianRepresentation::vtkBATPointGaussianRepresentation()
  : Internals(std::make_unique<vtkInternals>())
{
  this->Mapper = this->Internals->Mapper;
  this->Actor = bat_vtk::BlockPointGaussianMapper::NewActor();
  this->Actor->SetMapper(this->Mapper);
}

vtkBATPointGaussianRepresentation::~vtkBATPointGaussianRepresentation() = default;

//------------------------------------------------------------------------------
int vtkBATPointGaussianRepresentation::RequestData(
  vtkInformation* request, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  vtkPolyData* particles = vtkPolyData::GetData(inputVector[0], 0);
  this->Internals->Blocks.SetShowsQuality(this->Look == TRUE_SIZE);
  if (!particles)
  {
    // The type is the same in all processes, also without input.
    this->ProcessedData = vtkSmartPointer<vtkMultiBlockDataSet>::New();
  }
  else
  {
    this->ProcessedData = IsParallel() ? this->Internals->Blocks.UpdateWithCells(particles)
                                       : this->Internals->Blocks.Update(particles);
  }
  return this->vtkPVDataRepresentation::RequestData(request, inputVector, outputVector);
}

//------------------------------------------------------------------------------
int vtkBATPointGaussianRepresentation::ProcessViewRequest(
  vtkInformationRequestKey* request, vtkInformation* inInfo, vtkInformation* outInfo)
{
  if (request == vtkPVView::REQUEST_UPDATE())
  {
    // A view takes its data first in an update, so the data must be ready before.
    if (!this->vtkPVDataRepresentation::ProcessViewRequest(request, inInfo, outInfo))
    {
      return 0;
    }
    this->PrepareParticles();
  }
  if (!this->Superclass::ProcessViewRequest(request, inInfo, outInfo))
  {
    return 0;
  }
  if (request == vtkPVView::REQUEST_UPDATE())
  {
    if (this->IsOpaque())
    {
      // Images of opaque particles are composited by depth, so no particle moves to another rank.
      outInfo->Remove(vtkPVRenderView::NEED_ORDERED_COMPOSITING());
    }
    this->CheckSizes();
    const bool shares = this->Look == DENSITY_GLOW;
    if (shares && IsParallel())
    {
      vtkPVRenderView::SetOrderedCompositingConfiguration(inInfo, this, 0);
    }
    vtkPVRenderView::SetDeliverToAllProcesses(inInfo, this, shares);
  }
  if (request == vtkPVView::REQUEST_UPDATE_LOD())
  {
    const double share = inInfo->Has(vtkPVRenderView::LOD_RESOLUTION())
      ? inInfo->Get(vtkPVRenderView::LOD_RESOLUTION())
      : 0.5;
    const auto maximum = static_cast<vtkIdType>(MaxSampledParticles * share) + 1;
    vtkPVView::SetPieceLOD(inInfo, this, this->Internals->Blocks.Sample(maximum));
  }
  else if (request == vtkPVView::REQUEST_RENDER())
  {
    this->UpdateLook(inInfo);
    this->UpdateLegend();
    vtkSmartPointer<vtkDataObject> sample = vtkPVView::GetDeliveredPieceLOD(inInfo, this);
    bool drawsSample = inInfo->Has(vtkPVRenderView::USE_LOD()) != 0;
    if (this->SampleFirst && this->Look == DENSITY_GLOW && !IsParallel() && !drawsSample)
    {
      sample = this->Internals->Blocks.Sample(static_cast<vtkIdType>(MaxSampledParticles));
      drawsSample = true;
    }
    this->Internals->Mapper->SetBlocks(
      vtkPVView::GetDeliveredPiece(inInfo, this), sample, drawsSample);
  }
  return 1;
}

//------------------------------------------------------------------------------
// Returns the renderer for legends, which is drawn once for all ranks.
bool vtkBATPointGaussianRepresentation::AddToView(vtkView* view)
{
  if (auto* pictures = vtkPVRenderView::SafeDownCast(view))
  {
    this->Internals->Legend.AddTo(pictures->GetNonCompositedRenderer());
  }
  return this->Superclass::AddToView(view);
}

//------------------------------------------------------------------------------
bool vtkBATPointGaussianRepresentation::RemoveFromView(vtkView* view)
{
  if (auto* pictures = vtkPVRenderView::SafeDownCast(view))
  {
    this->Internals->Legend.RemoveFrom(pictures->GetNonCompositedRenderer());
  }
  return this->Superclass::RemoveFromView(view);
}

//------------------------------------------------------------------------------
// Attribute colours have ParaView's own legend.
void vtkBATPointGaussianRepresentation::UpdateLegend()
{
  vtkInternals& self = *this->Internals;
  const bool shows = this->GlowLegend && this->Look == DENSITY_GLOW && this->GetVisibility() &&
    !self.Mapper->GetScalarVisibility() && self.Columns.Count > 0.0;
  if (shows)
  {
    self.Legend.Show(self.Columns, this->Actor->GetProperty()->GetDiffuseColor());
  }
  else
  {
    self.Legend.Hide();
  }
}

//------------------------------------------------------------------------------
bool vtkBATPointGaussianRepresentation::IsOpaque()
{
  if (this->Look == DENSITY_GLOW)
  {
    return true; // each rank has a picture of all particles
  }
  const bool blends = this->Look == SPHERES &&
    (this->SelectedPreset == GAUSSIAN_BLUR || this->SelectedPreset == CUSTOM ||
      this->Mapper->GetEmissive());
  return !blends && !this->OpacityByArray && this->Mapper->GetLookupTable()->IsOpaque() &&
    !this->Actor->HasTranslucentPolygonalGeometry();
}

//------------------------------------------------------------------------------
void vtkBATPointGaussianRepresentation::SetLook(int look)
{
  look = std::max<int>(SPHERES, std::min<int>(look, DENSITY_GLOW));
  if (this->Look != look)
  {
    this->Look = look;
    this->Internals->MissesSizes = false;
    this->MarkModified(); // the drawn data may have other arrays
  }
}

//------------------------------------------------------------------------------
void vtkBATPointGaussianRepresentation::SetRadiusByRegion(bool byRegion)
{
  if (this->RadiusByRegion != byRegion)
  {
    this->RadiusByRegion = byRegion;
    this->MarkModified();
  }
}

//------------------------------------------------------------------------------
void vtkBATPointGaussianRepresentation::SetSizeAttribute(const char* name)
{
  const std::string attribute = name ? name : "";
  if (this->SizeAttribute != attribute)
  {
    this->SizeAttribute = attribute;
    this->Internals->MissesSizes = false;
    this->Modified();
  }
}

//------------------------------------------------------------------------------
bool vtkBATPointGaussianRepresentation::IsSizeName(const char* name)
{
  const std::string small = InSmallLetters(name);
  return small == "radius" || small == "diameter" || small == "particle_radius" ||
    small == "particle_diameter";
}

//------------------------------------------------------------------------------
// Null if there is none.
const char* vtkBATPointGaussianRepresentation::FindSizes(vtkDataObject* data) const
{
  for (vtkPolyData* block : CollectBlocks(data))
  {
    vtkPointData* attributes = block->GetPointData();
    for (int i = 0; i < attributes->GetNumberOfArrays(); ++i)
    {
      vtkDataArray* array = attributes->GetArray(i);
      const char* name = array ? array->GetName() : nullptr;
      const bool requested = name && array->GetNumberOfComponents() == 1 &&
        (this->SizeAttribute.empty() ? IsSizeName(name) : this->SizeAttribute == name);
      if (requested)
      {
        return name;
      }
    }
  }
  return nullptr;
}

//------------------------------------------------------------------------------
// One process decides for all.
void vtkBATPointGaussianRepresentation::CheckSizes()
{
  vtkMultiProcessController* controller = vtkMultiProcessController::GetGlobalController();
  const std::vector<vtkPolyData*> blocks = CollectBlocks(this->ProcessedData);
  if (this->Look != TRUE_SIZE || blocks.empty() ||
    (controller && controller->GetLocalProcessId() > 0))
  {
    return;
  }
  const bool misses = !this->FindSizes(this->ProcessedData);
  if (misses && !this->Internals->MissesSizes)
  {
    std::string there;
    vtkPointData* attributes = blocks.front()->GetPointData();
    for (int i = 0; i < attributes->GetNumberOfArrays(); ++i)
    {
      if (vtkDataArray* array = attributes->GetArray(i))
      {
        there +=
          (there.empty() ? "" : ", ") + std::string(array->GetName() ? array->GetName() : "");
      }
    }
    const std::string requested = this->SizeAttribute.empty()
      ? "'radius' or 'diameter'"
      : "'" + this->SizeAttribute + "' with one component";
    vtkErrorMacro("no attribute " << requested
                                  << " is loaded, as required by the look True Size; available: "
                                  << there << ". Drawing spheres instead");
  }
  this->Internals->MissesSizes = misses;
}

//------------------------------------------------------------------------------
bool vtkBATPointGaussianRepresentation::HasFactors() const
{
  return this->RadiusByRegion && (this->Look == SPHERES || this->Look == DENSITY_GLOW);
}

//------------------------------------------------------------------------------
// Passes the blocks to the view. All processes run this, including those whose reader has failed.
void vtkBATPointGaussianRepresentation::PrepareParticles()
{
  vtkInternals& self = *this->Internals;
  const auto count = static_cast<double>(self.Blocks.Count());
  const double load = self.Blocks.Load();
  const bool isNew = self.Prepared.GetPointer() != this->ProcessedData.GetPointer();
  const bool isOther = load == 0.0 || load != self.SpacedLoad;
  const std::array<double, 2> own = { isNew ? 1.0 : 0.0, isOther ? 1.0 : 0.0 };
  std::array<double, 2> any = own;
  double all = count;
  if (IsParallel())
  {
    vtkMultiProcessController* controller = vtkMultiProcessController::GetGlobalController();
    controller->AllReduce(own.data(), any.data(), 2, vtkCommunicator::MAX_OP);
    controller->AllReduce(&count, &all, 1, vtkCommunicator::SUM_OP);
  }
  if (any[0] == 0.0)
  {
    return;
  }
  const bool shares = this->Look == DENSITY_GLOW && IsParallel();
  if (!this->HasFactors())
  {
    self.Spacing.reset();
    self.SpacedLoad = 0.0;
  }
  else
  {
    // A load that continues keeps its radii, unless they come from far fewer particles than there
    // are now.
    constexpr double maximum = 4.0;
    const bool isCoarse =
      self.SpacedCount < static_cast<double>(LocalSpacing::MaxSampledParticles) &&
      all > maximum * self.SpacedCount;
    if (any[1] != 0.0 || isCoarse)
    {
      self.Spacing = std::make_shared<LocalSpacing>(SampleOf(this->ProcessedData));
      self.SpacedLoad = load;
      self.SpacedCount = all;
    }
  }
  self.Blocks.SetSpacing(
    self.Spacing, this->Look == DENSITY_GLOW ? LargestGlowFactor : LargestSphereFactor);
  if (this->HasFactors() || shares)
  {
    this->ProcessedData =
      self.Blocks.EveryNth(shares ? static_cast<vtkIdType>(1.0 + all / MaxSharedParticles) : 1);
  }
  self.Prepared = this->ProcessedData;
}

//------------------------------------------------------------------------------
void vtkBATPointGaussianRepresentation::UpdateLook(vtkInformation* inInfo)
{
  vtkDataObject* drawn = vtkPVView::GetDeliveredPiece(inInfo, this);
  using MapperLook = bat_vtk::BlockPointGaussianMapper::Look;
  MapperLook look;
  if (this->HasFactors() && !this->ScaleByArray)
  {
    look.Factors = bat_vtk::ParticleBlocks::FactorName;
  }
  if (this->Look == POINTS)
  {
    look.Kind = MapperLook::Points;
  }
  else if (const char* sizes = this->Look == TRUE_SIZE ? this->FindSizes(drawn) : nullptr)
  {
    look.Kind = MapperLook::TrueSize;
    look.Sizes = sizes;
    look.RadiusOfSize = InSmallLetters(sizes).find("diameter") == std::string::npos ? 1.0 : 0.5;
    look.BallShader = this->PresetShaderStrings[SPHERE];
    look.BallReach = this->PresetShaderScales[SPHERE];
  }
  else if (this->Look == DENSITY_GLOW)
  {
    look.Kind = MapperLook::Glow;
    if (this->Internals->Counted != drawn)
    {
      this->Internals->Columns = CountColumns(drawn);
      this->Internals->Counted = drawn;
    }
    if (IsParallel())
    {
      auto* view = vtkPVRenderView::SafeDownCast(inInfo->Get(vtkPVView::VIEW()));
      const bool blends = view && view->GetUseOrderedCompositing();
      const bool isFirst =
        vtkMultiProcessController::GetGlobalController()->GetLocalProcessId() == 0;
      look.Share = !blends ? MapperLook::ByDepth
        : isFirst          ? MapperLook::Whole
                           : MapperLook::Nothing;
    }
    look.Columns = this->Internals->Columns;
  }
  this->Internals->Mapper->SetLook(look);
}

//------------------------------------------------------------------------------
void vtkBATPointGaussianRepresentation::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "Look: " << this->Look << '\n';
  os << indent << "SizeAttribute: " << this->SizeAttribute << '\n';
  os << indent << "RadiusByRegion: " << (this->RadiusByRegion ? "on" : "off") << '\n';
  os << indent << "GlowLegend: " << (this->GlowLegend ? "on" : "off") << '\n';
  os << indent << "SampleFirst: " << (this->SampleFirst ? "on" : "off") << '\n';
  os << indent << "Particles: " << this->Internals->Blocks.Count() << '\n';
}
