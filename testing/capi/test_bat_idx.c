/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests bat/bat_idx.h in one process. Argument: a folder to write in. */

#include "check.h"

#include "bat/bat_idx.h"

#include <math.h>
#include <stdlib.h>

enum
{
  NX = 21,
  NY = 13,
  NZ = 18,
  GHOSTS = 2
};

static char path[4096];

static int64_t id_of(int64_t x, int64_t y, int64_t z)
{
  return (INT64_C(1) << 60) + (z * 1000 + y) * 1000 + x;
}

static float part_of(int64_t x, int64_t y, int64_t z, int64_t c)
{
  return (float)(x + 100 * y + 10000 * z) + 0.25f * (float)c;
}

/* Samples from (4, 0, 2) on; the vectors have ghosts around them. */
static const int64_t box[6] = { 4, 0, 2, 4 + NX - 1, NY - 1, 2 + NZ - 1 };

static int64_t* ids;
static float* vectors;

static void make(void)
{
  ids = malloc(sizeof(int64_t) * NX * NY * NZ);
  vectors = malloc(sizeof(float) * 3 * NX * NY * NZ);
  for (int64_t z = 0; z < NZ; ++z)
  {
    for (int64_t y = 0; y < NY; ++y)
    {
      for (int64_t x = 0; x < NX; ++x)
      {
        const int64_t at = (z * NY + y) * NX + x;
        ids[at] = id_of(x + 4, y, z + 2);
        for (int64_t c = 0; c < 3; ++c)
        {
          vectors[3 * at + c] = part_of(x + 4, y, z + 2, c);
        }
      }
    }
  }
}

static bat_grid* grid_of_all(void)
{
  const double origin[3] = { 1.5, -2, 0 };
  const double spacing[3] = { 0.5, 1, 0.25 };
  bat_grid* grid = NULL;
  CHECK_OK(bat_grid_create(&grid));
  CHECK_OK(bat_grid_set_geometry(grid, origin, spacing));
  CHECK_OK(bat_grid_add_piece(grid, box, NULL));
  CHECK_OK(bat_grid_set_field(grid, "id", BAT_INT64, 1, ids));
  CHECK_OK(bat_grid_set_field(grid, "v", BAT_FLOAT32, 3, vectors));
  return grid;
}

static void check_read(
  const bat_idx* dataset, const int64_t* step, int64_t level, const int64_t* part)
{
  int64_t first[3];
  int64_t distance[3];
  int64_t count[3];
  bat_idx_read_report report;
  CHECK_OK(bat_idx_lattice(dataset, level, part, first, distance, count));
  const size_t samples = (size_t)(count[0] * count[1] * count[2]);
  int64_t* found = malloc(samples * sizeof(int64_t) + 1);
  float* parts = malloc(3 * samples * sizeof(float) + 1);
  CHECK_OK(
    bat_idx_read(dataset, "id", step, level, part, found, samples * sizeof(int64_t), &report));
  CHECK(report.samples == samples && report.absent_blocks == 0);
  CHECK_OK(bat_idx_read(dataset, "v", step, level, part, parts, 3 * samples * sizeof(float), NULL));
  int wrong = 0;
  size_t at = 0;
  for (int64_t z = 0; z < count[2]; ++z)
  {
    for (int64_t y = 0; y < count[1]; ++y)
    {
      for (int64_t x = 0; x < count[0]; ++x, ++at)
      {
        const int64_t px = first[0] + x * distance[0];
        const int64_t py = first[1] + y * distance[1];
        const int64_t pz = first[2] + z * distance[2];
        wrong += found[at] != id_of(px, py, pz);
        wrong +=
          parts[3 * at] != part_of(px, py, pz, 0) || parts[3 * at + 2] != part_of(px, py, pz, 2);
      }
    }
  }
  CHECK(wrong == 0);
  free(found);
  free(parts);
}

static int stop(void* data, double done)
{
  ++*(int*)data;
  return done >= 0.0;
}

static void write_and_read(void)
{
  bat_grid* grid = grid_of_all();
  bat_idx_options* options = NULL;
  bat_idx_report report;
  bat_idx* dataset = NULL;
  CHECK_OK(bat_idx_options_create(&options));
  CHECK_OK(bat_idx_options_set_text(options, "codec", "lz4"));
  CHECK_OK(bat_idx_options_set_integer(options, "bits_per_block", 9));
  CHECK_OK(bat_idx_options_set_integer(options, "step", 3));
  CHECK_OK(bat_idx_options_set_real(options, "time", 0.75));
  CHECK_OK(bat_idx_options_set_integer(options, "flush", 0));
  CHECK_FAILS(bat_idx_options_set_integer(options, "zip_level", 10), BAT_INVALID_ARGUMENT,
    "zip_level is 10; a whole number from 1 to 9 is allowed");
  CHECK_FAILS(bat_idx_options_set_text(options, "codec", "bzip"), BAT_INVALID_ARGUMENT,
    "codec is 'bzip'; one of raw, zip, lz4 is allowed");
  CHECK_FAILS(bat_idx_options_set_real(options, "step", 1.5), BAT_INVALID_ARGUMENT, "step is 1.5");
  CHECK_FAILS(bat_idx_options_set_integer(options, "target_bytes", 1), BAT_INVALID_ARGUMENT,
    "unknown option");
  CHECK(strstr(bat_idx_options_table(), "{\"name\":\"layout\",\"type\":\"word\"") != NULL);
  CHECK_OK(bat_idx_options_set_text(options, "mode", "replace")); /* from an earlier run */
  CHECK_OK(bat_idx_write(path, grid, options, &report));
  CHECK(report.samples == NX * NY * NZ && report.files >= 1 && report.file_bytes > 0);
  CHECK_OK(bat_idx_options_set_text(options, "mode", "auto"));
  CHECK_OK(bat_idx_options_set_integer(options, "step", 7));
  CHECK_OK(bat_idx_options_set_real(options, "time", 1.5));
  CHECK_OK(bat_idx_write(path, grid, options, NULL));
  int calls = 0;
  CHECK_OK(bat_idx_options_set_progress(options, stop, &calls));
  CHECK_FAILS(bat_idx_write(path, grid, options, &report), BAT_CANCELLED, "cancelled");
  CHECK(calls == 1 && report.samples == 0);
  bat_grid_free(grid);
  bat_idx_options_free(options);

  CHECK_OK(bat_idx_open(path, &dataset));
  bat_idx_info info;
  CHECK_OK(bat_idx_get_info(dataset, &info));
  CHECK(memcmp(info.box, box, sizeof(box)) == 0 && info.levels == 14 && info.bits_per_block == 9);
  CHECK(info.origin[0] == 1.5 && info.origin[1] == -2 && info.spacing[2] == 0.25);
  CHECK(info.version == 6 && info.pidx == 0 && info.axes == 3 && info.big_endian == 0);
  const char* bits = NULL;
  const char* text = NULL;
  const char* warning = NULL;
  CHECK_OK(bat_idx_texts(dataset, &bits, &text, &warning));
  CHECK(bits[0] == 'V' && strlen(bits) == 15 && strstr(text, "(fields)") && warning[0] == '\0');

  int fields = 0;
  int type = 0;
  int components = 0;
  int index = 0;
  const char* name = NULL;
  CHECK_OK(bat_idx_field_count(dataset, &fields));
  CHECK_OK(bat_idx_field(dataset, 1, &name, &type, &components));
  CHECK(fields == 2 && strcmp(name, "v") == 0 && type == BAT_FLOAT32 && components == 3);
  CHECK_OK(bat_idx_field_index(dataset, "v", &index));
  CHECK(index == 1);
  CHECK_FAILS(bat_idx_field(dataset, 2, &name, NULL, NULL), BAT_INVALID_ARGUMENT, "has 2");
  CHECK_FAILS(bat_idx_field_index(dataset, "w", &index), BAT_INVALID_ARGUMENT, "id");
  double minimum = 0;
  double maximum = 0;
  CHECK_OK(bat_idx_field_range(dataset, 0, 0, &minimum, &maximum));
  CHECK(minimum == (double)ids[0] && maximum == (double)ids[NX * NY * NZ - 1]);
  CHECK_OK(bat_idx_field_range(dataset, 1, 2, &minimum, &maximum));
  CHECK(minimum > maximum);
  CHECK_FAILS(
    bat_idx_field_range(dataset, 0, 1, &minimum, &maximum), BAT_INVALID_ARGUMENT, "has 1");

  uint64_t steps = 0;
  int64_t numbers[2] = { 0, 0 };
  double times[2] = { 0, 0 };
  CHECK_OK(bat_idx_step_count(dataset, &steps));
  CHECK(steps == 2);
  CHECK_OK(bat_idx_steps(dataset, 2, numbers, times));
  CHECK(numbers[0] == 3 && numbers[1] == 7 && times[0] == 0.75 && times[1] == 1.5);
  CHECK_FAILS(bat_idx_steps(dataset, 3, NULL, NULL), BAT_INVALID_ARGUMENT, "has 2");

  const int64_t part[6] = { 5, 2, 3, 19, 12, 11 };
  for (int64_t level = 0; level <= info.levels; ++level)
  {
    check_read(dataset, &numbers[1], level, NULL);
    check_read(dataset, NULL, level, part);
  }
  const int64_t no_step = 5;
  int64_t one = 0;
  CHECK_FAILS(
    bat_idx_read(dataset, "id", &no_step, 0, part, &one, 8, NULL), BAT_INVALID_ARGUMENT, "5");
  CHECK_FAILS(bat_idx_read(dataset, "id", NULL, 15, NULL, &one, 8, NULL), BAT_INVALID_ARGUMENT,
    "level 15 is out of range; allowed are 0 to 14");
  CHECK_FAILS(
    bat_idx_read(dataset, "id", NULL, 14, NULL, &one, 8, NULL), BAT_INVALID_ARGUMENT, "has 8");
  CHECK_FAILS(bat_idx_read(dataset, "id", NULL, 14, NULL, &one, (size_t)-1, NULL),
    BAT_INVALID_ARGUMENT, "the size of the array is -1");

  /* Samples of a coarse level are reused. */
  int64_t coarse_count[3];
  CHECK_OK(bat_idx_lattice(dataset, 12, part, NULL, NULL, coarse_count));
  const size_t samples = (size_t)(coarse_count[0] * coarse_count[1] * coarse_count[2]);
  int64_t* coarse = malloc(samples * sizeof(int64_t));
  for (size_t i = 0; i < samples; ++i)
  {
    coarse[i] = -1;
  }
  int64_t count[3];
  CHECK_OK(bat_idx_lattice(dataset, 14, part, NULL, NULL, count));
  const size_t all = (size_t)(count[0] * count[1] * count[2]);
  int64_t* fine = malloc(all * sizeof(int64_t));
  CHECK_OK(bat_idx_refine(dataset, "id", NULL, 12, coarse, 14, part, fine, all * 8, NULL));
  size_t taken = 0;
  for (size_t i = 0; i < all; ++i)
  {
    taken += fine[i] == -1;
  }
  CHECK(taken == samples);
  free(coarse);
  free(fine);

  const char* const names[] = { "v" };
  bat_idx_cost cost;
  int level = 0;
  CHECK_OK(bat_idx_get_cost(dataset, 1, names, 14, NULL, &cost));
  CHECK(cost.samples == NX * NY * NZ && cost.bytes == 12 * cost.samples && cost.blocks > 1);
  CHECK_OK(bat_idx_get_cost(dataset, 0, NULL, 14, NULL, &cost));
  CHECK(cost.bytes == 20 * cost.samples);
  CHECK_OK(bat_idx_finest_level(dataset, 1, names, 14, cost.samples * 6, NULL, &level));
  CHECK(level == 13);
  const int64_t odd[6] = { 5, 3, 3, 5, 3, 3 };
  CHECK_OK(bat_idx_first_level(dataset, odd, &level));
  CHECK(level == 14);
  const double bounds[6] = { 3.4, -1, 1, 4.5, 3.5, 1.5 };
  int64_t inside[6];
  CHECK_OK(bat_idx_box_of(dataset, bounds, inside));
  CHECK(inside[0] == 4 && inside[3] == 6 && inside[1] == 1 && inside[4] == 5 && inside[2] == 4 &&
    inside[5] == 6);
  CHECK_OK(bat_idx_set_threads(dataset, 1));
  CHECK_FAILS(bat_idx_set_threads(dataset, -1), BAT_INVALID_ARGUMENT, "threads is -1");
  bat_idx_read_report read;
  CHECK_OK(bat_idx_validate(dataset, &read));
  CHECK(read.samples == 2 * 2 * NX * NY * NZ && read.absent_blocks == 0);
  calls = 0;
  CHECK_OK(bat_idx_set_progress(dataset, stop, &calls));
  CHECK_FAILS(bat_idx_validate(dataset, NULL), BAT_CANCELLED, "");
  CHECK(calls == 1);
  bat_idx_close(dataset);
}

/* Ghosts around the samples, with meaningless values. */
static void ghosts(void)
{
  enum
  {
    GX = NX + 2 * GHOSTS,
    GY = NY + 2 * GHOSTS,
    GZ = NZ + 2 * GHOSTS
  };
  int64_t arrays[6];
  int64_t* values = malloc(sizeof(int64_t) * GX * GY * GZ);
  for (int i = 0; i < 6; ++i)
  {
    arrays[i] = box[i] + (i < 3 ? -GHOSTS : GHOSTS);
  }
  for (int64_t at = 0; at < (int64_t)GX * GY * GZ; ++at)
  {
    values[at] = id_of(arrays[0] + at % GX, arrays[1] + at / GX % GY, arrays[2] + at / GX / GY);
  }
  bat_grid* grid = NULL;
  bat_idx* dataset = NULL;
  int64_t counts[3];
  CHECK_OK(bat_grid_create(&grid));
  CHECK_FAILS(bat_grid_array_shape(grid, counts), BAT_INVALID_ARGUMENT, "no piece");
  CHECK_OK(bat_grid_add_piece(grid, box, arrays));
  CHECK_OK(bat_grid_array_shape(grid, counts));
  CHECK(counts[0] == GX && counts[1] == GY && counts[2] == GZ);
  CHECK_OK(bat_grid_set_field(grid, "id", BAT_INT64, 1, values));
  CHECK_OK(bat_idx_write(path, grid, NULL, NULL));
  bat_grid_free(grid);
  free(values);
  CHECK_OK(bat_idx_open(path, &dataset));
  int64_t* found = malloc(sizeof(int64_t) * NX * NY * NZ);
  bat_idx_info info;
  CHECK_OK(bat_idx_get_info(dataset, &info));
  CHECK_OK(bat_idx_read(
    dataset, "id", NULL, info.levels, NULL, found, sizeof(int64_t) * NX * NY * NZ, NULL));
  CHECK(memcmp(found, ids, sizeof(int64_t) * NX * NY * NZ) == 0);
  double minimum = 0;
  double maximum = 0;
  CHECK_OK(bat_idx_field_range(dataset, 0, 0, &minimum, &maximum));
  CHECK(minimum == (double)ids[0] && maximum == (double)ids[NX * NY * NZ - 1]);
  free(found);
  bat_idx_close(dataset);
}

/* A given step is added; all others stay. */
static void steps_of_a_loop(void)
{
  bat_idx* dataset = NULL;
  bat_grid* grid = grid_of_all();
  bat_idx_options* options = NULL;
  uint64_t count = 0;
  int64_t steps[3];
  CHECK_OK(bat_idx_options_create(&options));
  CHECK_OK(bat_idx_options_set_integer(options, "flush", 0));
  CHECK_OK(bat_idx_write(path, grid, options, NULL)); /* without a step: replaces all */
  for (int64_t step = 1; step < 3; ++step)
  {
    CHECK_OK(bat_idx_options_set_integer(options, "step", step));
    CHECK_OK(bat_idx_write(path, grid, options, NULL));
  }
  bat_grid_free(grid);
  CHECK_OK(bat_grid_create(&grid));
  CHECK_OK(bat_grid_add_piece(grid, box, NULL));
  CHECK_OK(bat_grid_set_field(grid, "id", BAT_INT64, 1, ids));
  CHECK_FAILS(bat_idx_write(path, grid, options, NULL), BAT_INVALID_ARGUMENT, "its field list is");
  CHECK(strstr(bat_last_error(), "mode=\"replace\"") != NULL);
  CHECK_OK(bat_idx_open(path, &dataset));
  CHECK_OK(bat_idx_step_count(dataset, &count));
  CHECK(count == 3);
  CHECK_OK(bat_idx_steps(dataset, 3, steps, NULL));
  CHECK(steps[0] == 0 && steps[1] == 1 && steps[2] == 2);
  bat_idx_close(dataset);
  CHECK_OK(bat_idx_options_set_text(options, "mode", "replace"));
  CHECK_OK(bat_idx_write(path, grid, options, NULL));
  CHECK_OK(bat_idx_open(path, &dataset));
  CHECK_OK(bat_idx_step_count(dataset, &count));
  CHECK(count == 1);
  bat_idx_close(dataset);
  bat_idx_options_free(options);
  bat_grid_free(grid);
}

static void refusals(void)
{
  bat_grid* grid = NULL;
  bat_idx* dataset = NULL;
  CHECK_FAILS(bat_idx_open("/nowhere/n.idx", &dataset), BAT_NOT_FOUND, "/nowhere/n.idx");
  CHECK(dataset == NULL);
  CHECK_FAILS(bat_idx_open(NULL, &dataset), BAT_INVALID_ARGUMENT, "path is NULL");
  CHECK_OK(bat_grid_create(&grid));
  CHECK_FAILS(bat_idx_write(path, grid, NULL, NULL), BAT_INVALID_ARGUMENT, "0 pieces");
  CHECK_FAILS(bat_grid_set_field(grid, "id", BAT_INT64, 1, ids), BAT_INVALID_ARGUMENT, "no piece");
  CHECK_OK(bat_grid_add_piece(grid, box, NULL));
  CHECK_OK(bat_grid_set_field(grid, "id", BAT_INT64, 1, ids));
  /* A write reports what was rejected before. */
  CHECK_FAILS(bat_idx_write(path, grid, NULL, NULL), BAT_INVALID_ARGUMENT, "no piece");
  bat_grid_free(grid);

  grid = grid_of_all();
  CHECK_OK(bat_grid_add_piece(grid, box, NULL));
  CHECK_OK(bat_grid_set_field(grid, "v", BAT_FLOAT32, 3, vectors));
  CHECK_FAILS(bat_idx_write(path, grid, NULL, NULL), BAT_INVALID_ARGUMENT, "lacks the field 'id'");
  CHECK_FAILS(bat_grid_set_field(grid, "id", BAT_INT32, 1, ids), BAT_INVALID_ARGUMENT,
    "int64[1] in one piece and int32[1] in another");
  bat_grid_free(grid);

  const int64_t empty[6] = { 0, 0, 0, -1, 0, 0 };
  CHECK_OK(bat_grid_create(&grid));
  CHECK_OK(bat_grid_add_piece(grid, empty, NULL));
  CHECK_OK(bat_grid_set_field(grid, "id", BAT_INT64, 1, ids));
  CHECK_FAILS(bat_idx_write(path, grid, NULL, NULL), BAT_INVALID_ARGUMENT, "samples 0 to -1");
  CHECK_FAILS(
    bat_grid_set_field(grid, "v", BAT_FLOAT32, 65, vectors), BAT_INVALID_ARGUMENT, "1 to 64");
  CHECK_FAILS(
    bat_grid_set_field(grid, "v", 11, 3, vectors), BAT_INVALID_ARGUMENT, "unknown value type");
  CHECK_FAILS(bat_grid_fail(grid, "of a wrapper"), BAT_INVALID_ARGUMENT, "of a wrapper");
  bat_grid_free(grid);
  CHECK_FAILS(bat_grid_add_piece(NULL, box, NULL), BAT_INVALID_ARGUMENT, "grid is NULL");
  bat_grid_free(NULL);
  bat_idx_close(NULL);
  bat_idx_options_free(NULL);
}

int main(int argc, char** argv)
{
  if (argc != 2)
  {
    fprintf(stderr, "usage: test_bat_idx FOLDER\n");
    return 2;
  }
  snprintf(path, sizeof(path), "%s/test_capi.idx", argv[1]);
  make();
  write_and_read();
  ghosts();
  steps_of_a_loop();
  refusals();
  free(ids);
  free(vectors);
  return failures != 0;
}
