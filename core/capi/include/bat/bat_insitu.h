/* SPDX-License-Identifier: BSD-3-Clause */
/* ParaBAT for simulations that write steps while they run. Every step becomes a .bat file, and
 * NAME.bat.series next to them lists them for ParaView. The conventions of bat/bat.h and
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
 * A handle is used by one thread at a time. A step that fails leaves earlier steps unchanged, and
 * the next one may be begun. After a restart, a step whose number is not greater than those in the
 * list replaces what was written from that number on; rank 0 reports this on stderr.
 */
#ifndef BAT_BAT_INSITU_H
#define BAT_BAT_INSITU_H

#include "bat/bat_mpi.h"

#ifdef __cplusplus
extern "C"
{
#endif

  typedef struct bat_insitu bat_insitu;

  /* Collective. `files` is the pattern for file paths; rank 0's pattern is used:
   *   {timestep} {timestep:06d} %ts %06ts   step number; "_{timestep:06d}" is inserted before
   *                                         .bat if a pattern has none of these
   *   {time} {time:.3f}                     simulation time
   *   {name}                                species; "_{name}" is inserted before the step if
   *                                         species are named and the pattern has no {name}
   * Folders are created. `options` may be NULL and are copied. With several species, options that
   * name an attribute are ignored for species that lack it; a step in which all species lack it is
   * INVALID_ARGUMENT. `comm` must live as long as the handle; it is used in this call and in
   * bat_insitu_end_step() only. */
  BAT_API int bat_insitu_open(
    MPI_Comm comm, const char* files, const bat_options* options, bat_insitu** out);
  BAT_API int bat_insitu_open_f(
    MPI_Fint comm, const char* files, const bat_options* options, bat_insitu** out);
  /* Not collective. Accepts NULL. */
  BAT_API void bat_insitu_close(bat_insitu* insitu);

  /* Writes only every n-th begun step, starting with the first; 1, the default, writes all. Must be
   * the same on all ranks. */
  BAT_API int bat_insitu_set_every(bat_insitu* insitu, int64_t every);

  /* Records selected particles of every step in NAME.tracks.bat next to the list. bat_follow_run
   * reads it, even while it grows. The call is the same on all ranks, before the first step.
   * `options` is a JSON object or NULL. One of three keys selects the particles: "ids", e.g. [5,
   * 17], numbers compared without rounding, or pairs if ids are unique only together with a second
   * attribute; "box", e.g. [x0, y0, z0, x1, y1, z1], the particles inside it at the first step in
   * which it is not empty; "every_id", e.g. 1000, the particles whose integer id is a multiple of
   * it. Optional keys: "id", the name of the id attribute, by default the one called id, ids,
   * particle_id ..., or X_id if X_cpu exists; "second", the name of the second attribute, by
   * default cpu for id, X_cpu for X_id, else none; "attributes", the names of those to keep, by
   * default all; "every", which records only every n-th begun step, by default 1, regardless of
   * bat_insitu_set_every.
   *
   * `ids`, unless NULL, are `count` numbers of `type` that replace "ids". Each step is complete in
   * the file when bat_insitu_end_step returns; bat_insitu_close sorts the file by particle.
   * INVALID_ARGUMENT: the options are contradictory or not valid. */
  BAT_API int bat_insitu_set_tracks(
    bat_insitu* insitu, const char* options, int type, const void* ids, uint64_t count);

  /* Not collective; the same on all ranks, before the first step. Sets for one species the values
   * that replace the common settings: the interval of written steps, 0 for that of
   * bat_insitu_set_every; options, which are copied, NULL for those of bat_insitu_open; and a JSON
   * object as for bat_insitu_set_tracks, NULL for the common tracks, "" for none. A second call for
   * a species replaces the first. File names then contain the names of species. */
  BAT_API int bat_insitu_set_species(bat_insitu* insitu, const char* species, int64_t every,
    const bat_options* options, const char* tracks);

  /* Not collective; each rank sets it for itself, between steps. Keeps at most that many bytes of
   * the memory that a step used, in arrays of 128 KiB and more, in this process, so that the next
   * step need not wait for new memory; 67108864 by default, 0 for none. Memory kept beyond that
   * returns to the system before this call returns. All handles of a process share this memory, and
   * the largest limit holds. When the last handle is closed, nothing is kept. */
  BAT_API int bat_insitu_keep_memory(bat_insitu* insitu, int64_t max_bytes);

  /* Not collective. `due`, which may be NULL, is 1 if this step, or its tracks, are written;
   * otherwise what is added to it is ignored. A step that was begun but not ended is dropped. */
  BAT_API int bat_insitu_begin_step(bat_insitu* insitu, int64_t step, double time, int* due);
  /* Not collective. Adds particles of this rank to the step. Their arrays must stay unchanged until
   * bat_insitu_end_step() returns; the description may be freed or changed immediately. Each
   * `species` becomes a separate series with its own attributes; NULL if there is only one. Time
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

  /* Not collective. Describes the files of the last written step as a JSON array with one object
   * per file: file, species, and the fields of bat_report_json(). "[]" before the first step. The
   * text is valid until the handle is used again. */
  BAT_API int bat_insitu_written(const bat_insitu* insitu, const char** json);

#ifdef __cplusplus
}
#endif

#endif
