// SPDX-License-Identifier: BSD-3-Clause
// The threads that answer requests for files of RemoteReaders, as RemoteLoop does for servers.
#pragma once

#include "common/io/remote/engine.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>

namespace bat::io
{
/// Threads are started when requests are queued, and end when they have had none for a while. All
/// functions are called with the mutex of the engine locked.
class ReaderPool
{
public:
  explicit ReaderPool(RemoteEngine& engine)
    : engine_(engine)
  {
  }
  ReaderPool(const ReaderPool&) = delete;
  ReaderPool& operator=(const ReaderPool&) = delete;

  /// Prepares for one more request. Throws Error{OutOfMemory} if no thread can be started.
  void expect_request();
  /// Lets idle threads end.
  void stop() noexcept { this->work_.notify_all(); }

private:
  using Lock = RemoteEngine::Lock;
  using RequestPointer = RemoteEngine::RequestPointer;

  void run();
  [[nodiscard]] RequestPointer take();
  void answer(Lock& lock, const RequestPointer& request);
  [[nodiscard]] Verdict call(RemoteRequest& request);
  [[nodiscard]] bool pause(Lock& lock, const RequestPointer& request);

  RemoteEngine& engine_;
  std::condition_variable work_;
  std::size_t threads_ = 0;
  std::size_t idle_ = 0;
};
}
