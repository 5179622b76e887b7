// SPDX-License-Identifier: BSD-3-Clause
#include "idx/parallel/file_exchange.hpp"

#include "bat/error.hpp"
#include "bat/ranks.hpp"
#include "idx/format/scatter.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <utility>

namespace bat::idx
{
namespace
{
constexpr int kSamplesTag = 3;
/// MPI counts bytes in an int.
constexpr std::uint64_t kMostMessageBytes = std::uint64_t{ 1 } << 30;

std::uint64_t sample_bytes_of(const Header& header)
{
  std::uint64_t bytes = 0;
  for (const Field& field : header.fields)
  {
    bytes += field.sample_bytes();
  }
  return bytes;
}

format::Point counts_of(const format::StepsOfAxes& steps)
{
  return { steps[0].count, steps[1].count, steps[2].count };
}

std::uint64_t samples_of(const format::StepsOfAxes& steps)
{
  return static_cast<std::uint64_t>(steps[0].count * steps[1].count * steps[2].count);
}

// The lattice that block and box share, on one side, and without gaps on the other.
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

// A run: what a box and a block have in common. Runs of a rank go by piece, then block; in a run,
// fields one behind the other, each x fastest. Both ends compute this from the boxes.
template <class Visit>
void for_each_run(
  const ExchangeSource& source, int rank, const FileBlocks& file, const Visit& visit)
{
  const auto begin = std::lower_bound(source.boxes.begin(), source.boxes.end(), rank,
    [](const RankBox& box, int r) { return box.rank < r; });
  for (auto box = begin; box != source.boxes.end() && box->rank == rank; ++box)
  {
    for (std::size_t b = 0; b != file.blocks.size(); ++b)
    {
      const format::StepsOfAxes steps = source.shapes.common(file.blocks[b], box->box);
      if (samples_of(steps) != 0)
      {
        visit(*box, b, steps);
      }
    }
  }
}

std::uint64_t bytes_from(const ExchangeSource& source, int rank, const FileBlocks& file)
{
  std::uint64_t samples = 0;
  for_each_run(source, rank, file,
    [&](const RankBox&, std::size_t, const format::StepsOfAxes& steps)
    { samples += samples_of(steps); });
  return samples * sample_bytes_of(source.header);
}

Bytes pack(const ExchangeSource& source, const FileBlocks& file)
{
  const int rank = source.comm.rank();
  Bytes packed(bytes_from(source, rank, file));
  std::byte* at = packed.data();
  for_each_run(source, rank, file,
    [&](const RankBox& box, std::size_t, const format::StepsOfAxes& steps)
    {
      const Piece& piece = source.pieces[static_cast<std::size_t>(box.piece)];
      for (std::size_t f = 0; f != source.header.fields.size(); ++f)
      {
        const std::size_t sample = source.header.fields[f].sample_bytes();
        copy_samples<Direction::ToBlock>(packed_as_block(steps), counts_of(steps), nullptr, sample,
          at, static_cast<const std::byte*>(piece.values[f]),
          strides_of(lattice_of(box.box).count));
        at += samples_of(steps) * sample;
      }
    });
  return packed;
}

// Calls post(place, bytes) for each message of so many bytes.
template <class Post>
void for_each_message(std::uint64_t bytes, const Post& post)
{
  for (std::uint64_t at = 0; at < bytes; at += kMostMessageBytes)
  {
    post(at, static_cast<int>(std::min(kMostMessageBytes, bytes - at)));
  }
}
}

FileSamples::FileSamples(const ExchangeSource& source, const FileBlocks& file)
  : source_(source)
  , file_(file)
  , has_sample_(
      file.blocks.size(), std::vector<char>(std::size_t{ 1 } << source.header.bits_per_block, 0))
{
  for (const Field& field : source.header.fields)
  {
    this->raw_.emplace_back();
    for (std::size_t b = 0; b != file.blocks.size(); ++b)
    {
      this->raw_.back().emplace_back(
        field.sample_bytes() << source.header.bits_per_block, std::byte{ 0 });
    }
  }
}

void FileSamples::put(int rank, const Bytes& packed)
{
  struct Run
  {
    std::size_t block;
    format::StepsOfAxes steps;
    std::uint64_t at;
  };
  // From the last piece to the first, whose samples stay.
  std::vector<Run> runs;
  std::uint64_t at = 0;
  const std::uint64_t sample_bytes = sample_bytes_of(this->source_.header);
  for_each_run(this->source_, rank, this->file_,
    [&](const RankBox&, std::size_t block, const format::StepsOfAxes& steps)
    {
      runs.push_back({ block, steps, at });
      at += samples_of(steps) * sample_bytes;
    });
  for (auto run = runs.rbegin(); run != runs.rend(); ++run)
  {
    const std::uint64_t block = this->file_.blocks[run->block];
    const format::LevelBlocks& shape = this->source_.shapes.of(block);
    const format::StepsOfAxes steps = packed_as_array(run->steps);
    const Strides strides = strides_of(counts_of(steps));
    const std::byte* from = packed.data() + run->at;
    for (std::size_t f = 0; f != this->raw_.size(); ++f)
    {
      const Field& field = this->source_.header.fields[f];
      copy_samples<Direction::ToBlock>(steps, shape.counts,
        field.layout == Layout::HZ ? &this->source_.shapes.order_of(block) : nullptr,
        field.sample_bytes(), this->raw_[f][run->block].data(), from, strides);
      from += samples_of(steps) * field.sample_bytes();
    }
    const Strides rows = strides_of(shape.counts);
    for_each_row(steps, strides,
      [&](std::int64_t y, std::int64_t z, std::int64_t)
      {
        for (std::int64_t i = 0; i != steps[0].count; ++i)
        {
          this->has_sample_[run->block][static_cast<std::size_t>(
            z * rows.z + y * rows.y + steps[0].block + i * steps[0].block_step)] = 1;
        }
      });
  }
}

Bytes FileSamples::take(std::size_t field, std::uint64_t block)
{
  const auto found = std::lower_bound(this->file_.blocks.begin(), this->file_.blocks.end(), block);
  return std::move(this->raw_[field][static_cast<std::size_t>(found - this->file_.blocks.begin())]);
}

void FileSamples::check_complete() const
{
  for (std::size_t b = 0; b != this->file_.blocks.size(); ++b)
  {
    const std::uint64_t block = this->file_.blocks[b];
    const LogicalBox& whole = this->source_.header.box;
    const format::LevelBlocks& shape = this->source_.shapes.of(block);
    const Strides rows = strides_of(shape.counts);
    const format::StepsOfAxes steps = this->source_.shapes.common(block, whole);
    for (std::int64_t z = 0; z != steps[2].count; ++z)
    {
      for (std::int64_t y = 0; y != steps[1].count; ++y)
      {
        for (std::int64_t x = 0; x != steps[0].count; ++x)
        {
          const format::Point i{ x, y, z };
          std::int64_t at = 0;
          format::Point p{};
          for (std::size_t axis = 0; axis != 3; ++axis)
          {
            const format::Steps& s = steps[axis];
            at += (s.block + i[axis] * s.block_step) *
              (axis == 0      ? 1
                  : axis == 1 ? rows.y
                              : rows.z);
            p[axis] = whole.lower[axis] + s.array + i[axis] * s.array_step;
          }
          if (this->has_sample_[b][static_cast<std::size_t>(at)] == 0)
          {
            throw Error(ErrorCode::InvalidArgument,
              fmt::format("no rank has the sample at {} {} {}, and the box of all pieces is {} to "
                          "{}, {} to {}, {} to {}: pieces have to cover it, or missing samples "
                          "be allowed",
                p[0], p[1], p[2], whole.lower[0], whole.upper[0], whole.lower[1], whole.upper[1],
                whole.lower[2], whole.upper[2]));
          }
        }
      }
    }
  }
}

std::vector<Bytes> exchange_round(
  const ExchangeSource& source, const std::vector<const FileBlocks*>& files)
{
  const MPI_Comm comm = source.comm.get();
  const auto ranks = static_cast<std::size_t>(source.comm.size());
  const auto me = static_cast<std::size_t>(source.comm.rank());
  std::vector<Bytes> received(ranks);
  std::vector<Bytes> sent(ranks);
  std::vector<MPI_Request> requests;
  // Whatever may throw comes before the first message.
  bat::mpi::together(comm,
    [&]
    {
      std::size_t messages = 0;
      for (std::size_t rank = 0; rank != ranks; ++rank)
      {
        if (files[me])
        {
          received[rank].resize(bytes_from(source, static_cast<int>(rank), *files[me]));
        }
        if (files[rank])
        {
          sent[rank] = pack(source, *files[rank]);
        }
        messages +=
          received[rank].size() / kMostMessageBytes + sent[rank].size() / kMostMessageBytes + 2;
      }
      requests.reserve(messages);
    });
  for (std::size_t i = 1; i < ranks; ++i)
  {
    const std::size_t rank = (me + i) % ranks;
    for_each_message(received[rank].size(),
      [&](std::uint64_t at, int bytes)
      {
        requests.emplace_back();
        MPI_Irecv(received[rank].data() + at, bytes, MPI_BYTE, static_cast<int>(rank), kSamplesTag,
          comm, &requests.back());
      });
  }
  for (std::size_t i = 1; i < ranks; ++i)
  {
    const std::size_t rank = (me + i) % ranks;
    for_each_message(sent[rank].size(),
      [&](std::uint64_t at, int bytes)
      {
        requests.emplace_back();
        MPI_Isend(sent[rank].data() + at, bytes, MPI_BYTE, static_cast<int>(rank), kSamplesTag,
          comm, &requests.back());
      });
  }
  received[me] = std::move(sent[me]);
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  return received;
}
}
