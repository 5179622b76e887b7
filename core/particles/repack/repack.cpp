// SPDX-License-Identifier: BSD-3-Clause
// Repacks leaf files first, compares each with its source, and writes the top file last.

#include "bat/repack.hpp"

#include "bat/dataset.hpp"
#include "bat/error.hpp"
#include "bat/series.hpp"
#include "bat/tracks.hpp"
#include "bat/write_options.hpp"
#include "common/arena.hpp"
#include "common/fail.hpp"
#include "common/io/atomic_file.hpp"
#include "particles/dataset/dataset_folder.hpp"
#include "particles/dataset/dataset_impl.hpp"
#include "particles/dataset/leaf_files_writer.hpp"
#include "particles/repack/repack_leaf.hpp"
#include "particles/repack/repack_series.hpp"
#include "particles/write/leaf_writer.hpp"
#include "series/read_series.hpp"
#include "series/series_list.hpp"
#include "series/stock_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <system_error>

namespace bat
{
namespace
{
namespace fs = std::filesystem;

constexpr const char* kBounds = "error_bounds";
constexpr const char* kCompression = "compression";

bool is_there(const fs::path& path)
{
  std::error_code unknown;
  return fs::exists(path, unknown);
}

bool is_same_file(const fs::path& a, const fs::path& b)
{
  std::error_code unknown;
  return fs::equivalent(a, b, unknown) && !unknown;
}

void check_options(const RepackOptions& options)
{
  const std::vector<std::string>& allowed = repack_option_names();
  for (const std::string& name : options.changed)
  {
    if (std::find(allowed.begin(), allowed.end(), name) == allowed.end())
    {
      refuse(fmt::format("{} of an existing dataset cannot be changed; allowed: {}", name,
        fmt::join(allowed, ", ")));
    }
  }
  WriteOptions all;
  all.build = options.build;
  bat::check_options(all);
  if (options.changed.count(kBounds) != 0 && options.build.error_bounds.empty())
  {
    refuse("error_bounds are to be changed, but none are given; use compression \"lossless\" or "
           "\"none\" to remove existing bounds");
  }
}

// Records in the metadata the bounds that columns will no longer have. A bound dropped earlier is
// added to the present one.
std::string with_former_bounds(
  const std::string& metadata, const std::map<std::string, double>& dropped_bounds)
{
  constexpr const char* kKey = "error_bounds";
  if (dropped_bounds.empty())
  {
    return metadata;
  }
  nlohmann::ordered_json former = nlohmann::ordered_json::object();
  for (const auto& [name, bound] : dropped_bounds)
  {
    former[name] = bound;
  }
  const nlohmann::ordered_json known = nlohmann::ordered_json::parse(metadata, nullptr, false);
  if (!known.is_object() || known.empty())
  {
    return fmt::format(R"({{"{}":{}}})", kKey, former.dump());
  }
  const auto present = known.find(kKey);
  if (present == known.end())
  {
    // Inserts text, because numbers in the metadata may exceed any type.
    const std::size_t begin = metadata.find('{') + 1;
    return metadata.substr(0, begin) + fmt::format(R"("{}":{},)", kKey, former.dump()) +
      metadata.substr(begin);
  }
  nlohmann::ordered_json all = known;
  for (const auto& [name, bound] : dropped_bounds)
  {
    const double before = present->is_object() ? present->value(name, 0.0) : 0.0;
    former[name] = before + bound;
  }
  if (present->is_object())
  {
    nlohmann::ordered_json merged = *present;
    merged.update(former);
    former = std::move(merged);
  }
  all[kKey] = former;
  return all.dump();
}

// Checks that the output replaces none of its inputs, except the dataset itself.
void check_target(const Dataset& dataset, const fs::path& in, const fs::path& out)
{
  if (!is_there(out))
  {
    return;
  }
  if (is_same_file(in, out) && dataset.format_version() == "libbat")
  {
    refuse(fmt::format(
      "{}: a libbat file is not replaced by its conversion; choose another name", out.string()));
  }
  for (const LeafInfo& leaf : dataset.leaves())
  {
    if (is_same_file(leaf.path, out) && !is_same_file(in, out))
    {
      refuse(fmt::format("{}: is a leaf file of {}", out.string(), in.string()));
    }
  }
  const fs::path folder = io::follow_links(fs::absolute(out)).parent_path();
  if (folder.extension() == ".leaves")
  {
    const fs::path top = folder.parent_path() / folder.stem();
    if (list_leaf_files(top).count(out.filename().string()) != 0)
    {
      refuse(fmt::format("{}: is a leaf file of {}", out.string(), top.string()));
    }
  }
}

class Repacker
{
public:
  Repacker(const fs::path& in, const fs::path& out, const RepackOptions& options,
    const OnProgress& on_progress)
    : in_(in)
    , path_(io::follow_links(out))
    , options_(options)
    , on_progress_(on_progress)
    , dataset_(Dataset::open(in))
  {
  }

  RepackReport run()
  {
    check_target(this->dataset_, this->in_, this->path_);
    this->schema_ = make_schema(this->dataset_.position_type(), this->dataset_.attributes());
    this->schema_.time = this->dataset_.time();
    this->schema_.step = this->dataset_.step();
    this->schema_.metadata = this->dataset_.metadata();
    for (std::size_t i = 0; i != this->dataset_.leaves().size(); ++i)
    {
      if (this->dataset_.leaves()[i].particles != 0 || this->dataset_.leaves().size() == 1)
      {
        this->leaves_.push_back(i);
      }
    }
    if (this->leaves_.empty())
    {
      this->leaves_.push_back(0); // one without particles
    }
    this->report_.particles = this->dataset_.particle_count();
    this->report_.datasets = 1;
    this->report_.leaf_files = this->leaves_.size();
    this->report_.bytes_before = this->dataset_.file_bytes();
    this->check_chunks();
    this->find_bounds();
    if (this->leaves_.size() == 1)
    {
      this->write_single();
    }
    else
    {
      this->write_several();
    }
    this->report_.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - this->start_).count();
    return this->report_;
  }

private:
  [[nodiscard]] bool is_changed(const char* name) const
  {
    return this->options_.changed.count(name) != 0;
  }

  // Calls f with each leaf file to write. One is open at a time.
  template <class F>
  void for_each_leaf(const F& f) const
  {
    for (const std::size_t i : this->leaves_)
    {
      f(this->dataset_.impl().leaf(i));
      this->dataset_.impl().close_leaf(i);
    }
  }

  // Checks that a change of the chunk size concerns columns that have chunks.
  void check_chunks() const
  {
    const BuildOptions& request = this->options_.build;
    if (!this->is_changed("chunk_particles") || request.chunk_particles == 0)
    {
      return;
    }
    bool has_chunks = request.compression != Compression::None;
    if (!this->is_changed(kCompression))
    {
      has_chunks = this->is_changed(kBounds);
      this->for_each_leaf(
        [&](const LeafSource& leaf) { has_chunks = has_chunks || is_compressed(leaf); });
    }
    if (!has_chunks)
    {
      refuse(
        fmt::format("chunk_particles is {}, but without compression there are no chunks; allowed "
                    "is 0, or choose a compression",
          request.chunk_particles));
    }
  }

  // Converts new bounds to units of their arrays. Reads the ranges to which relative ones refer.
  void find_bounds()
  {
    BuildOptions request = this->options_.build;
    const bool are_requested = this->is_changed(kBounds);
    const bool is_bounded = request.compression == Compression::Bounded;
    if (!this->is_changed(kCompression))
    {
      request.compression = are_requested ? Compression::Bounded : Compression::None;
    }
    if (!are_requested)
    {
      request.error_bounds.clear();
    }
    std::map<std::string, double> present;
    if (are_requested || this->is_changed(kCompression))
    {
      this->for_each_leaf([&](const LeafSource& leaf) { present.merge(collect_bounds(leaf)); });
    }
    if (this->is_changed(kCompression) && !is_bounded)
    {
      this->schema_.metadata = with_former_bounds(this->schema_.metadata, present);
    }
    if (!are_requested && (request.compression != Compression::Bounded || !present.empty()))
    {
      return;
    }
    const std::vector<write::ErrorBound> bounds = write::error_bounds(this->schema_, request);
    this->bounds_ = write::absolute_bounds(bounds, this->compute_ranges(bounds));
    std::map<std::string, double> dropped_bounds;
    for (const write::ErrorBound& bound : this->bounds_)
    {
      const auto before = present.find(bound.name);
      if (before == present.end() || before->second == bound.value)
      {
        continue;
      }
      if (bound.value != 0)
      {
        refuse(
          fmt::format("{}: '{}' is already bounded by {}; re-encoding with {} would accumulate "
                      "error. Use the same bound, no bound, or 0 to make it lossless",
            this->in_.string(), bound.name, before->second, bound.value));
      }
      dropped_bounds.insert(*before);
    }
    this->schema_.metadata = with_former_bounds(this->schema_.metadata, dropped_bounds);
  }

  [[nodiscard]] std::vector<write::FiniteRange> compute_ranges(
    const std::vector<write::ErrorBound>& bounds) const
  {
    std::vector<std::size_t> requested;
    std::size_t count = 0;
    for (const write::ErrorBound& bound : bounds)
    {
      count += range_count(bound);
      if (bound.is_relative)
      {
        requested.push_back(bound.array);
      }
    }
    std::vector<write::FiniteRange> ranges(count);
    if (requested.empty())
    {
      return ranges;
    }
    this->for_each_leaf(
      [&](const LeafSource& leaf)
      {
        const LeafColumns columns(leaf, this->schema_, requested, this->options_.build.threads,
          [this](double) { this->on_progress_(0); });
        const auto some =
          write::compute_ranges(write::ParticleParts::of_view(columns.view()), bounds);
        for (std::size_t i = 0; i != ranges.size(); ++i)
        {
          ranges[i].add(some[i]);
        }
      });
    return ranges;
  }

  // Writes a leaf file and compares it. The caller commits.
  void write_leaf(std::size_t i, io::AtomicFile& file)
  {
    const LeafSource& leaf = this->dataset_.impl().leaf(i);
    const auto particles = static_cast<double>(leaf.particle_count());
    const auto all = static_cast<double>(std::max<std::uint64_t>(1, this->report_.particles));
    const auto progress_span = [&](double from, double to)
    {
      return [=](double done)
      { this->on_progress_((this->done_ + particles * (from + (to - from) * done)) / all); };
    };
    BuildOptions build = make_build_options(leaf, this->options_, this->bounds_);
    if (needs_view(this->path_) && !this->is_changed("hdf5_view"))
    {
      build.hdf5_view = true;
    }
    check_view_name(this->path_, build);
    build.progress = [on_progress = progress_span(0.2, 0.8)](double done)
    {
      on_progress(done);
      return true;
    };
    ParticleSum sum;
    {
      const LeafColumns columns(
        leaf, this->schema_, stored_arrays(this->schema_), build.threads, progress_span(0, 0.15));
      sum = expected_sum(columns.view(), build);
      progress_span(0.15, 0.2)(1);
      this->report_.bytes_after +=
        bat::write_leaf(file, write::ParticleParts::of_view(columns.view()), build).file_bytes;
    }
    check_leaf(file.temporary(), this->path_.string(), this->schema_, leaf.particle_count(), sum,
      build, progress_span(0.8, 0.99));
    this->done_ += particles;
    this->dataset_.impl().close_leaf(i);
  }

  void write_single()
  {
    const std::set<std::string> replaced = list_leaf_files(this->path_);
    io::AtomicFile file(this->path_);
    this->write_leaf(this->leaves_[0], file);
    file.commit(this->options_.build.flush);
    remove_leftovers(this->path_, {}, replaced);
  }

  void write_several()
  {
    LeafFilesWriter writer(this->path_, this->schema_, this->options_.build.flush);
    for (const std::size_t i : this->leaves_)
    {
      writer.add([&](io::AtomicFile& file) { this->write_leaf(i, file); });
    }
    this->report_.bytes_after += writer.finish();
  }

  fs::path in_;
  fs::path path_;
  const RepackOptions& options_;
  const OnProgress& on_progress_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  Dataset dataset_;
  ParticleView schema_;
  std::vector<std::size_t> leaves_; ///< leaf files that are written
  std::vector<write::ErrorBound> bounds_;
  double done_ = 0; ///< particles
  RepackReport report_;
};

RepackReport repack_one(const fs::path& in, const fs::path& out, const RepackOptions& options,
  const OnProgress& on_progress)
{
  check_name(out);
  return in_arena(options.build.threads,
    [&]
    {
      Repacker repacker(in, out, options, on_progress);
      return repacker.run();
    });
}

RepackReport repack_tracks_file(
  const fs::path& in, const fs::path& out, const RepackOptions& options)
{
  for (const std::string& name : options.changed)
  {
    if (name != "flush" && name != "threads")
    {
      refuse(
        fmt::format("{}: option {} does not apply to tracks; allowed is flush", in.string(), name));
    }
  }
  RepackReport report;
  const auto begun = std::chrono::steady_clock::now();
  report.bytes_before = fs::file_size(in);
  repack_tracks(in, out, options.build.flush);
  validate_tracks(out);
  for (const Tracks::Sample& sample : Tracks::open(out).samples)
  {
    report.particles += sample.particles;
  }
  report.datasets = 1;
  report.bytes_after = fs::file_size(out);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return report;
}

// New datasets, which are removed unless the series is finished.
class NewSteps
{
public:
  NewSteps() = default;
  NewSteps(const NewSteps&) = delete;
  NewSteps& operator=(const NewSteps&) = delete;
  ~NewSteps()
  {
    for (const fs::path& step : this->steps_)
    {
      (void)attempt([&] { remove_dataset(step); });
    }
  }
  void add(const fs::path& step) { this->steps_.push_back(step); }
  void keep_all() { this->steps_.clear(); }

private:
  std::vector<fs::path> steps_;
};

RepackReport repack_series(const fs::path& in, const fs::path& out, const RepackOptions& options,
  const OnProgress& on_progress)
{
  const SeriesCopy copy = make_series_copy(in, out);
  const std::string text = series::format_list(copy.list);
  const auto lock = series::lock_list(out); // no other process adds steps to this list meanwhile
  io::AtomicFile list(out);                 // first, so that no step is made if the list cannot be
  series::StockList stock_list(out);
  stock_list.withdraw();
  NewSteps made;
  RepackReport report;
  for (const StepCopy& step : copy.steps)
  {
    const bool is_new = !is_there(step.out);
    const auto before = static_cast<double>(report.datasets);
    const RepackReport one = repack_one(step.in, step.out, options,
      [&](double done) { on_progress((before + done) / static_cast<double>(copy.steps.size())); });
    if (is_new)
    {
      made.add(step.out);
    }
    report.particles += one.particles;
    report.datasets += one.datasets;
    report.leaf_files += one.leaf_files;
    report.bytes_before += one.bytes_before;
    report.bytes_after += one.bytes_after;
    report.seconds += one.seconds;
  }
  list.write(0, text.data(), text.size());
  list.commit(options.build.flush);
  made.keep_all();
  stock_list.update(series::list_entries(copy.list), copy.list, options.build.flush);
  return report;
}
}

const std::vector<std::string>& repack_option_names()
{
  static const std::vector<std::string> names{ "threads", "flush", "sorted_indexes",
    "stable_samples", "compression", "error_bounds", "chunk_particles", "hdf5_view",
    "treelet_particles", "block_particles", "index_budget" };
  return names;
}

std::string to_json(const RepackReport& report)
{
  const nlohmann::ordered_json json{ { "particles", report.particles },
    { "datasets", report.datasets }, { "leaf_files", report.leaf_files },
    { "bytes_before", report.bytes_before }, { "bytes_after", report.bytes_after },
    { "seconds", report.seconds } };
  return json.dump();
}

RepackReport repack(const fs::path& in, const fs::path& out, const RepackOptions& options)
{
  const auto& progress = options.build.progress;
  const OnProgress on_progress = [&](double done)
  {
    if (progress && !progress(done))
    {
      throw Error(ErrorCode::Cancelled, "the repack was cancelled");
    }
  };
  RepackReport report;
  const std::optional<Error> failure = attempt(
    [&]
    {
      check_options(options);
      report = is_series(in) ? repack_series(in, out, options, on_progress)
        : is_tracks(in)      ? repack_tracks_file(in, out, options)
                             : repack_one(in, out, options, on_progress);
    });
  if (failure)
  {
    // Errors of the file system or memory name a file. Errors of options do not, so it is added.
    const std::string text = failure->what();
    const bool is_named =
      text.find(in.string()) != std::string::npos || text.find(out.string()) != std::string::npos;
    const bool is_of_options = failure->code() == ErrorCode::InvalidArgument && !is_named;
    throw is_of_options ? Error(failure->code(), in.string() + ": " + text) : *failure;
  }
  if (progress)
  {
    progress(1.0); // too late to cancel
  }
  return report;
}

std::vector<fs::path> repack_targets(const fs::path& in, const fs::path& out)
{
  std::vector<fs::path> targets{ out };
  if (is_series(in))
  {
    for (const StepCopy& step : make_series_copy(in, out).steps)
    {
      targets.push_back(step.out);
    }
  }
  return targets;
}
}
