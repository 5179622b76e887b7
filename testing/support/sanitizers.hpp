// SPDX-License-Identifier: BSD-3-Clause
// Whether a test runs under AddressSanitizer, how many cases it has time for, and whether a forked
// child can have threads.
#pragma once

#include <cstdint>

namespace sanitizers
{
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kPresent = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool kPresent = true;
#else
inline constexpr bool kPresent = false;
#endif
#else
inline constexpr bool kPresent = false;
#endif

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kHasThreadsAfterFork = false;
#elif defined(__has_feature)
inline constexpr bool kHasThreadsAfterFork = !__has_feature(thread_sanitizer);
#else
inline constexpr bool kHasThreadsAfterFork = true;
#endif

/// The share of random cases, all of which run without a sanitizer: a sanitizer makes each ten
/// times as slow.
constexpr std::uint64_t some_of(std::uint64_t cases)
{
  return kPresent ? cases / 4 : cases;
}
}
