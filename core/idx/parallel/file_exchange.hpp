// SPDX-License-Identifier: BSD-3-Clause
// Samples on their way from the ranks that have them to the ranks that make files of them.
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
  const std::vector<RankBox>& parts; ///< of all ranks, by rank and piece, disjoint
  const std::vector<Piece>& pieces;  ///< of this rank
};

/// The place of the samples of a box in the arrays of the piece that has them.
[[nodiscard]] inline BoxInArrays place_in(const Piece& piece, const LogicalBox& box) noexcept
{
  return place_in(piece.stored ? *piece.stored : piece.box, box);
}

/// The blocks of a file, raw, as their samples come.
class FileSamples
{
public:
  /// Takes what this rank has itself.
  FileSamples(const ExchangeSource& source, const FileBlocks& file);
  /// A rank that makes no file.
  FileSamples() = default;

  /// Gives a block of a field away.
  [[nodiscard]] Bytes take(std::size_t field, std::uint64_t block);

private:
  friend class RoundOfFiles;
  const FileBlocks* file_ = nullptr;
  std::vector<std::vector<Bytes>> raw_; ///< per field, per block
};

/// Throws Error{InvalidArgument} naming a sample of the file that no part has.
void check_complete(const ExchangeSource& source, const FileBlocks& file);

/// Collective: a round, in which each rank makes at most one file. `files[r]` is the file of rank
/// r, null if it makes none. Returns the samples of this rank's file, and adds what it sent to
/// `traffic`. Throws on all ranks alike.
[[nodiscard]] FileSamples exchange_round(const ExchangeSource& source,
  const std::vector<const FileBlocks*>& files, bat::mpi::NodeTraffic& traffic);
}
