// SPDX-License-Identifier: BSD-3-Clause
// Exchanges in which ranks of a node pass their data to leaders in shared memory.
#pragma once

#include "bat/error.hpp"
#include "bat/routing.hpp"
#include "common/memory/large_array.hpp"
#include "parallel/comm.hpp"
#include "parallel/nodes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace bat::mpi
{
/// Size of data that are sent whole to another rank: at least one byte, at most
/// compute_parcel_bytes().
struct Parcel
{
  std::uint32_t target = 0;
  std::uint32_t bytes = 0;
};

/// 256 KiB to 2 MiB, less with more ranks per node.
[[nodiscard]] std::size_t compute_parcel_bytes(const NodeLayout& layout);

/// The data that a rank sends and receives in one exchange.
struct Mail
{
  /// Parcels for one rank arrive in this order. None is for this rank itself.
  std::vector<Parcel> parcels;
  /// Writes parcel number `parcel`. If it throws, the parcel is sent with whatever bytes it has,
  /// because others wait for it.
  std::function<void(std::size_t parcel, std::byte* out)> pack;
  /// Total size of all parcels for this rank.
  std::uint64_t expected_bytes = 0;
  /// Processes a parcel for this rank, which is valid during the call. Parcels from one source
  /// arrive in its order. May throw, and is called for the others nevertheless.
  std::function<void(std::uint32_t source, const std::byte* bytes, std::size_t count)> take;
};

/// Parcels for ranks on the same node are read where their sender packed them. For each receiver on
/// another node, a leader sends all parcels of its node in one message of at most 16 MiB. Works in
/// rounds: a node takes at most 32 MiB of shared memory (256 KiB for each of its ranks if that is
/// more, and 8 bytes for each rank of all nodes), and a receiver 16 MiB for the arriving message.
/// Calls MPI on the calling thread only.
class LeaderExchange
{
public:
  LeaderExchange(const OwnComm& comm, Nodes& nodes, int leaders_per_node);

  /// Not collective. Does everything that may fail before parcels are sent. Throws if memory runs
  /// out or a parcel is invalid.
  void prepare(Mail mail);
  [[nodiscard]] Mail& mail() noexcept { return this->mail_; }
  /// Collective, after prepare() has succeeded on all ranks. Does not throw; returns the first
  /// exception on this rank, on which all ranks then agree.
  [[nodiscard]] std::optional<Error> run();
  /// The number of ranks, on all nodes, that send for others.
  [[nodiscard]] std::uint32_t leaders() const;
  /// This rank's traffic.
  [[nodiscard]] const NodeTraffic& traffic() const noexcept { return this->traffic_; }

private:
  struct Segment;
  static constexpr std::size_t kMaxSegments = 64;

  [[nodiscard]] std::uint32_t distance(std::uint32_t target) const;
  [[nodiscard]] int leader_for(std::uint32_t target) const;
  [[nodiscard]] bool leads_for(std::uint32_t target) const;
  void keep_failure(std::optional<Error> failure);
  void find_segments();
  void pack_round();
  void meet();
  void wait();
  void receive(MPI_Message& message, const MPI_Status& status);
  void take(const std::byte* bytes, std::size_t count);
  void take_from_node();
  void send_round();
  void skip_to_led(std::size_t place);
  void add_piece(std::uint32_t target, std::byte* begin, std::uint32_t bytes);
  void send_pieces(std::uint32_t target);

  /// A leader's progress in another rank's segment.
  struct Cursor
  {
    std::uint64_t run = 0;
    std::byte* bytes = nullptr;
  };

  const OwnComm& comm_;
  Nodes& nodes_;
  const NodeLayout& layout_;
  Mail mail_;
  std::uint32_t rank_;
  std::uint32_t leaders_per_node_; ///< requested
  std::uint32_t leaders_;          ///< leaders on this node
  std::vector<std::size_t> order_; ///< order of parcels
  std::size_t next_ = 0;           ///< index in order_
  SharedMemory* memory_ = nullptr;
  std::vector<Segment*> segments_; ///< per place
  std::vector<Cursor> cursors_;    ///< per place
  std::array<MPI_Request, kMaxSegments> requests_{};
  int request_count_ = 0;
  std::vector<int> lengths_; ///< pieces of the message that is being described
  std::vector<MPI_Aint> places_;
  std::size_t message_bytes_ = 0;
  LargeArray<std::byte> arriving_;
  std::uint64_t received_ = 0; ///< excludes labels
  std::optional<Error> failure_;
  NodeTraffic traffic_;
};

/// Collective. Prepares and runs an exchange. All ranks throw. Returns this rank's traffic.
NodeTraffic exchange_through_leaders(
  const OwnComm& comm, Nodes& nodes, int leaders_per_node, Mail mail);

/// The amount of data that a rank is about to send.
struct Load
{
  std::uint64_t targets = 0;      ///< ranks of other nodes
  std::uint64_t bytes = 0;        ///< bytes sent to them
  bool has_large_parcels = false; ///< larger than compute_parcel_bytes()
};

/// Collective. Returns Flat or Leaders, the same on all ranks. Large parcels go flat. Auto takes
/// leaders if they pay off, there is enough shared memory, and this is not the only exchange,
/// because setting up shared memory costs as much as several exchanges. All ranks throw: `failure`,
/// of the first rank that has one; Error{OutOfMemory} if Leaders are requested and a node lacks the
/// memory.
[[nodiscard]] Route choose_route(const OwnComm& comm, Nodes& nodes, Route requested,
  const Load& local, const std::optional<Error>& failure = {});

/// The rule for Auto, based on the sums over all ranks: the number of messages between nodes in a
/// flat exchange, and the bytes in them. Not collective.
[[nodiscard]] bool leaders_pay(
  const NodeLayout& layout, std::uint64_t messages, std::uint64_t bytes);
}
