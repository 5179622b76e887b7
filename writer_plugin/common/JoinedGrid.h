// SPDX-License-Identifier: BSD-3-Clause
// Joins the pieces on one process into one grid.
#ifndef JoinedGrid_h
#define JoinedGrid_h

#include "GridInput.h"

#include "bat/idx/write.hpp"

#include <memory>
#include <vector>

namespace bat_vtk
{
struct JoinedGrid
{
  bat::idx::Grid Grid;
  std::vector<std::shared_ptr<std::vector<char>>> Copies; ///< memory that the grid uses
};

/// Returns the smallest box that contains all pieces; a single piece keeps its own values. Samples
/// in several pieces are taken from the first. Throws bat::Error{InvalidArgument} if there are no
/// samples, or if some are missing and must be refused, naming one.
JoinedGrid JoinPieces(const GridInput& input, Missing missing);
}

#endif
