// SPDX-License-Identifier: BSD-3-Clause
// What stands behind the opaque handles of bat/bat_flow.h.
#pragma once

#include "bat/bat_flow.h"
#include "bat/bricks/file.hpp"
#include "bat/flow/cache.hpp"

#include <cstdint>
#include <functional>

struct bat_flow
{
  bat::flow::Cache cache;
};

namespace bat::capi
{
/// Throws Error{InvalidArgument}: components or type of no velocity.
[[nodiscard]] BrickGrid grid_of(const bat_flow_grid& given);
/// `grid` may be NULL where there are no values. Throws as grid_of().
[[nodiscard]] bricks::Header header_of(const bat_flow_grid* grid, const char* field,
  const char* metadata, const double* time, const std::int64_t* step);
[[nodiscard]] std::function<bool(double)> progress_of(bat_progress function, void* data);
}
