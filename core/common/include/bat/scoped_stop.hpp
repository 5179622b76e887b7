// SPDX-License-Identifier: BSD-3-Clause
// Cancels reads that wait for a server.
#pragma once

#include <functional>

namespace bat
{
/// While it lives, reads that the current thread starts, in this and in other threads, can be
/// cancelled: whenever one of them waits for a server, `is_stopped` is called every 50 ms from the
/// current thread. If it returns true, the read throws Error{Cancelled}. Nested ones are all
/// called. Must be destroyed in the same thread, in reverse order of construction. Reads of local
/// files never call it.
class ScopedStop
{
public:
  explicit ScopedStop(std::function<bool()> is_stopped);
  ScopedStop(const ScopedStop&) = delete;
  ScopedStop& operator=(const ScopedStop&) = delete;
  ~ScopedStop();

  /// Returns whether the current thread has a ScopedStop, or works for one that has.
  [[nodiscard]] static bool exists() noexcept;
  /// Returns whether one of them asks to stop. Throws what their functions throw.
  [[nodiscard]] static bool is_requested();

private:
  std::function<bool()> is_stopped_;
  ScopedStop* outer_;
};
}
