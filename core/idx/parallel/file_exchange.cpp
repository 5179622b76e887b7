// SPDX-License-Identifier: BSD-3-Clause
#include "idx/parallel/file_exchange.hpp"

#include "bat/error.hpp"
#include "bat/ranks.hpp"
#include "idx/format/scatter.hpp"
#include "parallel/flat_exchange.hpp"
#include "parallel/leader_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bat::idx
{
namespace
{
format::Point compute_counts(const format::StepsOfAxes& steps)
{
  return { steps[0].count, steps[1].count, steps[2].count };
}

std::uint64_t samples_of(const format::StepsOfAxes& steps)
{
  return static_cast<std::uint64_t>(steps[0].count * steps[1].count * steps[2].count);
}

// The lattice that block and part share on one side, and the same without gaps on the other.
format::StepsOfAxes packed_as_block(format::StepsOfAxes steps)
{
  for (format::Steps& axis : steps)
  {
    axis.block = 0;
    axis.block_step = 1;
  }
  return steps;
}

format::StepsOfAxes packed_as_array(format::StepsOfAxes steps)
{
  for (format::Steps& axis : steps)
  {
    axis.array = 0;
    axis.array_step = 1;
  }
  return steps;
}

/// The intersection of a part and a block, for one field, or a portion of it that fits in a parcel.
struct Run
{
  const RankBox* part = nullptr;
  std::size_t block = 0; ///< place in FileBlocks::blocks
  std::size_t field = 0;
  format::StepsOfAxes steps;
  std::uint64_t bytes = 0;
};

// Splits into portions of at most this many bytes, or one sample, keeping planes and rows whole
// where possible.
template <class Visit>
void for_each_portion(const Run& run, std::uint64_t max_bytes, const Visit& visit)
{
  if (run.bytes <= max_bytes)
  {
    visit(run);
    return;
  }
  const std::size_t axis = run.steps[2].count > 1 ? 2 : run.steps[1].count > 1 ? 1 : 0;
  const format::Steps& all = run.steps[axis];
  const std::uint64_t inner = run.bytes / static_cast<std::uint64_t>(all.count);
  const std::int64_t each = std::max<std::int64_t>(1, static_cast<std::int64_t>(max_bytes / inner));
  for (std::int64_t first = 0; first < all.count; first += each)
  {
    Run portion = run;
    format::Steps& steps = portion.steps[axis];
    steps.count = std::min(each, all.count - first);
    steps.block += first * all.block_step;
    steps.array += first * all.array_step;
    portion.bytes = inner * static_cast<std::uint64_t>(steps.count);
    for_each_portion(portion, max_bytes, visit);
  }
}

// A rank's runs are ordered by part, block and field; within a run, samples are x fastest. Sender
// and receiver both compute this from the boxes.
template <class Visit>
void for_each_run(
  const ExchangeSource& source, int rank, const FileBlocks& file, const Visit& visit)
{
  const auto begin = std::lower_bound(source.parts.begin(), source.parts.end(), rank,
    [](const RankBox& part, int r) { return part.rank < r; });
  for (auto part = begin; part != source.parts.end() && part->rank == rank; ++part)
  {
    for (std::size_t b = 0; b != file.blocks.size(); ++b)
    {
      const format::StepsOfAxes steps = source.shapes.common(file.blocks[b], part->box);
      const std::uint64_t samples = samples_of(steps);
      for (std::size_t f = 0; samples != 0 && f != source.header.fields.size(); ++f)
      {
        visit(Run{ &*part, b, f, steps, samples * source.header.fields[f].sample_bytes() });
      }
    }
  }
}

std::vector<Run> compute_runs(
  const ExchangeSource& source, int rank, const FileBlocks& file, std::uint64_t max_bytes)
{
  std::vector<Run> runs;
  for_each_run(source, rank, file,
    [&](const Run& run)
    { for_each_portion(run, max_bytes, [&](const Run& portion) { runs.push_back(portion); }); });
  return runs;
}

// Copies between an array of the caller, starting at the part's first sample, and a block or a
// parcel.
void copy_own(const ExchangeSource& source, const Run& run, const format::StepsOfAxes& steps,
  const format::Point& counts, const format::BlockOrder* order, std::byte* out)
{
  const Piece& piece = source.pieces[static_cast<std::size_t>(run.part->piece)];
  const std::size_t sample = source.header.fields[run.field].sample_bytes();
  const BoxInArrays place = place_in(piece, run.part->box);
  copy_samples<Direction::ToBlock>(steps, counts, order, sample, out,
    static_cast<const std::byte*>(piece.values[run.field]) +
      static_cast<std::size_t>(place.first) * sample,
    compute_strides(place.dimensions));
}

const format::BlockOrder* order_of(
  const ExchangeSource& source, std::size_t field, std::uint64_t block)
{
  return source.header.fields[field].layout == Layout::HZ ? &source.shapes.order_of(block)
                                                          : nullptr;
}
}

FileSamples::FileSamples(const ExchangeSource& source, const FileBlocks& file)
  : file_(&file)
{
  // Padding and samples that no rank has are zeros; without either, every byte is written.
  const bool covers = cover(source.parts, source.header.box);
  for (const Field& field : source.header.fields)
  {
    this->raw_.emplace_back();
    for (const std::uint64_t block : file.blocks)
    {
      Bytes& raw =
        this->raw_.back().emplace_back(field.sample_bytes() << source.header.bits_per_block);
      if (!covers ||
        samples_of(source.shapes.common(block, source.header.box)) !=
          std::uint64_t{ 1 } << source.header.bits_per_block)
      {
        std::fill(raw.begin(), raw.end(), std::byte{ 0 });
      }
    }
  }
  for_each_run(source, source.comm.rank(), file,
    [&](const Run& run)
    {
      const std::uint64_t block = file.blocks[run.block];
      copy_own(source, run, run.steps, source.shapes.of(block).counts,
        order_of(source, run.field, block), this->raw_[run.field][run.block].data());
    });
}

Bytes FileSamples::take(std::size_t field, std::uint64_t block)
{
  const auto found =
    std::lower_bound(this->file_->blocks.begin(), this->file_->blocks.end(), block);
  return std::move(
    this->raw_[field][static_cast<std::size_t>(found - this->file_->blocks.begin())]);
}

void check_complete(const ExchangeSource& source, const FileBlocks& file)
{
  const LogicalBox& whole = source.header.box;
  std::vector<char> is_there;
  for (const std::uint64_t block : file.blocks)
  {
    const Strides rows = compute_strides(source.shapes.of(block).counts);
    is_there.assign(std::size_t{ 1 } << source.header.bits_per_block, 0);
    // visit(place in the block, x, y and z of the lattice that both share)
    const auto for_each_sample = [&](const format::StepsOfAxes& steps, const auto& visit)
    {
      for (std::int64_t z = 0; z != steps[2].count; ++z)
      {
        for (std::int64_t y = 0; y != steps[1].count; ++y)
        {
          for (std::int64_t x = 0; x != steps[0].count; ++x)
          {
            visit(static_cast<std::size_t>((steps[2].block + z * steps[2].block_step) * rows.z +
                    (steps[1].block + y * steps[1].block_step) * rows.y + steps[0].block +
                    x * steps[0].block_step),
              format::Point{ x, y, z });
          }
        }
      }
    };
    for (const RankBox& part : source.parts)
    {
      for_each_sample(source.shapes.common(block, part.box),
        [&](std::size_t at, const format::Point&) { is_there[at] = 1; });
    }
    const format::StepsOfAxes steps = source.shapes.common(block, whole);
    for_each_sample(steps,
      [&](std::size_t at, const format::Point& i)
      {
        if (is_there[at] == 0)
        {
          format::Point p{};
          for (std::size_t axis = 0; axis != 3; ++axis)
          {
            p[axis] = whole.lower[axis] + steps[axis].array + i[axis] * steps[axis].array_step;
          }
          throw Error(ErrorCode::InvalidArgument,
            fmt::format("no rank has the sample at {} {} {}, but the box of all pieces is {} to "
                        "{}, {} to {}, {} to {}: pieces must cover it, unless missing samples "
                        "are allowed",
              p[0], p[1], p[2], whole.lower[0], whole.upper[0], whole.lower[1], whole.upper[1],
              whole.lower[2], whole.upper[2]));
        }
      });
  }
}

/// The parcels that a rank sends and receives in a round.
class RoundOfFiles
{
public:
  RoundOfFiles(const ExchangeSource& source, const std::vector<const FileBlocks*>& files)
    : source_(source)
    , files_(files)
    , max_bytes_(
        std::min(bat::mpi::kMaxParcelBytes, bat::mpi::compute_parcel_bytes(source.nodes.layout())))
  {
  }

  [[nodiscard]] bat::mpi::Mail mail()
  {
    bat::mpi::Mail mail;
    const auto me = static_cast<std::size_t>(this->source_.comm.rank());
    this->coming_.resize(this->files_.size());
    for (std::size_t rank = 0; rank != this->files_.size(); ++rank)
    {
      if (rank == me)
      {
        continue;
      }
      if (this->files_[rank])
      {
        this->add_parcels(static_cast<std::uint32_t>(rank), mail);
      }
      if (this->files_[me])
      {
        this->coming_[rank].runs =
          compute_runs(this->source_, static_cast<int>(rank), *this->files_[me], this->max_bytes_);
        for (const Run& run : this->coming_[rank].runs)
        {
          mail.expected_bytes += run.bytes;
        }
      }
    }
    if (this->files_[me])
    {
      this->samples_ = FileSamples(this->source_, *this->files_[me]);
    }
    mail.pack = [this](std::size_t parcel, std::byte* out) { this->pack(parcel, out); };
    mail.take = [this](std::uint32_t from, const std::byte* bytes, std::size_t count)
    { this->put(from, bytes, count); };
    return mail;
  }

  [[nodiscard]] FileSamples& samples() { return this->samples_; }

private:
  // As many runs as fit in each parcel.
  void add_parcels(std::uint32_t target, bat::mpi::Mail& mail)
  {
    std::uint64_t filled = this->max_bytes_; // no parcel is begun
    for (const Run& run : compute_runs(
           this->source_, this->source_.comm.rank(), *this->files_[target], this->max_bytes_))
    {
      if (filled + run.bytes > this->max_bytes_)
      {
        filled = 0;
        this->first_runs_.push_back(this->runs_.size());
        mail.parcels.push_back({ target, 0 });
      }
      filled += run.bytes;
      mail.parcels.back().bytes = static_cast<std::uint32_t>(filled);
      this->runs_.push_back(run);
    }
  }

  void pack(std::size_t parcel, std::byte* out) const
  {
    const std::size_t end =
      parcel + 1 != this->first_runs_.size() ? this->first_runs_[parcel + 1] : this->runs_.size();
    for (std::size_t i = this->first_runs_[parcel]; i != end; ++i)
    {
      const Run& run = this->runs_[i];
      copy_own(
        this->source_, run, packed_as_block(run.steps), compute_counts(run.steps), nullptr, out);
      out += run.bytes;
    }
  }

  // Returns the next runs of a rank.
  void put(std::uint32_t from, const std::byte* bytes, std::size_t count)
  {
    Coming& coming = this->coming_[from];
    for (const std::byte* const end = bytes + count; bytes != end;)
    {
      const Run& run = coming.runs[coming.next++];
      const std::uint64_t block = this->samples_.file_->blocks[run.block];
      copy_samples<Direction::ToBlock>(packed_as_array(run.steps),
        this->source_.shapes.of(block).counts, order_of(this->source_, run.field, block),
        this->source_.header.fields[run.field].sample_bytes(),
        this->samples_.raw_[run.field][run.block].data(), bytes,
        compute_strides(compute_counts(run.steps)));
      bytes += run.bytes;
    }
  }

  /// Returns the runs of a rank.
  struct Coming
  {
    std::vector<Run> runs;
    std::size_t next = 0;
  };

  const ExchangeSource& source_;
  const std::vector<const FileBlocks*>& files_;
  std::uint64_t max_bytes_;
  std::vector<Run> runs_;               ///< runs to send
  std::vector<std::size_t> first_runs_; ///< per parcel
  std::vector<Coming> coming_;          ///< per rank
  FileSamples samples_;
};

FileSamples exchange_round(const ExchangeSource& source,
  const std::vector<const FileBlocks*>& files, bat::mpi::NodeTraffic& traffic)
{
  RoundOfFiles round(source, files);
  bat::mpi::Mail mail;
  bat::mpi::collective(source.comm.get(), [&] { mail = round.mail(); });
  traffic += bat::mpi::exchange_parcels(source.comm, source.nodes, source.routing.route,
    source.routing.leaders_per_node, std::move(mail));
  return std::move(round.samples());
}
}
