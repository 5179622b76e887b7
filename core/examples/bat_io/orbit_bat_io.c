/* SPDX-License-Identifier: BSD-3-Clause */
/* A tiny simulation written for the C API of the paper's library, unchanged. It has one slab of the
 * box per rank; a restart may use a different number of slabs.
 *
 *   mpirun -n 4 orbit_bat_io write orbit      writes orbit.pbat
 *   mpirun -n 2 orbit_bat_io restart orbit    reads it and compares with what was written
 */
#include <bat_io.h>

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
  kParticles = 30000
};

/* x increases with the id, so that slabs along x are ranges of ids. */
static void make(int64_t id, float* position, double* energy)
{
  position[0] = (float)id / kParticles;
  position[1] = (float)(id * 7 % 1000) / 1000;
  position[2] = (float)(id * 13 % 1000) / 1000;
  *energy = 1.0 / (double)(id + 1);
}

static int write_step(const char* name, int rank, int ranks)
{
  const int64_t first = (int64_t)kParticles * rank / ranks;
  const uint64_t count = (uint64_t)((int64_t)kParticles * (rank + 1) / ranks - first);
  float* positions = malloc(count * 3 * sizeof(float));
  double* energy = malloc(count * sizeof(double));
  int64_t* id = malloc(count * sizeof(int64_t));
  for (uint64_t i = 0; i < count; ++i)
  {
    id[i] = first + (int64_t)i;
    make(id[i], positions + 3 * i, energy + i);
  }
  const float bounds[6] = { (float)rank / ranks, 0, 0, (float)(rank + 1) / ranks, 1, 1 };

  BATParticleState state = bat_io_allocate();
  bat_io_set_local_bounds(state, bounds);
  bat_io_set_bytes_per_subfile(state, 400000);
  bat_io_set_positions(state, positions, count, BTD_VEC3_FLOAT);
  bat_io_set_attribute(state, "energy", energy, count, BTD_FLOAT_64);
  bat_io_set_attribute(state, "id", id, count, BTD_INT_64);
  const uint64_t bytes = bat_io_write(state, name);
  const char* statistics = bat_io_get_performance_statistics(state);
  if (rank == 0)
  {
    printf("%llu bytes, %s\n", (unsigned long long)bytes, statistics);
  }
  bat_io_free(state);
  free(positions);
  free(energy);
  free(id);
  return bytes > 0 ? 0 : 1;
}

static int restart(const char* name, int rank, int ranks)
{
  char file_name[4096];
  snprintf(file_name, sizeof(file_name), "%s.pbat", name);
  BATParticleFile file = bat_io_open(file_name);
  if (!file)
  {
    return 1;
  }
  const float slab[6] = { (float)rank / ranks, 0, 0, (float)(rank + 1) / ranks, 1, 1 };
  bat_io_set_read_bounds(file, slab);
  uint64_t local[2] = { bat_io_read(file), 0 };
  uint64_t all[2];
  const void* positions = NULL;
  const void* energy = NULL;
  const void* id = NULL;
  uint64_t count = 0;
  uint64_t size = 0;
  BATDataType type = BTD_UNKNOWN;
  bat_io_get_positions(file, &positions, &count, &type);
  bat_io_get_attribute(file, "energy", &energy, &size, &type);
  bat_io_get_attribute(file, "id", &id, &size, &type);
  for (uint64_t i = 0; i < count; ++i)
  {
    float position[3];
    double value = 0;
    make(((const int64_t*)id)[i], position, &value);
    local[1] += memcmp(position, (const float*)positions + 3 * i, sizeof(position)) != 0 ||
      memcmp(&value, (const double*)energy + i, sizeof(value)) != 0;
  }
  MPI_Allreduce(local, all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
  {
    printf("%llu particles on %d ranks, %llu differ\n", (unsigned long long)all[0], ranks,
      (unsigned long long)all[1]);
  }
  const uint64_t expected = bat_io_get_num_points(file);
  bat_io_close(file);
  return all[0] == kParticles && expected == kParticles && all[1] == 0 ? 0 : 1;
}

int main(int argc, char** argv)
{
  int rank = 0;
  int ranks = 1;
  int result = 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc == 3)
  {
    result = strcmp(argv[1], "write") == 0 ? write_step(argv[2], rank, ranks)
                                           : restart(argv[2], rank, ranks);
  }
  MPI_Finalize();
  return result;
}
