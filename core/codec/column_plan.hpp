// SPDX-License-Identifier: BSD-3-Clause
// How the chunks of a column become frames.
#pragma once

#include "codec/column_shape.hpp"
#include "codec/filters.hpp"
#include "codec/stream_plan.hpp"

#include <cstddef>
#include <vector>

namespace bat::codec
{
struct ColumnPlan
{
  ColumnShape shape;
  double step = 0;                 ///< grid step; 0: none
  std::vector<StreamPlan> streams; ///< empty: no frame has any
  bool has_planes = false;         ///< some frames may be shorter as planes
  Filter filter;
  std::vector<std::byte> model;
};
}
