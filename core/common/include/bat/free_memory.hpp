// SPDX-License-Identifier: BSD-3-Clause
// How much memory a process can still have, and a comparison before much is asked for.
#pragma once

#include <cstdint>
#include <string>

namespace bat
{
/// Bytes that this process can take now: what the system has available and in its swap, within what
/// the control groups leave that the process is in, and within its own limits (RLIMIT_AS,
/// RLIMIT_DATA). What the system can give up, caches of files above all, counts as free. The
/// largest number there is where nothing is known. Thread-safe.
[[nodiscard]] std::uint64_t free_memory() noexcept;

/// Throws Error{OutOfMemory} if `bytes` are more than free_memory(): "WHAT take 8.00 EiB; 12.3 GiB
/// of memory are free; ADVICE". Less than 1 MiB is always allowed: asking for that in vain does no
/// harm. Thread-safe.
void check_memory(double bytes, const std::string& what, const std::string& advice = {});

/// "12.3 GiB".
[[nodiscard]] std::string size_text(double bytes);
}
