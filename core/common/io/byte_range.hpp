// SPDX-License-Identifier: BSD-3-Clause
// A range of bytes of a file: what remote files are asked for.
#pragma once

#include <cstdint>

namespace bat::io
{
/// Bytes of a file.
struct ByteRange
{
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
}
