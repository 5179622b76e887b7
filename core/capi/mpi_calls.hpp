// SPDX-License-Identifier: BSD-3-Clause
// Code shared by the collective functions of the C API.
#pragma once

#include "bat/bat.h"
#include "bat/mpi.hpp"

#include <mpi.h>

#include <string>

namespace bat::capi
{
/// NULL: the defaults.
[[nodiscard]] mpi::WriteOptions write_options(const bat_options* options);
[[nodiscard]] bat_report c_report(const mpi::DatasetReport& report);
/// Paths on ranks other than 0 are ignored and may be NULL. Throws Error{InvalidArgument}.
[[nodiscard]] std::string path_of_root(MPI_Comm comm, const char* path);
/// Null before MPI runs, when handles cannot be translated.
[[nodiscard]] MPI_Comm from_fortran(MPI_Fint comm);
}
