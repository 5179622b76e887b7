// SPDX-License-Identifier: BSD-3-Clause
// Cancels reads that wait for a server.
#pragma once

#include <functional>
#include <optional>

namespace bat
{
/// While it exists, it can cancel reads that the current thread starts, including work that they
/// run on other threads. While such a read waits for a server, `is_stopped` is called every 50 ms
/// on the current thread. If it returns true, the read throws Error{Cancelled}. If several are
/// nested, all of them are called. Destroy them on the same thread, in reverse order. Parallel
/// loops over local files also call `is_stopped`, which slows them down, so make one only for reads
/// that may wait for a server.
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

/// A progress function that is also called while reads wait for a server, with the fraction that it
/// was last called with. If it returns false, the read throws Error{Cancelled}. Destroy it as a
/// ScopedStop.
class StoppableProgress
{
public:
  /// `progress` may be empty. `may_wait`: whether files are at addresses; if false, `progress` is
  /// called only by operator().
  StoppableProgress(std::function<bool(double)> progress, bool may_wait);

  /// Returns false to cancel.
  bool operator()(double fraction);

private:
  std::function<bool(double)> progress_;
  double reached_ = 0;
  std::optional<ScopedStop> stop_;
};
}
