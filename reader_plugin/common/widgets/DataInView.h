// SPDX-License-Identifier: BSD-3-Clause
// Where the data of a source are in a view.
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

/// The property Bounds of a reader: the box of all of its data.
Ends dataBox(vtkSMProxy* reader);

/// The transformation with which the view draws the source: moved, turned and scaled by its display
/// properties. The identity if the view does not show it.
void dataToWorld(pqView* view, vtkSMProxy* source, vtkMatrix4x4* matrix);
/// True if that is the identity, so that handles in the view are where the data are.
bool isInPlace(pqView* view, vtkSMProxy* source);

/// True if the view has a camera, which the functions below need.
bool is3D(pqView* view);
/// The smallest box around the part of `data` that is between the four sides of what the view sees,
/// and a little larger, so that rounding loses nothing; its near and far planes do not cut. Empty
/// if nothing of `data` is in view.
std::optional<Ends> boxInView(pqView* view, vtkSMProxy* source, const Ends& data);
/// The direction that planes across the line of sight have as their normal in the data, of length
/// 1.
Vector lineOfSight(pqView* view, vtkSMProxy* source);
}

#endif
