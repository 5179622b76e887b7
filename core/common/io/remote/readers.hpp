// SPDX-License-Identifier: BSD-3-Clause
// The RemoteReaders of the process, by the host of their addresses.
#pragma once

#include "bat/remote_reader.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <unistd.h>
#include <utility>

namespace bat::io
{
/// The function of a RemoteReader, for as long as that lives.
class ReaderCall
{
public:
  explicit ReaderCall(RemoteReadFunction read)
    : read_(std::move(read))
  {
  }
  /// Throws as the function, and Error{CannotOpen} if the RemoteReader was destroyed. Thread-safe.
  RemoteAnswer operator()(const std::string& path, const RemotePart& part, std::byte* to);
  /// Lets no further call begin, and waits for those that run.
  void close() noexcept;

private:
  std::mutex mutex_;
  std::condition_variable ended_;
  RemoteReadFunction read_;
  const ::pid_t process_ = ::getpid();
  int running_ = 0;
  bool is_closed_ = false;
};

/// Guards the RemoteReaders. For fork().
[[nodiscard]] std::mutex& readers_mutex();

/// Returns the host of its addresses.
[[nodiscard]] std::string add_reader(std::shared_ptr<ReaderCall> call, std::string shown);
void remove_reader(const std::string& host) noexcept;
/// Throws Error{CannotOpen} if there is none.
[[nodiscard]] std::shared_ptr<ReaderCall> find_reader(const std::string& host);
/// Returns the beginning of its addresses in messages; "reader://HOST/" if there is none.
[[nodiscard]] std::string shown_beginning(std::string_view host);
}
