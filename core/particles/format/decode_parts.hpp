// SPDX-License-Identifier: BSD-3-Clause
// Shared parts of the decoder: reading a section record by record, and checks.
#pragma once

#include "particles/format/decode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace bat::format
{
// Reads a section front to back.
class SectionReader
{
public:
  SectionReader(const io::RandomAccessFile& file, const char* name, std::vector<std::byte> bytes)
    : file_(file)
    , name_(name)
    , bytes_(std::move(bytes))
  {
  }

  [[nodiscard]] std::uint64_t left() const { return this->bytes_.size() - this->at_; }

  template <class Record>
  Record next(const char* what)
  {
    Record record;
    this->take(sizeof(record), what);
    std::memcpy(&record, this->bytes_.data() + this->at_ - sizeof(record), sizeof(record));
    return record;
  }

  std::string next_text(std::uint32_t bytes)
  {
    this->take(bytes, "a name");
    return { reinterpret_cast<const char*>(this->bytes_.data()) + this->at_ - bytes, bytes };
  }

  /// Checks that all bytes were read.
  void finish() const
  {
    if (this->left() != 0)
    {
      corrupt(this->file_, fmt::format("{} is {} bytes too long", this->name_, this->left()));
    }
  }

private:
  void take(std::uint64_t bytes, const char* what)
  {
    if (bytes > this->left())
    {
      corrupt(this->file_, fmt::format("{} ends within {}", this->name_, what));
    }
    this->at_ += bytes;
  }

  const io::RandomAccessFile& file_;
  const char* name_;
  std::vector<std::byte> bytes_;
  std::uint64_t at_ = 0;
};

/// Returns a section that must exist and have `bytes` bytes.
[[nodiscard]] const SectionRecord& require(const io::RandomAccessFile& file,
  const std::vector<SectionRecord>& sections, SectionKind kind, std::uint32_t index,
  std::uint64_t bytes);

/// Throws unless flags and ends are valid in a LeafKeyRecord; `name` is the record's name in
/// messages.
void check_leaf_key_record(const io::RandomAccessFile& file, const LeafKeyRecord& record,
  bool is_float, const std::string& name);

[[nodiscard]] inline bool is_zero(const std::uint8_t* bytes, std::size_t count)
{
  return std::all_of(bytes, bytes + count, [](std::uint8_t b) { return b == 0; });
}

/// Returns whether this is the box that stands for no particles.
[[nodiscard]] bool is_no_box(const double (&lower)[3], const double (&upper)[3]);

[[nodiscard]] bool is_finite_box(const double (&lower)[3], const double (&upper)[3]);
}
