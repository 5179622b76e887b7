// SPDX-License-Identifier: BSD-3-Clause
#include "common/io/remote/disk_pages.hpp"

#include "common/fail.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <exception>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace bat::io
{
namespace
{
constexpr std::string_view kMagic = "BATPAGE1";
constexpr std::string_view kSuffix = ".pages";
constexpr std::size_t kKeyDigits = 32;
constexpr std::size_t kGroupPages = 512;
constexpr std::uint64_t kHeaderBytes = kPageBytes;
constexpr std::uint64_t kTableBytes = kGroupPages * sizeof(std::uint64_t);
constexpr std::uint64_t kGroupBytes = kTableBytes + kGroupPages * kPageBytes;
/// Bytes written by the process until the folder is trimmed again.
constexpr std::uint64_t kMaxBytesBetweenTrims = 16 << 20;
/// The time of use is not updated more often than this.
constexpr std::time_t kSecondsBetweenTouches = 30;

std::atomic<std::uint64_t> written_since_trim{ 0 };

std::uint64_t group_offset(std::uint64_t group)
{
  return kHeaderBytes + group * kGroupBytes;
}

std::uint64_t page_offset(std::uint64_t index)
{
  return group_offset(index / kGroupPages) + kTableBytes + index % kGroupPages * kPageBytes;
}

std::uint64_t checksum_offset(std::uint64_t index)
{
  return group_offset(index / kGroupPages) + index % kGroupPages * sizeof(std::uint64_t);
}

std::uint64_t compute_checksum(std::uint64_t index, const std::byte* data, std::size_t bytes)
{
  return std::max<std::uint64_t>(XXH3_64bits_withSeed(data, bytes, index), 1);
}

std::size_t read_at(int descriptor, std::uint64_t offset, void* to, std::size_t bytes)
{
  std::size_t done = 0;
  while (done != bytes)
  {
    const ssize_t got = ::pread(
      descriptor, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR)
    {
      continue;
    }
    if (got <= 0)
    {
      break;
    }
    done += static_cast<std::size_t>(got);
  }
  return done;
}

bool write_at(int descriptor, std::uint64_t offset, const void* from, std::size_t bytes)
{
  std::size_t done = 0;
  while (done != bytes)
  {
    const ssize_t put = ::pwrite(descriptor, static_cast<const char*>(from) + done, bytes - done,
      static_cast<off_t>(offset + done));
    if (put < 0 && errno == EINTR)
    {
      continue;
    }
    if (put <= 0)
    {
      return false;
    }
    done += static_cast<std::size_t>(put);
  }
  return true;
}

bool is_cache_file(const std::string& name)
{
  return name.size() == kKeyDigits + kSuffix.size() &&
    name.compare(kKeyDigits, kSuffix.size(), kSuffix) == 0 &&
    name.find_first_not_of("0123456789abcdef") == kKeyDigits;
}

// Marks the file as used, for trim().
void touch(int descriptor)
{
  struct stat status;
  if (::fstat(descriptor, &status) == 0 &&
    std::time(nullptr) - status.st_mtime > kSecondsBetweenTouches)
  {
    (void)::futimens(descriptor, nullptr);
  }
}
}

class DiskPages::Descriptor
{
public:
  Descriptor(const std::filesystem::path& path, int flags)
    : value_(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600))
  {
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { this->close(); }

  void open_again(const std::filesystem::path& path, int flags)
  {
    this->close();
    this->value_ = ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600);
  }
  [[nodiscard]] int value() const noexcept { return this->value_; }
  [[nodiscard]] bool is_open() const noexcept { return this->value_ >= 0; }

private:
  void close() noexcept
  {
    if (this->value_ >= 0)
    {
      ::close(this->value_);
    }
  }

  int value_;
};

DiskPages::DiskPages(const std::filesystem::path& folder, std::uint64_t max_bytes,
  const std::string& key, std::uint64_t file_size)
  : folder_(folder)
  , path_(folder / (key + std::string(kSuffix)))
  , max_bytes_(max_bytes)
  , key_(key)
  , file_size_(file_size)
{
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path(), error);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
  {
    fail(ErrorCode::CannotOpen, folder.string(),
      fmt::format("the cache folder (PARABAT_CACHE) cannot be created: {}", std::strerror(errno)));
  }
  if (::access(folder.c_str(), R_OK | W_OK | X_OK) != 0)
  {
    fail(ErrorCode::CannotOpen, folder.string(),
      fmt::format("the cache folder (PARABAT_CACHE) cannot be used: {}", std::strerror(errno)));
  }
}

// The same bytes from every process: writing the header again is harmless.
std::vector<std::byte> DiskPages::header() const
{
  std::vector<std::byte> bytes(kHeaderBytes);
  std::size_t at = 0;
  const auto put = [&](const void* from, std::size_t count)
  {
    std::memcpy(bytes.data() + at, from, count);
    at += count;
  };
  const std::uint64_t page_bytes = kPageBytes;
  put(kMagic.data(), kMagic.size());
  put(&page_bytes, sizeof page_bytes);
  put(&this->file_size_, sizeof this->file_size_);
  put(this->key_.data(), this->key_.size());
  const std::uint64_t checksum = XXH3_64bits(bytes.data(), at);
  put(&checksum, sizeof checksum);
  return bytes;
}

std::size_t DiskPages::page_size(std::uint64_t index) const noexcept
{
  const std::uint64_t begin = index * kPageBytes;
  return begin >= this->file_size_
    ? 0
    : static_cast<std::size_t>(std::min<std::uint64_t>(kPageBytes, this->file_size_ - begin));
}

bool DiskPages::has_header(int descriptor) const
{
  std::vector<std::byte> found(kHeaderBytes);
  return read_at(descriptor, 0, found.data(), found.size()) == found.size() &&
    found == this->header();
}

void DiskPages::open_to_write(Descriptor& file) const
{
  if (!file.is_open() || this->has_header(file.value()))
  {
    return;
  }
  struct stat status;
  if (::fstat(file.value(), &status) == 0 && status.st_size != 0)
  {
    // Another process may be writing into the damaged file, so that it is not emptied.
    ::unlink(this->path_.c_str());
    file.open_again(this->path_, O_RDWR | O_CREAT);
  }
  const std::vector<std::byte> bytes = this->header();
  if (!file.is_open() || !write_at(file.value(), 0, bytes.data(), bytes.size()))
  {
    file.open_again(this->path_, O_RDONLY | O_DIRECTORY); // fails, which leaves it closed
  }
}

std::vector<std::uint64_t> DiskPages::read_checksums(int descriptor, std::uint64_t group) const
{
  std::vector<std::uint64_t> checksums(kGroupPages);
  // The rest of a table at the end of the file is absent.
  (void)read_at(descriptor, group_offset(group), checksums.data(), kTableBytes);
  return checksums;
}

template <class Function>
void DiskPages::for_each_stored(
  int descriptor, const std::vector<std::uint64_t>& indices, const Function& function) const
{
  std::vector<std::uint64_t> checksums;
  std::uint64_t group = ~std::uint64_t{ 0 };
  for (const std::uint64_t index : indices)
  {
    if (index / kGroupPages != group)
    {
      group = index / kGroupPages;
      checksums = this->read_checksums(descriptor, group);
    }
    if (const std::uint64_t expected = checksums[index % kGroupPages]; expected != 0)
    {
      function(index, expected);
    }
  }
}

std::vector<DiskPages::Page> DiskPages::load(
  const std::vector<std::uint64_t>& indices) const noexcept
{
  std::vector<Page> pages;
  try
  {
    const Descriptor file(this->path_, O_RDONLY);
    if (!file.is_open() || !this->has_header(file.value()))
    {
      return pages;
    }
    touch(file.value());
    this->for_each_stored(file.value(), indices,
      [&](std::uint64_t index, std::uint64_t expected)
      {
        auto data = std::make_shared<std::vector<std::byte>>(this->page_size(index));
        if (read_at(file.value(), page_offset(index), data->data(), data->size()) == data->size() &&
          compute_checksum(index, data->data(), data->size()) == expected)
        {
          pages.push_back({ index, std::move(data) });
        }
      });
  }
  catch (const std::exception&)
  {
    return pages; // no memory: those found so far
  }
  return pages;
}

std::vector<std::uint64_t> DiskPages::find(const std::vector<std::uint64_t>& indices) const noexcept
{
  std::vector<std::uint64_t> found;
  try
  {
    const Descriptor file(this->path_, O_RDONLY);
    if (!file.is_open() || !this->has_header(file.value()))
    {
      return found;
    }
    this->for_each_stored(
      file.value(), indices, [&](std::uint64_t index, std::uint64_t) { found.push_back(index); });
  }
  catch (const std::exception&)
  {
    return found;
  }
  return found;
}

void DiskPages::store(std::uint64_t first, const std::byte* data, std::size_t bytes) const noexcept
{
  try
  {
    const std::lock_guard<std::mutex> lock(this->writing_);
    if (this->is_erased_)
    {
      return;
    }
    Descriptor file(this->path_, O_RDWR | O_CREAT);
    this->open_to_write(file);
    if (!file.is_open())
    {
      return;
    }
    for (std::size_t done = 0; done < bytes;)
    {
      const std::uint64_t index = first + done / kPageBytes;
      // The pages of a group are contiguous, and so are their checksums.
      const std::size_t count = std::min<std::size_t>(
        kGroupPages - index % kGroupPages, (bytes - done + kPageBytes - 1) / kPageBytes);
      const std::size_t part = std::min(count * kPageBytes, bytes - done);
      std::vector<std::uint64_t> checksums(count);
      for (std::size_t i = 0; i != count; ++i)
      {
        checksums[i] = compute_checksum(
          index + i, data + done + i * kPageBytes, std::min(kPageBytes, part - i * kPageBytes));
      }
      if (!write_at(file.value(), page_offset(index), data + done, part) ||
        !write_at(file.value(), checksum_offset(index), checksums.data(),
          checksums.size() * sizeof(std::uint64_t)))
      {
        return; // a full disk: the cache stays as it is
      }
      done += part;
    }
    const std::uint64_t interval = std::min(kMaxBytesBetweenTrims, this->max_bytes_ / 8);
    if (written_since_trim.fetch_add(bytes) + bytes > interval)
    {
      written_since_trim = 0;
      trim(this->folder_, this->max_bytes_);
    }
  }
  catch (const std::exception&)
  {
    return;
  }
}

void DiskPages::erase() const noexcept
{
  const std::lock_guard<std::mutex> lock(this->writing_);
  this->is_erased_ = true;
  ::unlink(this->path_.c_str());
}

void DiskPages::trim(const std::filesystem::path& folder, std::uint64_t max_bytes) noexcept
{
  struct Entry
  {
    timespec used;
    std::uint64_t bytes;
    std::filesystem::path path;
  };
  try
  {
    std::vector<Entry> entries;
    std::uint64_t total = 0;
    for (const std::filesystem::directory_entry& found :
      std::filesystem::directory_iterator(folder))
    {
      struct stat status;
      if (is_cache_file(found.path().filename().string()) &&
        ::lstat(found.path().c_str(), &status) == 0)
      {
        const auto bytes = static_cast<std::uint64_t>(status.st_blocks) * 512;
        total += bytes;
        entries.push_back({ status.st_mtim, bytes, found.path() });
      }
    }
    if (total <= max_bytes)
    {
      return;
    }
    std::sort(entries.begin(), entries.end(),
      [](const Entry& a, const Entry& b)
      {
        return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec
                                              : a.used.tv_nsec < b.used.tv_nsec;
      });
    for (const Entry& entry : entries)
    {
      if (total <= max_bytes / 10 * 9)
      {
        return;
      }
      // Processes that have the file open close it soon: its space is not used for long.
      ::unlink(entry.path.c_str());
      total -= entry.bytes;
    }
  }
  catch (const std::exception&)
  {
    return; // another process removed the folder
  }
}
}
