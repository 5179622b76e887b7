/* SPDX-License-Identifier: BSD-3-Clause */
/* A program whose MPI is not the one that the library was built with. */

#include "check.h"

#include "bat/bat_mpi.h"

/* Comes before the function of the MPI with which the library is linked. */
int MPI_Get_library_version(char* text, int* size)
{
#if defined(OPEN_MPI)
  strcpy(text, "MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7 12:34:45 CDT 2022");
#else
  strcpy(text, "Open MPI v4.1.4, package: Debian OpenMPI");
#endif
  *size = (int)strlen(text);
  return MPI_SUCCESS;
}

int main(int argc, char** argv)
{
  bat_dataset* dataset = NULL;
  MPI_Init(&argc, &argv);
  CHECK_FAILS(bat_mpi_open(MPI_COMM_WORLD, "a.bat", &dataset), BAT_INVALID_ARGUMENT,
    "but the program runs with ");
  CHECK_FAILS(bat_mpi_open_f(MPI_Comm_c2f(MPI_COMM_WORLD), "a.bat", &dataset), BAT_INVALID_ARGUMENT,
    "this library was built with ");
  CHECK_FAILS(bat_mpi_agree(MPI_COMM_WORLD, BAT_OK), BAT_INVALID_ARGUMENT, "built with ");
  MPI_Finalize();
  return failures != 0;
}
