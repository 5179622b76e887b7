// SPDX-License-Identifier: BSD-3-Clause
// Lets a caller stop reads of this thread that wait for a server.
#pragma once

#include <functional>

namespace bat::io
{
/// While it lives, reads of the current thread that wait for a server call `is_stopped` every 50
/// ms. If it returns true, they throw Error{Cancelled}. Nested ones are all called. Must be
/// destroyed in the same thread, in reverse order of construction.
class ScopedStop
{
public:
  explicit ScopedStop(std::function<bool()> is_stopped);
  ScopedStop(const ScopedStop&) = delete;
  ScopedStop& operator=(const ScopedStop&) = delete;
  ~ScopedStop();

  /// Returns whether this thread has a ScopedStop, and whether one of them wants it to stop.
  [[nodiscard]] static bool exists() noexcept;
  [[nodiscard]] static bool is_requested();

private:
  std::function<bool()> is_stopped_;
  ScopedStop* outer_;
};
}
