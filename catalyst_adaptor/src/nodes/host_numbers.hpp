// SPDX-License-Identifier: BSD-3-Clause
// Numbers in a node that this process can read.
#pragma once

#include "device_memory.hpp"
#include "node.hpp"

namespace bat::catalyst
{
/// Throws Error{InvalidArgument} if they are not numbers, are on a GPU, or are not in memory.
[[nodiscard]] Numbers host_numbers(const Node& node, const DeviceMemory& device);
}
