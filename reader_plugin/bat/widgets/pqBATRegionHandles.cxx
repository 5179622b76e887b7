// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATRegionHandles.h"

#include "pqRangeScale.h"

#include "vtkMath.h"
#include "vtkSMNewWidgetRepresentationProxy.h"
#include "vtkSMPropertyHelper.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace
{
using bat_view::Ends;
using Vector = std::array<double, 3>;

// Shares of the data's longest side: the minimum thickness of a drawn region, and the resolution of
// dragging.
constexpr double ThinnestShare = 1e-3;
constexpr double FinestShare = 1e-4;
constexpr double FinestDirection = 1e-6;
constexpr double FinestDegrees = 0.01;
// A side or an angle that is not dragged changes by less than this, through rounding.
constexpr double SameShare = 1e-6;

double Rounded(double value, double finest)
{
  return bat_range::rounded(value, finest).toDouble();
}

// Returns `typed`, unless the handle has left the position that corresponds to it.
double Dragged(double typed, double put, double now, double size, double finest)
{
  return std::fabs(now - put) <= SameShare * size ? typed : Rounded(now, finest);
}

double Dot(const Vector& a, const Vector& b)
{
  return vtkMath::Dot(a.data(), b.data());
}

Vector MiddleOf(const Ends& box)
{
  return { 0.5 * (box[0] + box[1]), 0.5 * (box[2] + box[3]), 0.5 * (box[4] + box[5]) };
}

void FiniteOr(Vector& place, const Vector& otherwise)
{
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    place[axis] = std::isfinite(place[axis]) ? place[axis] : otherwise[axis];
  }
}

void Set(vtkSMProxy* widget, const char* name, const Vector& values)
{
  vtkSMPropertyHelper(widget, name).Set(values.data(), 3);
}

Vector Get(vtkSMProxy* widget, const char* name)
{
  Vector values{};
  vtkSMPropertyHelper(widget, name).Get(values.data(), 3);
  return values;
}

//-----------------------------------------------------------------------------
class SphereHandles : public pqBATRegionHandles
{
public:
  SphereHandles(vtkSMProxy* smproxy, vtkSMPropertyGroup* smgroup, QWidget* parentWidget)
    : pqBATRegionHandles("SphereWidgetRepresentation", smproxy, smgroup, parentWidget)
  {
    vtkSMPropertyHelper(this->widgetProxy(), "CenterCursor", true).Set(1);
  }

  pqBATRegion dragged() override
  {
    this->widgetProxy()->UpdatePropertyInformation();
    const Vector center = Get(this->widgetProxy(), "CenterInfo");
    const double radius = vtkSMPropertyHelper(this->widgetProxy(), "RadiusInfo").GetAsDouble();
    const double finest = FinestShare * radius;
    pqBATRegion region = this->Region;
    for (std::size_t axis = 0; axis < 3; ++axis)
    {
      region.Center[axis] =
        Dragged(region.Center[axis], this->Center[axis], center[axis], this->Radius, finest);
    }
    region.Radius = Dragged(region.Radius, this->Radius, radius, this->Radius, finest);
    return region;
  }

protected:
  void placeWidget() override
  {
    this->Center = this->Region.Center;
    FiniteOr(this->Center, MiddleOf(this->Data));
    this->Radius = std::isfinite(this->Region.Radius) ? this->Region.Radius : this->longestSide();
    this->Radius = std::max(this->Radius, ThinnestShare * this->longestSide());
    Set(this->widgetProxy(), "Center", this->Center);
    vtkSMPropertyHelper(this->widgetProxy(), "Radius").Set(this->Radius);
    this->widgetProxy()->UpdateVTKObjects();
    this->render();
  }

private:
  Vector Center{};
  double Radius = 1.0;
};

//-----------------------------------------------------------------------------
// A plane in the middle of the slab.
class SlabHandles : public pqBATRegionHandles
{
public:
  SlabHandles(vtkSMProxy* smproxy, vtkSMPropertyGroup* smgroup, QWidget* parentWidget)
    : pqBATRegionHandles("ImplicitPlaneWidgetRepresentation", smproxy, smgroup, parentWidget)
  {
    vtkSMPropertyHelper(this->widgetProxy(), "PlaceFactor", true).Set(1.0);
  }

  pqBATRegion dragged() override
  {
    pqBATRegion region = this->Region;
    this->widgetProxy()->UpdatePropertyInformation();
    const Vector origin = Get(this->widgetProxy(), "OriginInfo");
    const Vector normal = Get(this->widgetProxy(), "NormalInfo");
    this->Anchor = origin;
    this->Anchored = true;
    if (!region.hasNormal())
    {
      return region;
    }
    double finest = FinestShare * this->longestSide();
    if (std::sqrt(vtkMath::Distance2BetweenPoints(normal.data(), this->Normal.data())) > SameShare)
    {
      const double before = vtkMath::Norm(region.Normal.data());
      const double middle = region.position();
      for (std::size_t axis = 0; axis < 3; ++axis)
      {
        region.Normal[axis] = Rounded(normal[axis], FinestDirection);
      }
      const double position = Dot(region.Normal, origin);
      for (double& limit : region.Limits)
      {
        limit = std::isfinite(limit) ? position + (limit - middle) / before : limit;
      }
    }
    else
    {
      const double moved = Dot(region.Normal, origin) - Dot(region.Normal, this->Origin);
      const double length = vtkMath::Norm(region.Normal.data());
      finest *= length;
      if (std::fabs(moved) <= SameShare * length * this->longestSide())
      {
        return region;
      }
      for (double& limit : region.Limits)
      {
        limit += moved;
      }
    }
    for (double& limit : region.Limits)
    {
      limit = std::isfinite(limit) ? Rounded(limit, finest) : limit;
    }
    return region;
  }

protected:
  void placeWidget() override
  {
    if (!this->Region.hasNormal())
    {
      return;
    }
    const Vector middle = MiddleOf(this->Data);
    this->Normal = this->Region.Normal;
    const double length = vtkMath::Normalize(this->Normal.data());
    this->Origin = this->Anchored ? this->Anchor : middle;
    double position = this->Region.position() / length;
    position = std::isfinite(position) ? position : Dot(this->Normal, middle);
    const double missing = position - Dot(this->Normal, this->Origin);
    Ends bounds = this->Data;
    for (std::size_t axis = 0; axis < 3; ++axis)
    {
      this->Origin[axis] += missing * this->Normal[axis];
      bounds[2 * axis] = std::min(bounds[2 * axis], this->Origin[axis]);
      bounds[2 * axis + 1] = std::max(bounds[2 * axis + 1], this->Origin[axis]);
    }
    vtkSMProxy* widget = this->widgetProxy();
    vtkSMPropertyHelper(widget, "WidgetBounds", true).Set(bounds.data(), 6);
    Set(widget, "Normal", this->Normal);
    Set(widget, "Origin", this->Origin);
    widget->UpdateVTKObjects();
    this->render();
  }

private:
  Vector Normal{};
  Vector Origin{};
  Vector Anchor{}; // position to which the origin was dragged
  bool Anchored = false;
};

//-----------------------------------------------------------------------------
// A cube from -1 to 1, scaled by half extents, rotated and moved.
class BoxHandles : public pqBATRegionHandles
{
public:
  BoxHandles(vtkSMProxy* smproxy, vtkSMPropertyGroup* smgroup, QWidget* parentWidget)
    : pqBATRegionHandles("BoxWidgetRepresentation", smproxy, smgroup, parentWidget)
  {
    const double cube[6] = { -1.0, 1.0, -1.0, 1.0, -1.0, 1.0 };
    vtkSMProxy* widget = this->widgetProxy();
    vtkSMPropertyHelper(widget, "UseReferenceBounds").Set(1);
    vtkSMPropertyHelper(widget, "ReferenceBounds").Set(cube, 6);
    vtkSMPropertyHelper(widget, "PlaceFactor", true).Set(1.0);
    widget->UpdateVTKObjects();
  }

  pqBATRegion dragged() override
  {
    const State now = this->state();
    const double size =
      *std::max_element(this->Put.HalfExtents.begin(), this->Put.HalfExtents.end());
    const double finest = FinestShare * size;
    pqBATRegion region = this->Region;
    for (std::size_t axis = 0; axis < 3; ++axis)
    {
      region.Center[axis] =
        Dragged(region.Center[axis], this->Put.Center[axis], now.Center[axis], size, finest);
      region.HalfExtents[axis] = Dragged(
        region.HalfExtents[axis], this->Put.HalfExtents[axis], now.HalfExtents[axis], size, finest);
    }
    // Either all angles have changed or none, because several sets of angles describe the same
    // rotation.
    Vector rotation{};
    bool turned = false;
    for (std::size_t axis = 0; axis < 3; ++axis)
    {
      rotation[axis] = Rounded(now.Rotation[axis], FinestDegrees);
      turned = turned || std::fabs(now.Rotation[axis] - this->Put.Rotation[axis]) > SameDegrees;
    }
    region.Rotation = turned ? rotation : region.Rotation;
    return region;
  }

protected:
  void placeWidget() override
  {
    Vector center = this->Region.Center;
    FiniteOr(center, MiddleOf(this->Data));
    Vector half = this->Region.HalfExtents;
    Vector rotation = this->Region.Rotation;
    for (std::size_t axis = 0; axis < 3; ++axis)
    {
      half[axis] = std::isfinite(half[axis]) ? half[axis] : this->longestSide();
      half[axis] = std::max(half[axis], 0.5 * ThinnestShare * this->longestSide());
      rotation[axis] = std::isfinite(rotation[axis]) ? rotation[axis] : 0.0;
    }
    vtkSMProxy* widget = this->widgetProxy();
    Set(widget, "Position", center);
    Set(widget, "Rotation", rotation);
    Set(widget, "Scale", half);
    widget->UpdateVTKObjects();
    this->Put = this->state();
    this->render();
  }

private:
  static constexpr double SameDegrees = 1e-4;

  struct State
  {
    Vector Center{};
    Vector HalfExtents{};
    Vector Rotation{};
  };

  State state()
  {
    vtkSMProxy* widget = this->widgetProxy();
    widget->UpdatePropertyInformation();
    State state{ Get(widget, "PositionInfo"), Get(widget, "ScaleInfo"),
      Get(widget, "RotationInfo") };
    for (double& half : state.HalfExtents)
    {
      half = std::fabs(half);
    }
    return state;
  }

  State Put;
};
}

//-----------------------------------------------------------------------------
pqBATRegion pqBATRegion::startOf(const Ends& data)
{
  pqBATRegion region;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    region.HalfExtents[axis] = 0.5 * (data[2 * axis + 1] - data[2 * axis]);
    region.Center[axis] = data[2 * axis] + region.HalfExtents[axis];
  }
  region.Radius = *std::max_element(region.HalfExtents.begin(), region.HalfExtents.end());
  region.Limits = { { data[4], data[5] } };
  return region;
}

//-----------------------------------------------------------------------------
bool pqBATRegion::hasSameNumbers(const pqBATRegion& other) const
{
  return this->Center == other.Center && this->Radius == other.Radius &&
    this->Normal == other.Normal && this->Limits == other.Limits &&
    this->HalfExtents == other.HalfExtents && this->Rotation == other.Rotation;
}

//-----------------------------------------------------------------------------
bool pqBATRegion::hasNormal() const
{
  const double length = vtkMath::Norm(this->Normal.data());
  return std::isfinite(length) && length > 0.0;
}

//-----------------------------------------------------------------------------
double pqBATRegion::position() const
{
  const double lower = this->Limits[0];
  const double upper = this->Limits[1];
  return std::isfinite(lower) && std::isfinite(upper) ? lower + 0.5 * (upper - lower)
    : std::isfinite(lower)                            ? lower
    : std::isfinite(upper)                            ? upper
                                                      : std::numeric_limits<double>::quiet_NaN();
}

//-----------------------------------------------------------------------------
pqBATRegionHandles* pqBATRegionHandles::New(
  int form, vtkSMProxy* smproxy, vtkSMPropertyGroup* smgroup, QWidget* parentWidget)
{
  switch (form)
  {
    case pqBATRegion::Sphere:
      return new SphereHandles(smproxy, smgroup, parentWidget);
    case pqBATRegion::Slab:
      return new SlabHandles(smproxy, smgroup, parentWidget);
    case pqBATRegion::OrientedBox:
      return new BoxHandles(smproxy, smgroup, parentWidget);
    default:
      return nullptr;
  }
}

//-----------------------------------------------------------------------------
pqBATRegionHandles::~pqBATRegionHandles() = default;

//-----------------------------------------------------------------------------
void pqBATRegionHandles::show(const pqBATRegion& region, const bat_view::Ends& data)
{
  this->Region = region;
  this->Data = data;
  this->placeWidget();
}

//-----------------------------------------------------------------------------
double pqBATRegionHandles::longestSide() const
{
  double longest = 0.0;
  for (std::size_t i = 0; i < 6; i += 2)
  {
    longest = std::max(longest, this->Data[i + 1] - this->Data[i]);
  }
  return longest > 0.0 && std::isfinite(longest) ? longest : 1.0;
}
