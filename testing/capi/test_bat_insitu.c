/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests bat/bat_insitu.h on all ranks. Argument: a folder to write in. */

#include "check.h"

#include "bat/bat_insitu.h"

#include <stdlib.h>
#include <unistd.h>

static int rank = 0;
static int ranks = 1;
static char folder[3000];

enum
{
  kCount = 500
};
static double xyz[3 * kCount];
static int64_t ids[kCount];

static void make_particles(void)
{
  for (int i = 0; i < kCount; ++i)
  {
    ids[i] = (INT64_C(1) << 60) + i * ranks + rank;
    for (int c = 0; c < 3; ++c)
    {
      xyz[3 * i + c] = (double)((i + 7 * c) % 101) + rank;
    }
  }
}

static bat_particles* describe(uint64_t count)
{
  bat_particles* particles = NULL;
  CHECK_OK(bat_particles_create(count, &particles));
  CHECK_OK(bat_particles_set_positions(particles, BAT_FLOAT64, xyz, 0));
  CHECK_OK(bat_particles_set_attribute(particles, "id", BAT_INT64, 1, ids, 0));
  return particles;
}

static const char* in_folder(const char* name)
{
  static char path[4096];
  snprintf(path, sizeof(path), "%s/%d/%s", folder, ranks, name);
  return path;
}

static uint64_t count_of(const char* name)
{
  bat_dataset* dataset = NULL;
  uint64_t count = 0;
  CHECK_OK(bat_open(in_folder(name), &dataset));
  CHECK_OK(bat_dataset_count(dataset, &count));
  bat_close(dataset);
  return count;
}

/* Reading values that a step without particles lacks succeeds: there are none. */
static int has_ids(const char* name)
{
  bat_dataset* dataset = NULL;
  bat_selection* selection = NULL;
  bat_query* query = NULL;
  int index = -1;
  CHECK_OK(bat_open(in_folder(name), &dataset));
  const int has = bat_dataset_attribute_index(dataset, "id", &index) == BAT_OK;
  CHECK_OK(bat_query_create(&query));
  CHECK_OK(bat_query_add_range(query, "id", BAT_WHOLE, 0, 1));
  CHECK_OK(bat_select(dataset, query, &selection));
  CHECK_OK(bat_read_attribute(dataset, "id", selection, ids, 0));
  CHECK_OK(bat_read_attribute_as(dataset, "id", BAT_INT64, selection, ids, 0));
  bat_query_free(query);
  bat_selection_free(selection);
  bat_close(dataset);
  return has;
}

static int exists(const char* name)
{
  FILE* file = fopen(in_folder(name), "rb");
  if (file)
  {
    fclose(file);
  }
  return file != NULL;
}

static bat_insitu* open_series(const char* name)
{
  bat_insitu* insitu = NULL;
  CHECK_OK(bat_insitu_open(MPI_COMM_WORLD, rank == 0 ? in_folder(name) : NULL, NULL, &insitu));
  return insitu;
}

static void steps_are_written(void)
{
  bat_insitu* insitu = open_series("dust");
  const char* json = NULL;
  CHECK_OK(bat_insitu_written(insitu, &json));
  CHECK(strcmp(json, "[]") == 0);
  CHECK_OK(bat_insitu_set_every(insitu, 2));
  for (int step = 10; step < 15; ++step)
  {
    bat_report report;
    int due = -1;
    bat_particles* particles = describe(kCount);
    CHECK_OK(bat_insitu_begin_step(insitu, step, 0.5 * step, &due));
    CHECK(due == (step % 2 == 0));
    CHECK_OK(bat_insitu_add(insitu, NULL, due ? particles : NULL)); /* otherwise not checked */
    bat_particles_free(particles);
    CHECK_OK(bat_insitu_end_step(insitu, &report));
    CHECK(report.particles == (due ? (uint64_t)(kCount * ranks) : 0));
  }
  CHECK_OK(bat_insitu_written(insitu, &json));
  CHECK(strstr(json, "dust_000014.bat") != NULL);
  bat_insitu_close(insitu);
  CHECK(count_of("dust_000010.bat") == (uint64_t)(kCount * ranks));
  CHECK(count_of("dust_000014.bat") == (uint64_t)(kCount * ranks));
  CHECK(!exists("dust_000011.bat"));
  CHECK(exists("dust.bat.series"));
}

/* Two pieces, one of them with ghosts; a second species that only the last rank has. */
static void pieces_ghosts_and_species(void)
{
  bat_insitu* insitu = NULL;
  bat_options* options = NULL;
  CHECK_OK(bat_options_create(&options));
  CHECK_OK(bat_options_set_flush(options, 0));
  CHECK_FAILS(bat_options_set_flush(NULL, 0), BAT_INVALID_ARGUMENT, "NULL");
  CHECK_OK(bat_insitu_open(MPI_COMM_WORLD, in_folder("all_{timestep:02d}.bat"), options, &insitu));
  bat_options_free(options);
  bat_particles* whole = describe(kCount);
  bat_particles* none = describe(0);
  bat_report report;
  int32_t ghosts[2 * kCount];
  for (int i = 0; i < kCount; ++i)
  {
    ghosts[2 * i] = i % 5 == 0;
    ghosts[2 * i + 1] = 1; /* not ours: the stride spans two */
  }
  CHECK_OK(bat_insitu_begin_step(insitu, 3, 1.5, NULL));
  CHECK_OK(bat_insitu_add(insitu, "gas", whole));
  CHECK_OK(bat_insitu_add_without_ghosts(insitu, "gas", whole, BAT_INT32, ghosts, 8));
  CHECK_OK(bat_insitu_add(insitu, "gas", none));
  if (rank + 1 == ranks)
  {
    CHECK_OK(bat_insitu_add(insitu, "stars", whole));
  }
  CHECK_OK(bat_insitu_end_step(insitu, &report));
  CHECK(report.particles == (uint64_t)((kCount + kCount / 5 * 4) * ranks + kCount));
  CHECK(report.skipped == (uint64_t)(kCount / 5 * ranks));
  CHECK(count_of("all_gas_03.bat") == (uint64_t)((kCount + kCount / 5 * 4) * ranks));
  CHECK(count_of("all_stars_03.bat") == kCount);
  CHECK(exists("all_gas.bat.series") && exists("all_stars.bat.series"));
  /* A step without any particles is still a step, with the species seen so far. */
  CHECK_OK(bat_insitu_begin_step(insitu, 4, 2, NULL));
  CHECK_OK(bat_insitu_end_step(insitu, &report));
  CHECK(report.particles == 0);
  CHECK(count_of("all_gas_04.bat") == 0 && count_of("all_stars_04.bat") == 0);
  bat_insitu* empty = open_series("empty");
  CHECK_OK(bat_insitu_begin_step(empty, 0, 0, NULL));
  CHECK_OK(bat_insitu_end_step(empty, &report));
  CHECK(report.particles == 0 && count_of("empty_000000.bat") == 0);
  CHECK(!has_ids("empty_000000.bat"));
  /* The last rank knows which attributes there will be; the next step has them, too. */
  for (int step = 1; step < 3; ++step)
  {
    CHECK_OK(bat_insitu_begin_step(empty, step, step, NULL));
    if (step == 1 && rank + 1 == ranks)
    {
      CHECK_OK(bat_insitu_add(empty, NULL, none));
    }
    CHECK_OK(bat_insitu_end_step(empty, NULL));
  }
  CHECK(has_ids("empty_000001.bat") && has_ids("empty_000002.bat"));
  CHECK(has_ids("all_gas_04.bat") && has_ids("all_stars_04.bat"));
  bat_insitu_close(empty);
  bat_insitu_close(insitu);
  bat_particles_free(whole);
  bat_particles_free(none);
}

/* Resident bytes, from /proc/self/statm; 0 if it cannot be read. */
static uint64_t resident(void)
{
  FILE* file = fopen("/proc/self/statm", "r");
  unsigned long long all = 0;
  unsigned long long pages = 0;
  if (file)
  {
    if (fscanf(file, "%llu %llu", &all, &pages) != 2)
    {
      pages = 0;
    }
    fclose(file);
  }
  return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The memory of a step waits for the next one, or is released: also after the first step with a
 * named species, which changes the file names. */
static void memory_is_kept_as_the_simulation_says(void)
{
  enum
  {
    kMany = 200000
  };
  float* positions = calloc(3 * kMany, sizeof(float));
  for (int i = 0; positions && i < 3 * kMany; ++i)
  {
    positions[i] = (float)(i % 1009) + 1100.0f * (float)rank;
  }
  bat_particles* particles = NULL;
  CHECK_OK(bat_particles_create(kMany, &particles));
  CHECK_OK(bat_particles_set_positions(particles, BAT_FLOAT32, positions, 0));
  bat_insitu* insitu = open_series("memory");
  for (int keep = 0; keep < 2; ++keep)
  {
    CHECK_OK(bat_insitu_keep_memory(insitu, keep ? 1 << 30 : 0));
    CHECK_OK(bat_insitu_begin_step(insitu, keep, keep, NULL));
    CHECK_OK(bat_insitu_add(insitu, "dust", particles));
    CHECK_OK(bat_insitu_end_step(insitu, NULL));
    const uint64_t with = resident();
    CHECK_OK(bat_insitu_keep_memory(insitu, 0));
    const uint64_t without = resident();
    unsigned long long local = with > without ? with - without : 0;
    unsigned long long maximum = 0; /* a rank may aggregate nothing */
    MPI_Allreduce(&local, &maximum, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    if (with != 0)
    {
      CHECK(keep ? maximum > 12 * kMany : maximum < 1 << 20);
    }
  }
  bat_insitu_close(insitu);
  bat_particles_free(particles);
  free(positions);
}

/* An error on any rank fails on all and writes nothing; the next step is written. */
static long bytes_of(const char* name)
{
  long bytes = 0;
  FILE* file = fopen(in_folder(name), "rb");
  CHECK(file != NULL);
  if (file)
  {
    (void)fseek(file, 0, SEEK_END);
    bytes = ftell(file);
    fclose(file);
  }
  return bytes;
}

/* Dust every other step with an index of its ids, ions every third step with tracks, and gas with
 * default settings. */
static void species_have_options_of_their_own(void)
{
  bat_insitu* insitu = open_series("kinds");
  bat_options* options = NULL;
  CHECK_OK(bat_options_create(&options));
  CHECK_OK(bat_options_add_sorted_index(options, "id"));
  CHECK_FAILS(bat_insitu_set_species(insitu, "", 1, NULL, NULL), BAT_INVALID_ARGUMENT, "is empty");
  CHECK_FAILS(bat_insitu_set_species(insitu, "dust", -1, NULL, NULL), BAT_INVALID_ARGUMENT, "-1");
  CHECK_FAILS(
    bat_insitu_set_species(insitu, "dust", 1, NULL, "{\"idz\": 1}"), BAT_INVALID_ARGUMENT, "idz");
  CHECK_OK(bat_insitu_set_species(insitu, "dust", 2, options, ""));
  CHECK_OK(bat_insitu_set_tracks(insitu, "{\"every_id\": 100}", 0, NULL, 0));
  CHECK_OK(bat_insitu_set_species(insitu, "ions", 3, NULL, "{\"every_id\": 1, \"every\": 2}"));
  bat_options_free(options);
  for (int step = 0; step < 5; ++step)
  {
    bat_particles* particles = describe(20);
    int due = 0;
    CHECK_OK(bat_insitu_begin_step(insitu, step, step, &due));
    CHECK(due == 1);
    CHECK_OK(bat_insitu_add(insitu, "dust", particles));
    if (rank == ranks - 1)
    {
      CHECK_OK(bat_insitu_add(insitu, "ions", particles));
    }
    CHECK_OK(bat_insitu_add(insitu, "gas", particles));
    CHECK_OK(bat_insitu_end_step(insitu, NULL));
    bat_particles_free(particles);
  }
  bat_insitu_close(insitu);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int step = 0; rank == 0 && step < 5; ++step)
  {
    char name[64];
    snprintf(name, sizeof(name), "kinds_dust_%06d.bat", step);
    CHECK(exists(name) == (step % 2 == 0));
    snprintf(name, sizeof(name), "kinds_ions_%06d.bat", step);
    CHECK(exists(name) == (step % 3 == 0));
    snprintf(name, sizeof(name), "kinds_gas_%06d.bat", step);
    CHECK(exists(name));
  }
  /* The same particles, apart from the index of 12 bytes each. */
  CHECK(bytes_of("kinds_dust_000002.bat") >= bytes_of("kinds_gas_000002.bat") + 12 * 20 * ranks);
  CHECK(!exists("kinds_dust.tracks.bat"));
  CHECK(exists("kinds_gas.tracks.bat"));
  bat_tracks* tracks = NULL;
  uint64_t samples = 0;
  CHECK_OK(bat_tracks_open(in_folder("kinds_ions.tracks.bat"), &tracks));
  CHECK_OK(bat_tracks_samples(tracks, &samples, NULL, NULL, NULL));
  CHECK(samples == 3);
  bat_tracks_free(tracks);
}

static void errors(void)
{
  bat_insitu* insitu = open_series("bad");
  bat_insitu* refused = (bat_insitu*)1;
  bat_particles* whole = describe(kCount);
  bat_report report;
  const int last = rank + 1 == ranks;
  CHECK_FAILS(
    bat_insitu_open(MPI_COMM_WORLD, "a.vtu", NULL, &refused), BAT_INVALID_ARGUMENT, "'.vtu'");
  CHECK(refused == NULL);
  CHECK_FAILS(
    bat_insitu_open(MPI_COMM_WORLD, NULL, NULL, &refused), BAT_INVALID_ARGUMENT, "path is NULL");
  CHECK_FAILS(bat_insitu_open(MPI_COMM_NULL, "a", NULL, &refused), BAT_INVALID_ARGUMENT, "NULL");
  CHECK_FAILS(bat_insitu_end_step(NULL, NULL), BAT_INVALID_ARGUMENT, "handle is NULL");
  CHECK_FAILS(bat_insitu_set_every(insitu, 0), BAT_INVALID_ARGUMENT, "every is 0 steps");
  CHECK_FAILS(bat_insitu_keep_memory(insitu, -1), BAT_INVALID_ARGUMENT, "-1 bytes");
  CHECK_FAILS(bat_insitu_keep_memory(NULL, 0), BAT_INVALID_ARGUMENT, "handle is NULL");
  CHECK_FAILS(bat_insitu_end_step(insitu, &report), BAT_INVALID_ARGUMENT, "no step was started");
  CHECK_FAILS(bat_insitu_add(insitu, NULL, whole), BAT_INVALID_ARGUMENT, "no step was started");

  CHECK_OK(bat_insitu_begin_step(insitu, 1, 1, NULL));
  CHECK_OK(bat_insitu_add(insitu, NULL, whole));
  if (last)
  {
    CHECK_FAILS(bat_insitu_add(insitu, NULL, NULL), BAT_INVALID_ARGUMENT, "particles is NULL");
  }
  CHECK_FAILS(bat_insitu_end_step(insitu, &report), BAT_INVALID_ARGUMENT, "particles is NULL");
  CHECK(report.particles == 0);

  CHECK_OK(bat_insitu_begin_step(insitu, 2, 1, NULL));
  CHECK_OK(bat_insitu_add(insitu, NULL, whole));
  if (last)
  {
    CHECK_FAILS(
      bat_insitu_add_without_ghosts(insitu, NULL, whole, 77, ids, 0), BAT_INVALID_ARGUMENT, "77");
  }
  CHECK_FAILS(bat_insitu_end_step(insitu, &report), BAT_INVALID_ARGUMENT, "77");

  CHECK_OK(bat_insitu_begin_step(insitu, 2, 1, NULL));
  if (last)
  {
    CHECK_FAILS(bat_insitu_add_without_ghosts(insitu, NULL, whole, BAT_INT64, ids, 4),
      BAT_INVALID_ARGUMENT, "ghosts: the stride is 4 bytes; allowed are at least 8");
  }
  CHECK_FAILS(bat_insitu_end_step(insitu, &report), BAT_INVALID_ARGUMENT, "ghosts: the stride");

  CHECK_OK(bat_insitu_begin_step(insitu, 2, 1, NULL));
  CHECK_OK(bat_insitu_add(insitu, NULL, whole));
  if (last)
  {
    CHECK_FAILS(
      bat_insitu_fail(insitu, BAT_OUT_OF_MEMORY, "no room"), BAT_OUT_OF_MEMORY, "no room");
  }
  CHECK_FAILS(bat_insitu_end_step(insitu, &report), BAT_OUT_OF_MEMORY, "no room");
  CHECK_FAILS(bat_insitu_fail(insitu, BAT_OK, "nothing"), BAT_INVALID_ARGUMENT, "0 is not");
  CHECK_FAILS(bat_insitu_fail(NULL, BAT_CORRUPT, "nothing"), BAT_INVALID_ARGUMENT, "NULL");

  CHECK_OK(bat_insitu_begin_step(insitu, 3, 1, NULL));
  CHECK_OK(last ? bat_insitu_add_without_ghosts(insitu, NULL, whole, BAT_FLOAT64, xyz, 0)
                : bat_insitu_add(insitu, NULL, whole));
  CHECK_FAILS(bat_insitu_end_step(insitu, &report), BAT_INVALID_ARGUMENT, "1 x float64");

  if (ranks > 1)
  {
    CHECK_OK(bat_insitu_begin_step(insitu, 4 + last, 1, NULL));
    CHECK_OK(bat_insitu_add(insitu, NULL, whole));
    CHECK_FAILS(bat_insitu_end_step(insitu, &report), BAT_INVALID_ARGUMENT, "step number");
    bat_insitu* uneven = open_series("uneven");
    CHECK_OK(bat_insitu_set_every(uneven, last ? 2 : 1));
    CHECK_OK(bat_insitu_begin_step(uneven, 0, 1, NULL));
    CHECK_OK(bat_insitu_end_step(uneven, NULL));
    CHECK_OK(bat_insitu_begin_step(uneven, 1, 1, NULL));
    CHECK_FAILS(
      bat_insitu_end_step(uneven, NULL), BAT_INVALID_ARGUMENT, "flag for a requested step");
    bat_insitu_close(uneven);
  }

  CHECK_OK(bat_insitu_begin_step(insitu, 6, 1, NULL));
  CHECK_OK(bat_insitu_add(insitu, NULL, whole));
  CHECK_OK(bat_insitu_end_step(insitu, &report));
  for (int step = 1; step < 6; ++step)
  {
    char name[64];
    snprintf(name, sizeof(name), "bad_%06d.bat", step);
    CHECK(!exists(name));
  }
  CHECK(count_of("bad_000006.bat") == (uint64_t)(kCount * ranks));
  bat_insitu_close(insitu);
  bat_insitu_close(NULL);
  bat_particles_free(whole);
}

int main(int argc, char** argv)
{
  int all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  snprintf(folder, sizeof(folder), "%s/insitu", argc > 1 ? argv[1] : ".");
  make_particles();
  steps_are_written();
  pieces_ghosts_and_species();
  memory_is_kept_as_the_simulation_says();
  species_have_options_of_their_own();
  errors();
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
