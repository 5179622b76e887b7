// SPDX-License-Identifier: BSD-3-Clause
// A legend for the brightness of a glow.
#ifndef GlowLegend_h
#define GlowLegend_h

#include "ColumnDensity.h"

#include "vtkSmartPointer.h"

class vtkRenderer;
class vtkScalarBarActor;

namespace bat_vtk
{
/// A bar from dark to bright, labelled with numbers of particles per square unit of length, at the
/// right edge of a view.
class GlowLegend
{
public:
  GlowLegend();
  ~GlowLegend();
  GlowLegend(const GlowLegend&) = delete;
  GlowLegend& operator=(const GlowLegend&) = delete;

  void AddTo(vtkRenderer* renderer);
  void RemoveFrom(vtkRenderer* renderer);
  void Hide();
  /// A glow of one colour (red, green, blue), which turns white at its brightest.
  void Show(const ColumnDensity::Range& columns, const double color[3]);

private:
  vtkSmartPointer<vtkScalarBarActor> Bar;
};
}

#endif
