// SPDX-License-Identifier: BSD-3-Clause
// What the threads that answer requests share: how they start, and how requests are repeated.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <thread>

namespace bat::io
{
/// Starts a thread in which no signal handler of the program runs. Throws std::system_error.
[[nodiscard]] std::thread start_thread(std::function<void()> function);

/// Returns the pause before a request is sent again: it doubles with each attempt, and varies so
/// that requests which failed together are spread.
[[nodiscard]] std::chrono::milliseconds retry_pause(int retries);

/// Returns the end of a message about a request that was repeated; empty if it was not.
[[nodiscard]] std::string attempts_text(int retries);
}
