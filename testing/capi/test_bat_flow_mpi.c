/* SPDX-License-Identifier: BSD-3-Clause */
/* Velocity fields in bricks on all ranks, and flow in a program's memory. Argument: a folder to
 * write in. */

#include "check.h"

#include "bat/bat_mpi.h"

#include <stdlib.h>

enum
{
  N = 20,
  LEVELS = 3
};

static int rank = 0;
static int ranks = 1;

static float value_of(int64_t x, int64_t y, int64_t z, int component)
{
  return component == 0 ? 1.0f + 0.01f * (float)y
    : component == 1    ? 0.25f - 0.005f * (float)z
                        : 0.002f * (float)x;
}

/* Points first <= z < end, whole layers. */
static float* layers(int64_t first, int64_t end)
{
  float* values = malloc(sizeof(float) * 3 * N * N * (size_t)(end - first));
  for (int64_t at = 0; at < 3 * N * N * (end - first); ++at)
  {
    const int64_t point = at / 3;
    values[at] = value_of(point % N, point / N % N, first + point / (N * N), (int)(at % 3));
  }
  return values;
}

/* A function that provides the velocities; data is the number of its calls that fail. */
static int read_box(
  void* data, uint64_t level, const int64_t* first, const int64_t* count, void* values)
{
  float* to = values;
  if (*(const int*)data)
  {
    return bat_fail(BAT_TRUNCATED, level < LEVELS ? "the tape is torn" : "no such level");
  }
  for (int64_t z = first[2]; z != first[2] + count[2]; ++z)
  {
    for (int64_t y = first[1]; y != first[1] + count[1]; ++y)
    {
      for (int64_t x = first[0]; x != first[0] + count[0]; ++x, to += 3)
      {
        for (int component = 0; component != 3; ++component)
        {
          to[component] = value_of(x, y, z, component);
        }
      }
    }
  }
  return 0;
}

static uint64_t traced(const bat_flow* flow)
{
  const double seeds[] = { 1.5, 2, 3, 4, 11, 12.25, 0, 0, 0 };
  const double times[] = { 0, 0, 0.5 };
  uint64_t count = 0;
  uint64_t checksum = 0;
  bat_flow_lines* lines = NULL;
  CHECK_OK(bat_flow_trace(flow, 3, seeds, times, NULL, NULL, NULL, &lines));
  CHECK_OK(bat_flow_lines_describe(lines, &count, NULL, &checksum, NULL));
  CHECK(count == 3);
  bat_flow_lines_free(lines);
  return checksum;
}

static int same_bytes(const char* a, const char* b)
{
  FILE* files[2] = { fopen(a, "rb"), fopen(b, "rb") };
  int same = files[0] && files[1];
  for (int byte = 0; same && byte != EOF;)
  {
    byte = fgetc(files[0]);
    same = byte == fgetc(files[1]);
  }
  for (int i = 0; i != 2; ++i)
  {
    if (files[i])
    {
      fclose(files[i]);
    }
  }
  return same;
}

int main(int argc, char** argv)
{
  char path[4096];
  char alone[4096];
  char list[4096];
  const char* folder = argc > 1 ? argv[1] : ".";
  bat_flow_grid grid = { { N, N, N }, { -1, 0, 2 }, { 0.5, 0.5, 0.25 }, { 0, 1, 0 }, 3,
    BAT_FLOAT32 };
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  snprintf(path, sizeof(path), "%s/capi_np%d.bricks", folder, ranks);
  snprintf(alone, sizeof(alone), "%s/capi_np%d_alone.bricks", folder, ranks);
  snprintf(list, sizeof(list), "%s/capi_np%d.bricks.series", folder, ranks);

  /* Layers with one ghost layer below; the last rank has nothing if there are others. */
  const int64_t parts = ranks > 1 ? ranks - 1 : 1;
  const int64_t first = N * rank / parts;
  const int64_t end = N * (rank + 1) / parts;
  const int64_t below = first > 0 ? first - 1 : 0;
  const int has_some = rank < parts;
  float* values = has_some ? layers(below, end) : NULL;
  const double time = 0.5;
  const int64_t step = 7;
  bat_bricks_piece piece = { { 0, 0, first, N - 1, N - 1, end - 1 },
    { 0, 0, below, N - 1, N - 1, end - 1 }, values };
  CHECK_OK(bat_mpi_bricks_write(MPI_COMM_WORLD, rank == 0 ? path : NULL, has_some ? &grid : NULL,
    (uint64_t)has_some, has_some ? &piece : NULL, "wind", "{}", &time, &step, 1, 0, NULL, NULL));
  if (rank == 0)
  {
    float* whole = layers(0, N);
    const size_t bytes = sizeof(float) * 3 * N * N * N;
    CHECK_OK(
      bat_bricks_write(alone, &grid, whole, bytes, "wind", "{}", &time, &step, 1, 0, NULL, NULL));
    CHECK(same_bytes(path, alone));
    CHECK_OK(bat_bricks_validate(path));

    /* The same flow from files, from arrays, and from a function. */
    const double times[LEVELS] = { 0, 0.5, 2 };
    char names[LEVELS][64];
    const char* files[LEVELS];
    const void* levels[LEVELS] = { whole, whole, whole };
    for (int level = 0; level != LEVELS; ++level)
    {
      char file[4096];
      snprintf(names[level], sizeof(names[level]), "capi_np%d_%d.bricks", ranks, level);
      snprintf(file, sizeof(file), "%s/%s", folder, names[level]);
      CHECK_OK(bat_bricks_write(
        file, &grid, whole, bytes, NULL, NULL, &times[level], NULL, 0, 0, NULL, NULL));
      files[level] = names[level];
    }
    CHECK_OK(bat_bricks_write_list(list, LEVELS, files, times));
    bat_flow* flow = NULL;
    CHECK_OK(bat_flow_open(list, 1 << 20, 2, &flow));
    const uint64_t checksum = traced(flow);
    bat_flow_free(flow);
    CHECK_OK(bat_flow_open_arrays(&grid, LEVELS, times, levels, 1 << 20, 2, &flow));
    CHECK(traced(flow) == checksum);
    bat_flow_free(flow);
    int torn = 0;
    CHECK_OK(bat_flow_open_function(&grid, LEVELS, times, 6, read_box, &torn, 1 << 20, 3, &flow));
    CHECK(traced(flow) == checksum);
    bat_flow_free(flow);
    torn = 1;
    CHECK_OK(bat_flow_open_function(&grid, LEVELS, times, 6, read_box, &torn, 1 << 20, 3, &flow));
    const double seed[] = { 1.5, 2, 3 };
    bat_flow_lines* lines = NULL;
    CHECK_FAILS(bat_flow_trace(flow, 1, seed, times, NULL, NULL, NULL, &lines), BAT_TRUNCATED,
      "the tape is torn");
    bat_flow_free(flow);
    CHECK_FAILS(bat_flow_open_function(&grid, LEVELS, times, 3, read_box, &torn, 1 << 20, 3, &flow),
      BAT_INVALID_ARGUMENT, "edge");
    /* One level is a steady flow, for which the end is required. */
    CHECK_OK(bat_flow_open_arrays(&grid, 1, times, levels, 0, 2, &flow));
    CHECK_FAILS(bat_flow_trace(flow, 1, seed, times, NULL, NULL, NULL, &lines),
      BAT_INVALID_ARGUMENT, "steady flow with one time step");
    bat_flow_options steady;
    bat_flow_options_init(&steady);
    steady.end_time = times[0] + 1;
    CHECK_OK(bat_flow_trace(flow, 1, seed, times, &steady, NULL, NULL, &lines));
    bat_flow_lines_free(lines);
    bat_flow_free(flow);
    CHECK_FAILS(bat_flow_open_arrays(&grid, LEVELS, times, levels, 1000, 2, &flow),
      BAT_INVALID_ARGUMENT, "cache_bytes is 1000; allowed are ");
    bat_bricks* bricks = NULL;
    uint64_t level_count = 0;
    bat_bricks_level about;
    CHECK_OK(bat_bricks_open(list, &bricks, &level_count, NULL));
    CHECK(level_count == LEVELS);
    CHECK_OK(bat_bricks_describe(bricks, 1, &about));
    CHECK(about.has_time && about.time == times[1] && about.bricks > 0 && about.max_speed >= 0);
    CHECK(memcmp(about.grid.points, grid.points, sizeof(grid.points)) == 0);
    CHECK_FAILS(bat_bricks_describe(bricks, LEVELS, &about), BAT_INVALID_ARGUMENT, "time step 3");
    bat_bricks_free(bricks);
    levels[1] = NULL;
    CHECK_FAILS(bat_flow_open_arrays(&grid, LEVELS, times, levels, 1 << 20, 2, &flow),
      BAT_INVALID_ARGUMENT, "step 1");
    free(whole);
  }

  /* A simulation adds levels, and returns to a step. */
  snprintf(list, sizeof(list), "%s/capi_np%d_run.bricks.series", folder, ranks);
  remove(list);
  const int64_t steps[] = { 0, 5, 10, 5 };
  for (int level = 0; level != 4; ++level)
  {
    const double now = 0.25 * (double)steps[level];
    CHECK_OK(bat_mpi_bricks_write(MPI_COMM_WORLD, rank == 0 ? list : NULL, has_some ? &grid : NULL,
      (uint64_t)has_some, has_some ? &piece : NULL, "wind", NULL, &now, &steps[level], 1, 0, NULL,
      NULL));
  }
  CHECK_FAILS(
    bat_mpi_bricks_write(MPI_COMM_WORLD, list, has_some ? &grid : NULL, (uint64_t)has_some,
      has_some ? &piece : NULL, NULL, NULL, &time, NULL, 1, 0, NULL, NULL),
    BAT_INVALID_ARGUMENT, "no step");
  if (rank == 0)
  {
    bat_flow* flow = NULL;
    bat_flow_grid found;
    uint64_t count = 0;
    const double* times = NULL;
    CHECK_OK(bat_flow_open(list, 1 << 20, 2, &flow));
    CHECK_OK(bat_flow_describe(flow, &found, &count, &times));
    CHECK(count == 2 && times[0] == 0 && times[1] == 1.25 && found.points[2] == N);
    bat_flow_free(flow);
    snprintf(path, sizeof(path), "%s/capi_np%d_run_000005.bricks", folder, ranks);
    CHECK_OK(bat_bricks_validate(path));
    snprintf(path, sizeof(path), "%s/capi_np%d.bricks", folder, ranks);
  }

  /* An error on one rank is reported on all. */
  if (rank == 0)
  {
    piece.values = NULL;
  }
  CHECK_FAILS(
    bat_mpi_bricks_write(MPI_COMM_WORLD, path, has_some ? &grid : NULL, (uint64_t)has_some,
      has_some ? &piece : NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL),
    BAT_INVALID_ARGUMENT, "no velocity array");
  piece.values = values;
  if (rank == parts - 1)
  {
    grid.type = BAT_INT32;
  }
  CHECK_FAILS(
    bat_mpi_bricks_write(MPI_COMM_WORLD, path, has_some ? &grid : NULL, (uint64_t)has_some,
      has_some ? &piece : NULL, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL),
    BAT_INVALID_ARGUMENT, "float64");
  if (rank == 0)
  {
    CHECK(same_bytes(path, alone));
  }
  free(values);

  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
