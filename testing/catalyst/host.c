/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulation in C: particles in an array of structs.
 *
 * Usage: host FOLDER STEPS [--particles N] [--serial | --late | --after-finalize]
 *   [--bad-node RANK] [--bad-options RANK] [--stop] [--implementation NAME]
 *
 * Prints "rank R CALL STATUS" for every call of Catalyst. */
#include "catalyst_host.h"

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct particle
{
  double position[3];
  float mass;
  int64_t id;
};

struct options
{
  const char* folder;
  int steps;
  int64_t particles;
  int serial;
  int late;
  int after_finalize;
  int bad_node;
  int bad_options;
  int stop;
  const char* implementation;
};

static int rank = 0;

static void say(const char* call, int status)
{
  printf("rank %d %s %d\n", rank, call, status);
  fflush(stdout);
}

static struct options parse(int argc, char** argv)
{
  struct options o = { argv[1], atoi(argv[2]), 100, 0, 0, 0, -1, -1, 0, NULL };
  for (int i = 3; i < argc; ++i)
  {
    const int has_value = i + 1 < argc;
    o.serial = o.serial || strcmp(argv[i], "--serial") == 0;
    o.late = o.late || strcmp(argv[i], "--late") == 0;
    o.after_finalize = o.after_finalize || strcmp(argv[i], "--after-finalize") == 0;
    o.stop = o.stop || strcmp(argv[i], "--stop") == 0;
    if (has_value && strcmp(argv[i], "--particles") == 0)
    {
      o.particles = atoll(argv[++i]);
    }
    else if (has_value && strcmp(argv[i], "--bad-node") == 0)
    {
      o.bad_node = atoi(argv[++i]);
    }
    else if (has_value && strcmp(argv[i], "--bad-options") == 0)
    {
      o.bad_options = atoi(argv[++i]);
    }
    else if (has_value && strcmp(argv[i], "--implementation") == 0)
    {
      o.implementation = argv[++i];
    }
  }
  return o;
}

static int initialize(const struct options* o)
{
  char output[4096];
  conduit_node* node = conduit_node_create();
  snprintf(output, sizeof(output), "%s/host_{timestep:03d}.bat", o->folder);
  conduit_node_set_path_char8_str(node, "catalyst/bat/output", output);
  if (o->implementation)
  {
    conduit_node_set_path_char8_str(node, "catalyst_load/implementation", o->implementation);
  }
  if (o->stop)
  {
    conduit_node_set_path_char8_str(node, "catalyst/bat/on_error", "stop");
  }
  const char* environment = getenv("OMPI_COMM_WORLD_RANK"); /* MPI may not be initialized yet */
  const int early_rank = environment ? atoi(environment) : rank;
  if (o->bad_options == early_rank)
  {
    conduit_node_set_path_int32(node, "catalyst/mpi_comm/nonsense", 1);
  }
  const int status = (int)catalyst_initialize(node);
  conduit_node_destroy(node);
  return status;
}

static void describe(conduit_node* node, struct particle* p, int64_t n, int is_bad)
{
  const char* mesh = "catalyst/channels/host/data";
  char path[256];
  conduit_node_set_path_char8_str(node, "catalyst/channels/host/type", "mesh");
  snprintf(path, sizeof(path), "%s/coordsets/c/type", mesh);
  conduit_node_set_path_char8_str(node, path, "explicit");
  snprintf(path, sizeof(path), "%s/topologies/mesh/type", mesh);
  conduit_node_set_path_char8_str(node, path, "points");
  snprintf(path, sizeof(path), "%s/topologies/mesh/coordset", mesh);
  conduit_node_set_path_char8_str(node, path, "c");
  for (int axis = 0; axis != 3; ++axis)
  {
    snprintf(path, sizeof(path), "%s/coordsets/c/values/%c", mesh, "xyz"[axis]);
    conduit_node_set_path_external_float64_ptr_detailed(node, path, (double*)p, n,
      (conduit_index_t)sizeof(double) * axis, sizeof(*p), sizeof(double), 0);
  }
  for (int field = 0; field != 2; ++field)
  {
    const char* name = field == 0 ? "id" : "mass";
    snprintf(path, sizeof(path), "%s/fields/%s/association", mesh, name);
    conduit_node_set_path_char8_str(node, path, "vertex");
    snprintf(path, sizeof(path), "%s/fields/%s/topology", mesh, name);
    conduit_node_set_path_char8_str(node, path, "mesh");
  }
  snprintf(path, sizeof(path), "%s/fields/id/values", mesh);
  conduit_node_set_path_external_int64_ptr_detailed(node, path, (int64_t*)p, n - is_bad,
    offsetof(struct particle, id), sizeof(*p), sizeof(int64_t), 0);
  snprintf(path, sizeof(path), "%s/fields/mass/values", mesh);
  conduit_node_set_path_external_float32_ptr_detailed(
    node, path, (float*)p, n, offsetof(struct particle, mass), sizeof(*p), sizeof(float), 0);
}

/* The formula is repeated in check_host.cpp. */
static struct particle* make(int step, int64_t n)
{
  struct particle* p = malloc((size_t)(n + 1) * sizeof(*p));
  for (int64_t i = 0; i < n; ++i)
  {
    p[i].position[0] = rank + 0.001 * (double)(i % 1009);
    p[i].position[1] = 0.5 * (double)i;
    p[i].position[2] = step;
    p[i].mass = 1.0F / (float)(i + 1);
    p[i].id = 1000000000LL * (rank + 1) + i;
  }
  return p;
}

static void execute(const struct options* o, int step)
{
  const int64_t n = rank == 1 ? 0 : o->particles + 10 * rank;
  struct particle* p = make(step, n);
  conduit_node* node = conduit_node_create();
  conduit_node_set_path_int64(node, "catalyst/state/timestep", step);
  conduit_node_set_path_float64(node, "catalyst/state/time", 0.25 * step);
  describe(node, p, n, o->bad_node == rank && step == 1);
  say("execute", (int)catalyst_execute(node));
  conduit_node_destroy(node);
  free(p);
}

int main(int argc, char** argv)
{
  if (argc < 3)
  {
    fprintf(stderr, "usage: host FOLDER STEPS [...]\n");
    return 2;
  }
  const struct options o = parse(argc, argv);
  int status = 0;
  if (o.late)
  {
    status = initialize(&o);
  }
  if (!o.serial)
  {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  }
  if (!o.late)
  {
    status = initialize(&o);
  }
  say("initialize", status);
  for (int step = 0; step < o.steps; ++step)
  {
    execute(&o, step);
  }
  if (!o.serial)
  {
    MPI_Finalize();
  }
  if (o.after_finalize)
  {
    execute(&o, o.steps);
  }
  conduit_node* node = conduit_node_create();
  say("finalize", (int)catalyst_finalize(node));
  conduit_node_destroy(node);
  return 0;
}
