// SPDX-License-Identifier: BSD-3-Clause
#include "particles/write/chunks.hpp"

#include "codec/chunk_codec.hpp"
#include "codec/snap.hpp"
#include "particles/format/chunk_table.hpp"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>

namespace bat::write
{
namespace
{
// See DESIGN.md, "Compressed chunks", for the effect of other sizes.
constexpr std::uint32_t kChunkParticles = 2048;
constexpr std::size_t kBatch = 16; // chunks
}

Chunks::Chunks(const format::ElementType& type, const ColumnCoding& coding, const std::byte* values,
  std::uint64_t particles, LargeArray<std::byte>& scratch)
  : bound_(coding.bound)
  , chunk_particles_(coding.chunk_particles == 0 ? kChunkParticles : coding.chunk_particles)
  , memory_(scratch)
{
  const codec::ColumnShape shape{ type.type, static_cast<std::uint32_t>(type.components) };
  const codec::Grid grid{ coding.bound == 0 ? 0 : codec::grid_step(coding.bound) };
  const std::uint64_t maximum = this->chunk_particles_;
  const codec::Plan plan(shape, grid, values, particles, maximum);
  this->model_ = plan.model();
  this->frames_.resize((particles + maximum - 1) / maximum);
  this->batches_.resize((this->frames_.size() + kBatch - 1) / kBatch);
  const std::size_t needed =
    particles * type.bytes() + this->frames_.size() * codec::kFrameOverhead;
  if (this->memory_.size() < needed)
  {
    this->memory_.reset(needed);
  }
  struct Scratch
  {
    codec::Encoder encoder;
    std::vector<std::byte> frame;
  };
  tbb::enumerable_thread_specific<Scratch> scratches;
  tbb::parallel_for(std::size_t{ 0 }, this->batches_.size(),
    [&](std::size_t b)
    {
      Scratch& own = scratches.local();
      Batch& batch = this->batches_[b];
      batch.begin = b * kBatch * (maximum * type.bytes() + codec::kFrameOverhead);
      const std::size_t end = std::min((b + 1) * kBatch, this->frames_.size());
      for (std::size_t chunk = b * kBatch; chunk != end; ++chunk)
      {
        const std::uint64_t first = chunk * maximum;
        const std::uint64_t count = std::min(maximum, particles - first);
        own.encoder.encode(plan, values + first * type.bytes(), count, own.frame);
        this->frames_[chunk] = static_cast<std::uint32_t>(own.frame.size());
        std::memcpy(
          this->memory_.data() + batch.begin + batch.bytes, own.frame.data(), own.frame.size());
        batch.bytes += own.frame.size();
      }
    });
  for (const Batch& batch : this->batches_)
  {
    this->bytes_ += batch.bytes;
  }
}

void Chunks::copy(std::byte* out) const
{
  std::vector<std::uint64_t> begins(this->batches_.size());
  std::uint64_t at = 0;
  for (std::size_t b = 0; b != this->batches_.size(); ++b)
  {
    begins[b] = at;
    at += this->batches_[b].bytes;
  }
  tbb::parallel_for(std::size_t{ 0 }, this->batches_.size(),
    [&](std::size_t b)
    {
      const Batch& batch = this->batches_[b];
      std::memcpy(out + begins[b], this->memory_.data() + batch.begin, batch.bytes);
    });
}

std::vector<std::byte> Chunks::table() const
{
  return format::chunk_table_bytes(
    this->chunk_particles_, this->bound_, this->frames_, this->model_);
}
}
