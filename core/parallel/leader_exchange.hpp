// Exchanges in which ranks of a node hand what they owe others to leaders, in shared memory.
#pragma once

#include "bat/routing.hpp"
#include "parallel/comm.hpp"
#include "parallel/nodes.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace bat::mpi
{
/// Largest parcel that leaders take.
constexpr std::size_t kMostOfParcel = std::size_t{ 8 } << 20;

/// Bytes for another rank that travel whole: 1 to kMostOfParcel.
struct Parcel
{
  std::uint32_t target = 0;
  std::uint32_t bytes = 0;
};

/// What a rank sends and gets in one exchange.
struct Mail
{
  /// Those for one rank arrive there in this order. None is for this rank itself.
  std::vector<Parcel> parcels;
  /// Writes parcel number `parcel`. If it throws, the parcel travels with whatever bytes it has,
  /// because others wait for it, and all ranks throw afterwards.
  std::function<void(std::size_t parcel, std::byte* out)> pack;
  /// Of all parcels for this rank together.
  std::uint64_t expected_bytes = 0;
  /// A parcel for this rank, while this call lasts. Parcels of a source come in its order, those of
  /// several in any. Throws as pack does.
  std::function<void(std::uint32_t source, const std::byte* bytes, std::size_t count)> take;
};

/// Largest parcel with which a node keeps to its share of memory; larger ones make it take more.
[[nodiscard]] std::size_t room_of_parcel(const NodeLayout& layout);

/// Collective. Parcels for ranks of the same node are read where their sender packed them; of those
/// for another node, a leader sends all that its node has for a receiver in one message, of at most
/// 16 MiB. Works in rounds: a node takes at most 64 MiB of shared memory, or 256 KiB
/// or a parcel for each of its ranks, and a receiver 16 MiB for the message that arrives. MPI is
/// called by the calling thread only. Throws on all ranks. Returns what this rank sent.
NodeTraffic exchange_through_leaders(
  const OwnComm& comm, const Nodes& nodes, int leaders_per_node, const Mail& mail);

/// What a rank is about to send.
struct Load
{
  std::uint64_t targets = 0;      ///< ranks of other nodes
  std::uint64_t bytes = 0;        ///< to them
  std::uint64_t shared_bytes = 0; ///< to all others
  bool has_large_parcels = false; ///< larger than kMostOfParcel
};

/// Collective. Flat or Leaders, the same on all ranks. Large parcels go flat; Auto takes leaders
/// where they pay, and where there is room for what they share. Throws Error{OutOfMemory} on all
/// ranks if Leaders are asked for and a node has no room for them.
[[nodiscard]] Route choose_route(
  const OwnComm& comm, const Nodes& nodes, Route asked, const Load& mine);

/// The rule of Auto, from the sums of all ranks: messages that go from node to node if it is flat,
/// and the bytes in them. Not collective.
[[nodiscard]] bool leaders_pay(
  const NodeLayout& layout, std::uint64_t messages, std::uint64_t bytes);
}
