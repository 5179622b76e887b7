/* SPDX-License-Identifier: BSD-3-Clause */
/* The C API of the paper's library (libbat), over this library: a program written for it compiles
 * against this header and runs unchanged; link bat_capi. New programs use
 * ../../../capi/include/bat/bat_mpi.h, which reports errors in detail.
 *
 * The same: names, types, order of calls, MPI_COMM_WORLD, and that arrays are borrowed until the
 * write ends. The differences:
 *
 * - Files. bat_io_write(state, "run/step") writes the dataset "run/step.pbat" in this library's own
 *   format (leaf files in the folder "run/step.pbat.leaves"), replacing an older one only when all
 *   is on disk. bat_io_open() accepts "run/step.pbat", as before, "run/step", and every other file
 *   that this library reads.
 * - Errors. Nothing is thrown. The next bat_io_write or bat_io_read checks the arguments of earlier
 *   calls on all ranks. If one is invalid, these and bat_io_open return 0 (NULL) on all ranks, and
 *   rank 0 prints one line on stderr, since a program of that library cannot learn of it otherwise.
 *   bat_last_error() returns the same text.
 * - Splits. By default leaf files are cut anywhere, which balances them better than the paper's
 *   splits. A program that calls bat_io_set_find_best_axis, bat_io_set_max_split_imbalance_ratio or
 *   bat_io_set_max_overfull_aggregator_factor gets the paper's splits at rank borders, with them.
 * - Reading. bat_io_read takes each particle on a face between two ranks' boxes once: upper faces
 *   belong to the neighbour, except those at the dataset's global bounds. Without
 *   bat_io_set_read_bounds each rank gets an equal share. Positions written as doubles come back as
 *   doubles. 2 x 2 matrices come back as vectors of 4.
 *
 * Call all functions from one thread at a time. Collective over MPI_COMM_WORLD: bat_io_write,
 * bat_io_get_performance_statistics, bat_io_open, bat_io_read. The others are not.
 */
#ifndef BAT_IO_H
#define BAT_IO_H

#include "bat/bat.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

  typedef enum BATDataType
  {
    BTD_UNKNOWN,
    BTD_INT_8,
    BTD_UINT_8,
    BTD_INT_16,
    BTD_UINT_16,
    BTD_INT_32,
    BTD_UINT_32,
    BTD_INT_64,
    BTD_UINT_64,
    BTD_FLOAT_32,
    BTD_FLOAT_64,
    BTD_VEC2_I8,
    BTD_VEC2_U8,
    BTD_VEC2_I16,
    BTD_VEC2_U16,
    BTD_VEC2_I32,
    BTD_VEC2_U32,
    BTD_VEC2_FLOAT,
    BTD_VEC2_DOUBLE,
    BTD_VEC3_I8,
    BTD_VEC3_U8,
    BTD_VEC3_I16,
    BTD_VEC3_U16,
    BTD_VEC3_I32,
    BTD_VEC3_U32,
    BTD_VEC3_FLOAT,
    BTD_VEC3_DOUBLE,
    BTD_VEC4_I8,
    BTD_VEC4_U8,
    BTD_VEC4_I16,
    BTD_VEC4_U16,
    BTD_VEC4_I32,
    BTD_VEC4_U32,
    BTD_VEC4_FLOAT,
    BTD_VEC4_DOUBLE,
    BTD_MAT2_I8,
    BTD_MAT2_U8,
    BTD_MAT2_I16,
    BTD_MAT2_U16,
    BTD_MAT2_I32,
    BTD_MAT2_U32,
    BTD_MAT2_FLOAT,
    BTD_MAT2_DOUBLE,
    BTD_MAT3_I8,
    BTD_MAT3_U8,
    BTD_MAT3_I16,
    BTD_MAT3_U16,
    BTD_MAT3_I32,
    BTD_MAT3_U32,
    BTD_MAT3_FLOAT,
    BTD_MAT3_DOUBLE,
    BTD_MAT4_I8, /* an error: 16 components exceed the maximum */
    BTD_MAT4_U8,
    BTD_MAT4_I16,
    BTD_MAT4_U16,
    BTD_MAT4_I32,
    BTD_MAT4_U32,
    BTD_MAT4_FLOAT,
    BTD_MAT4_DOUBLE
  } BATDataType;

  /* ---- Writing ------------------------------------------------------------------------------ */

  typedef void* BATParticleState;

  /* Returns NULL if memory runs out. */
  BAT_API BATParticleState bat_io_allocate(void);
  BAT_API void bat_io_free(BATParticleState state);

  /* `size` particles; BTD_VEC3_FLOAT or BTD_VEC3_DOUBLE. */
  BAT_API void bat_io_set_positions(
    BATParticleState state, void* positions, const uint64_t size, BATDataType type);
  /* `size` is the number of particles. Larger ones are accepted: that library also took bytes. */
  BAT_API void bat_io_set_attribute(
    BATParticleState state, const char* name, void* data, const uint64_t size, BATDataType type);
  /* Lower x, y, z, upper x, y, z; copied. An end that is NaN or infinite is an error. The box
   * around those of all ranks is kept with the dataset, as "declared_bounds" in its metadata. */
  BAT_API void bat_io_set_local_bounds(BATParticleState state, const float* bounds);
  /* Target size of a leaf file in bytes; 0 chooses it. */
  BAT_API void bat_io_set_bytes_per_subfile(BATParticleState state, const uint64_t size);
  BAT_API void bat_io_set_find_best_axis(BATParticleState state, const uint32_t find_best);
  BAT_API void bat_io_set_max_split_imbalance_ratio(BATParticleState state, const float ratio);
  BAT_API void bat_io_set_max_overfull_aggregator_factor(
    BATParticleState state, const float factor);
  /* Has no effect: leaf files always have their trees. */
  BAT_API void bat_io_set_build_local_trees(BATParticleState state, const uint32_t build_local);
  /* Adjustable uniform grid with about this many leaf files; 0 for adaptive ones. */
  BAT_API void bat_io_set_fixed_aggregation(BATParticleState state, const uint32_t num_aggregators);

  /* Collective. Returns the bytes of all files on all ranks; 0 after a failure. */
  BAT_API uint64_t bat_io_write(BATParticleState state, const char* file_name);

  /* Collective. JSON on rank 0, which lives until the next call with this state; NULL on the other
   * ranks. "mpi_size", "total_bytes_written", "ranks" (for each rank: "mpi_rank",
   * "local_particle_count"), and "report": the object of bat_report_json(). */
  BAT_API const char* bat_io_get_performance_statistics(BATParticleState state);

  /* ---- Reading ------------------------------------------------------------------------------ */

  typedef void* BATParticleFile;

  /* Collective. Returns NULL on all ranks after a failure. */
  BAT_API BATParticleFile bat_io_open(const char* file_name);
  BAT_API void bat_io_close(BATParticleFile file);

  /* Lower x, y, z, upper x, y, z: the box that the ranks declared, as in that library, widened to
   * contain all particles. If no rank declared one, and for files of that library itself, it is the
   * box of the particles. Rounded outwards. Lives as long as the file. */
  BAT_API const float* bat_io_get_global_bounds(BATParticleFile file);
  BAT_API uint64_t bat_io_get_num_attributes(BATParticleFile file);
  BAT_API uint64_t bat_io_get_num_points(BATParticleFile file);
  /* The name lives as long as the file. `range` gets minimum and maximum, of the value or of a
   * vector's magnitude. BTD_UNKNOWN for a type that has no name above. */
  BAT_API void bat_io_get_attribute_description(
    BATParticleFile file, uint64_t id, const char** name, float* range, BATDataType* type);

  /* Lower x, y, z, upper x, y, z; copied. */
  BAT_API void bat_io_set_read_bounds(BATParticleFile file, const float* bounds);
  /* Not in that library. "direct": each rank opens the leaf files that its box touches;
   * "aggregated": each leaf file is opened by one rank, which answers the others; "auto", the
   * default: the mode that is likely to be faster. The value of rank 0 is used; copied. */
  BAT_API void bat_io_set_read_mode(BATParticleFile file, const char* mode);
  /* Collective. Returns the number of particles on this rank. */
  BAT_API uint64_t bat_io_read(BATParticleFile file);
  /* Not in that library. Statistics of the last bat_io_read() as one line of JSON: mode and reason,
   * ranks, messages, bytes, seconds. "" before the first; lives until the next one. */
  BAT_API const char* bat_io_get_read_statistics(BATParticleFile file);
  /* The result of bat_io_read(); lives until the next one. `size` counts particles. */
  BAT_API void bat_io_get_positions(
    BATParticleFile file, const void** positions, uint64_t* size, BATDataType* type);
  /* `size` is in bytes, as in that library. NULL, 0 and BTD_UNKNOWN if there is no such attribute.
   */
  BAT_API void bat_io_get_attribute(
    BATParticleFile file, const char* name, const void** data, uint64_t* size, BATDataType* type);

#ifdef __cplusplus
}
#endif

#endif
