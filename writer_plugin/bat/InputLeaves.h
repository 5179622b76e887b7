// SPDX-License-Identifier: BSD-3-Clause
// Finds the data sets of an input that contain particles.
#ifndef InputLeaves_h
#define InputLeaves_h

#include "DataLeaves.h"

class vtkDataObject;

namespace bat_vtk
{
enum class Kind
{
  Particles,
  Nothing, ///< no points, but room for some
  Grid,    ///< points of cells other than vertices
  Other    ///< neither points nor a table
};

Kind KindOf(vtkDataObject* leaf);
}

#endif
