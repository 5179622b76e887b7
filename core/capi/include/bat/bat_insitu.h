/* SPDX-License-Identifier: BSD-3-Clause */
/* ParaBAT for simulations that write steps while they run: every step becomes a .bat file, and
 * NAME.bat.series beside them lists them for ParaView. The conventions of bat/bat.h and
 * bat/bat_mpi.h hold.
 *
 *   bat_insitu_open(comm, "out/dust_{timestep:06d}.bat", NULL, &insitu);
 *   every step:
 *     bat_insitu_begin_step(insitu, step, time, &wanted);
 *     if (wanted)
 *       bat_insitu_add(insitu, NULL, particles);       as often as there are arrays: per domain ...
 *     bat_insitu_end_step(insitu, &report);            on all ranks
 *   bat_insitu_close(insitu);
 *
 * A handle is used by one thread at a time. A step that fails leaves the steps before it as they
 * are; the next one may be begun. A step whose number is not greater than those in the list, as
 * after a restart, replaces what was written from that number on; rank 0 says so on stderr.
 */
#ifndef BAT_BAT_INSITU_H
#define BAT_BAT_INSITU_H

#include "bat/bat_mpi.h"

#ifdef __cplusplus
extern "C"
{
#endif

  typedef struct bat_insitu bat_insitu;

  /* Collective. `files` is the pattern of the paths of the files, and rank 0's counts:
   *   {timestep} {timestep:06d} %ts %06ts   number of the step; "_{timestep:06d}" is put before
   * .bat where a pattern has none of these {time} {time:.3f}                     simulation time
   *   {name}                                species; "_{name}" is put before the step where
   *                                         species are named and the pattern has no {name}
   * Folders are made. `options` may be NULL, and are copied; of several species, those that lack an
   * attribute that they name are written without it, and a step in which all lack it is
   * INVALID_ARGUMENT. `comm` must live as long as the handle; it is used in this call and in
   * bat_insitu_end_step() only. */
  BAT_API int bat_insitu_open(
    MPI_Comm comm, const char* files, const bat_options* options, bat_insitu** out);
  BAT_API int bat_insitu_open_f(
    MPI_Fint comm, const char* files, const bat_options* options, bat_insitu** out);
  /* Not collective. Accepts NULL. */
  BAT_API void bat_insitu_close(bat_insitu* insitu);

  /* Writes only every n-th step that is begun, starting with the first; 1, the default, writes all.
   * The same on all ranks. */
  BAT_API int bat_insitu_set_every(bat_insitu* insitu, int64_t every);

  /* Chosen particles in every step, in NAME.tracks.bat beside the list: bat_follow_run reads it,
   * also while it grows. The same on all ranks, before the first step. `options` is a JSON object
   * or NULL. One of three keys says which particles: "ids", as [5, 17], numbers that are compared
   * without rounding, or pairs if ids are unique only together with a second attribute; "box", as
   * [x0, y0, z0, x1, y1, z1], those that are in it at the first step with anybody in it;
   * "every_id", as 1000, those whose id, an integer, is a multiple of it. Other keys, if need be:
   * "id", the name of the attribute with the ids, by default the one that is called id, ids,
   * particle_id ..., or X_id where there is an X_cpu; "second", that of the second attribute, by
   * default cpu where the ids are id, X_cpu where they are X_id, else none; "attributes", names of
   * those to keep, by default all; "every", of how many steps that are begun one has tracks, by
   * default 1, whatever bat_insitu_set_every says of files.
   *
   * `ids`, unless it is NULL, are `count` numbers of `type` in place of "ids". Each step is in the
   * file, whole, when bat_insitu_end_step returns; bat_insitu_close puts the histories in order.
   * INVALID_ARGUMENT: options that contradict themselves or are none. */
  BAT_API int bat_insitu_set_tracks(
    bat_insitu* insitu, const char* options, int type, const void* ids, uint64_t count);

  /* Not collective; the same on all ranks, before the first step. Sets for one species what
   * replaces the common settings: the interval of written steps, 0 for that of
   * bat_insitu_set_every; options, which are copied, NULL for those of bat_insitu_open; and a JSON
   * object as for bat_insitu_set_tracks, NULL for the tracks of all, "" for none. A second call for
   * a species replaces the first. From then on file names contain the names of species. */
  BAT_API int bat_insitu_set_species(bat_insitu* insitu, const char* species, int64_t every,
    const bat_options* options, const char* tracks);

  /* Not collective; each rank sets it for itself, between steps. Keeps at most that many bytes of
   * the memory that a step used, in arrays of 128 KiB and more, in this process, so that the next
   * step need not wait for new memory; 67108864 by default, 0 for none. Memory kept beyond that
   * returns to the system before this call returns. All handles of a process share this memory, and
   * the largest limit holds. When the last handle is closed, nothing is kept. */
  BAT_API int bat_insitu_keep_memory(bat_insitu* insitu, int64_t max_bytes);

  /* Not collective. `due`, which may be NULL, is 1 if this step, or its tracks, are written;
   * otherwise what is added to it is ignored. A step that was begun and not ended is dropped. */
  BAT_API int bat_insitu_begin_step(bat_insitu* insitu, int64_t step, double time, int* due);
  /* Not collective. Adds particles of this rank to the step. Their arrays must stay unchanged until
   * bat_insitu_end_step() returns; the description may be freed or changed immediately. Each
   * `species` becomes a series of its own with its own attributes; NULL if there is only one. Time
   * and step are those of the step, and the metadata those of the description. A species without
   * particles on any rank gets the attributes of descriptions of 0 particles, on whatever rank, or
   * without these, those of the step before. */
  BAT_API int bat_insitu_add(
    bat_insitu* insitu, const char* species, const bat_particles* particles);
  /* Adds only the particles whose value in `ghosts` is 0, an array of integers of `type` with one
   * value per particle. `stride` is in bytes, 0 for a packed array. */
  BAT_API int bat_insitu_add_without_ghosts(bat_insitu* insitu, const char* species,
    const bat_particles* particles, int type, const void* ghosts, size_t stride);

  /* Not collective. Makes the step fail on all ranks with this status and text, for example if a
   * rank cannot add its particles. Returns the status. */
  BAT_API int bat_insitu_fail(bat_insitu* insitu, int status, const char* text);

  /* Collective. Writes the step. If adding something was refused on any rank, the step fails with
   * that error on all ranks, and nothing of it is written. `report` may be NULL; it covers all
   * species, and is zero for a step that is not written, or only for its tracks. Errors: those of
   * bat_mpi_write; INVALID_ARGUMENT if no step was begun, or ranks have different steps. */
  BAT_API int bat_insitu_end_step(bat_insitu* insitu, bat_report* report);

  /* Not collective. What the last step that was written has become, as a JSON array with one object
   * per file: file, species, and what bat_report_json() tells. "[]" before the first. The text
   * lives until the handle is used again. */
  BAT_API int bat_insitu_written(const bat_insitu* insitu, const char** json);

#ifdef __cplusplus
}
#endif

#endif
