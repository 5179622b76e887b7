// SPDX-License-Identifier: BSD-3-Clause
// How HDF5 recognizes files that have an HDF5 view (FORMAT.md section 20).
#pragma once

#include <cstdint>
#include <string_view>

namespace bat
{
/// The first bytes of a superblock.
inline constexpr std::string_view kHdf5Signature = "\x89HDF\r\n\x1A\n";
/// The place of the superblock, one of those where HDF5 looks for it.
inline constexpr std::uint64_t kSuperblockOffset = 512;
}
