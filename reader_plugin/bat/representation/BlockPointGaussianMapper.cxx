// SPDX-License-Identifier: BSD-3-Clause
#include "BlockPointGaussianMapper.h"

#include "BlockDrawnEvent.h"
#include "ParticleBlocks.h"

#include "vtkActor.h"
#include "vtkBoundingBox.h"
#include "vtkCamera.h"
#include "vtkCompositeDataIterator.h"
#include "vtkCompositeDataSet.h"
#include "vtkDataArray.h"
#include "vtkMath.h"
#include "vtkObjectFactory.h"
#include "vtkOpenGLActor.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"
#include "vtkProperty.h"
#include "vtkRenderWindow.h"
#include "vtkRenderer.h"
#include "vtkShaderProperty.h"
#include "vtkUniforms.h"
#include "vtkVersionMacros.h"

#include <algorithm>
#include <cmath>
#include <iterator>
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

// Each particle contributes 1, spread over its area; the value in the view is multiplied by its
// weight. The last line replaces the lit colours.
const char* const GlowShader =
  "//VTK::Color::Impl\n"
  "  float dist2 = dot(offsetVCVSOutput.xy, offsetVCVSOutput.xy);\n"
  "  if (dist2 > 9.0) { discard; }\n"
  "  vec2 perPixel = dFdx(offsetVCVSOutput.xy);\n"
  "  float depth = farOverNear / (farOverNear - gl_FragCoord.z * (farOverNear - 1.0));\n"
  "  float pixel = 2.0 * (pixelHalf.x + pixelHalf.y * depth);\n"
  "  float weight = glowWeight * opacity * dot(perPixel, perPixel) / (6.2831853 * pixel * pixel) "
  "*\n"
  "    exp(-0.5 * dist2);\n"
  "#define BAT_COLOR vec4((ambientColor + diffuseColor) * weight, weight)\n";
constexpr double GlowReach = 3.0;
// Standard deviation: neighbours two radii apart blend, and fine structure is not blurred.
constexpr double GlowOfRadius = 0.5;
// Standard deviation in pixels of the smallest splats; smaller ones would fall between pixels.
constexpr double MinGlow = 0.6;

// Draws a glow after everything else. Keeps its base's class name, as the mapper does.
class ParticleActor : public vtkOpenGLActor
{
public:
  static ParticleActor* New();

  int RenderOpaqueGeometry(vtkViewport* viewport) override
  {
    return IsGlow(viewport) ? 0 : this->vtkOpenGLActor::RenderOpaqueGeometry(viewport);
  }
  int RenderTranslucentPolygonalGeometry(vtkViewport* viewport) override
  {
    return IsGlow(viewport) ? 0
                            : this->vtkOpenGLActor::RenderTranslucentPolygonalGeometry(viewport);
  }
  int RenderOverlay(vtkViewport* viewport) override
  {
    if (!IsGlow(viewport))
    {
      return 0;
    }
    static_cast<bat_vtk::BlockPointGaussianMapper*>(this->GetMapper())
      ->DrawGlow(vtkRenderer::SafeDownCast(viewport), this);
    return 1;
  }

private:
  // Picking draws balls instead of a glow.
  bool IsGlow(vtkViewport* viewport)
  {
    auto* mapper = static_cast<bat_vtk::BlockPointGaussianMapper*>(this->GetMapper());
    auto* renderer = vtkRenderer::SafeDownCast(viewport);
    return mapper && mapper->IsGlow() && renderer && !renderer->GetSelector();
  }
};
vtkStandardNewMacro(ParticleActor);

// Called between two blocks. Observers may have used the graphics card for something else.
bool IsStopped(vtkRenderer* renderer)
{
  vtkRenderWindow* window = renderer->GetRenderWindow();
  if (!window->HasObserver(bat_vtk::BlockDrawn))
  {
    return false;
  }
  window->WaitForCompletion();
  window->InvokeEvent(bat_vtk::BlockDrawn);
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
    , RadiusScale(ParticleBlocks::NumberOf(block, ParticleBlocks::RadiusScaleName))
  {
    this->Mapper->SetInputDataObject(block);
  }
  ~Part() = default;
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  vtkSmartPointer<vtkPolyData> Block;
  vtkSmartPointer<vtkPointGaussianMapper> Mapper = vtkSmartPointer<vtkPointGaussianMapper>::New();
  double RadiusScale;
  double Quality = 1.0; ///< changes from step to step
};

// The settings with which parts are currently drawn.
struct bat_vtk::BlockPointGaussianMapper::Drawing
{
  int Kind;
  double Radius; ///< radius for a size of 1; 0 means points
  const char* Sizes;
  int SizesComponent;
  vtkPiecewiseFunction* SizeFunction;
  const char* Shader;
  double Reach;
  bool Emissive;
};

vtkStandardNewMacro(bat_vtk::BlockPointGaussianMapper);

//------------------------------------------------------------------------------
bat_vtk::BlockPointGaussianMapper::BlockPointGaussianMapper()
{
  this->ScalarVisibility = 0; // changes once there is an array to colour by
}

bat_vtk::BlockPointGaussianMapper::~BlockPointGaussianMapper() = default;

//------------------------------------------------------------------------------
// The radius is a uniform of the shader here, because VTK's own way would prepare all points again
// for another radius. A particle smaller than a pixel would be drawn as a dark speck or not at all.
vtkSmartPointer<vtkActor> bat_vtk::BlockPointGaussianMapper::NewActor()
{
  auto actor = vtkSmartPointer<ParticleActor>::New();
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
  // VTK squares this vector, which overflows 32-bit floats at the lengths of galaxies.
  shader->AddGeometryShaderReplacement("normalize(-gl_in[0].gl_Position.xyz)", false,
    "gl_in[0].gl_Position.xyz;\n"
    "    dir = normalize(-dir / max(abs(dir.x), max(abs(dir.y), abs(dir.z))))",
    false);
  replace("mat3 cov = (radius * radius) * T * transpose(T);", false,
    "T *= radius;\n"
    "  mat3 cov = T * transpose(T);\n");
  shader->AddVertexShaderReplacement(
    " / (positionVC.z * positionVC.z)", false, " / positionVC.z / positionVC.z", true);
  // The preset "Sphere" is shaded from its middle to its edge. A sphere of one or two pixels would
  // show a random part of that, and many of them would look like noise: such spheres get the mean
  // instead.
  shader->AddFragmentShaderReplacement("float scale = (1.0 - dist);", false,
    "vec2 perPixel = dFdx(offsetVCVSOutput.xy);\n"
    "  float pixels = inversesqrt(max(dot(perPixel, perPixel), 1e-12));\n"
    "  float scale = mix(0.5, 1.0 - dist, smoothstep(0.75, 1.5, pixels));\n",
    false);
  shader->AddFragmentShaderReplacement("//VTK::Light::Impl", false,
    "//VTK::Light::Impl\n"
    "#ifdef BAT_COLOR\n"
    "  gl_FragData[0] = BAT_COLOR;\n"
    "  gl_FragData[1] = vec4(gl_FragCoord.z * BAT_COLOR.a);\n"
    "#endif\n",
    false);
  return actor;
}

//------------------------------------------------------------------------------
bat_vtk::BlockPointGaussianMapper::Drawing bat_vtk::BlockPointGaussianMapper::MakeDrawing(
  int kind) const
{
  Drawing drawing{ kind, this->ScaleFactor, this->ScaleArray, this->ScaleArrayComponent,
    this->ScaleFunction, this->SplatShaderCode, 0.0, this->Emissive != 0 };
#if VTK_VERSION_NUMBER >= VTK_VERSION_CHECK(9, 3, 0)
  drawing.Reach = this->BoundScale;
#else
  drawing.Reach = this->TriangleScale;
#endif
  const char* factors =
    this->CurrentLook.Factors.empty() ? nullptr : this->CurrentLook.Factors.c_str();
  if (kind == Look::Settings)
  {
    if (factors)
    {
      drawing.Sizes = factors;
      drawing.SizesComponent = 0;
      drawing.SizeFunction = nullptr;
    }
    return drawing;
  }
  drawing.Emissive = false;
  drawing.Sizes = nullptr;
  drawing.SizeFunction = nullptr;
  if (kind == Look::Points)
  {
    drawing.Radius = 0.0;
  }
  else if (kind == Look::TrueSize)
  {
    drawing.Radius = this->CurrentLook.RadiusOfSize;
    drawing.Sizes = this->CurrentLook.Sizes.c_str();
    drawing.SizesComponent = 0;
    drawing.Shader = this->CurrentLook.BallShader.c_str();
    drawing.Reach = this->CurrentLook.BallReach;
  }
  else
  {
    // Zero would mean points, which get the smallest splats.
    drawing.Radius = std::max(GlowOfRadius * drawing.Radius, 1e-30);
    drawing.Sizes = factors;
    drawing.SizesComponent = 0;
    drawing.Shader = GlowShader;
    drawing.Reach = GlowReach;
  }
  return drawing;
}

//------------------------------------------------------------------------------
// Sets the values that the shader needs for each picture.
void bat_vtk::BlockPointGaussianMapper::UpdateUniforms(
  vtkRenderer* renderer, vtkActor* actor, const Drawing& drawing) const
{
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
  double minimum = 1.0;
  if (drawing.Kind == Look::Glow)
  {
    minimum = 2.0 * MinGlow;
#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 3, 0)
    minimum *= drawing.Reach; // there, the minimum is a share of the reach
#endif
  }
  // Fragments get the depth in units of the nearest one: not all versions of VTK provide it in
  // gl_FragCoord.w.
  const double* clipping = camera->GetClippingRange();
  const double range = camera->GetParallelProjection() ? 1.0 : clipping[1] / clipping[0];
  const double length = drawing.Kind == Look::Glow ? this->CurrentLook.Columns.Length : 1.0;
  const float values[2] = { static_cast<float>(pixel[0] / length),
    static_cast<float>(pixel[1] * clipping[0] / length) };
  const float smallest[2] = { static_cast<float>(minimum * pixel[0]),
    static_cast<float>(minimum * pixel[1]) };
  vtkShaderProperty* shader = actor->GetShaderProperty();
  shader->GetVertexCustomUniforms()->SetUniform2f("pixelRadius", smallest);
  shader->GetFragmentCustomUniforms()->SetUniform2f("pixelHalf", values);
  shader->GetFragmentCustomUniforms()->SetUniformf("farOverNear", static_cast<float>(range));
}

//------------------------------------------------------------------------------
// Sets the values for each part. A sample fills as much space as all particles.
void bat_vtk::BlockPointGaussianMapper::UpdateUniforms(
  vtkActor* actor, const Drawing& drawing, const Part& part) const
{
  const double larger = drawing.Kind == Look::TrueSize ? 1.0 / std::cbrt(part.Quality) : 1.0;
  const double stands = std::pow(part.RadiusScale, 3.0); // particles that each one represents
  const double weight = stands / std::max(1.0, this->CurrentLook.Columns.Count);
  vtkShaderProperty* shader = actor->GetShaderProperty();
  shader->GetVertexCustomUniforms()->SetUniformf(
    "particleRadius", static_cast<float>(drawing.Radius * larger));
  shader->GetFragmentCustomUniforms()->SetUniformf("glowWeight", static_cast<float>(weight));
}

//------------------------------------------------------------------------------
void bat_vtk::BlockPointGaussianMapper::SetBlocks(
  vtkDataObject* all, vtkDataObject* sample, bool drawSample)
{
  this->SetInputDataObject(all);
  PartList parts = this->CollectParts(all);
  PartList sampled = this->CollectParts(sample);
  if (parts != this->All || (this->Whole && this->Whole->Quality != parts.front()->Quality))
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
bat_vtk::BlockPointGaussianMapper::PartList bat_vtk::BlockPointGaussianMapper::CollectParts(
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
    parts.back()->Quality = ParticleBlocks::NumberOf(block, ParticleBlocks::QualityName);
  }
  return parts;
}

//------------------------------------------------------------------------------
void bat_vtk::BlockPointGaussianMapper::CopySettings(const Part& part, const Drawing& drawing)
{
  vtkPointGaussianMapper* to = part.Mapper;
  // Zero means points without a radius, which VTK draws differently.
  to->SetScaleFactor(drawing.Radius == 0.0 ? 0.0 : part.RadiusScale);
  to->SetScaleFunction(drawing.SizeFunction);
  to->SetScaleTableSize(this->GetScaleTableSize());
  to->SetScaleArray(drawing.Sizes);
  to->SetScaleArrayComponent(drawing.SizesComponent);
  to->SetScalarOpacityFunction(this->GetScalarOpacityFunction());
  to->SetOpacityTableSize(this->GetOpacityTableSize());
  to->SetOpacityArray(this->GetOpacityArray());
  to->SetOpacityArrayComponent(this->GetOpacityArrayComponent());
  to->SetEmissive(drawing.Emissive);
  to->SetSplatShaderCode(drawing.Shader);
#if VTK_VERSION_NUMBER >= VTK_VERSION_CHECK(9, 3, 0)
  to->SetBoundScale(drawing.Reach);
#else
  to->SetTriangleScale(static_cast<float>(drawing.Reach));
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
  const auto has = [this](const char* name)
  {
    return !name || !this->All.front()->Block->GetPointData()->HasArray(name) ||
      this->Whole->Block->GetPointData()->HasArray(name);
  };
  const char* const needed[] = { this->GetScaleArray(), this->GetOpacityArray(),
    this->CurrentLook.Sizes.c_str(), this->CurrentLook.Factors.c_str() };
  if (this->All.size() == 1)
  {
    this->Whole = this->All.front();
  }
  if (this->All.empty() || (this->Whole && std::all_of(std::begin(needed), std::end(needed), has)))
  {
    return;
  }
  vtkPolyData* first = this->All.front()->Block;
  auto whole = vtkSmartPointer<vtkPolyData>::New();
  auto points = vtkSmartPointer<vtkPoints>::New();
  points->SetDataType(first->GetPoints()->GetDataType());
  std::vector<const char*> names;
  for (const char* name : needed)
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
  this->Whole->Quality = this->All.front()->Quality;
}

//------------------------------------------------------------------------------
void bat_vtk::BlockPointGaussianMapper::DrawParts(
  vtkRenderer* renderer, vtkActor* actor, const PartList& parts, int kind)
{
  const Drawing drawing = this->MakeDrawing(kind);
  this->UpdateUniforms(renderer, actor, drawing);
  for (const std::shared_ptr<Part>& part : parts)
  {
    this->UpdateUniforms(actor, drawing, *part);
    this->CopySettings(*part, drawing);
    part->Mapper->Render(renderer, actor);
    if (!this->DrawSample && part != parts.back() && IsStopped(renderer))
    {
      return;
    }
  }
}

//------------------------------------------------------------------------------
void bat_vtk::BlockPointGaussianMapper::Render(vtkRenderer* renderer, vtkActor* actor)
{
  int kind = this->CurrentLook.Kind;
  PartList parts = this->DrawSample ? this->Sample : this->All;
  if (renderer->GetSelector())
  {
    // Processes know only shared totals, which say nothing about their own numbers of particles.
    const auto isSample = [](const std::shared_ptr<Part>& part)
    { return part->RadiusScale != 1.0; };
    if (this->CurrentLook.Share != Look::Whole ||
      std::any_of(this->All.begin(), this->All.end(), isSample))
    {
      return;
    }
    this->UpdateWhole();
    parts.assign(this->Whole ? 1 : 0, this->Whole);
    kind = kind == Look::Glow ? static_cast<int>(Look::Settings) : kind;
  }
  this->DrawParts(renderer, actor, parts, kind);
}

//------------------------------------------------------------------------------
void bat_vtk::BlockPointGaussianMapper::DrawGlow(vtkRenderer* renderer, vtkActor* actor)
{
  // Processes have no common sample.
  const bool isShared = this->CurrentLook.Share != Look::Whole;
  const PartList& parts = this->DrawSample && !isShared ? this->Sample : this->All;
  if (parts.empty() || this->CurrentLook.Share == Look::Nothing)
  {
    return;
  }
  GlowBuffer::Tone tone;
  tone.Dark = this->CurrentLook.Columns.Dark;
  tone.Bright = this->CurrentLook.Columns.Bright;
  tone.OneColor = !this->GetScalarVisibility();
  tone.HasDepth = this->CurrentLook.Share == Look::ByDepth;
  // vtkActor renders the property in the same way.
  actor->GetProperty()->Render(actor, renderer);
  this->Buffer.Draw(renderer, tone, [&] { this->DrawParts(renderer, actor, parts, Look::Glow); });
  actor->GetProperty()->PostRender(actor, renderer);
}

//------------------------------------------------------------------------------
// VTK treats emissive particles as opaque.
bool bat_vtk::BlockPointGaussianMapper::HasTranslucentPolygonalGeometry()
{
  switch (this->CurrentLook.Kind)
  {
    case Look::Settings:
      return this->vtkOpenGLPointGaussianMapper::HasTranslucentPolygonalGeometry();
    case Look::Glow:
      return false;
    default:
      return this->vtkPointGaussianMapper::HasTranslucentPolygonalGeometry();
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
  this->Buffer.ReleaseGraphicsResources(window);
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
