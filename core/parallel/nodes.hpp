// SPDX-License-Identifier: BSD-3-Clause
// Determines which ranks share a node, which of them lead, and how work is spread over nodes.
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
  /// `name_of_node` has a number for each rank; ranks on one node have equal numbers. Nodes are
  /// then numbered from 0 in the order of their lowest ranks.
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
  /// Number of ranks on a node.
  [[nodiscard]] std::uint32_t size_of(std::uint32_t node) const
  {
    return this->first_[node + std::size_t{ 1 }] - this->first_[node];
  }
  /// The ranks on a node, ascending.
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

/// Spreads `count` aggregators (or other work that uses the network) over nodes first, and then
/// over the ranks of each node: no node or rank has two while another has none. With fewer
/// aggregators than ranks, the numbers on two nodes differ by at most one, unless the smaller node
/// has one on each rank. Ascending in the order of `in_order()`. Not collective; equal for equal
/// arguments.
[[nodiscard]] std::vector<std::uint32_t> spread_over_nodes(
  const NodeLayout& layout, std::uint32_t count);

/// Does the same starting from wishes: `wished[i]` is the rank that would be best for the i-th, for
/// instance near its data; the numbers of wishes for two ranks differ by at most one. Wishes that
/// break the rule move to a rank on a node that has too few; all others are kept. On one node, all
/// are kept.
[[nodiscard]] std::vector<std::uint32_t> spread_over_nodes(
  const NodeLayout& layout, std::vector<std::uint32_t> wished);

/// Memory shared by all ranks of a node, with a part for each.
class SharedMemory
{
public:
  /// Collective over the node; all request the same number of bytes.
  SharedMemory(MPI_Comm node, std::size_t bytes_of_each);
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  /// Collective over the node.
  ~SharedMemory();

  /// Beginning of the part that belongs to the rank at this position in the node.
  [[nodiscard]] std::byte* of(int place) const;
  /// Call it between this rank's accesses and a barrier, on both sides of the barrier.
  void sync() const { MPI_Win_sync(this->window_); }

private:
  MPI_Win window_ = MPI_WIN_NULL;
};

/// The nodes of a communicator: the location of ranks, and a communicator for the ranks of this
/// node, which can share memory (MPI_Win_allocate_shared).
class Nodes
{
public:
  /// Collective. `ranks_per_node`: 0 for the machine's own nodes; otherwise every n consecutive
  /// ranks (0 to n - 1, n to 2 n - 1, ...) of a node count as a separate node, for instance one per
  /// socket, or on a machine that simulates several nodes. Throws Error{InvalidArgument} on all
  /// ranks if it is negative; rank 0's value is used.
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
  /// The communicator for this rank's node, in the order of `layout().ranks_of(node())`.
  [[nodiscard]] MPI_Comm comm() const noexcept { return this->comm_; }
  /// This rank's position in comm(), and the number of ranks in it.
  [[nodiscard]] int place() const noexcept { return this->place_; }
  [[nodiscard]] int size() const noexcept { return this->size_; }

  /// Collective over the node. Returns shared memory with `bytes_of_each` for each rank, which is
  /// the same in every call. The first call allocates it.
  SharedMemory& memory(std::size_t bytes_of_each);
  [[nodiscard]] bool has_memory() const noexcept { return this->memory_.has_value(); }
  /// Returns whether this was called before. One-time costs may pay off then.
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

/// Collective. Returns the nodes of a communicator, which the first call determines and attaches to
/// it; arguments as for the constructor of Nodes.
[[nodiscard]] Nodes& find_nodes(const OwnComm& comm, int ranks_per_node = 0);

/// Implementation of the function in bat/ranks.hpp.
[[nodiscard]] int threads_per_rank(const OwnComm& comm);

/// The messages of one rank, counted separately for its own node and for others. A report adds up
/// all ranks.
struct NodeTraffic
{
  NodeTraffic& operator+=(const NodeTraffic& more);

  std::uint64_t messages_within = 0;  ///< to ranks on the node; none with shared memory
  std::uint64_t messages_between = 0; ///< to ranks on other nodes
  std::uint64_t bytes_within = 0;     ///< to ranks on the node, in messages or shared memory
  std::uint64_t bytes_between = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t bytes_received = 0; ///< in messages or shared memory
};

/// Collective. Returns the sums over all ranks, on all ranks.
[[nodiscard]] NodeTraffic compute_sum(const OwnComm& comm, const NodeTraffic& local);
}
