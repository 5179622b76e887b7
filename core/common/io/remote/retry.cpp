// SPDX-License-Identifier: BSD-3-Clause
#include "common/io/remote/retry.hpp"

#include "bat/error.hpp"
#include "common/io/remote/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>

namespace bat::io
{
std::thread start_thread(std::function<void()> function)
{
  // The handlers of the program's signals run in its own threads.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  const std::optional<Error> error = attempt([&] { thread = std::thread(std::move(function)); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error)
  {
    throw Error(*error);
  }
  return thread;
}

std::chrono::milliseconds retry_pause(int retries)
{
  static thread_local std::minstd_rand generator{ std::random_device{}() };
  std::uniform_real_distribution<double> factor(0.5, 1.5);
  const auto pause = remote_settings().first_pause * (std::int64_t{ 1 } << std::min(retries, 20));
  return std::chrono::milliseconds(
    static_cast<std::int64_t>(static_cast<double>(pause.count()) * factor(generator)));
}

std::string attempts_text(int retries)
{
  return retries == 0 ? std::string()
                      : fmt::format("; failed {} times, try again later", retries + 1);
}
}
