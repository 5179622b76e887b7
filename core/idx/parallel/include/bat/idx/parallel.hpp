// SPDX-License-Identifier: BSD-3-Clause
// Writes one .idx dataset from many ranks, or opens it on them.
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
  LogicalBox box; ///< not empty; begins at 0 or above
  /// The samples of the box for each field, x fastest, components interleaved. The caller keeps
  /// them.
  std::vector<const void*> values;
  /// Box of the arrays if they are larger than `box`, which lies inside it: with ghost layers, for
  /// instance.
  std::optional<LogicalBox> stored;
};

/// A rank's part in a write. Ranks without pieces may leave everything empty; the others have the
/// same fields in the same order, and origins and spacings that differ by at most 1e-6 of a
/// spacing.
struct GridPieces
{
  std::array<double, 3> origin{}; ///< position of logical 0 0 0
  std::array<double, 3> spacing{ 1, 1, 1 };
  std::vector<FieldValues> fields; ///< the values are those of the pieces
  std::vector<Piece> pieces;
};

/// Collective. Writes the smallest box that contains all pieces, as bat::idx::write() does: the
/// bytes are the same for any number of ranks, any division into pieces and any number of threads.
/// Where pieces overlap, the lowest rank's samples are used, and there the first piece's. Each file
/// is made by one rank from the data that the others send; no node makes two at a time while
/// another makes none. Besides the arrays, a rank needs one file's bytes and the data in transit:
/// 10 MiB, or through node leaders (core/parallel/README.md) 32 MiB for each node and 16. `options`
/// are those of rank 0, except for threads (0: those that no other rank on the node uses) and
/// progress (from any rank). All ranks throw the error of the first rank that has one: as write(),
/// and InvalidArgument if fields, positions in space or missing samples are not as above, or if no
/// rank has samples.
WriteReport write_collective(MPI_Comm comm, const std::filesystem::path& path,
  const GridPieces& pieces, const WriteOptions& options = {});

/// Collective. Opens rank 0's path on every rank as Dataset::open() does, but reads the text only
/// once. All ranks throw the same Error. Reads of the dataset are not collective.
[[nodiscard]] Dataset open_collective(MPI_Comm comm, const std::filesystem::path& path);
}
