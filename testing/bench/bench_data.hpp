// SPDX-License-Identifier: BSD-3-Clause
// The particles for the benchmarks.
#pragma once

#include "support/clouds.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace bench
{
/// `kind` is uniform, clustered, duplicates (68 bytes per particle: float32 xyz and seven 8-byte
/// attributes) or npz:FILE, whose arrays are used unchanged. Deterministic in seed. Throws
/// std::runtime_error.
clouds::Cloud make_data(const std::string& kind, std::uint64_t particles, std::uint64_t seed);

/// Writes pos.npy of shape (n, 3) and one .npy file per attribute, named after it, into a folder,
/// which is created if necessary. Throws std::runtime_error.
void write_npy_folder(const std::filesystem::path& folder, const clouds::Cloud& cloud);
}
