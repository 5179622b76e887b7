/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests bat/bat_mpi.h on all ranks. Argument: a folder to write in. */

#include "check.h"

#include "bat/bat_mpi.h"

#include <math.h>
#include <stdlib.h>

static int rank = 0;
static int ranks = 1;
static char path[4096];

/* Checks that rank 0's text equals this rank's on all ranks. */
static int same_everywhere(const char* text)
{
  char first[4096] = { 0 };
  int same = 0;
  int all = 0;
  snprintf(first, sizeof(first), "%s", text);
  MPI_Bcast(first, sizeof(first), MPI_CHAR, 0, MPI_COMM_WORLD);
  same = strncmp(first, text, sizeof(first) - 1) == 0;
  MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all;
}

/* Checks that a collective call fails on all ranks alike. */
#define CHECK_FAILS_COLLECTIVE(call, expected, word)                                               \
  do                                                                                               \
  {                                                                                                \
    CHECK_FAILS(call, expected, word);                                                             \
    CHECK(same_everywhere(bat_last_error()));                                                      \
  } while (0)

static uint64_t sum(uint64_t value)
{
  uint64_t total = 0;
  MPI_Allreduce(&value, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return total;
}

struct particle
{
  double position[3];
  int64_t id;
};

static struct particle particle_of(int64_t id)
{
  struct particle p;
  p.position[0] = (double)(id % 101) / 101;
  p.position[1] = (double)(id % 103) / 103;
  p.position[2] = (double)(id % 107) / 107;
  p.id = (INT64_C(1) << 60) + id;
  return p;
}

/* Rank 1 is empty. The last rank gives its arrays separately. */
static void write_all(int use_fortran_handle, int64_t per_rank)
{
  const int64_t count = rank == 1 ? 0 : per_rank;
  struct particle* own = malloc((size_t)(count + 1) * sizeof(struct particle));
  double* xyz = malloc((size_t)(count + 1) * 3 * sizeof(double));
  bat_particles* particles = NULL;
  bat_options* options = NULL;
  bat_report report;
  for (int64_t i = 0; i < count; ++i)
  {
    own[i] = particle_of(i * ranks + rank);
    for (int c = 0; c < 3; ++c)
    {
      xyz[c * count + i] = own[i].position[c];
    }
  }
  CHECK_OK(bat_particles_create((uint64_t)count, &particles));
  if (count != 0)
  {
    CHECK_OK(rank + 1 == ranks ? bat_particles_set_positions_separate(
                                   particles, BAT_FLOAT64, xyz, xyz + count, xyz + 2 * count, 0)
                               : bat_particles_set_positions(particles, BAT_FLOAT64,
                                   own[0].position, sizeof(struct particle)));
    CHECK_OK(bat_particles_set_attribute(
      particles, "id", BAT_INT64, 1, &own[0].id, sizeof(struct particle)));
  }
  CHECK_OK(bat_particles_set_time(particles, 2.5));
  CHECK_OK(bat_options_create(&options));
  CHECK_OK(bat_options_set_target_bytes(options, 100000));
  CHECK_OK(bat_options_set_threads(options, 1));
  CHECK_OK(use_fortran_handle
      ? bat_mpi_write_f(
          MPI_Comm_c2f(MPI_COMM_WORLD), rank == 0 ? path : NULL, particles, options, &report)
      : bat_mpi_write(MPI_COMM_WORLD, rank == 0 ? path : NULL, particles, options, &report));
  CHECK(report.particles == sum((uint64_t)count));
  CHECK(report.leaf_files > 1 && report.target_bytes == 100000 && report.ranks == ranks);
  CHECK(report.data_bytes == report.particles * 32 && report.file_bytes > report.data_bytes);
  CHECK(report.seconds_total > 0 && report.seconds_build > 0 && report.seconds_write > 0);
  CHECK(report.seconds_total < 100);
  char json[2048];
  CHECK_OK(bat_report_json(&report, json, sizeof(json)));
  CHECK(same_everywhere(json));
  CHECK(strstr(json, "\"nodes\":1,") && strstr(json, "\"messages_between_nodes\":0,"));
  CHECK(report.nodes == 1 && report.aggregators >= 1 && report.aggregators <= ranks);
  CHECK(report.threads >= 1 && report.peak_memory_bytes > report.max_received_bytes);
  CHECK_OK(bat_report_line(&report, json, sizeof(json)));
  CHECK(same_everywhere(json) && strstr(json, "leaf files by"));
  bat_options_free(options);
  bat_particles_free(particles);
  free(own);
  free(xyz);
}

/* bat_mpi_read() returns what a selection with the same query returns. */
static void read_in_modes(
  bat_dataset* dataset, bat_query* query, const int64_t* ids, uint64_t count)
{
  const char* const modes[] = { "direct", "aggregated", "auto", NULL };
  const char* const names[] = { "id" };
  for (int m = 0; m < 4; ++m)
  {
    bat_selection* selection = NULL;
    uint64_t found = 0;
    const void* values = NULL;
    const char* json = NULL;
    const char* line = NULL;
    const int reports = m != 2 && rank == ranks - 1; /* one rank's is enough */
    CHECK_OK(m == 1
        ? bat_mpi_read_f(MPI_Comm_c2f(MPI_COMM_WORLD), dataset, query, 1, names,
            rank == 0 ? modes[m] : "auto", 1, reports, &selection)
        : bat_mpi_read(MPI_COMM_WORLD, dataset, query, 1, names, modes[m], 0, reports, &selection));
    CHECK_OK(bat_selection_count(selection, &found));
    CHECK(found == count);
    CHECK_OK(bat_selection_values(dataset, selection, "id", &values));
    CHECK(count == 0 || memcmp(values, ids, count * sizeof(int64_t)) == 0);
    CHECK_OK(bat_selection_values(dataset, selection, NULL, &values));
    double* copy = malloc((count + 1) * 3 * sizeof(double));
    CHECK_OK(bat_read_positions(dataset, selection, copy, count * 3 * sizeof(double)));
    CHECK(count == 0 || memcmp(values, copy, count * 3 * sizeof(double)) == 0);
    free(copy);
    CHECK_FAILS(bat_selection_values(dataset, selection, "nothing", &values), BAT_INVALID_ARGUMENT,
      "nothing");
    CHECK_OK(bat_selection_report(selection, &json, &line));
    CHECK(same_everywhere(json) && same_everywhere(line));
    if (m == 2)
    {
      CHECK(strcmp(json, "") == 0 && strcmp(line, "") == 0);
    }
    else if (m < 2)
    {
      CHECK(strstr(json, m == 1 ? "\"mode\":\"aggregated\"" : "\"mode\":\"direct\""));
      CHECK(strstr(line, m == 1 ? "aggregated" : "directly"));
    }
    bat_selection_free(selection);
  }
  bat_selection* none = NULL;
  const int bad = rank == ranks - 1;
  CHECK_FAILS_COLLECTIVE(bat_mpi_read(MPI_COMM_WORLD, dataset, query, 0, NULL,
                           bad ? "collective" : "direct", 0, 0, &none),
    BAT_INVALID_ARGUMENT, "the read mode is 'collective'");
  CHECK(none == NULL);
}

static void read_all(int use_fortran_handle, int with_boxes)
{
  const MPI_Fint handle = MPI_Comm_c2f(MPI_COMM_WORLD);
  bat_dataset* dataset = NULL;
  bat_query* query = NULL;
  bat_selection* selection = NULL;
  uint64_t all = 0;
  uint64_t count = 0;
  CHECK_OK(use_fortran_handle ? bat_mpi_open_f(handle, path, &dataset)
                              : bat_mpi_open(MPI_COMM_WORLD, path, &dataset));
  CHECK_OK(bat_dataset_count(dataset, &all));
  CHECK_OK(bat_query_create(&query));
  if (with_boxes)
  {
    const double box[6] = { rank == 0 ? -INFINITY : (double)rank / ranks, -INFINITY, -INFINITY,
      rank + 1 == ranks ? INFINITY : (double)(rank + 1) / ranks, INFINITY, INFINITY };
    CHECK_OK(bat_query_set_box_half_open(query, box));
  }
  else
  {
    CHECK_OK(bat_query_set_part(query, (uint32_t)rank, (uint32_t)ranks));
  }
  CHECK_OK(use_fortran_handle ? bat_mpi_select_f(handle, dataset, query, &selection)
                              : bat_mpi_select(MPI_COMM_WORLD, dataset, query, &selection));
  CHECK_OK(bat_selection_count(selection, &count));
  CHECK(sum(count) == all);
  int64_t* ids = malloc((size_t)(count + 1) * sizeof(int64_t));
  double* positions = malloc((size_t)(count + 1) * 3 * sizeof(double));
  CHECK_OK(use_fortran_handle
      ? bat_mpi_read_attribute_f(handle, dataset, "id", selection, ids, count * sizeof(int64_t))
      : bat_mpi_read_attribute(
          MPI_COMM_WORLD, dataset, "id", selection, ids, count * sizeof(int64_t)));
  CHECK_OK(use_fortran_handle
      ? bat_mpi_read_positions_f(handle, dataset, selection, positions, count * 3 * sizeof(double))
      : bat_mpi_read_positions(
          MPI_COMM_WORLD, dataset, selection, positions, count * 3 * sizeof(double)));
  read_in_modes(dataset, query, ids, count);
  uint64_t checksum = 0;
  int wrong = 0;
  for (uint64_t i = 0; i < count; ++i)
  {
    const struct particle p = particle_of(ids[i] - (INT64_C(1) << 60));
    wrong += memcmp(p.position, positions + 3 * i, sizeof(p.position)) != 0;
    checksum += (uint64_t)(ids[i] - (INT64_C(1) << 60));
  }
  CHECK(wrong == 0);
  uint64_t expected = 0;
  const uint64_t per_rank = all / (uint64_t)(ranks > 1 ? ranks - 1 : 1);
  for (uint64_t i = 0; i < per_rank; ++i)
  {
    expected += rank == 1 ? 0 : i * (uint64_t)ranks + (uint64_t)rank;
  }
  CHECK(sum(checksum) == sum(expected));
  free(ids);
  free(positions);
  bat_selection_free(selection);
  bat_query_free(query);
  bat_close(dataset);
}

/* Any error on the last rank is reported on all. */
static void errors_are_the_same_on_all_ranks(void)
{
  const int bad = rank + 1 == ranks;
  const double position[3] = { 0, 0, 0 };
  const double box[6] = { NAN, 0, 0, 1, 1, 1 };
  bat_particles* particles = NULL;
  bat_options* options = NULL;
  bat_dataset* dataset = NULL;
  bat_query* query = NULL;
  bat_selection* selection = NULL;
  char place[32] = "";
  if (ranks > 1)
  {
    snprintf(place, sizeof(place), "rank %d: ", ranks - 1);
  }
  CHECK_OK(bat_particles_create(1, &particles));
  CHECK_OK(bat_particles_set_positions(particles, BAT_FLOAT64, position, 0));
  CHECK_FAILS_COLLECTIVE(bat_mpi_write(MPI_COMM_WORLD, path, bad ? NULL : particles, NULL, NULL),
    BAT_INVALID_ARGUMENT, "particles is NULL");
  CHECK(strncmp(bat_last_error(), place, strlen(place)) == 0);
  if (bad)
  {
    CHECK_FAILS(bat_particles_set_attribute(particles, "a", 11, 1, position, 0),
      BAT_INVALID_ARGUMENT, "unknown value type 11");
  }
  CHECK_FAILS_COLLECTIVE(bat_mpi_write(MPI_COMM_WORLD, path, particles, NULL, NULL),
    BAT_INVALID_ARGUMENT, "unknown value type 11");
  bat_particles_free(particles);
  CHECK_OK(bat_particles_create(1, &particles));
  CHECK_OK(bat_particles_set_positions(particles, BAT_FLOAT64, position, 0));
  CHECK_FAILS_COLLECTIVE(bat_mpi_write(MPI_COMM_WORLD, NULL, particles, NULL, NULL),
    BAT_INVALID_ARGUMENT, "path is NULL");
  CHECK_OK(bat_options_create(&options));
  if (bad)
  {
    CHECK_FAILS(bat_options_set_local_bounds(options, box), BAT_INVALID_ARGUMENT, "along x");
  }
  CHECK_FAILS_COLLECTIVE(bat_mpi_write(MPI_COMM_WORLD, path, particles, options, NULL),
    BAT_INVALID_ARGUMENT, "local bounds");
  bat_options_free(options);
  if (bad)
  {
    CHECK_OK(bat_particles_set_attribute(particles, "extra", BAT_FLOAT64, 1, position, 0));
  }
  if (ranks > 1)
  {
    CHECK_FAILS_COLLECTIVE(
      bat_mpi_write(MPI_COMM_WORLD, path, particles, NULL, NULL), BAT_INVALID_ARGUMENT, "extra");
  }
  CHECK_FAILS_COLLECTIVE(bat_mpi_write(MPI_COMM_WORLD, "/nowhere/a.bat", particles, NULL, NULL),
    BAT_CANNOT_OPEN, "/nowhere");
  bat_particles_free(particles);

  CHECK_FAILS_COLLECTIVE(
    bat_mpi_open(MPI_COMM_WORLD, "/nowhere/a.bat", &dataset), BAT_NOT_FOUND, "/nowhere/a.bat");
  CHECK(dataset == NULL);
  CHECK_FAILS_COLLECTIVE(
    bat_mpi_open(MPI_COMM_WORLD, path, bad ? NULL : &dataset), BAT_INVALID_ARGUMENT, "NULL");
  CHECK_OK(bat_mpi_open(MPI_COMM_WORLD, path, &dataset));
  CHECK_FAILS_COLLECTIVE(bat_mpi_select(MPI_COMM_WORLD, bad ? NULL : dataset, NULL, &selection),
    BAT_INVALID_ARGUMENT, "dataset is NULL");
  CHECK(selection == NULL);
  CHECK_OK(bat_query_create(&query));
  if (bad)
  {
    CHECK_FAILS(bat_query_set_box(query, box), BAT_INVALID_ARGUMENT, "NaN");
  }
  CHECK_FAILS_COLLECTIVE(
    bat_mpi_select(MPI_COMM_WORLD, dataset, query, &selection), BAT_INVALID_ARGUMENT, "");
  CHECK(selection == NULL);
  bat_query_free(query);
  CHECK_OK(bat_query_create(&query));
  if (bad)
  {
    CHECK_OK(bat_query_add_range(query, "nothing", BAT_WHOLE, 0, 1));
  }
  CHECK_FAILS_COLLECTIVE(
    bat_mpi_select(MPI_COMM_WORLD, dataset, query, &selection), BAT_INVALID_ARGUMENT, "nothing");
  bat_query_free(query);
  CHECK_OK(bat_mpi_select(MPI_COMM_WORLD, dataset, NULL, &selection));
  uint64_t count = 0;
  CHECK_OK(bat_selection_count(selection, &count));
  double* positions = malloc(count * 3 * sizeof(double));
  CHECK_FAILS_COLLECTIVE(bat_mpi_read_positions(MPI_COMM_WORLD, dataset, selection, positions,
                           bad ? 0 : count * 3 * sizeof(double)),
    BAT_INVALID_ARGUMENT, "positions of");
  CHECK_FAILS_COLLECTIVE(bat_mpi_read_attribute(MPI_COMM_WORLD, dataset, bad ? "nothing" : "id",
                           selection, positions, count * sizeof(int64_t)),
    BAT_INVALID_ARGUMENT, "nothing");
  /* Ranks that request different attributes do not wait for each other. */
  const char* const names[] = { "id", "nothing" };
  int64_t* const ids = malloc((count + 1) * sizeof(int64_t));
  void* const arrays[] = { ids, positions };
  const size_t sizes[] = { count * sizeof(int64_t), count * sizeof(double) };
  CHECK_OK(bat_mpi_read_attributes(MPI_COMM_WORLD, dataset, 1, names, selection, arrays, sizes));
  CHECK_OK(bat_mpi_read_attributes_f(
    MPI_Comm_c2f(MPI_COMM_WORLD), dataset, 1, names, selection, arrays, sizes));
  if (ranks > 1)
  {
    char requested[128];
    snprintf(requested, sizeof(requested),
      "rank %d: the attributes to read are 'id', 'nothing' here and 'id' on rank 0", ranks - 1);
    CHECK_FAILS_COLLECTIVE(bat_mpi_read_attributes(
                             MPI_COMM_WORLD, dataset, bad ? 2 : 1, names, selection, arrays, sizes),
      BAT_INVALID_ARGUMENT, requested);
    CHECK_FAILS_COLLECTIVE(bat_mpi_read_attributes(
                             MPI_COMM_WORLD, dataset, bad ? 0 : 1, names, selection, arrays, sizes),
      BAT_INVALID_ARGUMENT, "are none here and 'id' on rank 0");
  }
  CHECK_FAILS_COLLECTIVE(bat_mpi_read_attributes(MPI_COMM_WORLD, dataset, bad ? (uint64_t)-1 : 1,
                           names, selection, arrays, sizes),
    BAT_INVALID_ARGUMENT, "is -1;");
  free(ids);
  CHECK_FAILS_COLLECTIVE(
    bat_mpi_agree(MPI_COMM_WORLD, bad ? bat_open("/nowhere/b.bat", &dataset) : BAT_OK),
    BAT_NOT_FOUND, "/nowhere/b.bat");
  CHECK_OK(bat_mpi_agree_f(MPI_Comm_c2f(MPI_COMM_WORLD), BAT_OK));
  CHECK_FAILS(bat_mpi_agree(MPI_COMM_NULL, BAT_OK), BAT_INVALID_ARGUMENT, "MPI_COMM_NULL");
  free(positions);
  bat_selection_free(selection);
}

int main(int argc, char** argv)
{
  bat_dataset* dataset = NULL;
  const char* library = NULL;
  int runs = -1;
  CHECK_OK(bat_mpi_library(&library, &runs));
  CHECK(library && strstr(library, "MPI") && runs == 0);
  CHECK_FAILS(bat_mpi_library(NULL, &runs), BAT_INVALID_ARGUMENT, "NULL");
  CHECK_FAILS(
    bat_mpi_open(MPI_COMM_WORLD, "a.bat", &dataset), BAT_INVALID_ARGUMENT, "not initialized");
  CHECK_FAILS(bat_mpi_open_f(0, "a.bat", &dataset), BAT_INVALID_ARGUMENT, "not initialized");
  MPI_Init(&argc, &argv);
  CHECK_OK(bat_mpi_library(&library, &runs));
  CHECK(runs == 1);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  snprintf(path, sizeof(path), "%s/test_bat_mpi_c.np%d.bat", argc > 1 ? argv[1] : ".", ranks);
  for (int use_fortran_handle = 0; use_fortran_handle < 2; ++use_fortran_handle)
  {
    write_all(use_fortran_handle, 20000);
    read_all(use_fortran_handle, 0);
    read_all(use_fortran_handle, 1);
  }
  errors_are_the_same_on_all_ranks();
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  CHECK_FAILS(bat_mpi_open(MPI_COMM_WORLD, "a.bat", &dataset), BAT_INVALID_ARGUMENT, "finalized");
  return all + failures != 0;
}
