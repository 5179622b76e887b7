// SPDX-License-Identifier: BSD-3-Clause
// Options for the exchange of data between ranks on many nodes (core/parallel/README.md).
#pragma once

namespace bat
{
enum class Route
{
  Auto,   ///< through leaders where measurements show that it pays
  Flat,   ///< each rank sends to each
  Leaders ///< ranks of a node pass their data to leaders, in shared memory
};

/// The choice does not change the bytes that arrive.
struct Routing
{
  Route route = Route::Auto;
  /// Ranks per node that send for all of its ranks, each to different receivers. At most all.
  int leaders_per_node = 1;
  /// 0 uses the nodes of the machine. Otherwise every N consecutive ranks of a node count as a
  /// separate node, for instance one per socket.
  int ranks_per_node = 0;
};
}
