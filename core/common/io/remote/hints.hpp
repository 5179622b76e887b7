// SPDX-License-Identifier: BSD-3-Clause
// What opening a remote file should bring.
#pragma once

#include <cstdint>

namespace bat::io
{
/// Bytes from both ends of a file that its format needs first. 0 for the tail: no request for it.
struct RemoteHints
{
  std::uint64_t head = 64 << 10;
  std::uint64_t tail = 64 << 10;
  bool keeps_headers = false; ///< whether header() has those of the answer
};
}
