// SPDX-License-Identifier: BSD-3-Clause
// Sends many small parcels between nodes as few large messages. Each rank packs its parcels into
// its own segment of the node's shared memory; leaders send from there.
//
//   segment of a rank:  | Segment | Run per target rank ... | contents of the runs, in order |
//   a run:              | Label | parcel | Label | parcel | ...        all for one target rank
//   a message:          the runs of all ranks of the node for one target, at most 16 MiB
//
// An exchange works in rounds, since a segment is small:
// 1. Each rank packs as many parcels as fit in its segment, and all ranks of the node meet.
// 2. A leader sends, for each target on another node that it leads, the runs of all segments in one
//    message, straight from the segments. All ranks pack targets in the same order, from their own
//    node on, so that runs for a target are found together and nodes do not all send to the same.
// 3. Each rank takes the parcels for itself out of all segments of its node. When all messages are
//    sent, the ranks meet again and the segments are free.
// A waiting rank also receives, because others may be waiting until it takes what they send.

#include "parallel/leader_exchange.hpp"

#include "bat/ranks.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace bat::mpi
{
namespace
{
constexpr int kTag = 3;
constexpr std::size_t kBytesPerNode = std::size_t{ 32 } << 20;
constexpr std::size_t kMinBytesPerRank = std::size_t{ 256 } << 10;
constexpr std::size_t kMaxBytesPerRank = std::size_t{ 2 } << 20;
constexpr std::size_t kMaxMessageBytes = std::size_t{ 16 } << 20;

/// Precedes each parcel.
struct Label
{
  std::uint32_t source;
  std::uint32_t bytes;
};

/// The consecutive parcels of one rank for another.
struct Run
{
  std::uint32_t target;
  std::uint32_t bytes; ///< includes labels
};

std::size_t share_of_rank(const NodeLayout& layout)
{
  return std::clamp(kBytesPerNode / layout.largest_node(), kMinBytesPerRank, kMaxBytesPerRank);
}
}

/// A rank's part of the shared memory: this header, then space for a Run per rank, then the runs'
/// contents.
struct LeaderExchange::Segment
{
  std::uint64_t runs; ///< runs in this round, in the order of distance()
  std::uint64_t more; ///< another round follows

  static std::size_t bytes(const NodeLayout& layout)
  {
    return sizeof(Segment) + layout.rank_count() * sizeof(Run) + share_of_rank(layout);
  }
  [[nodiscard]] Run* begin() { return reinterpret_cast<Run*>(this + 1); }
  [[nodiscard]] Run* end() { return this->begin() + this->runs; }
  [[nodiscard]] std::byte* contents(const NodeLayout& layout)
  {
    return reinterpret_cast<std::byte*>(this->begin() + layout.rank_count());
  }
};

LeaderExchange::LeaderExchange(const OwnComm& comm, Nodes& nodes, int leaders_per_node)
  : comm_(comm)
  , nodes_(nodes)
  , layout_(nodes.layout())
  , rank_(static_cast<std::uint32_t>(comm.rank()))
  , leaders_per_node_(static_cast<std::uint32_t>(std::max(leaders_per_node, 1)))
  , leaders_(std::min(leaders_per_node_, static_cast<std::uint32_t>(nodes.size())))
{
}

// All ranks of a node use the same order of targets, starting with their own node, so that their
// data for a target are adjacent and nodes do not all send to the same target at once.
std::uint32_t LeaderExchange::distance(std::uint32_t target) const
{
  const std::uint32_t first = this->layout_.ranks_of(this->nodes_.node())[0];
  return target >= first ? target - first : target + this->layout_.rank_count() - first;
}

// Returns the position of the rank on this node that sends to a rank on another. The ranks of a
// node are distributed among leaders, and so are nodes that have one receiver each.
int LeaderExchange::leader_for(std::uint32_t target) const
{
  const std::uint32_t node = this->layout_.node_of(target);
  const std::uint32_t* ranks = this->layout_.ranks_of(node);
  const auto place = static_cast<std::uint64_t>(
    std::lower_bound(ranks, ranks + this->layout_.size_of(node), target) - ranks);
  return static_cast<int>((node + place) % this->leaders_ *
    static_cast<std::uint64_t>(this->nodes_.size()) / this->leaders_);
}

std::uint32_t LeaderExchange::leaders() const
{
  std::uint32_t all = 0;
  for (std::uint32_t node = 0; node != this->layout_.node_count(); ++node)
  {
    all += std::min(this->layout_.size_of(node), this->leaders_per_node_);
  }
  return all;
}

bool LeaderExchange::leads_for(std::uint32_t target) const
{
  return !this->nodes_.is_near(target) && this->leader_for(target) == this->nodes_.place();
}

void LeaderExchange::keep_failure(std::optional<Error> failure)
{
  if (!this->failure_)
  {
    this->failure_ = std::move(failure);
  }
}

void LeaderExchange::prepare(Mail mail)
{
  this->mail_ = std::move(mail);
  const std::vector<Parcel>& parcels = this->mail_.parcels;
  const std::size_t maximum = compute_parcel_bytes(this->layout_);
  for (const Parcel& parcel : parcels)
  {
    if (parcel.bytes == 0 || parcel.bytes > maximum)
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("a parcel sent through leaders has {} bytes; allowed are 1 to {}", parcel.bytes,
          maximum));
    }
  }
  this->order_.resize(parcels.size());
  std::iota(this->order_.begin(), this->order_.end(), std::size_t{ 0 });
  std::stable_sort(this->order_.begin(), this->order_.end(),
    [&](std::size_t a, std::size_t b)
    { return this->distance(parcels[a].target) < this->distance(parcels[b].target); });
  this->next_ = 0;
  this->received_ = 0;
  this->failure_.reset();
  const auto ranks = static_cast<std::size_t>(this->nodes_.size());
  this->segments_.resize(ranks);
  this->cursors_.resize(ranks);
  this->lengths_.reserve(ranks);
  this->places_.reserve(ranks);
  if (this->arriving_.size() == 0)
  {
    this->arriving_.reset(kMaxMessageBytes);
  }
}

std::optional<Error> LeaderExchange::run()
{
  this->find_segments();
  for (bool more = true; more;)
  {
    this->pack_round();
    this->meet();
    more = std::any_of(this->segments_.begin(), this->segments_.end(),
      [](const Segment* segment) { return segment->more != 0; });
    this->send_round();
    this->take_from_node();
    this->wait();
    this->meet(); // before anyone packs again
  }
  while (this->received_ < this->mail_.expected_bytes)
  {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Mprobe(MPI_ANY_SOURCE, kTag, this->comm_.get(), &message, &status);
    this->receive(message, status);
  }
  return std::move(this->failure_);
}

void LeaderExchange::find_segments()
{
  this->memory_ = &this->nodes_.memory(Segment::bytes(this->layout_));
  for (int place = 0; place != this->nodes_.size(); ++place)
  {
    this->segments_[static_cast<std::size_t>(place)] =
      reinterpret_cast<Segment*>(this->memory_->of(place));
  }
}

// Packs as many parcels as fit in the segment.
void LeaderExchange::pack_round()
{
  Segment& own = *this->segments_[static_cast<std::size_t>(this->nodes_.place())];
  const std::size_t capacity = share_of_rank(this->layout_);
  std::byte* const begin = own.contents(this->layout_);
  own.runs = 0;
  std::size_t at = 0;
  for (; this->next_ != this->order_.size(); ++this->next_)
  {
    const std::size_t number = this->order_[this->next_];
    const Parcel& parcel = this->mail_.parcels[number];
    const std::size_t bytes = sizeof(Label) + parcel.bytes;
    if (at + bytes > capacity)
    {
      break;
    }
    if (own.runs == 0 || own.begin()[own.runs - 1].target != parcel.target)
    {
      own.begin()[own.runs++] = { parcel.target, 0 };
    }
    own.begin()[own.runs - 1].bytes += static_cast<std::uint32_t>(bytes);
    const Label label{ this->rank_, parcel.bytes };
    std::memcpy(begin + at, &label, sizeof(label));
    this->keep_failure(attempt([&] { this->mail_.pack(number, begin + at + sizeof(label)); }));
    at += bytes;
    if (this->nodes_.is_near(parcel.target))
    {
      this->traffic_.bytes_within += parcel.bytes;
    }
  }
  own.more = this->next_ != this->order_.size() ? 1 : 0;
}

// After this call, all ranks of the node see what each of them wrote before it.
void LeaderExchange::meet()
{
  this->memory_->sync();
  MPI_Ibarrier(this->nodes_.comm(), this->requests_.data());
  this->request_count_ = 1;
  this->wait();
  this->memory_->sync();
}

// Waits for all requests. Also receives, because other ranks may wait until this rank takes their
// messages.
void LeaderExchange::wait()
{
  while (this->received_ < this->mail_.expected_bytes)
  {
    int done = 0;
    MPI_Testall(this->request_count_, this->requests_.data(), &done, MPI_STATUSES_IGNORE);
    if (done != 0)
    {
      break;
    }
    int arrived = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, kTag, this->comm_.get(), &arrived, &message, &status);
    if (arrived != 0)
    {
      this->receive(message, status);
    }
    else
    {
      ::sched_yield(); // if there are more ranks than processors
    }
  }
  MPI_Waitall(this->request_count_, this->requests_.data(), MPI_STATUSES_IGNORE);
  this->request_count_ = 0;
}

void LeaderExchange::receive(MPI_Message& message, const MPI_Status& status)
{
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  MPI_Mrecv(this->arriving_.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
  ++this->traffic_.messages_received;
  this->traffic_.bytes_received += static_cast<std::uint64_t>(bytes);
  this->take(this->arriving_.data(), static_cast<std::size_t>(bytes));
}

void LeaderExchange::take(const std::byte* bytes, std::size_t count)
{
  for (const std::byte* const end = bytes + count; bytes != end;)
  {
    Label label{};
    std::memcpy(&label, bytes, sizeof(label));
    bytes += sizeof(label);
    this->keep_failure(attempt([&] { this->mail_.take(label.source, bytes, label.bytes); }));
    bytes += label.bytes;
    this->received_ += label.bytes;
  }
}

void LeaderExchange::take_from_node()
{
  for (Segment* segment : this->segments_)
  {
    const std::byte* bytes = segment->contents(this->layout_);
    for (const Run* run = segment->begin(); run != segment->end(); ++run)
    {
      if (run->target == this->rank_)
      {
        const std::uint64_t before = this->received_;
        this->take(bytes, run->bytes);
        this->traffic_.bytes_received += this->received_ - before;
      }
      bytes += run->bytes;
    }
  }
}

// Moves the cursor to the next run that this rank sends.
void LeaderExchange::skip_to_led(std::size_t place)
{
  Segment& segment = *this->segments_[place];
  Cursor& cursor = this->cursors_[place];
  while (cursor.run != segment.runs && !this->leads_for(segment.begin()[cursor.run].target))
  {
    cursor.bytes += segment.begin()[cursor.run++].bytes;
  }
}

// Sends the runs that this rank leads, directly from where they were packed. All ranks have their
// runs in the same order; those for the nearest rank come first.
void LeaderExchange::send_round()
{
  for (std::size_t place = 0; place != this->segments_.size(); ++place)
  {
    this->cursors_[place] = { 0, this->segments_[place]->contents(this->layout_) };
    this->skip_to_led(place);
  }
  while (true)
  {
    const Run* nearest = nullptr;
    for (std::size_t place = 0; place != this->segments_.size(); ++place)
    {
      Segment& segment = *this->segments_[place];
      const Run* run = segment.begin() + this->cursors_[place].run;
      if (run != segment.end() &&
        (!nearest || this->distance(run->target) < this->distance(nearest->target)))
      {
        nearest = run;
      }
    }
    if (!nearest)
    {
      return;
    }
    const std::uint32_t target = nearest->target;
    for (std::size_t place = 0; place != this->segments_.size(); ++place)
    {
      Segment& segment = *this->segments_[place];
      Cursor& cursor = this->cursors_[place];
      const Run* run = segment.begin() + cursor.run;
      if (run != segment.end() && run->target == target)
      {
        this->add_piece(target, cursor.bytes, run->bytes);
        cursor.bytes += run->bytes;
        ++cursor.run;
        this->skip_to_led(place);
      }
    }
    this->send_pieces(target);
  }
}

void LeaderExchange::add_piece(std::uint32_t target, std::byte* begin, std::uint32_t bytes)
{
  if (this->message_bytes_ + bytes > kMaxMessageBytes)
  {
    this->send_pieces(target);
  }
  this->message_bytes_ += bytes;
  this->lengths_.push_back(static_cast<int>(bytes));
  this->places_.emplace_back();
  MPI_Get_address(begin, &this->places_.back());
}

void LeaderExchange::send_pieces(std::uint32_t target)
{
  if (this->request_count_ == static_cast<int>(kMaxSegments))
  {
    this->wait();
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(static_cast<int>(this->lengths_.size()), this->lengths_.data(),
    this->places_.data(), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Isend(MPI_BOTTOM, 1, type, static_cast<int>(target), kTag, this->comm_.get(),
    &this->requests_[static_cast<std::size_t>(this->request_count_++)]);
  MPI_Type_free(&type); // lives on until the message is gone
  ++this->traffic_.messages_between;
  this->traffic_.bytes_between += this->message_bytes_;
  this->message_bytes_ = 0;
  this->lengths_.clear();
  this->places_.clear();
}

std::size_t compute_parcel_bytes(const NodeLayout& layout)
{
  return share_of_rank(layout) - sizeof(Label);
}

NodeTraffic exchange_through_leaders(
  const OwnComm& comm, Nodes& nodes, int leaders_per_node, Mail mail)
{
  LeaderExchange exchange(comm, nodes, leaders_per_node);
  collective(comm.get(), [&] { exchange.prepare(std::move(mail)); });
  agree(comm.get(), exchange.run());
  return exchange.traffic();
}

bool leaders_pay(const NodeLayout& layout, std::uint64_t messages, std::uint64_t bytes)
{
  // Measured (testing/bench/PAPER.md, Node leaders): four barriers among a node's ranks take as
  // long as about twenty messages of each, and large pieces are cheaper to send than to copy twice.
  constexpr std::uint64_t kMinSavedMessages = 24; // messages of a rank
  constexpr std::uint64_t kMaxBytes = 8192;       // maximum message size
  const std::uint64_t ranks = layout.rank_count();
  const std::uint64_t saved = messages - messages * layout.node_count() / ranks;
  return layout.node_count() > 1 && saved >= kMinSavedMessages * ranks &&
    bytes <= kMaxBytes * messages;
}

namespace
{
// MPI libraries keep shared memory in files there; exceeding its space causes SIGBUS.
constexpr const char* kSharedFolder = "/dev/shm";

std::uint64_t free_bytes()
{
  struct statvfs info = {};
  return ::statvfs(kSharedFolder, &info) == 0 ? std::uint64_t{ info.f_bavail } * info.f_frsize
                                              : ~std::uint64_t{ 0 };
}
}

Route choose_route(const OwnComm& comm, Nodes& nodes, Route requested, const Load& local,
  const std::optional<Error>& failure)
{
  const std::array<std::uint64_t, 4> here{ local.targets, local.bytes,
    local.has_large_parcels ? 1u : 0u, failure ? 1u : 0u };
  std::array<std::uint64_t, 4> all{};
  MPI_Allreduce(here.data(), all.data(), 4, MPI_UINT64_T, MPI_SUM, comm.get());
  if (all[3] != 0)
  {
    agree(comm.get(), failure);
  }
  if (requested == Route::Flat || comm.size() == 1 || all[2] != 0 ||
    (requested == Route::Auto &&
      (!leaders_pay(nodes.layout(), all[0], all[1]) || !nodes.is_used_again())))
  {
    return Route::Flat;
  }
  if (nodes.has_memory())
  {
    return Route::Leaders;
  }
  const auto needed = static_cast<std::uint64_t>(nodes.size()) *
    (share_of_rank(nodes.layout()) + sizeof(Run) * static_cast<std::uint64_t>(comm.size()));
  const std::uint64_t room = free_bytes();
  int fits = room >= needed ? 1 : 0;
  if (requested == Route::Auto)
  {
    MPI_Allreduce(MPI_IN_PLACE, &fits, 1, MPI_INT, MPI_MIN, comm.get());
    return fits != 0 ? Route::Leaders : Route::Flat;
  }
  collective(comm.get(),
    [&]
    {
      if (fits == 0)
      {
        throw Error(ErrorCode::OutOfMemory,
          fmt::format("{}: {} bytes of memory shared by the ranks of a node are free; an "
                      "exchange through leaders needs {}, a flat one none",
            kSharedFolder, room, needed));
      }
    });
  return Route::Leaders;
}
}
