/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the grid functions of bat/bat_mpi.h on all ranks. Argument: a folder to write in. */

#include "check.h"

#include "bat/bat_mpi.h"

#include <stdlib.h>

enum
{
  N = 24
};

static int rank = 0;
static int ranks = 1;

static int32_t value_of(int64_t x, int64_t y, int64_t z)
{
  return (int32_t)((z * N + y) * N + x);
}

/* Layers along z; the second rank has none, the last one has the rest. */
static void own_layers(int64_t* first, int64_t* end)
{
  const int64_t each = N / ranks;
  *first = rank == 1 ? 0 : rank * each;
  *end = rank == 1           ? 0
    : rank == ranks - 1      ? N
    : rank == 0 && ranks > 1 ? 2 * each
                             : (rank + 1) * each;
}

int main(int argc, char** argv)
{
  char path[4096];
  bat_grid* grid = NULL;
  bat_idx_options* options = NULL;
  bat_idx* dataset = NULL;
  bat_idx_report report;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  snprintf(path, sizeof(path), "%s/test_capi_np%d.idx", argc > 1 ? argv[1] : ".", ranks);

  int64_t first = 0;
  int64_t end = 0;
  if (ranks == 2)
  {
    first = rank == 0 ? 0 : N; /* all of it */
    end = N;
  }
  else
  {
    own_layers(&first, &end);
  }
  int32_t* values = malloc(sizeof(int32_t) * N * N * (size_t)(end - first) + 1);
  for (int64_t at = 0; at < N * N * (end - first); ++at)
  {
    values[at] = value_of(at % N, at / N % N, first + at / (N * N));
  }
  CHECK_OK(bat_grid_create(&grid));
  if (end > first)
  {
    const int64_t box[6] = { 0, 0, first, N - 1, N - 1, end - 1 };
    CHECK_OK(bat_grid_add_piece(grid, box, NULL));
    CHECK_OK(bat_grid_set_field(grid, "n", BAT_INT32, 1, values));
  }
  CHECK_OK(bat_idx_options_create(&options));
  CHECK_OK(bat_idx_options_set_integer(options, "bits_per_block", 10));
  CHECK_OK(bat_idx_options_set_integer(options, "file_bytes", 20000));
  CHECK_OK(bat_idx_options_set_integer(options, "ranks_per_node", 2));
  for (int way = 0; way < 2; ++way)
  {
    CHECK_OK(bat_idx_options_set_text(options, "exchange", way == 0 ? "flat" : "leaders"));
    CHECK_OK(way == 0
        ? bat_mpi_idx_write(MPI_COMM_WORLD, rank == 0 ? path : NULL, grid, options, &report)
        : bat_mpi_idx_write_f(
            MPI_Comm_c2f(MPI_COMM_WORLD), rank == 0 ? path : NULL, grid, options, &report));
    CHECK(report.samples == N * N * N && report.files > 1);
    CHECK(report.bytes_within + report.bytes_between <= report.samples * 4);
    CHECK(ranks < 3 || report.bytes_between > 0);
  }

  CHECK_OK(bat_mpi_idx_open(MPI_COMM_WORLD, rank == 0 ? path : NULL, &dataset));
  bat_idx_info info;
  CHECK_OK(bat_idx_get_info(dataset, &info));
  int32_t* all = malloc(sizeof(int32_t) * N * N * N);
  CHECK_OK(
    bat_idx_read(dataset, "n", NULL, info.levels, NULL, all, sizeof(int32_t) * N * N * N, NULL));
  int wrong = 0;
  for (int64_t at = 0; at < N * N * N; ++at)
  {
    wrong += all[at] != (int32_t)at;
  }
  CHECK(wrong == 0);
  free(all);
  bat_idx_close(dataset);
  dataset = NULL;
  MPI_Barrier(MPI_COMM_WORLD);

  /* An error on one rank fails on all. */
  if (rank == ranks - 1)
  {
    (void)bat_grid_fail(grid, "of a wrapper");
  }
  CHECK_FAILS(bat_mpi_idx_write(MPI_COMM_WORLD, path, grid, options, &report), BAT_INVALID_ARGUMENT,
    "of a wrapper");
  CHECK(report.samples == 0);
  CHECK_FAILS(bat_mpi_idx_open_f(MPI_Comm_c2f(MPI_COMM_WORLD), "/nowhere/n.idx", &dataset),
    BAT_NOT_FOUND, "/nowhere/n.idx");
  CHECK(dataset == NULL);

  bat_grid_free(grid);
  bat_idx_options_free(options);
  free(values);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures != 0;
}
