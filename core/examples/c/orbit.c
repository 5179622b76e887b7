/* SPDX-License-Identifier: BSD-3-Clause */
/* A tiny simulation in C: particles on orbits, written in one collective call and restarted on any
 * number of ranks.
 *
 *   mpirun -n 4 orbit write orbit.bat      10 steps, then the dataset
 *   mpirun -n 2 orbit restart orbit.bat    reads it, 10 more steps, compares with a run of 20
 */
#include "bat/bat_mpi.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
  kParticles = 30000, /* on all ranks */
  kSteps = 10
};

typedef struct
{
  double position[3];
  double velocity[3];
  int64_t id;
} particle;

static particle at_start(int64_t id)
{
  const double radius = 1 + (double)(id % 997) / 997;
  particle p = { { radius, (double)(id % 31) / 310, 0 }, { 0, 0.5 + 0.1 * (double)(id % 7), 0.01 },
    id };
  return p;
}

/* Particles are independent, so that the result does not depend on the ranks. */
static void advance(particle* p, int steps)
{
  for (int s = 0; s < steps; ++s)
  {
    double r2 = 0;
    for (int c = 0; c < 3; ++c)
    {
      r2 += p->position[c] * p->position[c];
    }
    for (int c = 0; c < 3; ++c)
    {
      p->velocity[c] -= 0.01 * p->position[c] / (r2 * r2);
      p->position[c] += 0.01 * p->velocity[c];
    }
  }
}

/* Every rank has the same status, so that all may exit here. */
static void check(int status)
{
  if (status != BAT_OK)
  {
    fprintf(stderr, "%s\n", bat_last_error());
    MPI_Abort(MPI_COMM_WORLD, status);
  }
}

static void write_step(const char* path, int rank, int ranks)
{
  const int64_t first = (int64_t)kParticles * rank / ranks;
  const int64_t count = (int64_t)kParticles * (rank + 1) / ranks - first;
  particle* own = malloc((size_t)(count + 1) * sizeof(particle));
  for (int64_t i = 0; i < count; ++i)
  {
    own[i] = at_start(first + i);
    advance(&own[i], kSteps);
  }

  bat_particles* particles = NULL;
  bat_options* options = NULL;
  bat_report report;
  check(bat_particles_create((uint64_t)count, &particles));
  /* The arrays stay in place, inside structs: the stride is the size of a struct. */
  check(bat_particles_set_positions(particles, BAT_FLOAT64, own[0].position, sizeof(particle)));
  check(bat_particles_set_attribute(
    particles, "velocity", BAT_FLOAT64, 3, own[0].velocity, sizeof(particle)));
  check(bat_particles_set_attribute(particles, "id", BAT_INT64, 1, &own[0].id, sizeof(particle)));
  check(bat_particles_set_step(particles, kSteps));
  check(bat_particles_set_time(particles, 0.01 * kSteps));
  check(bat_options_create(&options));
  check(bat_options_set_target_bytes(options, 400000)); /* makes several files; 0 is best */
  check(bat_mpi_write(MPI_COMM_WORLD, path, particles, options, &report));
  bat_options_free(options);
  bat_particles_free(particles);
  free(own);

  if (rank == 0)
  {
    char json[2048];
    check(bat_report_json(&report, json, sizeof(json)));
    printf("%s\n", json);
  }
}

static int restart(const char* path, int rank, int ranks)
{
  bat_dataset* dataset = NULL;
  bat_query* query = NULL;
  bat_selection* selection = NULL;
  uint64_t count = 0;
  int64_t step = 0;
  int has_step = 0;
  check(bat_mpi_open(MPI_COMM_WORLD, path, &dataset));
  check(bat_dataset_step(dataset, &has_step, &step));
  check(bat_query_create(&query));
  check(bat_query_set_part(query, (uint32_t)rank, (uint32_t)ranks)); /* an equal share each */
  check(bat_mpi_select(MPI_COMM_WORLD, dataset, query, &selection));
  check(bat_selection_count(selection, &count));
  double* positions = malloc((size_t)(count + 1) * 3 * sizeof(double));
  double* velocities = malloc((size_t)(count + 1) * 3 * sizeof(double));
  int64_t* ids = malloc((size_t)(count + 1) * sizeof(int64_t));
  check(bat_mpi_read_positions(
    MPI_COMM_WORLD, dataset, selection, positions, count * 3 * sizeof(double)));
  check(bat_mpi_read_attribute(
    MPI_COMM_WORLD, dataset, "velocity", selection, velocities, count * 3 * sizeof(double)));
  check(
    bat_mpi_read_attribute(MPI_COMM_WORLD, dataset, "id", selection, ids, count * sizeof(int64_t)));
  bat_selection_free(selection);
  bat_query_free(query);
  bat_close(dataset);

  /* Counts the particles on all ranks, and those that differ in any bit from a run without a
   * restart. */
  uint64_t local[2] = { count, 0 };
  uint64_t all[2];
  for (uint64_t i = 0; i < count; ++i)
  {
    particle p;
    particle uninterrupted = at_start(ids[i]);
    memcpy(p.position, positions + 3 * i, sizeof(p.position));
    memcpy(p.velocity, velocities + 3 * i, sizeof(p.velocity));
    advance(&p, kSteps);
    advance(&uninterrupted, (int)step + kSteps);
    local[1] += memcmp(p.position, uninterrupted.position, sizeof(p.position)) != 0 ||
      memcmp(p.velocity, uninterrupted.velocity, sizeof(p.velocity)) != 0;
  }
  free(positions);
  free(velocities);
  free(ids);
  MPI_Allreduce(local, all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
  {
    printf("%" PRIu64 " particles on %d ranks after step %" PRId64 ", %" PRIu64 " differ\n", all[0],
      ranks, step + kSteps, all[1]);
  }
  return has_step && all[0] == kParticles && all[1] == 0 ? 0 : 1;
}

int main(int argc, char** argv)
{
  int rank = 0;
  int ranks = 1;
  int result = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc == 3 && strcmp(argv[1], "write") == 0)
  {
    write_step(argv[2], rank, ranks);
  }
  else if (argc == 3 && strcmp(argv[1], "restart") == 0)
  {
    result = restart(argv[2], rank, ranks);
  }
  else
  {
    result = 2;
    fprintf(stderr, "usage: orbit write|restart PATH\n");
  }
  MPI_Finalize();
  return result;
}
