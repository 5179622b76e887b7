// SPDX-License-Identifier: BSD-3-Clause
#include "GlowBuffer.h"

#include "vtkNew.h"
#include "vtkOpenGLFramebufferObject.h"
#include "vtkOpenGLQuadHelper.h"
#include "vtkOpenGLRenderWindow.h"
#include "vtkOpenGLShaderCache.h"
#include "vtkOpenGLState.h"
#include "vtkRenderer.h"
#include "vtkShaderProgram.h"
#include "vtkTextureObject.h"

#include <cmath>

namespace
{
// OpenGL constants. The VTK header that defines them has a different name in each version.
namespace gl
{
constexpr unsigned int One = 1;
constexpr unsigned int OneMinusSourceAlpha = 0x0303;
constexpr unsigned int Always = 0x0207;
constexpr unsigned int DepthTest = 0x0B71;
constexpr unsigned int Blend = 0x0BE2;
constexpr unsigned int DepthBit = 0x0100;
constexpr unsigned int ColorBit = 0x4000;
constexpr unsigned int Samples = 0x80A9;
}

const char* const ToneShader = R"(//VTK::System::Dec
//VTK::Output::Dec
in vec2 texCoord;
uniform sampler2D glow;
uniform float dark;
uniform float range;
uniform int oneColor;
uniform sampler2D depths;
uniform sampler2D opaque;
uniform int hasDepth;
void main()
{
  vec4 sum = texture(glow, texCoord);
  if (!(sum.a > 0.0)) { discard; }
  float bright = clamp(log(1.0 + sum.a / dark) / range, 0.0, 1.0);
  vec3 color = clamp(sum.rgb / sum.a, 0.0, 1.0);
  vec3 light = color * bright;
  if (oneColor != 0)
  {
    // Embers, or the colour on its way to white.
    float most = max(color.r, max(color.g, color.b));
    float least = min(color.r, min(color.g, color.b));
    float white = max(0.0, 2.0 * bright - 1.0);
    light = mix(mix(color, vec3(1.0), white * white) * bright,
      color * pow(vec3(bright), vec3(0.6, 1.2, 2.4)), most > 0.0 ? least / most : 0.0);
  }
  float dim = 1.0 - bright;
  gl_FragData[0] = vec4(light, 1.0 - dim * dim * dim);
  float depth = texture(depths, texCoord).r / sum.a;
  gl_FragDepth = hasDepth == 0 ? gl_FragCoord.z
    : texture(opaque, texCoord).r < 1.0 ? depth - 1e-4 : depth;
}
)";
}

struct bat_vtk::GlowBuffer::Resources
{
  vtkNew<vtkOpenGLFramebufferObject> Target;
  vtkNew<vtkTextureObject> Sum;
  vtkNew<vtkTextureObject> Depths; ///< multiplied by weights
  vtkNew<vtkTextureObject> Opaque; ///< depth of what hides a glow
  std::unique_ptr<vtkOpenGLQuadHelper> Quad;
  int Size[2] = { 0, 0 };
};

//------------------------------------------------------------------------------
bat_vtk::GlowBuffer::GlowBuffer() = default;
bat_vtk::GlowBuffer::~GlowBuffer() = default;

//------------------------------------------------------------------------------
void bat_vtk::GlowBuffer::Draw(
  vtkRenderer* renderer, const Tone& tone, const std::function<void()>& draw)
{
  auto* window = vtkOpenGLRenderWindow::SafeDownCast(renderer->GetRenderWindow());
  if (!window)
  {
    return;
  }
  vtkOpenGLState* state = window->GetState();
  const vtkOpenGLState::ScopedglViewport viewport(state);
  const vtkOpenGLState::ScopedglScissor scissor(state);
  const vtkOpenGLState::ScopedglClearColor clearColor(state);
  const vtkOpenGLState::ScopedglColorMask colorMask(state);
  const vtkOpenGLState::ScopedglDepthMask depthMask(state);
  const vtkOpenGLState::ScopedglDepthFunc depthFunction(state);
  const vtkOpenGLState::ScopedglBlendFuncSeparate blendFunction(state);
  const vtkOpenGLState::ScopedglEnableDisable depthTest(state, gl::DepthTest);
  const vtkOpenGLState::ScopedglEnableDisable blend(state, gl::Blend);
  this->Begin(renderer);
  draw();
  this->Show(renderer, tone);
}

//------------------------------------------------------------------------------
void bat_vtk::GlowBuffer::Begin(vtkRenderer* renderer)
{
  auto* window = vtkOpenGLRenderWindow::SafeDownCast(renderer->GetRenderWindow());
  int size[2];
  int from[2];
  renderer->GetTiledSizeAndOrigin(&size[0], &size[1], &from[0], &from[1]);
  vtkOpenGLState* state = window->GetState();
  if (!this->Kept)
  {
    this->Kept = std::make_unique<Resources>();
    this->Kept->Sum->SetContext(window);
    this->Kept->Depths->SetContext(window);
    this->Kept->Opaque->SetContext(window);
    this->Kept->Target->SetContext(window);
  }
  Resources& kept = *this->Kept;
  if (kept.Size[0] != size[0] || kept.Size[1] != size[1])
  {
    kept.Sum->Allocate2D(size[0], size[1], 4, VTK_FLOAT);
    kept.Depths->Allocate2D(size[0], size[1], 1, VTK_FLOAT);
    kept.Opaque->AllocateDepth(size[0], size[1], vtkTextureObject::Float32);
    kept.Size[0] = size[0];
    kept.Size[1] = size[1];
  }
  int samples = 0;
  state->vtkglGetIntegerv(gl::Samples, &samples);
  if (samples == 0)
  {
    kept.Opaque->CopyFromFrameBuffer(from[0], from[1], 0, 0, size[0], size[1]);
  }

  state->PushFramebufferBindings();
  kept.Target->Bind();
  kept.Target->AddColorAttachment(0, kept.Sum);
  kept.Target->AddColorAttachment(1, kept.Depths);
  kept.Target->AddDepthAttachment(kept.Opaque);
  kept.Target->ActivateDrawBuffers(2);
  state->vtkglViewport(0, 0, size[0], size[1]);
  state->vtkglScissor(0, 0, size[0], size[1]);
  state->vtkglClearColor(0.0f, 0.0f, 0.0f, 0.0f);
  state->vtkglColorMask(1, 1, 1, 1);
  state->vtkglDepthMask(1);
  state->vtkglClearDepth(1.0);
  // Multisampled depth cannot be copied: in that case nothing hides a glow.
  state->vtkglClear(samples == 0 ? gl::ColorBit : gl::ColorBit | gl::DepthBit);
  state->vtkglDepthMask(0);
  state->vtkglEnable(gl::DepthTest);
  state->vtkglEnable(gl::Blend);
  state->vtkglBlendFunc(gl::One, gl::One);
}

//------------------------------------------------------------------------------
void bat_vtk::GlowBuffer::Show(vtkRenderer* renderer, const Tone& tone)
{
  auto* window = vtkOpenGLRenderWindow::SafeDownCast(renderer->GetRenderWindow());
  vtkOpenGLState* state = window->GetState();
  Resources& kept = *this->Kept;
  state->PopFramebufferBindings();

  int size[2];
  int from[2];
  renderer->GetTiledSizeAndOrigin(&size[0], &size[1], &from[0], &from[1]);
  state->vtkglViewport(from[0], from[1], size[0], size[1]);
  state->vtkglScissor(from[0], from[1], size[0], size[1]);
  if (!kept.Quad)
  {
    kept.Quad = std::make_unique<vtkOpenGLQuadHelper>(window, nullptr, ToneShader, "");
  }
  else
  {
    window->GetShaderCache()->ReadyShaderProgram(kept.Quad->Program);
  }
  if (vtkShaderProgram* program = kept.Quad->Program)
  {
    if (tone.HasDepth)
    {
      state->vtkglDepthFunc(gl::Always);
      state->vtkglDepthMask(1);
    }
    else
    {
      state->vtkglDisable(gl::DepthTest);
    }
    state->vtkglBlendFunc(gl::One, gl::OneMinusSourceAlpha);
    kept.Sum->Activate();
    kept.Depths->Activate();
    kept.Opaque->Activate();
    program->SetUniformi("glow", kept.Sum->GetTextureUnit());
    program->SetUniformf("dark", static_cast<float>(tone.Dark));
    program->SetUniformf("range", static_cast<float>(std::log1p(tone.Bright / tone.Dark)));
    program->SetUniformi("oneColor", tone.OneColor ? 1 : 0);
    program->SetUniformi("depths", kept.Depths->GetTextureUnit());
    program->SetUniformi("opaque", kept.Opaque->GetTextureUnit());
    program->SetUniformi("hasDepth", tone.HasDepth ? 1 : 0);
    kept.Quad->Render();
    kept.Opaque->Deactivate();
    kept.Depths->Deactivate();
    kept.Sum->Deactivate();
  }
}

//------------------------------------------------------------------------------
void bat_vtk::GlowBuffer::ReleaseGraphicsResources(vtkWindow* window)
{
  if (this->Kept)
  {
    this->Kept->Sum->ReleaseGraphicsResources(window);
    this->Kept->Depths->ReleaseGraphicsResources(window);
    this->Kept->Opaque->ReleaseGraphicsResources(window);
    this->Kept->Target->ReleaseGraphicsResources(window);
    if (this->Kept->Quad)
    {
      this->Kept->Quad->ReleaseGraphicsResources(window);
    }
    this->Kept.reset();
  }
}
