// SPDX-License-Identifier: BSD-3-Clause
// The destination of a leaf file's bytes: memory, or column by column a file.
#pragma once

#include "bat/bytes.hpp"
#include "common/io/atomic_file.hpp"
#include "common/memory/large_array.hpp"

#include <cstddef>
#include <cstdint>

namespace bat::write
{
class Output
{
public:
  virtual ~Output() = default;
  /// Returns memory for the bytes at `offset`, to be filled before any other call.
  virtual std::byte* begin_column(std::uint64_t offset, std::uint64_t bytes) = 0;
  virtual void end_column() = 0;
  /// Whether columns stay in memory, where space for later columns is already allocated.
  [[nodiscard]] virtual bool keeps_columns() const = 0;
  virtual void write(std::uint64_t offset, const void* data, std::size_t bytes) = 0;
};

/// Output in memory. Bytes between the written ones are zero.
class MemoryOutput : public Output
{
public:
  MemoryOutput(std::uint64_t data_bytes, std::uint64_t sorted_index_bytes);
  std::byte* begin_column(std::uint64_t offset, std::uint64_t bytes) override;
  void end_column() override {}
  [[nodiscard]] bool keeps_columns() const override { return true; }
  void write(std::uint64_t offset, const void* data, std::size_t bytes) override;
  [[nodiscard]] Bytes take() { return std::move(this->bytes_); }

private:
  void grow(std::uint64_t offset, std::uint64_t bytes);

  Bytes bytes_;
};

class FileOutput : public Output
{
public:
  /// `flush`: the file will be committed with a flush.
  FileOutput(io::AtomicFile& file, bool flush)
    : file_(file)
    , flush_(flush)
  {
  }
  /// Returns the seconds spent on writing the file.
  [[nodiscard]] double seconds() const noexcept { return this->seconds_; }
  std::byte* begin_column(std::uint64_t offset, std::uint64_t bytes) override;
  void end_column() override;
  [[nodiscard]] bool keeps_columns() const override { return false; }
  void write(std::uint64_t offset, const void* data, std::size_t bytes) override;

private:
  template <class F>
  void timed(const F& f);

  io::AtomicFile& file_;
  bool flush_;
  LargeArray<std::byte> buffer_;
  std::uint64_t offset_ = 0;
  std::uint64_t size_ = 0;
  double seconds_ = 0;
};
}
