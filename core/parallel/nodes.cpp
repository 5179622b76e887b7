// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/nodes.hpp"

#include "bat/error.hpp"
#include "bat/ranks.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <iterator>
#include <memory>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

namespace bat::mpi
{
NodeLayout::NodeLayout(const std::vector<std::uint32_t>& name_of_node)
{
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;
  this->node_of_.reserve(name_of_node.size());
  for (const std::uint32_t name : name_of_node)
  {
    this->node_of_.push_back(
      numbers.emplace(name, static_cast<std::uint32_t>(numbers.size())).first->second);
  }
  this->first_.assign(numbers.size() + 1, 0);
  for (const std::uint32_t node : this->node_of_)
  {
    ++this->first_[node + std::size_t{ 1 }];
  }
  std::partial_sum(this->first_.begin(), this->first_.end(), this->first_.begin());
  std::vector<std::uint32_t> next = this->first_;
  this->ranks_.resize(name_of_node.size());
  for (std::uint32_t rank = 0; rank != this->rank_count(); ++rank)
  {
    this->ranks_[next[this->node_of_[rank]]++] = rank;
  }
}

std::uint32_t NodeLayout::largest_node() const
{
  std::uint32_t largest = 0;
  for (std::uint32_t node = 0; node != this->node_count(); ++node)
  {
    largest = std::max(largest, this->size_of(node));
  }
  return largest;
}

namespace
{
/// Moves the load that exceeds the common load of all ranks from nodes with more of it to those
/// with less.
class Spreader
{
public:
  Spreader(const NodeLayout& layout, std::vector<std::uint32_t> wished)
    : layout_(layout)
    , chosen_(std::move(wished))
    , load_(layout.rank_count(), 0)
    , extra_(layout.node_count())
  {
    const std::size_t all_have = this->chosen_.size() / layout.rank_count();
    for (std::uint32_t i = 0; i != this->chosen_.size(); ++i)
    {
      const std::uint32_t rank = this->chosen_[i];
      if (++this->load_[rank] > all_have)
      {
        assert(this->load_[rank] == all_have + 1);
        this->extra_[layout.node_of(rank)].push_back(i);
      }
    }
  }

  std::vector<std::uint32_t> run()
  {
    for (std::uint32_t node = 0; node != this->layout_.node_count(); ++node)
    {
      this->enter(node);
    }
    while (
      !this->takers_.empty() && this->takers_.begin()->first + 2 <= this->givers_.rbegin()->first)
    {
      const std::uint32_t taker = this->takers_.begin()->second;
      const std::uint32_t giver = this->givers_.rbegin()->second;
      this->leave(giver);
      this->leave(taker);
      this->move(giver, taker);
      this->enter(giver);
      this->enter(taker);
    }
    return std::move(this->chosen_);
  }

private:
  void enter(std::uint32_t node)
  {
    this->givers_.emplace(this->extra_[node].size(), node);
    if (this->extra_[node].size() < this->layout_.size_of(node))
    {
      this->takers_.emplace(this->extra_[node].size(), node);
    }
  }

  void leave(std::uint32_t node)
  {
    this->givers_.erase({ this->extra_[node].size(), node });
    this->takers_.erase({ this->extra_[node].size(), node });
  }

  // Moves the entry nearest in order to the other node to the rank there with the smallest load.
  void move(std::uint32_t giver, std::uint32_t taker)
  {
    std::vector<std::uint32_t>& from = this->extra_[giver];
    const auto place = taker > giver ? std::prev(from.end()) : from.begin();
    const std::uint32_t i = *place;
    from.erase(place);
    --this->load_[this->chosen_[i]];
    const std::uint32_t* ranks = this->layout_.ranks_of(taker);
    this->chosen_[i] = *std::min_element(ranks, ranks + this->layout_.size_of(taker),
      [this](std::uint32_t a, std::uint32_t b) { return this->load_[a] < this->load_[b]; });
    ++this->load_[this->chosen_[i]];
    std::vector<std::uint32_t>& to = this->extra_[taker];
    to.insert(std::upper_bound(to.begin(), to.end(), i), i);
  }

  using ByExtra = std::set<std::pair<std::size_t, std::uint32_t>>;
  const NodeLayout& layout_;
  std::vector<std::uint32_t> chosen_;
  std::vector<std::uint32_t> load_;               ///< per rank
  std::vector<std::vector<std::uint32_t>> extra_; ///< per node, ascending
  ByExtra givers_;                                ///< all nodes
  ByExtra takers_;                                ///< nodes with ranks that have no work
};
}

std::vector<std::uint32_t> spread_over_nodes(
  const NodeLayout& layout, std::vector<std::uint32_t> wished)
{
  return Spreader(layout, std::move(wished)).run();
}

std::vector<std::uint32_t> spread_over_nodes(const NodeLayout& layout, std::uint32_t count)
{
  const std::uint64_t ranks = layout.rank_count();
  std::vector<std::uint32_t> wished;
  wished.reserve(count);
  for (std::uint64_t i = 0; i != count; ++i)
  {
    wished.push_back(layout.in_order()[static_cast<std::size_t>(i * ranks / count)]);
  }
  std::vector<std::uint32_t> chosen = spread_over_nodes(layout, std::move(wished));
  std::stable_sort(chosen.begin(), chosen.end(),
    [&](std::uint32_t a, std::uint32_t b)
    { return std::pair(layout.node_of(a), a) < std::pair(layout.node_of(b), b); });
  return chosen;
}

SharedMemory::SharedMemory(MPI_Comm node, std::size_t bytes_of_each)
{
  void* local = nullptr;
  MPI_Win_allocate_shared(
    static_cast<MPI_Aint>(bytes_of_each), 1, MPI_INFO_NULL, node, &local, &this->window_);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, this->window_);
}

SharedMemory::~SharedMemory()
{
  MPI_Win_unlock_all(this->window_);
  MPI_Win_free(&this->window_);
}

std::byte* SharedMemory::of(int place) const
{
  MPI_Aint bytes = 0;
  int unit = 0;
  void* begin = nullptr;
  MPI_Win_shared_query(this->window_, place, &bytes, &unit, &begin);
  return static_cast<std::byte*>(begin);
}

Nodes::Nodes(const OwnComm& comm, int ranks_per_node)
{
  MPI_Bcast(&ranks_per_node, 1, MPI_INT, 0, comm.get());
  std::vector<std::uint32_t> names;
  collective(comm.get(),
    [&]
    {
      if (ranks_per_node < 0)
      {
        throw Error(ErrorCode::InvalidArgument,
          fmt::format(
            "ranks per node is {}; allowed are 0 (nodes of the machine) or more", ranks_per_node));
      }
      names.resize(static_cast<std::size_t>(comm.size()));
    });
  MPI_Comm_split_type(comm.get(), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &this->comm_);
  if (ranks_per_node != 0)
  {
    MPI_Comm whole = this->comm_;
    MPI_Comm_split(whole, comm.rank() / ranks_per_node, comm.rank(), &this->comm_);
    MPI_Comm_free(&whole);
  }
  MPI_Comm_rank(this->comm_, &this->place_);
  MPI_Comm_size(this->comm_, &this->size_);
  auto name = static_cast<std::uint32_t>(comm.rank());
  MPI_Bcast(&name, 1, MPI_UINT32_T, 0, this->comm_);
  MPI_Allgather(&name, 1, MPI_UINT32_T, names.data(), 1, MPI_UINT32_T, comm.get());
  try
  {
    collective(comm.get(),
      [&]
      {
        this->layout_ = NodeLayout(names);
        this->node_ = this->layout_.node_of(static_cast<std::uint32_t>(comm.rank()));
      });
  }
  catch (...)
  {
    MPI_Comm_free(&this->comm_);
    throw;
  }
}

SharedMemory& Nodes::memory(std::size_t bytes_of_each)
{
  if (!this->memory_)
  {
    this->memory_.emplace(this->comm_, bytes_of_each);
  }
  return *this->memory_;
}

Nodes::~Nodes()
{
  this->memory_.reset();
  MPI_Comm_free(&this->comm_);
}

Nodes& find_nodes(const OwnComm& comm, int ranks_per_node)
{
  MPI_Bcast(&ranks_per_node, 1, MPI_INT, 0, comm.get());
  std::shared_ptr<void>& kept = comm.kept()[ranks_per_node];
  if (!kept)
  {
    kept = std::make_shared<Nodes>(comm, ranks_per_node);
  }
  return *static_cast<Nodes*>(kept.get());
}

int threads_per_rank(MPI_Comm comm)
{
  return threads_per_rank(OwnComm(comm));
}

int threads_per_rank(const OwnComm& comm)
{
  const Nodes& nodes = find_nodes(comm);
  cpu_set_t local;
  CPU_ZERO(&local);
  (void)::sched_getaffinity(0, sizeof(local), &local);
  std::vector<cpu_set_t> all(static_cast<std::size_t>(nodes.size()));
  MPI_Allgather(&local, sizeof(local), MPI_BYTE, all.data(), sizeof(local), MPI_BYTE, nodes.comm());
  // A processor that several ranks may use counts for its share.
  double share = 0;
  for (int cpu = 0; cpu != CPU_SETSIZE; ++cpu)
  {
    if (CPU_ISSET(cpu, &local))
    {
      share += 1.0 /
        static_cast<double>(std::count_if(all.begin(), all.end(),
          [cpu](const cpu_set_t& set) { return CPU_ISSET(cpu, &set) != 0; }));
    }
  }
  return std::max(1, static_cast<int>(std::floor(share + 1e-9)));
}

NodeTraffic& NodeTraffic::operator+=(const NodeTraffic& more)
{
  this->messages_within += more.messages_within;
  this->messages_between += more.messages_between;
  this->bytes_within += more.bytes_within;
  this->bytes_between += more.bytes_between;
  this->messages_received += more.messages_received;
  this->bytes_received += more.bytes_received;
  return *this;
}

NodeTraffic compute_sum(const OwnComm& comm, const NodeTraffic& local)
{
  const std::array<std::uint64_t, 6> here{ local.messages_within, local.messages_between,
    local.bytes_within, local.bytes_between, local.messages_received, local.bytes_received };
  std::array<std::uint64_t, 6> all{};
  MPI_Allreduce(here.data(), all.data(), 6, MPI_UINT64_T, MPI_SUM, comm.get());
  return { all[0], all[1], all[2], all[3], all[4], all[5] };
}
}
