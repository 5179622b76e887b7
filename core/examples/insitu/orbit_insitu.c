/* SPDX-License-Identifier: BSD-3-Clause */
/* A tiny simulation in C that writes its particles while it runs: every fifth of 20 steps.
 * Particles lie in two domains per rank, each followed by ghosts that belong to the neighbour.
 *
 *   mpirun -n 4 orbit_insitu out/orbit_{timestep:04d}.bat
 *
 * ParaView opens out/orbit.bat.series, also while the simulation runs (File > Reload Files).
 */
#include "bat/bat_insitu.h"

#include <stdio.h>
#include <stdlib.h>

enum
{
  kParticles = 30000, /* on all ranks */
  kDomains = 2,       /* per rank */
  kGhosts = 10,       /* per domain */
  kSteps = 20,
  kEvery = 5
};

typedef struct
{
  double position[3];
  double velocity[3];
  int64_t id;
} particle;

typedef struct
{
  int64_t count; /* includes ghosts */
  particle* own;
  unsigned char* ghosts;
} domain;

static particle at_start(int64_t id)
{
  const double radius = 1 + (double)(id % 997) / 997;
  particle p = { { radius, (double)(id % 31) / 310, 0 }, { 0, 0.5 + 0.1 * (double)(id % 7), 0.01 },
    id };
  return p;
}

static void advance(particle* p)
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

static domain make_domain(int number, int domains)
{
  domain d;
  const int64_t first = (int64_t)kParticles * number / domains;
  const int64_t own = (int64_t)kParticles * (number + 1) / domains - first;
  d.count = own + kGhosts;
  d.own = malloc((size_t)d.count * sizeof(particle));
  d.ghosts = calloc((size_t)d.count, 1);
  for (int64_t i = 0; i < d.count; ++i)
  {
    d.own[i] = at_start((first + i) % kParticles);
    d.ghosts[i] = i >= own;
  }
  return d;
}

/* Every rank has the same status, so that all may exit here. A simulation could also continue. */
static void check(int status)
{
  if (status != BAT_OK)
  {
    fprintf(stderr, "%s\n", bat_last_error());
    MPI_Abort(MPI_COMM_WORLD, status);
  }
}

static void add_domain(bat_insitu* insitu, const domain* d)
{
  bat_particles* particles = NULL;
  check(bat_particles_create((uint64_t)d->count, &particles));
  check(bat_particles_set_positions(particles, BAT_FLOAT64, d->own[0].position, sizeof(particle)));
  check(bat_particles_set_attribute(
    particles, "velocity", BAT_FLOAT64, 3, d->own[0].velocity, sizeof(particle)));
  check(
    bat_particles_set_attribute(particles, "id", BAT_INT64, 1, &d->own[0].id, sizeof(particle)));
  check(bat_insitu_add_without_ghosts(insitu, NULL, particles, BAT_UINT8, d->ghosts, 0));
  bat_particles_free(particles); /* the arrays stay */
}

int main(int argc, char** argv)
{
  int rank = 0;
  int ranks = 1;
  domain domains[kDomains];
  bat_insitu* insitu = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 2)
  {
    fprintf(stderr, "usage: orbit_insitu FILES\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  for (int i = 0; i < kDomains; ++i)
  {
    domains[i] = make_domain(kDomains * rank + i, kDomains * ranks);
  }

  check(bat_insitu_open(MPI_COMM_WORLD, argv[1], NULL, &insitu));
  check(bat_insitu_set_every(insitu, kEvery));
  for (int step = 0; step <= kSteps; ++step)
  {
    int due = 0;
    bat_report report;
    check(bat_insitu_begin_step(insitu, step, 0.01 * step, &due));
    for (int i = 0; due && i < kDomains; ++i)
    {
      add_domain(insitu, &domains[i]);
    }
    check(bat_insitu_end_step(insitu, &report));
    if (due && rank == 0)
    {
      printf("step %d: %.0f particles, %.0f ghosts skipped, %.3f s\n", step,
        (double)report.particles, (double)report.skipped, report.seconds_total);
    }
    for (int i = 0; i < kDomains; ++i)
    {
      for (int64_t j = 0; j < domains[i].count; ++j)
      {
        advance(&domains[i].own[j]);
      }
    }
  }
  bat_insitu_close(insitu);

  for (int i = 0; i < kDomains; ++i)
  {
    free(domains[i].own);
    free(domains[i].ghosts);
  }
  MPI_Finalize();
  return 0;
}
