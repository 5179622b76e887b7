// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/flat_exchange.hpp"

#include "bat/ranks.hpp"
#include "parallel/packed_sends.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace bat::mpi
{
namespace
{
constexpr int kTag = 4;

class FlatExchange
{
public:
  FlatExchange(const OwnComm& comm, const Nodes& nodes, Mail mail)
    : comm_(comm)
    , nodes_(nodes)
    , mail_(std::move(mail))
  {
  }

  // Does everything that may fail before parcels are in transit.
  void prepare()
  {
    std::size_t largest = 0;
    for (const Parcel& parcel : this->mail_.parcels)
    {
      if (parcel.bytes == 0 || parcel.bytes > kMaxParcelBytes)
      {
        throw Error(ErrorCode::InvalidArgument,
          fmt::format("a parcel has {} bytes; allowed are 1 to {}", parcel.bytes, kMaxParcelBytes));
      }
      largest = std::max<std::size_t>(largest, parcel.bytes);
    }
    this->order_.resize(this->mail_.parcels.size());
    std::iota(this->order_.begin(), this->order_.end(), std::size_t{ 0 });
    // Each rank starts with the next one, so that not all send to the same rank at once.
    const auto size = static_cast<std::uint32_t>(this->comm_.size());
    const auto distance = [&](std::size_t parcel)
    {
      return (this->mail_.parcels[parcel].target + size -
               static_cast<std::uint32_t>(this->comm_.rank())) %
        size;
    };
    std::stable_sort(this->order_.begin(), this->order_.end(),
      [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
    this->sends_.make_room(this->order_.size(), largest);
    if (this->mail_.expected_bytes != 0)
    {
      this->arriving_.reset(kMaxParcelBytes);
    }
  }

  // Does not throw; returns the first exception on this rank.
  std::optional<Error> run()
  {
    for (const std::size_t number : this->order_)
    {
      (void)this->receive_one(); // waiting messages take MPI's memory
      this->send(number);
    }
    while (this->received_ < this->mail_.expected_bytes)
    {
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      MPI_Mprobe(MPI_ANY_SOURCE, kTag, this->comm_.get(), &message, &status);
      this->receive(message, status);
    }
    this->sends_.wait();
    return std::move(this->failure_);
  }

  [[nodiscard]] const NodeTraffic& traffic() const { return this->traffic_; }

private:
  void keep_failure(std::optional<Error> failure)
  {
    if (!this->failure_)
    {
      this->failure_ = std::move(failure);
    }
  }

  void send(std::size_t number)
  {
    const Parcel& parcel = this->mail_.parcels[number];
    // Other ranks may be waiting until this rank receives their messages.
    std::byte* const packed = this->sends_.next([this] { return this->receive_one(); });
    // A parcel that could not be packed is sent anyway, because its receiver waits for it.
    this->keep_failure(attempt([&] { this->mail_.pack(number, packed); }));
    this->sends_.send(this->comm_, static_cast<int>(parcel.target), kTag, parcel.bytes);
    const bool is_near = this->nodes_.is_near(parcel.target);
    ++(is_near ? this->traffic_.messages_within : this->traffic_.messages_between);
    (is_near ? this->traffic_.bytes_within : this->traffic_.bytes_between) += parcel.bytes;
  }

  bool receive_one()
  {
    if (this->received_ >= this->mail_.expected_bytes)
    {
      return false;
    }
    int arrived = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, kTag, this->comm_.get(), &arrived, &message, &status);
    if (arrived != 0)
    {
      this->receive(message, status);
    }
    return arrived != 0;
  }

  void receive(MPI_Message& message, const MPI_Status& status)
  {
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    MPI_Mrecv(this->arriving_.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    this->keep_failure(attempt(
      [&]
      {
        this->mail_.take(static_cast<std::uint32_t>(status.MPI_SOURCE), this->arriving_.data(),
          static_cast<std::size_t>(bytes));
      }));
    this->received_ += static_cast<std::uint64_t>(bytes);
  }

  const OwnComm& comm_;
  const Nodes& nodes_;
  Mail mail_;
  std::vector<std::size_t> order_; ///< order of parcels
  PackedSends sends_;
  LargeArray<std::byte> arriving_;
  std::uint64_t received_ = 0;
  std::optional<Error> failure_;
  NodeTraffic traffic_;
};
}

NodeTraffic exchange_flat(const OwnComm& comm, const Nodes& nodes, Mail mail)
{
  FlatExchange exchange(comm, nodes, std::move(mail));
  collective(comm.get(), [&] { exchange.prepare(); });
  agree(comm.get(), exchange.run());
  return exchange.traffic();
}

NodeTraffic exchange_parcels(
  const OwnComm& comm, Nodes& nodes, Route requested, int leaders_per_node, Mail mail)
{
  Load load;
  std::set<std::uint32_t> targets;
  for (const Parcel& parcel : mail.parcels)
  {
    if (!nodes.is_near(parcel.target))
    {
      targets.insert(parcel.target);
      load.bytes += parcel.bytes;
    }
    load.has_large_parcels =
      load.has_large_parcels || parcel.bytes > compute_parcel_bytes(nodes.layout());
  }
  load.targets = targets.size();
  return choose_route(comm, nodes, requested, load) == Route::Flat
    ? exchange_flat(comm, nodes, std::move(mail))
    : exchange_through_leaders(comm, nodes, leaders_per_node, std::move(mail));
}
}
