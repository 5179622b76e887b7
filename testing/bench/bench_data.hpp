// SPDX-License-Identifier: BSD-3-Clause
// The particles that are measured.
#pragma once

#include "support/clouds.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace bench
{
/// `kind` is uniform, clustered, duplicates (68 bytes a particle: xyz float32 and seven attributes
/// of 8 bytes) or npz:FILE, whose arrays are taken as they are. Deterministic in seed. Throws
/// std::runtime_error.
clouds::Cloud make_data(const std::string& kind, std::uint64_t particles, std::uint64_t seed);

/// pos.npy of shape (n, 3) and one .npy file per attribute, named after it, into a folder that is
/// made if need be. Throws std::runtime_error.
void write_npy_folder(const std::filesystem::path& folder, const clouds::Cloud& cloud);
}
