// SPDX-License-Identifier: BSD-3-Clause
#include "GlowLegend.h"

#include "vtkCoordinate.h"
#include "vtkLookupTable.h"
#include "vtkNew.h"
#include "vtkRenderer.h"
#include "vtkScalarBarActor.h"
#include "vtkTextProperty.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace
{
constexpr int Shades = 256;

// Computes colours as GlowBuffer's shader does.
std::array<double, 3> ComputeColor(double bright, const double color[3])
{
  constexpr std::array<double, 3> embers = { 0.6, 1.2, 2.4 };
  const double maximum = std::max({ color[0], color[1], color[2] });
  const double minimum = std::min({ color[0], color[1], color[2] });
  const double white = std::max(0.0, 2.0 * bright - 1.0);
  const double ember = maximum > 0.0 ? minimum / maximum : 0.0;
  std::array<double, 3> light{};
  for (std::size_t i = 0; i < light.size(); ++i)
  {
    const double plain = (color[i] + (1.0 - color[i]) * white * white) * bright;
    const double glowing = color[i] * std::pow(bright, embers[i]);
    light[i] = std::clamp(plain + (glowing - plain) * ember, 0.0, 1.0);
  }
  return light;
}

void MakePlain(vtkTextProperty* text)
{
  text->SetBold(0);
  text->SetItalic(0);
  text->SetShadow(0);
  text->SetFontFamilyToArial();
  text->SetColor(1.0, 1.0, 1.0);
}
}

//------------------------------------------------------------------------------
bat_vtk::GlowLegend::GlowLegend()
  : Bar(vtkSmartPointer<vtkScalarBarActor>::New())
{
  constexpr int fontSize = 14;
  this->Bar->SetVisibility(0);
  this->Bar->SetTitle("Particles\nper unit area");
  this->Bar->SetNumberOfLabels(4);
  this->Bar->SetLabelFormat("%.2g");
  this->Bar->SetUnconstrainedFontSize(true);
  this->Bar->SetVerticalTitleSeparation(fontSize / 2);
  MakePlain(this->Bar->GetTitleTextProperty());
  MakePlain(this->Bar->GetLabelTextProperty());
  this->Bar->GetTitleTextProperty()->SetFontSize(fontSize);
  this->Bar->GetLabelTextProperty()->SetFontSize(fontSize);
  this->Bar->GetPositionCoordinate()->SetCoordinateSystemToNormalizedViewport();
  this->Bar->GetPositionCoordinate()->SetValue(0.8, 0.05);
  this->Bar->SetWidth(0.11);
  this->Bar->SetHeight(0.42);
  this->Bar->SetBarRatio(0.2);
}

//------------------------------------------------------------------------------
bat_vtk::GlowLegend::~GlowLegend() = default;

//------------------------------------------------------------------------------
void bat_vtk::GlowLegend::AddTo(vtkRenderer* renderer)
{
  renderer->AddViewProp(this->Bar);
}

//------------------------------------------------------------------------------
void bat_vtk::GlowLegend::RemoveFrom(vtkRenderer* renderer)
{
  renderer->RemoveViewProp(this->Bar);
}

//------------------------------------------------------------------------------
void bat_vtk::GlowLegend::Hide()
{
  this->Bar->SetVisibility(0);
}

//------------------------------------------------------------------------------
void bat_vtk::GlowLegend::Show(const ColumnDensity::Range& columns, const double color[3])
{
  const double unit = columns.Count / (columns.Length * columns.Length);
  const double dark = columns.Dark * unit;
  const double bright = columns.Bright * unit;
  if (!(dark > 0.0) || !(bright > dark) || !std::isfinite(bright))
  {
    this->Hide();
    return;
  }
  vtkNew<vtkLookupTable> shades;
  shades->SetNumberOfTableValues(Shades);
  shades->SetTableRange(dark, bright);
  shades->SetScaleToLog10();
  for (int i = 0; i < Shades; ++i)
  {
    const double share = (i + 0.5) / Shades;
    const double density = dark * std::pow(bright / dark, share);
    const double seen = std::min(1.0, std::log1p(density / dark) / std::log1p(bright / dark));
    const std::array<double, 3> light = ComputeColor(seen, color);
    shades->SetTableValue(i, light[0], light[1], light[2], 1.0);
  }
  this->Bar->SetLookupTable(shades);
  this->Bar->SetVisibility(1);
}
