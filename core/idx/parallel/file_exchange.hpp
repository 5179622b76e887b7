// SPDX-License-Identifier: BSD-3-Clause
// Moves samples from the ranks that have them to the ranks that make the files.
#pragma once

#include "bat/bytes.hpp"
#include "bat/idx/parallel.hpp"
#include "common/box_in_arrays.hpp"
#include "idx/parallel/assignment.hpp"
#include "parallel/comm.hpp"
#include "parallel/nodes.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::idx
{
/// The data that all rounds of an exchange share. The caller owns the referenced objects.
struct ExchangeSource
{
  const bat::mpi::OwnComm& comm;
  bat::mpi::Nodes& nodes;
  const Routing& routing;
  const Header& header;
  const BlockShapes& shapes;
  const std::vector<RankBox>& parts; ///< parts on all ranks, by rank and piece, disjoint
  const std::vector<Piece>& pieces;  ///< this rank's pieces
};

/// The position of a box's samples in the arrays of the piece that contains them.
[[nodiscard]] inline BoxInArrays place_in(const Piece& piece, const LogicalBox& box) noexcept
{
  return place_in(piece.stored ? *piece.stored : piece.box, box);
}

/// The raw blocks of a file, filled as their samples arrive.
class FileSamples
{
public:
  /// Copies the samples that this rank has.
  FileSamples(const ExchangeSource& source, const FileBlocks& file);
  /// For a rank that makes no file.
  FileSamples() = default;

  /// Returns a block of a field, which leaves this object.
  [[nodiscard]] Bytes take(std::size_t field, std::uint64_t block);

private:
  friend class RoundOfFiles;
  const FileBlocks* file_ = nullptr;
  std::vector<std::vector<Bytes>> raw_; ///< per field, per block
};

/// Throws Error{InvalidArgument}, naming a sample of the file, if no part contains it.
void check_complete(const ExchangeSource& source, const FileBlocks& file);

/// Collective. Runs a round, in which each rank makes at most one file. `files[r]` is rank r's
/// file, null if it makes none. Returns the samples of this rank's file, and adds the data sent to
/// `traffic`. All ranks throw the same Error.
[[nodiscard]] FileSamples exchange_round(const ExchangeSource& source,
  const std::vector<const FileBlocks*>& files, bat::mpi::NodeTraffic& traffic);
}
