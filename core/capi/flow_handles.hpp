// SPDX-License-Identifier: BSD-3-Clause
// What stands behind the opaque handles of bat/bat_flow.h.
#pragma once

#include "bat/bat_flow.h"
#include "bat/flow/cache.hpp"

#include <functional>
#include <memory>
#include <vector>

struct bat_flow
{
  bat::flow::Cache cache;
};

namespace bat::capi
{
/// Throws Error{InvalidArgument}: components or type of no velocity.
[[nodiscard]] BrickGrid grid_of(const bat_flow_grid& given);
[[nodiscard]] std::function<bool(double)> progress_of(bat_progress function, void* data);
}
