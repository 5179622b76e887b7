/* SPDX-License-Identifier: BSD-3-Clause */
/* ParaBAT for programs in C: structured grids in many resolutions, .idx datasets. On many ranks:
 * bat_mpi_idx_write() and bat_mpi_idx_open() of bat/bat_mpi.h. The conventions of bat/bat.h hold.
 *
 * Grid samples are numbered along x, y, z from 0. A box of samples is six int64: first x, y, z,
 * last x, y, z, both included. Arrays have the samples of a box, x fastest, with the components of
 * a sample side by side: value c of sample (i, j, k), counted from the first one of the box, is
 * values[((k * ny + j) * nx + i) * components + c].
 *
 * Level H of a box, from 0 (one sample of the grid) to the finest, has the samples whose numbers
 * are multiples of the level's sample distance: sub-sampled, not averaged.
 *
 * A library that was built without zlib or LZ4 has none of these functions.
 */
#ifndef BAT_BAT_IDX_H
#define BAT_BAT_IDX_H

#include "bat/bat.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* Maximum number of components of a field. */
#define BAT_IDX_MAX_COMPONENTS 64

  /* ---- A grid to write ---------------------------------------------------------------------- */

  /* A description of grid pieces in the caller's arrays. The arrays are borrowed: they must stay
   * unchanged during a write and may be freed after it. A refused argument makes writes fail, on
   * all ranks. */
  typedef struct bat_grid bat_grid;

  BAT_API int bat_grid_create(bat_grid** out);
  BAT_API void bat_grid_free(bat_grid* grid);
  /* Sets the position of sample (0, 0, 0) and the distances of samples: three doubles each, finite,
   * and distances above 0. Defaults are 0, 0, 0 and 1, 1, 1. */
  BAT_API int bat_grid_set_geometry(bat_grid* grid, const double* origin, const double* spacing);
  /* Adds a piece. `array_box` is the box of its arrays if it is larger than `box`, which lies in
   * it: with layers of ghosts, for instance, which may begin below 0. NULL: the same box. */
  BAT_API int bat_grid_add_piece(bat_grid* grid, const int64_t* box, const int64_t* array_box);
  /* Sets the samples of a field in the piece that was added last. All pieces have the same fields.
   * `name` is UTF-8, without blanks, '+', '#', brackets and '/', and copied; `type` is a bat_type.
   */
  BAT_API int bat_grid_set_field(
    bat_grid* grid, const char* name, int type, int64_t components, const void* values);

  /* Functions for wrappers in other languages: one returns the samples along x, y, z of the arrays
   * of the piece added last; the other makes writes of the grid fail with the wrapper's own message
   * and returns INVALID_ARGUMENT. */
  BAT_API int bat_grid_array_shape(const bat_grid* grid, int64_t* counts);
  BAT_API int bat_grid_fail(bat_grid* grid, const char* text);

  /* ---- Options of a write ------------------------------------------------------------------- */

  /* Wherever NULL is passed for options, the defaults apply. */
  typedef struct bat_idx_options bat_idx_options;

  BAT_API int bat_idx_options_create(bat_idx_options** out);
  BAT_API void bat_idx_options_free(bat_idx_options* options);
  /* Sets an option by its name. A value is a whole number (0 or 1 for flags), a number or a word.
   * INVALID_ARGUMENT: no such option exists, or the value is not allowed.
   *   mode: "replace", the dataset is this step; "add_step", the step is added, or replaced if it
   *     exists, and the others stay; "continue", earlier steps stay and later ones are removed, as
   *     after a restart; "auto" (default), "add_step" if `step` is set, else "replace";
   *   step: step number, 0 (if not set) to 999999999;
   *   time: simulation time; given for all steps of a dataset, or for none;
   *   codec: "raw" (default), "zip", "lz4"; a block that does not shrink is raw;
   *   zip_level: 1 (fast) to 9 (small), default 6;
   *   layout: order of samples in a block, "row_major" (default) or "hz";
   *   dialect: "openvisus" (default), or "pidx": names, layout and keys for PIDX and VisIt;
   *   bits_per_block: a block has 2 to this power samples, 1 to 28; 0, the default, chooses;
   *   file_bytes: approximate size of a file (default 64 MiB);
   *   missing: treatment of samples that no rank has: "refuse" (default), an error, or "zero";
   *   threads: maximum number; 0, the default, for all available. Does not change the bytes;
   *   flush: 1, the default, waits until all bytes are on disk;
   *   exchange ("auto", "flat", "leaders"), leaders_per_node, ranks_per_node: as in bat/bat.h. */
  BAT_API int bat_idx_options_set_integer(
    bat_idx_options* options, const char* name, int64_t value);
  BAT_API int bat_idx_options_set_real(bat_idx_options* options, const char* name, double value);
  BAT_API int bat_idx_options_set_text(
    bat_idx_options* options, const char* name, const char* value);
  /* Returns all options as a JSON array of objects with name, type, default and allowed values. */
  BAT_API const char* bat_idx_options_table(void);
  /* Calls `progress` during writes with these options; see bat_options_set_progress. In
   * bat_mpi_idx_write, every rank calls its own function. */
  BAT_API int bat_idx_options_set_progress(
    bat_idx_options* options, bat_progress progress, void* data);

  /* What a write did, summed over all ranks. */
  typedef struct bat_idx_report
  {
    uint64_t samples; /* samples of the grid */
    uint64_t files;   /* files with samples */
    uint64_t file_bytes;
    uint64_t blocks;
    uint64_t messages_within; /* nodes; collective calls are not counted */
    uint64_t bytes_within;
    uint64_t messages_between; /* nodes */
    uint64_t bytes_between;
  } bat_idx_report;

  /* Writes NAME.idx and the folder NAME next to it, from a grid of one piece. Readers see the old
   * dataset or the new one; while a step among others is replaced, it is missing for a moment.
   * After a failure the old dataset is untouched. `options` and `report` may be NULL. Calls for
   * different paths may run concurrently. Errors: INVALID_ARGUMENT (grid, options, name; a step
   * added to a dataset of another shape or with other fields), CANNOT_OPEN, WRITE_FAILED, NO_SPACE,
   * OUT_OF_MEMORY, CANCELLED. */
  BAT_API int bat_idx_write(
    const char* path, const bat_grid* grid, const bat_idx_options* options, bat_idx_report* report);

  /* ---- An open dataset ---------------------------------------------------------------------- */

  /* Opening reads a text of a few hundred bytes, and no samples. Every block is checked before it
   * is used: damage is an error, never a wrong sample. Blocks that are absent have the field's
   * default value, and reads report them. All reads of a step from an open dataset see one version
   * of it; if it was replaced or removed meanwhile, they fail with CANNOT_OPEN. */
  typedef struct bat_idx bat_idx;

  /* Errors: NOT_FOUND, CANNOT_OPEN, NOT_A_BAT_FILE (it is not an .idx either), UNSUPPORTED_VERSION
   * (an unsupported feature, which is named), CORRUPT. */
  BAT_API int bat_idx_open(const char* path, bat_idx** out);
  BAT_API void bat_idx_close(bat_idx* dataset);

  typedef struct bat_idx_info
  {
    int64_t box[6];   /* box of all samples */
    double origin[3]; /* position of sample (0, 0, 0), even if the box begins elsewhere */
    double spacing[3];
    uint64_t blocks_per_file;
    uint64_t arco;   /* maximum bytes of a one-block file; 0: files of blocks_per_file */
    int32_t levels;  /* the number of the finest level */
    int32_t axes;    /* 1 to 3, that the text names */
    int32_t version; /* 1 to 6 */
    int32_t pidx;    /* 1: PIDX's dialect */
    int32_t bits_per_block;
    int32_t big_endian; /* 1: samples are */
  } bat_idx_info;
  BAT_API int bat_idx_get_info(const bat_idx* dataset, bat_idx_info* info);
  /* Returns the order of halvings, "V012012"; the whole text of the .idx; and why origin and
   * spacing, which are then 0 and 1, cannot express its position in space, or "". Any may be NULL;
   * they live as long as the dataset. */
  BAT_API int bat_idx_texts(
    const bat_idx* dataset, const char** bits, const char** text, const char** warning);

  BAT_API int bat_idx_field_count(const bat_idx* dataset, int* fields);
  /* Any of the results may be NULL. The name lives as long as the dataset. */
  BAT_API int bat_idx_field(
    const bat_idx* dataset, int64_t index, const char** name, int* type, int* components);
  /* Finds a field by name. INVALID_ARGUMENT, with the existing fields, if none has this name. */
  BAT_API int bat_idx_field_index(const bat_idx* dataset, const char* name, int* index);
  /* Returns the smallest and largest value of a component as recorded by the writer; minimum >
   * maximum if it recorded none. */
  BAT_API int bat_idx_field_range(
    const bat_idx* dataset, int64_t index, int64_t component, double* minimum, double* maximum);

  /* Returns the number of time steps and the first `count` of them, ascending, with their times,
   * which are the steps themselves if the writer stored none. `steps` and `times` may be NULL.
   * Lists the folder if the text does not list the steps. */
  BAT_API int bat_idx_step_count(const bat_idx* dataset, uint64_t* steps);
  BAT_API int bat_idx_steps(const bat_idx* dataset, uint64_t count, int64_t* steps, double* times);

  /* Describes what a read of a level of a box returns, along each axis: the first sample, the
   * sample distance, and their number: three int64 each, any of which may be NULL. Parts of `box`
   * outside of the dataset are ignored; NULL means the whole dataset. Counts are 0 if the level has
   * no sample there. INVALID_ARGUMENT: no such level. */
  BAT_API int bat_idx_lattice(const bat_idx* dataset, int64_t level, const int64_t* box,
    int64_t* first, int64_t* distance, int64_t* count);
  /* Converts a box of space (six doubles, as in bat/bat.h), including its faces, to the box of the
   * samples in it: first x, y, z, last x, y, z, both included; last < first along an axis if there
   * are none. */
  BAT_API int bat_idx_box_of(const bat_idx* dataset, const double* bounds, int64_t* box);
  /* Returns the coarsest level at which a box has samples; -1 if it has none at any level. */
  BAT_API int bat_idx_first_level(const bat_idx* dataset, const int64_t* box, int* level);

  typedef struct bat_idx_cost
  {
    uint64_t samples;     /* samples per array */
    uint64_t bytes;       /* size of all arrays */
    uint64_t blocks;      /* blocks with any of the samples */
    uint64_t block_bytes; /* their unpacked size: the most that is read */
  } bat_idx_cost;
  /* Estimates reads of `count` fields from the text alone: their cost, and the finest level up to
   * `maximum` at which their arrays take at most `budget_bytes`, 0 if none does. 0 fields mean all.
   * */
  BAT_API int bat_idx_get_cost(const bat_idx* dataset, uint64_t count, const char* const* fields,
    int64_t level, const int64_t* box, bat_idx_cost* cost);
  BAT_API int bat_idx_finest_level(const bat_idx* dataset, uint64_t count,
    const char* const* fields, int64_t maximum, uint64_t budget_bytes, const int64_t* box,
    int* level);

  /* Sets the maximum number of threads of reads that follow; 0, the default, for all available
   * ones. */
  BAT_API int bat_idx_set_threads(bat_idx* dataset, int64_t threads);
  /* Calls `progress` during reads that follow; NULL for none. After a cancelled read the content of
   * its array is undefined. */
  BAT_API int bat_idx_set_progress(bat_idx* dataset, bat_progress progress, void* data);

  typedef struct bat_idx_read_report
  {
    uint64_t samples;
    uint64_t blocks;        /* requested blocks */
    uint64_t absent_blocks; /* requested but absent: their samples have the default value */
    uint64_t bytes_read;    /* bytes read from files */
  } bat_idx_read_report;

  /* Reads a level of a box of a field at a step, NULL for the first one, into `out`, which belongs
   * to the caller and has `bytes` bytes, at least what the samples of bat_idx_lattice() take.
   * `report` may be NULL. Calls may run concurrently. Errors: INVALID_ARGUMENT, NOT_FOUND (no data
   * of this step exist), CANNOT_OPEN, TRUNCATED, CORRUPT, UNSUPPORTED_VERSION (a codec),
   * OUT_OF_MEMORY, CANCELLED. */
  BAT_API int bat_idx_read(const bat_idx* dataset, const char* field, const int64_t* step,
    int64_t level, const int64_t* box, void* out, size_t bytes, bat_idx_read_report* report);
  /* Does the same, but copies the samples already in `coarse`, which is the array from a read of
   * the same field, step and box at `coarse_level`, below `level`. */
  BAT_API int bat_idx_refine(const bat_idx* dataset, const char* field, const int64_t* step,
    int64_t coarse_level, const void* coarse, int64_t level, const int64_t* box, void* out,
    size_t bytes, bat_idx_read_report* report);
  /* Checks every block of all fields and steps. The first problem found is the error. `report`,
   * which may be NULL, has the sums; a step without any data is NOT_FOUND. */
  BAT_API int bat_idx_validate(const bat_idx* dataset, bat_idx_read_report* report);

#ifdef __cplusplus
}
#endif

#endif
