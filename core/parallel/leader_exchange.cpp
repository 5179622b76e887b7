#include "parallel/leader_exchange.hpp"

#include "bat/error.hpp"
#include "bat/ranks.hpp"
#include "common/large_array.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace bat::mpi
{
namespace
{
constexpr int kTag = 3;
constexpr std::size_t kBytesOfNode = std::size_t{ 64 } << 20;
constexpr std::size_t kLeastOfRank = std::size_t{ 256 } << 10;
constexpr std::size_t kMostOfRank = std::size_t{ 8 } << 20;
constexpr std::size_t kMostOfMessage = std::size_t{ 16 } << 20;

/// Before each parcel.
struct Label
{
  std::uint32_t source;
  std::uint32_t bytes;
};

/// Parcels of a rank for another, one behind the other.
struct Run
{
  std::uint32_t target;
  std::uint32_t bytes; ///< with labels
};

/// A rank's part of the shared memory: this, then runs, then what they are made of.
struct Segment
{
  std::uint64_t most_runs;
  std::uint64_t runs; ///< of this round
  std::uint64_t more; ///< whether there will be another

  static std::size_t bytes(std::size_t most_runs, std::size_t capacity)
  {
    return sizeof(Segment) + most_runs * sizeof(Run) + capacity;
  }
  [[nodiscard]] Run* begin() { return reinterpret_cast<Run*>(this + 1); }
  [[nodiscard]] std::byte* contents()
  {
    return reinterpret_cast<std::byte*>(this->begin() + this->most_runs);
  }
};

std::size_t share_of_rank(const NodeLayout& layout)
{
  return std::clamp(kBytesOfNode / layout.largest_node(), kLeastOfRank, kMostOfRank);
}

/// Memory that the ranks of a node see.
class SharedMemory
{
public:
  /// Collective over the node.
  SharedMemory(MPI_Comm node, std::size_t bytes)
  {
    void* mine = nullptr;
    MPI_Win_allocate_shared(
      static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, node, &mine, &this->window_);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, this->window_);
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  /// Collective over the node.
  ~SharedMemory()
  {
    MPI_Win_unlock_all(this->window_);
    MPI_Win_free(&this->window_);
  }

  [[nodiscard]] Segment* of(int place) const
  {
    MPI_Aint size = 0;
    int unit = 0;
    void* begin = nullptr;
    MPI_Win_shared_query(this->window_, place, &size, &unit, &begin);
    return static_cast<Segment*>(begin);
  }
  /// Between what this rank wrote and others read, and the other way round.
  void sync() const { MPI_Win_sync(this->window_); }

private:
  MPI_Win window_ = MPI_WIN_NULL;
};

class LeaderExchange
{
public:
  LeaderExchange(const OwnComm& comm, const Nodes& nodes, int leaders, const Mail& mail)
    : comm_(comm)
    , nodes_(nodes)
    , layout_(nodes.layout())
    , mail_(mail)
    , rank_(static_cast<std::uint32_t>(comm.rank()))
    , leaders_(std::clamp(leaders, 1, nodes.size()))
  {
  }

  NodeTraffic run()
  {
    together(this->comm_.get(), [&] { this->prepare(); });
    this->memory_.emplace(this->nodes_.comm(), Segment::bytes(this->most_runs_, this->capacity_));
    Segment* const own = this->memory_->of(this->nodes_.place());
    own->most_runs = this->most_runs_;
    this->memory_->sync();
    MPI_Barrier(this->nodes_.comm());
    this->memory_->sync();
    together(this->comm_.get(), [&] { this->find_segments(); });
    // From here on others count on this rank: nothing may throw until all is there.
    for (bool more = true; more;)
    {
      this->pack_round(*own);
      this->meet();
      more = std::any_of(this->segments_.begin(), this->segments_.end(),
        [](const Segment* segment) { return segment->more != 0; });
      this->send_round();
      this->take_from_node();
      this->wait(this->sends_);
      this->meet();
    }
    while (this->received_ < this->mail_.expected_bytes)
    {
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      MPI_Mprobe(MPI_ANY_SOURCE, kTag, this->comm_.get(), &message, &status);
      this->receive(message, status);
    }
    this->memory_.reset();
    agree(this->comm_.get(), this->failure_);
    return this->traffic_;
  }

private:
  void keep_failure(std::optional<Error> failure)
  {
    if (!this->failure_)
    {
      this->failure_ = std::move(failure);
    }
  }

  // All ranks of a node go round in the same order, from their own node on, so that what they owe a
  // rank comes together, and not all nodes send to the same one at once.
  [[nodiscard]] std::uint32_t distance(std::uint32_t target) const
  {
    const std::uint32_t first = this->layout_.ranks_of(this->nodes_.node())[0];
    return target >= first ? target - first : target + this->layout_.rank_count() - first;
  }

  // The rank of this node, by its place, that sends to a rank of another. Ranks of a node are dealt
  // out among leaders, and so are nodes that have one receiver each.
  [[nodiscard]] int leader_for(std::uint32_t target) const
  {
    const std::uint32_t node = this->layout_.node_of(target);
    const std::uint32_t* ranks = this->layout_.ranks_of(node);
    const auto place = static_cast<std::uint64_t>(
      std::lower_bound(ranks, ranks + this->layout_.size_of(node), target) - ranks);
    const auto leader = (node + place) % static_cast<std::uint64_t>(this->leaders_);
    return static_cast<int>(leader * static_cast<std::uint64_t>(this->nodes_.size()) /
      static_cast<std::uint64_t>(this->leaders_));
  }

  void prepare()
  {
    const std::vector<Parcel>& parcels = this->mail_.parcels;
    this->order_.resize(parcels.size());
    std::iota(this->order_.begin(), this->order_.end(), std::size_t{ 0 });
    std::stable_sort(this->order_.begin(), this->order_.end(),
      [&](std::size_t a, std::size_t b)
      { return this->distance(parcels[a].target) < this->distance(parcels[b].target); });
    std::uint64_t all = 0;
    std::uint64_t largest = 0;
    for (std::size_t i = 0; i != this->order_.size(); ++i)
    {
      const Parcel& parcel = parcels[this->order_[i]];
      const bool is_new = i == 0 || parcels[this->order_[i - 1]].target != parcel.target;
      this->most_runs_ += is_new ? 1 : 0;
      const std::uint64_t bytes = sizeof(Label) + std::uint64_t{ parcel.bytes };
      if (parcel.bytes == 0 || parcel.bytes > kMostOfParcel)
      {
        throw Error(ErrorCode::InvalidArgument,
          fmt::format("a parcel of {} bytes is sent through leaders; 1 to {} are allowed",
            parcel.bytes, kMostOfParcel));
      }
      largest = std::max(largest, bytes);
      all += bytes;
    }
    this->capacity_ = static_cast<std::size_t>(
      std::min(all, std::max<std::uint64_t>(share_of_rank(this->layout_), largest)));
    this->segments_.resize(static_cast<std::size_t>(this->nodes_.size()));
    this->arriving_ = LargeArray<std::byte>(this->mail_.expected_bytes == 0 ? 0 : kMostOfMessage);
  }

  void find_segments()
  {
    std::uint64_t runs = 0;
    for (int place = 0; place != this->nodes_.size(); ++place)
    {
      Segment* const segment = this->memory_->of(place);
      this->segments_[static_cast<std::size_t>(place)] = segment;
      runs += segment->most_runs;
    }
    this->pieces_.reserve(runs);
    this->sends_.reserve(runs + 1);
    this->lengths_.reserve(this->segments_.size());
    this->places_.reserve(this->segments_.size());
  }

  // As much as there is room for.
  void pack_round(Segment& own)
  {
    own.runs = 0;
    std::byte* const begin = own.contents();
    std::size_t at = 0;
    for (; this->next_ != this->order_.size(); ++this->next_)
    {
      const std::size_t number = this->order_[this->next_];
      const Parcel& parcel = this->mail_.parcels[number];
      const std::size_t bytes = sizeof(Label) + parcel.bytes;
      if (at + bytes > this->capacity_)
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

  // What ranks of the node wrote before, all of them see afterwards.
  void meet()
  {
    this->memory_->sync();
    this->sends_.resize(1);
    MPI_Ibarrier(this->nodes_.comm(), this->sends_.data());
    this->wait(this->sends_);
    this->memory_->sync();
  }

  // Others may be waiting until this rank takes what they send.
  void wait(std::vector<MPI_Request>& requests)
  {
    const int count = static_cast<int>(requests.size());
    int done = 0;
    while (this->received_ < this->mail_.expected_bytes)
    {
      MPI_Testall(count, requests.data(), &done, MPI_STATUSES_IGNORE);
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
        ::sched_yield(); // with more ranks than processors
      }
    }
    MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
    requests.clear();
  }

  void receive(MPI_Message& message, MPI_Status& status)
  {
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    MPI_Mrecv(this->arriving_.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    this->take(this->arriving_.data(), static_cast<std::size_t>(bytes));
  }

  void take(const std::byte* bytes, std::size_t count)
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

  void take_from_node()
  {
    for (Segment* segment : this->segments_)
    {
      const std::byte* bytes = segment->contents();
      for (const Run* run = segment->begin(); run != segment->begin() + segment->runs; ++run)
      {
        if (run->target == this->rank_)
        {
          this->take(bytes, run->bytes);
        }
        bytes += run->bytes;
      }
    }
  }

  /// A run that this rank sends as a leader.
  struct Piece
  {
    std::uint32_t distance;
    int place;
    std::uint32_t target;
    std::uint32_t bytes;
    std::byte* begin;
  };

  // What this rank leads, straight from where it was packed.
  void send_round()
  {
    this->pieces_.clear();
    for (int place = 0; place != this->nodes_.size(); ++place)
    {
      Segment* const segment = this->segments_[static_cast<std::size_t>(place)];
      std::byte* bytes = segment->contents();
      for (const Run* run = segment->begin(); run != segment->begin() + segment->runs; ++run)
      {
        if (!this->nodes_.is_near(run->target) &&
          this->leader_for(run->target) == this->nodes_.place())
        {
          this->pieces_.push_back(
            { this->distance(run->target), place, run->target, run->bytes, bytes });
        }
        bytes += run->bytes;
      }
    }
    std::sort(this->pieces_.begin(), this->pieces_.end(),
      [](const Piece& a, const Piece& b)
      { return std::tie(a.distance, a.place) < std::tie(b.distance, b.place); });
    for (std::size_t first = 0; first != this->pieces_.size();)
    {
      first = this->send_from(first);
    }
  }

  // Pieces for one rank, as many as a message takes. Returns the number of the next.
  std::size_t send_from(std::size_t first)
  {
    const std::uint32_t target = this->pieces_[first].target;
    this->lengths_.clear();
    this->places_.clear();
    std::size_t bytes = 0;
    std::size_t i = first;
    for (; i != this->pieces_.size() && this->pieces_[i].target == target; ++i)
    {
      const Piece& piece = this->pieces_[i];
      if (i != first && bytes + piece.bytes > kMostOfMessage)
      {
        break;
      }
      bytes += piece.bytes;
      this->lengths_.push_back(static_cast<int>(piece.bytes));
      this->places_.emplace_back();
      MPI_Get_address(piece.begin, &this->places_.back());
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed(static_cast<int>(this->lengths_.size()), this->lengths_.data(),
      this->places_.data(), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    this->sends_.emplace_back();
    MPI_Isend(
      MPI_BOTTOM, 1, type, static_cast<int>(target), kTag, this->comm_.get(), &this->sends_.back());
    MPI_Type_free(&type); // lives on until the message is gone
    ++this->traffic_.messages_between;
    this->traffic_.bytes_between += bytes;
    return i;
  }

  const OwnComm& comm_;
  const Nodes& nodes_;
  const NodeLayout& layout_;
  const Mail& mail_;
  std::uint32_t rank_;
  int leaders_;
  std::vector<std::size_t> order_; ///< of parcels
  std::size_t next_ = 0;           ///< in order_
  std::uint64_t most_runs_ = 0;    ///< of this rank in a round
  std::size_t capacity_ = 0;       ///< of this rank's runs in a round
  std::optional<SharedMemory> memory_;
  std::vector<Segment*> segments_; ///< per place
  std::vector<Piece> pieces_;      ///< of a round
  std::vector<MPI_Request> sends_;
  std::vector<int> lengths_; ///< of the message that is being described
  std::vector<MPI_Aint> places_;
  LargeArray<std::byte> arriving_;
  std::uint64_t received_ = 0; ///< without labels
  std::optional<Error> failure_;
  NodeTraffic traffic_;
};

// Memory that MPI libraries share is in files there; what is too much for it ends in SIGBUS.
constexpr const char* kSharedFolder = "/dev/shm";

std::uint64_t shared_room()
{
  struct statvfs info
  {
  };
  return ::statvfs(kSharedFolder, &info) == 0 ? std::uint64_t{ info.f_bavail } * info.f_frsize
                                              : ~std::uint64_t{ 0 };
}
}

std::size_t room_of_parcel(const NodeLayout& layout)
{
  return share_of_rank(layout) - sizeof(Label);
}

NodeTraffic exchange_through_leaders(
  const OwnComm& comm, const Nodes& nodes, int leaders_per_node, const Mail& mail)
{
  return LeaderExchange(comm, nodes, leaders_per_node, mail).run();
}

bool leaders_pay(const NodeLayout& layout, std::uint64_t messages, std::uint64_t bytes)
{
  if (layout.node_count() == 1 || layout.largest_node() == 1 || messages == 0)
  {
    return false;
  }
  return bytes == 0;
}

Route choose_route(const OwnComm& comm, const Nodes& nodes, Route asked, const Load& mine)
{
  if (asked == Route::Flat || comm.size() == 1)
  {
    return Route::Flat;
  }
  const std::array<std::uint64_t, 3> here{ mine.targets, mine.bytes,
    mine.has_large_parcels ? 1u : 0u };
  std::array<std::uint64_t, 3> all{};
  MPI_Allreduce(here.data(), all.data(), 3, MPI_UINT64_T, MPI_SUM, comm.get());
  if (all[2] != 0 || (asked == Route::Auto && !leaders_pay(nodes.layout(), all[0], all[1])))
  {
    return Route::Flat;
  }
  const std::uint64_t share = sizeof(Segment) +
    sizeof(Run) * static_cast<std::uint64_t>(comm.size()) +
    std::min<std::uint64_t>(mine.shared_bytes, kMostOfRank);
  std::uint64_t needed = 0;
  MPI_Allreduce(&share, &needed, 1, MPI_UINT64_T, MPI_SUM, nodes.comm());
  const std::uint64_t room = shared_room();
  int fits = room >= needed ? 1 : 0;
  if (asked == Route::Auto)
  {
    MPI_Allreduce(MPI_IN_PLACE, &fits, 1, MPI_INT, MPI_MIN, comm.get());
    return fits != 0 ? Route::Leaders : Route::Flat;
  }
  together(comm.get(),
    [&]
    {
      if (fits == 0)
      {
        throw Error(ErrorCode::OutOfMemory,
          fmt::format("{}: {} bytes are free for memory that ranks of a node share; an exchange "
                      "through leaders needs {} here, one that is flat none",
            kSharedFolder, room, needed));
      }
    });
  return Route::Leaders;
}
}
