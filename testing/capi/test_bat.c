/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests bat/bat.h alone: one process, one file. Argument: a folder to write in. */

#include "check.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

enum
{
  kCount = 5000
};

static char path[4096];

/* Every type, 1 to 9 components, with values that differ in every byte. */
static void every_type_comes_back(void)
{
  static unsigned char values[10][kCount * 9 * 8];
  static double positions[kCount][3];
  static int64_t row[kCount];
  bat_particles* particles = NULL;
  bat_dataset* dataset = NULL;
  bat_selection* selection = NULL;
  bat_report report;
  CHECK_OK(bat_particles_create(kCount, &particles));
  for (int i = 0; i < kCount; ++i)
  {
    row[i] = i;
    for (int c = 0; c < 3; ++c)
    {
      positions[i][c] = (double)rand() / RAND_MAX;
    }
  }
  CHECK_OK(bat_particles_set_positions(particles, BAT_FLOAT64, positions, 0));
  CHECK_OK(bat_particles_set_attribute(particles, "row", BAT_INT64, 1, row, 0));
  for (int type = BAT_INT8; type <= BAT_FLOAT64; ++type)
  {
    const int components = type == BAT_FLOAT64 ? 9 : type;
    char name[32];
    snprintf(name, sizeof(name), "type %d", type);
    for (size_t b = 0; b < sizeof(values[0]); ++b)
    {
      values[type - 1][b] = (unsigned char)(rand() >> 7);
    }
    CHECK_OK(bat_particles_set_attribute(
      particles, name, type, components < 10 ? components : 9, values[type - 1], 0));
  }
  CHECK_OK(bat_particles_set_time(particles, 0.1));
  CHECK_OK(bat_particles_set_step(particles, INT64_MAX));
  CHECK_OK(bat_particles_set_metadata(particles, "{\"run\":\"a\"}"));
  CHECK_OK(bat_write(path, particles, NULL, &report));
  CHECK(report.particles == kCount && report.leaf_files == 1 && report.ranks == 1);
  CHECK(report.file_bytes > report.data_bytes && report.data_bytes > 0);
  CHECK(report.seconds_total > 0);
  char json[2048];
  CHECK_OK(bat_report_json(&report, json, sizeof(json)));
  CHECK(strstr(json, "\"particles\":5000,") && strstr(json, "\"seconds\":{\"check\":"));
  CHECK_FAILS(bat_report_json(&report, json, 10), BAT_INVALID_ARGUMENT, "10");
  bat_particles_free(particles);

  uint64_t count = 0;
  int type = 0;
  int components = 0;
  int attributes = 0;
  int has = 0;
  double time = 0;
  int64_t step = 0;
  double box[6];
  const char* text = NULL;
  CHECK_OK(bat_open(path, &dataset));
  CHECK_OK(bat_dataset_count(dataset, &count));
  CHECK(count == kCount);
  CHECK_OK(bat_dataset_position_type(dataset, &type));
  CHECK(type == BAT_FLOAT64);
  CHECK_OK(bat_dataset_bounds(dataset, box));
  CHECK(box[0] >= 0 && box[0] < 0.01 && box[5] > 0.99 && box[5] <= 1);
  CHECK_OK(bat_dataset_time(dataset, &has, &time));
  CHECK(has == 1 && time == 0.1);
  CHECK_OK(bat_dataset_step(dataset, &has, &step));
  CHECK(has == 1 && step == INT64_MAX);
  CHECK_OK(bat_dataset_stable_sample(dataset, 0, &text));
  CHECK(text == NULL);
  CHECK_OK(bat_dataset_metadata(dataset, &text));
  CHECK(strstr(text, "\"run\":\"a\""));
  CHECK_OK(bat_dataset_hdf5_view(dataset, &text));
  CHECK(strstr(text, "\"exists\":true"));
  CHECK_OK(bat_dataset_leaf_files(dataset, &count));
  CHECK(count == 1);
  CHECK_OK(bat_dataset_file_bytes(dataset, &count));
  CHECK(count == report.file_bytes);
  CHECK_OK(bat_dataset_attribute_count(dataset, &attributes));
  CHECK(attributes == 11);

  CHECK_OK(bat_select(dataset, NULL, &selection));
  CHECK_OK(bat_selection_count(selection, &count));
  CHECK(count == kCount);
  static int64_t rows[kCount];
  static double read_positions[kCount][3];
  CHECK_OK(bat_read_attribute(dataset, "row", selection, rows, sizeof(rows)));
  CHECK_OK(bat_read_positions(dataset, selection, read_positions, sizeof(read_positions)));
  for (int i = 0; i < kCount; ++i)
  {
    CHECK(memcmp(read_positions[i], positions[rows[i]], sizeof(positions[0])) == 0);
  }
  for (int a = 0; a < attributes; ++a)
  {
    static unsigned char read[kCount * 9 * 8];
    CHECK_OK(bat_dataset_attribute(dataset, a, &text, &type, &components));
    CHECK_OK(bat_read_attribute(dataset, text, selection, read, sizeof(read)));
    if (strcmp(text, "row") == 0)
    {
      continue;
    }
    const size_t tuple = bat_type_size(type) * (size_t)components;
    int wrong = 0;
    for (int i = 0; i < kCount; ++i)
    {
      wrong +=
        memcmp(read + (size_t)i * tuple, values[type - 1] + (size_t)rows[i] * tuple, tuple) != 0;
    }
    CHECK(wrong == 0);
  }
  bat_selection_free(selection);
  bat_close(dataset);
}

struct particle
{
  float x, y, z;
  int64_t id;
  double velocity[3];
  char padding[5];
};

/* Positions, ids and velocities inside structs; one attribute as three arrays. */
static void strided_and_separate_arrays_come_back(void)
{
  static struct particle input[kCount];
  static float u[kCount], v[kCount], w[kCount];
  static float x[kCount][2], y[kCount][2], z[kCount][2];
  const int64_t beyond = (INT64_C(1) << 53) + 1;
  for (int i = 0; i < kCount; ++i)
  {
    input[i].x = x[i][0] = (float)(i % 17);
    input[i].y = y[i][0] = (float)(i % 23);
    input[i].z = z[i][0] = (float)i;
    input[i].id = beyond + i;
    u[i] = (float)i;
    v[i] = (float)-i;
    w[i] = 0.5F * (float)i;
    for (int c = 0; c < 3; ++c)
    {
      input[i].velocity[c] = i + 0.1 * c;
    }
  }
  for (int separate = 0; separate < 2; ++separate)
  {
    bat_particles* particles = NULL;
    bat_options* options = NULL;
    bat_dataset* dataset = NULL;
    bat_query* query = NULL;
    bat_selection* selection = NULL;
    const void* const uvw[] = { u, v, w };
    CHECK_OK(bat_particles_create(kCount, &particles));
    CHECK_OK(separate
        ? bat_particles_set_positions_separate(particles, BAT_FLOAT32, x, y, z, sizeof(x[0]))
        : bat_particles_set_positions(particles, BAT_FLOAT32, &input[0].x, sizeof(input[0])));
    /* The second call replaces the first. */
    CHECK_OK(bat_particles_set_attribute(particles, "id", BAT_FLOAT32, 1, u, 0));
    CHECK_OK(
      bat_particles_set_attribute(particles, "id", BAT_INT64, 1, &input[0].id, sizeof(input[0])));
    CHECK_OK(bat_particles_set_attribute(
      particles, "velocity", BAT_FLOAT64, 3, input[0].velocity, sizeof(input[0])));
    CHECK_OK(bat_particles_set_attribute_separate(particles, "uvw", BAT_FLOAT32, 3, uvw, 0));
    CHECK_OK(bat_options_create(&options));
    CHECK_OK(bat_options_set_threads(options, 1));
    CHECK_OK(bat_options_add_sorted_index(options, "nothing"));
    CHECK_FAILS(bat_write(path, particles, options, NULL), BAT_INVALID_ARGUMENT, "nothing");
    bat_options_free(options);
    CHECK_OK(bat_options_create(&options));
    CHECK_OK(bat_options_set_threads(options, 1));
    CHECK_OK(bat_options_add_sorted_index(options, "id"));
    CHECK_OK(bat_options_add_sorted_index(options, "uvw[2]"));
    CHECK_FAILS(bat_options_add_sorted_index(options, NULL), BAT_INVALID_ARGUMENT, "name is NULL");
    CHECK_FAILS(bat_options_set_repeats(options, 3, 0), BAT_INVALID_ARGUMENT,
      "repeats is 3; one of 0 (store), 1 (link), 2 (leave_out) is allowed");
    CHECK_OK(bat_options_set_repeats(options, BAT_REPEATS_LINK, 0));
    CHECK_OK(bat_particles_set_attribute(
      particles, "vy", BAT_FLOAT64, 1, &input[0].velocity[1], sizeof(input[0])));
    CHECK_OK(bat_write(path, particles, options, NULL));
    bat_options_free(options);
    bat_particles_free(particles);

    CHECK_OK(bat_open_mapped(path, &dataset));
    const void* mapped = NULL;
    uint64_t mapped_count = 0;
    CHECK_FAILS(bat_map_attribute(dataset, "vy", 0, 1, &mapped, &mapped_count),
      BAT_INVALID_ARGUMENT, "'vy' is velocity[1] and not stored in a column of its own");
    bat_close(dataset);
    CHECK_OK(bat_open(path, &dataset));
    int index = -1;
    int64_t minimum = 0;
    int64_t maximum = 0;
    CHECK_OK(bat_dataset_attribute_index(dataset, "id", &index));
    CHECK_OK(bat_dataset_attribute_range_int64(dataset, index, BAT_WHOLE, &minimum, &maximum));
    CHECK(minimum == beyond && maximum == beyond + kCount - 1);
    CHECK_OK(bat_query_create(&query));
    /* As doubles, beyond + 1 and beyond + 2 are the same number. */
    CHECK_OK(bat_query_add_range_int64(query, "id", BAT_WHOLE, beyond + 1, beyond + 1));
    CHECK_OK(bat_select(dataset, query, &selection));
    uint64_t count = 0;
    int64_t id = 0;
    float position[3];
    double velocity[3];
    CHECK_OK(bat_selection_count(selection, &count));
    CHECK(count == 1);
    CHECK_OK(bat_read_attribute(dataset, "id", selection, &id, sizeof(id)));
    CHECK(id == beyond + 1);
    CHECK_OK(bat_read_positions(dataset, selection, position, sizeof(position)));
    CHECK(memcmp(position, &input[1].x, sizeof(position)) == 0);
    CHECK_OK(bat_read_attribute(dataset, "velocity", selection, velocity, sizeof(velocity)));
    CHECK(memcmp(velocity, input[1].velocity, sizeof(velocity)) == 0);
    CHECK_OK(bat_read_attribute(dataset, "uvw", selection, position, sizeof(position)));
    CHECK(position[0] == 1 && position[1] == -1 && position[2] == 0.5F);
    bat_selection_free(selection);
    bat_query_free(query);

    /* Ids in any order, with repetitions, of any type; absent ids match nothing. */
    const int64_t expected[] = { beyond + 3, beyond - 1, beyond + 1, beyond + 3, INT64_MIN };
    const double as_doubles[] = { (double)(beyond + 1), 0.5 };
    int64_t ids[2];
    for (int doubles = 0; doubles < 2; ++doubles)
    {
      CHECK_OK(bat_query_create(&query));
      CHECK_OK(doubles ? bat_query_add_values(query, "id", 0, BAT_FLOAT64, as_doubles, 2)
                       : bat_query_add_values(query, "id", BAT_WHOLE, BAT_INT64, expected, 5));
      CHECK_OK(bat_select(dataset, query, &selection));
      CHECK_OK(bat_selection_count(selection, &count));
      CHECK(count == (doubles ? 1 : 2));
      CHECK_OK(bat_read_attribute(dataset, "id", selection, ids, sizeof(ids)));
      CHECK(doubles ? ids[0] == beyond + 1 : ids[0] + ids[1] == 2 * beyond + 4);
      bat_selection_free(selection);
      CHECK_OK(bat_query_add_values(query, "uvw", 2, BAT_UINT8, NULL, 0));
      CHECK_OK(bat_select(dataset, query, &selection));
      CHECK_OK(bat_selection_count(selection, &count));
      CHECK(count == 0);
      bat_selection_free(selection);
      bat_query_free(query);
    }

    /* The particles inside a shape and those outside of it add up to all; likewise a set and its
     * complement. */
    uint64_t combined[4] = { 0, 0, 0, 0 };
    for (int outside = 0; outside < 2; ++outside)
    {
      const double place[3] = { 0, 0, 100 };
      const double axes[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
      const double half[3] = { 1e6, 1e6, 20.5 };
      const int64_t one[1] = { beyond + 1 };
      const int64_t ends[4] = { beyond + 3, beyond + 5, beyond + 4, beyond + 8 };
      for (int form = 0; form < 4; ++form)
      {
        CHECK_OK(bat_query_create(&query));
        CHECK_OK(form == 0 ? bat_query_add_sphere(query, place, 50, outside)
            : form == 1    ? bat_query_add_slab(query, axes + 6, 90, 110, outside)
            : form == 2
            ? bat_query_add_oriented_box(query, place, axes, half, outside)
            : bat_query_add_set(query, "id", BAT_WHOLE, BAT_INT64, one, 1, ends, 2, outside));
        CHECK_OK(bat_select(dataset, query, &selection));
        CHECK_OK(bat_selection_count(selection, &count));
        CHECK(count > 0 && count < kCount);
        combined[form] += count;
        bat_selection_free(selection);
        bat_query_free(query);
      }
    }
    for (int form = 0; form < 4; ++form)
    {
      CHECK(combined[form] == kCount);
    }
    CHECK_OK(bat_query_create(&query));
    CHECK_FAILS(bat_query_add_sphere(query, NULL, 1, 0), BAT_INVALID_ARGUMENT, "center");
    CHECK_FAILS(bat_select(dataset, query, &selection), BAT_INVALID_ARGUMENT, "center");
    bat_query_free(query);
    const double nowhere[3] = { 0, 0, 0 };
    CHECK_OK(bat_query_create(&query));
    CHECK_FAILS(bat_query_add_slab(query, nowhere, 0, 1, 2), BAT_INVALID_ARGUMENT, "outside is 2");
    bat_query_free(query);
    CHECK_OK(bat_query_create(&query));
    CHECK_OK(bat_query_add_slab(query, nowhere, 0, 1, 0));
    CHECK_FAILS(
      bat_select(dataset, query, &selection), BAT_INVALID_ARGUMENT, "the normal of the slab");
    bat_query_free(query);

    /* Half-open boxes of a tiling contain each particle once; closed ones share a face. */
    uint64_t closed = 0;
    uint64_t half_open = 0;
    for (int tile = 0; tile < 2; ++tile)
    {
      const double box[6] = { -INFINITY, -INFINITY, tile ? 100 : -INFINITY, INFINITY, INFINITY,
        tile ? INFINITY : 100 };
      CHECK_OK(bat_query_create(&query));
      CHECK_OK(bat_query_set_box(query, box));
      CHECK_OK(bat_select(dataset, query, &selection));
      CHECK_OK(bat_selection_count(selection, &count));
      closed += count;
      bat_selection_free(selection);
      CHECK_OK(bat_query_set_box_half_open(query, box));
      CHECK_OK(bat_select(dataset, query, &selection));
      CHECK_OK(bat_selection_count(selection, &count));
      half_open += count;
      bat_selection_free(selection);
      bat_query_free(query);
    }
    CHECK(closed == kCount + 1);
    CHECK(half_open == kCount);

    /* Two ranges and a component; then quality, step by step. */
    CHECK_OK(bat_query_create(&query));
    CHECK_OK(bat_query_add_range(query, "uvw", 1, -20, -10));
    CHECK_OK(bat_query_add_range(query, "uvw", 0, 15, 30));
    CHECK_OK(bat_query_set_threads(query, 1));
    CHECK_OK(bat_select(dataset, query, &selection));
    CHECK_OK(bat_selection_count(selection, &count));
    CHECK(count == 6);
    bat_selection_free(selection);
    bat_query_free(query);
    CHECK_OK(bat_query_create(&query));
    CHECK_OK(bat_query_set_quality(query, 0.5, 0.25));
    CHECK_OK(bat_query_set_part(query, 0, 1));
    CHECK_OK(bat_select(dataset, query, &selection));
    CHECK_OK(bat_selection_count(selection, &count));
    CHECK(count == kCount / 4);
    bat_selection_free(selection);
    bat_query_free(query);
    bat_close(dataset);
  }
}

/* Reads the file at `path`. */
static void columns_are_there_without_a_copy(void)
{
  bat_dataset* dataset = NULL;
  bat_dataset* copied = NULL;
  bat_selection* selection = NULL;
  const void* values = NULL;
  const void* coarse = NULL;
  uint64_t count = 0;
  uint64_t few = 0;
  static int64_t ids[kCount];
  static float positions[3 * kCount];
  CHECK_OK(bat_open_mapped(path, &dataset));
  CHECK_OK(bat_open(path, &copied));
  CHECK_OK(bat_select(copied, NULL, &selection));
  CHECK_OK(bat_read_attribute(copied, "id", selection, ids, sizeof(ids)));
  CHECK_OK(bat_read_positions(copied, selection, positions, sizeof(positions)));
  bat_selection_free(selection);
  CHECK_OK(bat_map_attribute(dataset, "id", 0, 1.0, &values, &count));
  CHECK(count == kCount && memcmp(values, ids, sizeof(ids)) == 0);
  CHECK_OK(bat_map_attribute(dataset, "id", 0, 0.5, &coarse, &few));
  CHECK(few == kCount / 2 && coarse == values);
  CHECK_OK(bat_map_positions(dataset, 0, 1.0, &values, &count));
  CHECK(count == kCount && memcmp(values, positions, sizeof(positions)) == 0);

  CHECK_FAILS(bat_map_positions(copied, 0, 1.0, &values, &count), BAT_INVALID_ARGUMENT, "map");
  CHECK(values == NULL && count == 0);
  CHECK_FAILS(
    bat_map_positions(dataset, 1, 1.0, &values, &count), BAT_INVALID_ARGUMENT, "number 1");
  CHECK_FAILS(bat_map_positions(dataset, 0, 1.5, &values, &count), BAT_INVALID_ARGUMENT, "quality");
  CHECK_FAILS(
    bat_map_attribute(dataset, "b", 0, 1.0, &values, &count), BAT_INVALID_ARGUMENT, "'b'");
  CHECK(values == NULL && count == 0);
  CHECK_FAILS(bat_map_attribute(dataset, NULL, 0, 1.0, &values, &count), BAT_INVALID_ARGUMENT,
    "name is NULL");
  CHECK_FAILS(
    bat_map_positions(dataset, 0, 1.0, NULL, &count), BAT_INVALID_ARGUMENT, "result pointer");
  bat_close(copied);
  CHECK_FAILS(bat_open_mapped("/nowhere/a.bat", &copied), BAT_NOT_FOUND, "/nowhere/a.bat");
  CHECK(copied == NULL);
  bat_close(dataset);
}

/* The value that a negative number has when it is passed as unsigned. */
static uint64_t as_unsigned(int64_t number)
{
  return (uint64_t)number;
}

/* The same particles twice, as two pieces. */
static void columns_that_are_missing_without_particles_are_empty(void)
{
  bat_particles* particles = NULL;
  bat_dataset* dataset = NULL;
  bat_selection* selection = NULL;
  const float none[3] = { 0, 0, 0 };
  float value = 1;
  CHECK_OK(bat_particles_create(0, &particles));
  CHECK_OK(bat_particles_set_positions(particles, BAT_FLOAT32, none, 0));
  CHECK_OK(bat_write(path, particles, NULL, NULL));
  bat_particles_free(particles);
  CHECK_OK(bat_open(path, &dataset));
  CHECK_OK(bat_select(dataset, NULL, &selection));
  CHECK_OK(bat_read_attribute(dataset, "later", selection, &value, sizeof(value)));
  CHECK_OK(bat_read_attribute_as(dataset, "later", BAT_FLOAT32, selection, &value, sizeof(value)));
  CHECK(value == 1);
  bat_selection_free(selection);
  bat_close(dataset);
}

static void pieces_become_a_dataset(void)
{
  const double xyz[] = { 0, 0, 0, 1, 1, 1 };
  const int64_t ids[] = { 7, 8 };
  bat_particles* particles = NULL;
  bat_piece_writer* writer = NULL;
  bat_report report = { 0 };
  CHECK_FAILS(bat_piece_writer_create(path, NULL, 1000, &writer), BAT_INVALID_ARGUMENT,
    "memory_bytes is 1000;");
  CHECK(writer == NULL);
  CHECK_FAILS(bat_piece_writer_add(NULL, particles), BAT_INVALID_ARGUMENT, "NULL");
  CHECK_OK(bat_piece_writer_create(path, NULL, 0, &writer));
  CHECK_OK(bat_particles_create(2, &particles));
  CHECK_OK(bat_particles_set_positions(particles, BAT_FLOAT64, xyz, 24));
  CHECK_OK(bat_particles_set_attribute(particles, "id", BAT_INT64, 1, ids, 0));
  CHECK_OK(bat_piece_writer_add(writer, particles));
  CHECK_OK(bat_piece_writer_add(writer, particles));
  CHECK_OK(bat_piece_writer_finish(writer, &report));
  CHECK(report.particles == 4 && report.leaf_files == 1 && report.data_bytes == 4 * 32);
  CHECK_FAILS(bat_piece_writer_finish(writer, &report), BAT_INVALID_ARGUMENT, "after an error");
  bat_piece_writer_free(writer);

  /* A writer that has lost a piece in any way does not finish. */
  for (int way = 0; way != 3; ++way)
  {
    CHECK_OK(bat_piece_writer_create(path, NULL, 0, &writer));
    CHECK_OK(bat_piece_writer_add(writer, particles));
    if (way == 0)
    {
      CHECK_FAILS(bat_piece_writer_add(writer, NULL), BAT_INVALID_ARGUMENT, "NULL");
    }
    else if (way == 1)
    {
      CHECK_OK(bat_piece_writer_fail(writer, "the rows of NULL cannot be read"));
    }
    else
    {
      CHECK_FAILS(
        bat_particles_set_attribute(particles, "NULL", 77, 1, ids, 0), BAT_INVALID_ARGUMENT, "77");
      CHECK_FAILS(bat_piece_writer_add(writer, particles), BAT_INVALID_ARGUMENT, "77");
    }
    CHECK_FAILS(bat_piece_writer_finish(writer, &report), BAT_INVALID_ARGUMENT,
      way == 2 ? "piece 1 was rejected (unknown value type 77" : "piece 1 was rejected (");
    bat_piece_writer_free(writer);
  }
  bat_particles_free(particles);
}

/* An invalid attribute name is rejected and leaves the particles unchanged. */
static void names_that_cannot_be_change_nothing(void)
{
  const char* const bad[] = { "", "\xff\xfe" };
  const double xyz[] = { 0, 0, 0, 1, 1, 1 };
  const int64_t ids[] = { 7, 8 };
  const void* const parts[] = { ids };
  bat_particles* particles = NULL;
  bat_dataset* dataset = NULL;
  int attributes = 0;
  CHECK_OK(bat_particles_create(2, &particles));
  CHECK_OK(bat_particles_set_attribute(particles, "id", BAT_INT64, 1, ids, 0));
  /* A rejected array of positions stays rejected. */
  CHECK_FAILS(bat_particles_set_positions(particles, BAT_INT8, xyz, 0), BAT_INVALID_ARGUMENT,
    "position type int8");
  for (int i = 0; i != 2; ++i)
  {
    CHECK_FAILS(bat_particles_set_attribute(particles, bad[i], BAT_INT64, 1, ids, 0),
      BAT_INVALID_ARGUMENT, "a name must have 1 to 65535 bytes of UTF-8");
    CHECK_FAILS(bat_particles_set_attribute_separate(particles, bad[i], BAT_INT64, 1, parts, 0),
      BAT_INVALID_ARGUMENT, "a name must have 1 to 65535 bytes of UTF-8");
  }
  CHECK_FAILS(bat_write(path, particles, NULL, NULL), BAT_INVALID_ARGUMENT, "position type int8;");
  CHECK_OK(bat_particles_set_positions(particles, BAT_FLOAT64, xyz, 0));
  CHECK_FAILS(bat_particles_set_attribute(particles, "", BAT_INT64, 1, ids, 0),
    BAT_INVALID_ARGUMENT, "a name must have 1 to 65535 bytes of UTF-8");
  CHECK_OK(bat_write(path, particles, NULL, NULL));
  CHECK_OK(bat_open(path, &dataset));
  CHECK_OK(bat_dataset_attribute_count(dataset, &attributes));
  CHECK(attributes == 1);
  bat_close(dataset);
  bat_particles_free(particles);
}

static void* closes(void* dataset)
{
  bat_close(dataset);
  return NULL;
}

/* Another thread closes the dataset while this one is in a call. */
static int closes_beside(void* data, double done)
{
  bat_dataset** const dataset = data;
  pthread_t thread;
  (void)done;
  if (*dataset)
  {
    CHECK(pthread_create(&thread, NULL, closes, *dataset) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    *dataset = NULL;
  }
  return 0;
}

static void a_dataset_that_is_closed_during_a_read_is_read(void)
{
  enum
  {
    N = 20000
  };
  float* const xyz = malloc(3 * N * sizeof(float));
  float* const found = malloc(3 * N * sizeof(float));
  double sum = 0;
  bat_particles* particles = NULL;
  bat_query* query = NULL;
  bat_selection* selection = NULL;
  bat_dataset* dataset = NULL;
  for (int i = 0; i != 3 * N; ++i)
  {
    xyz[i] = (float)(i % 1000);
    sum += xyz[i];
  }
  CHECK_OK(bat_particles_create(N, &particles));
  CHECK_OK(bat_particles_set_positions(particles, BAT_FLOAT32, xyz, 0));
  CHECK_OK(bat_write(path, particles, NULL, NULL));
  CHECK_OK(bat_open(path, &dataset));
  bat_dataset* const own = dataset;
  CHECK_OK(bat_query_create(&query));
  CHECK_OK(bat_query_set_progress(query, closes_beside, &dataset));
  CHECK_OK(bat_select(own, query, &selection));
  CHECK_OK(bat_read_positions(own, selection, found, 3 * N * sizeof(float)));
  CHECK(dataset == NULL);
  for (int i = 0; i != 3 * N; ++i)
  {
    sum -= found[i];
  }
  CHECK(sum == 0);
  bat_selection_free(selection);
  bat_query_free(query);
  bat_particles_free(particles);
  free(xyz);
  free(found);
}

/* The text of an error contains the number that was passed, not a truncated one. */
static void numbers_are_looked_at_as_they_were_passed(void)
{
  static const double xyz[2][3] = { { 0, 0, 0 }, { 1, 1, 1 } };
  const int64_t beyond = (INT64_C(1) << 32) + 1; /* 1 in 32 bits */
  const void* const three[] = { xyz, xyz, xyz };
  bat_particles* particles = NULL;
  bat_repack_report repacked = { 0 };
  bat_options* options = NULL;
  bat_query* query = NULL;
  bat_dataset* dataset = NULL;
  bat_selection* selection = NULL;
  const void* values = NULL;
  double ends[2];
  uint64_t count = 0;
  CHECK_FAILS(bat_particles_create(as_unsigned(-1), &particles), BAT_INVALID_ARGUMENT, "is -1;");
  CHECK(particles == NULL);
  CHECK_OK(bat_particles_create(2, &particles));
  CHECK_FAILS(bat_particles_set_positions(particles, BAT_FLOAT64, xyz, 16), BAT_INVALID_ARGUMENT,
    "positions: the stride is 16 bytes; allowed are at least 24");
  CHECK_FAILS(bat_particles_set_positions(particles, BAT_FLOAT64, xyz, as_unsigned(-24)),
    BAT_INVALID_ARGUMENT, "stride is -24;");
  CHECK_FAILS(bat_particles_set_positions_separate(particles, BAT_FLOAT64, xyz, xyz, xyz, 4),
    BAT_INVALID_ARGUMENT, "stride is 4 bytes; allowed are at least 8");
  CHECK_OK(bat_particles_set_positions(particles, BAT_FLOAT64, xyz, 24));
  CHECK_FAILS(bat_particles_set_attribute(particles, "v", BAT_FLOAT64, 2, xyz, 8),
    BAT_INVALID_ARGUMENT, "'v': the stride is 8 bytes; allowed are at least 16");
  CHECK_FAILS(bat_particles_set_attribute_separate(particles, "v", BAT_FLOAT64, 3, three, 4),
    BAT_INVALID_ARGUMENT, "'v': the stride is 4 bytes; allowed are at least 8");
  CHECK_FAILS(bat_particles_set_attribute(particles, "v", BAT_FLOAT64, beyond, xyz, 0),
    BAT_INVALID_ARGUMENT, "'v': 4294967297 components");
  CHECK_FAILS(bat_particles_set_attribute_separate(particles, "v", BAT_FLOAT64, beyond, three, 0),
    BAT_INVALID_ARGUMENT, "4294967297 components");
  CHECK_FAILS(
    bat_write(path, particles, NULL, NULL), BAT_INVALID_ARGUMENT, "4294967297 components");
  CHECK_OK(bat_particles_set_attribute(particles, "v", BAT_FLOAT64, 3, xyz, 0));
  CHECK_FAILS(bat_particles_set_positions_separate(particles, BAT_INT64, xyz, xyz, xyz, 24),
    BAT_INVALID_ARGUMENT, "position type int64");
  CHECK_FAILS(bat_write(path, particles, NULL, NULL), BAT_INVALID_ARGUMENT, "position type int64;");
  CHECK_OK(bat_particles_set_positions(particles, BAT_FLOAT64, xyz, 0));

  CHECK_OK(bat_options_create(&options));
  CHECK_FAILS(
    bat_options_set_target_bytes(options, as_unsigned(-1)), BAT_INVALID_ARGUMENT, "is -1;");
  CHECK_FAILS(bat_options_set_threads(options, beyond), BAT_INVALID_ARGUMENT, "is 4294967297;");
  CHECK_FAILS(bat_options_set_threads(options, -1), BAT_INVALID_ARGUMENT, "threads is -1;");
  CHECK_OK(bat_options_set_threads(options, 10000));
  CHECK_FAILS(bat_options_set_mode(options, 256), BAT_INVALID_ARGUMENT, "mode is 256; one of 0 (");
  CHECK_FAILS(bat_options_set_split_limits(options, 2, 0.5), BAT_INVALID_ARGUMENT,
    "max_overfull_factor is 0.5; a number from 1 on is allowed");

  /* By name: the same options, and those without a function. */
  CHECK_FAILS(bat_options_set_integer(options, "treads", 1), BAT_INVALID_ARGUMENT,
    "unknown write option treads; did you mean 'threads'? Available: target_bytes, ");
  CHECK_FAILS(
    bat_options_set_text(options, "treads", ""), BAT_INVALID_ARGUMENT, "unknown write option");
  CHECK_FAILS(bat_options_set_integer(options, NULL, 1), BAT_INVALID_ARGUMENT, "name is NULL");
  CHECK_FAILS(bat_options_set_text(options, "mode", NULL), BAT_INVALID_ARGUMENT, "is NULL");
  CHECK_FAILS(bat_options_set_integer(NULL, "flush", 1), BAT_INVALID_ARGUMENT, "options is NULL");
  CHECK_FAILS(bat_options_set_integer(options, "threads", -1), BAT_INVALID_ARGUMENT,
    "threads is -1; a whole number from 0 to 2147483647 is allowed");
  CHECK_FAILS(bat_options_set_real(options, "index_budget", 0), BAT_INVALID_ARGUMENT,
    "index_budget is 0; a number above 0 to 1 is allowed");
  CHECK_FAILS(bat_options_set_text(options, "mode", "best"), BAT_INVALID_ARGUMENT,
    "mode is \"best\"; one of adaptive, rank_border, aug is allowed");
  CHECK_OK(bat_options_set_text(options, "mode", "aug"));
  CHECK_OK(bat_options_set_real(options, "index_budget", 0.5));
  CHECK_OK(bat_options_set_integer(options, "treelet_particles", 256));
  CHECK(strstr(bat_options_table(),
    "{\"name\":\"mode\",\"type\":\"word\",\"default\":\"adaptive\","
    "\"allowed\":\"one of adaptive, rank_border, aug\"}"));
  CHECK_OK(bat_options_set_text(options, "sorted_indexes", "v"));
  CHECK_OK(bat_options_set_text(options, "sorted_indexes", "w"));
  CHECK_FAILS(bat_write(path, particles, options, NULL), BAT_INVALID_ARGUMENT, "'w'");
  bat_options_free(options);
  CHECK_OK(bat_options_create(&options));
  CHECK_OK(bat_options_set_threads(options, 10000));
  CHECK_OK(bat_options_set_text(options, "sorted_indexes", "v"));
  CHECK_OK(bat_write(path, particles, options, NULL));
  bat_options_free(options);
  bat_particles_free(particles);

  /* Writes again, in place. */
  CHECK_OK(bat_options_create(&options));
  CHECK_OK(bat_options_set_text(options, "compression", "lossless"));
  CHECK_OK(bat_options_set_list(options, "sorted_indexes", 0, NULL));
  CHECK_FAILS(bat_options_set_list(options, "sorted_indexes", 1, NULL), BAT_INVALID_ARGUMENT,
    "list of strings is NULL");
  CHECK_FAILS(bat_options_set_list(options, "mode", 0, NULL), BAT_INVALID_ARGUMENT, "mode is [];");
  CHECK_OK(bat_options_set_text(options, "stable_samples", "v"));
  CHECK_FAILS(bat_repack(path, path, options, &repacked), BAT_INVALID_ARGUMENT,
    "stable samples of 'v': its type is float64; only integer attributes are allowed");
  CHECK_OK(bat_options_set_list(options, "stable_samples", 0, NULL));
  CHECK_OK(bat_repack(path, path, options, &repacked));
  CHECK(repacked.particles != 0 && repacked.datasets == 1 && repacked.leaf_files == 1);
  CHECK(repacked.bytes_before != repacked.bytes_after && repacked.bytes_after != 0);
  CHECK_OK(bat_options_set_target_bytes(options, 1));
  CHECK_FAILS(bat_repack(path, path, options, &repacked), BAT_INVALID_ARGUMENT,
    "target_bytes of an existing dataset cannot be changed");
  CHECK(repacked.particles == 0);
  CHECK_FAILS(bat_repack(path, NULL, NULL, NULL), BAT_INVALID_ARGUMENT, "is NULL");
  bat_options_free(options);

  CHECK_OK(bat_open_mapped(path, &dataset));
  CHECK_FAILS(bat_dataset_attribute(dataset, beyond - 1, NULL, NULL, NULL), BAT_INVALID_ARGUMENT,
    "4294967296");
  CHECK_FAILS(bat_dataset_attribute_range(dataset, 0, beyond, ends, ends + 1), BAT_INVALID_ARGUMENT,
    "component 4294967297");
  CHECK_FAILS(bat_map_positions(dataset, as_unsigned(-1), 1, &values, &count), BAT_INVALID_ARGUMENT,
    "the leaf file number is -1;");
  CHECK_OK(bat_query_create(&query));
  CHECK_FAILS(
    bat_query_add_range(query, "v", beyond, 0, 1), BAT_INVALID_ARGUMENT, "is 4294967297;");
  CHECK_FAILS(bat_query_add_range_int64(query, "v", -2, 0, 1), BAT_INVALID_ARGUMENT, "is -2;");
  CHECK_FAILS(bat_query_add_values(query, "v", beyond, BAT_FLOAT64, xyz, 1), BAT_INVALID_ARGUMENT,
    "is 4294967297;");
  CHECK_FAILS(bat_query_add_values(query, "v", 0, BAT_FLOAT64, xyz, as_unsigned(-3)),
    BAT_INVALID_ARGUMENT, "the value count is -3;");
  /* Fails if conditions that the program meant to set are not in effect. */
  CHECK_FAILS(bat_select(dataset, query, &selection), BAT_INVALID_ARGUMENT, "is 4294967297;");
  bat_query_free(query);
  CHECK_OK(bat_query_create(&query));
  CHECK_FAILS(bat_query_set_threads(query, beyond), BAT_INVALID_ARGUMENT, "is 4294967297;");
  CHECK_OK(bat_query_set_threads(query, 10000));
  CHECK_FAILS(
    bat_query_set_part(query, 1, beyond + 1), BAT_INVALID_ARGUMENT, "part 1 of 4294967298;");
  CHECK_FAILS(
    bat_select(dataset, query, &selection), BAT_INVALID_ARGUMENT, "part 1 of 4294967298;");
  CHECK_FAILS(bat_query_set_part(query, -1, 3), BAT_INVALID_ARGUMENT, "part -1 of 3;");
  CHECK_FAILS(bat_select(dataset, query, &selection), BAT_INVALID_ARGUMENT, "part -1 of 3;");
  CHECK_OK(bat_query_set_part(query, 0, 1));
  CHECK_OK(bat_select(dataset, query, &selection));
  CHECK_OK(bat_selection_count(selection, &count));
  CHECK(count == 2);
  double positions[6];
  CHECK_FAILS(bat_read_positions(dataset, selection, positions, (size_t)as_unsigned(-1)),
    BAT_INVALID_ARGUMENT, "is -1;");
  CHECK_OK(bat_read_positions(dataset, selection, positions, sizeof(positions)));
  bat_selection_free(selection);
  bat_query_free(query);
  bat_close(dataset);
}

static uint64_t count_between(const bat_dataset* dataset, const char* name, int lower_type,
  const void* lower, int upper_type, const void* upper)
{
  bat_query* query = NULL;
  bat_selection* selection = NULL;
  uint64_t count = 0;
  CHECK_OK(bat_query_create(&query));
  CHECK_OK(bat_query_add_range_mixed(query, name, BAT_WHOLE, lower_type, lower, upper_type, upper));
  CHECK_OK(bat_select(dataset, query, &selection));
  CHECK_OK(bat_selection_count(selection, &count));
  bat_selection_free(selection);
  bat_query_free(query);
  return count;
}

/* Numbers to which doubles have no close neighbour, queried and read exactly. */
static void integers_are_exact(void)
{
  const int64_t odd = (INT64_C(1) << 53) + 1;
  const int64_t ids[4] = { INT64_MIN, -odd, odd - 1, odd };
  const uint64_t large[4] = { 0, (uint64_t)odd, UINT64_C(1) << 63, UINT64_MAX };
  const uint8_t small[4] = { 0, 127, 128, 255 };
  const float real[4] = { -0.5F, 0, 1, INFINITY };
  const double xyz[12] = { 0 };
  const double inf = INFINITY;
  const double past_odd = (double)(odd - 1); /* what odd is rounded to */
  bat_particles* particles = NULL;
  bat_dataset* dataset = NULL;
  bat_selection* selection = NULL;
  bat_query* query = NULL;
  int index = 0;
  CHECK_OK(bat_particles_create(4, &particles));
  CHECK_OK(bat_particles_set_positions(particles, BAT_FLOAT64, xyz, 0));
  CHECK_OK(bat_particles_set_attribute(particles, "id", BAT_INT64, 1, ids, 0));
  CHECK_OK(bat_particles_set_attribute(particles, "large", BAT_UINT64, 1, large, 0));
  CHECK_OK(bat_particles_set_attribute(particles, "small", BAT_UINT8, 1, small, 0));
  CHECK_OK(bat_particles_set_attribute(particles, "real", BAT_FLOAT32, 1, real, 0));
  CHECK_OK(bat_write(path, particles, NULL, NULL));
  bat_particles_free(particles);
  CHECK_OK(bat_open(path, &dataset));

  CHECK(count_between(dataset, "id", BAT_INT64, &odd, BAT_FLOAT64, &inf) == 1);
  CHECK(count_between(dataset, "id", BAT_FLOAT64, &past_odd, BAT_FLOAT64, &inf) == 2);
  CHECK(count_between(dataset, "id", BAT_INT64, &ids[1], BAT_UINT64, &large[2]) == 3);
  CHECK(count_between(dataset, "id", 0, NULL, BAT_INT64, &ids[1]) == 2);
  CHECK(count_between(dataset, "large", BAT_INT64, &odd, 0, NULL) == 3);
  CHECK(count_between(dataset, "large", BAT_FLOAT32, &real[0], BAT_UINT8, &small[3]) == 1);
  CHECK(count_between(dataset, "real", BAT_INT64, &ids[0], BAT_UINT64, &large[3]) == 3);
  CHECK(count_between(dataset, "real", BAT_INT64, &ids[0], 0, NULL) == 4);
  CHECK_OK(bat_query_create(&query));
  CHECK_FAILS(bat_query_add_range_mixed(query, "id", BAT_WHOLE, 11, &odd, BAT_FLOAT64, &inf),
    BAT_INVALID_ARGUMENT, "11");
  bat_query_free(query);

  int64_t from = 0;
  uint64_t first = 0;
  uint64_t last = 0;
  CHECK_OK(bat_dataset_attribute_index(dataset, "large", &index));
  CHECK_OK(bat_dataset_attribute_range_uint64(dataset, index, BAT_WHOLE, &first, &last));
  CHECK(first == 0 && last == UINT64_MAX);
  CHECK_FAILS(bat_dataset_attribute_range_int64(dataset, index, BAT_WHOLE, &from, &from),
    BAT_INVALID_ARGUMENT,
    "the range of 'large' ends at 18446744073709551615, which int64 cannot represent");
  CHECK_OK(bat_dataset_attribute_index(dataset, "id", &index));
  CHECK_FAILS(bat_dataset_attribute_range_uint64(dataset, index, BAT_WHOLE, &first, &last),
    BAT_INVALID_ARGUMENT,
    "the range of 'id' ends at -9223372036854775808, which uint64 cannot represent");

  /* In types that hold them. */
  int8_t narrow[4];
  int16_t wide[4];
  uint64_t widest[4];
  double as_double[4];
  float unread[4];
  int64_t rows[4];
  CHECK_OK(bat_select(dataset, NULL, &selection));
  CHECK_OK(bat_read_attribute(dataset, "id", selection, rows, sizeof(rows)));
  CHECK_OK(bat_read_attribute_as(dataset, "small", BAT_INT16, selection, wide, sizeof(wide)));
  CHECK_OK(bat_read_attribute_as(dataset, "small", BAT_UINT64, selection, widest, sizeof(widest)));
  CHECK_OK(
    bat_read_attribute_as(dataset, "real", BAT_FLOAT64, selection, as_double, sizeof(as_double)));
  for (int i = 0; i < 4; ++i)
  {
    const int own = rows[i] == ids[0] ? 0 : rows[i] == ids[1] ? 1 : rows[i] == ids[2] ? 2 : 3;
    CHECK(wide[i] == small[own] && widest[i] == small[own]);
    CHECK(as_double[i] == (double)real[own]);
  }
  CHECK_FAILS(bat_read_attribute_as(dataset, "small", BAT_INT8, selection, narrow, sizeof(narrow)),
    BAT_INVALID_ARGUMENT, "which does not fit in an int8");
  CHECK(narrow[0] == 0 && narrow[1] == 0 && narrow[2] == 0 && narrow[3] == 0);
  CHECK_FAILS(bat_read_attribute_as(dataset, "large", BAT_INT64, selection, rows, sizeof(rows)),
    BAT_INVALID_ARGUMENT, "which does not fit in an int64");
  CHECK_FAILS(bat_read_attribute_as(dataset, "id", BAT_UINT64, selection, widest, sizeof(widest)),
    BAT_INVALID_ARGUMENT, "'id' is int64, which cannot be read as uint64");
  CHECK_FAILS(bat_read_attribute_as(dataset, "id", BAT_FLOAT64, selection, as_double, 32),
    BAT_INVALID_ARGUMENT, "float64");
  CHECK_FAILS(bat_read_attribute_as(dataset, "small", BAT_FLOAT32, selection, unread, 16),
    BAT_INVALID_ARGUMENT, "float32");
  CHECK_FAILS(bat_read_attribute_as(dataset, "small", BAT_INT16, selection, wide, 7),
    BAT_INVALID_ARGUMENT, "need 8 bytes, but the array has 7");

  const char* const names[] = { "real", "id" };
  void* const arrays[] = { unread, rows };
  const size_t sizes[] = { sizeof(unread), sizeof(rows) };
  memset(rows, 0, sizeof(rows));
  CHECK_OK(bat_read_attributes(dataset, 2, names, selection, arrays, sizes));
  uint64_t sum = 0; /* row order does not matter; unsigned, as it exceeds int64 on the way */
  for (int i = 0; i < 4; ++i)
  {
    sum += (uint64_t)rows[i];
  }
  CHECK(sum == (uint64_t)INT64_MIN + (uint64_t)odd - 1);
  CHECK(unread[0] + unread[1] + unread[2] + unread[3] == INFINITY);
  CHECK_OK(bat_read_attributes(dataset, 0, NULL, selection, NULL, NULL));
  CHECK_FAILS(bat_read_attributes(dataset, 1, NULL, selection, arrays, sizes), BAT_INVALID_ARGUMENT,
    "name list is NULL");
  CHECK_FAILS(bat_read_attributes(dataset, 1, names, selection, NULL, sizes), BAT_INVALID_ARGUMENT,
    "array list is NULL");
  CHECK_FAILS(bat_read_attributes(dataset, as_unsigned(-1), names, selection, arrays, sizes),
    BAT_INVALID_ARGUMENT, "is -1;");
  bat_selection_free(selection);
  bat_close(dataset);

  CHECK_OK(bat_particles_create(0, &particles));
  CHECK_OK(bat_particles_set_attribute(particles, "none", BAT_UINT8, 1, NULL, 0));
  CHECK_OK(bat_write(path, particles, NULL, NULL));
  bat_particles_free(particles);
  int64_t to = 0;
  CHECK_OK(bat_open(path, &dataset));
  CHECK_OK(bat_dataset_attribute_range_int64(dataset, 0, BAT_WHOLE, &from, &to));
  CHECK_OK(bat_dataset_attribute_range_uint64(dataset, 0, BAT_WHOLE, &first, &last));
  CHECK(from > to && first > last);
  bat_close(dataset);
}

static void errors_have_status_and_text(void)
{
  bat_dataset* dataset = NULL;
  bat_dataset* other = NULL;
  bat_particles* particles = NULL;
  bat_query* query = NULL;
  bat_selection* selection = NULL;
  uint64_t count = 7;
  int index = 0;
  double ends[2];
  int64_t integers[2];
  const float xyz[3] = { 0, 0, 0 };
  CHECK_FAILS(bat_open("/nowhere/a.bat", &dataset), BAT_NOT_FOUND, "/nowhere/a.bat");
  CHECK(dataset == NULL);
  CHECK_FAILS(bat_open(NULL, &dataset), BAT_INVALID_ARGUMENT, "path is NULL");
  CHECK_FAILS(bat_open(path, NULL), BAT_INVALID_ARGUMENT, "NULL");
  CHECK_FAILS(bat_open("/", &dataset), BAT_CANNOT_OPEN, "/");
  CHECK_FAILS(bat_dataset_count(NULL, &count), BAT_INVALID_ARGUMENT, "dataset is NULL");
  CHECK_FAILS(bat_select(NULL, NULL, &selection), BAT_INVALID_ARGUMENT, "dataset is NULL");
  CHECK_FAILS(bat_write(path, NULL, NULL, NULL), BAT_INVALID_ARGUMENT, "particles is NULL");

  CHECK_OK(bat_particles_create(1, &particles));
  CHECK_FAILS(
    bat_particles_set_positions(particles, BAT_INT32, xyz, 0), BAT_INVALID_ARGUMENT, "int32");
  CHECK_FAILS(
    bat_particles_set_attribute(particles, "a", 11, 1, xyz, 0), BAT_INVALID_ARGUMENT, "11");
  CHECK_FAILS(bat_particles_set_attribute(particles, "a", BAT_FLOAT32, 10, xyz, 0),
    BAT_INVALID_ARGUMENT, "10");
  CHECK_FAILS(bat_particles_set_attribute(particles, NULL, BAT_FLOAT32, 1, xyz, 0),
    BAT_INVALID_ARGUMENT, "name");
  CHECK_FAILS(bat_particles_set_attribute(NULL, "a", BAT_FLOAT32, 1, xyz, 0), BAT_INVALID_ARGUMENT,
    "particles is NULL");
  CHECK(bat_write(path, particles, NULL, NULL) == BAT_INVALID_ARGUMENT); /* no positions */
  CHECK_OK(bat_particles_set_positions(particles, BAT_FLOAT32, xyz, 0));
  CHECK_OK(bat_particles_set_attribute(particles, "a", BAT_FLOAT32, 1, NULL, 0));
  CHECK(bat_write(path, particles, NULL, NULL) == BAT_INVALID_ARGUMENT); /* no values */
  CHECK_OK(bat_particles_set_attribute(particles, "a", BAT_FLOAT32, 1, xyz, 0));
  CHECK_FAILS(bat_write("/nowhere/a.bat", particles, NULL, NULL), BAT_CANNOT_OPEN, "/nowhere");
  CHECK_OK(bat_write(path, particles, NULL, NULL));

  CHECK_OK(bat_open(path, &dataset));
  CHECK_OK(bat_open(path, &other));
  CHECK_FAILS(bat_dataset_attribute_index(dataset, "b", &index), BAT_INVALID_ARGUMENT, "b");
  CHECK(index == -1);
  CHECK_FAILS(bat_dataset_attribute(dataset, 1, NULL, NULL, NULL), BAT_INVALID_ARGUMENT, "1");
  CHECK_FAILS(bat_dataset_attribute_range(dataset, 0, 1, ends, ends + 1), BAT_INVALID_ARGUMENT,
    "component 1");
  CHECK_FAILS(bat_dataset_attribute_range_int64(dataset, 0, 0, integers, integers + 1),
    BAT_INVALID_ARGUMENT, "int64");
  CHECK_OK(bat_query_create(&query));
  CHECK_FAILS(bat_query_set_quality(query, 2, 0), BAT_INVALID_ARGUMENT, "quality");
  CHECK(bat_select(dataset, query, &selection) == BAT_INVALID_ARGUMENT);
  CHECK_OK(bat_query_set_quality(query, 1, 0));
  const double box[6] = { 0, 0, 0, 1, NAN, 1 };
  CHECK_FAILS(bat_query_set_box(query, box), BAT_INVALID_ARGUMENT, "NaN");
  CHECK(bat_select(dataset, query, &selection) == BAT_INVALID_ARGUMENT);
  CHECK_FAILS(bat_query_set_box_half_open(query, box), BAT_INVALID_ARGUMENT, "along y");
  CHECK(bat_select(dataset, query, &selection) == BAT_INVALID_ARGUMENT);
  CHECK(selection == NULL);
  bat_query_free(query);
  CHECK_OK(bat_query_create(&query));
  const float nan_list[2] = { 1, NAN };
  CHECK_FAILS(bat_query_add_values(query, "a", 0, 11, nan_list, 2), BAT_INVALID_ARGUMENT, "11");
  CHECK_FAILS(bat_query_add_values(query, "a", 0, BAT_INT8, NULL, 1), BAT_INVALID_ARGUMENT,
    "values array is NULL");
  CHECK_FAILS(
    bat_query_add_values(query, NULL, 0, BAT_INT8, "", 1), BAT_INVALID_ARGUMENT, "name is NULL");
  CHECK_FAILS(
    bat_select(dataset, query, &selection), BAT_INVALID_ARGUMENT, "unknown value type 11");
  bat_query_free(query);
  CHECK_OK(bat_query_create(&query));
  CHECK_FAILS(bat_query_fail(query, "not this"), BAT_INVALID_ARGUMENT, "not this");
  CHECK_FAILS(bat_query_fail(query, "nor that"), BAT_INVALID_ARGUMENT, "nor that");
  CHECK_FAILS(bat_query_fail(NULL, "not this"), BAT_INVALID_ARGUMENT, "query is NULL");
  CHECK_FAILS(bat_select(dataset, query, &selection), BAT_INVALID_ARGUMENT, "not this");
  bat_query_free(query);
  CHECK_OK(bat_query_create(&query));
  CHECK_OK(bat_query_add_values(query, "a", 0, BAT_FLOAT32, nan_list, 2));
  CHECK_FAILS(bat_select(dataset, query, &selection), BAT_INVALID_ARGUMENT, "NaN");
  bat_query_free(query);
  CHECK_OK(bat_query_create(&query));
  CHECK_OK(bat_query_add_range(query, "b", BAT_WHOLE, 0, 1));
  CHECK_FAILS(bat_select(dataset, query, &selection), BAT_INVALID_ARGUMENT, "b");
  bat_query_free(query);
  CHECK_OK(bat_select(dataset, NULL, &selection));
  float values[3];
  CHECK_FAILS(bat_read_positions(dataset, selection, values, 11), BAT_INVALID_ARGUMENT, "11");
  CHECK_FAILS(bat_read_positions(other, selection, values, sizeof(values)), BAT_INVALID_ARGUMENT,
    "another dataset");
  CHECK_FAILS(
    bat_read_attribute(dataset, "b", selection, values, sizeof(values)), BAT_INVALID_ARGUMENT, "b");
  CHECK_FAILS(bat_read_attribute(dataset, "a", selection, NULL, 4), BAT_INVALID_ARGUMENT, "NULL");
  CHECK_FAILS(bat_selection_count(NULL, &count), BAT_INVALID_ARGUMENT, "selection is NULL");
  CHECK(count == 0);
  CHECK(strcmp(bat_status_name(BAT_INVALID_ARGUMENT), "invalid argument") == 0);
  CHECK(bat_type_size(BAT_INT16) == 2 && bat_type_size(0) == 0 && bat_type_size(11) == 0);
  bat_selection_free(selection);
  bat_close(dataset);
  bat_close(other);
  bat_particles_free(particles);
  bat_particles_free(NULL);
  bat_options_free(NULL);
  bat_query_free(NULL);
  bat_selection_free(NULL);
  bat_close(NULL);
}

/* Counts the calls, and cancels when `stop` is reached. */
struct reported
{
  int calls;
  double last;
  double stop;
};

static int tell(void* data, double done)
{
  struct reported* reported = data;
  CHECK(done >= reported->last && done <= 1);
  ++reported->calls;
  reported->last = done;
  return done >= reported->stop;
}

static void estimates_bound_the_answer_and_progress_is_told(void)
{
  enum
  {
    kCount = 20000,
    kBins = 16
  };
  float* xyz = malloc(kCount * 3 * sizeof(*xyz));
  int64_t* ids = malloc(kCount * sizeof(*ids));
  for (int i = 0; i != kCount; ++i)
  {
    xyz[3 * i] = (float)i / kCount;
    xyz[3 * i + 1] = (float)(i % 100);
    xyz[3 * i + 2] = (float)(i % 7);
    ids[i] = i;
  }
  bat_particles* particles = NULL;
  bat_options* options = NULL;
  struct reported reported = { 0, 0, 2 };
  CHECK_OK(bat_particles_create(kCount, &particles));
  CHECK_OK(bat_particles_set_positions(particles, BAT_FLOAT32, xyz, 0));
  CHECK_OK(bat_particles_set_attribute(particles, "id", BAT_INT64, 1, ids, 0));
  CHECK_OK(bat_options_create(&options));
  CHECK_OK(bat_options_set_progress(options, tell, &reported));
  CHECK_OK(bat_write(path, particles, options, NULL));
  CHECK(reported.calls > 1 && reported.last == 1);
  reported = (struct reported){ 0, 0, 0 };
  CHECK_FAILS(bat_write(path, particles, options, NULL), BAT_CANCELLED, "");
  bat_options_free(options);
  bat_particles_free(particles);

  bat_dataset* dataset = NULL;
  bat_query* query = NULL;
  bat_selection* selection = NULL;
  uint64_t count = 0;
  uint64_t minimum = 0;
  uint64_t likely = 0;
  uint64_t maximum = 0;
  uint64_t bound = 0;
  double quality = 0;
  double counts[kBins];
  double lower = 0;
  double upper = 0;
  double sum = 0;
  CHECK_OK(bat_open(path, &dataset));
  CHECK_OK(bat_validate(dataset));
  CHECK_OK(bat_query_create(&query));
  CHECK_OK(bat_query_add_range_int64(query, "id", BAT_WHOLE, 0, 4999));
  reported = (struct reported){ 0, 0, 2 };
  CHECK_OK(bat_query_set_progress(query, tell, &reported));
  CHECK_OK(bat_estimate_count(dataset, query, &minimum, &likely, &maximum));
  CHECK_OK(bat_upper_bound(dataset, query, &bound));
  CHECK(
    minimum <= 5000 && 5000 <= maximum && minimum <= likely && likely <= maximum && 5000 <= bound);
  CHECK_OK(bat_quality_within(dataset, query, 1000, &quality));
  CHECK_OK(bat_query_set_quality(query, quality, 0));
  CHECK_OK(bat_select(dataset, query, &selection));
  CHECK_OK(bat_selection_count(selection, &count));
  CHECK(count <= 1000 && count >= 500);
  CHECK_OK(bat_read_positions(dataset, selection, xyz, (size_t)count * 3 * sizeof(*xyz)));
  CHECK(reported.calls > 1 && reported.last == 1);
  bat_selection_free(selection);
  reported = (struct reported){ 0, 0, 0 };
  CHECK_OK(bat_select(dataset, query, &selection));
  CHECK_FAILS(bat_read_attribute(dataset, "id", selection, ids, kCount * sizeof(*ids)),
    BAT_CANCELLED, "cancelled");
  bat_selection_free(selection);
  CHECK_FAILS(bat_query_set_part(query, 2, 1), BAT_INVALID_ARGUMENT, "part 2");
  CHECK_FAILS(bat_upper_bound(dataset, query, &bound), BAT_INVALID_ARGUMENT, "part 2");
  bat_query_free(query);
  CHECK_OK(bat_upper_bound(dataset, NULL, &bound));
  CHECK(bound == kCount);

  CHECK_OK(bat_dataset_histogram(
    dataset, 0, BAT_WHOLE, BAT_AXIS_LINEAR, kBins, counts, &lower, &upper, NULL));
  for (int i = 0; i != kBins; ++i)
  {
    CHECK(fabs(counts[i] - kCount / kBins) < 0.02 * kCount);
    sum += counts[i];
  }
  CHECK(fabs(sum - kCount) < 1 && lower == 0 && upper == kCount - 1);
  CHECK_FAILS(bat_dataset_histogram(dataset, 0, 0, 2, kBins, counts, &lower, &upper, NULL),
    BAT_INVALID_ARGUMENT, "axis 2");
  CHECK_FAILS(bat_dataset_histogram(dataset, 0, 0, 0, 0, counts, &lower, &upper, NULL),
    BAT_INVALID_ARGUMENT, "found 0");
  CHECK_FAILS(bat_dataset_histogram(dataset, 0, 0, 0, 65537, counts, &lower, &upper, NULL),
    BAT_INVALID_ARGUMENT, "65537");

  const char* leaf = NULL;
  uint64_t bytes = 0;
  double box[6];
  CHECK_OK(bat_dataset_leaf(dataset, 0, &leaf, &count, &bytes, box));
  CHECK(strcmp(leaf, path) == 0 && count == kCount && bytes > kCount && box[4] == 99);
  CHECK_FAILS(bat_dataset_leaf(dataset, 1, NULL, NULL, NULL, NULL), BAT_INVALID_ARGUMENT, "has 1");
  bat_close(dataset);
  free(xyz);
  free(ids);
}

/* Two particles change places in a periodic box, one leaves, one enters. */
static void particles_are_followed_through_time(void)
{
  static const double xyz[2][2][3] = { { { 0.9, 0, 0 }, { 0.5, 0, 0 } },
    { { 0.2, 0, 0 }, { 0.7, 0, 0 } } };
  static const int64_t ids[2][2] = { { INT64_C(9007199254740993), 4 },
    { 8, INT64_C(9007199254740993) } };
  static const int64_t expected[3] = { 4, INT64_C(9007199254740993), INT64_C(9007199254740992) };
  static const double box[6] = { 0.1, 0, 0, 1.1, 1, 1 };
  const char* const names[1] = { "id" };
  char paths[2][4200];
  bat_follow* follow = NULL;
  bat_trails* trails = NULL;
  uint64_t sizes[4] = { 0 };
  const uint32_t* counts = NULL;
  const void* values = NULL;
  const uint8_t* in_step = NULL;
  const char* text = NULL;
  int numbers[4] = { 0 };
  double time = 0;
  int64_t step = 0;
  struct reported reported = { 0, 0, 2 };
  for (int i = 0; i != 2; ++i)
  {
    bat_particles* particles = NULL;
    (void)snprintf(paths[i], sizeof(paths[i]), "%s.%d.bat", path, i);
    CHECK_OK(bat_particles_create(2, &particles));
    CHECK_OK(bat_particles_set_positions(particles, BAT_FLOAT64, xyz[i], 0));
    CHECK_OK(bat_particles_set_attribute(particles, "id", BAT_INT64, 1, ids[i], 0));
    CHECK_OK(bat_particles_set_step(particles, 40 + i));
    CHECK_OK(bat_write(paths[i], particles, NULL, NULL));
    bat_particles_free(particles);
  }
  CHECK_OK(bat_follow_create(&follow));
  CHECK_OK(bat_follow_add_steps(follow, paths[0]));
  CHECK_OK(bat_follow_add_step(follow, paths[1], 2.5));
  CHECK_OK(bat_follow_set_ids(follow, NULL, BAT_INT64, expected, 3));
  CHECK_OK(bat_follow_set_attributes(follow, 1, names));
  CHECK_OK(bat_follow_set_periodic(follow, box));
  CHECK_OK(bat_follow_set_threads(follow, 1));
  CHECK_OK(bat_follow_set_map(follow, 1));
  CHECK_OK(bat_follow_set_leave_out_damaged(follow, 1));
  CHECK_OK(bat_follow_set_progress(follow, tell, &reported));
  CHECK_OK(bat_follow_run(follow, &trails));
  CHECK(reported.last == 1);
  CHECK_OK(bat_trails_size(trails, sizes, sizes + 1, sizes + 2, sizes + 3));
  CHECK(sizes[0] == 2 && sizes[1] == 3 && sizes[2] == 1 && sizes[3] == 0);
  CHECK_OK(bat_trails_counts(trails, &counts));
  CHECK(counts[0] == 1 && counts[1] == 1 && counts[2] == 0);
  CHECK(counts[3] == 0 && counts[4] == 1 && counts[5] == 0);
  CHECK_OK(
    bat_trails_values(trails, BAT_POSITIONS, &text, numbers, numbers + 1, &values, &in_step));
  CHECK(strcmp(text, "positions") == 0 && numbers[0] == BAT_FLOAT64 && numbers[1] == 3);
  CHECK(((const double*)values)[0] == 0.5 && ((const double*)values)[3] == 0.9);
  CHECK(((const double*)values)[12] == 0.7 && in_step[0] == 1 && in_step[1] == 1);
  CHECK_OK(bat_trails_values(trails, 0, &text, numbers, NULL, &values, NULL));
  CHECK(strcmp(text, "id") == 0 && ((const int64_t*)values)[4] == expected[1]);
  CHECK_OK(bat_trails_step(trails, 1, &text, numbers, &time, numbers + 1, &step));
  CHECK(strcmp(text, paths[1]) == 0 && numbers[0] == 1 && time == 2.5);
  CHECK(numbers[1] == 1 && step == 41);
  CHECK_OK(bat_trails_step(trails, 0, NULL, numbers, &time, NULL, NULL));
  CHECK(numbers[0] == 0 && time == 0);
  CHECK_OK(bat_trails_advice(trails, &text));
  CHECK(strstr(text, "2 of 2 steps have no sorted index") != NULL);
  CHECK_FAILS(bat_trails_step(trails, 2, &text, NULL, NULL, NULL, NULL), BAT_INVALID_ARGUMENT,
    "step number 2 is out of range; allowed are numbers below 2");
  CHECK_FAILS(
    bat_trails_values(trails, -2, &text, NULL, NULL, NULL, NULL), BAT_INVALID_ARGUMENT, "is -2;");
  CHECK_FAILS(bat_trails_problem(trails, 0, NULL, NULL, &text), BAT_INVALID_ARGUMENT, "below 0");
  bat_trails_free(trails);

  reported.last = 0;
  CHECK_OK(bat_follow_add_steps(follow, "/nowhere/a.bat"));
  CHECK_OK(bat_follow_run(follow, &trails));
  CHECK_OK(bat_trails_problem(trails, 0, sizes, numbers, &text));
  CHECK(sizes[0] == 2 && numbers[0] == BAT_NOT_FOUND && strstr(text, "/nowhere/a.bat") != NULL);
  bat_trails_free(trails);
  reported.last = 0;
  CHECK_OK(bat_follow_set_leave_out_damaged(follow, 0));
  CHECK_FAILS(bat_follow_run(follow, &trails), BAT_NOT_FOUND, "/nowhere/a.bat");
  CHECK(trails == NULL);
  CHECK_FAILS(bat_follow_add_steps(follow, "/nowhere/a.bat.series"), BAT_NOT_FOUND, "a.bat.series");
  CHECK_FAILS(bat_follow_run(follow, &trails), BAT_INVALID_ARGUMENT, "a.bat.series");
  bat_follow_free(follow);

  CHECK_OK(bat_follow_create(&follow));
  CHECK_OK(bat_follow_add_steps(follow, paths[0]));
  CHECK_FAILS(bat_follow_run(follow, &trails), BAT_INVALID_ARGUMENT, "no ids");
  CHECK_FAILS(bat_follow_set_ids(follow, NULL, BAT_INT64, expected, as_unsigned(-1)),
    BAT_INVALID_ARGUMENT, "is -1;");
  bat_follow_free(follow);
  remove(paths[0]);
  remove(paths[1]);
}

/* Reads into columns of two arrays, one of which lies inside records; the third column is
 * discarded. */
static int parse(const char* text, size_t bytes, int delimiter, uint64_t maximum, int64_t threads,
  int64_t* ids, double* places, bat_parsed* parsed)
{
  const int types[] = { BAT_INT64, BAT_FLOAT64, 0 };
  void* const values[] = { ids, places, NULL };
  const size_t strides[] = { 0, 2 * sizeof(double), 0 };
  return bat_parse_columns(
    text, bytes, delimiter, 3, types, values, strides, maximum, threads, parsed);
}

static void rows_of_text_become_columns(void)
{
  int64_t ids[4] = { 0 };
  double places[8] = { 0 };
  bat_parsed parsed;
  const char* text = "9007199254740993 0.1 a\n\n  -2\t+1e-320  b \r\n3 inf c\n4 5";
  CHECK_OK(parse(text, strlen(text) - 4, ' ', 4, 0, ids, places, &parsed));
  CHECK(parsed.rows == 3 && parsed.used == strlen(text) - 3 - 1 && parsed.bad_column == -2);
  CHECK(ids[0] == 9007199254740993 && ids[1] == -2 && ids[2] == 3);
  CHECK(places[0] == 0.1 && places[2] == 1e-320 && places[4] > 1e308 && places[1] == 0);
  CHECK_OK(parse(text, strlen(text), ' ', 1, 1, ids, places, &parsed));
  CHECK(parsed.rows == 1 && parsed.used == 23);
  CHECK_FAILS(parse(text, strlen(text), ' ', 4, 2, ids, places, &parsed), BAT_INVALID_ARGUMENT,
    "row 3 does not have 3 fields");
  CHECK(parsed.bad_row == 3 && parsed.bad_column == -1 && parsed.rows == 0);
  CHECK(strncmp(text + parsed.bad_place, "4 5", 3) == 0);

  text = "1, 2.5 ,any text\n2,,x\n";
  CHECK_FAILS(parse(text, strlen(text), ',', 4, 0, ids, places, &parsed), BAT_INVALID_ARGUMENT,
    "row 1, column 1: '' is not a valid float64");
  CHECK(parsed.bad_row == 1 && parsed.bad_column == 1 && parsed.bad_place == 17);
  CHECK_OK(parse(text, strlen(text), ',', 1, 0, ids, places, &parsed));
  CHECK(ids[0] == 1 && places[0] == 2.5);
  text = "1\t2\t\n";
  CHECK_OK(parse(text, strlen(text), '\t', 1, 0, ids, places, &parsed));
  const char* const bad[] = { "1.5 1 a", "9223372036854775808 1 a", "1e3 1 a", "1 1e999 a",
    "1 0x10 a", "1 + a", "1 +-1 a", "1 2 a b" };
  for (size_t i = 0; i != sizeof(bad) / sizeof(*bad); ++i)
  {
    CHECK_FAILS(parse(bad[i], strlen(bad[i]), ' ', 4, 0, ids, places, &parsed),
      BAT_INVALID_ARGUMENT, "row 0");
    CHECK(parsed.bad_row == 0 && parsed.bad_column == (i < 3 ? 0 : i < 7 ? 1 : -1));
  }
  CHECK_OK(parse(NULL, 0, ' ', 4, 0, ids, places, &parsed));
  CHECK(parsed.rows == 0 && parsed.used == 0);
  CHECK_FAILS(parse("1 2 3", 5, '\n', 4, 0, ids, places, &parsed), BAT_INVALID_ARGUMENT, "10");
  CHECK_FAILS(parse("1 2 3", 5, ' ', 4, -1, ids, places, &parsed), BAT_INVALID_ARGUMENT, "-1");
  CHECK_FAILS(
    parse("1 2 3", 5, ' ', 4, 0, NULL, places, &parsed), BAT_INVALID_ARGUMENT, "column 0");
  CHECK_FAILS(bat_parse_columns("", 0, ' ', 0, NULL, NULL, NULL, 0, 0, &parsed),
    BAT_INVALID_ARGUMENT, "without columns");
  CHECK(parsed.bad_column == -2);

  /* More than one thread's parsing piece, with any number of threads. */
  enum
  {
    kRows = 60000
  };
  char* many = malloc((size_t)kRows * 32);
  int64_t* found = malloc(kRows * sizeof(int64_t));
  size_t end = 0;
  for (int i = 0; i != kRows; ++i)
  {
    end += (size_t)sprintf(many + end, "%d\n%s", i * 7, i % 3 ? "" : "\n");
  }
  const int type = BAT_INT64;
  for (int threads = 1; threads != 4; ++threads)
  {
    void* const values = found;
    memset(found, 0, kRows * sizeof(int64_t));
    CHECK_OK(bat_parse_columns(many, end, ' ', 1, &type, &values, NULL, kRows, threads, &parsed));
    int same = parsed.rows == kRows && parsed.used == end;
    for (int i = 0; i != kRows; ++i)
    {
      same = same && found[i] == i * 7;
    }
    CHECK(same);
  }
  free(found);
  free(many);
}

/* Digits with or without a point, and with or without an exponent; few digits and many. */
static void write_number(char* text, unsigned* seed)
{
  unsigned draws[6];
  for (int i = 0; i != 6; ++i)
  {
    *seed = *seed * 1664525u + 1013904223u;
    draws[i] = *seed >> 8;
  }
  const int digits = 1 + (int)(draws[0] % 20);
  const int point = (int)(draws[1] % 24) - 2;
  int end = 0;
  if (draws[2] % 4 < 2)
  {
    text[end++] = draws[2] % 4 ? '+' : '-';
  }
  for (int i = 0; i != digits; ++i)
  {
    if (i == point)
    {
      text[end++] = '.';
    }
    draws[3] = draws[3] * 1664525u + 1013904223u;
    text[end++] = (char)('0' + (draws[3] >> 16) % 10);
  }
  if (draws[4] % 3 == 0)
  {
    end += sprintf(text + end, "%c%+d", draws[4] % 2 ? 'e' : 'E', (int)(draws[5] % 40) - 24);
  }
  text[end] = '\0';
}

/* The same bits as from the C library, however a number is written. */
static void numbers_of_text_are_the_nearest_ones(void)
{
  enum
  {
    kRows = 100000
  };
  char* text = malloc((size_t)kRows * 80);
  double* doubles = malloc(kRows * sizeof(double));
  float* floats = malloc(kRows * sizeof(float));
  size_t end = 0;
  unsigned seed = 1;
  for (int i = 0; i != kRows; ++i)
  {
    char word[40];
    write_number(word, &seed);
    end += (size_t)sprintf(text + end, "%s\t%s%s\n", word, word, i % 5 ? "" : " \r");
  }
  const int types[] = { BAT_FLOAT64, BAT_FLOAT32 };
  void* const values[] = { doubles, floats };
  bat_parsed parsed;
  CHECK_OK(bat_parse_columns(text, end, ' ', 2, types, values, NULL, kRows, 2, &parsed));
  CHECK(parsed.rows == kRows && parsed.used == end);
  int same = 1;
  const char* place = text;
  for (int i = 0; i != kRows; ++i)
  {
    char* next;
    const double expected = strtod(place, &next);
    const float requested_float = strtof(next, &next);
    same = same && memcmp(&expected, doubles + i, sizeof(expected)) == 0 &&
      memcmp(&requested_float, floats + i, sizeof(requested_float)) == 0;
    place = strchr(next, '\n') + 1;
  }
  CHECK(same);
  free(text);
  free(doubles);
  free(floats);
}

/* The extremes of every type are read, and values beyond them are rejected. */
static void integers_of_text_fit_their_type(void)
{
  const struct
  {
    int type;
    const char *minimum, *maximum, *below, *beyond;
  } rows[] = {
    { BAT_INT8, "-128", "127", "-129", "128" },
    { BAT_UINT8, "0", "255", "-1", "256" },
    { BAT_INT16, "-32768", "32767", "-32769", "32768" },
    { BAT_UINT16, "0", "65535", "-1", "65536" },
    { BAT_INT32, "-2147483648", "2147483647", "-2147483649", "2147483648" },
    { BAT_UINT32, "0", "4294967295", "-1", "4294967296" },
    { BAT_INT64, "-9223372036854775808", "9223372036854775807", "-9223372036854775809",
      "9223372036854775808" },
    { BAT_UINT64, "0", "18446744073709551615", "-1", "18446744073709551616" },
  };
  for (size_t i = 0; i != sizeof(rows) / sizeof(*rows); ++i)
  {
    char text[128];
    unsigned char found[2 * 8];
    const size_t bytes = bat_type_size(rows[i].type);
    void* const values = found;
    bat_parsed parsed;
    sprintf(text, "%s\n+%s\n", rows[i].minimum, rows[i].maximum);
    char* const plus = strchr(text, '+');
    for (int round = 0; round != 2; ++round)
    {
      CHECK_OK(
        bat_parse_columns(text, strlen(text), ' ', 1, &rows[i].type, &values, NULL, 2, 1, &parsed));
      const int is_signed = rows[i].minimum[0] == '-';
      uint64_t minimum = (uint64_t)strtoll(rows[i].minimum, NULL, 10);
      uint64_t maximum = strtoull(rows[i].maximum, NULL, 10);
      CHECK(memcmp(found, &minimum, bytes) == 0 && memcmp(found + bytes, &maximum, bytes) == 0);
      CHECK(is_signed || minimum == 0);
      *plus = ' ';
    }
    const char* const bad[] = { rows[i].below, rows[i].beyond, "1.0", "1e0",
      "00000000000000000000x" };
    for (size_t j = 0; j != sizeof(bad) / sizeof(*bad); ++j)
    {
      CHECK_FAILS(bat_parse_columns(
                    bad[j], strlen(bad[j]), ',', 1, &rows[i].type, &values, NULL, 2, 1, &parsed),
        BAT_INVALID_ARGUMENT, "row 0, column 0");
    }
  }
}

int main(int argc, char** argv)
{
  CHECK(strcmp(bat_last_error(), "") == 0);
  snprintf(path, sizeof(path), "%s/test_bat_c.bat", argc > 1 ? argv[1] : ".");
  every_type_comes_back();
  strided_and_separate_arrays_come_back();
  columns_are_there_without_a_copy();
  columns_that_are_missing_without_particles_are_empty();
  numbers_are_looked_at_as_they_were_passed();
  integers_are_exact();
  estimates_bound_the_answer_and_progress_is_told();
  particles_are_followed_through_time();
  errors_have_status_and_text();
  rows_of_text_become_columns();
  numbers_of_text_are_the_nearest_ones();
  integers_of_text_fit_their_type();
  pieces_become_a_dataset();
  names_that_cannot_be_change_nothing();
  a_dataset_that_is_closed_during_a_read_is_read();
  remove(path);
  return failures != 0;
}
