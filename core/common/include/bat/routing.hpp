// SPDX-License-Identifier: BSD-3-Clause
// The way that bytes take between the ranks of many nodes (core/parallel/README.md).
#pragma once

namespace bat
{
enum class Route
{
  Auto,   ///< through leaders where measurements say that it pays
  Flat,   ///< each rank sends to each
  Leaders ///< ranks of a node hand what they owe to leaders, in shared memory
};

/// The same bytes arrive whatever is chosen.
struct Routing
{
  Route route = Route::Auto;
  /// Ranks of each node that send for all of it, each to other receivers; at most all of them.
  int leaders_per_node = 1;
  /// 0: nodes are those of the machine. Otherwise so many consecutive ranks count as a node of
  /// their own where they share one: those of a socket, for instance.
  int ranks_per_node = 0;
};
}
