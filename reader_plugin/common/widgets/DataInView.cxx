// SPDX-License-Identifier: BSD-3-Clause
#include "DataInView.h"

#include "pqView.h"

#include "vtkCamera.h"
#include "vtkMath.h"
#include "vtkMatrix4x4.h"
#include "vtkNew.h"
#include "vtkRenderer.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMRenderViewProxy.h"
#include "vtkSMRepresentationProxy.h"
#include "vtkSMSourceProxy.h"
#include "vtkTransform.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace
{
using bat_view::Ends;
using bat_view::Vector;

// Shares of half the data's longest side: more than rounding can lose, less than can be seen.
constexpr double Margin = 1e-9;
constexpr double RoundingShare = 1e-14;

// The points x with n . x + d >= 0.
struct HalfSpace
{
  Vector Normal;
  double Distance;

  double at(const Vector& p) const
  {
    return this->Normal[0] * p[0] + this->Normal[1] * p[1] + this->Normal[2] * p[2] +
      this->Distance;
  }
};

using Polygon = std::vector<Vector>;

vtkSMRenderViewProxy* RenderView(pqView* view)
{
  return view ? vtkSMRenderViewProxy::SafeDownCast(view->getProxy()) : nullptr;
}

void Get(vtkSMProxy* representation, const char* name, double* values, unsigned int count)
{
  vtkSMPropertyHelper helper(representation, name, true);
  if (helper.GetNumberOfElements() == count)
  {
    helper.Get(values, count);
  }
}

// Clips by the Sutherland-Hodgman algorithm.
Polygon Clipped(const Polygon& polygon, const HalfSpace& space)
{
  Polygon clipped;
  for (std::size_t i = 0; i < polygon.size(); ++i)
  {
    const Vector& a = polygon[i];
    const Vector& b = polygon[(i + 1) % polygon.size()];
    const double atA = space.at(a);
    const double atB = space.at(b);
    if (atA >= 0.0)
    {
      clipped.push_back(a);
    }
    if ((atA >= 0.0) != (atB >= 0.0))
    {
      const double t = atA / (atA - atB);
      clipped.push_back(
        { a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), a[2] + t * (b[2] - a[2]) });
    }
  }
  return clipped;
}

std::vector<Polygon> Faces(const Ends& box)
{
  std::vector<Polygon> faces;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    const std::size_t second = (axis + 1) % 3;
    const std::size_t third = (axis + 2) % 3;
    for (std::size_t end = 0; end < 2; ++end)
    {
      Polygon face(4);
      for (std::size_t corner = 0; corner < 4; ++corner)
      {
        face[corner][axis] = box[2 * axis + end];
        face[corner][second] = box[2 * second + (corner == 1 || corner == 2 ? 1 : 0)];
        face[corner][third] = box[2 * third + (corner >= 2 ? 1 : 0)];
      }
      faces.push_back(face);
    }
  }
  return faces;
}

// Units in which the data's longest side reaches from -1 to 1, because the data may be tiny, and
// far away.
struct UnitBox
{
  Vector Middle;
  double Unit = 0.0;
  double Tolerance; // in these units
  Ends Box;         // box of the data

  UnitBox(const Ends& data, const Vector& eye)
  {
    double farthest = 0.0;
    for (std::size_t axis = 0; axis < 3; ++axis)
    {
      const double half = 0.5 * (data[2 * axis + 1] - data[2 * axis]);
      this->Middle[axis] = data[2 * axis] + half;
      this->Unit = std::max(this->Unit, half);
      farthest = std::max({ farthest, std::fabs(this->Middle[axis]), std::fabs(eye[axis]) });
    }
    this->Unit = this->Unit > 0.0 ? this->Unit : 1.0;
    this->Tolerance = Margin + RoundingShare * farthest / this->Unit;
    for (std::size_t i = 0; i < 6; ++i)
    {
      this->Box[i] = (data[i] - this->Middle[i / 2]) / this->Unit;
    }
  }

  // Returns the box of points, in units of the data and inside the data.
  Ends boundsOf(const std::vector<Vector>& points, const Ends& data) const
  {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Ends seen{ { infinity, -infinity, infinity, -infinity, infinity, -infinity } };
    for (const Vector& point : points)
    {
      for (std::size_t axis = 0; axis < 3; ++axis)
      {
        seen[2 * axis] = std::min(seen[2 * axis], point[axis]);
        seen[2 * axis + 1] = std::max(seen[2 * axis + 1], point[axis]);
      }
    }
    for (std::size_t axis = 0; axis < 3; ++axis)
    {
      const double lower = this->Middle[axis] + this->Unit * (seen[2 * axis] - this->Tolerance);
      const double upper = this->Middle[axis] + this->Unit * (seen[2 * axis + 1] + this->Tolerance);
      seen[2 * axis] = std::min(std::max(lower, data[2 * axis]), data[2 * axis + 1]);
      seen[2 * axis + 1] = std::max(std::min(upper, data[2 * axis + 1]), data[2 * axis]);
    }
    return seen;
  }
};

// The left, right, lower and upper sides of the view: -w <= x <= w and -w <= y <= w.
std::vector<HalfSpace> SidesOfView(vtkMatrix4x4* toView, const UnitBox& unit)
{
  std::vector<HalfSpace> sides;
  for (const int row : { 0, 1 })
  {
    for (const double sign : { -1.0, 1.0 })
    {
      double plane[4];
      for (int i = 0; i < 4; ++i)
      {
        plane[i] = toView->GetElement(3, i) + sign * toView->GetElement(row, i);
      }
      HalfSpace side{ { unit.Unit * plane[0], unit.Unit * plane[1], unit.Unit * plane[2] },
        plane[3] };
      for (std::size_t axis = 0; axis < 3; ++axis)
      {
        side.Distance += plane[axis] * unit.Middle[axis];
      }
      const double length = vtkMath::Norm(side.Normal.data());
      if (length > 0.0)
      {
        for (double& component : side.Normal)
        {
          component /= length;
        }
        side.Distance = side.Distance / length + unit.Tolerance;
        sides.push_back(side);
      }
    }
  }
  return sides;
}

// Returns corners of the visible part of the box. They are on faces of the box, except for the eye.
std::vector<Vector> CornersInView(
  const UnitBox& unit, const std::vector<HalfSpace>& sides, const Vector& eye, bool isParallel)
{
  std::vector<Vector> corners;
  for (Polygon face : Faces(unit.Box))
  {
    for (const HalfSpace& side : sides)
    {
      face = Clipped(face, side);
    }
    corners.insert(corners.end(), face.begin(), face.end());
  }
  Vector eyeInBox;
  bool inside = !isParallel;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    eyeInBox[axis] = (eye[axis] - unit.Middle[axis]) / unit.Unit;
    inside =
      inside && eyeInBox[axis] >= unit.Box[2 * axis] && eyeInBox[axis] <= unit.Box[2 * axis + 1];
  }
  if (inside)
  {
    corners.push_back(eyeInBox);
  }
  return corners;
}

Vector Apply(vtkMatrix4x4* matrix, const double* point)
{
  const double in[4] = { point[0], point[1], point[2], 1.0 };
  double out[4];
  matrix->MultiplyPoint(in, out);
  return { out[0] / out[3], out[1] / out[3], out[2] / out[3] };
}
}

//-----------------------------------------------------------------------------
bat_view::Ends bat_view::dataBox(vtkSMProxy* reader)
{
  Ends data{ { 0.0, 1.0, 0.0, 1.0, 0.0, 1.0 } };
  if (vtkSMProperty* bounds = reader->GetProperty("Bounds"))
  {
    reader->UpdatePropertyInformation(bounds);
    vtkSMPropertyHelper(bounds).Get(data.data(), 6);
  }
  return data;
}

//-----------------------------------------------------------------------------
void bat_view::dataToWorld(pqView* view, vtkSMProxy* source, vtkMatrix4x4* matrix)
{
  matrix->Identity();
  vtkSMRenderViewProxy* renderView = RenderView(view);
  vtkSMProxy* representation = renderView
    ? renderView->FindRepresentation(vtkSMSourceProxy::SafeDownCast(source), 0)
    : nullptr;
  if (!representation)
  {
    return;
  }
  double origin[3] = { 0.0, 0.0, 0.0 };
  double position[3] = { 0.0, 0.0, 0.0 };
  double scale[3] = { 1.0, 1.0, 1.0 };
  double degrees[3] = { 0.0, 0.0, 0.0 };
  double user[16];
  vtkMatrix4x4::Identity(user);
  Get(representation, "Origin", origin, 3);
  // The name before ParaView 5.13, and since.
  Get(representation, "Position", position, 3);
  Get(representation, "Translation", position, 3);
  Get(representation, "Scale", scale, 3);
  Get(representation, "Orientation", degrees, 3);
  Get(representation, "UserTransform", user, 16);
  vtkNew<vtkTransform> transform; // built like a vtkProp3D's
  transform->PostMultiply();
  transform->Translate(-origin[0], -origin[1], -origin[2]);
  transform->Scale(scale);
  transform->RotateY(degrees[1]);
  transform->RotateX(degrees[0]);
  transform->RotateZ(degrees[2]);
  transform->Translate(origin[0] + position[0], origin[1] + position[1], origin[2] + position[2]);
  transform->Concatenate(user);
  transform->GetMatrix(matrix);
}

//-----------------------------------------------------------------------------
bool bat_view::isInPlace(pqView* view, vtkSMProxy* source)
{
  vtkNew<vtkMatrix4x4> matrix;
  dataToWorld(view, source, matrix);
  return matrix->IsIdentity();
}

//-----------------------------------------------------------------------------
bool bat_view::is3D(pqView* view)
{
  return RenderView(view) != nullptr;
}

//-----------------------------------------------------------------------------
std::optional<bat_view::Ends> bat_view::boxInView(
  pqView* view, vtkSMProxy* source, const Ends& data)
{
  vtkSMRenderViewProxy* renderView = RenderView(view);
  vtkNew<vtkMatrix4x4> toWorld;
  dataToWorld(view, source, toWorld);
  if (!renderView || toWorld->Determinant() == 0.0)
  {
    return std::nullopt;
  }
  if (!std::all_of(data.begin(), data.end(), [](double end) { return std::isfinite(end); }))
  {
    return data;
  }
  vtkCamera* camera = renderView->GetActiveCamera();
  vtkNew<vtkMatrix4x4> toView;
  vtkMatrix4x4::Multiply4x4(camera->GetCompositeProjectionTransformMatrix(
                              renderView->GetRenderer()->GetTiledAspectRatio(), -1.0, 1.0),
    toWorld, toView);
  vtkNew<vtkMatrix4x4> toData;
  vtkMatrix4x4::Invert(toWorld, toData);
  const Vector eye = Apply(toData, camera->GetPosition());
  const UnitBox unit(data, eye);
  const std::vector<Vector> corners =
    CornersInView(unit, SidesOfView(toView, unit), eye, camera->GetParallelProjection() != 0);
  if (corners.empty())
  {
    return std::nullopt;
  }
  return unit.boundsOf(corners, data);
}

//-----------------------------------------------------------------------------
bat_view::Vector bat_view::lineOfSight(pqView* view, vtkSMProxy* source)
{
  Vector normal{ { 0.0, 0.0, 1.0 } };
  vtkSMRenderViewProxy* renderView = RenderView(view);
  if (!renderView)
  {
    return normal;
  }
  double direction[3];
  renderView->GetActiveCamera()->GetDirectionOfProjection(direction);
  vtkNew<vtkMatrix4x4> matrix;
  dataToWorld(view, source, matrix);
  for (int i = 0; i < 3; ++i) // normals are transformed by the transpose
  {
    normal[static_cast<std::size_t>(i)] = direction[0] * matrix->GetElement(0, i) +
      direction[1] * matrix->GetElement(1, i) + direction[2] * matrix->GetElement(2, i);
  }
  vtkMath::Normalize(normal.data());
  return normal;
}
