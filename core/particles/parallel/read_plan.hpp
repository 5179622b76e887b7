// SPDX-License-Identifier: BSD-3-Clause
// Decides which rank reads which leaf file of a dataset for the others, and whether any should.
#pragma once

#include "bat/mpi.hpp"
#include "parallel/nodes.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bat::mpi
{
/// The demand of all ranks together. Bytes are expectations, from the boxes alone.
struct ReadDemand
{
  std::uint64_t ranks = 1;
  std::uint64_t leaf_files = 0;   ///< leaf files touched by any query
  std::uint64_t opens = 0;        ///< (rank, leaf file that its query touches)
  double answer_bytes = 0;        ///< size of all answers
  double direct_bytes = 0;        ///< bytes that direct reads take from files
  double file_bytes = 0;          ///< size of the leaf files touched by any query
  std::uint64_t query_bytes = 0;  ///< size of the longest query
  std::uint64_t largest_leaf = 0; ///< bytes of the largest leaf file that some query touches
  std::size_t first_leaf = 0;     ///< first leaf file touched by any query
  bool is_remote = false;         ///< the files are at an address
};

/// Number of requests for opening a leaf file, as counted by read_modes_bench.
constexpr double kRequestsToOpen = 12;

/// The speed that one rank measured by reading first a little and then more of a leaf file.
struct StorageSpeed
{
  double open_s = 0;
  double request_s = 0;
  double bytes_per_s = 1e9;
};

struct ReadChoice
{
  ReadMode mode = ReadMode::Direct;
  std::string reason;
};

/// Why ReadMode::Auto must be direct whatever the storage; "" if either is possible.
[[nodiscard]] std::string reason_for_direct(const ReadDemand& demand, std::uint64_t memory_bytes);
/// Why it is aggregated otherwise, whatever the storage; "" if either is possible.
[[nodiscard]] std::string reason_for_aggregated(const ReadDemand& demand);
/// The rule behind ReadMode::Auto otherwise (MPI.md, Reading). A pure function.
[[nodiscard]] ReadChoice choose_read_mode(const ReadDemand& demand, const StorageSpeed& storage);

/// Bytes that a direct read of `share` of the particles takes from one leaf file, where `columns`
/// is the requested share of their bytes: whole pages, and gaps that are cheaper to read than a
/// second request.
[[nodiscard]] double direct_bytes(double share, double columns, double file_bytes);
/// Returns whether a reader reads a whole leaf file when `requests` ask for `shares` of its
/// particles in total.
[[nodiscard]] bool reads_whole(
  std::uint64_t requests, double shares, double columns, double file_bytes);

/// A leaf file that any rank requests.
struct ReadTask
{
  std::uint64_t leaf = 0;
  std::uint64_t file_bytes = 0;
  int reader = 0;          ///< the rank that reads it
  std::uint32_t round = 0; ///< round in which it is read
};

/// Fills in `reader` and `round` of tasks in ascending leaf order. The readers are spread over the
/// nodes first, then over the ranks of each node; none has two files while another has none, and
/// neighbours in space go to the same one. In a round, a reader has files of at most
/// `memory_bytes`; larger ones do not count. Returns the number of rounds. A pure function.
std::uint32_t assign_readers(
  std::vector<ReadTask>& tasks, const NodeLayout& layout, std::uint64_t memory_bytes);
}
