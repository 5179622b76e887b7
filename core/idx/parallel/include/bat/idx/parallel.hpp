// SPDX-License-Identifier: BSD-3-Clause
// Many ranks write one .idx dataset, or open it.
#pragma once

#include "bat/idx/write.hpp"

#include <mpi.h>

#include <array>
#include <filesystem>
#include <optional>
#include <vector>

namespace bat::idx
{
/// A box of samples that a rank has.
struct Piece
{
  LogicalBox box; ///< not empty, from 0 on
  /// Per field, the samples of the box, x fastest, components interleaved. They stay the caller's.
  std::vector<const void*> values;
  /// Of the arrays, if they have more than `box`, which lies in it: layers of ghosts, for instance.
  std::optional<LogicalBox> stored;
};

/// What a rank brings to a write. Ranks without pieces may leave everything empty; the others have
/// the same fields in the same order, and origins and spacings that differ by 1e-6 of a spacing at
/// most.
struct GridPieces
{
  std::array<double, 3> origin{}; ///< where logical 0 0 0 lies
  std::array<double, 3> spacing{ 1, 1, 1 };
  std::vector<FieldValues> fields; ///< the values are those of the pieces
  std::vector<Piece> pieces;
};

/// Collective. Writes the smallest box that has all pieces, as bat::idx::write() does: the bytes
/// are the same for any number of ranks, any cut into pieces and any number of threads. Samples
/// that several pieces have count once: those of the lowest rank, and there of the first piece.
/// Each file is made by one rank, from what the others send; no node makes two at a time while
/// another makes none. Beyond the arrays, a rank needs one file's bytes, and what is under way: 10
/// MiB, or through leaders of nodes (core/parallel/README.md) 32 MiB for each node and 16.
/// `options` are those of rank 0, but for threads (0: those that ranks on a node do not share) and
/// progress (of any rank). Throws on all ranks alike the error of the first that has one: as
/// write(), InvalidArgument if fields, places in space or missing samples are not as above, or if
/// no rank has samples.
WriteReport write_collective(MPI_Comm comm, const std::filesystem::path& path,
  const GridPieces& pieces, const WriteOptions& options = {});

/// Collective. As Dataset::open() of rank 0's path on every rank, though the text is read once.
/// Throws on all ranks alike. Reads of the dataset are each rank's own matter.
[[nodiscard]] Dataset open_collective(MPI_Comm comm, const std::filesystem::path& path);
}
