/* SPDX-License-Identifier: BSD-3-Clause */
/* ParaBAT for C simulations on many ranks. All ranks write one dataset together, and any number of
 * ranks can read it. The conventions of bat/bat.h hold.
 *
 * All functions here except bat_mpi_library() are collective: all ranks of `comm` call them, in the
 * same order, including ranks without particles. A failure on one rank fails on all, with the same
 * status and text, which names the rank. `comm` is used only during the call, and messages cannot
 * be confused with the caller's. Call from one thread at a time; MPI_THREAD_SINGLE is enough. Only
 * failures that keep a rank from taking part stay on that rank: MPI does not run, or `comm` is
 * MPI_COMM_NULL.
 *
 * The functions with _f take Fortran's integer handle (also mpi4py's py2f()).
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

  /* Writes the particles of all ranks as one dataset, which replaces the one at `path` once
   * everything is on disk. Readers see the old dataset or the new one, never a mixture. The path
   * and options of rank 0 are used (local bounds and threads: of each rank); time, step and
   * metadata come from the first rank that has particles. Ranks may be empty and then need not know
   * the attributes; the others have the same ones, in any order. A single leaf file is written as
   * `path` itself; several are in the folder `path`.leaves. Errors as bat_write. */
  BAT_API int bat_mpi_write(MPI_Comm comm, const char* path, const bat_particles* particles,
    const bat_options* options, bat_report* report);
  BAT_API int bat_mpi_write_f(MPI_Fint comm, const char* path, const bat_particles* particles,
    const bat_options* options, bat_report* report);

  /* Opens on all ranks or on none; the path of rank 0 is used. Close it with bat_close(), which is
   * not collective. */
  BAT_API int bat_mpi_open(MPI_Comm comm, const char* path, bat_dataset** out);
  BAT_API int bat_mpi_open_f(MPI_Fint comm, const char* path, bat_dataset** out);
  /* Does the same, mapped as by bat_open_mapped. The functions that return its columns are not
   * collective and use the processors that the rank does not share. */
  BAT_API int bat_mpi_open_mapped(MPI_Comm comm, const char* path, bat_dataset** out);
  BAT_API int bat_mpi_open_mapped_f(MPI_Fint comm, const char* path, bat_dataset** out);

  /* Collective versions of bat_select, bat_read_positions and bat_read_attribute, which each rank
   * may also call alone. Each rank has its own query and its own result. To restart, give every
   * rank its box of a tiling with bat_query_set_box_half_open(), or rank and number of ranks with
   * bat_query_set_part(); each particle is then read exactly once. */
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

  /* Reads several attributes with a single agreement between ranks. All ranks name the same ones,
   * in any order, here and in bat_mpi_read_attribute(); otherwise the call fails on all ranks, and
   * its text lists what each rank requested. */
  BAT_API int bat_mpi_read_attributes(MPI_Comm comm, const bat_dataset* dataset, uint64_t count,
    const char* const* names, const bat_selection* selection, void* const* out,
    const size_t* bytes);
  BAT_API int bat_mpi_read_attributes_f(MPI_Fint comm, const bat_dataset* dataset, uint64_t count,
    const char* const* names, const bat_selection* selection, void* const* out,
    const size_t* bytes);

  /* Finds particles and loads their values into memory, in one call. bat_read_positions,
   * bat_read_attribute and the others then copy from there, and bat_selection_values returns the
   * addresses. `count` attribute names, the same on all ranks; 0 for all attributes. `mode`:
   * "direct", each rank opens the leaf files that its query touches; "aggregated", one rank opens
   * each leaf file and answers the others; "auto" or NULL chooses the one that is likely to be
   * faster. The result is the same. `memory_bytes` limits the leaf files that a rank holds at a
   * time in an aggregated read, 0 for 256 MiB; it does not limit the values read. The mode and
   * `memory_bytes` of rank 0 are used. With `report` on any rank, bat_selection_report returns on
   * all ranks what the read did. The query's progress function is not called. */
  BAT_API int bat_mpi_read(MPI_Comm comm, const bat_dataset* dataset, const bat_query* query,
    uint64_t count, const char* const* names, const char* mode, uint64_t memory_bytes, int report,
    bat_selection** out);
  BAT_API int bat_mpi_read_f(MPI_Fint comm, const bat_dataset* dataset, const bat_query* query,
    uint64_t count, const char* const* names, const char* mode, uint64_t memory_bytes, int report,
    bat_selection** out);

  /* Writes the pieces of all ranks as one .idx dataset (bat/bat_idx.h): the smallest box that
   * contains all of them. The bytes are the same for any number of ranks and any division into
   * pieces. Where pieces overlap, the lowest rank's samples are used, and there the first piece's;
   * samples that no piece has are an error, or zeros, depending on the option "missing". Path and
   * options of rank 0 are used (threads and progress: of each rank). Ranks may have no pieces and
   * then need not know the fields; the others have the same fields in the same order, and the same
   * geometry to 1e-6 of a distance. Errors as bat_idx_write. */
  BAT_API int bat_mpi_idx_write(MPI_Comm comm, const char* path, const bat_grid* grid,
    const bat_idx_options* options, bat_idx_report* report);
  BAT_API int bat_mpi_idx_write_f(MPI_Fint comm, const char* path, const bat_grid* grid,
    const bat_idx_options* options, bat_idx_report* report);
  /* Opens on all ranks or on none; rank 0 reads the text once, from its path. Close it with
   * bat_idx_close(). Each rank reads independently; reads are not collective. */
  BAT_API int bat_mpi_idx_open(MPI_Comm comm, const char* path, bat_idx** out);
  BAT_API int bat_mpi_idx_open_f(MPI_Fint comm, const char* path, bat_idx** out);

  /* A box of points on a rank. */
  typedef struct bat_bricks_piece
  {
    int64_t box[6];     /* first x, y, z, last x, y, z, from 0 on */
    int64_t stored[6];  /* box of the array; may be larger than `box`: layers of ghosts */
    const void* values; /* as in bat_bricks_write(), for all points of `stored` */
  } bat_bricks_piece;
  /* Writes one time level as a .bricks file, or adds it to a series (bat/bat_flow.h): the smallest
   * box that contains all pieces. The bytes are the same for any number of ranks and any division
   * into pieces. Where pieces overlap, the lowest rank's points are used, and there the first
   * piece's; points that no piece has are an error. Origin, spacing, cyclic axes, components and
   * type of `grid` are the same on all ranks with pieces, and the origin is the position of point 0
   * 0 0; its number of points is not used. Ranks without pieces may pass NULL for it. Path, field,
   * metadata, time, step, compress and flush of rank 0 are used. Errors as bat_bricks_write. */
  BAT_API int bat_mpi_bricks_write(MPI_Comm comm, const char* path, const bat_flow_grid* grid,
    uint64_t piece_count, const bat_bricks_piece* pieces, const char* field, const char* metadata,
    const double* time, const int64_t* step, int64_t compress, int64_t flush, bat_progress progress,
    void* data);
  BAT_API int bat_mpi_bricks_write_f(MPI_Fint comm, const char* path, const bat_flow_grid* grid,
    uint64_t piece_count, const bat_bricks_piece* pieces, const char* field, const char* metadata,
    const double* time, const int64_t* step, int64_t compress, int64_t flush, bat_progress progress,
    void* data);

  /* Agrees on the outcome of work that ranks did separately. Returns BAT_OK on all ranks if
   * `status` is BAT_OK on all; otherwise the status, and the text, of the lowest rank that
   * failed. */
  BAT_API int bat_mpi_agree(MPI_Comm comm, int status);
  BAT_API int bat_mpi_agree_f(MPI_Fint comm, int status);

  /* Not collective, and callable at any time. Returns the MPI with which the library was built,
   * e.g. "Open MPI 4.1.4", and whether that MPI is the one running: communicators from another MPI
   * are not valid here. */
  BAT_API int bat_mpi_library(const char** text, int* runs);

#ifdef __cplusplus
}
#endif

#endif
