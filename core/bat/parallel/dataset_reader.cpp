// Each rank gets its own particles of a dataset that all have open.

#include "bat/mpi.hpp"

#include "bat/dataset/dataset_checksum.hpp"
#include "bat/parallel/aggregated_read.hpp"
#include "bat/parallel/query_bytes.hpp"
#include "parallel/comm.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace bat::mpi
{
Dataset open_dataset(MPI_Comm comm, const std::filesystem::path& path, const OpenOptions& options)
{
  const OwnComm own(comm);
  std::string text = path.string();
  broadcast_text(own, text);
  std::optional<Dataset> dataset;
  const auto open = [&] { dataset.emplace(Dataset::open(text, options)); };
  // Rank 0 first: a file that is not there is looked for once, not by thousands.
  together(own.get(),
    [&]
    {
      if (own.rank() == 0)
      {
        open();
      }
    });
  together(own.get(),
    [&]
    {
      if (own.rank() != 0)
      {
        open();
      }
    });
  // A writer may have replaced it between the two.
  const std::uint64_t mine = checksum_of(*dataset);
  std::uint64_t first = mine;
  MPI_Bcast(&first, 1, MPI_UINT64_T, 0, own.get());
  together(own.get(),
    [&]
    {
      if (mine != first)
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
class ParticleReader
{
public:
  ParticleReader(const OwnComm& comm, const Dataset& dataset, const Query& query,
    const ReadOptions& options, bool report)
    : comm_(comm)
    , dataset_(dataset)
    , query_(query)
    , options_(options)
    , wants_report_(report)
    , traffic_(comm)
    , start_(MPI_Wtime())
  {
  }

  /// Collective. All ranks return, or all throw the same.
  Particles run(const std::vector<std::string>& attributes)
  {
    this->share_options();
    this->query_options_.threads = threads_per_rank(this->comm_);
    const std::uint64_t read_before = this->wants_report_ ? this->dataset_.bytes_read() : 0;
    together(this->comm_.get(),
      [&]
      {
        if (this->options_.on_phase)
        {
          this->options_.on_phase(ReadPhase::Plan);
        }
        this->names_ = attributes.empty() ? this->dataset_.attribute_names() : attributes;
      });
    require_same(this->comm_, this->names_, "the attributes to read");
    std::optional<RankQuery> asked;
    Particles particles;
    together(this->comm_.get(),
      [&]
      {
        asked.emplace(this->dataset_, this->query_, this->names_);
        particles = empty_answer(*asked, this->names_);
      });
    this->choose(*asked);
    this->report_.seconds.plan = MPI_Wtime() - this->start_;
    if (this->report_.mode == ReadMode::Aggregated)
    {
      const AggregatedCost cost = read_aggregated(this->comm_, *asked, this->read_, this->options_,
        this->query_options_, particles, this->traffic_);
      this->report_.opens = cost.opens;
      this->report_.rounds = this->read_.rounds;
      this->report_.seconds.load = cost.load;
      this->report_.seconds.select = cost.select;
      this->report_.seconds.fetch = cost.fetch;
    }
    else
    {
      this->read_direct(*asked, particles);
      this->report_.opens = asked->leaves.size();
    }
    this->report_.particles = particles.count;
    this->report_.data_bytes = particles.count * asked->row_bytes;
    this->report_.read_bytes = this->wants_report_ ? this->dataset_.bytes_read() - read_before : 0;
    return particles;
  }

  [[nodiscard]] bool wants_report() const noexcept { return this->wants_report_; }

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
    describe_run(this->comm_, this->traffic_, this->query_options_.threads, reads, r);
    return r;
  }

private:
  // Those of rank 0 hold; a report is made if any rank wants one.
  void share_options()
  {
    std::array<std::uint64_t, 2> options{ static_cast<std::uint64_t>(this->options_.mode),
      this->options_.memory_bytes };
    MPI_Bcast(options.data(), 2, MPI_UINT64_T, 0, this->comm_.get());
    this->options_.mode = static_cast<ReadMode>(options[0]);
    this->options_.memory_bytes = options[1];
    int wanted = this->wants_report_ ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &wanted, 1, MPI_INT, MPI_MAX, this->comm_.get());
    this->wants_report_ = wanted != 0;
  }

  // Direct or aggregated, and in that case who reads what.
  void choose(const RankQuery& asked)
  {
    this->report_.mode = this->options_.mode;
    this->report_.reason = "it was asked for";
    if (this->options_.mode == ReadMode::Direct && !this->wants_report_)
    {
      return;
    }
    ReadDemand demand = this->demand(asked);
    if (this->options_.mode == ReadMode::Auto)
    {
      const ReadChoice choice = choose_read_mode(demand, this->options_.memory_bytes);
      this->report_.mode = choice.mode;
      this->report_.reason = choice.reason;
    }
    if (this->report_.mode == ReadMode::Aggregated)
    {
      this->read_.memory_bytes = this->options_.memory_bytes;
      this->read_.rounds =
        assign_readers(this->read_.tasks, this->comm_.size(), this->options_.memory_bytes);
    }
  }

  // Collective. Also the list of leaf files that some query touches.
  ReadDemand demand(const RankQuery& asked)
  {
    ReadDemand demand;
    std::vector<std::uint64_t> touched;
    together(this->comm_.get(),
      [&]
      {
        touched.resize((this->dataset_.leaves().size() + 63) / 64, 0);
        std::vector<std::byte> query;
        append_query(query, this->query_);
        demand.query_bytes = query.size();
      });
    const double bytes = static_cast<double>(asked.row_bytes);
    for (const LeafRequest& request : asked.leaves)
    {
      touched[request.leaf / 64] |= std::uint64_t{ 1 } << (request.leaf % 64);
      demand.bytes += request.share * bytes *
        static_cast<double>(this->dataset_.leaves()[request.leaf].particles);
    }
    MPI_Allreduce(MPI_IN_PLACE, touched.data(), static_cast<int>(touched.size()), MPI_UINT64_T,
      MPI_BOR, this->comm_.get());
    demand.ranks = static_cast<std::uint64_t>(this->comm_.size());
    demand.opens = asked.leaves.size();
    MPI_Allreduce(MPI_IN_PLACE, &demand.opens, 1, MPI_UINT64_T, MPI_SUM, this->comm_.get());
    MPI_Allreduce(MPI_IN_PLACE, &demand.bytes, 1, MPI_DOUBLE, MPI_SUM, this->comm_.get());
    MPI_Allreduce(MPI_IN_PLACE, &demand.query_bytes, 1, MPI_UINT64_T, MPI_MAX, this->comm_.get());
    together(this->comm_.get(),
      [&]
      {
        for (std::size_t leaf = 0; leaf != this->dataset_.leaves().size(); ++leaf)
        {
          if ((touched[leaf / 64] >> (leaf % 64) & 1) != 0)
          {
            const std::uint64_t size = this->dataset_.leaves()[leaf].file_bytes;
            this->read_.tasks.push_back({ leaf, size, 0, 0 });
            demand.largest_leaf = std::max(demand.largest_leaf, size);
          }
        }
      });
    demand.leaf_files = this->read_.tasks.size();
    this->report_.leaf_files = demand.leaf_files;
    return demand;
  }

  // Each rank for itself, without messages.
  void read_direct(const RankQuery& asked, Particles& particles)
  {
    together(this->comm_.get(),
      [&]
      {
        const auto enter = [&](ReadPhase phase)
        {
          if (this->options_.on_phase)
          {
            this->options_.on_phase(phase);
          }
        };
        enter(ReadPhase::Select);
        const double start = MPI_Wtime();
        const DatasetSelection selection =
          this->dataset_.select(this->query_, this->query_options_);
        const double selected = MPI_Wtime();
        enter(ReadPhase::Fetch);
        resize(particles, asked, selection.count);
        this->dataset_.read_positions(selection, particles.positions.data(), this->query_options_);
        for (std::size_t i = 0; i != particles.columns.size(); ++i)
        {
          this->dataset_.read_attribute(*asked.columns[i + 1].attribute, selection,
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
  bool wants_report_;
  TrafficCounter traffic_;
  double start_;
  QueryOptions query_options_;
  std::vector<std::string> names_;
  AggregatedRead read_;
  ReadReport report_; ///< of this rank, until report()
};
}

Particles read_particles(MPI_Comm comm, const Dataset& dataset, const Query& query,
  const std::vector<std::string>& attributes, const ReadOptions& options, ReadReport* report)
{
  const OwnComm own(comm);
  ParticleReader reader(own, dataset, query, options, report != nullptr);
  Particles particles = reader.run(attributes);
  if (reader.wants_report())
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
