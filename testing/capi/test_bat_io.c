/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests bat_io.h on all ranks, used as by a program written for the paper's library. Argument: a
 * folder.
 */

#include "check.h"

#include "bat_io.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>

enum
{
  kPerRank = 20000
};

static int rank = 0;
static int ranks = 1;
static char name[4096];
static char pbat[4200];
static float positions[kPerRank][3];
static double mass[kPerRank];
static float velocity[kPerRank][3];
static int64_t ids[kPerRank];

static uint64_t sum(uint64_t value)
{
  uint64_t total = 0;
  MPI_Allreduce(&value, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return total;
}

/* Slabs along x whose faces are all grid planes on which particles lie. */
static void make_particles(void)
{
  for (int i = 0; i < kPerRank; ++i)
  {
    const int row = rank * kPerRank + i;
    positions[i][0] = (float)rank + (float)(i % 16) / 16;
    positions[i][1] = (float)(i / 16 % 32);
    positions[i][2] = (float)(i / 512);
    ids[i] = (INT64_C(1) << 54) + row;
    mass[i] = 1.0 / (1 + row);
    for (int c = 0; c < 3; ++c)
    {
      velocity[i][c] = (float)(row + c);
    }
  }
}

static void write_and_read(const char* open_name, uint32_t fixed, int paper_splits)
{
  const float bounds[6] = { (float)rank, 0, 0, (float)(rank + 1), 31, 40 };
  BATParticleState state = bat_io_allocate();
  bat_io_set_positions(state, positions, kPerRank, BTD_VEC3_FLOAT);
  bat_io_set_attribute(state, "id", ids, kPerRank, BTD_INT_64);
  bat_io_set_attribute(state, "mass", mass, kPerRank, BTD_FLOAT_64);
  bat_io_set_attribute(state, "velocity", velocity, sizeof(velocity), BTD_VEC3_FLOAT);
  bat_io_set_local_bounds(state, bounds);
  bat_io_set_bytes_per_subfile(state, 400000);
  bat_io_set_build_local_trees(state, 1);
  if (paper_splits)
  {
    bat_io_set_find_best_axis(state, 1);
    bat_io_set_max_split_imbalance_ratio(state, 4);
    bat_io_set_max_overfull_aggregator_factor(state, 1.5F);
  }
  bat_io_set_fixed_aggregation(state, fixed);
  const uint64_t bytes = bat_io_write(state, name);
  CHECK(bytes > (uint64_t)ranks * kPerRank * 40 && sum(bytes) == bytes * (uint64_t)ranks);
  const char* statistics = bat_io_get_performance_statistics(state);
  CHECK((statistics != NULL) == (rank == 0));
  if (statistics)
  {
    CHECK(strstr(statistics, "\"total_bytes_written\":") && strstr(statistics, "\"exchange\":"));
    CHECK(strstr(statistics, "{\"mpi_rank\":0,\"local_particle_count\":20000}"));
  }
  bat_io_free(state);

  BATParticleFile file = bat_io_open(open_name);
  CHECK(file != NULL);
  CHECK(bat_io_get_num_points(file) == (uint64_t)ranks * kPerRank);
  CHECK(bat_io_get_num_attributes(file) == 3);
  const float* global = bat_io_get_global_bounds(file);
  /* The bounds that ranks have declared. */
  CHECK(global[0] == 0 && global[1] == 0 && global[2] == 0);
  CHECK(global[3] == (float)ranks && global[4] == 31 && global[5] == 40);
  const BATDataType types[] = { BTD_INT_64, BTD_FLOAT_64, BTD_VEC3_FLOAT };
  const char* names[] = { "id", "mass", "velocity" };
  for (uint64_t a = 0; a < 3; ++a)
  {
    const char* text = NULL;
    float range[2] = { 0, 0 };
    BATDataType type = BTD_UNKNOWN;
    bat_io_get_attribute_description(file, a, &text, range, &type);
    CHECK(text && strcmp(text, names[a]) == 0 && type == types[a]);
    CHECK(a != 1 || range[1] == 1);
  }

  /* Tiles of the declared bounds: each particle once, including those on faces of tiles. */
  const float tile[6] = { (float)rank * global[3] / (float)ranks, global[1], global[2],
    rank + 1 == ranks ? global[3] : (float)(rank + 1) * global[3] / (float)ranks, global[4],
    global[5] };
  const uint64_t share = bat_io_read(file); /* no bounds yet: an equal share */
  CHECK(share == (uint64_t)kPerRank);
  CHECK(strstr(bat_io_get_read_statistics(file), "\"reason\":"));
  bat_io_set_read_bounds(file, tile);
  bat_io_set_read_mode(file, rank == 0 ? "aggregated" : "direct");
  const uint64_t count = bat_io_read(file);
  CHECK(strstr(bat_io_get_read_statistics(file), "\"mode\":\"aggregated\""));
  CHECK(sum(count) == (uint64_t)ranks * kPerRank);
  const void* data = NULL;
  uint64_t size = 0;
  BATDataType type = BTD_UNKNOWN;
  bat_io_get_positions(file, &data, &size, &type);
  const float* read_positions = data;
  CHECK(size == count && type == BTD_VEC3_FLOAT);
  bat_io_get_attribute(file, "id", &data, &size, &type);
  const int64_t* read_ids = data;
  CHECK(size == count * sizeof(int64_t) && type == BTD_INT_64);
  bat_io_get_attribute(file, "velocity", &data, &size, &type);
  const float* read_velocity = data;
  CHECK(size == count * 12 && type == BTD_VEC3_FLOAT);
  uint64_t rows = 0;
  int wrong = 0;
  for (uint64_t i = 0; i < count; ++i)
  {
    const int64_t row = read_ids[i] - (INT64_C(1) << 54);
    rows += (uint64_t)row;
    wrong += read_positions[3 * i] != (float)(row / kPerRank) + (float)(row % kPerRank % 16) / 16;
    wrong += read_velocity[3 * i + 2] != (float)(row + 2);
  }
  CHECK(wrong == 0);
  const uint64_t all = (uint64_t)ranks * kPerRank;
  CHECK(sum(rows) == all * (all - 1) / 2);
  bat_io_get_attribute(file, "nothing", &data, &size, &type);
  CHECK(data == NULL && size == 0 && type == BTD_UNKNOWN);
  bat_io_close(file);
}

/* Only the last rank knows which attributes there will be. */
static void a_step_without_particles_has_its_attributes(void)
{
  BATParticleState state = bat_io_allocate();
  bat_io_set_positions(state, positions, 0, BTD_VEC3_FLOAT);
  if (rank + 1 == ranks)
  {
    bat_io_set_attribute(state, "velocity", velocity, 0, BTD_VEC3_FLOAT);
    bat_io_set_attribute(state, "id", NULL, 0, BTD_INT_64);
  }
  CHECK(bat_io_write(state, name) > 0);
  bat_io_free(state);
  BATParticleFile file = bat_io_open(pbat);
  CHECK(bat_io_get_num_points(file) == 0 && bat_io_get_num_attributes(file) == 2);
  const char* text = NULL;
  float range[2] = { 0, 0 };
  BATDataType type = BTD_UNKNOWN;
  bat_io_get_attribute_description(file, 0, &text, range, &type);
  CHECK(text && strcmp(text, "velocity") == 0 && type == BTD_VEC3_FLOAT);
  CHECK(bat_io_read(file) == 0);
  bat_io_close(file);
}

/* Along the x axis. */
static void expect_bounds(BATParticleState state, float lower, float upper)
{
  CHECK(bat_io_write(state, name) > 0);
  bat_io_free(state);
  BATParticleFile file = bat_io_open(pbat);
  const float* global = bat_io_get_global_bounds(file);
  CHECK(global[0] == lower && global[3] == upper);
  const float all[6] = { global[0], global[1], global[2], global[3], global[4], global[5] };
  bat_io_set_read_bounds(file, all);
  CHECK(bat_io_read(file) == bat_io_get_num_points(file));
  bat_io_close(file);
}

static void global_bounds_hold_all_particles(void)
{
  const float small[6] = { 0.25F, 0, 0, 0.5F, 1, 1 };
  const float large[6] = { -8, 0, 0, 0.1F, 1, 1 };
  const float end = (float)(ranks - 1) + 15.0F / 16;
  BATParticleState state = bat_io_allocate(); /* no rank declares bounds */
  bat_io_set_positions(state, positions, kPerRank, BTD_VEC3_FLOAT);
  expect_bounds(state, 0, end);
  state = bat_io_allocate(); /* particles lie outside */
  bat_io_set_positions(state, positions, kPerRank, BTD_VEC3_FLOAT);
  bat_io_set_local_bounds(state, small);
  expect_bounds(state, 0, end);
  state = bat_io_allocate(); /* one rank without particles, if not alone, declares bounds */
  bat_io_set_positions(
    state, positions, rank + 1 == ranks && ranks > 1 ? 0 : kPerRank, BTD_VEC3_FLOAT);
  if (rank + 1 == ranks)
  {
    bat_io_set_local_bounds(state, large);
  }
  expect_bounds(state, -8, ranks > 1 ? end - 1 : end);
  state = bat_io_allocate(); /* no rank has particles */
  bat_io_set_positions(state, positions, 0, BTD_VEC3_FLOAT);
  bat_io_set_local_bounds(state, large);
  expect_bounds(state, -8, 0.1F);
}

/* The last rank is wrong; all ranks get 0 and the error text. */
static void errors_return_zero_on_all_ranks(void)
{
  const int bad = rank + 1 == ranks;
  const float nan_bounds[6] = { 0, 0, 0, 1, bad ? NAN : 1, 1 };
  BATParticleState state = bat_io_allocate();
  bat_io_set_positions(state, positions, kPerRank, BTD_VEC3_FLOAT);
  bat_io_set_local_bounds(state, nan_bounds);
  CHECK(bat_io_write(state, name) == 0);
  CHECK(strstr(bat_last_error(), "local bounds along y"));
  bat_io_free(state);

  state = bat_io_allocate();
  bat_io_set_positions(state, positions, kPerRank, bad ? BTD_VEC2_FLOAT : BTD_VEC3_FLOAT);
  CHECK(bat_io_write(state, name) == 0);
  CHECK(strstr(bat_last_error(), "components"));
  bat_io_set_positions(state, positions, kPerRank, BTD_VEC3_FLOAT);
  bat_io_set_attribute(state, "m", mass, bad ? 1 : kPerRank, BTD_FLOAT_64);
  CHECK(bat_io_write(state, name) == 0);
  CHECK(strstr(bat_last_error(), "'m' has 1 values"));
  bat_io_set_attribute(state, "m", mass, kPerRank, bad ? BTD_MAT4_FLOAT : BTD_FLOAT_64);
  CHECK(bat_io_write(state, name) == 0);
  CHECK(strstr(bat_last_error(), "16 components"));
  bat_io_set_attribute(state, "m", mass, bad ? (uint64_t)-1 : kPerRank, BTD_FLOAT_64);
  CHECK(bat_io_write(state, name) == 0);
  CHECK(strstr(bat_last_error(), "'m' is -1;"));
  bat_io_set_attribute(state, "m", mass, kPerRank, BTD_FLOAT_64);
  bat_io_set_positions(state, positions, bad ? (uint64_t)-2 : kPerRank, BTD_VEC3_FLOAT);
  CHECK(bat_io_write(state, name) == 0);
  CHECK(strstr(bat_last_error(), "position count is -2;"));
  bat_io_set_positions(state, positions, kPerRank, BTD_VEC3_FLOAT);
  bat_io_set_bytes_per_subfile(state, (uint64_t)-3);
  CHECK(bat_io_write(state, name) == 0);
  CHECK(strstr(bat_last_error(), "is -3;"));
  bat_io_set_bytes_per_subfile(state, 0);
  bat_io_set_fixed_aggregation(state, (uint32_t)-4);
  CHECK(bat_io_write(state, name) == 0);
  CHECK(strstr(bat_last_error(), "is -4;"));
  CHECK(bat_io_write(bad ? NULL : state, name) == 0);
  CHECK(bat_io_open("/nowhere/a") == NULL);
  CHECK(strstr(bat_last_error(), "/nowhere/a"));
  bat_io_free(state);

  BATParticleFile file = bat_io_open(pbat); /* the earlier file is still there */
  CHECK(bat_io_get_num_points(file) == (uint64_t)ranks * kPerRank);
  bat_io_set_read_bounds(file, nan_bounds);
  CHECK(bat_io_read(file) == 0);
  CHECK(strstr(bat_last_error(), "box") || strstr(bat_last_error(), "NaN"));
  bat_io_set_read_bounds(file, NULL);
  CHECK(bat_io_read(file) == 0);
  bat_io_close(file);
  CHECK(bat_io_read(NULL) == 0);
  CHECK(bat_io_get_read_statistics(NULL) == NULL);
  bat_io_close(NULL);
  bat_io_free(NULL);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  snprintf(name, sizeof(name), "%s/test_bat_io_c.np%d", argc > 1 ? argv[1] : ".", ranks);
  snprintf(pbat, sizeof(pbat), "%s.pbat", name);
  make_particles();
  a_step_without_particles_has_its_attributes();
  write_and_read(pbat, 0, 0);
  write_and_read(name, 0, 1);
  global_bounds_hold_all_particles();
  write_and_read(pbat, 2, 0);
  errors_return_zero_on_all_ranks();
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all != 0;
}
