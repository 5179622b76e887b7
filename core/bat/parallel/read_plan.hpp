// Which rank reads which leaf file of a dataset for the others, and whether any should.
#pragma once

#include "bat/mpi.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bat::mpi
{
/// What all ranks together ask for.
struct ReadDemand
{
  std::uint64_t ranks = 1;
  std::uint64_t leaf_files = 0;   ///< that some query touches
  std::uint64_t opens = 0;        ///< (rank, leaf file its query touches)
  double bytes = 0;               ///< expected, of all answers
  double file_bytes = 0;          ///< of the leaf files that some query touches
  std::uint64_t query_bytes = 0;  ///< of the longest query
  std::uint64_t largest_leaf = 0; ///< bytes of the largest leaf file that some query touches
};

struct ReadChoice
{
  ReadMode mode = ReadMode::Direct;
  std::string reason;
};

/// The measured rule behind ReadMode::Auto (MPI.md, Reading). A pure function, so that all ranks
/// choose the same.
[[nodiscard]] ReadChoice choose_read_mode(const ReadDemand& demand, std::uint64_t memory_bytes);

/// A leaf file that some rank asks for.
struct ReadTask
{
  std::uint64_t leaf = 0;
  std::uint64_t file_bytes = 0;
  int reader = 0;          ///< the rank that reads it
  std::uint32_t round = 0; ///< in which it does
};

/// Fills in `reader` and `round` of tasks in ascending order of leaf. The readers are spread evenly
/// over the ranks; none has two files while another has none, and neighbours in space go to
/// the same one. In a round a reader has files of at most `memory_bytes`; larger ones count
/// nothing. Returns the number of rounds. A pure function.
std::uint32_t assign_readers(std::vector<ReadTask>& tasks, int ranks, std::uint64_t memory_bytes);
}
