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
/// A box of samples on this rank.
struct Piece
{
  LogicalBox box; ///< not empty, from 0 on
  /// The samples of the box for each field, x fastest, components interleaved. The caller keeps
  /// them.
  std::vector<const void*> values;
  /// Box of the arrays if they are larger than `box`, which lies in it: with layers of ghosts, for
  /// instance.
  std::optional<LogicalBox> stored;
};

/// The part of a rank in a write. Ranks without pieces may leave everything empty; the others have
/// the same fields in the same order, and origins and spacings that differ by at most 1e-6 of a
/// spacing.
struct GridPieces
{
  std::array<double, 3> origin{}; ///< position of logical 0 0 0
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

/// Collective. Opens rank 0's path on every rank as Dataset::open(), but reads the text only once.
/// Throws on all ranks alike. Reads of the dataset are not collective.
[[nodiscard]] Dataset open_collective(MPI_Comm comm, const std::filesystem::path& path);
}
