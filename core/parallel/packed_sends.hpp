// SPDX-License-Identifier: BSD-3-Clause
// Packs messages one after another while earlier ones are in transit.
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
/// Sends one message per slot at a time, each from separate memory. Only one thread of a rank may
/// use it.
class PackedSends
{
public:
  /// Allocates slots for `messages` messages of at most `bytes` bytes, four at most. The only call
  /// that may fail. No message may be in transit.
  void make_room(std::uint64_t messages, std::size_t bytes);
  /// Returns memory for the next message. Not collective; waits until a slot is free.
  [[nodiscard]] std::byte* next();
  /// Does the same when a slot may become free only after this rank receives. Calls receive() until
  /// one is free; it returns whether it received anything.
  [[nodiscard]] std::byte* next(const std::function<bool()>& receive);
  /// Sends the bytes packed into that memory: 2^31 - 1 at most.
  void send(const OwnComm& comm, int target, int tag, std::uint64_t bytes);
  /// Waits for all messages in transit.
  void wait();

private:
  static constexpr std::uint64_t kMaxPendingMessages = 4;

  std::vector<MPI_Request> requests_;         ///< per slot
  std::vector<LargeArray<std::byte>> memory_; ///< per slot
  std::size_t used_ = 0;                      ///< slots that have been given out
  std::size_t slot_ = 0;                      ///< used by next()
};
}
