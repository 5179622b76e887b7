// SPDX-License-Identifier: BSD-3-Clause
// What stands behind the opaque handles of bat/bat_flow.h.
#pragma once

#include "bat/bat_flow.h"
#include "bat/bricks/file.hpp"
#include "bat/bricks/growing_series.hpp"
#include "bat/bricks/series.hpp"
#include "bat/flow/cache.hpp"
#include "capi/handles.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

struct bat_flow : bat::capi::SharedHandle
{
  bat::flow::Cache cache;
};

struct bat_bricks
{
  std::shared_ptr<const bat::bricks::Series> series;
};

namespace bat::capi
{
/// Throws Error{InvalidArgument}: components or type of no velocity.
[[nodiscard]] BrickGrid make_grid(const bat_flow_grid& given);
[[nodiscard]] bat_flow_grid grid_for_c(const BrickGrid& own) noexcept;
/// `grid` may be NULL where there are no values. Throws as make_grid().
[[nodiscard]] bricks::Header make_header(const bat_flow_grid* grid, const char* field,
  const char* metadata, const double* time, const std::int64_t* step);
/// Null, unless the path is that of a series, NAME.bricks.series: that which this process adds
/// levels to there.
[[nodiscard]] bricks::GrowingSeries* growing_series_at(const std::string& path, bool flush);
[[nodiscard]] std::function<bool(double)> progress_of(bat_progress function, void* data);
}
