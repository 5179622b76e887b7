// SPDX-License-Identifier: BSD-3-Clause
#include "particles/write/output.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace bat::write
{
MemoryOutput::MemoryOutput(std::uint64_t data_bytes, std::uint64_t sorted_index_bytes)
{
  // Reserves space for a usual index, because growing later would copy everything.
  this->bytes_.reserve(data_bytes + sorted_index_bytes + data_bytes / 32 + (1u << 16));
}

std::byte* MemoryOutput::begin_column(std::uint64_t offset, std::uint64_t bytes)
{
  this->grow(offset, bytes);
  return this->bytes_.data() + offset;
}

void MemoryOutput::write(std::uint64_t offset, const void* data, std::size_t bytes)
{
  this->grow(offset, bytes);
  if (bytes != 0)
  {
    std::memcpy(this->bytes_.data() + offset, data, bytes);
  }
}

// Adds space for `bytes` at `offset`; bytes before it are padding.
void MemoryOutput::grow(std::uint64_t offset, std::uint64_t bytes)
{
  const std::uint64_t old = this->bytes_.size();
  if (offset + bytes > old)
  {
    this->bytes_.resize(offset + bytes);
  }
  if (offset > old)
  {
    std::fill_n(
      this->bytes_.begin() + static_cast<std::ptrdiff_t>(old), offset - old, std::byte{ 0 });
  }
}

template <class F>
void FileOutput::timed(const F& f)
{
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  f();
  this->seconds_ += std::chrono::duration<double>(Clock::now() - start).count();
}

std::byte* FileOutput::begin_column(std::uint64_t offset, std::uint64_t bytes)
{
  if (bytes > this->buffer_.size())
  {
    this->buffer_.reset(bytes);
  }
  this->offset_ = offset;
  this->size_ = bytes;
  return this->buffer_.data();
}

void FileOutput::end_column()
{
  this->write(this->offset_, this->buffer_.data(), this->size_);
  if (this->flush_)
  {
    this->timed([&] { this->file_.begin_flush(this->offset_, this->size_); });
  }
}

void FileOutput::write(std::uint64_t offset, const void* data, std::size_t bytes)
{
  this->timed([&] { this->file_.write(offset, data, bytes); });
}
}
