// SPDX-License-Identifier: BSD-3-Clause
// The two phases described in the paper, with an agreement after each step:
// core/particles/parallel/MPI.md.

#include "bat/ids.hpp"
#include "bat/mpi.hpp"

#include "common/arena.hpp"
#include "common/fail.hpp"
#include "common/io/atomic_file.hpp"
#include "parallel/comm.hpp"
#include "parallel/nodes.hpp"
#include "particles/dataset/dataset_folder.hpp"
#include "particles/dataset/top_writer.hpp"
#include "particles/dataset/unfinished.hpp"
#include "particles/parallel/exchange.hpp"
#include "particles/parallel/rank_particles.hpp"
#include "particles/parallel/schema.hpp"
#include "particles/plan/summarise.hpp"
#include "particles/write/check_input.hpp"
#include "particles/write/leaf_writer.hpp"
#include "particles/write/option_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <system_error>

namespace bat::mpi
{
namespace
{
/// All ranks use the options of rank 0.
void share_options(const OwnComm& comm, WriteOptions& options)
{
  std::vector<write::OptionField> fields;
  std::vector<std::byte> bytes;
  collective(comm.get(),
    [&]
    {
      fields = write::option_fields(options);
      for (const write::OptionField& field : fields)
      {
        const auto* begin = static_cast<const std::byte*>(field.bytes);
        bytes.insert(bytes.end(), begin, begin + field.size);
      }
    });
  MPI_Bcast(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, comm.get());
  const std::byte* next = bytes.data();
  for (const write::OptionField& field : fields)
  {
    if (field.texts)
    {
      broadcast_names(comm, *field.texts);
      continue;
    }
    std::memcpy(field.bytes, next, field.size);
    next += field.size;
  }
}

/// Parses the number of a leaf file from its name in the top file.
std::uint64_t leaf_number(const std::string& name)
{
  return std::stoull(std::filesystem::path(name).filename().string());
}

class DatasetWriter
{
public:
  DatasetWriter(const OwnComm& comm, std::filesystem::path path, const std::vector<Piece>& pieces,
    const WriteOptions& options)
    : comm_(comm)
    , path_(std::move(path))
    , particles_(pieces)
    , options_(options)
    , start_(MPI_Wtime())
  {
    if (comm.rank() != 0)
    {
      this->options_.build.progress = nullptr;
    }
  }

  /// Collective. All ranks return, or all throw the same Error.
  DatasetReport run()
  {
    try
    {
      return this->run_phases();
    }
    catch (const Error&)
    {
      this->clean_up();
      throw;
    }
  }

private:
  DatasetReport run_phases()
  {
    this->check();
    const int threads = this->options_.build.threads > 0 ? this->options_.build.threads
                                                         : threads_per_rank(this->comm_);
    this->options_.build.threads = threads;
    in_arena(threads,
      [this]
      {
        this->plan();
        this->move();
      });
    this->write();
    this->commit();
    return this->report();
  }

  // Called after a failure. A failure on one rank fails all ranks.
  void clean_up()
  {
    this->single_.reset();
    this->unfinished_.remove_all();
    MPI_Barrier(this->comm_.get());
    this->lock_.reset();
  }

  // Ends a phase; its time is the slowest rank's.
  void finish(double& seconds)
  {
    const double now = MPI_Wtime();
    seconds = now - this->phase_start_;
    this->phase_start_ = now;
  }

  // Collective. Runs f on rank 0 only; all ranks fail together.
  template <class F>
  void on_root(F&& f)
  {
    collective(this->comm_.get(),
      [&]
      {
        if (this->comm_.rank() == 0)
        {
          f();
        }
      });
  }

  void enter(Phase phase, double fraction)
  {
    collective(this->comm_.get(),
      [&]
      {
        if (this->options_.on_phase)
        {
          call_user([&] { this->options_.on_phase(phase); });
        }
        this->progress(fraction);
      });
  }

  void progress(double fraction) const
  {
    const auto& call = this->options_.build.progress;
    if (call && !call_user([&] { return call(fraction); }))
    {
      throw Error(ErrorCode::Cancelled, "the write was cancelled");
    }
  }

  void check()
  {
    this->phase_start_ = this->start_;
    this->enter(Phase::Check, 0);
    share_options(this->comm_, this->options_);
    std::string path = this->path_.string();
    broadcast_text(this->comm_, path);
    collective(this->comm_.get(),
      [&]
      {
        check_name(path);
        this->path_ = io::follow_links(path);
        check_options(this->options_);
        check_view_name(path, this->options_.build);
        BuildOptions build = this->options_.build;
        build.sorted_indexes.clear(); // a rank without particles need not know these attributes
        build.stable_samples.clear();
        leave_out_bounds(build); // the same
        write::check_input(this->particles_.schema(), build);
        if (this->comm_.rank() == 0)
        {
          const io::AtomicFile probe(this->path_); // checks that the target can be replaced
        }
      });
    this->share_permissions();
    this->total_ = agree_on_schema(this->comm_, this->particles_);
    collective(this->comm_.get(),
      [&]
      {
        if (this->total_ == 0)
        {
          write::check_input(this->particles_.schema(), {}); // includes declarations of other ranks
          this->leave_out_unknown();                         // not all ranks need to know them
        }
        (void)write::indexed_keys(this->particles_.schema(), this->options_.build);
        (void)write::sample_ids(this->particles_.schema(), this->options_.build);
      });
    agree_on_bounds(this->comm_, this->particles_, this->options_.build);
    link_repeats(this->comm_, this->particles_, this->options_.build);
    this->options_.build.repeats = Repeats::Store; // the others stay what they are
    this->row_bytes_ = this->particles_.row_bytes();
    this->finish(this->seconds_.check);
  }

  // A step without particles need not have the attributes named by options.
  void leave_out_unknown()
  {
    const auto keep_known = [this](std::vector<std::string>& names)
    {
      names.erase(std::remove_if(names.begin(), names.end(),
                    [&](const std::string& name)
                    { return !names_attribute(this->particles_.schema(), name); }),
        names.end());
    };
    BuildOptions& build = this->options_.build;
    keep_known(build.sorted_indexes);
    keep_known(build.stable_samples);
    leave_out_bounds(build);
  }

  // Leaf files get the permissions of the replaced file: they hold what it held or described.
  void share_permissions()
  {
    constexpr std::uint32_t kNone = ~0u;
    std::uint32_t permissions = kNone;
    if (this->comm_.rank() == 0)
    {
      const auto present = io::read_permissions(this->path_);
      permissions = present ? static_cast<std::uint32_t>(*present) : kNone;
    }
    MPI_Bcast(&permissions, 1, MPI_UINT32_T, 0, this->comm_.get());
    if (permissions != kNone)
    {
      this->permissions_ =
        static_cast<std::filesystem::perms>(permissions) & std::filesystem::perms::all;
    }
  }

  void plan()
  {
    this->enter(Phase::Plan, 0.01);
    std::vector<WeightedCell> cells;
    PlanOptions plan_options;
    collective(this->comm_.get(),
      [&]
      {
        static_cast<PlanRules&>(plan_options) = this->options_;
        plan_options.bytes_per_particle = this->row_bytes_;
        plan_options.ranks = static_cast<std::uint32_t>(this->comm_.size());
        plan_options.threads = this->options_.build.threads;
        if (plan_options.target_bytes == 0)
        {
          plan_options.target_bytes =
            auto_target_bytes(this->total_, this->row_bytes_, plan_options.ranks);
        }
        cells = this->summarise(plan_options);
      });
    const std::vector<WeightedCell> all = gather_records(this->comm_, cells);
    const std::vector<RankBounds> bounds = this->gather_bounds(plan_options);
    this->on_root([&] { this->plan_ = make_plan(all, plan_options, bounds); });
    this->broadcast_plan();
    this->finish(this->seconds_.plan);
  }

  [[nodiscard]] std::vector<WeightedCell> summarise(const PlanOptions& plan_options) const
  {
    const std::uint64_t count = this->particles_.count();
    const auto rank = static_cast<std::uint32_t>(this->comm_.rank());
    if (plan_options.mode != PlanMode::Adaptive)
    {
      return this->rank_box(rank);
    }
    const std::uint64_t data = this->total_ * this->row_bytes_;
    const std::uint64_t leaves = (data + plan_options.target_bytes - 1) / plan_options.target_bytes;
    const std::uint32_t cells =
      cells_of_rank(count, std::max<std::uint64_t>(1, this->total_), plan_options.ranks,
        static_cast<std::uint32_t>(std::clamp<std::uint64_t>(leaves, 1, 1u << 24)));
    return plan::summarise(
      this->particles_.schema().positions.type,
      [this](std::uint64_t i) { return this->particles_.position(i); }, count, rank, cells);
  }

  // Gathers the bounds of ranks with particles on rank 0; empty if the plan does not use them.
  std::vector<RankBounds> gather_bounds(const PlanOptions& plan_options)
  {
    std::vector<RankBounds> own;
    collective(this->comm_.get(),
      [&]
      {
        const std::uint64_t count = this->particles_.count();
        if (plan_options.mode != PlanMode::Adaptive || plan_options.ranks == 1 || count == 0)
        {
          return;
        }
        RankBounds bounds;
        bounds.particles = static_cast<double>(count);
        bounds.rank = static_cast<std::uint32_t>(this->comm_.rank());
        const auto [box, finite] = this->particles_.finite_bounds();
        if (box.lower[0] <= box.upper[0])
        {
          bounds.box = box;
        }
        if (finite == count)
        {
          this->bounds_ = box;
        }
        own.push_back(bounds);
      });
    return gather_records(this->comm_, own);
  }

  // One cell: the declared box, or the particles' box.
  [[nodiscard]] std::vector<WeightedCell> rank_box(std::uint32_t rank) const
  {
    if (this->options_.local_bounds)
    {
      check_box(*this->options_.local_bounds);
    }
    if (this->particles_.count() == 0)
    {
      return {};
    }
    const Box box = this->options_.local_bounds ? *this->options_.local_bounds
                                                : this->particles_.finite_bounds().box;
    return { plan::box_cell(box, this->particles_.count(), rank) };
  }

  static void check_box(const Box& box)
  {
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      if (!std::isfinite(box.lower[axis]) || !std::isfinite(box.upper[axis]) ||
        box.lower[axis] > box.upper[axis])
      {
        throw Error(ErrorCode::InvalidArgument,
          fmt::format("the local bounds on the {} axis are {} to {}; they must be finite and "
                      "ascending",
            "xyz"[axis], box.lower[axis], box.upper[axis]));
      }
    }
  }

  void broadcast_plan()
  {
    std::array<std::uint64_t, 3> head{ this->plan_.leaf_count, this->plan_.target_bytes,
      static_cast<std::uint64_t>(this->plan_.mode) };
    MPI_Bcast(head.data(), 3, MPI_UINT64_T, 0, this->comm_.get());
    this->plan_.leaf_count = static_cast<std::uint32_t>(head[0]);
    this->plan_.target_bytes = head[1];
    this->plan_.mode = static_cast<PlanMode>(head[2]);
    broadcast_records(this->comm_, this->plan_.nodes);
    broadcast_records(this->comm_, this->plan_.aggregators);
    broadcast_records(this->comm_, this->plan_.leaf_of_rank);
    this->nodes_ = &find_nodes(this->comm_, this->options_.routing.ranks_per_node);
    collective(this->comm_.get(),
      [&]
      {
        this->plan_.aggregators =
          spread_over_nodes(this->nodes_->layout(), std::move(this->plan_.aggregators));
      });
  }

  void move()
  {
    this->enter(Phase::Exchange, 0.05);
    LeafAssignment assignment;
    collective(this->comm_.get(),
      [&] {
        assignment =
          assign_leaves(this->particles_, this->bounds_, this->plan_, this->comm_.rank());
      });
    this->moved_ = exchange(this->comm_, *this->nodes_, this->particles_, assignment,
      this->plan_.leaf_count, this->plan_.aggregators, this->options_.routing);
    this->finish(this->seconds_.exchange);
  }

  // Leaf files of this rank that have particles.
  void drop_empty_leaves()
  {
    std::vector<AggregatedLeaf>& leaves = this->moved_.leaves;
    leaves.erase(std::remove_if(leaves.begin(), leaves.end(),
                   [](const AggregatedLeaf& leaf) { return leaf.particles.count() == 0; }),
      leaves.end());
    std::uint64_t local = leaves.size();
    MPI_Allreduce(&local, &this->leaf_files_, 1, MPI_UINT64_T, MPI_SUM, this->comm_.get());
  }

  void write()
  {
    this->drop_empty_leaves();
    this->enter(Phase::Write, 0.2);
    if (this->leaf_files_ <= 1)
    {
      this->write_single();
      return;
    }
    const std::filesystem::path folder = leaves_folder(this->path_);
    std::array<std::uint64_t, 2> head{}; // an id of this write, and whether it has a lock
    this->on_root(
      [&]
      {
        this->lock_.emplace(this->path_);
        std::random_device random;
        head = { (std::uint64_t{ random() } << 32) | random(),
          std::uint64_t{ this->lock_->is_exclusive() } };
      });
    MPI_Bcast(head.data(), 2, MPI_UINT64_T, 0, this->comm_.get());
    const std::uint64_t id = head[0];
    this->is_exclusive_ = head[1] != 0;
    collective(this->comm_.get(),
      [&]
      {
        const std::size_t count = this->moved_.leaves.size();
        for (std::size_t i = 0; i != count; ++i)
        {
          AggregatedLeaf& leaf = this->moved_.leaves[i];
          const std::filesystem::path path = folder / leaf_file_name(leaf.leaf, id);
          io::AtomicFile file(path, this->permissions_);
          this->unfinished_.add(path);
          this->write_one(file, leaf,
            0.2 + 0.7 * static_cast<double>(i) / static_cast<double>(count),
            0.7 / static_cast<double>(count));
          file.commit(this->options_.build.flush);
          this->written_.push_back(path);
          leaf.columns.clear();
        }
      });
    this->finish(this->seconds_.write);
  }

  // The caller commits.
  void write_one(io::AtomicFile& file, const AggregatedLeaf& leaf, double begin, double share)
  {
    BuildOptions build = this->options_.build;
    if (build.progress)
    {
      build.progress = [this, begin, share](double fraction) {
        return call_user([&] { return this->options_.build.progress(begin + share * fraction); });
      };
    }
    const WriteReport report = write_leaf(file, leaf.particles, build);
    this->seconds_.build += report.seconds_build + report.seconds_encode;
    this->file_bytes_ += report.file_bytes;
    this->largest_ = std::max(this->largest_, report.data_bytes);
  }

  // One leaf file is the dataset: its own rename will be the commit.
  void write_single()
  {
    collective(this->comm_.get(),
      [&]
      {
        if (this->leaf_files_ == 0 && this->comm_.rank() == 0)
        {
          AggregatedLeaf nothing;
          nothing.particles = write::ParticleParts(this->particles_.schema());
          this->moved_.leaves.push_back(std::move(nothing));
        }
        if (!this->moved_.leaves.empty())
        {
          this->single_.emplace(this->path_);
          this->write_one(*this->single_, this->moved_.leaves[0], 0.2, 0.75);
        }
      });
    this->finish(this->seconds_.write);
  }

  void commit()
  {
    this->enter(Phase::Commit, 0.95);
    if (this->leaf_files_ <= 1)
    {
      this->on_root([&] { (void)this->replaced(); });
      collective(this->comm_.get(),
        [&]
        {
          if (this->single_)
          {
            this->single_->commit(this->options_.build.flush);
          }
        });
    }
    else
    {
      this->commit_leaves();
      this->unfinished_.keep_all();
      collective(this->comm_.get(), [&] { this->check_leaves(); });
    }
    if (this->comm_.rank() == 0)
    {
      remove_leftovers(
        this->path_, this->names_, this->replaced(), this->lock_ ? &*this->lock_ : nullptr);
      this->lock_.reset();
    }
    this->finish(this->seconds_.commit);
  }

  // Returns the leaf files (names) of the dataset that was in place on the first call.
  const std::set<std::string>& replaced()
  {
    if (!this->replaced_)
    {
      this->replaced_ = list_leaf_files(this->path_);
    }
    return *this->replaced_;
  }

  void commit_leaves()
  {
    std::vector<char> local;
    collective(this->comm_.get(), [&] { local = this->describe_leaves(); });
    const std::vector<char> all = gather_records(this->comm_, local);
    TopContents top;
    this->on_root([&] { top = this->describe_top(all); });
    collective(this->comm_.get(), [&] { this->rename_leaves(); });
    this->on_root([&] { this->write_top(top); });
  }

  // Names this rank's leaf files and describes them for rank 0.
  std::vector<char> describe_leaves()
  {
    std::vector<char> bytes;
    const std::string folder = leaves_folder(this->path_).filename().string() + "/";
    for (std::size_t i = 0; i != this->written_.size(); ++i)
    {
      LeafEntry entry = describe_leaf(this->written_[i], {});
      this->leaf_names_.push_back(free_leaf_name(leaves_folder(this->path_),
        this->moved_.leaves[i].leaf, entry.record.header_checksum,
        this->is_exclusive_ ? this->replaced() : std::set<std::string>()));
      entry.name = folder + this->leaf_names_.back();
      entry.record.name_bytes = static_cast<std::uint32_t>(entry.name.size());
      append_entry(bytes, entry);
      this->records_.push_back(entry.record);
    }
    return bytes;
  }

  // Checks that the leaf files of this rank are those that the top file names.
  void check_leaves() const
  {
    const std::filesystem::path folder = leaves_folder(this->path_);
    for (std::size_t i = 0; i != this->records_.size(); ++i)
    {
      check_leaf_file(this->path_, folder / this->leaf_names_[i], this->records_[i]);
    }
  }

  // Runs on rank 0.
  TopContents describe_top(const std::vector<char>& bytes)
  {
    (void)this->replaced(); // while it still exists
    TopContents top = make_contents(this->particles_.schema());
    top.sample_ids = write::sample_ids(this->particles_.schema(), this->options_.build);
    top.leaves = parse_entries(bytes, top.attributes);
    // Includes leaf files written by any rank.
    std::sort(top.leaves.begin(), top.leaves.end(),
      [](const LeafEntry& a, const LeafEntry& b)
      { return leaf_number(a.name) < leaf_number(b.name); });
    for (const LeafEntry& entry : top.leaves)
    {
      this->names_.insert(std::filesystem::path(entry.name).filename().string());
    }
    return top;
  }

  void rename_leaves()
  {
    const std::filesystem::path folder = leaves_folder(this->path_);
    for (std::size_t i = 0; i != this->written_.size(); ++i)
    {
      const std::filesystem::path file = folder / this->leaf_names_[i];
      const bool is_new = !std::filesystem::exists(file);
      std::filesystem::rename(this->written_[i], file);
      this->unfinished_.forget(this->written_[i]);
      if (is_new)
      {
        this->unfinished_.add(file);
      }
    }
    if (!this->written_.empty() && this->options_.build.flush)
    {
      io::flush_folder(folder); // names are on disk before the top file refers to them
    }
  }

  // Runs on rank 0.
  void write_top(const TopContents& top)
  {
    const std::vector<std::byte> contents = encode_top(top);
    io::AtomicFile file(this->path_);
    file.write(0, contents.data(), contents.size());
    file.commit(this->options_.build.flush);
    this->file_bytes_ += contents.size();
  }

  DatasetReport report()
  {
    DatasetReport report;
    report.particles = this->total_;
    report.leaf_files = std::max<std::uint64_t>(1, this->leaf_files_);
    report.target_bytes = this->plan_.target_bytes;
    report.data_bytes = this->total_ * this->row_bytes_;
    report.leaders = static_cast<int>(this->moved_.leaders);
    describe_run(this->comm_, this->moved_.messages, this->options_.build.threads,
      !this->moved_.leaves.empty(), report);
    const std::array<std::uint64_t, 3> local{ this->file_bytes_, this->moved_.sent_bytes,
      this->particles_.skipped() };
    std::array<std::uint64_t, 3> all{};
    MPI_Allreduce(local.data(), all.data(), 3, MPI_UINT64_T, MPI_SUM, this->comm_.get());
    report.file_bytes = all[0];
    report.moved_bytes = all[1];
    report.skipped = all[2];
    MPI_Allreduce(
      &this->largest_, &report.largest_leaf_bytes, 1, MPI_UINT64_T, MPI_MAX, this->comm_.get());
    PhaseSeconds& s = this->seconds_;
    s.write = std::max(0.0, s.write - s.build);
    s.total = MPI_Wtime() - this->start_;
    const std::array<double, 7> seconds{ s.check, s.plan, s.exchange, s.build, s.write, s.commit,
      s.total };
    std::array<double, 7> slowest{};
    MPI_Allreduce(seconds.data(), slowest.data(), 7, MPI_DOUBLE, MPI_MAX, this->comm_.get());
    report.seconds = { slowest[0], slowest[1], slowest[2], slowest[3], slowest[4], slowest[5],
      slowest[6] };
    collective(this->comm_.get(),
      [&]
      {
        if (this->options_.build.progress)
        {
          (void)call_user([&] { return this->options_.build.progress(1.0); }); // too late to cancel
        }
      });
    return report;
  }

  const OwnComm& comm_;
  std::filesystem::path path_;
  RankParticles particles_;
  WriteOptions options_;
  std::uint64_t total_ = 0;
  std::uint64_t row_bytes_ = 0;
  std::optional<Box> bounds_; ///< bounds of this rank's particles, if known and all finite
  Plan plan_;
  Nodes* nodes_ = nullptr;
  ExchangeResult moved_;
  std::uint64_t leaf_files_ = 0;                  ///< number on all ranks
  std::optional<LeavesLock> lock_;                ///< rank 0, while leaf files are written
  bool is_exclusive_ = false;                     ///< rank 0 has a lock
  std::vector<std::filesystem::path> written_;    ///< per leaf in moved_
  std::vector<std::string> leaf_names_;           ///< the same: final names
  std::vector<format::LeafRecord> records_;       ///< the same: records for the top file
  std::set<std::string> names_;                   ///< rank 0: leaf files of the new dataset
  std::optional<std::set<std::string>> replaced_; ///< see replaced()
  Unfinished unfinished_;
  std::optional<std::filesystem::perms> permissions_; ///< permissions of the replaced file
  std::optional<io::AtomicFile> single_; ///< the only leaf file, on the rank that writes it
  std::uint64_t file_bytes_ = 0;
  std::uint64_t largest_ = 0;
  PhaseSeconds seconds_;
  double start_ = 0;
  double phase_start_ = 0;
};
}

DatasetReport write_dataset(MPI_Comm comm, const std::filesystem::path& path,
  const ParticleView& particles, const WriteOptions& options)
{
  return write_pieces(comm, path, std::vector<Piece>{ { particles, {} } }, options);
}

DatasetReport write_pieces(MPI_Comm comm, const std::filesystem::path& path,
  const std::vector<Piece>& pieces, const WriteOptions& options)
{
  const OwnComm own(comm);
  std::optional<DatasetWriter> writer;
  collective(own.get(), [&] { writer.emplace(own, path, pieces, options); });
  return writer->run();
}
}
