/* SPDX-License-Identifier: BSD-3-Clause */
/* ParaBAT for simulations in C on many ranks: all ranks write one dataset, and read it again with
 * any number of ranks. The conventions of bat/bat.h hold.
 *
 * Every function here but bat_mpi_library() is collective: all ranks of `comm` call it, in the same
 * order, also ranks without particles. What fails on one rank fails on all, with the same status
 * and text, which names the rank. `comm` is used between entry and return only and no message of
 * the caller's can meet ours. Call from one thread at a time; MPI_THREAD_SINGLE is enough. The only
 * failures that stay on one rank are those that keep it from taking part: MPI does not run, or
 * `comm` is MPI_COMM_NULL.
 *
 * The functions with _f take the integer handle of Fortran (and of mpi4py's py2f()).
 */
#ifndef BAT_BAT_MPI_H
#define BAT_BAT_MPI_H

#include "bat/bat.h"
#include "bat/bat_flow.h"
#include "bat/bat_idx.h"

#include <mpi.h>

#ifdef __cplusplus
extern "C"
{
#endif

  /* Writes the particles of all ranks as one dataset, replacing what is at `path` when all is on
   * disk. Readers see the old dataset or the new one, never a mixture. The path and options of rank
   * 0 count (local bounds and threads: of each rank); time, step and metadata are those of the
   * first rank that has particles. Ranks may be empty and then need not know the attributes; the
   * others have the same ones, in any order. One leaf file is written as `path` itself; several
   * stand in the folder `path`.leaves. Errors as bat_write. */
  BAT_API int bat_mpi_write(MPI_Comm comm, const char* path, const bat_particles* particles,
    const bat_options* options, bat_report* report);
  BAT_API int bat_mpi_write_f(MPI_Fint comm, const char* path, const bat_particles* particles,
    const bat_options* options, bat_report* report);

  /* Opens on all ranks or on none; the path of rank 0 counts. Closed by bat_close(), which is not
   * collective. */
  BAT_API int bat_mpi_open(MPI_Comm comm, const char* path, bat_dataset** out);
  BAT_API int bat_mpi_open_f(MPI_Fint comm, const char* path, bat_dataset** out);
  /* The same, mapped as by bat_open_mapped. What gives columns of it is not collective, and uses
   * the processors that the rank has to itself. */
  BAT_API int bat_mpi_open_mapped(MPI_Comm comm, const char* path, bat_dataset** out);
  BAT_API int bat_mpi_open_mapped_f(MPI_Fint comm, const char* path, bat_dataset** out);

  /* As bat_select, bat_read_positions and bat_read_attribute, which every rank may also call alone.
   * Each rank has its own query and its own answer. To restart: give every rank its box of a tiling
   * with bat_query_set_box_half_open(), or rank and number of ranks with bat_query_set_part(); each
   * particle then comes once. */
  BAT_API int bat_mpi_select(
    MPI_Comm comm, const bat_dataset* dataset, const bat_query* query, bat_selection** out);
  BAT_API int bat_mpi_select_f(
    MPI_Fint comm, const bat_dataset* dataset, const bat_query* query, bat_selection** out);
  BAT_API int bat_mpi_read_positions(MPI_Comm comm, const bat_dataset* dataset,
    const bat_selection* selection, void* out, size_t bytes);
  BAT_API int bat_mpi_read_positions_f(MPI_Fint comm, const bat_dataset* dataset,
    const bat_selection* selection, void* out, size_t bytes);
  BAT_API int bat_mpi_read_attribute(MPI_Comm comm, const bat_dataset* dataset, const char* name,
    const bat_selection* selection, void* out, size_t bytes);
  BAT_API int bat_mpi_read_attribute_f(MPI_Fint comm, const bat_dataset* dataset, const char* name,
    const bat_selection* selection, void* out, size_t bytes);

  /* Several attributes at once, with one agreement however many there are. All ranks name the same
   * ones, in whatever order, here and in bat_mpi_read_attribute(); else the call fails on all, and
   * its text says which rank asks for what. */
  BAT_API int bat_mpi_read_attributes(MPI_Comm comm, const bat_dataset* dataset, uint64_t count,
    const char* const* names, const bat_selection* selection, void* const* out,
    const size_t* bytes);
  BAT_API int bat_mpi_read_attributes_f(MPI_Fint comm, const bat_dataset* dataset, uint64_t count,
    const char* const* names, const bat_selection* selection, void* const* out,
    const size_t* bytes);

  /* Finds particles and brings their values into memory, in one call: bat_read_positions,
   * bat_read_attribute and the others then copy from there, and bat_selection_values tells where
   * they lie. `count` names of attributes, the same on all ranks; 0 for all of them. `mode`:
   * "direct", each rank opens the leaf files that its query touches; "aggregated", each leaf file
   * is opened by one rank, which answers the others; "auto" or NULL, what is likely to be faster.
   * The answer is the same. The mode and `memory_bytes` of rank 0 count: the most bytes of leaf
   * files that a rank holds at a time in an aggregated read, 0 for 256 MiB. With `report` on any
   * rank, bat_selection_report tells on all what the read did. Of the query's settings, progress is
   * not used. */
  BAT_API int bat_mpi_read(MPI_Comm comm, const bat_dataset* dataset, const bat_query* query,
    uint64_t count, const char* const* names, const char* mode, uint64_t memory_bytes, int report,
    bat_selection** out);
  BAT_API int bat_mpi_read_f(MPI_Fint comm, const bat_dataset* dataset, const bat_query* query,
    uint64_t count, const char* const* names, const char* mode, uint64_t memory_bytes, int report,
    bat_selection** out);

  /* Writes the pieces of all ranks as one .idx dataset (bat/bat_idx.h): the smallest box that has
   * all of them, and the same bytes for any number of ranks and any cut into pieces. Samples that
   * several pieces have are those of the lowest rank, and there of the first piece; samples that
   * none has are an error, or zeros, as the option "missing" says. Path and options of rank 0 count
   * (threads and progress: of each rank). Ranks may have no pieces, and then need not know the
   * fields; the others have the same ones in the same order, and the same geometry to 1e-6 of a
   * distance. Errors as bat_idx_write. */
  BAT_API int bat_mpi_idx_write(MPI_Comm comm, const char* path, const bat_grid* grid,
    const bat_idx_options* options, bat_idx_report* report);
  BAT_API int bat_mpi_idx_write_f(MPI_Fint comm, const char* path, const bat_grid* grid,
    const bat_idx_options* options, bat_idx_report* report);
  /* Opens on all ranks or on none; the text is read once, from the path of rank 0. Closed by
   * bat_idx_close(); reads are each rank's own and are not collective. */
  BAT_API int bat_mpi_idx_open(MPI_Comm comm, const char* path, bat_idx** out);
  BAT_API int bat_mpi_idx_open_f(MPI_Fint comm, const char* path, bat_idx** out);

  /* A box of points that a rank has. */
  typedef struct bat_bricks_piece
  {
    int64_t box[6];     /* first x, y, z, last x, y, z, from 0 on */
    int64_t stored[6];  /* of the array, which has `box` and may have more: layers of ghosts */
    const void* values; /* as those of bat_bricks_write(), of all points of `stored` */
  } bat_bricks_piece;
  /* Writes one time level as a .bricks file, or adds it to a series (bat/bat_flow.h): the smallest
   * box that has all pieces, and the same bytes for any number of ranks and any cut into pieces.
   * Points that several pieces have are those of the lowest rank, and there of the first piece;
   * points that none has are an error. Origin, spacing, cyclic axes, components and type of `grid`
   * are the same on all ranks that have pieces, and the origin is that of point 0 0 0; its number
   * of points is not used. Ranks without pieces may pass NULL for it. Path, field, metadata, time,
   * step, compress and flush of rank 0 count. Errors as bat_bricks_write. */
  BAT_API int bat_mpi_bricks_write(MPI_Comm comm, const char* path, const bat_flow_grid* grid,
    uint64_t piece_count, const bat_bricks_piece* pieces, const char* field, const char* metadata,
    const double* time, const int64_t* step, int64_t compress, int64_t flush, bat_progress progress,
    void* data);
  BAT_API int bat_mpi_bricks_write_f(MPI_Fint comm, const char* path, const bat_flow_grid* grid,
    uint64_t piece_count, const bat_bricks_piece* pieces, const char* field, const char* metadata,
    const double* time, const int64_t* step, int64_t compress, int64_t flush, bat_progress progress,
    void* data);

  /* Makes the outcome of anything that the ranks did alone common: returns BAT_OK on all ranks if
   * `status` is BAT_OK on all, else the status, and the text, of the lowest rank that failed. */
  BAT_API int bat_mpi_agree(MPI_Comm comm, int status);
  BAT_API int bat_mpi_agree_f(MPI_Fint comm, int status);

  /* Not collective, and callable at any time. The MPI that the library was built with, e.g.
   * "Open MPI 4.1.4", and whether that one runs: a program with another MPI has communicators that
   * mean nothing here. */
  BAT_API int bat_mpi_library(const char** text, int* runs);

#ifdef __cplusplus
}
#endif

#endif
