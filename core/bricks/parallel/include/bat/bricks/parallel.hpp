// SPDX-License-Identifier: BSD-3-Clause
// Many ranks write one time level of a velocity field.
#pragma once

#include "bat/bricks/growing_series.hpp"
#include "bat/bricks/write.hpp"
#include "bat/logical_box.hpp"

#include <mpi.h>

#include <filesystem>
#include <optional>
#include <vector>

namespace bat::bricks
{
/// A box of points on this rank.
struct Piece
{
  LogicalBox box; ///< not empty; begins at 0 or above
  /// Velocities of the box, x fastest, components interleaved. The caller keeps them.
  const void* values = nullptr;
  /// The box of the array, if it is larger than `box`, which lies inside it: with ghost layers, for
  /// instance.
  std::optional<LogicalBox> stored;
};

/// Collective. Writes the smallest box that contains all pieces, as bat::bricks::write() does: the
/// bytes are the same for any number of ranks, any division into pieces and any number of threads.
/// Points in several pieces count once: the lowest rank's, and there the first piece's.
///
/// Ranks with pieces agree on the grid in `header`: type, components, edge, cyclic axes, spacing,
/// and the position of logical 0 0 0 as origin; the last two may differ by 1e-6 of a spacing. Its
/// number of points is not used. Ranks without pieces may leave it empty. Field, time, step,
/// metadata and `options` are taken from rank 0, except for threads (0: those that no other rank on
/// the node uses) and progress (from any rank).
///
/// Beyond the arrays, a rank needs a few MiB per thread, and rank 0 as much as write(). All ranks
/// throw the error of the first rank that has one: as write(), and InvalidArgument if the pieces
/// are not as above, leave out a point that they surround, or if no rank has a piece.
WriteReport write_collective(MPI_Comm comm, const std::filesystem::path& path, const Header& header,
  const std::vector<Piece>& pieces, const WriteOptions& options = {});

/// Collective. Does the same for a level of a growing series, as GrowingSeries::write(). The step
/// and time come from rank 0's `header`, and rank 0's `series` is used; other ranks may pass any.
/// All ranks throw the same Error: as write_collective() and GrowingSeries::write().
WriteReport write_collective(MPI_Comm comm, GrowingSeries& series, const Header& header,
  const std::vector<Piece>& pieces, const WriteOptions& options = {});
}
