// SPDX-License-Identifier: BSD-3-Clause
#include "particles/format/chunk_table.hpp"

#include "bat/error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace bat::format
{
std::vector<std::byte> chunk_table_bytes(std::uint32_t chunk_particles, double bound,
  const std::vector<std::uint32_t>& frames, const std::vector<std::byte>& model)
{
  const ChunkTableHead head{ chunk_particles, static_cast<std::uint32_t>(frames.size()), bound,
    static_cast<std::uint32_t>(model.size()), 0 };
  std::vector<std::byte> bytes(sizeof(head) + sizeof(frames[0]) * frames.size());
  std::memcpy(bytes.data(), &head, sizeof(head));
  if (!frames.empty())
  {
    std::memcpy(bytes.data() + sizeof(head), frames.data(), bytes.size() - sizeof(head));
  }
  bytes.insert(bytes.end(), model.begin(), model.end());
  return bytes;
}

ChunkTable::ChunkTable(const io::RandomAccessFile& file, const SectionRecord& table,
  const SectionRecord& column, const std::string& column_name, const codec::ColumnShape& shape,
  std::uint64_t particles)
  : particles_(particles)
{
  const std::string name = fmt::format("{}, of {}", describe(table), column_name);
  const std::vector<std::byte> bytes = read_plain(file, table, name);
  ChunkTableHead head{};
  std::memcpy(&head, bytes.data(), sizeof(head)); // its length was checked at opening
  check_field(file, head.chunk_particles >= 1 && head.chunk_particles <= kMaxChunkParticles, name,
    "chunk_particles", std::to_string(head.chunk_particles),
    fmt::format("1 to {}", kMaxChunkParticles));
  const std::uint64_t chunks =
    (particles + head.chunk_particles - 1) / std::uint64_t{ head.chunk_particles };
  check_field(file, head.chunk_count == chunks, name, "chunk_count",
    std::to_string(head.chunk_count), fmt::format("{}, for {} particles", chunks, particles));
  const std::uint64_t frames_end = sizeof(head) + chunks * sizeof(std::uint32_t);
  const std::uint64_t model = bytes.size() < frames_end ? 0 : bytes.size() - frames_end;
  check_field(file, bytes.size() >= frames_end, name, "bytes", std::to_string(bytes.size()),
    fmt::format("at least {}, for {} chunks", frames_end, chunks));
  check_field(file, head.model_bytes == model && model <= codec::kMaxModelBytes, name,
    "model_bytes", std::to_string(head.model_bytes),
    fmt::format("{}, the bytes after the frames, and at most {}", model, codec::kMaxModelBytes));
  check_field(file, std::isfinite(head.bound) && head.bound >= 0, name, "bound",
    fmt::format("{}", head.bound), "a finite number of at least 0");
  check_field(file, head.reserved == 0, name, "reserved", std::to_string(head.reserved), "0");
  this->chunk_particles_ = head.chunk_particles;
  this->bound_ = head.bound;
  try
  {
    this->model_ = std::make_unique<codec::Model>(shape, bytes.data() + frames_end, model);
  }
  catch (const Error& error)
  {
    corrupt(file, fmt::format("{}: {}", name, error.what()));
  }
  this->begins_.reserve(chunks + 1);
  this->begins_.push_back(0);
  for (std::uint64_t i = 0; i != chunks; ++i)
  {
    std::uint32_t frame = 0;
    std::memcpy(&frame, bytes.data() + sizeof(head) + i * sizeof(frame), sizeof(frame));
    if (frame == 0)
    {
      corrupt(file, fmt::format("{}: the frame of chunk {} is empty", name, i));
    }
    this->begins_.push_back(this->begins_.back() + frame);
  }
  if (this->begins_.back() != column.bytes)
  {
    corrupt(file,
      fmt::format("{}: the frames have {} bytes, the column has {}", name, this->begins_.back(),
        column.bytes));
  }
}

Span ChunkTable::chunks_at(const ByteRange& bytes) const noexcept
{
  const auto chunk_at = [&](std::uint64_t byte)
  {
    const auto behind = std::upper_bound(this->begins_.begin(), this->begins_.end(), byte);
    return static_cast<std::uint64_t>(behind - this->begins_.begin()) - 1;
  };
  const std::uint64_t first = chunk_at(bytes.begin);
  return { first, chunk_at(bytes.end - 1) - first + 1 };
}
}
