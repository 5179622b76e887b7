// SPDX-License-Identifier: BSD-3-Clause
#include "common/io/random_access_file.hpp"

#include "bat/error.hpp"
#include "common/io/atomic_file.hpp"
#include "common/io/remote/address.hpp"
#include "common/io/remote/remote_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace bat::io
{
RandomAccessFile::RandomAccessFile(const std::filesystem::path& path, Access access)
  : RandomAccessFile(path, access, RemoteHints())
{
}

RandomAccessFile::RandomAccessFile(const std::filesystem::path& path, const RemoteHints& hints)
  : RandomAccessFile(path, Access::Read, hints)
{
}

RandomAccessFile::RandomAccessFile(
  const std::filesystem::path& path, Access access, const RemoteHints& hints)
  : name_(path.string())
{
  if (is_address(this->name_))
  {
    this->address_ = std::move(this->name_);
    this->remote_ = std::make_shared<const RemoteFile>(this->address_, hints);
    this->name_ = this->remote_->name();
    this->size_ = this->remote_->size();
    return;
  }
  this->file_ = std::make_unique<OpenFile>(this->name_);
  this->size_ = static_cast<std::uint64_t>(this->file_->status().st_size);
  if (access == Access::Map && this->size_ != 0)
  {
    this->map();
  }
}

RandomAccessFile::RandomAccessFile(
  const std::string& name, const std::shared_ptr<const Folder>& folder)
  : name_((std::filesystem::path(folder->path()) / name).string())
  , file_(std::make_unique<OpenFile>(folder, name))
  , size_(static_cast<std::uint64_t>(this->file_->status().st_size))
{
}

RandomAccessFile::~RandomAccessFile() = default;

std::uint64_t RandomAccessFile::size_now() const
{
  return this->file_ ? this->file_->length_now().value_or(this->size_) : this->size_;
}

bool RandomAccessFile::is_as_opened() const noexcept
{
  if (!this->remote_)
  {
    return !this->file_ || this->file_->is_as_opened();
  }
  bool is_same = false;
  const auto opened = attempt(
    [&]
    {
      const RemoteFile now(this->address_, { 1, 0 });
      is_same = now.version() == this->remote_->version() && now.size() == this->size_;
    });
  return !opened && is_same;
}

std::optional<std::int64_t> RandomAccessFile::last_modified() const
{
  return this->remote_ ? this->remote_->last_modified() : std::nullopt;
}

std::string RandomAccessFile::header(const std::string& name) const
{
  return this->remote_ ? this->remote_->header(name) : std::string();
}

void RandomAccessFile::map()
{
  const OpenFile::Use use = this->file_->use();
  void* const memory = ::mmap(nullptr, this->size_, PROT_READ, MAP_SHARED, use.descriptor(), 0);
  if (memory == MAP_FAILED)
  {
    throw Error(ErrorCode::CannotOpen,
      fmt::format("{}: cannot map {} bytes: {}", this->name_, this->size_, std::strerror(errno)));
  }
  this->memory_ = { static_cast<const std::byte*>(memory),
    [memory, size = this->size_](const std::byte*) { ::munmap(memory, size); } };
}

void RandomAccessFile::check_range(std::uint64_t offset, std::size_t bytes, std::uint64_t end) const
{
  if (offset > end || bytes > end - offset)
  {
    throw Error(ErrorCode::Truncated,
      fmt::format("{}: cannot read bytes {} to {}: the file ends at {}", this->name_, offset,
        offset + bytes, end));
  }
}

void RandomAccessFile::note_read(std::uint64_t offset, std::size_t bytes) const
{
  if (this->observer_ && bytes != 0)
  {
    this->observer_(offset, bytes);
  }
  this->bytes_read_ += bytes;
}

const std::byte* RandomAccessFile::view(std::uint64_t offset, std::size_t bytes) const
{
  this->check_range(offset, bytes, this->size_);
  this->note_read(offset, bytes);
  return this->memory_.get() + offset;
}

void RandomAccessFile::check_length() const
{
  if (!this->is_mapped())
  {
    return;
  }
  if (const std::optional<std::uint64_t> length = this->file_->length_now())
  {
    this->check_range(0, this->size_, *length);
  }
}

void RandomAccessFile::read(std::uint64_t offset, void* to, std::size_t bytes) const
{
  if (bytes == 0)
  {
    return;
  }
  if (this->memory_)
  {
    this->check_length();
    std::memcpy(to, this->view(offset, bytes), bytes);
    return;
  }
  this->check_range(offset, bytes, this->size_);
  this->note_read(offset, bytes);
  if (this->remote_)
  {
    this->remote_->read(offset, to, bytes);
    return;
  }
  const OpenFile::Use use = this->file_->use();
  if (this->scattered_ && this->reported_.exchange(use.descriptor()) != use.descriptor())
  {
    (void)::posix_fadvise(use.descriptor(), 0, 0, POSIX_FADV_RANDOM);
  }
  char* out = static_cast<char*>(to);
  std::size_t done = 0;
  while (done != bytes)
  {
    const ssize_t got =
      ::pread(use.descriptor(), out + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0)
    {
      if (errno == EINTR)
      {
        continue;
      }
      throw Error(ErrorCode::CannotOpen,
        fmt::format("{}: cannot read {} bytes at offset {}: {}", this->name_, bytes - done,
          offset + done, std::strerror(errno)));
    }
    if (got == 0)
    {
      this->check_range(offset, bytes, offset + done);
    }
    done += static_cast<std::size_t>(got);
  }
}

void RandomAccessFile::prefetch(std::uint64_t offset, std::uint64_t bytes) const noexcept
{
  if (this->remote_)
  {
    this->prefetch(std::vector<ByteRange>{ { offset, bytes } });
    return;
  }
  if (!this->file_ || bytes == 0)
  {
    return;
  }
  try
  {
    (void)::posix_fadvise(this->file_->use().descriptor(), static_cast<off_t>(offset),
      static_cast<off_t>(bytes), POSIX_FADV_WILLNEED);
  }
  catch (const std::exception&)
  {
    return; // a file that is gone is an error when it is read
  }
}

void RandomAccessFile::prefetch(const std::vector<ByteRange>& ranges) const noexcept
{
  if (this->remote_)
  {
    this->remote_->prefetch(ranges);
    return;
  }
  for (const ByteRange& range : ranges)
  {
    this->prefetch(range.offset, range.bytes);
  }
}
}
