// SPDX-License-Identifier: BSD-3-Clause
// The memory that a process can still allocate, and a check before large allocations.
#pragma once

#include <cstdint>
#include <string>

namespace bat
{
/// Bytes that this process can allocate now: the memory and swap that the system has available,
/// within the limits of the process's control groups and its own (RLIMIT_AS, RLIMIT_DATA). Memory
/// that the system can release, file caches above all, counts as free. Returns the largest number
/// if nothing is known. Thread-safe.
[[nodiscard]] std::uint64_t free_memory() noexcept;

/// Throws Error{OutOfMemory} if `bytes` exceeds free_memory(): "WHAT take 8.00 EiB; 12.3 GiB of
/// memory are free; ADVICE". Less than 1 MiB is always allowed: a failure to allocate it does no
/// harm. Thread-safe.
void check_memory(double bytes, const std::string& what, const std::string& advice = {});

/// Formats a size, e.g. "12.3 GiB".
[[nodiscard]] std::string size_text(double bytes);
}
