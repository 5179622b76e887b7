// SPDX-License-Identifier: BSD-3-Clause
// The reader's region in the 3D view.
#ifndef pqBATRegionHandles_h
#define pqBATRegionHandles_h

#include "DataInView.h"
#include "pqHandles.h"

#include <array>

/// The numbers of a region of any form, as in the reader's properties.
struct pqBATRegion
{
  enum FormType
  {
    None,
    Sphere,
    Slab,
    OrientedBox
  };

  std::array<double, 3> Center{};
  double Radius = 1.0;
  std::array<double, 3> Normal{ { 0.0, 0.0, 1.0 } };
  std::array<double, 2> Limits{ { 0.0, 1.0 } };
  std::array<double, 3> HalfExtents{ { 1.0, 1.0, 1.0 } };
  std::array<double, 3> Rotation{};

  /// The reader's initial numbers for the box of all particles.
  static pqBATRegion startOf(const bat_view::Ends& data);
  bool hasSameNumbers(const pqBATRegion& other) const;
  bool hasNormal() const;
  /// Position of the slab, in units of its limits: the middle, or the finite end, or NaN.
  double position() const;
};

/// One of ParaView's 3D widgets, for regions of one form. A region that cannot be drawn, such as an
/// infinite one, is approximated.
class pqBATRegionHandles : public pqHandles
{
  Q_OBJECT
  typedef pqHandles Superclass;

public:
  static pqBATRegionHandles* New(
    int form, vtkSMProxy* proxy, vtkSMPropertyGroup* group, QWidget* parent);
  ~pqBATRegionHandles() override;

  /// `data` is the box of all particles.
  void show(const pqBATRegion& region, const bat_view::Ends& data);
  /// Returns the region shown last, with the dragged numbers replaced; other numbers keep their
  /// digits.
  virtual pqBATRegion dragged() = 0;

protected:
  using Superclass::Superclass;

  double longestSide() const;

  pqBATRegion Region;
  bat_view::Ends Data{};

private:
  Q_DISABLE_COPY(pqBATRegionHandles)
};

#endif
