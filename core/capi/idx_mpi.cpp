// SPDX-License-Identifier: BSD-3-Clause
// Implements the functions of bat/bat_mpi.h for grids.

#include "bat/bat_mpi.h"

#include "bat/idx/parallel.hpp"
#include "capi/collective.hpp"
#include "capi/grid_handles.hpp"
#include "capi/mpi_calls.hpp"
#include "capi/status.hpp"

using namespace bat::capi;
namespace idx = bat::idx;

int bat_mpi_idx_write(MPI_Comm comm, const char* path, const bat_grid* grid,
  const bat_idx_options* options, bat_idx_report* report)
{
  if (report)
  {
    *report = {};
  }
  std::string target;
  idx::GridPieces pieces;
  const int status = collective(comm,
    [&]
    {
      target = path_of_root(comm, path);
      const bat_grid& given = accepted(grid);
      pieces.origin = given.origin;
      pieces.spacing = given.spacing;
      pieces.fields = given.fields;
      for (const GridPiece& piece : given.pieces)
      {
        pieces.pieces.push_back({ piece.box, piece.values, piece.stored });
      }
    });
  if (status != BAT_OK)
  {
    return status;
  }
  return guard(
    [&]
    {
      const idx::WriteReport written =
        idx::write_collective(comm, target, pieces, grid_options(options));
      if (report)
      {
        *report = c_report(written);
      }
    });
}

int bat_mpi_idx_open(MPI_Comm comm, const char* path, bat_idx** out)
{
  std::string source;
  const int status = collective(comm,
    [&]
    {
      need(out, "result pointer") = nullptr;
      source = path_of_root(comm, path);
    });
  if (status != BAT_OK)
  {
    return status;
  }
  return guard([&] { *out = new bat_idx(idx::open_collective(comm, source)); });
}

int bat_mpi_idx_write_f(MPI_Fint comm, const char* path, const bat_grid* grid,
  const bat_idx_options* options, bat_idx_report* report)
{
  return bat_mpi_idx_write(from_fortran(comm), path, grid, options, report);
}

int bat_mpi_idx_open_f(MPI_Fint comm, const char* path, bat_idx** out)
{
  return bat_mpi_idx_open(from_fortran(comm), path, out);
}
