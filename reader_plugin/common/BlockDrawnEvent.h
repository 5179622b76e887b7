// SPDX-License-Identifier: BSD-3-Clause
// The event between two blocks of particles, for code that draws them and code that observes it.
#ifndef BlockDrawnEvent_h
#define BlockDrawnEvent_h

#include "vtkCommand.h"

namespace bat_vtk
{
constexpr unsigned long BlockDrawn = vtkCommand::UserEvent + 0xba7;
}

#endif
