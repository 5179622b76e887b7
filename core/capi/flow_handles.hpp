// SPDX-License-Identifier: BSD-3-Clause
// Definitions of the opaque handles in bat/bat_flow.h.
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
/// Throws Error{InvalidArgument} if components or type are not those of a velocity.
[[nodiscard]] BrickGrid make_grid(const bat_flow_grid& given);
[[nodiscard]] bat_flow_grid grid_for_c(const BrickGrid& own) noexcept;
/// `grid` may be NULL if there are no values. Throws as make_grid() does.
[[nodiscard]] bricks::Header make_header(const bat_flow_grid* grid, const char* field,
  const char* metadata, const double* time, const std::int64_t* step);
/// For a series path, NAME.bricks.series, returns the series to which this process adds levels;
/// otherwise null.
[[nodiscard]] bricks::GrowingSeries* growing_series_at(const std::string& path, bool flush);
[[nodiscard]] std::function<bool(double)> progress_of(bat_progress function, void* data);
}
