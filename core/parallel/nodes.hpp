// SPDX-License-Identifier: BSD-3-Clause
// Which ranks share a node, who leads them, and how work is spread over nodes.
#pragma once

#include "parallel/comm.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace bat::mpi
{
/// The node of each rank; the same on all ranks. Pure: tests can use a million virtual ranks.
class NodeLayout
{
public:
  /// One node of one rank.
  NodeLayout()
    : NodeLayout(std::vector<std::uint32_t>{ 0 })
  {
  }
  /// `name_of_node`: per rank any number, equal for ranks of a node. Nodes are then numbered from 0
  /// on, in the order of their lowest ranks.
  explicit NodeLayout(const std::vector<std::uint32_t>& name_of_node);

  [[nodiscard]] std::uint32_t rank_count() const
  {
    return static_cast<std::uint32_t>(this->node_of_.size());
  }
  [[nodiscard]] std::uint32_t node_count() const
  {
    return static_cast<std::uint32_t>(this->first_.size() - 1);
  }
  [[nodiscard]] std::uint32_t node_of(std::uint32_t rank) const { return this->node_of_[rank]; }
  /// Number of ranks of a node.
  [[nodiscard]] std::uint32_t size_of(std::uint32_t node) const
  {
    return this->first_[node + std::size_t{ 1 }] - this->first_[node];
  }
  /// The ranks of a node, ascending.
  [[nodiscard]] const std::uint32_t* ranks_of(std::uint32_t node) const
  {
    return this->ranks_.data() + this->first_[node];
  }
  /// All ranks, node by node.
  [[nodiscard]] const std::vector<std::uint32_t>& in_order() const { return this->ranks_; }
  [[nodiscard]] std::uint32_t largest_node() const;

private:
  std::vector<std::uint32_t> node_of_; ///< per rank
  std::vector<std::uint32_t> first_;   ///< per node, and all: place in ranks_
  std::vector<std::uint32_t> ranks_;   ///< node by node, ascending in each
};

/// `count` aggregators (or other work that goes over the network), spread over nodes first and over
/// the ranks of each then: no node has two while another has none, and no rank either. With fewer
/// than there are ranks, the numbers of two nodes differ by at most one, unless the smaller node
/// has one on each rank. Ascending in the order of `in_order()`. Not collective; equal for equal
/// arguments.
[[nodiscard]] std::vector<std::uint32_t> spread_over_nodes(
  const NodeLayout& layout, std::uint32_t count);

/// The same from wishes: `wished[i]` is the rank that would be best for the i-th, near its data for
/// instance; the numbers of wishes for two ranks differ by at most one. Wishes that break the rule
/// move to a rank of a node that has too little, all others are kept: on one node, all are.
[[nodiscard]] std::vector<std::uint32_t> spread_over_nodes(
  const NodeLayout& layout, std::vector<std::uint32_t> wished);

/// Memory that all ranks of a node see, with a part for each.
class SharedMemory
{
public:
  /// Collective over the node; all request the same number of bytes.
  SharedMemory(MPI_Comm node, std::size_t bytes_of_each);
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  /// Collective over the node.
  ~SharedMemory();

  /// Begin of the part of the rank with this place in the node.
  [[nodiscard]] std::byte* of(int place) const;
  /// Call it between this rank's accesses and a barrier, on both sides of the barrier.
  void sync() const { MPI_Win_sync(this->window_); }

private:
  MPI_Win window_ = MPI_WIN_NULL;
};

/// The nodes of a communicator: where ranks are, and a communicator of those of this rank's node,
/// in which memory can be shared (MPI_Win_allocate_shared).
class Nodes
{
public:
  /// Collective. `ranks_per_node`: 0 for the machine's own nodes; otherwise every n consecutive
  /// ranks (0 to n - 1, n to 2 n - 1, ...) of a node count as a node of their own, as those of a
  /// socket, or of a machine that simulates several. Throws Error{InvalidArgument} on all ranks if
  /// it is negative; the value is rank 0's.
  explicit Nodes(const OwnComm& comm, int ranks_per_node = 0);
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;
  /// Collective.
  ~Nodes();

  [[nodiscard]] const NodeLayout& layout() const noexcept { return this->layout_; }
  /// Number of this rank's node.
  [[nodiscard]] std::uint32_t node() const noexcept { return this->node_; }
  /// Whether another rank is on this rank's node.
  [[nodiscard]] bool is_near(std::uint32_t rank) const
  {
    return this->layout_.node_of(rank) == this->node_;
  }
  /// The communicator of this rank's node, in the order of `layout().ranks_of(node())`.
  [[nodiscard]] MPI_Comm comm() const noexcept { return this->comm_; }
  /// This rank's place in comm(), and their number.
  [[nodiscard]] int place() const noexcept { return this->place_; }
  [[nodiscard]] int size() const noexcept { return this->size_; }

  /// Collective over the node. Shared memory with `bytes_of_each` for each rank, the same number
  /// each time. Made by the first call and kept.
  SharedMemory& memory(std::size_t bytes_of_each);
  [[nodiscard]] bool has_memory() const noexcept { return this->memory_.has_value(); }
  /// Whether this was called before. One-time costs may pay off then.
  [[nodiscard]] bool is_used_again() noexcept { return std::exchange(this->is_used_, true); }

private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int place_ = 0;
  int size_ = 1;
  std::uint32_t node_ = 0;
  NodeLayout layout_;
  std::optional<SharedMemory> memory_;
  bool is_used_ = false;
};

/// Collective. The nodes of a communicator, made by the first call and kept with it; as the
/// constructor of Nodes.
[[nodiscard]] Nodes& find_nodes(const OwnComm& comm, int ranks_per_node = 0);

/// As the function of bat/ranks.hpp.
[[nodiscard]] int threads_per_rank(const OwnComm& comm);

/// The messages of one rank, counted separately for its own node and for others. A report adds
/// those of all ranks.
struct NodeTraffic
{
  NodeTraffic& operator+=(const NodeTraffic& more);

  std::uint64_t messages_within = 0;  ///< to ranks of the node; none where memory is shared
  std::uint64_t messages_between = 0; ///< to ranks of other nodes
  std::uint64_t bytes_within = 0;     ///< to ranks of the node, in messages or in shared memory
  std::uint64_t bytes_between = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t bytes_received = 0; ///< in messages or in shared memory
};

/// Collective. The sums of all ranks, on all ranks.
[[nodiscard]] NodeTraffic compute_sum(const OwnComm& comm, const NodeTraffic& local);
}
