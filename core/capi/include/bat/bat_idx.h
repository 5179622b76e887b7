/* SPDX-License-Identifier: BSD-3-Clause */
/* ParaBAT for programs in C: structured grids in many resolutions, .idx datasets. On many ranks:
 * bat_mpi_idx_write() and bat_mpi_idx_open() of bat/bat_mpi.h. The conventions of bat/bat.h hold.
 *
 * Samples of a grid are numbered along x, y, z from 0 on. A box of samples is six int64: first x,
 * y, z, last x, y, z, both included. Arrays have the samples of a box, x fastest, with the
 * components of a sample side by side: value c of sample (i, j, k), counted from the first one of
 * the box, is values[((k * ny + j) * nx + i) * components + c].
 *
 * Level H of a box, from 0, one sample of the grid, to the finest, has those of its samples whose
 * numbers are multiples of the distance of the level: sub-sampled, not averaged.
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

/* Of a field. */
#define BAT_IDX_MAX_COMPONENTS 64

  /* ---- A grid to write ---------------------------------------------------------------------- */

  /* A description of pieces of a grid in the caller's arrays, which are borrowed: they must stay
   * unchanged during a write and may be freed after it. What was refused keeps writes from being
   * done, on all ranks. */
  typedef struct bat_grid bat_grid;

  BAT_API int bat_grid_create(bat_grid** out);
  BAT_API void bat_grid_free(bat_grid* grid);
  /* Where sample (0, 0, 0) lies, and the distances of samples: three doubles each, finite, and
   * distances above 0. By default 0, 0, 0 and 1, 1, 1. */
  BAT_API int bat_grid_set_geometry(bat_grid* grid, const double* origin, const double* spacing);
  /* One more piece. `array_box` is the box of its arrays if they have more than the samples of
   * `box`, which lies in it: layers of ghosts, for instance, which may begin below 0. NULL: the
   * same box. */
  BAT_API int bat_grid_add_piece(bat_grid* grid, const int64_t* box, const int64_t* array_box);
  /* The samples of a field in the piece that was added last. All pieces have the same fields.
   * `name` is UTF-8, without blanks, '+', '#', brackets and '/', and copied; `type` is a bat_type.
   */
  BAT_API int bat_grid_set_field(
    bat_grid* grid, const char* name, int type, int64_t components, const void* values);

  /* For wrappers in other languages: the samples along x, y, z of the arrays of the piece that was
   * added last, and a refusal of their own, which keeps the grid from being written and returns
   * INVALID_ARGUMENT. */
  BAT_API int bat_grid_array_shape(const bat_grid* grid, int64_t* counts);
  BAT_API int bat_grid_fail(bat_grid* grid, const char* text);

  /* ---- Options of a write ------------------------------------------------------------------- */

  /* Where NULL is passed for options, the defaults hold. */
  typedef struct bat_idx_options bat_idx_options;

  BAT_API int bat_idx_options_create(bat_idx_options** out);
  BAT_API void bat_idx_options_free(bat_idx_options* options);
  /* Sets an option by its name: whole numbers, and 0 or 1 for flags; numbers; words.
   * INVALID_ARGUMENT: there is no such option, or not with this value.
   *   mode: "replace", the dataset is this step; "add_step", the step is added, or replaced if it
   *     exists, and the others stay; "continue", those before stay and later ones are gone, as
   *     after a restart; "auto" (default), "add_step" if `step` is set, else "replace";
   *   step: number of the step, 0 (if not set) to 999999999;
   *   time: its time; given for all steps of a dataset, or for none;
   *   codec: "raw" (default), "zip", "lz4"; a block that does not shrink is raw;
   *   zip_level: 1, fast, to 9, small (default 6);
   *   layout: order of samples in a block, "row_major" (default) or "hz";
   *   dialect: "openvisus" (default), or "pidx": names, layout and keys for PIDX and VisIt;
   *   bits_per_block: a block has 2 to this power samples, 1 to 28; 0, the default, chooses;
   *   file_bytes: about as many bytes go into a file (default 64 MiB);
   *   missing: what samples that no rank has are, "refuse" (default), an error, or "zero";
   *   threads: at most; 0, the default, for as many as there are. Does not change the bytes;
   *   flush: 1, the default, waits until all bytes are on disk;
   *   exchange ("auto", "flat", "leaders"), leaders_per_node, ranks_per_node: as in bat/bat.h. */
  BAT_API int bat_idx_options_set_integer(
    bat_idx_options* options, const char* name, int64_t value);
  BAT_API int bat_idx_options_set_real(bat_idx_options* options, const char* name, double value);
  BAT_API int bat_idx_options_set_text(
    bat_idx_options* options, const char* name, const char* value);
  /* All options: a JSON array of objects with name, type, default and what is allowed. */
  BAT_API const char* bat_idx_options_table(void);
  /* Tells `progress` of writes with these options; as bat_options_set_progress. */
  BAT_API int bat_idx_options_set_progress(
    bat_idx_options* options, bat_progress progress, void* data);

  /* What a write did; of many ranks, all of them together. */
  typedef struct bat_idx_report
  {
    uint64_t samples; /* of the grid */
    uint64_t files;   /* of samples */
    uint64_t file_bytes;
    uint64_t blocks;
    uint64_t messages_within; /* nodes; collective calls are not counted */
    uint64_t bytes_within;
    uint64_t messages_between; /* nodes */
    uint64_t bytes_between;
  } bat_idx_report;

  /* Writes NAME.idx and, beside it, the folder NAME, from a grid of one piece. Readers see the old
   * dataset or the new one, of which a step among others that is replaced is missing for a moment;
   * after a failure the old one is untouched. `options` and `report` may be NULL. Safe to call at
   * once for different paths. Errors: INVALID_ARGUMENT (grid, options, name; a step added to a
   * dataset of another shape or with other fields), CANNOT_OPEN, WRITE_FAILED, NO_SPACE,
   * OUT_OF_MEMORY, CANCELLED. */
  BAT_API int bat_idx_write(
    const char* path, const bat_grid* grid, const bat_idx_options* options, bat_idx_report* report);

  /* ---- An open dataset ---------------------------------------------------------------------- */

  /* Opening reads a text of a few hundred bytes, and no samples. Every block is checked before it
   * is used: damage is an error, never a wrong sample. Blocks that are absent have the field's
   * default value, and reads tell of them. All that is read of a step while the dataset is open is
   * of one version of it; CANNOT_OPEN says that it was replaced or removed meanwhile. */
  typedef struct bat_idx bat_idx;

  /* Errors: NOT_FOUND, CANNOT_OPEN, NOT_A_BAT_FILE (no .idx either), UNSUPPORTED_VERSION (what is
   * refused by name), CORRUPT. */
  BAT_API int bat_idx_open(const char* path, bat_idx** out);
  BAT_API void bat_idx_close(bat_idx* dataset);

  typedef struct bat_idx_info
  {
    int64_t box[6];   /* of all samples */
    double origin[3]; /* where sample (0, 0, 0) lies, also where the box begins elsewhere */
    double spacing[3];
    uint64_t blocks_per_file;
    uint64_t arco;   /* most bytes of a file of one block; 0: files of blocks_per_file */
    int32_t levels;  /* the number of the finest level */
    int32_t axes;    /* 1 to 3, that the text names */
    int32_t version; /* 1 to 6 */
    int32_t pidx;    /* 1: PIDX's dialect */
    int32_t bits_per_block;
    int32_t big_endian; /* 1: samples are */
  } bat_idx_info;
  BAT_API int bat_idx_get_info(const bat_idx* dataset, bat_idx_info* info);
  /* The order of halvings, "V012012"; the whole text of the .idx; why its own place in space cannot
   * be told by origin and spacing, which are then 0 and 1, or "". Any may be NULL; they live as
   * long as the dataset. */
  BAT_API int bat_idx_texts(
    const bat_idx* dataset, const char** bits, const char** text, const char** warning);

  BAT_API int bat_idx_field_count(const bat_idx* dataset, int* fields);
  /* Any of the results may be NULL. The name lives as long as the dataset. */
  BAT_API int bat_idx_field(
    const bat_idx* dataset, int64_t index, const char** name, int* type, int* components);
  /* INVALID_ARGUMENT, with the fields that there are, if there is none of this name. */
  BAT_API int bat_idx_field_index(const bat_idx* dataset, const char* name, int* index);
  /* Smallest and largest value of a component as the writer noted them; minimum > maximum if it did
   * not. */
  BAT_API int bat_idx_field_range(
    const bat_idx* dataset, int64_t index, int64_t component, double* minimum, double* maximum);

  /* Time steps, ascending: how many, and the first `count` of them with their times, which are the
   * steps themselves if the writer noted none. `steps` and `times` may be NULL. Looks into the
   * folder if the text leaves it to that. */
  BAT_API int bat_idx_step_count(const bat_idx* dataset, uint64_t* steps);
  BAT_API int bat_idx_steps(const bat_idx* dataset, uint64_t count, int64_t* steps, double* times);

  /* What a read of a level of a box gives, along each axis: the first sample, the distance of
   * samples, and how many there are: three int64 each, any of which may be NULL. Parts of `box`
   * outside of the dataset count for nothing; NULL is all of it. Counts are 0 if the level has no
   * sample there. INVALID_ARGUMENT: no such level. */
  BAT_API int bat_idx_lattice(const bat_idx* dataset, int64_t level, const int64_t* box,
    int64_t* first, int64_t* distance, int64_t* count);
  /* The samples in a box of space (six doubles, as in bat/bat.h), faces inside; last < first along
   * an axis if there are none. */
  BAT_API int bat_idx_box_of(const bat_idx* dataset, const double* bounds, int64_t* box);
  /* The coarsest level at which a box has samples; -1 if it has none at any. */
  BAT_API int bat_idx_first_level(const bat_idx* dataset, const int64_t* box, int* level);

  typedef struct bat_idx_cost
  {
    uint64_t samples;     /* of an array */
    uint64_t bytes;       /* of all arrays */
    uint64_t blocks;      /* that have some of the samples */
    uint64_t block_bytes; /* of these, unpacked: most that is read */
  } bat_idx_cost;
  /* What reads of `count` fields take, from the text alone; and the finest level up to `maximum` of
   * which their arrays have at most `budget_bytes`, 0 if none has. 0 fields: all of them. */
  BAT_API int bat_idx_get_cost(const bat_idx* dataset, uint64_t count, const char* const* fields,
    int64_t level, const int64_t* box, bat_idx_cost* cost);
  BAT_API int bat_idx_finest_level(const bat_idx* dataset, uint64_t count,
    const char* const* fields, int64_t maximum, uint64_t budget_bytes, const int64_t* box,
    int* level);

  /* Most threads of reads that follow; 0, the default, for as many as there are. */
  BAT_API int bat_idx_set_threads(bat_idx* dataset, int64_t threads);
  /* Tells `progress` of reads that follow; NULL: nobody. A read that is given up leaves nothing of
   * use in its array. */
  BAT_API int bat_idx_set_progress(bat_idx* dataset, bat_progress progress, void* data);

  typedef struct bat_idx_read_report
  {
    uint64_t samples;
    uint64_t blocks;        /* that were looked for */
    uint64_t absent_blocks; /* of these: not there, so that their samples have the default value */
    uint64_t bytes_read;    /* of files */
  } bat_idx_read_report;

  /* Reads a level of a box of a field at a step, NULL for the first one, into `out`, which belongs
   * to the caller and has `bytes` bytes, at least what the samples of bat_idx_lattice() take.
   * `report` may be NULL. Safe to call at once. Errors: INVALID_ARGUMENT, NOT_FOUND (nothing of
   * this step is there), CANNOT_OPEN, TRUNCATED, CORRUPT, UNSUPPORTED_VERSION (a codec),
   * OUT_OF_MEMORY, CANCELLED. */
  BAT_API int bat_idx_read(const bat_idx* dataset, const char* field, const int64_t* step,
    int64_t level, const int64_t* box, void* out, size_t bytes, bat_idx_read_report* report);
  /* The same, taking from `coarse` what it has: the array that a read with the same field, step and
   * box gave at `coarse_level`, which is below `level`. */
  BAT_API int bat_idx_refine(const bat_idx* dataset, const char* field, const int64_t* step,
    int64_t coarse_level, const void* coarse, int64_t level, const int64_t* box, void* out,
    size_t bytes, bat_idx_read_report* report);
  /* Reads every block of all fields and steps, and keeps nothing. The first thing that is wrong is
   * the error. `report`, which may be NULL, has the sums; a step of which nothing is there is
   * NOT_FOUND. */
  BAT_API int bat_idx_validate(const bat_idx* dataset, bat_idx_read_report* report);

#ifdef __cplusplus
}
#endif

#endif
