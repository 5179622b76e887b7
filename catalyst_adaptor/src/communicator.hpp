// SPDX-License-Identifier: BSD-3-Clause
// The ranks of a simulation, and the few MPI calls that the adaptor makes itself.
#pragma once

#include "bat/error.hpp"
#include "bat/mpi.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bat::catalyst
{
class Communicator
{
public:
  /// MPI is initialized and not finalized.
  [[nodiscard]] static bool can_be_used() noexcept;
  /// Name and version of the MPI library.
  [[nodiscard]] static std::string library();

  /// The communicator with a Fortran handle, or MPI_COMM_WORLD. If the simulation has not
  /// initialized MPI, it is a single process: MPI is then initialized here and finalized when the
  /// process ends. Throws Error{InvalidArgument}: MPI is finalized, or no communicator has that
  /// handle.
  explicit Communicator(std::optional<std::int64_t> fortran_handle);

  [[nodiscard]] MPI_Comm get() const noexcept { return this->comm_; }
  [[nodiscard]] bool is_root() const noexcept { return this->rank_ == 0; }
  /// "rank 3: ", or nothing if there is only one rank.
  [[nodiscard]] std::string prefix() const;

  /// Collective. The maximum over all ranks.
  [[nodiscard]] int greatest(int local) const;
  /// Collective. The element-wise minimum over all ranks, which pass the same number of values.
  [[nodiscard]] std::vector<double> minimum(std::vector<double> local) const;
  /// Collective. Ends the processes of all ranks.
  [[noreturn]] void abort(int status) const;

private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int ranks_ = 1;
};
}
