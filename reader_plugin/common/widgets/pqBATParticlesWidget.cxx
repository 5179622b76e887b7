// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATParticlesWidget.h"

#include "pqCount.h"

#include <cmath>

namespace
{
// The limit is below 2^53, up to which the property is exact.
constexpr double MaxParticles = 9e15;
}

//-----------------------------------------------------------------------------
pqBATParticlesWidget::pqBATParticlesWidget(
  vtkSMProxy* smproxy, vtkSMProperty* smproperty, QWidget* parentWidget)
  : Superclass(smproxy, smproperty, tr("Examples: 5,000,000, 5M or 2.5e6"), { &parse, &format },
      parentWidget)
{
}

//-----------------------------------------------------------------------------
pqBATParticlesWidget::~pqBATParticlesWidget() = default;

//-----------------------------------------------------------------------------
double pqBATParticlesWidget::parse(const QString& text)
{
  const auto [number, unit] = parseAmount(text, "([kmbg]?)");
  const double factor = unit == "k" ? 1e3 : unit == "m" ? 1e6 : unit.isEmpty() ? 1.0 : 1e9;
  const double value = std::round(number * factor);
  return value >= 0.0 && value <= MaxParticles ? value : -1.0;
}

//-----------------------------------------------------------------------------
QString pqBATParticlesWidget::format(double particles)
{
  return bat_count::grouped(particles);
}
