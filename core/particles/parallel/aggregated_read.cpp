// SPDX-License-Identifier: BSD-3-Clause
// Answers the queries of all ranks with one reader per leaf file, the only rank that opens it.
//
//   rank 0 --- query, leaf numbers ---> reader of leaf files 3, 7, ...
//          <-- counts per leaf file ---   loads or opens them, finds the particles of each query
//          <-- rows, all columns ------   packs the selected particles
//
// 1. Each rank sends its query once to every reader of a leaf file that it touches.
// 2. Rounds bound the memory: in each round a reader holds only the leaf files planned for it.
//    Files that are used enough are read whole into memory, other files in the pieces needed.
// 3. In a round, readers find the particles and send their counts; ranks allocate rows and post
//    their receives straight into the columns of the answer; readers then pack all columns of a
//    run of particles into each message.
// 4. After several rounds, the parts are merged in the order of leaf files, column by column.
// A failure after the first message is kept until all messages have arrived, because other ranks
// wait for them. A rank may be a reader and a receiver at the same time, even of its own answer.

#include "particles/parallel/aggregated_read.hpp"

#include "common/arena.hpp"
#include "common/fail.hpp"
#include "common/memory/large_array.hpp"
#include "parallel/packed_sends.hpp"
#include "particles/parallel/query_bytes.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <cstring>
#include <map>
#include <memory>
#include <optional>

namespace bat::mpi
{
namespace
{
constexpr int kQueriesTag = 3;
constexpr int kCountsTag = 4;
constexpr int kParticlesTag = 5;
/// Messages, of 2 MiB each, whose particles are requested from a server together.
constexpr std::uint64_t kMessagesPerPrefetch = 16;
/// Bytes of the answers that are requested from a server before the first is sent; less than the
/// cache for remote files holds.
constexpr std::uint64_t kMaxPrefetchBytes = std::uint64_t{ 96 } << 20;

/// A reader, and the leaf files that it reads for this rank: indices into RankQuery::leaves, per
/// round.
struct Target
{
  int reader = 0;
  std::vector<std::vector<std::size_t>> places;
};

/// The request of another rank, or of this one, to this reader.
struct RankRequest
{
  int source = 0;
  query::Conditions conditions;
  std::vector<std::vector<LeafRequest>> leaves; ///< per round
};

/// This reader's answer to one rank in this round, with the number of particles per leaf file.
struct Answer
{
  const RankRequest* rank_request = nullptr;
  const std::vector<LeafRequest>* leaves = nullptr;
  std::vector<std::uint64_t> counts;
  std::vector<Selection> found; ///< without spans if they would take too much memory
};

/// The answer that this rank expects from one reader in this round.
struct Expected
{
  int reader = 0;
  const std::vector<std::size_t>* places = nullptr;
  std::vector<std::uint64_t> counts; ///< per place
  std::uint64_t total = 0;
};

/// A message of queries, and its position in the bytes of all.
struct Received
{
  int source;
  std::size_t first;
  std::size_t size;
};

/// The position of a leaf file's particles in the answer to this rank.
struct Piece
{
  std::uint32_t round = 0;
  std::uint64_t first_row = 0; ///< first row in the columns of the round
  std::uint64_t count = 0;
};

// Returns a selection of the particles in any of the spans.
Selection merge_spans(std::vector<Span> spans)
{
  std::sort(
    spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.first < b.first; });
  Selection merged;
  for (const Span& span : spans)
  {
    Span* const last = merged.spans.empty() ? nullptr : &merged.spans.back();
    if (last && span.first <= last->first + last->count)
    {
      last->count = std::max(last->first + last->count, span.first + span.count) - last->first;
      continue;
    }
    merged.spans.push_back(span);
  }
  for (const Span& span : merged.spans)
  {
    merged.count += span.count;
  }
  return merged;
}

class AggregatedReader
{
public:
  AggregatedReader(const OwnComm& comm, const RankQuery& query, const AggregatedRead& read,
    const ReadOptions& options, const QueryOptions& query_options, Particles& particles,
    MessageCounter& messages)
    : comm_(comm)
    , query_(query)
    , dataset_(query.dataset.impl())
    , read_(read)
    , options_(options)
    , query_options_(query_options)
    , particles_(particles)
    , messages_(messages)
    , rows_per_message_(std::max<std::uint64_t>(
        1, std::min<std::uint64_t>(read.message_bytes, INT_MAX) / query.row_bytes))
  {
  }

  AggregatedCost run()
  {
    this->exchange_queries();
    for (std::uint32_t round = 0; round != this->read_.rounds; ++round)
    {
      this->select(round);
      this->fetch(round);
    }
    this->assemble();
    return this->cost_;
  }

private:
  [[nodiscard]] const ReadTask& task_of(std::uint64_t leaf) const
  {
    return *std::lower_bound(this->read_.tasks.begin(), this->read_.tasks.end(), leaf,
      [](const ReadTask& task, std::uint64_t number) { return task.leaf < number; });
  }

  void enter(ReadPhase phase) const
  {
    if (this->options_.on_phase)
    {
      call_user([&] { this->options_.on_phase(phase); });
    }
  }

  void find_targets()
  {
    std::map<int, Target> targets;
    this->pieces_.resize(this->query_.leaves.size());
    for (std::size_t place = 0; place != this->query_.leaves.size(); ++place)
    {
      const ReadTask& task = this->task_of(this->query_.leaves[place].leaf);
      Target& target = targets[task.reader];
      target.reader = task.reader;
      target.places.resize(this->read_.rounds);
      target.places[task.round].push_back(place);
      this->pieces_[place].round = task.round;
    }
    for (auto& [reader, target] : targets)
    {
      this->targets_.push_back(std::move(target));
    }
  }

  [[nodiscard]] std::vector<std::byte> message_to(
    const Target& target, const std::vector<std::byte>& query) const
  {
    std::vector<LeafRequest> leaves;
    for (const std::vector<std::size_t>& places : target.places)
    {
      for (const std::size_t place : places)
      {
        leaves.push_back(this->query_.leaves[place]);
      }
    }
    const std::uint64_t count = leaves.size();
    std::vector<std::byte> bytes(sizeof(count) + count * sizeof(LeafRequest) + query.size());
    std::memcpy(bytes.data(), &count, sizeof(count));
    std::memcpy(bytes.data() + sizeof(count), leaves.data(), count * sizeof(LeafRequest));
    std::memcpy(bytes.data() + bytes.size() - query.size(), query.data(), query.size());
    (void)checked_count(bytes.size());
    return bytes;
  }

  [[nodiscard]] RankRequest rank_request_in(
    int source, const std::byte* begin, const std::byte* end) const
  {
    std::uint64_t count = 0;
    std::memcpy(&count, begin, sizeof(count));
    std::vector<LeafRequest> leaves(count);
    std::memcpy(leaves.data(), begin + sizeof(count), count * sizeof(LeafRequest));
    RankRequest rank_request;
    rank_request.source = source;
    rank_request.conditions = this->dataset_.conditions(
      parse_query(begin + sizeof(count) + count * sizeof(LeafRequest), end));
    rank_request.leaves.resize(this->read_.rounds);
    for (const LeafRequest& leaf : leaves)
    {
      rank_request.leaves[this->task_of(leaf.leaf).round].push_back(leaf);
    }
    return rank_request;
  }

  // `received` has memory for all messages already, because a failure here would leave other ranks
  // waiting.
  void receive_queries(std::uint64_t count, std::byte* bytes, std::vector<Received>& received)
  {
    std::size_t at = 0;
    for (std::uint64_t i = 0; i != count; ++i)
    {
      MPI_Message message;
      MPI_Status status;
      int size = 0;
      MPI_Mprobe(MPI_ANY_SOURCE, kQueriesTag, this->comm_.get(), &message, &status);
      MPI_Get_count(&status, MPI_BYTE, &size);
      MPI_Mrecv(bytes + at, size, MPI_BYTE, &message, MPI_STATUS_IGNORE);
      received.push_back({ status.MPI_SOURCE, at, static_cast<std::size_t>(size) });
      at += static_cast<std::size_t>(size);
      this->note_received(status.MPI_SOURCE, static_cast<std::uint64_t>(size));
    }
  }

  void parse_queries(const std::byte* bytes, std::vector<Received>& received)
  {
    // Processes requests in rank order, whichever message arrived first.
    std::sort(received.begin(), received.end(),
      [](const Received& a, const Received& b) { return a.source < b.source; });
    for (const Received& r : received)
    {
      const std::byte* const begin = bytes + r.first;
      this->rank_requests_.push_back(this->rank_request_in(r.source, begin, begin + r.size));
    }
  }

  // Sends each reader the queries on its leaf files.
  void exchange_queries()
  {
    std::vector<std::vector<std::byte>> messages;
    std::vector<MPI_Request> requests;
    std::vector<std::uint64_t> sends;
    collective(this->comm_.get(),
      [&]
      {
        this->find_targets();
        std::vector<std::byte> query;
        append_query(query, this->query_.query);
        sends.resize(2 * static_cast<std::size_t>(this->comm_.size()), 0);
        for (const Target& target : this->targets_)
        {
          messages.push_back(this->message_to(target, query));
          sends[2 * static_cast<std::size_t>(target.reader)] = 1;
          sends[2 * static_cast<std::size_t>(target.reader) + 1] = messages.back().size();
        }
        requests.resize(messages.size(), MPI_REQUEST_NULL);
      });
    std::array<std::uint64_t, 2> expected{}; // messages, bytes
    MPI_Reduce_scatter_block(
      sends.data(), expected.data(), 2, MPI_UINT64_T, MPI_SUM, this->comm_.get());
    LargeArray<std::byte> bytes;
    std::vector<Received> received;
    collective(this->comm_.get(),
      [&]
      {
        bytes.reset(expected[1]);
        received.reserve(expected[0]);
      });
    for (std::size_t i = 0; i != messages.size(); ++i)
    {
      MPI_Isend(messages[i].data(), static_cast<int>(messages[i].size()), MPI_BYTE,
        this->targets_[i].reader, kQueriesTag, this->comm_.get(), &requests[i]);
      this->note_sent(this->targets_[i].reader, messages[i].size());
    }
    this->receive_queries(expected[0], bytes.data(), received);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    collective(this->comm_.get(), [&] { this->parse_queries(bytes.data(), received); });
  }

  void note_sent(int target, std::uint64_t bytes)
  {
    if (target != this->comm_.rank())
    {
      this->messages_.sent(target, bytes);
    }
  }

  void note_received(int source, std::uint64_t bytes)
  {
    if (source != this->comm_.rank())
    {
      this->messages_.received(bytes);
    }
  }

  // Finds the particles of this round's leaf files and reports their counts to the ranks.
  void select(std::uint32_t round)
  {
    std::vector<MPI_Request> requests;
    collective(this->comm_.get(),
      [&]
      {
        this->enter(ReadPhase::Select);
        const double start = MPI_Wtime();
        this->list_answers(round);
        this->load(round);
        const double loaded = MPI_Wtime();
        this->find();
        this->list_expected(round);
        requests.resize(this->answers_.size() + this->expected_.size(), MPI_REQUEST_NULL);
        this->cost_.load += loaded - start;
        this->cost_.select += MPI_Wtime() - loaded;
      });
    std::size_t next = 0;
    for (Expected& e : this->expected_)
    {
      MPI_Irecv(e.counts.data(), static_cast<int>(e.counts.size()), MPI_UINT64_T, e.reader,
        kCountsTag, this->comm_.get(), &requests[next++]);
      this->note_received(e.reader, e.counts.size() * sizeof(e.counts[0]));
    }
    for (const Answer& a : this->answers_)
    {
      MPI_Isend(a.counts.data(), static_cast<int>(a.counts.size()), MPI_UINT64_T,
        a.rank_request->source, kCountsTag, this->comm_.get(), &requests[next++]);
      this->note_sent(a.rank_request->source, a.counts.size() * sizeof(a.counts[0]));
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

  void list_answers(std::uint32_t round)
  {
    this->answers_.clear();
    for (const RankRequest& rank_request : this->rank_requests_)
    {
      const std::vector<LeafRequest>& leaves = rank_request.leaves[round];
      if (!leaves.empty())
      {
        Answer answer;
        answer.rank_request = &rank_request;
        answer.leaves = &leaves;
        answer.counts.resize(leaves.size(), 0);
        answer.found.resize(leaves.size());
        this->answers_.push_back(std::move(answer));
      }
    }
  }

  void list_expected(std::uint32_t round)
  {
    this->expected_.clear();
    for (const Target& target : this->targets_)
    {
      const std::vector<std::size_t>& places = target.places[round];
      if (!places.empty())
      {
        this->expected_.push_back(
          { target.reader, &places, std::vector<std::uint64_t>(places.size(), 0), 0 });
      }
    }
  }

  // Opens the leaf files of the round, and reads completely those of which much is requested.
  void load(std::uint32_t round)
  {
    this->images_.clear();
    struct Requested
    {
      std::uint64_t requests = 0;
      double shares = 0;
    };
    std::map<std::uint64_t, Requested> requested;
    for (const Answer& answer : this->answers_)
    {
      for (const LeafRequest& leaf : *answer.leaves)
      {
        requested[leaf.leaf].requests += leaf.share > 0 ? 1 : 0;
        requested[leaf.leaf].shares += leaf.share;
      }
    }
    for (const ReadTask& task : this->read_.tasks)
    {
      if (task.reader != this->comm_.rank() || task.round != round)
      {
        continue;
      }
      (void)this->dataset_.leaf(task.leaf);
      ++this->cost_.opens;
      const Requested& w = requested[task.leaf];
      // Pages of a remote file stay in the cache, so that no part is requested twice.
      if (!this->dataset_.is_remote() && task.file_bytes <= this->read_.memory_bytes &&
        reads_whole(
          w.requests, w.shares, this->query_.column_share(), static_cast<double>(task.file_bytes)))
      {
        this->images_[task.leaf] = this->dataset_.image(task.leaf);
      }
    }
  }

  [[nodiscard]] const LeafSource& source(std::uint64_t leaf) const
  {
    const auto image = this->images_.find(leaf);
    return image != this->images_.end() && image->second ? *image->second
                                                         : this->dataset_.leaf(leaf);
  }

  [[nodiscard]] Selection select_in(const Answer& answer, std::size_t i) const
  {
    const LeafRequest& request = (*answer.leaves)[i];
    const LeafSource& leaf = this->source(request.leaf);
    return leaf.select(query::of_leaf(answer.rank_request->conditions, leaf.particle_count(),
                         { request.begin, request.end }),
      this->query_options_);
  }

  void find()
  {
    std::vector<std::pair<Answer*, std::size_t>> work;
    for (Answer& answer : this->answers_)
    {
      for (std::size_t i = 0; i != answer.leaves->size(); ++i)
      {
        work.emplace_back(&answer, i);
      }
    }
    std::atomic<std::uint64_t> held{ 0 };
    const auto find_one = [&](std::size_t w)
    {
      auto& [answer, i] = work[w];
      Selection found = this->select_in(*answer, i);
      answer->counts[i] = found.count;
      const std::uint64_t bytes = found.spans.size() * sizeof(Span);
      if (held.fetch_add(bytes) + bytes <= this->read_.selection_bytes)
      {
        answer->found[i] = std::move(found);
      }
      else
      {
        held -= bytes;
      }
    };
    if (work.size() == 1)
    {
      find_one(0);
      return;
    }
    in_arena(this->query_options_.threads,
      [&] { tbb::parallel_for(std::size_t{ 0 }, work.size(), find_one); });
  }

  // Sends the values to the ranks that requested them.
  void fetch(std::uint32_t round)
  {
    const double start = MPI_Wtime();
    collective(this->comm_.get(),
      [&]
      {
        this->enter(ReadPhase::Fetch);
        this->make_room(round);
      });
    // From here on other ranks wait for this rank's messages: nothing may throw until all have
    // arrived.
    this->failure_.reset();
    this->post_receives();
    if (this->dataset_.is_remote())
    {
      this->keep_failure(attempt([&] { this->prefetch_found(); }));
    }
    for (Answer& answer : this->answers_)
    {
      if (answer.rank_request->source == this->comm_.rank())
      {
        this->keep_failure(attempt([&] { this->copy_own(answer); }));
      }
    }
    this->send();
    MPI_Waitall(
      static_cast<int>(this->receives_.size()), this->receives_.data(), MPI_STATUSES_IGNORE);
    this->receives_.clear();
    this->images_.clear();
    agree(this->comm_.get(), this->failure_);
    this->cost_.fetch += MPI_Wtime() - start;
  }

  void keep_failure(std::optional<Error> failure)
  {
    if (!this->failure_)
    {
      this->failure_ = std::move(failure);
    }
  }

  [[nodiscard]] std::uint64_t messages_for(std::uint64_t rows) const
  {
    return (rows + this->rows_per_message_ - 1) / this->rows_per_message_;
  }

  [[nodiscard]] static std::uint64_t total(const Answer& answer)
  {
    std::uint64_t rows = 0;
    for (const std::uint64_t count : answer.counts)
    {
      rows += count;
    }
    return rows;
  }

  void make_room(std::uint32_t round)
  {
    std::vector<std::size_t> places;
    std::uint64_t receives = 0;
    for (Expected& e : this->expected_)
    {
      e.total = 0;
      for (std::size_t i = 0; i != e.places->size(); ++i)
      {
        const std::size_t place = (*e.places)[i];
        this->pieces_[place].count = e.counts[i];
        places.push_back(place);
        e.total += e.counts[i];
      }
      receives += e.reader == this->comm_.rank() ? 0 : this->messages_for(e.total);
    }
    std::sort(places.begin(), places.end());
    std::uint64_t rows = 0;
    for (const std::size_t place : places)
    {
      this->pieces_[place].first_row = rows;
      rows += this->pieces_[place].count;
    }
    this->receives_.reserve(static_cast<std::size_t>(checked_count(receives)));
    this->make_columns(round, rows);
    const std::size_t max_blocks = this->query_.columns.size() * (places.size() + 1);
    this->lengths_.reserve(max_blocks);
    this->addresses_.reserve(max_blocks);
    this->make_room_for_sends();
  }

  // With one round, the columns are those of the answer.
  void make_columns(std::uint32_t round, std::uint64_t rows)
  {
    this->base_.clear();
    if (this->read_.rounds == 1)
    {
      resize(this->particles_, this->query_, rows);
      for (std::size_t c = 0; c != this->query_.columns.size(); ++c)
      {
        this->base_.push_back(column_of(this->particles_, c));
      }
      return;
    }
    this->columns_.resize(this->read_.rounds);
    for (const ReadColumn& column : this->query_.columns)
    {
      this->columns_[round].emplace_back(rows * column.bytes);
      this->base_.push_back(this->columns_[round].back().data());
    }
  }

  void make_room_for_sends()
  {
    std::uint64_t sends = 0;
    std::uint64_t max_rows = 0;
    for (const Answer& answer : this->answers_)
    {
      if (answer.rank_request->source != this->comm_.rank())
      {
        const std::uint64_t rows = total(answer);
        sends += this->messages_for(rows);
        max_rows = std::max(max_rows, std::min(rows, this->rows_per_message_));
      }
    }
    this->sends_.make_room(sends, max_rows * this->query_.row_bytes);
  }

  void post_receives()
  {
    for (const Expected& e : this->expected_)
    {
      if (e.reader == this->comm_.rank())
      {
        continue;
      }
      // The messages are the reader's rows, leaf file by leaf file, cut into equal portions.
      std::size_t i = 0;
      std::uint64_t row = 0; // row in leaf file i
      for (std::uint64_t rest = e.total; rest != 0;)
      {
        const std::uint64_t portion = std::min(rest, this->rows_per_message_);
        this->receive(e, portion, i, row);
        rest -= portion;
      }
    }
  }

  // Receives straight into the columns. The message has the form that send() packs: column by
  // column.
  void receive(const Expected& e, std::uint64_t rows, std::size_t& i, std::uint64_t& row)
  {
    this->lengths_.clear();
    this->addresses_.clear();
    const std::size_t first_i = i;
    const std::uint64_t first_row = row;
    for (std::size_t c = 0; c != this->query_.columns.size(); ++c)
    {
      const std::uint64_t bytes = this->query_.columns[c].bytes;
      i = first_i;
      row = first_row;
      std::byte* end = nullptr;
      for (std::uint64_t rest = rows; rest != 0;)
      {
        const std::uint64_t count = std::min(rest, e.counts[i] - row);
        std::byte* const at =
          this->base_[c] + (this->pieces_[(*e.places)[i]].first_row + row) * bytes;
        const auto length = static_cast<int>(count * bytes);
        if (count != 0 && at == end)
        {
          this->lengths_.back() += length; // leaf files that follow each other here too
        }
        else if (count != 0)
        {
          this->lengths_.push_back(length);
          this->addresses_.emplace_back();
          MPI_Get_address(at, &this->addresses_.back());
        }
        end = count != 0 ? at + length : end;
        rest -= count;
        row += count;
        if (row == e.counts[i] && rest != 0)
        {
          ++i;
          row = 0;
        }
      }
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed(static_cast<int>(this->lengths_.size()), this->lengths_.data(),
      this->addresses_.data(), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    this->receives_.emplace_back();
    MPI_Irecv(
      MPI_BOTTOM, 1, type, e.reader, kParticlesTag, this->comm_.get(), &this->receives_.back());
    MPI_Type_free(&type); // lives on until the message is there
    this->note_received(e.reader, rows * this->query_.row_bytes);
  }

  // The selection in the i-th leaf file of an answer, found again if it was too large to keep.
  [[nodiscard]] Selection take_found(Answer& answer, std::size_t i) const
  {
    Selection found = std::move(answer.found[i]);
    if (answer.counts[i] != 0 && found.spans.empty())
    {
      found = this->select_in(answer, i);
    }
    if (found.count != answer.counts[i])
    {
      throw Error(ErrorCode::Corrupt,
        fmt::format("{}: now has {} matching particles instead of {}; was it changed in place?",
          this->source((*answer.leaves)[i].leaf).name(), found.count, answer.counts[i]));
    }
    return found;
  }

  void read(
    const ReadColumn& column, std::uint64_t leaf, const Selection& selection, std::byte* out) const
  {
    const LeafSource& source = this->source(leaf);
    column.attribute
      ? source.read_attribute(*column.attribute, selection, out, this->query_options_)
      : source.read_positions(selection, out, this->query_options_);
  }

  void copy_own(Answer& answer)
  {
    const auto& expected = *std::find_if(this->expected_.begin(), this->expected_.end(),
      [&](const Expected& e) { return e.reader == this->comm_.rank(); });
    for (std::size_t i = 0; i != answer.leaves->size(); ++i)
    {
      const Selection found = this->take_found(answer, i);
      const Piece& piece = this->pieces_[(*expected.places)[i]];
      for (std::size_t c = 0; found.count != 0 && c != this->query_.columns.size(); ++c)
      {
        this->read(this->query_.columns[c], (*answer.leaves)[i].leaf, found,
          this->base_[c] + piece.first_row * this->query_.columns[c].bytes);
      }
    }
  }

  void send()
  {
    // Each rank starts with the next one, so that not all send to the same rank at once.
    const auto behind = std::find_if(this->answers_.begin(), this->answers_.end(),
      [&](const Answer& answer) { return answer.rank_request->source > this->comm_.rank(); });
    std::rotate(this->answers_.begin(), behind, this->answers_.end());
    for (Answer& answer : this->answers_)
    {
      if (answer.rank_request->source != this->comm_.rank())
      {
        this->send_answer(answer);
      }
    }
    this->sends_.wait();
  }

  void send_answer(Answer& answer)
  {
    std::vector<DatasetSelection> portions;
    std::vector<DatasetSelection> blocks; // of what is prefetched from a server
    this->keep_failure(attempt(
      [&]
      {
        DatasetSelection all;
        for (std::size_t i = 0; i != answer.leaves->size(); ++i)
        {
          if (answer.counts[i] != 0)
          {
            all.parts.push_back({ (*answer.leaves)[i].leaf, this->take_found(answer, i) });
          }
        }
        portions = split(all, this->rows_per_message_);
        if (this->dataset_.is_remote())
        {
          blocks = split(all, kMessagesPerPrefetch * this->rows_per_message_);
          this->prefetch(blocks.empty() ? all : blocks.front());
        }
      }));
    std::uint64_t rest = total(answer);
    for (std::size_t p = 0; rest != 0; ++p)
    {
      if (p % kMessagesPerPrefetch == 0 && p / kMessagesPerPrefetch + 1 < blocks.size())
      {
        this->keep_failure(attempt([&] { this->prefetch(blocks[p / kMessagesPerPrefetch + 1]); }));
      }
      const std::uint64_t rows = std::min(rest, this->rows_per_message_);
      this->send_rows(
        answer.rank_request->source, rows, p < portions.size() ? &portions[p] : nullptr);
      rest -= rows;
    }
  }

  void send_rows(int target, std::uint64_t rows, const DatasetSelection* portion)
  {
    std::byte* const packed = this->sends_.next();
    // Rows that could not be read are sent anyway, because their receiver waits for them.
    if (portion)
    {
      this->keep_failure(attempt([&] { this->pack(*portion, packed); }));
    }
    const std::uint64_t bytes = rows * this->query_.row_bytes;
    this->sends_.send(this->comm_, target, kParticlesTag, bytes);
    this->note_sent(target, bytes);
  }

  void prefetch(const DatasetSelection& selection) const
  {
    const std::vector<std::size_t> attributes = this->query_.attributes();
    for (const DatasetSelection::Part& part : selection.parts)
    {
      this->source(part.leaf).prefetch(part.selection, attributes);
    }
  }

  // Requests what the ranks get first from the server, for all of them together: ranks that share a
  // leaf file often need particles that alternate in it.
  void prefetch_found() const
  {
    std::map<std::uint64_t, std::vector<Span>> spans; ///< by leaf file
    std::uint64_t bytes = 0;
    for (const Answer& answer : this->answers_)
    {
      for (std::size_t i = 0; i != answer.found.size(); ++i)
      {
        bytes += answer.found[i].count * this->query_.row_bytes;
        if (bytes <= kMaxPrefetchBytes)
        {
          std::vector<Span>& all = spans[(*answer.leaves)[i].leaf];
          all.insert(all.end(), answer.found[i].spans.begin(), answer.found[i].spans.end());
        }
      }
    }
    for (auto& [leaf, all] : spans)
    {
      this->source(leaf).prefetch(merge_spans(std::move(all)), this->query_.attributes());
    }
  }

  void pack(const DatasetSelection& portion, std::byte* at) const
  {
    for (const ReadColumn& column : this->query_.columns)
    {
      for (const DatasetSelection::Part& part : portion.parts)
      {
        this->read(column, part.leaf, part.selection, at);
        at += part.selection.count * column.bytes;
      }
    }
  }

  // Leaf files come in the order of their numbers, as in a direct read.
  void assemble()
  {
    if (this->read_.rounds == 1)
    {
      return;
    }
    collective(this->comm_.get(),
      [&]
      {
        std::uint64_t rows = 0;
        for (const Piece& piece : this->pieces_)
        {
          rows += piece.count;
        }
        this->particles_.count = rows;
        for (std::size_t c = 0; c != this->query_.columns.size(); ++c)
        {
          const std::uint64_t bytes = this->query_.columns[c].bytes;
          std::vector<std::byte>& column =
            c == 0 ? this->particles_.positions : this->particles_.columns[c - 1].values;
          column.resize(rows * bytes);
          std::byte* at = column.data();
          for (const Piece& piece : this->pieces_)
          {
            if (piece.count != 0)
            {
              std::memcpy(at, this->columns_[piece.round][c].data() + piece.first_row * bytes,
                piece.count * bytes);
            }
            at += piece.count * bytes;
          }
          for (std::vector<LargeArray<std::byte>>& round : this->columns_)
          {
            round[c].reset(0);
          }
        }
      });
  }

  const OwnComm& comm_;
  const RankQuery& query_;
  const Dataset::Impl& dataset_;
  const AggregatedRead& read_;
  const ReadOptions& options_;
  const QueryOptions& query_options_;
  Particles& particles_;
  MessageCounter& messages_;
  std::uint64_t rows_per_message_;
  std::vector<Target> targets_;
  std::vector<RankRequest> rank_requests_;
  std::vector<Piece> pieces_; ///< per leaf file of the query
  std::vector<Answer> answers_;
  std::vector<Expected> expected_;
  std::map<std::uint64_t, std::unique_ptr<LeafSource>> images_; ///< per round; null: no image
  std::vector<std::byte*> base_;                                ///< per column, of the round
  std::vector<std::vector<LargeArray<std::byte>>> columns_;     ///< per round, if there are several
  std::vector<MPI_Request> receives_;
  std::vector<int> lengths_; ///< lengths for the message being described
  std::vector<MPI_Aint> addresses_;
  PackedSends sends_;
  std::optional<Error> failure_; ///< while messages were under way
  AggregatedCost cost_;
};
}

AggregatedCost read_aggregated(const OwnComm& comm, const RankQuery& query,
  const AggregatedRead& read, const ReadOptions& options, const QueryOptions& query_options,
  Particles& particles, MessageCounter& messages)
{
  return AggregatedReader(comm, query, read, options, query_options, particles, messages).run();
}
}
