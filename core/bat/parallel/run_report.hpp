// Where a call runs and what it sends: the part of a report that writes and reads have in common.
#pragma once

#include "bat/mpi.hpp"
#include "parallel/comm.hpp"

#include <cstdint>

namespace bat::mpi
{
/// Messages of this rank.
class TrafficCounter
{
public:
  TrafficCounter() = default;
  /// Collective the first time for a communicator, which outlives this.
  explicit TrafficCounter(const OwnComm& comm)
    : nodes_(&comm.node_of_ranks())
    , node_((*this->nodes_)[static_cast<std::size_t>(comm.rank())])
  {
  }
  void sent(int target, std::uint64_t bytes) noexcept
  {
    const bool inside = (*this->nodes_)[static_cast<std::size_t>(target)] == this->node_;
    (inside ? this->mine_.messages_inside : this->mine_.messages_between) += 1;
    (inside ? this->mine_.bytes_inside : this->mine_.bytes_between) += bytes;
  }
  void received(std::uint64_t bytes) noexcept
  {
    ++this->mine_.most_received;
    this->mine_.most_received_bytes += bytes;
  }
  [[nodiscard]] const Traffic& mine() const noexcept { return this->mine_; }

private:
  const std::vector<int>* nodes_ = nullptr;
  int node_ = 0;
  Traffic mine_;
};

/// Collective. `aggregates`: whether this rank is one of RunReport::aggregators.
void describe_run(const OwnComm& comm, const TrafficCounter& traffic, int threads, bool aggregates,
  RunReport& report);
}
