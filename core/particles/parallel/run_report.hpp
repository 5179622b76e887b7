// SPDX-License-Identifier: BSD-3-Clause
// Where a call runs and what it sends: the part of a report shared by writes and reads.
#pragma once

#include "bat/mpi.hpp"
#include "parallel/comm.hpp"
#include "parallel/nodes.hpp"

#include <cstdint>

namespace bat::mpi
{
/// Messages of this rank.
class MessageCounter
{
public:
  MessageCounter() = default;
  /// Collective on the first call for a communicator, which outlives this.
  explicit MessageCounter(const OwnComm& comm)
    : MessageCounter(find_nodes(comm))
  {
  }
  /// `nodes` outlives this.
  explicit MessageCounter(const Nodes& nodes)
    : nodes_(&nodes)
  {
  }
  void sent(int target, std::uint64_t bytes)
  {
    const bool near = this->nodes_->is_near(static_cast<std::uint32_t>(target));
    (near ? this->local_.within : this->local_.between) += 1;
    (near ? this->local_.bytes_within : this->local_.bytes_between) += bytes;
  }
  void received(std::uint64_t bytes) noexcept
  {
    ++this->local_.max_received;
    this->local_.max_received_bytes += bytes;
  }
  void add(const NodeTraffic& more) noexcept
  {
    this->local_.within += more.messages_within;
    this->local_.bytes_within += more.bytes_within;
    this->local_.between += more.messages_between;
    this->local_.bytes_between += more.bytes_between;
    this->local_.max_received += more.messages_received;
    this->local_.max_received_bytes += more.bytes_received;
  }
  [[nodiscard]] NodeTraffic of_nodes() const noexcept
  {
    return { this->local_.within, this->local_.between, this->local_.bytes_within,
      this->local_.bytes_between, this->local_.max_received, this->local_.max_received_bytes };
  }
  [[nodiscard]] const Nodes& nodes() const noexcept { return *this->nodes_; }
  [[nodiscard]] const MessageCounts& local() const noexcept { return this->local_; }

private:
  const Nodes* nodes_ = nullptr;
  MessageCounts local_;
};

/// Collective. `aggregates` is true if this rank is one of RunReport::aggregators.
void describe_run(const OwnComm& comm, const MessageCounter& messages, int threads, bool aggregates,
  RunReport& report);
}
