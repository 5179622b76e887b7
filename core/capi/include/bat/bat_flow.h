/* SPDX-License-Identifier: BSD-3-Clause */
/* Unsteady flow for programs in C and whatever calls C: velocity fields to files of bricks,
 * path lines, streak surfaces and Lyapunov exponents from them. The conventions of bat/bat.h hold.
 * C99. Not in every library: one without bricks has none of these symbols.
 */
#ifndef BAT_BAT_FLOW_H
#define BAT_BAT_FLOW_H

#include "bat/bat.h"

#ifdef __cplusplus
extern "C"
{
#endif

  /* ---- Files of bricks ----------------------------------------------------------------------- */

  /* A uniform grid of points. An axis of one point has no extent. */
  typedef struct bat_flow_grid
  {
    int64_t points[3]; /* along x, y, z */
    double origin[3];
    double spacing[3];
    int64_t cyclic[3];  /* not 0: a last cell leads from the last point back to the first */
    int64_t components; /* 2 or 3 */
    int64_t type;       /* BAT_FLOAT32 or BAT_FLOAT64 */
  } bat_flow_grid;

  /* Writes one time level as a .bricks file (core/bricks/BRICKS.md), which appears complete or not
   * at all. `values` are `bytes` bytes: components interleaved, x fastest, then y, then z; NaN
   * where there is no flow. `field` is the name of the field, `metadata` a JSON object; either may
   * be NULL. `time` and `step` may be NULL. `compress` 0: bricks are raw. `flush` not 0: waits for
   * the disk. `progress` may be NULL.
   *
   * A path NAME.bricks.series is for simulations: the level is written as NAME_000012.bricks, by
   * its step, and added to that list, which is complete at any moment; `time` and `step` are
   * required. An existing list is continued. Levels written from this step on by an earlier run,
   * for instance before a restart, are replaced; stderr reports this. */
  BAT_API int bat_bricks_write(const char* path, const bat_flow_grid* grid, const void* values,
    size_t bytes, const char* field, const char* metadata, const double* time, const int64_t* step,
    int64_t compress, int64_t flush, bat_progress progress, void* data);
  /* Replaces a list, NAME.bricks.series, of `count` files, whose names are relative to its folder.
   * Times must be finite and increase. */
  BAT_API int bat_bricks_write_list(
    const char* list, uint64_t count, const char* const* files, const double* times);
  /* Reads every byte of a .bricks file, or of all files of a list, and checks every rule. */
  BAT_API int bat_bricks_validate(const char* path);

  /* The description that files of bricks give of themselves. */
  typedef struct bat_bricks bat_bricks;
  typedef struct bat_bricks_level
  {
    const char* file;     /* its path; texts belong to the handle */
    const char* field;    /* name of the velocity */
    const char* metadata; /* a JSON object, or empty */
    bat_flow_grid grid;
    int64_t edge; /* edge of a brick, in points */
    int64_t has_time, has_step;
    double time; /* time in the file, if it has one */
    int64_t step;
    double max_speed;  /* over points with flow */
    double minimum[3]; /* per component; above the maximum if there is no flow at all */
    double maximum[3];
    uint64_t bricks, blank_bricks, resting_bricks; /* all; without flow; of velocity 0 */
    uint64_t brick_bytes, file_bytes,
      value_bytes; /* stored of bricks; of the file; of all values */
  } bat_bricks_level;
  /* `path` is a list, or one .bricks file, which is one level. Levels are opened when they are
   * described. `times` belong to the handle. */
  BAT_API int bat_bricks_open(
    const char* path, bat_bricks** out, uint64_t* level_count, const double** times);
  /* Reads the header and the index of a level. */
  BAT_API int bat_bricks_describe(const bat_bricks* bricks, uint64_t level, bat_bricks_level* out);
  BAT_API void bat_bricks_free(bat_bricks* bricks);

  /* ---- Open flows ---------------------------------------------------------------------------- */

  /* A flow with its bricks in memory. Traces of it may run concurrently. */
  typedef struct bat_flow bat_flow;

  /* `path` is a list, one .bricks file, or an .idx, which opens as by bat_flow_open_idx() without
   * fields and cyclic axes. `cache_bytes` is the memory limit for bricks; 0 for 512 MiB. A limit
   * below the size of 32 bricks is refused with that size; if the threads of a trace need more, 16
   * bricks each, the limit is raised, and bat_flow_statistics::max_cache_bytes reports it.
   * `io_threads` is the number of concurrent reads, 1 to 1024. One time level is a steady flow, the
   * same at all times: see bat_flow_options::end_time. */
  BAT_API int bat_flow_open(
    const char* path, uint64_t cache_bytes, int64_t io_threads, bat_flow** out);
  /* Opens the time steps of an .idx dataset without conversion: bat::idx::VelocitySource
   * (bat/idx/velocity_source.hpp). `fields` names one field with 2 or 3 components, or 2 or 3 with
   * one, of float32 or float64; with `field_count` 0 the only candidate is used. `cyclic` has 3
   * numbers for x, y, z, not 0 where a last cell leads from the last sample back to the first; NULL
   * for none. A quarter of the memory is for blocks. */
  BAT_API int bat_flow_open_idx(const char* path, uint64_t field_count, const char* const* fields,
    const int64_t* cyclic, uint64_t cache_bytes, int64_t io_threads, bat_flow** out);
  /* Opens velocities in memory: `levels` has an array for each of `time_count` times, laid out as
   * for bat_bricks_write(). The arrays stay the caller's and must not change until bat_flow_free().
   * */
  BAT_API int bat_flow_open_arrays(const bat_flow_grid* grid, uint64_t time_count,
    const double* times, const void* const* levels, uint64_t cache_bytes, int64_t io_threads,
    bat_flow** out);
  /* Reads velocities from the caller's source: fills `values` with those of the points from
   * first[0], first[1], first[2], count[0] x count[1] x count[2] of them, at time `level`:
   * components interleaved, x fastest, NaN where there is no flow. Returns 0; or a status, after
   * bat_fail(), or any other number. Called from `io_threads` threads concurrently, also for data
   * that may be needed later.
   */
  typedef int (*bat_flow_read)(
    void* data, uint64_t level, const int64_t* first, const int64_t* count, void* values);
  /* `edge` is the number of points of a brick along each axis, 4 to 32; each call of `read` is for
   * one brick. bat_flow_free() waits for running calls. */
  BAT_API int bat_flow_open_function(const bat_flow_grid* grid, uint64_t time_count,
    const double* times, int64_t edge, bat_flow_read read, void* data, uint64_t cache_bytes,
    int64_t io_threads, bat_flow** out);
  BAT_API void bat_flow_free(bat_flow* flow);
  /* `times` belong to the handle. */
  BAT_API int bat_flow_describe(
    const bat_flow* flow, bat_flow_grid* grid, uint64_t* time_count, const double** times);

  /* ---- Path lines ---------------------------------------------------------------------------- */

  /* The numbers never change. */
  enum bat_flow_reason
  {
    BAT_FLOW_LEFT_DOMAIN = 1,
    BAT_FLOW_TOO_MANY_CELLS = 5,
    BAT_FLOW_STAGNATION = 6,
    BAT_FLOW_END_TIME = 8,
    BAT_FLOW_ARRIVED = 9,
    BAT_FLOW_BLANKED = 10,
    BAT_FLOW_NO_SEED = 11,
    BAT_FLOW_MAX_AGE = 12
  };

  /* The options of bat::flow::TraceOptions (bat/flow/trace.hpp); bat_flow_options_init() sets the
   * defaults.
   */
  typedef struct bat_flow_options
  {
    int64_t backward;           /* 0 */
    double end_time;            /* NaN: the last time, or backwards the first; needed of a steady
                                   flow, whose lines begin from the time of its level on */
    double max_age;             /* infinity; above 0: lines end so long after their release */
    int64_t runge_kutta_4;      /* 0: from cell to cell */
    double max_error;           /* 1e-6 cells */
    double step_share;          /* 0.5 of an interval; 1e-5 to 1 */
    double terminal_speed;      /* 0: never; above 0: lines end where particles are not faster */
    int64_t no_slip;            /* 0 */
    uint64_t destination_count; /* 0; at most 10000 */
    const double*
      destinations; /* (destination_count, 6): lower x, y, z, upper x, y, z; the caller's */
    int64_t stop_on_arrival; /* 0 */
    int64_t keep_points;     /* 1 */
    int64_t keep_faces;      /* 0 */
    int64_t threads;         /* 0: as many as there are */
    int64_t prefetch;        /* 1: by velocity; 0: none */
    int64_t hints;           /* 1: read; 0: off; 2: learn */
    int64_t keep_resting;    /* 0; not 0: bat_flow_resume() gives the bits of one run */
  } bat_flow_options;
  /* Hints are what earlier runs have learned about where particles go (core/flow/HINTS.md), and
   * prefetching also uses them. They are read from NAME.bricks.hints next to the series, or from
   * the user's cache folder. Only runs that learn write there, at their end. Hints affect no result
   * and cause no error. */
  BAT_API void bat_flow_options_init(bat_flow_options* options);

  typedef struct bat_flow_statistics
  {
    uint64_t bricks, touched, hits, read, prefetched, prefetches_used, prefetches_wasted,
      bytes_read, value_bytes, waits, cells, steps, cache_bytes, max_cache_bytes, hinted,
      hints_used;
    double wait_seconds;
  } bat_flow_statistics;

  typedef struct bat_flow_lines bat_flow_lines;

  /* Follows `count` seeds: positions of shape (count, 3), times of release of shape (count,).
   * `options` and `progress` may be NULL. Seeds that cannot be followed are lines without points.
   */
  BAT_API int bat_flow_trace(const bat_flow* flow, uint64_t count, const double* positions,
    const double* times, const bat_flow_options* options, bat_progress progress, void* data,
    bat_flow_lines** out);
  BAT_API void bat_flow_lines_free(bat_flow_lines* lines);
  /* Any of the results may be NULL. `checksum` is equal for answers of the same bits. */
  BAT_API int bat_flow_lines_describe(const bat_flow_lines* lines, uint64_t* line_count,
    uint64_t* point_count, uint64_t* checksum, bat_flow_statistics* statistics);
  /* Copies the ends, one per seed, into arrays of line_count elements: bat_flow_reason, positions
   * (n, 3), times, times of arrival in the destination that was reached first (NaN: never), and its
   * index (-1: none). offsets has line_count + 1 elements: line i has the points from offsets[i] to
   * before offsets[i + 1]. */
  BAT_API int bat_flow_lines_ends(const bat_flow_lines* lines, int64_t* reasons, double* positions,
    double* times, double* arrivals, int64_t* destinations, uint64_t* offsets);
  /* Copies the points, line after line, into arrays of point_count elements: positions (n, 3),
   * times, velocities (n, 3). */
  BAT_API int bat_flow_lines_points(
    const bat_flow_lines* lines, double* positions, double* times, double* velocities);
  /* Returns pointers to the same points in the library, valid as long as `lines` lives; NULL if
   * there are none. */
  BAT_API int bat_flow_lines_view(const bat_flow_lines* lines, const double** positions,
    const double** times, const double** velocities);
  /* Copies the resting particles at the end of a run with keep_resting: `bytes` of them, into
   * `resting`, which may be NULL. The bytes depend on the version of the library and must be kept
   * unchanged. */
  BAT_API int bat_flow_lines_resting(const bat_flow_lines* lines, uint64_t* bytes, void* resting);

  /* Restores `count` lines from what a program has stored of the three functions above. `resting`
   * may be NULL. */
  BAT_API int bat_flow_lines_from(uint64_t count, const int64_t* reasons, const double* ends,
    const double* end_times, const double* arrivals, const int64_t* destinations,
    const uint64_t* offsets, const double* positions, const double* times, const double* velocities,
    const void* resting, uint64_t resting_bytes, bat_flow_lines** out);
  /* Extends lines in a series that has grown since `lines` were traced, and was opened again: lines
   * that ended with the times continue, and seeds that were too late begin. Only the new times are
   * read. Seeds and options must be those of `lines`, except end_time. The result has the same bits
   * as one run if `lines` were traced with keep_resting: bat::flow::resume() (bat/flow/trace.hpp).
   */
  BAT_API int bat_flow_resume(const bat_flow* flow, const bat_flow_lines* lines, uint64_t count,
    const double* positions, const double* times, const bat_flow_options* options,
    bat_progress progress, void* data, bat_flow_lines** out);

  /* ---- Finite-time Lyapunov exponents -------------------------------------------------------- */

  /* Computes how fast particles separate that start near each other: bat::flow::ftle()
   * (bat/flow/ftle.hpp). `box` is lower x, y, z, upper x, y, z, which nodes fill from face to face,
   * points[0] x points[1] x points[2] of them. An axis of one node, or without length, has its node
   * in the middle; it counts as one. Particles start at `start_time` and are followed for `length`,
   * above 0. In `options`, end_time, max_age, destinations and keep_points are not used. Results
   * are arrays of the nodes, x fastest: exponents (NaN where a particle that they need ends early),
   * end positions (n, 3), and end times. All but `exponents` may be NULL. */
  BAT_API int bat_flow_ftle(const bat_flow* flow, const double* box, const int64_t* points,
    double start_time, double length, const bat_flow_options* options, bat_progress progress,
    void* data, double* exponents, double* flow_map, double* end_times,
    bat_flow_statistics* statistics);

  /* ---- Streak surfaces ----------------------------------------------------------------------- */

  typedef struct bat_flow_surface bat_flow_surface;

  /* Computes the surface at `time` of particles that a line of `count` points, of shape (count, 3),
   * has released continuously from `*start` on: bat::flow::streak_surface()
   * (bat/flow/streak_surface.hpp). `start` may be NULL: the first time, or backwards the last.
   * Edges are halved until they are at most `max_edge` long, above 0; the surface is torn where
   * they stay longer than `tear` times that (1 or more, usually 4; values below 2 count as 2). In
   * `options`, end_time, max_age, destinations and keep_points are not used. */
  BAT_API int bat_flow_streak_surface(const bat_flow* flow, uint64_t count, const double* line,
    double time, const double* start, double max_edge, double tear, const bat_flow_options* options,
    bat_progress progress, void* data, bat_flow_surface** out);
  BAT_API void bat_flow_surface_free(bat_flow_surface* surface);
  /* Any of the results may be NULL. `followed` counts all particles, including those that are not
   * vertices. */
  BAT_API int bat_flow_surface_describe(const bat_flow_surface* surface, uint64_t* vertex_count,
    uint64_t* triangle_count, uint64_t* followed, bat_flow_statistics* statistics);
  /* Copies arrays of vertices: positions (n, 3), normals (n, 3), places on the line (2.5 is between
   * points 2 and 3), times of release; and the vertex indices of triangles (m, 3). Any may be NULL.
   * */
  BAT_API int bat_flow_surface_mesh(const bat_flow_surface* surface, double* positions,
    double* normals, double* line_places, double* release_times, int64_t* triangles);

#ifdef __cplusplus
}
#endif

#endif
