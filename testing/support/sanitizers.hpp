// SPDX-License-Identifier: BSD-3-Clause
// Whether a test runs under AddressSanitizer, and how many cases it has time for.
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

/// The share of random cases, all of which run without a sanitizer: a sanitizer makes each ten
/// times as slow.
constexpr std::uint64_t some_of(std::uint64_t cases)
{
  return kPresent ? cases / 4 : cases;
}
}
