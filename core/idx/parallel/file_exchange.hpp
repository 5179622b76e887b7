// SPDX-License-Identifier: BSD-3-Clause
// Samples on their way from the ranks that have them to the ranks that make files of them.
#pragma once

#include "bat/bytes.hpp"
#include "bat/idx/parallel.hpp"
#include "idx/parallel/assignment.hpp"
#include "parallel/comm.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::idx
{
/// What all rounds of an exchange have in common. The things referred to belong to the caller.
struct ExchangeSource
{
  const bat::mpi::OwnComm& comm;
  const Header& header;
  const BlockShapes& shapes;
  const std::vector<RankBox>& boxes; ///< of all ranks, by rank and piece
  const std::vector<Piece>& pieces;  ///< of this rank
};

/// The blocks of a file, raw, as their samples come.
class FileSamples
{
public:
  FileSamples(const ExchangeSource& source, const FileBlocks& file);

  /// Takes the samples that a rank sent, in any order of ranks from the highest to the lowest.
  void put(int rank, const Bytes& packed);
  /// Gives a block of a field away.
  [[nodiscard]] Bytes take(std::size_t field, std::uint64_t block);
  /// Throws Error{InvalidArgument} naming a sample of the box that did not come.
  void check_complete() const;

private:
  const ExchangeSource& source_;
  const FileBlocks& file_;
  std::vector<std::vector<Bytes>> raw_;       ///< per field, per block
  std::vector<std::vector<char>> has_sample_; ///< per block, in row-major order
};

/// Collective: a round, in which each rank makes at most one file and gets what is in it.
/// `files[r]` is the file of rank r, null if it makes none. Returns what came, per rank; empty of
/// ranks that have nothing in the file. Throws on all ranks alike.
[[nodiscard]] std::vector<Bytes> exchange_round(
  const ExchangeSource& source, const std::vector<const FileBlocks*>& files);
}
