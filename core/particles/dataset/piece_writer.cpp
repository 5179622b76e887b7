// SPDX-License-Identifier: BSD-3-Clause
// Pieces become batches of rows on disk; a summary of all particles gives a plan; the rows of each
// batch are sorted by leaf file in place; leaf files are built from their rows in all batches.

#include "bat/piece_writer.hpp"

#include "bat/error.hpp"
#include "common/arena.hpp"
#include "common/fail.hpp"
#include "common/io/atomic_file.hpp"
#include "common/io/scratch_file.hpp"
#include "common/memory/kept_memory.hpp"
#include "common/memory/large_array.hpp"
#include "particles/dataset/dataset_folder.hpp"
#include "particles/dataset/leaf_files_writer.hpp"
#include "particles/plan/leaf_finder.hpp"
#include "particles/plan/summarise.hpp"
#include "particles/write/check_input.hpp"
#include "particles/write/error_bounds.hpp"
#include "particles/write/leaf_writer.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bat
{
namespace
{
constexpr std::uint32_t kCellsPerBatch = 256;
constexpr std::uint64_t kMaxLeafBytes = std::uint64_t{ 4 } << 30;
constexpr std::uint64_t kMaxLeafParticles = std::uint64_t{ 1 } << 31;
constexpr std::uint64_t kMaxBatchBytes = std::uint64_t{ 256 } << 20;
constexpr std::uint64_t kMinLeafParticles = 1024;
constexpr std::uint64_t kBytesPerRead = std::uint64_t{ 1 }
  << 20;                                   // bytes of rows that are read at once
constexpr std::size_t kRowsPerTask = 4096; // rows of a task
constexpr double kTargetFillShare =
  0.8; // share of the particles that fit: leaf files differ from their mean

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start)
{
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// One array in a particle's row.
struct Field
{
  ScalarType type{};
  int components = 0;
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

// All values of a particle side by side: the form in which particles wait on disk.
class RowLayout
{
public:
  RowLayout() = default;
  explicit RowLayout(const ParticleView& schema)
  {
    this->add(schema.positions);
    for (const AttributeView& attribute : schema.attributes)
    {
      this->add(attribute.values);
    }
  }

  [[nodiscard]] std::size_t bytes() const noexcept { return this->bytes_; }
  [[nodiscard]] const std::vector<Field>& fields() const noexcept { return this->fields_; }
  [[nodiscard]] std::size_t largest() const noexcept
  {
    std::size_t maximum = 0;
    for (const Field& field : this->fields_)
    {
      maximum = std::max(maximum, field.bytes);
    }
    return maximum;
  }

  /// Arrays of the particles whose rows begin at `rows`, under the names in `schema`.
  [[nodiscard]] ParticleView view(
    ParticleView schema, const std::byte* rows, std::uint64_t count) const
  {
    schema.count = count;
    const auto place = [&](ArrayView& array, const Field& field)
    {
      array = ArrayView::packed(field.type, field.components, rows + field.offset);
      array.stride_bytes = this->bytes_;
    };
    place(schema.positions, this->fields_[0]);
    for (std::size_t i = 1; i != this->fields_.size(); ++i)
    {
      place(schema.attributes[i - 1].values, this->fields_[i]);
    }
    return schema;
  }

private:
  void add(const ArrayView& array)
  {
    const std::size_t bytes = tuple_bytes(array.type, array.components);
    this->fields_.push_back({ array.type, array.components, this->bytes_, bytes });
    this->bytes_ += bytes;
  }

  std::vector<Field> fields_;
  std::size_t bytes_ = 0;
};

template <std::size_t Bytes>
void copy_values(const std::byte* from, std::size_t from_stride, std::byte* to,
  std::size_t to_stride, std::size_t count)
{
  for (std::size_t i = 0; i != count; ++i)
  {
    std::memcpy(to, from, Bytes);
    from += from_stride;
    to += to_stride;
  }
}

void copy_values(const std::byte* from, std::size_t from_stride, std::byte* to,
  std::size_t to_stride, std::size_t count, std::size_t bytes)
{
  switch (bytes)
  {
    case 1:
      return copy_values<1>(from, from_stride, to, to_stride, count);
    case 2:
      return copy_values<2>(from, from_stride, to, to_stride, count);
    case 4:
      return copy_values<4>(from, from_stride, to, to_stride, count);
    case 8:
      return copy_values<8>(from, from_stride, to, to_stride, count);
    case 12:
      return copy_values<12>(from, from_stride, to, to_stride, count);
    case 24:
      return copy_values<24>(from, from_stride, to, to_stride, count);
    default:
      for (std::size_t i = 0; i != count; ++i)
      {
        std::memcpy(to + i * to_stride, from + i * from_stride, bytes);
      }
  }
}

bool is_interleaved(const ArrayView& array)
{
  for (int c = 1; c < array.components; ++c)
  {
    if (array.component[static_cast<std::size_t>(c)] !=
      array.component[0] + static_cast<std::size_t>(c) * size_of(array.type))
    {
      return false;
    }
  }
  return true;
}

// Copies values of particles [first, first + count) of an array into rows starting at `to`.
void to_rows(const ArrayView& array, std::uint64_t first, std::size_t count, const Field& field,
  std::size_t row_bytes, std::byte* to)
{
  const std::size_t start = static_cast<std::size_t>(first) * array.stride_bytes;
  if (is_interleaved(array))
  {
    copy_values(array.component[0] + start, array.stride_bytes, to + field.offset, row_bytes, count,
      field.bytes);
    return;
  }
  const std::size_t size = size_of(array.type);
  for (int c = 0; c < array.components; ++c)
  {
    const auto component = static_cast<std::size_t>(c);
    copy_values(array.component[component] + start, array.stride_bytes,
      to + field.offset + component * size, row_bytes, count, size);
  }
}

const ArrayView& array_of(const ParticleView& view, std::size_t index)
{
  return index == 0 ? view.positions : view.attributes[index - 1].values;
}

std::string describe(const ArrayView& array)
{
  return fmt::format("{} x {}", name_of(array.type), array.components);
}

// Checks that a piece has the same columns as the first one.
void check_piece(const ParticleView& piece, const ParticleView& schema, std::uint64_t number)
{
  const auto fail = [&](const std::string& what)
  { refuse(fmt::format("piece {}: {}", number, what)); };
  if (piece.positions.type != schema.positions.type)
  {
    fail(fmt::format("positions are {}; in earlier pieces {}", describe(piece.positions),
      describe(schema.positions)));
  }
  for (std::size_t i = 0; i != std::max(piece.attributes.size(), schema.attributes.size()); ++i)
  {
    const auto named = [&](const ParticleView& view)
    {
      return i < view.attributes.size()
        ? fmt::format("'{}', {}", view.attributes[i].name, describe(view.attributes[i].values))
        : std::string("missing");
    };
    const std::string is = named(piece);
    const std::string ought = named(schema);
    if (is != ought)
    {
      fail(fmt::format("attribute {} is {}; in earlier pieces {}", i, is, ought));
    }
  }
  if (piece.aliases.size() != schema.aliases.size() ||
    !std::equal(piece.aliases.begin(), piece.aliases.end(), schema.aliases.begin(),
      [](const AliasView& a, const AliasView& b)
      { return a.name == b.name && a.attribute == b.attribute && a.component == b.component; }))
  {
    fail("its aliases differ from those of earlier pieces");
  }
}

// Bytes that a leaf file needs for each of its particles while it is written (bat/writer.hpp),
// including the arrays from which it is made.
double leaf_memory(
  const RowLayout& layout, const BuildOptions& build, const std::vector<write::ErrorBound>& bounds)
{
  const auto largest = static_cast<double>(layout.largest());
  const double order = layout.fields()[0].type == ScalarType::Float64 ? 36 : 24;
  double bytes = static_cast<double>(layout.bytes()) + std::max(order, 8 + 2 * largest);
  if (!build.sorted_indexes.empty())
  {
    bytes += 12;
  }
  if (!build.stable_samples.empty())
  {
    bytes += 9;
  }
  if (build.compression != Compression::None)
  {
    bytes += 3 * largest;
  }
  for (const write::ErrorBound& bound : bounds)
  {
    bytes += static_cast<double>(layout.fields()[bound.array].bytes);
  }
  return 1.2 * bytes;
}

// Rows in a batch that belong to a leaf file.
struct Run
{
  std::uint32_t batch = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};
}

class PieceWriter::Impl
{
public:
  Impl(const std::filesystem::path& path, WriteOptions options, std::uint64_t memory)
    : path_(io::follow_links(path))
    , options_(std::move(options))
    , memory_(memory == 0 ? kDefaultMemory : memory)
    , kept_(memory_)
  {
    check_name(path);
    check_options(this->options_);
    check_view_name(path, this->options_.build);
    if (this->memory_ < kMinMemory)
    {
      refuse(fmt::format("memory_bytes is {}; allowed is a whole number of at least {}, or 0 for "
                         "{}",
        this->memory_, kMinMemory, kDefaultMemory));
    }
    if (this->options_.mode != PlanMode::Adaptive)
    {
      refuse("piecewise writing supports mode 'adaptive' only");
    }
    if (this->options_.build.repeats != Repeats::Store)
    {
      refuse("piecewise writing supports repeats 'store' only; other values compare whole arrays");
    }
    const io::AtomicFile probe(this->path_); // checks that the target can be replaced
  }

  // A refused piece is lost; finish() reports the first one.
  void add(const ParticleView& piece)
  {
    const std::uint64_t number = this->begun_++;
    const std::optional<Error> failure = attempt([&] { this->take_piece(piece); });
    if (failure)
    {
      this->lose(number, failure->what());
      throw *failure;
    }
  }

  void fail(const std::string& why) { this->lose(this->begun_++, why); }

  PieceReport finish()
  {
    const InCall call(*this);
    this->begin_finish();
    this->report_.data_bytes = this->report_.particles * this->layout_.bytes();
    const std::uint64_t limit = this->leaf_limit();
    if (this->batches_.empty() && this->filled_ <= limit && !this->wants_several())
    {
      this->report_.target_bytes = this->report_.data_bytes;
      this->use_bounds();
      this->write_single(this->layout_.view(this->schema_, this->batch_.data(), this->filled_));
    }
    else
    {
      this->put_away();
      this->use_bounds();
      this->plan(limit);
      this->sort_batches();
      this->write_leaves(limit);
    }
    this->report_progress(1.0);
    return this->report_;
  }

  [[nodiscard]] int threads() const noexcept { return this->options_.build.threads; }

private:
  /// Marks a running call; throws Error{InvalidArgument} if another one is running.
  class InCall
  {
  public:
    explicit InCall(Impl& writer)
      : writer_(writer)
    {
      if (writer.is_in_call_.exchange(true))
      {
        refuse(fmt::format("{}: another thread is using this piece writer; only one call at a "
                           "time is allowed",
          writer.path_.string()));
      }
    }
    InCall(const InCall&) = delete;
    InCall& operator=(const InCall&) = delete;
    ~InCall() { this->writer_.is_in_call_ = false; }

  private:
    Impl& writer_;
  };

  void lose(std::uint64_t number, const std::string& why)
  {
    const std::lock_guard<std::mutex> lock(this->lost_mutex_);
    if (!this->lost_)
    {
      this->lost_ = fmt::format("piece {} was rejected ({})", number, why);
    }
  }

  // Throws Error{InvalidArgument} if this has finished or lost a piece.
  void check_continues()
  {
    const std::lock_guard<std::mutex> lock(this->lost_mutex_);
    if (this->lost_)
    {
      refuse(fmt::format("{}: {}; a piece writer cannot be used after an error",
        this->path_.string(), *this->lost_));
    }
    if (this->has_finished_)
    {
      refuse(fmt::format("{}: the piece writer cannot be used after an error, or once it has "
                         "finished",
        this->path_.string()));
    }
  }

  void take_piece(const ParticleView& piece)
  {
    const InCall call(*this);
    this->begin_piece(piece);
    std::uint64_t done = 0;
    while (done != piece.count)
    {
      const auto some = static_cast<std::size_t>(
        std::min<std::uint64_t>(piece.count - done, this->batch_rows_ - this->filled_));
      this->take(piece, done, some);
      done += some;
      if (this->filled_ == this->batch_rows_)
      {
        this->put_away();
      }
    }
    this->report_.particles += piece.count;
  }

  void begin_piece(const ParticleView& piece)
  {
    this->check_continues();
    ++this->pieces_;
    write::check_input(piece, this->options_.build);
    if (this->pieces_ > 1)
    {
      check_piece(piece, this->schema_, this->pieces_ - 1);
      return;
    }
    this->schema_ = piece;
    this->schema_.count = 0;
    this->layout_ = RowLayout(piece);
    const std::uint64_t batch_bytes = std::min(this->memory_ / 8, kMaxBatchBytes);
    this->batch_rows_ = std::max<std::uint64_t>(1, batch_bytes / this->layout_.bytes());
    this->bounds_ = write::error_bounds(this->schema_, this->options_.build);
    for (const write::ErrorBound& bound : this->bounds_)
    {
      this->ranges_.resize(this->ranges_.size() + range_count(bound));
    }
  }

  void begin_finish()
  {
    this->check_continues();
    this->has_finished_ = true;
    if (this->pieces_ == 0)
    {
      refuse("no piece was written; write an empty piece to define the attributes");
    }
  }

  // Appends particles [first, first + count) of a piece to the rows.
  void take(const ParticleView& piece, std::uint64_t first, std::size_t count)
  {
    if (this->batch_.size() == 0)
    {
      this->batch_.reset(this->batch_rows_ * this->layout_.bytes());
    }
    const std::size_t row = this->layout_.bytes();
    std::byte* const to = this->batch_.data() + this->filled_ * row;
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, kRowsPerTask),
      [&](const tbb::blocked_range<std::size_t>& range)
      {
        for (std::size_t begin = range.begin(); begin < range.end(); begin += kRowsPerTask)
        {
          const std::size_t some = std::min(kRowsPerTask, range.end() - begin);
          for (std::size_t i = 0; i != this->layout_.fields().size(); ++i)
          {
            to_rows(array_of(piece, i), first + begin, some, this->layout_.fields()[i], row,
              to + begin * row);
          }
        }
      });
    this->filled_ += count;
  }

  // Writes the rows to disk as a batch.
  void put_away()
  {
    if (this->filled_ == 0)
    {
      return;
    }
    const ParticleView view = this->layout_.view(this->schema_, this->batch_.data(), this->filled_);
    const write::ParticleParts parts = write::ParticleParts::of_view(view);
    const auto number = static_cast<std::uint32_t>(this->batches_.size());
    const std::vector<WeightedCell> cells = plan::summarise(
      view.positions.type, [&](std::uint64_t i) { return parts.position(i); }, view.count, number,
      kCellsPerBatch);
    this->cells_.insert(this->cells_.end(), cells.begin(), cells.end());
    const std::vector<write::FiniteRange> ranges = write::compute_ranges(parts, this->bounds_);
    for (std::size_t i = 0; i != ranges.size(); ++i)
    {
      this->ranges_[i].add(ranges[i]);
    }
    if (!this->scratch_)
    {
      this->scratch_.emplace(this->path_.parent_path(), this->path_.string());
    }
    this->scratch_->write(
      this->batch_offset(number), this->batch_.data(), this->filled_ * this->layout_.bytes());
    this->batches_.push_back(static_cast<std::uint32_t>(this->filled_));
    this->filled_ = 0;
  }

  // All batches but the last one are full.
  [[nodiscard]] std::uint64_t batch_offset(std::uint64_t number) const
  {
    return number * this->batch_rows_ * this->layout_.bytes();
  }

  [[nodiscard]] std::uint64_t leaf_limit() const
  {
    const double each = leaf_memory(this->layout_, this->options_.build, this->bounds_);
    const auto fit = static_cast<std::uint64_t>(static_cast<double>(this->memory_) / each);
    const std::uint64_t maximum =
      std::min(kMaxLeafParticles, kMaxLeafBytes / this->layout_.bytes());
    return std::clamp(fit, kMinLeafParticles, maximum);
  }

  // Returns whether the user requests leaf files smaller than the whole.
  [[nodiscard]] bool wants_several() const
  {
    return this->options_.target_bytes != 0 &&
      this->options_.target_bytes < this->report_.data_bytes;
  }

  // Converts bounds that are shares of ranges to numbers.
  void use_bounds()
  {
    if (this->bounds_.empty())
    {
      return;
    }
    if (this->batches_.empty())
    {
      this->ranges_ = write::compute_ranges(write::ParticleParts::of_view(this->layout_.view(
                                              this->schema_, this->batch_.data(), this->filled_)),
        this->bounds_);
    }
    this->options_.build.error_bounds =
      write::format_texts(write::absolute_bounds(this->bounds_, this->ranges_));
  }

  void report_progress(double done) const
  {
    const auto& progress = this->options_.build.progress;
    if (progress && !progress(done) && done < 1)
    {
      throw Error(ErrorCode::Cancelled, "the write was cancelled");
    }
  }

  void plan(std::uint64_t limit)
  {
    const Clock::time_point start = Clock::now();
    this->batch_.reset(0);
    PlanOptions options;
    static_cast<PlanRules&>(options) = this->options_;
    options.bytes_per_particle = this->layout_.bytes();
    options.ranks = static_cast<std::uint32_t>(std::max<std::size_t>(1, this->batches_.size()));
    options.threads = this->options_.build.threads;
    const auto aim = static_cast<std::uint64_t>(kTargetFillShare * static_cast<double>(limit)) *
      options.bytes_per_particle;
    options.target_bytes = options.target_bytes == 0 ? aim : std::min(options.target_bytes, aim);
    if (this->report_.particles <= limit && !this->wants_several())
    {
      options.target_bytes = this->report_.data_bytes; // one leaf file
    }
    this->plan_ = make_plan(this->cells_, options);
    this->report_.target_bytes = options.target_bytes;
    this->cells_ = {};
    this->report_.seconds_plan = seconds_since(start);
  }

  void sort_batches()
  {
    const Clock::time_point start = Clock::now();
    this->runs_.resize(std::max<std::size_t>(1, this->plan_.leaf_count));
    const plan::LeafFinder finder(this->plan_, std::nullopt);
    LargeArray<std::byte> rows(this->batch_rows_ * this->layout_.bytes());
    LargeArray<std::byte> sorted(this->batch_rows_ * this->layout_.bytes());
    for (std::size_t b = 0; b != this->batches_.size(); ++b)
    {
      this->report_progress(
        0.25 * static_cast<double>(b) / static_cast<double>(this->batches_.size()));
      const std::size_t bytes = this->batches_[b] * this->layout_.bytes();
      this->scratch_->read(this->batch_offset(b), rows.data(), bytes);
      this->sort_batch(static_cast<std::uint32_t>(b), finder, rows.data(), sorted.data());
      this->scratch_->write(this->batch_offset(b), sorted.data(), bytes);
    }
    this->report_.seconds_sort = seconds_since(start);
  }

  void sort_batch(
    std::uint32_t batch, const plan::LeafFinder& finder, const std::byte* rows, std::byte* sorted)
  {
    const std::size_t row = this->layout_.bytes();
    const std::uint32_t count = this->batches_[batch];
    const write::ParticleParts parts =
      write::ParticleParts::of_view(this->layout_.view(this->schema_, rows, count));
    std::vector<std::uint32_t> leaf_of(count);
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, kRowsPerTask),
      [&](const tbb::blocked_range<std::size_t>& range)
      {
        for (std::size_t i = range.begin(); i != range.end(); ++i)
        {
          leaf_of[i] = finder(parts.position(i));
        }
      });
    std::vector<std::uint32_t> next(this->runs_.size() + 1);
    for (const std::uint32_t leaf : leaf_of)
    {
      ++next[leaf + 1];
    }
    for (std::size_t leaf = 0; leaf != this->runs_.size(); ++leaf)
    {
      if (next[leaf + 1] != 0)
      {
        this->runs_[leaf].push_back({ batch, next[leaf], next[leaf + 1] });
      }
      next[leaf + 1] += next[leaf];
    }
    for (std::size_t i = 0; i != count; ++i)
    {
      std::memcpy(sorted + next[leaf_of[i]]++ * row, rows + i * row, row);
    }
  }

  // The runs of each leaf file. Particles that exceed memory are split into several leaf files.
  [[nodiscard]] std::vector<std::vector<Run>> leaves_within(std::uint64_t limit)
  {
    std::vector<std::vector<Run>> leaves;
    for (std::vector<Run>& runs : this->runs_)
    {
      std::uint64_t all = 0;
      for (const Run& run : runs)
      {
        all += run.count;
      }
      const std::uint64_t parts = (all + limit - 1) / limit;
      std::uint64_t part = 0;
      std::uint64_t done = 0;
      for (Run run : runs)
      {
        while (run.count != 0)
        {
          const std::uint64_t end = (part + 1) * all / parts;
          if (done == part * all / parts)
          {
            leaves.emplace_back();
          }
          const auto some =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(run.count, end - done));
          leaves.back().push_back({ run.batch, run.first, some });
          run.first += some;
          run.count -= some;
          done += some;
          part += done == end ? 1 : 0;
        }
      }
      runs = {};
    }
    return leaves;
  }

  void write_leaves(std::uint64_t limit)
  {
    const std::vector<std::vector<Run>> leaves = this->leaves_within(limit);
    std::uint64_t done = 0;
    const auto share = [&](std::uint64_t more)
    {
      return 0.25 +
        0.73 * static_cast<double>(done + more) /
        static_cast<double>(std::max<std::uint64_t>(1, this->report_.particles));
    };
    if (leaves.size() <= 1)
    {
      const Leaf leaf = this->read_leaf(leaves.empty() ? std::vector<Run>() : leaves[0]);
      this->write_single(leaf.view, share(0));
      return;
    }
    LeafFilesWriter writer(this->path_, this->schema_, this->options_.build.flush);
    for (const std::vector<Run>& runs : leaves)
    {
      const KeptMemory::Use step(this->kept_);
      const Leaf leaf = this->read_leaf(runs);
      writer.add([&](io::AtomicFile& file)
        { this->write_one(file, leaf.view, share(0), share(leaf.view.count)); });
      done += leaf.view.count;
    }
    this->report_.file_bytes += writer.finish();
  }

  struct Leaf
  {
    ParticleView view;
    std::vector<LargeArray<std::byte>> arrays;
  };

  [[nodiscard]] Leaf read_leaf(const std::vector<Run>& runs) const
  {
    Leaf leaf;
    leaf.view = this->schema_;
    for (const Run& run : runs)
    {
      leaf.view.count += run.count;
    }
    for (std::size_t i = 0; i != this->layout_.fields().size(); ++i)
    {
      const Field& field = this->layout_.fields()[i];
      leaf.arrays.emplace_back(leaf.view.count * field.bytes);
      ArrayView& array = i == 0 ? leaf.view.positions : leaf.view.attributes[i - 1].values;
      array = ArrayView::packed(field.type, field.components, leaf.arrays[i].data());
    }
    const std::size_t row = this->layout_.bytes();
    const auto portion =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(1, kBytesPerRead / row));
    std::vector<std::byte> rows(portion * row);
    std::size_t place = 0;
    for (Run run : runs)
    {
      while (run.count != 0)
      {
        const std::uint32_t some = std::min(run.count, portion);
        this->scratch_->read(
          this->batch_offset(run.batch) + run.first * row, rows.data(), some * row);
        for (std::size_t i = 0; i != this->layout_.fields().size(); ++i)
        {
          const Field& field = this->layout_.fields()[i];
          copy_values(rows.data() + field.offset, row, leaf.arrays[i].data() + place * field.bytes,
            field.bytes, some, field.bytes);
        }
        place += some;
        run.first += some;
        run.count -= some;
      }
    }
    return leaf;
  }

  // The caller commits.
  void write_one(io::AtomicFile& file, const ParticleView& particles, double from, double to)
  {
    BuildOptions build = this->options_.build;
    if (build.progress)
    {
      build.progress = [this, from, to](double done)
      { return this->options_.build.progress(from + (to - from) * done); };
    }
    const WriteReport report =
      bat::write_leaf(file, write::ParticleParts::of_view(particles), build);
    ++this->report_.leaf_files;
    this->report_.file_bytes += report.file_bytes;
    this->report_.largest_leaf_bytes =
      std::max(this->report_.largest_leaf_bytes, report.data_bytes);
    this->report_.seconds_build += report.seconds_build + report.seconds_encode;
    this->report_.seconds_write += report.seconds_write;
  }

  void write_single(const ParticleView& particles, double from = 0)
  {
    const std::set<std::string> replaced = list_leaf_files(this->path_);
    io::AtomicFile file(this->path_);
    this->write_one(file, particles, from, 0.98);
    file.commit(this->options_.build.flush);
    remove_leftovers(this->path_, {}, replaced);
  }

  std::filesystem::path path_;
  WriteOptions options_;
  std::uint64_t memory_;
  KeptMemory kept_; ///< kept from one leaf file for the next
  PieceReport report_;

  std::uint64_t pieces_ = 0;
  bool has_finished_ = false;
  std::atomic<bool> is_in_call_{ false };
  std::atomic<std::uint64_t> begun_{ 0 }; ///< pieces, also those that were refused
  std::mutex lost_mutex_;
  std::optional<std::string> lost_; ///< the first piece that was refused, and why
  ParticleView schema_;             ///< schema of the first piece, without particles
  RowLayout layout_;
  std::vector<write::ErrorBound> bounds_;
  std::vector<write::FiniteRange> ranges_; ///< ranges over all batches

  std::uint64_t batch_rows_ = 1;
  LargeArray<std::byte> batch_; ///< rows that are not on disk
  std::uint64_t filled_ = 0;    ///< rows that are filled
  std::optional<io::ScratchFile> scratch_;
  std::vector<std::uint32_t> batches_; ///< rows of each that is on disk
  std::vector<WeightedCell> cells_;
  Plan plan_;
  std::vector<std::vector<Run>> runs_; ///< by leaf file of the plan
};

PieceWriter::PieceWriter(
  const std::filesystem::path& path, const WriteOptions& options, std::uint64_t memory_bytes)
  : impl_(std::make_unique<Impl>(path, options, memory_bytes))
{
}

PieceWriter::~PieceWriter() = default;

void PieceWriter::add(const ParticleView& piece)
{
  in_arena(this->impl_->threads(), [&] { this->impl_->add(piece); });
}

void PieceWriter::fail(const std::string& why)
{
  this->impl_->fail(why);
}

PieceReport PieceWriter::finish()
{
  PieceReport report;
  const std::optional<Error> failure =
    attempt([&] { in_arena(this->impl_->threads(), [&] { report = this->impl_->finish(); }); });
  if (failure)
  {
    throw *failure; // even errors of the file system or of memory
  }
  return report;
}
}
