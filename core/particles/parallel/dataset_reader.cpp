// SPDX-License-Identifier: BSD-3-Clause
// Reads each rank's own particles from a dataset that all ranks have open.

#include "bat/mpi.hpp"

#include "bat/address.hpp"
#include "bat/bytes.hpp"
#include "common/fail.hpp"
#include "parallel/comm.hpp"
#include "parallel/nodes.hpp"
#include "particles/dataset/dataset_checksum.hpp"
#include "particles/parallel/aggregated_read.hpp"
#include "particles/parallel/query_bytes.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

namespace bat::mpi
{
Dataset open_dataset(MPI_Comm comm, const std::filesystem::path& path, const OpenOptions& options)
{
  const OwnComm own(comm);
  std::string text = path.string();
  broadcast_text(own, text);
  std::optional<Dataset> dataset;
  std::uint64_t local = 0;
  // Rank 0 opens first, so that a missing file is searched for once and not by thousands of ranks.
  read_first_on_root(own, is_address(text),
    [&]
    {
      dataset.emplace(Dataset::open(text, options));
      local = compute_checksum(*dataset);
      if (dataset->is_remote())
      {
        (void)dataset->leaves(); // each read needs the list
      }
    });
  // A writer may have replaced it between the two.
  std::uint64_t first = local;
  MPI_Bcast(&first, 1, MPI_UINT64_T, 0, own.get());
  collective(own.get(),
    [&]
    {
      if (local != first)
      {
        throw Error(
          ErrorCode::CannotOpen, text + ": was replaced while it was being opened; open it again");
      }
    });
  return std::move(*dataset);
}

ParticleView Particles::view() const
{
  ParticleView view;
  view.count = this->count;
  view.positions = ArrayView::packed(this->position_type, 3, this->positions.data());
  for (const Column& column : this->columns)
  {
    AttributeView attribute;
    attribute.name = column.name;
    attribute.values = ArrayView::packed(column.type, column.components, column.values.data());
    view.attributes.push_back(std::move(attribute));
  }
  return view;
}

namespace
{
constexpr std::size_t kDemandCounts = 4;
constexpr std::size_t kWordBits = 64;

// Adds up the demand of ranks: leaf files, bytes of the answers, bytes of direct reads, bytes of
// the longest query; then a bit for each leaf file that is touched.
void add_demand(void* in, void* sum, int* count, MPI_Datatype* type)
{
  int bytes = 0;
  MPI_Type_size(*type, &bytes);
  const std::size_t words = static_cast<std::size_t>(bytes) / sizeof(std::uint64_t);
  const auto* one = static_cast<const std::uint64_t*>(in);
  auto* all = static_cast<std::uint64_t*>(sum);
  for (int i = 0; i != *count; ++i, one += words, all += words)
  {
    for (std::size_t word = 0; word != words; ++word)
    {
      all[word] = word < kDemandCounts - 1 ? all[word] + one[word]
        : word < kDemandCounts             ? std::max(all[word], one[word])
                                           : all[word] | one[word];
    }
  }
}

class ParticleReader
{
public:
  ParticleReader(const OwnComm& comm, const Dataset& dataset, const Query& query,
    const ReadOptions& options, bool report)
    : comm_(comm)
    , dataset_(dataset)
    , query_(query)
    , options_(options)
    , needs_report_(report)
    , messages_(comm)
    , start_(MPI_Wtime())
  {
  }

  /// Collective. All ranks return, or all throw the same Error.
  Particles run(const std::vector<std::string>& attributes)
  {
    this->share_options();
    const int own_threads = threads_per_rank(this->comm_);
    this->query_options_.threads =
      this->options_.threads > 0 ? this->options_.threads : own_threads;
    const std::uint64_t read_before = this->needs_report_ ? this->dataset_.bytes_read() : 0;
    collective(this->comm_.get(),
      [&]
      {
        if (this->options_.on_phase)
        {
          call_user([&] { this->options_.on_phase(ReadPhase::Plan); });
        }
        this->names_ = attributes.empty() ? this->dataset_.attribute_names() : attributes;
        this->names_.erase(
          std::remove_if(this->names_.begin(), this->names_.end(),
            [this](const std::string& name) { return this->dataset_.is_absent_when_empty(name); }),
          this->names_.end());
      });
    require_same(this->comm_, this->names_, "the attributes to read");
    std::optional<RankQuery> requested;
    Particles particles;
    collective(this->comm_.get(),
      [&]
      {
        const std::vector<std::string> once = this->each_once();
        requested.emplace(this->dataset_, this->query_, once);
        particles = empty_answer(*requested, once);
        if (this->options_.mode != ReadMode::Direct || this->needs_report_)
        {
          this->estimate(*requested);
        }
      });
    this->choose();
    this->report_.seconds.plan = MPI_Wtime() - this->start_;
    if (this->report_.mode == ReadMode::Aggregated)
    {
      const AggregatedCost cost = read_aggregated(this->comm_, *requested, this->read_,
        this->options_, this->query_options_, particles, this->messages_);
      this->report_.opens = cost.opens;
      this->report_.rounds = this->read_.rounds;
      this->report_.seconds.load = cost.load;
      this->report_.seconds.select = cost.select;
      this->report_.seconds.fetch = cost.fetch;
    }
    else
    {
      this->read_direct(*requested, particles);
      this->report_.opens = requested->leaves.size();
    }
    this->report_.particles = particles.count;
    this->report_.data_bytes = particles.count * requested->row_bytes;
    this->report_.read_bytes = this->needs_report_ ? this->dataset_.bytes_read() - read_before : 0;
    this->arrange(particles.columns);
    return particles;
  }

  [[nodiscard]] bool needs_report() const noexcept { return this->needs_report_; }

  /// Collective, after run().
  ReadReport report()
  {
    ReadReport& r = this->report_;
    ReadSeconds& s = r.seconds;
    s.total = MPI_Wtime() - this->start_;
    std::array<double, 5> seconds{ s.plan, s.load, s.select, s.fetch, s.total };
    MPI_Allreduce(MPI_IN_PLACE, seconds.data(), 5, MPI_DOUBLE, MPI_MAX, this->comm_.get());
    s = { seconds[0], seconds[1], seconds[2], seconds[3], seconds[4] };
    const bool reads = r.opens != 0;
    std::array<std::uint64_t, 4> sums{ r.particles, r.data_bytes, r.opens, r.read_bytes };
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), 4, MPI_UINT64_T, MPI_SUM, this->comm_.get());
    r.particles = sums[0];
    r.data_bytes = sums[1];
    r.opens = sums[2];
    r.read_bytes = sums[3];
    describe_run(this->comm_, this->messages_, this->query_options_.threads, reads, r);
    return r;
  }

private:
  // Returns the attributes in an order that is the same on all ranks, however each names them:
  // columns of a message have no names.
  [[nodiscard]] std::vector<std::string> each_once() const
  {
    std::vector<std::size_t> numbers;
    for (const std::string& name : this->names_)
    {
      numbers.push_back(this->dataset_.attribute_index(name));
    }
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    std::vector<std::string> names;
    for (const std::size_t number : numbers)
    {
      names.push_back(this->dataset_.attributes()[number].name);
    }
    return names;
  }

  // Collective. Names them as this rank does, perhaps twice.
  void arrange(std::vector<Particles::Column>& columns) const
  {
    collective(this->comm_.get(),
      [&]
      {
        std::vector<Particles::Column> arranged;
        for (auto name = this->names_.begin(); name != this->names_.end(); ++name)
        {
          const auto column = std::find_if(columns.begin(), columns.end(),
            [&](const Particles::Column& c) { return c.name == *name; });
          const bool again =
            std::find(std::next(name), this->names_.end(), *name) != this->names_.end();
          arranged.push_back(again ? *column : std::move(*column));
        }
        columns = std::move(arranged);
      });
  }

  // All ranks use the options of rank 0. A report is made if any rank requests one.
  void share_options()
  {
    const bool root = this->comm_.rank() == 0;
    std::array<std::uint64_t, 3> options{ root ? static_cast<std::uint64_t>(this->options_.mode)
                                               : 0,
      root ? this->options_.memory_bytes : 0, this->needs_report_ ? 1u : 0u };
    MPI_Allreduce(MPI_IN_PLACE, options.data(), 3, MPI_UINT64_T, MPI_MAX, this->comm_.get());
    this->options_.mode = static_cast<ReadMode>(options[0]);
    this->options_.memory_bytes = options[1];
    this->needs_report_ = options[2] != 0;
  }

  // Chooses direct or aggregated, and the readers of an aggregated read.
  void choose()
  {
    this->report_.mode = this->options_.mode;
    this->report_.reason = "requested";
    if (this->options_.mode == ReadMode::Direct && !this->needs_report_)
    {
      return;
    }
    const ReadDemand demand = this->demand();
    this->report_.leaf_files = demand.leaf_files;
    if (this->report_.mode == ReadMode::Auto)
    {
      ReadChoice choice{ ReadMode::Direct, reason_for_direct(demand, this->options_.memory_bytes) };
      if (choice.reason.empty())
      {
        choice = { ReadMode::Aggregated, reason_for_aggregated(demand) };
      }
      if (choice.reason.empty())
      {
        choice = choose_read_mode(demand, this->try_storage(demand.first_leaf));
      }
      this->report_.mode = choice.mode;
      this->report_.reason = choice.reason;
    }
    if (this->report_.mode == ReadMode::Aggregated)
    {
      this->assign();
    }
  }

  // Collective. While the others wait, rank 0 reads a little of a leaf file, which costs less than
  // opening it: a plan cannot know whether files come from a cache or over a network.
  StorageSpeed try_storage(std::size_t leaf)
  {
    constexpr std::uint64_t little = 4096;
    constexpr std::uint64_t more = std::uint64_t{ 1 } << 17;
    struct
    {
      StorageSpeed speed;
      bool failed = false;
    } found;
    std::optional<Error> failure;
    if (this->comm_.rank() == 0)
    {
      failure = attempt(
        [&]
        {
          const std::uint64_t size = this->dataset_.leaves()[leaf].file_bytes;
          Bytes bytes(std::min(more, size));
          const double start = MPI_Wtime();
          const auto file = this->dataset_.impl().bytes_of(leaf);
          const double opened = MPI_Wtime();
          file->read(size / 2, bytes.data(), std::min(little, size / 2));
          const double requested = MPI_Wtime();
          file->read(0, bytes.data(), bytes.size());
          const double took = MPI_Wtime() - requested;
          found.speed.request_s = requested - opened;
          found.speed.open_s = opened - start + kRequestsToOpen * found.speed.request_s;
          found.speed.bytes_per_s =
            static_cast<double>(bytes.size()) / std::max(1e-6, took - found.speed.request_s);
        });
      found.failed = failure.has_value();
    }
    MPI_Bcast(&found, sizeof(found), MPI_BYTE, 0, this->comm_.get());
    if (found.failed)
    {
      agree(this->comm_.get(), failure);
    }
    return found.speed;
  }

  // Estimates the amount of data that this rank is about to read.
  void estimate(const RankQuery& requested)
  {
    this->demand_.resize(
      kDemandCounts + (this->dataset_.leaves().size() + kWordBits - 1) / kWordBits, 0);
    std::vector<std::byte> query;
    append_query(query, this->query_);
    double answer_bytes = 0;
    double read_bytes = 0;
    const double row_bytes = static_cast<double>(requested.row_bytes);
    for (const LeafRequest& request : requested.leaves)
    {
      const LeafInfo& leaf = this->dataset_.leaves()[request.leaf];
      this->demand_[kDemandCounts + request.leaf / kWordBits] |= std::uint64_t{ 1 }
        << (request.leaf % kWordBits);
      answer_bytes += request.share * row_bytes * static_cast<double>(leaf.particles);
      read_bytes +=
        direct_bytes(request.share, requested.column_share(), static_cast<double>(leaf.file_bytes));
    }
    // Whole numbers, so that the sum is the same on all ranks in any order of additions.
    this->demand_[0] = requested.leaves.size();
    this->demand_[1] = static_cast<std::uint64_t>(answer_bytes);
    this->demand_[2] = static_cast<std::uint64_t>(read_bytes);
    this->demand_[3] = query.size();
  }

  [[nodiscard]] bool is_touched(std::size_t leaf) const
  {
    return (this->demand_[kDemandCounts + leaf / kWordBits] >> (leaf % kWordBits) & 1) != 0;
  }

  // Collective. Sums over all ranks in one reduction, because it is part of each small read.
  ReadDemand demand()
  {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(checked_count(this->demand_.size()), MPI_UINT64_T, &type);
    MPI_Type_commit(&type);
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(&add_demand, 1, &op);
    MPI_Allreduce(MPI_IN_PLACE, this->demand_.data(), 1, type, op, this->comm_.get());
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    ReadDemand demand;
    demand.ranks = static_cast<std::uint64_t>(this->comm_.size());
    demand.is_remote = this->dataset_.is_remote();
    demand.opens = this->demand_[0];
    demand.answer_bytes = static_cast<double>(this->demand_[1]);
    demand.direct_bytes = static_cast<double>(this->demand_[2]);
    demand.query_bytes = this->demand_[3];
    for (std::size_t leaf = this->dataset_.leaves().size(); leaf-- != 0;)
    {
      if (this->is_touched(leaf))
      {
        const std::uint64_t size = this->dataset_.leaves()[leaf].file_bytes;
        demand.largest_leaf = std::max(demand.largest_leaf, size);
        demand.file_bytes += static_cast<double>(size);
        demand.first_leaf = leaf;
        ++demand.leaf_files;
      }
    }
    return demand;
  }

  // Collective. Chooses the reader of each leaf file.
  void assign()
  {
    collective(this->comm_.get(),
      [&]
      {
        for (std::size_t leaf = 0; leaf != this->dataset_.leaves().size(); ++leaf)
        {
          if (this->is_touched(leaf))
          {
            this->read_.tasks.push_back({ leaf, this->dataset_.leaves()[leaf].file_bytes, 0, 0 });
          }
        }
        this->read_.memory_bytes = this->options_.memory_bytes;
        this->read_.rounds = assign_readers(
          this->read_.tasks, find_nodes(this->comm_).layout(), this->options_.memory_bytes);
      });
  }

  // Each rank works separately, without messages.
  void read_direct(const RankQuery& requested, Particles& particles)
  {
    collective(this->comm_.get(),
      [&]
      {
        const auto enter = [&](ReadPhase phase)
        {
          if (this->options_.on_phase)
          {
            call_user([&] { this->options_.on_phase(phase); });
          }
        };
        enter(ReadPhase::Select);
        const double start = MPI_Wtime();
        const DatasetSelection selection =
          this->dataset_.select(this->query_, this->query_options_);
        const double selected = MPI_Wtime();
        enter(ReadPhase::Fetch);
        resize(particles, requested, selection.count);
        if (this->dataset_.is_remote())
        {
          this->dataset_.prefetch(selection, requested.attributes());
        }
        this->dataset_.read_positions(selection, particles.positions.data(), this->query_options_);
        for (std::size_t i = 0; i != particles.columns.size(); ++i)
        {
          this->dataset_.read_attribute(*requested.columns[i + 1].attribute, selection,
            particles.columns[i].values.data(), this->query_options_);
        }
        this->report_.seconds.select = selected - start;
        this->report_.seconds.fetch = MPI_Wtime() - selected;
      });
  }

  const OwnComm& comm_;
  const Dataset& dataset_;
  const Query& query_;
  ReadOptions options_;
  bool needs_report_;
  MessageCounter messages_;
  double start_;
  QueryOptions query_options_;
  std::vector<std::string> names_;
  std::vector<std::uint64_t> demand_; ///< this rank's, later that of all; see add_demand()
  AggregatedRead read_;
  ReadReport report_; ///< this rank's, until report()
};
}

Particles read_particles(MPI_Comm comm, const Dataset& dataset, const Query& query,
  const std::vector<std::string>& attributes, const ReadOptions& options, ReadReport* report)
{
  const OwnComm own(comm);
  ParticleReader reader(own, dataset, query, options, report != nullptr);
  Particles particles = reader.run(attributes);
  if (reader.needs_report())
  {
    const ReadReport made = reader.report();
    if (report)
    {
      *report = made;
    }
  }
  return particles;
}
}
