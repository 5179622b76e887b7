// Where a call runs and what it sends: the part of a report that writes and reads have in common.
#pragma once

#include "bat/mpi.hpp"
#include "parallel/comm.hpp"
#include "parallel/nodes.hpp"

#include <cstdint>
#include <functional>

namespace bat::mpi
{
/// Messages of this rank.
class TrafficCounter
{
public:
  TrafficCounter() = default;
  /// Collective the first time for a communicator, which outlives this.
  explicit TrafficCounter(const OwnComm& comm)
    : is_inside_([&nodes = comm.node_of_ranks(), rank = static_cast<std::size_t>(comm.rank())](
                   int target) { return nodes[static_cast<std::size_t>(target)] == nodes[rank]; })
  {
  }
  /// `nodes` outlives the messages.
  explicit TrafficCounter(const Nodes& nodes)
    : is_inside_([&nodes](int target) { return nodes.is_near(static_cast<std::uint32_t>(target)); })
  {
  }
  void sent(int target, std::uint64_t bytes)
  {
    const bool inside = this->is_inside_(target);
    (inside ? this->mine_.messages_inside : this->mine_.messages_between) += 1;
    (inside ? this->mine_.bytes_inside : this->mine_.bytes_between) += bytes;
  }
  void received(std::uint64_t bytes) noexcept
  {
    ++this->mine_.most_received;
    this->mine_.most_received_bytes += bytes;
  }
  void add(const NodeTraffic& more) noexcept
  {
    this->mine_.messages_inside += more.messages_within;
    this->mine_.bytes_inside += more.bytes_within;
    this->mine_.messages_between += more.messages_between;
    this->mine_.bytes_between += more.bytes_between;
  }
  [[nodiscard]] NodeTraffic of_nodes() const noexcept
  {
    return { this->mine_.messages_inside, this->mine_.messages_between, this->mine_.bytes_inside,
      this->mine_.bytes_between };
  }
  [[nodiscard]] const Traffic& mine() const noexcept { return this->mine_; }

private:
  std::function<bool(int)> is_inside_;
  Traffic mine_;
};

/// Collective. `aggregates`: whether this rank is one of RunReport::aggregators.
void describe_run(const OwnComm& comm, const TrafficCounter& traffic, int threads, bool aggregates,
  RunReport& report);
}
