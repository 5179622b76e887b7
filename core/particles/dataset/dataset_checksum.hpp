// SPDX-License-Identifier: BSD-3-Clause
// Tests whether two processes have the same dataset open.
#pragma once

#include "bat/dataset.hpp"

#include <cstdint>

namespace bat
{
/// Identifies a dataset; 0 for a file of the paper's library, which has no checksum.
[[nodiscard]] std::uint64_t compute_checksum(const Dataset& dataset);
}
