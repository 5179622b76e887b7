// SPDX-License-Identifier: BSD-3-Clause
// Messages that are packed one after the other while those before them are under way.
#pragma once

#include "common/memory/large_array.hpp"
#include "parallel/comm.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace bat::mpi
{
/// As many messages as there are slots are under way at a time, each in memory of its own. One
/// thread of a rank uses it.
class PackedSends
{
public:
  /// Slots for `messages` messages of at most `bytes` bytes, four at most. The only call that may
  /// fail. No message may be under way.
  void make_room(std::uint64_t messages, std::size_t bytes);
  /// Memory for the next message. Not collective; waits until a slot is free.
  [[nodiscard]] std::byte* next();
  /// The same, where others may have to be received from before one is: calls receive() as long as
  /// none is free, which returns whether there was something.
  [[nodiscard]] std::byte* next(const std::function<bool()>& receive);
  /// What was packed into it: 2^31 - 1 bytes at most.
  void send(const OwnComm& comm, int target, int tag, std::uint64_t bytes);
  /// For all that are under way.
  void wait();

private:
  static constexpr std::uint64_t kMaxPendingMessages = 4;

  std::vector<MPI_Request> requests_;         ///< per slot
  std::vector<LargeArray<std::byte>> memory_; ///< per slot
  std::size_t used_ = 0;                      ///< slots that have been given out
  std::size_t slot_ = 0;                      ///< of next()
};
}
