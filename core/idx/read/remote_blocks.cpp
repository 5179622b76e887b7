// SPDX-License-Identifier: BSD-3-Clause
#include "idx/read/remote_blocks.hpp"

#include "bat/error.hpp"
#include "common/io/remote/address.hpp"
#include "idx/format/block_file.hpp"

#include <algorithm>
#include <utility>

namespace bat::idx
{
namespace
{
/// Bytes after the headers that opening a file brings: its first blocks are those of the coarsest
/// levels.
constexpr std::uint64_t kFirstBlocks = std::uint64_t{ 64 } << 10;
constexpr std::uint64_t kMaxHeadBytes = std::uint64_t{ 4 } << 20;

// In arco, opening a file brings its block.
std::uint64_t head_bytes(const Header& header)
{
  if (header.arco == 0)
  {
    return format::headers_bytes(header) + kFirstBlocks;
  }
  std::uint64_t sample = 1;
  for (const Field& field : header.fields)
  {
    sample = std::max<std::uint64_t>(sample, field.sample_bytes());
  }
  return sample << std::min(header.bits_per_block, 32);
}
}

RemoteBlocks::RemoteBlocks(std::filesystem::path path, const Header& header)
  : path_(std::move(path))
  , hints_{ std::min(head_bytes(header), kMaxHeadBytes), 0 }
{
}

std::shared_ptr<const io::RandomAccessFile> RemoteBlocks::open(const std::string& name) const
{
  {
    const std::lock_guard<std::mutex> lock(this->mutex_);
    if (const auto found = this->files_.find(name); found != this->files_.end())
    {
      return found->second;
    }
  }
  std::shared_ptr<const io::RandomAccessFile> file;
  try
  {
    file = std::make_shared<const io::RandomAccessFile>(
      io::path_beside(this->path_, name), this->hints_);
  }
  catch (const Error& error)
  {
    if (error.code() != ErrorCode::NotFound)
    {
      throw;
    }
    return nullptr; // asked for again next time: it may be written in the meantime
  }
  const std::lock_guard<std::mutex> lock(this->mutex_);
  if (this->files_.size() >= kMaxOpen)
  {
    this->files_.clear();
  }
  return this->files_.emplace(name, std::move(file)).first->second;
}

bool RemoteBlocks::is_text(const std::string& text) const noexcept
{
  bool is_same = false;
  const auto failure = attempt(
    [&]
    {
      const io::RandomAccessFile file(this->path_, io::RemoteHints{ text.size() + 1, 0 });
      std::string now(std::min<std::uint64_t>(file.size(), text.size() + 1), '\0');
      file.read(0, now.data(), now.size());
      is_same = now == text;
    });
  return !failure && is_same;
}
}
