// SPDX-License-Identifier: BSD-3-Clause
// Implements the functions of bat/bat_mpi.h for velocity fields in bricks.

#include "bat/bat_mpi.h"

#include "bat/bricks/parallel.hpp"
#include "bat/ranks.hpp"
#include "capi/collective.hpp"
#include "capi/flow_handles.hpp"
#include "capi/mpi_calls.hpp"
#include "capi/status.hpp"

#include <algorithm>

using namespace bat::capi;
namespace bricks = bat::bricks;

namespace
{
bat::LogicalBox box_of(const std::int64_t* ends)
{
  bat::LogicalBox box;
  std::copy_n(ends, 3, box.lower.begin());
  std::copy_n(ends + 3, 3, box.upper.begin());
  return box;
}
}

int bat_mpi_bricks_write(MPI_Comm comm, const char* path, const bat_flow_grid* grid,
  uint64_t piece_count, const bat_bricks_piece* pieces, const char* field, const char* metadata,
  const double* time, const int64_t* step, int64_t compress, int64_t flush, bat_progress progress,
  void* data)
{
  std::string target;
  bricks::Header header;
  std::vector<bricks::Piece> own;
  bricks::WriteOptions options;
  bricks::GrowingSeries* series = nullptr; // on rank 0, whose path is used
  const int status = collective(comm,
    [&]
    {
      target = path_of_root(comm, path);
      for (std::uint64_t i = 0; i != need_size(piece_count, "piece_count"); ++i)
      {
        need(pieces, "pieces");
        own.push_back({ box_of(pieces[i].box), pieces[i].values, box_of(pieces[i].stored) });
      }
      header =
        make_header(own.empty() ? nullptr : &need(grid, "grid"), field, metadata, time, step);
      options.compress = compress != 0;
      options.flush = flush != 0;
      options.progress = progress_of(progress, data);
      series = growing_series_at(target, options.flush);
      if (series)
      {
        target = series->file_of(header).string();
        options = series->with_list(header, options);
      }
    });
  if (status != BAT_OK)
  {
    return status;
  }
  return guard(
    [&]
    {
      bricks::write_collective(comm, target, header, own, options);
      bat::mpi::collective(comm,
        [&]
        {
          if (series)
          {
            series->add(header);
          }
        });
    });
}

int bat_mpi_bricks_write_f(MPI_Fint comm, const char* path, const bat_flow_grid* grid,
  uint64_t piece_count, const bat_bricks_piece* pieces, const char* field, const char* metadata,
  const double* time, const int64_t* step, int64_t compress, int64_t flush, bat_progress progress,
  void* data)
{
  return bat_mpi_bricks_write(from_fortran(comm), path, grid, piece_count, pieces, field, metadata,
    time, step, compress, flush, progress, data);
}
