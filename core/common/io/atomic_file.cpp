// SPDX-License-Identifier: BSD-3-Clause
#include "common/io/atomic_file.hpp"

#include "bat/error.hpp"
#include "common/fail.hpp"
#include "common/io/remote/address.hpp"
#include "common/io/write_at.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <random>
#include <system_error>
#include <utility>

namespace bat::io
{
namespace
{
[[noreturn]] void fail_write(
  const std::filesystem::path& target, const std::string& what, int error)
{
  fail(code_of_write(error, ErrorCode::WriteFailed), target.string(),
    fmt::format("{}: {}; the previous file is unchanged", what, std::strerror(error)));
}

void write(int descriptor, const std::filesystem::path& target, std::uint64_t offset,
  const void* data, std::size_t bytes)
{
  write_at(descriptor, offset, data, bytes,
    [&](std::size_t left, std::uint64_t at, int error)
    { fail_write(target, fmt::format("cannot write {} bytes at offset {}", left, at), error); });
}

// With a suffix, long names would exceed the file system's limit.
std::string temporary_prefix(const std::string& target)
{
  return "." + target.substr(0, 200) + ".";
}

constexpr std::size_t kRandomDigits = 8;
constexpr char kTemporarySuffix[] = ".tmp";
}

void check_path(const std::filesystem::path& path)
{
  if (path.native().find('\0') != std::string::npos)
  {
    fail(ErrorCode::InvalidArgument, path.string(),
      "contains a zero byte, which file names cannot have");
  }
}

std::filesystem::path follow_links(std::filesystem::path path)
{
  check_path(path);
  constexpr int kMaxLinks = 40; // the limit of stat()
  for (int i = 0; i != kMaxLinks; ++i)
  {
    std::error_code none; // it is not a link
    const std::filesystem::path next = std::filesystem::read_symlink(path, none);
    if (none)
    {
      break;
    }
    path = path.parent_path() / next; // `next` alone if it is absolute
  }
  return path;
}

std::optional<std::filesystem::perms> read_permissions(const std::filesystem::path& path) noexcept
{
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  return std::filesystem::exists(status) ? std::optional(status.permissions()) : std::nullopt;
}

bool is_temporary_of(const std::string& name, const std::string& target)
{
  const std::string prefix = temporary_prefix(target);
  if (prefix.size() != target.size() + 2)
  {
    return false; // cut, and so perhaps of another file
  }
  return is_temporary(name) && name.size() == prefix.size() + kRandomDigits + 4 &&
    name.compare(0, prefix.size(), prefix) == 0;
}

void remove_if_abandoned(const std::filesystem::path& temporary) noexcept
{
  const int descriptor = ::open(temporary.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (descriptor < 0)
  {
    return;
  }
  // A killed writer holds no lock. Where a file system has no locks, the temporary stays.
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
  {
    ::unlink(temporary.c_str());
  }
  ::close(descriptor);
}

void remove_abandoned_in(const std::filesystem::path& folder,
  const std::function<bool(const std::string& target)>& is_requested) noexcept
{
  try
  {
    std::error_code error;
    std::filesystem::directory_iterator entry(folder.empty() ? "." : folder, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    {
      const std::string name = entry->path().filename().string();
      if (is_temporary(name) && is_requested(name.substr(1, name.size() - kRandomDigits - 6)))
      {
        remove_if_abandoned(entry->path());
      }
    }
  }
  catch (const std::exception&)
  {
    return; // they stay and do no harm
  }
}

void remove_abandoned_of(const std::filesystem::path& target) noexcept
{
  const std::string name = target.filename().string();
  remove_abandoned_in(target.parent_path(),
    [&](const std::string& other)
    { return other == name && temporary_prefix(name).size() == name.size() + 2; });
}

bool is_temporary(const std::string& name)
{
  constexpr std::size_t tail = kRandomDigits + 4;
  return name.size() > tail + 2 && name[0] == '.' && name[name.size() - tail - 1] == '.' &&
    name.find_first_not_of("0123456789abcdef", name.size() - tail) == name.size() - 4 &&
    name.compare(name.size() - 4, 4, kTemporarySuffix) == 0;
}

namespace
{
// Returns the permissions of the file that will be replaced, if it exists. Error messages use the
// caller's name of the file, `target`.
std::optional<std::filesystem::perms> check_existing(
  const std::filesystem::path& file, const std::filesystem::path& target)
{
  struct stat status;
  if (::stat(file.c_str(), &status) == 0)
  {
    if (!S_ISREG(status.st_mode))
    {
      fail(ErrorCode::CannotOpen, target.string(), "is not a regular file and cannot be replaced");
    }
    // Renaming over it would succeed, so the protection of the file must be checked.
    if ((status.st_mode & 0222) == 0 || ::access(file.c_str(), W_OK) != 0)
    {
      fail(ErrorCode::CannotOpen, target.string(), "is read-only and was not replaced");
    }
    return static_cast<std::filesystem::perms>(status.st_mode & 07777);
  }
  if (errno != ENOENT && errno != ENOTDIR) // both are for the folder's message below
  {
    fail(ErrorCode::CannotOpen, target.string(),
      fmt::format("cannot be written: {}", std::strerror(errno)));
  }
  return std::nullopt;
}
}

AtomicFile::AtomicFile(
  const std::filesystem::path& target, std::optional<std::filesystem::perms> permissions)
  : target_(follow_links(target))
{
  if (this->target_.filename().empty())
  {
    throw Error(ErrorCode::CannotOpen,
      target.empty() ? std::string("the path of the file to write is empty")
                     : fmt::format("{}: is not a file name", target.string()));
  }
  if (is_address(target.string()))
  {
    refuse(safe_name(target.string()), "is an address; files can be written only to paths");
  }
  if (const auto existing = check_existing(this->target_, target))
  {
    permissions = existing;
  }
  std::random_device random;
  for (int attempt = 0; attempt != 16 && this->descriptor_ < 0; ++attempt)
  {
    std::filesystem::path name = this->target_;
    name.replace_filename(fmt::format("{}{:08x}{}",
      temporary_prefix(this->target_.filename().string()), random(), kTemporarySuffix));
    this->temporary_ = name.string();
    this->descriptor_ =
      ::open(this->temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (this->descriptor_ < 0 && errno != EEXIST)
    {
      break;
    }
    if (this->descriptor_ >= 0 && !this->hold())
    {
      ::close(this->descriptor_);
      this->descriptor_ = -1;
      errno = EEXIST;
    }
  }
  if (this->descriptor_ < 0)
  {
    const int error = errno;
    fail(code_of_write(error, ErrorCode::CannotOpen), target.string(),
      fmt::format("cannot create a file in '{}': {}",
        this->target_.has_parent_path() ? this->target_.parent_path().string() : ".",
        std::strerror(error)));
  }
  if (permissions)
  {
    (void)::fchmod(this->descriptor_, static_cast<mode_t>(*permissions));
  }
}

AtomicFile::~AtomicFile()
{
  if (this->descriptor_ >= 0)
  {
    ::close(this->descriptor_);
    ::unlink(this->temporary_.c_str());
  }
}

// Marks the temporary as one with a live writer. Returns false if remove_if_abandoned() came first.
bool AtomicFile::hold()
{
  struct stat status;
  return (::flock(this->descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
    ::fstat(this->descriptor_, &status) == 0 && status.st_nlink != 0;
}

void AtomicFile::write(std::uint64_t offset, const void* data, std::size_t bytes)
{
  io::write(this->descriptor_, this->target_, offset, data, bytes);
}

void AtomicFile::begin_flush(std::uint64_t offset, std::uint64_t bytes) noexcept
{
#ifdef SYNC_FILE_RANGE_WRITE
  (void)::sync_file_range(this->descriptor_, static_cast<off_t>(offset), static_cast<off_t>(bytes),
    SYNC_FILE_RANGE_WRITE);
#else
  (void)offset;
  (void)bytes;
#endif
}

void AtomicFile::commit(bool flush)
{
  if (flush && ::fsync(this->descriptor_) != 0)
  {
    fail_write(this->target_, "cannot flush to disk", errno);
  }
  if (::rename(this->temporary_.c_str(), this->target_.c_str()) != 0)
  {
    fail_write(this->target_, "cannot rename the finished file into place", errno);
  }
  ::close(this->descriptor_);
  this->descriptor_ = -1;
  if (flush)
  {
    flush_folder(this->target_.parent_path());
  }
}

PartOfFile::PartOfFile(const std::string& temporary, std::filesystem::path target)
  : target_(std::move(target))
  , descriptor_(::open(temporary.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW))
{
  if (this->descriptor_ < 0)
  {
    fail(ErrorCode::CannotOpen, this->target_.string(),
      fmt::format(
        "cannot open '{}', created by another process: {}", temporary, std::strerror(errno)));
  }
}

PartOfFile::~PartOfFile()
{
  if (this->descriptor_ >= 0)
  {
    ::close(this->descriptor_);
  }
}

void PartOfFile::write(std::uint64_t offset, const void* data, std::size_t bytes)
{
  io::write(this->descriptor_, this->target_, offset, data, bytes);
}

void PartOfFile::flush()
{
  if (::fsync(this->descriptor_) != 0)
  {
    fail_write(this->target_, "cannot flush to disk", errno);
  }
}

void flush_folder(const std::filesystem::path& folder) noexcept
{
  const int directory =
    ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0)
  {
    (void)::fsync(directory);
    ::close(directory);
  }
}
}
