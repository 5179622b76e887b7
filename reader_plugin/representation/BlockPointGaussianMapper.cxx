#include "BlockPointGaussianMapper.h"

#include "ParticleBlocks.h"
#include "vtkBATPointGaussianRepresentation.h"

#include "vtkActor.h"
#include "vtkBoundingBox.h"
#include "vtkCamera.h"
#include "vtkCompositeDataIterator.h"
#include "vtkCompositeDataSet.h"
#include "vtkDataArray.h"
#include "vtkFieldData.h"
#include "vtkMath.h"
#include "vtkObjectFactory.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"
#include "vtkRenderWindow.h"
#include "vtkRenderer.h"
#include "vtkShaderProperty.h"
#include "vtkUniforms.h"
#include "vtkVersionMacros.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace
{
bool HaveSameArrays(vtkPolyData* a, vtkPolyData* b)
{
  vtkPointData* inA = a->GetPointData();
  vtkPointData* inB = b->GetPointData();
  if (a->GetPoints()->GetData() != b->GetPoints()->GetData() ||
    inA->GetNumberOfArrays() != inB->GetNumberOfArrays() ||
    a->GetNumberOfVerts() != b->GetNumberOfVerts())
  {
    return false;
  }
  for (int i = 0; i < inA->GetNumberOfArrays(); ++i)
  {
    if (inA->GetAbstractArray(i) != inB->GetAbstractArray(i))
    {
      return false;
    }
  }
  return true;
}

double RadiusScaleOf(vtkPolyData* block)
{
  vtkDataArray* scale = block->GetFieldData()->GetArray(bat_vtk::ParticleBlocks::RadiusScaleName);
  return scale && scale->GetNumberOfTuples() > 0 ? scale->GetTuple1(0) : 1.0;
}

// Between two blocks. Whoever listens may have used the graphics card for something else.
bool IsStopped(vtkRenderer* renderer)
{
  vtkRenderWindow* window = renderer->GetRenderWindow();
  if (!window->HasObserver(vtkBATPointGaussianRepresentation::BlockDrawnEvent))
  {
    return false;
  }
  window->WaitForCompletion();
  window->InvokeEvent(vtkBATPointGaussianRepresentation::BlockDrawnEvent);
  window->MakeCurrent();
  return window->GetAbortRender() != 0;
}

void Append(vtkDataArray* to, vtkDataArray* from)
{
  to->InsertTuples(to->GetNumberOfTuples(), from->GetNumberOfTuples(), 0, from);
}
}

struct bat_vtk::BlockPointGaussianMapper::Part
{
  explicit Part(vtkPolyData* block)
    : Block(block)
    , RadiusScale(RadiusScaleOf(block))
  {
    this->Mapper->SetInputDataObject(block);
  }
  ~Part() = default;
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  vtkSmartPointer<vtkPolyData> Block;
  vtkSmartPointer<vtkPointGaussianMapper> Mapper = vtkSmartPointer<vtkPointGaussianMapper>::New();
  double RadiusScale;
};

vtkStandardNewMacro(bat_vtk::BlockPointGaussianMapper);

//------------------------------------------------------------------------------
bat_vtk::BlockPointGaussianMapper::BlockPointGaussianMapper() = default;
bat_vtk::BlockPointGaussianMapper::~BlockPointGaussianMapper() = default;

//------------------------------------------------------------------------------
// The radius is a number of the shader here: VTK's own way prepares all points again for another one. A
// particle that is less than a pixel would be drawn as a dark speck or not at all.
void bat_vtk::BlockPointGaussianMapper::PrepareActor(vtkActor* actor)
{
  vtkShaderProperty* shader = actor->GetShaderProperty();
  const auto replace = [shader](const std::string& what, bool first, const std::string& by)
  { shader->AddVertexShaderReplacement(what, first, by, false); };
  const std::string declarations = "\nuniform float particleRadius;\nuniform vec2 pixelRadius;\n";
  // VTK 9.2
  replace("in float radiusMC;", true, "in float radiusMC;" + declarations);
  replace("radiusVCVSOutput = radiusMC;", true,
    "float depth = -(MCVCMatrix * vertexMC).z;\n"
    "  radiusVCVSOutput =\n"
    "    max(particleRadius * radiusMC, pixelRadius.x + pixelRadius.y * depth);\n");
  // VTK 9.3 and later
  replace("uniform float scaleFactor;", true, "uniform float scaleFactor;" + declarations);
  replace("float radius = scaleFactor * radiusMC;", false,
    "float radius = max(scaleFactor * particleRadius * radiusMC,\n"
    "    pixelRadius.x - pixelRadius.y * posVC.z);\n");
  // The preset "Sphere" is shaded from its middle to its edge. Of a sphere of a pixel or two, which
  // part a pixel shows is chance, and many of them are noise: they have their mean.
  shader->AddFragmentShaderReplacement("float scale = (1.0 - dist);", false,
    "vec2 perPixel = dFdx(offsetVCVSOutput.xy);\n"
    "  float pixels = inversesqrt(max(dot(perPixel, perPixel), 1e-12));\n"
    "  float scale = mix(0.5, 1.0 - dist, smoothstep(0.75, 1.5, pixels));\n",
    false);
}

//------------------------------------------------------------------------------
// What the shader needs to know for each picture.
void bat_vtk::BlockPointGaussianMapper::UpdateUniforms(vtkRenderer* renderer, vtkActor* actor) const
{
  vtkUniforms* uniforms = actor->GetShaderProperty()->GetVertexCustomUniforms();
  uniforms->SetUniformf("particleRadius", static_cast<float>(this->ScaleFactor));

  const double pixels = std::max(1, renderer->GetSize()[1]);
  vtkCamera* camera = renderer->GetActiveCamera();
  double pixel[2] = { 0.0, 0.0 }; // half its size in the view, and for each unit of depth
  if (camera->GetParallelProjection())
  {
    pixel[0] = camera->GetParallelScale() / pixels;
  }
  else
  {
    pixel[1] = std::tan(vtkMath::RadiansFromDegrees(camera->GetViewAngle()) / 2.0) / pixels;
  }
  const float values[2] = { static_cast<float>(pixel[0]), static_cast<float>(pixel[1]) };
  uniforms->SetUniform2f("pixelRadius", values);
}

//------------------------------------------------------------------------------
void bat_vtk::BlockPointGaussianMapper::SetBlocks(
  vtkDataObject* all, vtkDataObject* sample, bool drawSample)
{
  this->SetInputDataObject(all);
  PartList parts = this->PartsOf(all);
  PartList sampled = this->PartsOf(sample);
  if (parts != this->All)
  {
    this->Whole.reset();
  }
  this->All = std::move(parts);
  this->Sample = std::move(sampled);
  this->DrawSample = drawSample && !this->Sample.empty();
}

//------------------------------------------------------------------------------
// VTK counts only points that have cells.
void bat_vtk::BlockPointGaussianMapper::ComputeBounds()
{
  vtkBoundingBox bounds;
  for (const std::shared_ptr<Part>& part : this->All)
  {
    bounds.AddBounds(part->Block->GetPoints()->GetBounds());
  }
  vtkMath::UninitializeBounds(this->Bounds);
  if (bounds.IsValid())
  {
    bounds.GetBounds(this->Bounds);
  }
}

//------------------------------------------------------------------------------
bat_vtk::BlockPointGaussianMapper::PartList bat_vtk::BlockPointGaussianMapper::PartsOf(
  vtkDataObject* blocks) const
{
  PartList parts;
  auto* composite = vtkCompositeDataSet::SafeDownCast(blocks);
  if (!composite)
  {
    return parts;
  }
  auto leaves = vtkSmartPointer<vtkCompositeDataIterator>::Take(composite->NewIterator());
  for (leaves->InitTraversal(); !leaves->IsDoneWithTraversal(); leaves->GoToNextItem())
  {
    auto* block = vtkPolyData::SafeDownCast(leaves->GetCurrentDataObject());
    if (!block || block->GetNumberOfPoints() == 0)
    {
      continue;
    }
    const auto isOfBlock = [&](const std::shared_ptr<Part>& part)
    { return HaveSameArrays(part->Block, block); };
    std::shared_ptr<Part> found;
    for (const PartList* list : { &this->All, &this->Sample })
    {
      const auto at = std::find_if(list->begin(), list->end(), isOfBlock);
      if (at != list->end())
      {
        found = *at;
        break;
      }
    }
    parts.push_back(found ? found : std::make_shared<Part>(block));
  }
  return parts;
}

//------------------------------------------------------------------------------
void bat_vtk::BlockPointGaussianMapper::CopySettings(const Part& part)
{
  vtkPointGaussianMapper* to = part.Mapper;
  // Zero stands for points without a radius, which VTK draws in another way.
  to->SetScaleFactor(this->ScaleFactor == 0.0 ? 0.0 : part.RadiusScale);
  to->SetScaleFunction(this->GetScaleFunction());
  to->SetScaleTableSize(this->GetScaleTableSize());
  to->SetScaleArray(this->GetScaleArray());
  to->SetScaleArrayComponent(this->GetScaleArrayComponent());
  to->SetScalarOpacityFunction(this->GetScalarOpacityFunction());
  to->SetOpacityTableSize(this->GetOpacityTableSize());
  to->SetOpacityArray(this->GetOpacityArray());
  to->SetOpacityArrayComponent(this->GetOpacityArrayComponent());
  to->SetEmissive(this->GetEmissive());
  to->SetSplatShaderCode(this->GetSplatShaderCode());
#if VTK_VERSION_NUMBER >= VTK_VERSION_CHECK(9, 3, 0)
  to->SetBoundScale(this->GetBoundScale());
#else
  to->SetTriangleScale(this->GetTriangleScale());
#endif
  to->SetLookupTable(this->LookupTable);
  to->SetScalarVisibility(this->GetScalarVisibility());
  to->SetScalarMode(this->GetScalarMode());
  to->SetColorMode(this->GetColorMode());
  to->SetUseLookupTableScalarRange(this->GetUseLookupTableScalarRange());
  to->SetScalarRange(this->GetScalarRange());
  to->SelectColorArray(this->GetArrayName());
}

//------------------------------------------------------------------------------
void bat_vtk::BlockPointGaussianMapper::UpdateWhole()
{
  if (this->All.size() == 1)
  {
    this->Whole = this->All.front();
  }
  if (this->Whole || this->All.empty())
  {
    return;
  }
  vtkPolyData* first = this->All.front()->Block;
  auto whole = vtkSmartPointer<vtkPolyData>::New();
  auto points = vtkSmartPointer<vtkPoints>::New();
  points->SetDataType(first->GetPoints()->GetDataType());
  std::vector<const char*> names;
  for (const char* name : { this->GetScaleArray(), this->GetOpacityArray() })
  {
    vtkDataArray* array = name ? first->GetPointData()->GetArray(name) : nullptr;
    if (array && !whole->GetPointData()->GetArray(name))
    {
      auto copy = vtkSmartPointer<vtkDataArray>::Take(array->NewInstance());
      copy->SetName(name);
      copy->SetNumberOfComponents(array->GetNumberOfComponents());
      whole->GetPointData()->AddArray(copy);
      names.push_back(name);
    }
  }
  for (const std::shared_ptr<Part>& part : this->All)
  {
    Append(points->GetData(), part->Block->GetPoints()->GetData());
    for (const char* name : names)
    {
      Append(whole->GetPointData()->GetArray(name), part->Block->GetPointData()->GetArray(name));
    }
  }
  whole->SetPoints(points);
  this->Whole = std::make_shared<Part>(whole);
}

//------------------------------------------------------------------------------
void bat_vtk::BlockPointGaussianMapper::Render(vtkRenderer* renderer, vtkActor* actor)
{
  this->UpdateUniforms(renderer, actor);
  PartList parts = this->DrawSample ? this->Sample : this->All;
  if (renderer->GetSelector())
  {
    this->UpdateWhole();
    parts.assign(this->Whole ? 1 : 0, this->Whole);
  }
  for (const std::shared_ptr<Part>& part : parts)
  {
    this->CopySettings(*part);
    part->Mapper->Render(renderer, actor);
    if (!this->DrawSample && part != parts.back() && IsStopped(renderer))
    {
      return;
    }
  }
}

//------------------------------------------------------------------------------
void bat_vtk::BlockPointGaussianMapper::ReleaseGraphicsResources(vtkWindow* window)
{
  for (const PartList* list : { &this->All, &this->Sample })
  {
    for (const std::shared_ptr<Part>& part : *list)
    {
      part->Mapper->ReleaseGraphicsResources(window);
    }
  }
  if (this->Whole)
  {
    this->Whole->Mapper->ReleaseGraphicsResources(window);
  }
  this->Superclass::ReleaseGraphicsResources(window);
}

//------------------------------------------------------------------------------
void bat_vtk::BlockPointGaussianMapper::ProcessSelectorPixelBuffers(
  vtkHardwareSelector* selector, std::vector<unsigned int>& pixelOffsets, vtkProp* prop)
{
  if (this->Whole)
  {
    this->Whole->Mapper->ProcessSelectorPixelBuffers(selector, pixelOffsets, prop);
  }
}
