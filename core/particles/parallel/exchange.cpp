// SPDX-License-Identifier: BSD-3-Clause
// Moves the particles of all ranks to the aggregators of their leaf files.
//
//   rank 0:  | leaf 0 | leaf 1 | leaf 2 |     particles sorted by leaf file
//   rank 1:  | leaf 1 | leaf 2 |
//                 |
//                 v
//   aggregator of leaf 1:  | from rank 0 | from rank 1 |     one column per array
//
// 1. Counts: each rank reports to the aggregators how many particles it has for each leaf file.
// 2. Space: aggregators compute the rows of every source and allocate the columns. Their own
//    particles stay in the caller's arrays unless they lie scattered among those of other files.
// 3. Particles: a message holds all columns of one run of rows. Aggregators receive straight into
//    the columns; senders pack a few messages at a time. Through leaders, counts and particles
//    travel as parcels instead (leader_exchange.cpp).
// Every allocation precedes the first message, because after it other ranks wait for this one. Rows
// are ordered by rank, so that the same input gives the same file on either route.

#include "particles/parallel/exchange.hpp"

#include "parallel/leader_exchange.hpp"
#include "parallel/packed_sends.hpp"
#include "particles/write/gather.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <optional>
#include <tuple>
#include <utility>

namespace bat::mpi
{
namespace
{
constexpr int kCountsTag = 1;
constexpr int kParticlesTag = 2;
constexpr std::uint64_t kParticlesPerTask = 1 << 16;
// A leaf's own particles stay in place if at least one in this many of the particles between them
// belongs to the leaf, because all of these pass through the caches with each column.
constexpr std::uint64_t kMaxOwnSpread = 4;

/// The number of a rank's particles in one leaf.
struct LeafCount
{
  std::uint64_t leaf;
  std::uint64_t count;
};

/// Rows of a leaf that come from one rank.
struct Incoming
{
  int source = 0;
  std::size_t leaf = 0; ///< place among this rank's leaves
  std::uint64_t count = 0;
  std::uint64_t first_row = 0; ///< first row in the leaf's columns
  bool stays = false;          ///< own particles that are not copied there
};

/// Another rank, and its leaves that receive particles from this one, ascending.
struct Target
{
  int rank = 0;
  std::vector<std::size_t> leaves;
};

// Gathers an array of the particles at [first, first + count) in leaf order.
void gather_in_parallel(const LeafOrder& sorted, std::uint64_t first, std::uint64_t count,
  const RankParticles& particles, std::size_t array, std::byte* out)
{
  if (sorted.order.empty())
  {
    particles.copy(first, count, array, out);
    return;
  }
  const std::uint64_t bytes = write::tuple_bytes(particles.array(array));
  tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, count, kParticlesPerTask),
    [&](const auto& rows)
    {
      particles.gather(
        &sorted.order[first + rows.begin()], rows.size(), array, out + rows.begin() * bytes);
    });
}

/// Progress of an Incoming.
struct Arriving
{
  int source = 0;
  std::size_t incoming = 0;
  std::uint64_t rows = 0;
};

class Exchanger
{
public:
  Exchanger(const OwnComm& comm, Nodes& nodes, const RankParticles& particles,
    const LeafAssignment& assignment, std::uint32_t leaf_count,
    const std::vector<std::uint32_t>& aggregators, const Routing& routing,
    std::size_t message_bytes)
    : comm_(comm)
    , nodes_(nodes)
    , particles_(particles)
    , aggregators_(aggregators)
    , routing_(routing)
    , through_leaders_(comm, nodes, routing.leaders_per_node)
    , row_bytes_(particles.row_bytes())
  {
    this->result_.messages = MessageCounter(nodes);
    // Checks a number that MPI counts as an int.
    const std::uint64_t bytes = std::min<std::uint64_t>(message_bytes, INT_MAX);
    this->rows_per_message_ = std::max<std::uint64_t>(1, bytes / this->row_bytes_);
    this->keep_failure(attempt(
      [&]
      {
        this->sorted_ = sort_by_leaf(assignment, particles.count(), leaf_count);
        for (std::uint32_t leaf = 0; leaf != leaf_count; ++leaf)
        {
          if (aggregators[leaf] == static_cast<std::uint32_t>(comm.rank()))
          {
            this->own_.push_back(leaf);
          }
        }
        this->find_targets();
        this->prepare_counts();
      }));
  }

  ExchangeResult run()
  {
    this->result_.route =
      choose_route(this->comm_, this->nodes_, this->routing_.route, this->load(), this->failure_);
    const bool is_flat = this->result_.route == Route::Flat;
    is_flat ? this->exchange_counts() : this->exchange_counts_through_leaders();
    agree(this->comm_.get(),
      this->failure_ ? this->failure_
                     : attempt(
                         [&]
                         {
                           this->sort_incoming();
                           this->make_room();
                         }));
    is_flat ? this->exchange_particles() : this->exchange_particles_through_leaders();
    agree(this->comm_.get(), this->failure_);
    this->result_.messages.add(this->through_leaders_.traffic());
    this->result_.leaders = is_flat ? 0 : this->through_leaders_.leaders();
    this->result_.rows = std::move(this->sorted_.order);
    return std::move(this->result_);
  }

private:
  [[nodiscard]] int aggregator(std::size_t leaf) const
  {
    return static_cast<int>(this->aggregators_[leaf]);
  }

  void find_targets()
  {
    std::vector<std::size_t> leaves;
    for (std::size_t leaf = 0; leaf != this->aggregators_.size(); ++leaf)
    {
      if (this->aggregator(leaf) != this->comm_.rank() && this->sorted_.count(leaf) != 0)
      {
        leaves.push_back(leaf);
      }
    }
    // Each rank starts with the next one, so that not all send to the same rank at once.
    const auto distance = [&](std::size_t leaf)
    {
      const int behind = this->aggregator(leaf) - this->comm_.rank();
      return behind > 0 ? behind : behind + this->comm_.size();
    };
    std::stable_sort(leaves.begin(), leaves.end(),
      [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
    for (const std::size_t leaf : leaves)
    {
      if (this->targets_.empty() || this->targets_.back().rank != this->aggregator(leaf))
      {
        this->targets_.push_back({ this->aggregator(leaf), {} });
      }
      this->targets_.back().leaves.push_back(leaf);
    }
  }

  void keep_failure(std::optional<Error> failure)
  {
    if (!this->failure_)
    {
      this->failure_ = std::move(failure);
    }
  }

  [[nodiscard]] std::uint64_t rows_for(const Target& target) const
  {
    std::uint64_t rows = 0;
    for (const std::size_t leaf : target.leaves)
    {
      rows += this->sorted_.count(leaf);
    }
    return rows;
  }

  [[nodiscard]] Load load() const
  {
    Load load;
    for (const Target& target : this->targets_)
    {
      if (!this->nodes_.is_near(static_cast<std::uint32_t>(target.rank)))
      {
        ++load.targets;
        load.bytes += this->rows_for(target) * this->row_bytes_;
      }
    }
    load.has_large_parcels = this->row_bytes_ > compute_parcel_bytes(this->nodes_.layout());
    return load;
  }

  // Counts this rank's particles for each leaf of each target, and their size for each rank.
  void prepare_counts()
  {
    this->sends_counts_.resize(static_cast<std::size_t>(this->comm_.size()), 0);
    for (const Target& target : this->targets_)
    {
      this->counts_.emplace_back();
      for (const std::size_t leaf : target.leaves)
      {
        this->counts_.back().push_back({ leaf, this->sorted_.count(leaf) });
      }
      this->sends_counts_[static_cast<std::size_t>(target.rank)] = target.leaves.size();
    }
    this->count_sends_.assign(this->targets_.size(), MPI_REQUEST_NULL);
  }

  void prepare_counts_for_leaders()
  {
    Mail mail;
    const std::size_t maximum =
      compute_parcel_bytes(this->nodes_.layout()) / sizeof(LeafCount); // records
    for (std::size_t message = 0; message != this->counts_.size(); ++message)
    {
      const std::size_t count = this->counts_[message].size();
      for (std::size_t first = 0; first < count; first += maximum)
      {
        mail.parcels.push_back({ static_cast<std::uint32_t>(this->targets_[message].rank),
          static_cast<std::uint32_t>(std::min(maximum, count - first) * sizeof(LeafCount)) });
        this->parcels_.push_back({ message, first });
      }
    }
    mail.pack = [this](std::size_t parcel, std::byte* out)
    {
      const auto [message, first] = this->parcels_[parcel];
      std::memcpy(out, this->counts_[message].data() + first,
        this->through_leaders_.mail().parcels[parcel].bytes);
    };
    mail.take = [this](std::uint32_t source, const std::byte* bytes, std::size_t count)
    {
      for (const std::byte* const end = bytes + count; bytes != end; bytes += sizeof(LeafCount))
      {
        LeafCount c{};
        std::memcpy(&c, bytes, sizeof(c));
        this->incoming_.push_back({ static_cast<int>(source), this->own_index(c.leaf), c.count });
      }
    };
    this->through_leaders_.prepare(std::move(mail));
  }

  // Returns the number of counts that arrive for this rank.
  [[nodiscard]] std::uint64_t expected_counts() const
  {
    std::uint64_t expected = 0;
    MPI_Reduce_scatter_block(
      this->sends_counts_.data(), &expected, 1, MPI_UINT64_T, MPI_SUM, this->comm_.get());
    return expected;
  }

  // Reports to every aggregator how many particles come from each rank.
  void exchange_counts()
  {
    const std::uint64_t expected = this->expected_counts();
    const RecordType type(sizeof(LeafCount));
    for (std::size_t i = 0; i != this->counts_.size(); ++i)
    {
      const int target = this->targets_[i].rank;
      MPI_Isend(this->counts_[i].data(), static_cast<int>(this->counts_[i].size()), type.get(),
        target, kCountsTag, this->comm_.get(), &this->count_sends_[i]);
      this->result_.messages.sent(target, this->counts_[i].size() * sizeof(LeafCount));
    }
    while (this->incoming_.size() != expected)
    {
      this->receive_counts(type);
    }
    MPI_Waitall(
      static_cast<int>(this->count_sends_.size()), this->count_sends_.data(), MPI_STATUSES_IGNORE);
  }

  void exchange_counts_through_leaders()
  {
    collective(this->comm_.get(), [&] { this->prepare_counts_for_leaders(); });
    this->through_leaders_.mail().expected_bytes = this->expected_counts() * sizeof(LeafCount);
    this->keep_failure(this->through_leaders_.run());
  }

  // Adds own particles and sorts the sources of each leaf.
  void sort_incoming()
  {
    for (std::size_t i = 0; i != this->own_.size(); ++i)
    {
      if (this->sorted_.count(this->own_[i]) != 0)
      {
        this->incoming_.push_back({ this->comm_.rank(), i, this->sorted_.count(this->own_[i]) });
      }
    }
    std::sort(this->incoming_.begin(), this->incoming_.end(),
      [](const Incoming& a, const Incoming& b)
      { return std::tie(a.leaf, a.source) < std::tie(b.leaf, b.source); });
  }

  // Receives the next message, from any rank.
  void receive_counts(const RecordType& type)
  {
    MPI_Message message;
    MPI_Status status;
    int count = 0;
    MPI_Mprobe(MPI_ANY_SOURCE, kCountsTag, this->comm_.get(), &message, &status);
    MPI_Get_count(&status, type.get(), &count);
    std::vector<LeafCount> counts(static_cast<std::size_t>(count));
    MPI_Mrecv(counts.data(), count, type.get(), &message, MPI_STATUS_IGNORE);
    this->result_.messages.received(counts.size() * sizeof(LeafCount));
    for (const LeafCount& c : counts)
    {
      this->incoming_.push_back({ status.MPI_SOURCE, this->own_index(c.leaf), c.count });
    }
  }

  [[nodiscard]] std::size_t own_index(std::uint64_t leaf) const
  {
    return static_cast<std::size_t>(
      std::lower_bound(this->own_.begin(), this->own_.end(), leaf) - this->own_.begin());
  }

  void make_room()
  {
    std::vector<std::uint64_t> rows(this->own_.size(), 0); // rows in columns
    std::vector<const Incoming*> staying(this->own_.size(), nullptr);
    for (Incoming& in : this->incoming_)
    {
      in.first_row = rows[in.leaf];
      in.stays = in.source == this->comm_.rank() && this->may_stay(this->own_[in.leaf]);
      rows[in.leaf] += in.stays ? 0 : in.count;
      staying[in.leaf] = in.stays ? &in : staying[in.leaf];
    }
    for (std::size_t i = 0; i != this->own_.size(); ++i)
    {
      AggregatedLeaf leaf;
      leaf.leaf = this->own_[i];
      leaf.particles = write::ParticleParts(this->particles_.schema());
      const ParticleView columns = this->allocate(rows[i], leaf.columns);
      const std::uint64_t before = staying[i] ? staying[i]->first_row : rows[i];
      leaf.particles.add(columns, nullptr, before);
      if (staying[i])
      {
        this->add_own(leaf);
        leaf.particles.add(
          write::slice(columns, before, rows[i] - before), nullptr, rows[i] - before);
      }
      this->result_.leaves.push_back(std::move(leaf));
    }
    this->result_.route == Route::Flat ? this->make_room_for_messages() : this->make_parcels();
  }

  // Returns whether this rank's particles of a leaf can be used without a copy.
  [[nodiscard]] bool may_stay(std::uint32_t leaf) const
  {
    const std::uint64_t count = this->sorted_.count(leaf);
    if (this->sorted_.order.empty() || count == 0)
    {
      return true;
    }
    const std::uint32_t* numbers = &this->sorted_.order[this->sorted_.first[leaf]];
    return count * kMaxOwnSpread > numbers[count - 1] - numbers[0];
  }

  // Adds this rank's particles in its own arrays. Converts their numbers to rows of these.
  void add_own(AggregatedLeaf& leaf)
  {
    if (this->sorted_.order.empty())
    {
      for (const write::ParticleParts::Part& part : this->particles_.parts())
      {
        leaf.particles.add(part.view, part.rows, part.count);
      }
      return;
    }
    std::uint32_t* at = &this->sorted_.order[this->sorted_.first[leaf.leaf]];
    std::uint32_t* const end = at + this->sorted_.count(leaf.leaf);
    for (const write::ParticleParts::Part& part : this->particles_.parts())
    {
      std::uint32_t* const stop = std::lower_bound(at, end, part.first + part.count);
      if (part.rows || part.first != 0)
      {
        std::transform(at, stop, at,
          [&](std::uint32_t number) { return static_cast<std::uint32_t>(part.row(number)); });
      }
      leaf.particles.add(part.view, at, static_cast<std::uint64_t>(stop - at));
      at = stop;
    }
  }

  // Allocates all memory for post_receives() and send().
  void make_room_for_messages()
  {
    const auto messages = [this](std::uint64_t rows)
    { return (rows + this->rows_per_message_ - 1) / this->rows_per_message_; };
    std::uint64_t receives = 0;
    for (const Incoming& in : this->incoming_)
    {
      receives += in.source == this->comm_.rank() ? 0 : messages(in.count);
    }
    this->receives_.reserve(static_cast<std::size_t>(checked_count(receives)));
    this->lengths_.resize(this->particles_.array_count());
    this->places_.resize(this->particles_.array_count());
    std::uint64_t sends = 0;
    std::uint64_t max_rows = 0;
    for (const Target& target : this->targets_)
    {
      for (const std::size_t leaf : target.leaves)
      {
        const std::uint64_t rows = this->sorted_.count(leaf);
        sends += messages(rows);
        max_rows = std::max(max_rows, std::min(rows, this->rows_per_message_));
      }
    }
    this->sends_.make_room(sends, max_rows * this->row_bytes_);
  }

  // Allocates columns for `rows` particles, and returns a view of them.
  [[nodiscard]] ParticleView allocate(
    std::uint64_t rows, std::vector<LargeArray<std::byte>>& columns) const
  {
    ParticleView result = this->particles_.schema();
    result.count = rows;
    for (std::size_t a = 0; rows != 0 && a != this->particles_.array_count(); ++a)
    {
      const ArrayView& array = this->particles_.array(a);
      columns.emplace_back(rows * write::tuple_bytes(array));
      ArrayView& view = a == 0 ? result.positions : result.attributes[a - 1].values;
      view = ArrayView::packed(array.type, array.components, columns.back().data());
    }
    return result;
  }

  void exchange_particles()
  {
    // From here on other ranks wait for this rank's messages: nothing may throw until all have
    // arrived.
    this->post_receives();
    this->keep_failure(attempt([&] { this->copy_own(); }));
    this->send();
    MPI_Waitall(
      static_cast<int>(this->receives_.size()), this->receives_.data(), MPI_STATUSES_IGNORE);
  }

  // Creates parcels, which are runs of a leaf's rows, and the order in which those from other ranks
  // arrive.
  void make_parcels()
  {
    Mail mail;
    this->parcels_.clear();
    const std::uint64_t maximum = std::clamp<std::uint64_t>(
      compute_parcel_bytes(this->nodes_.layout()) / this->row_bytes_, 1, this->rows_per_message_);
    for (const Target& target : this->targets_)
    {
      for (const std::size_t leaf : target.leaves)
      {
        const std::uint64_t total = this->sorted_.count(leaf);
        for (std::uint64_t row = 0; row < total; row += maximum)
        {
          const std::uint64_t count = std::min(maximum, total - row);
          this->parcels_.push_back({ this->sorted_.first[leaf] + row, count });
          mail.parcels.push_back({ static_cast<std::uint32_t>(target.rank),
            static_cast<std::uint32_t>(count * this->row_bytes_) });
          this->result_.sent_bytes += count * this->row_bytes_;
        }
      }
    }
    for (std::size_t i = 0; i != this->incoming_.size(); ++i)
    {
      const Incoming& in = this->incoming_[i];
      if (in.source != this->comm_.rank())
      {
        this->arriving_.push_back({ in.source, i, 0 });
        mail.expected_bytes += in.count * this->row_bytes_;
      }
    }
    std::stable_sort(this->arriving_.begin(), this->arriving_.end(),
      [](const Arriving& a, const Arriving& b) { return a.source < b.source; });
    mail.pack = [this](std::size_t parcel, std::byte* out)
    { this->pack(this->parcels_[parcel].first, this->parcels_[parcel].second, out); };
    mail.take = [this](std::uint32_t source, const std::byte* bytes, std::size_t count)
    { this->take(static_cast<int>(source), bytes, count / this->row_bytes_); };
    this->through_leaders_.prepare(std::move(mail));
  }

  void exchange_particles_through_leaders()
  {
    this->keep_failure(attempt([&] { this->copy_own(); }));
    this->keep_failure(this->through_leaders_.run());
  }

  // Takes the next rows from a rank, ordered by leaf, then row.
  void take(int source, const std::byte* bytes, std::uint64_t count)
  {
    auto next = std::lower_bound(this->arriving_.begin(), this->arriving_.end(), source,
      [](const Arriving& a, int rank) { return a.source < rank; });
    while (next->rows == this->incoming_[next->incoming].count)
    {
      ++next;
    }
    const Incoming& in = this->incoming_[next->incoming];
    AggregatedLeaf& leaf = this->result_.leaves[in.leaf];
    for (std::size_t a = 0; a != this->particles_.array_count(); ++a)
    {
      const std::uint64_t size = write::tuple_bytes(this->particles_.array(a));
      std::memcpy(leaf.columns[a].data() + (in.first_row + next->rows) * size, bytes, count * size);
      bytes += count * size;
    }
    next->rows += count;
  }

  // Packs rows column by column.
  void pack(std::uint64_t first, std::uint64_t count, std::byte* out)
  {
    for (std::size_t a = 0; a != this->particles_.array_count(); ++a)
    {
      gather_in_parallel(this->sorted_, first, count, this->particles_, a, out);
      out += count * write::tuple_bytes(this->particles_.array(a));
    }
  }

  void post_receives()
  {
    // Receives from a source are in the order in which it sends: ascending leaves, then rows.
    for (const Incoming& in : this->incoming_)
    {
      if (in.source == this->comm_.rank())
      {
        continue;
      }
      for (std::uint64_t row = 0; row < in.count; row += this->rows_per_message_)
      {
        this->receive(in, row, std::min(this->rows_per_message_, in.count - row));
      }
    }
  }

  // Receives straight into the columns. The message has the form that send() packs: column by
  // column.
  void receive(const Incoming& in, std::uint64_t row, std::uint64_t count)
  {
    AggregatedLeaf& leaf = this->result_.leaves[in.leaf];
    for (std::size_t a = 0; a != this->particles_.array_count(); ++a)
    {
      const std::uint64_t bytes = write::tuple_bytes(this->particles_.array(a));
      MPI_Get_address(leaf.columns[a].data() + (in.first_row + row) * bytes, &this->places_[a]);
      this->lengths_[a] = static_cast<int>(count * bytes);
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed(static_cast<int>(this->lengths_.size()), this->lengths_.data(),
      this->places_.data(), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    this->receives_.emplace_back();
    MPI_Irecv(
      MPI_BOTTOM, 1, type, in.source, kParticlesTag, this->comm_.get(), &this->receives_.back());
    MPI_Type_free(&type); // lives on until the message is there
    this->result_.messages.received(count * this->row_bytes_);
  }

  void copy_own()
  {
    for (const Incoming& in : this->incoming_)
    {
      AggregatedLeaf& leaf = this->result_.leaves[in.leaf];
      if (in.source != this->comm_.rank() || in.stays)
      {
        continue;
      }
      for (std::size_t a = 0; a != this->particles_.array_count(); ++a)
      {
        gather_in_parallel(this->sorted_, this->sorted_.first[leaf.leaf], in.count,
          this->particles_, a,
          leaf.columns[a].data() + in.first_row * write::tuple_bytes(this->particles_.array(a)));
      }
    }
  }

  void send()
  {
    for (const Target& target : this->targets_)
    {
      for (const std::size_t leaf : target.leaves)
      {
        const std::uint64_t total = this->sorted_.count(leaf);
        for (std::uint64_t row = 0; row < total; row += this->rows_per_message_)
        {
          this->send_rows(target.rank, this->sorted_.first[leaf] + row,
            std::min(this->rows_per_message_, total - row));
        }
      }
    }
    this->sends_.wait();
  }

  void send_rows(int target, std::uint64_t first, std::uint64_t count)
  {
    std::byte* const packed = this->sends_.next();
    // Rows that could not be packed are sent anyway, because their receiver waits for them.
    this->keep_failure(attempt([&] { this->pack(first, count, packed); }));
    const std::uint64_t bytes = count * this->row_bytes_;
    this->sends_.send(this->comm_, target, kParticlesTag, bytes);
    this->result_.sent_bytes += bytes;
    this->result_.messages.sent(target, bytes);
  }

  const OwnComm& comm_;
  Nodes& nodes_;
  const RankParticles& particles_;
  const std::vector<std::uint32_t>& aggregators_;
  const Routing& routing_;
  LeaderExchange through_leaders_;
  LeafOrder sorted_;
  std::vector<std::uint32_t> own_; ///< leaves of this rank
  std::uint64_t row_bytes_ = 0;
  std::uint64_t rows_per_message_ = 1;
  std::vector<Incoming> incoming_;
  std::vector<Target> targets_;                ///< in sending order
  std::vector<std::vector<LeafCount>> counts_; ///< per target
  std::vector<std::uint64_t> sends_counts_;    ///< per rank: how many
  /// Parcels that go through leaders: message and its first record, then first row and number of
  /// rows.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> parcels_;
  std::vector<Arriving> arriving_; ///< sorted by source, then leaf
  std::vector<MPI_Request> receives_;
  std::vector<int> lengths_; ///< per array of the message that is being described
  std::vector<MPI_Aint> places_;
  std::vector<MPI_Request> count_sends_; ///< per target
  PackedSends sends_;
  std::optional<Error> failure_; ///< while messages were under way
  ExchangeResult result_;
};
}

ExchangeResult exchange(const OwnComm& comm, Nodes& nodes, const RankParticles& particles,
  const LeafAssignment& assignment, std::uint32_t leaf_count,
  const std::vector<std::uint32_t>& aggregators, const Routing& routing, std::size_t message_bytes)
{
  return Exchanger(
    comm, nodes, particles, assignment, leaf_count, aggregators, routing, message_bytes)
    .run();
}
}
