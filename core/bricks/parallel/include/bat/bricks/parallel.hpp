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
  LogicalBox box; ///< not empty, beginning at 0 or above
  /// Velocities of the box, x fastest, components interleaved. The caller keeps them.
  const void* values = nullptr;
  /// Box of the array if it is larger than `box`, which lies in it: with layers of ghosts, for
  /// instance.
  std::optional<LogicalBox> stored;
};

/// Collective. Writes the smallest box that has all pieces, as bat::bricks::write() does: the bytes
/// are the same for any number of ranks, any cut into pieces and any number of threads. Points that
/// several pieces have count once: those of the lowest rank, and there of the first piece.
///
/// The grid of `header` tells what ranks with pieces agree on: type, components, edge, cyclic axes,
/// spacing, and as origin where logical 0 0 0 lies; the last two may differ by 1e-6 of a spacing.
/// Its number of points is not used. Ranks without pieces may leave all of it empty. Field, time,
/// step, metadata and `options` are those of rank 0, but for threads (0: those that ranks on a node
/// do not share) and progress (of any rank).
///
/// Beyond the arrays, a rank needs a few MiB per thread, and rank 0 what write() needs. Throws on
/// all ranks alike the error of the first that has one: as write(), and InvalidArgument if the
/// pieces are not as above, leave a point out that they surround, or if no rank has one.
WriteReport write_collective(MPI_Comm comm, const std::filesystem::path& path, const Header& header,
  const std::vector<Piece>& pieces, const WriteOptions& options = {});

/// Collective. Writes the same as a level of a growing series, as GrowingSeries::write(). Rank 0's
/// `header` has the step and time, and rank 0's `series` is used; other ranks may pass any. Throws
/// on all ranks alike: as write_collective() and GrowingSeries::write().
WriteReport write_collective(MPI_Comm comm, GrowingSeries& series, const Header& header,
  const std::vector<Piece>& pieces, const WriteOptions& options = {});
}
