// SPDX-License-Identifier: BSD-3-Clause
// Locates a source's data in a view.
#ifndef DataInView_h
#define DataInView_h

#include <array>
#include <optional>

class pqView;
class vtkMatrix4x4;
class vtkSMProxy;

namespace bat_view
{
/// x min, x max, y min, y max, z min, z max.
using Ends = std::array<double, 6>;
using Vector = std::array<double, 3>;

/// The property Bounds of a reader: the box of all its data.
Ends dataBox(vtkSMProxy* reader);

/// The transformation with which the view draws the source: translation, rotation and scale from
/// its display properties. The identity if the view does not show it.
void dataToWorld(pqView* view, vtkSMProxy* source, vtkMatrix4x4* matrix);
/// True if that is the identity, so that handles in the view are where the data are.
bool isInPlace(pqView* view, vtkSMProxy* source);

/// True if the view has a camera, which the functions below need.
bool is3D(pqView* view);
/// Returns the smallest box around the part of `data` between the four sides of the view, slightly
/// enlarged, so that rounding loses nothing; the near and far planes do not cut it. Empty if no
/// part of `data` is in view.
std::optional<Ends> boxInView(pqView* view, vtkSMProxy* source, const Ends& data);
/// Returns the direction of view in data coordinates, of length 1: the normal of planes across the
/// line of sight.
Vector lineOfSight(pqView* view, vtkSMProxy* source);
}

#endif
