// SPDX-License-Identifier: BSD-3-Clause
// Reads and checks the header and the texts of a file (BRICKS.md sections 3 and 4).
#pragma once

#include "bat/bricks/file.hpp"
#include "common/fail.hpp"
#include "common/io/random_access_file.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bat::bricks::format
{
/// Throws Error as File::open() does.
[[nodiscard]] bricks::Header read_header(const io::RandomAccessFile& file);

/// Header and texts with their padding. `file_bytes` is the size of the whole file.
[[nodiscard]] std::vector<std::byte> encode_header(
  const bricks::Header& header, std::uint64_t file_bytes);

/// Throws Error{InvalidArgument} for contents that no file can have; `name` is used in the message.
void check_header(const bricks::Header& header, const std::string& name);

}
