// SPDX-License-Identifier: BSD-3-Clause
#include "common/io/open_files.hpp"

#include "bat/error.hpp"
#include "common/io/atomic_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <mutex>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

namespace bat::io
{
namespace
{
constexpr std::uint32_t kClosed = 1u << 31;

// The share leaves descriptors for the program that uses the library.
std::size_t max_descriptors()
{
  rlimit limit{};
  const bool known = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return std::clamp<std::size_t>(known ? limit.rlim_cur / 4 : 1024, 8, 1024);
}

int descriptor_of(const Folder* folder) noexcept
{
  return folder ? folder->descriptor() : AT_FDCWD;
}

bool same_time(const timespec& a, const timespec& b)
{
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}
}

/// The files that currently have a descriptor.
class OpenFiles
{
public:
  /// Never destroyed: files may be closed after static destruction.
  static OpenFiles& get()
  {
    static OpenFiles& files = []() -> OpenFiles&
    {
      OpenFiles& made = *new OpenFiles;
      // A child that another thread starts must not inherit a lock that it never releases.
      ::pthread_atfork(
        [] { get().mutex_.lock(); }, [] { get().mutex_.unlock(); }, [] { get().mutex_.unlock(); });
      return made;
    }();
    return files;
  }

  std::size_t count()
  {
    const std::lock_guard<std::mutex> lock(this->mutex_);
    return this->open_.size();
  }

  void add(const OpenFile& file, int descriptor)
  {
    const std::lock_guard<std::mutex> lock(this->mutex_);
    this->insert(file, descriptor);
  }

  void remove(const OpenFile& file)
  {
    const std::lock_guard<std::mutex> lock(this->mutex_);
    const auto found = std::find(this->open_.begin(), this->open_.end(), &file);
    if (found != this->open_.end())
    {
      *found = this->open_.back();
      this->open_.pop_back();
      ::close(file.descriptor_);
    }
  }

  // On return, the file is open and has one more user. The lock is released while the system opens
  // the file.
  void open_again(const OpenFile& file)
  {
    if (this->hold_open(file))
    {
      return; // another thread has opened it
    }
    const int descriptor =
      this->open_path(file.path_, file.absolute_, descriptor_of(file.folder_.get()));
    struct stat now
    {
    };
    const bool known = ::fstat(descriptor, &now) == 0 && S_ISREG(now.st_mode);
    if (known && now.st_size < file.status_.st_size)
    {
      this->close_new(descriptor);
      throw Error(ErrorCode::Truncated,
        fmt::format("{}: the file ends at {}; it had {} bytes when it was opened", file.path_,
          now.st_size, file.status_.st_size));
    }
    // Inode numbers do not help: network file systems give new ones to the same file, and local
    // ones reuse one for a new file.
    if (!known || now.st_size != file.status_.st_size ||
      !same_time(now.st_mtim, file.status_.st_mtim))
    {
      this->close_new(descriptor);
      throw Error(ErrorCode::CannotOpen,
        fmt::format("{}: was replaced or changed after it was opened", file.path_));
    }
    const std::lock_guard<std::mutex> lock(this->mutex_);
    if ((file.state_.fetch_add(1, std::memory_order_acquire) & kClosed) == 0)
    {
      --this->new_; // another thread was faster
      ::close(descriptor);
      return;
    }
    this->insert(file, descriptor);
    file.state_.fetch_and(~kClosed, std::memory_order_release);
  }

  // Opens a descriptor. If necessary, reuses that of an unused file, or waits until another thread
  // returns one. The descriptor is new until it is inserted or closed. Throws Error.
  int open_path(
    const std::string& name, const std::string& path, int folder = AT_FDCWD, int flags = 0)
  {
    constexpr int kMaxTries = 10000; // one millisecond each
    for (int tries = 0;; ++tries)
    {
      const int descriptor = this->try_to_open(path, folder, flags);
      const int error = errno;
      if (descriptor >= 0)
      {
        return descriptor;
      }
      if ((error != EMFILE && error != ENFILE) || tries == kMaxTries)
      {
        throw Error(
          error == ENOENT || error == ENOTDIR ? ErrorCode::NotFound : ErrorCode::CannotOpen,
          fmt::format("{}: cannot open: {}", name, std::strerror(error)));
      }
      if (!this->has_others())
      {
        tries = kMaxTries - 1; // no other file can be closed
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  // The caller keeps the new descriptor in addition to those of files.
  void leave_new()
  {
    const std::lock_guard<std::mutex> lock(this->mutex_);
    --this->new_;
  }

  void close_new(int descriptor)
  {
    const std::lock_guard<std::mutex> lock(this->mutex_);
    --this->new_;
    ::close(descriptor);
  }

  [[nodiscard]] std::uint64_t now() const noexcept
  {
    return this->time_.load(std::memory_order_relaxed);
  }

private:
  bool hold_open(const OpenFile& file)
  {
    const std::lock_guard<std::mutex> lock(this->mutex_);
    if ((file.state_.load(std::memory_order_relaxed) & kClosed) != 0)
    {
      return false;
    }
    file.state_.fetch_add(1, std::memory_order_acquire);
    return true;
  }

  // Returns -1 and sets errno if the system refuses.
  int try_to_open(const std::string& path, int folder, int flags)
  {
    {
      const std::lock_guard<std::mutex> lock(this->mutex_);
      ++this->new_;
      this->open_.reserve(this->open_.size() + this->new_); // inserting must not fail
    }
    for (;;)
    {
      // O_NONBLOCK: opening a named pipe must not wait for a writer.
      const int descriptor =
        ::openat(folder, path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags);
      if (descriptor >= 0)
      {
        return descriptor;
      }
      const int error = errno;
      const std::lock_guard<std::mutex> lock(this->mutex_);
      if ((error != EMFILE && error != ENFILE) || !this->close_one())
      {
        --this->new_;
        errno = error;
        return -1;
      }
    }
  }

  bool has_others()
  {
    const std::lock_guard<std::mutex> lock(this->mutex_);
    return this->new_ != 0 || !this->open_.empty();
  }

  void insert(const OpenFile& file, int descriptor)
  {
    const std::size_t maximum = max_descriptors();
    while (this->open_.size() >= maximum && this->close_one())
    {
    }
    this->time_.fetch_add(1, std::memory_order_relaxed);
    file.descriptor_ = descriptor;
    file.last_use_.store(this->now(), std::memory_order_relaxed);
    this->open_.push_back(&file);
    --this->new_;
  }

  // Closes the least recently used file that is not in use. Returns false if all are in use.
  bool close_one()
  {
    for (;;)
    {
      auto oldest = this->open_.end();
      for (auto file = this->open_.begin(); file != this->open_.end(); ++file)
      {
        if ((*file)->state_.load(std::memory_order_relaxed) == 0 &&
          (oldest == this->open_.end() ||
            (*file)->last_use_.load(std::memory_order_relaxed) <
              (*oldest)->last_use_.load(std::memory_order_relaxed)))
        {
          oldest = file;
        }
      }
      if (oldest == this->open_.end())
      {
        return false;
      }
      std::uint32_t unused = 0;
      if ((*oldest)->state_.compare_exchange_strong(unused, kClosed, std::memory_order_acq_rel))
      {
        ::close((*oldest)->descriptor_);
        *oldest = this->open_.back();
        this->open_.pop_back();
        return true;
      }
    }
  }

  std::mutex mutex_;
  std::vector<const OpenFile*> open_;
  std::size_t new_ = 0;                  ///< descriptors that are on their way into open_
  std::atomic<std::uint64_t> time_{ 0 }; ///< files opened so far: ages are compared in these
};

Folder::Folder(const std::filesystem::path& path)
  : path_(path.empty() ? "." : path.string())
{
  check_path(this->path_);
  std::error_code unknown;
  this->absolute_ = std::filesystem::absolute(this->path_, unknown).string();
  OpenFiles& files = OpenFiles::get();
  this->descriptor_ = files.open_path(this->path_, this->path_, AT_FDCWD, O_DIRECTORY);
  files.leave_new();
  struct stat status
  {
  };
  if (::fstat(this->descriptor_, &status) == 0)
  {
    this->identity_.device = status.st_dev;
    this->identity_.number = status.st_ino;
  }
#if defined(STATX_BTIME) &&                                                                        \
  defined(SYS_statx) // C libraries before glibc 2.28 have no function for it
  struct statx more
  {
  };
  if (::syscall(SYS_statx, this->descriptor_, "", AT_EMPTY_PATH, STATX_BTIME, &more) == 0 &&
    (more.stx_mask & STATX_BTIME) != 0)
  {
    this->identity_.made_s = more.stx_btime.tv_sec;
    this->identity_.made_ns = more.stx_btime.tv_nsec;
  }
#endif
}

Folder::~Folder()
{
  ::close(this->descriptor_);
}

bool Folder::has(const std::string& name) const noexcept
{
  return ::faccessat(this->descriptor_, name.c_str(), F_OK, 0) == 0;
}

bool Folder::is_as_opened() const noexcept
{
  struct stat now
  {
  };
  return ::stat(this->absolute_.c_str(), &now) == 0 && now.st_dev == this->identity_.device &&
    now.st_ino == this->identity_.number;
}

OpenFile::OpenFile(std::string path)
  : path_(std::move(path))
  , state_(0)
{
  if (this->path_.empty())
  {
    throw Error(ErrorCode::NotFound, "the path of the file to open is empty");
  }
  check_path(this->path_);
  std::error_code unknown;
  this->absolute_ = std::filesystem::absolute(this->path_, unknown).string();
  this->open();
}

OpenFile::OpenFile(std::shared_ptr<const Folder> folder, std::string name)
  : path_((std::filesystem::path(folder->path()) / name).string())
  , absolute_(std::move(name))
  , folder_(std::move(folder))
  , state_(0)
{
  check_path(this->path_);
  this->open();
}

void OpenFile::open()
{
  OpenFiles& files = OpenFiles::get();
  const int descriptor = files.open_path(
    this->path_, this->folder_ ? this->absolute_ : this->path_, descriptor_of(this->folder_.get()));
  if (::fstat(descriptor, &this->status_) != 0 || !S_ISREG(this->status_.st_mode))
  {
    const bool folder = S_ISDIR(this->status_.st_mode);
    files.close_new(descriptor);
    throw Error(ErrorCode::CannotOpen,
      fmt::format(
        "{}: is {}; a regular file is required", this->path_, folder ? "a directory" : "no file"));
  }
  files.add(*this, descriptor);
}

OpenFile::~OpenFile()
{
  OpenFiles::get().remove(*this);
}

OpenFile::Use OpenFile::use() const
{
  OpenFiles& files = OpenFiles::get();
  if ((this->state_.fetch_add(1, std::memory_order_acquire) & kClosed) != 0)
  {
    this->state_.fetch_sub(1, std::memory_order_relaxed);
    files.open_again(*this);
  }
  const std::uint64_t now = files.now();
  if (this->last_use_.load(std::memory_order_relaxed) != now)
  {
    this->last_use_.store(now, std::memory_order_relaxed);
  }
  return Use(*this);
}

bool OpenFile::is_as_opened() const noexcept
{
  struct stat now
  {
  };
  return ::fstatat(descriptor_of(this->folder_.get()), this->absolute_.c_str(), &now, 0) == 0 &&
    now.st_dev == this->status_.st_dev && now.st_ino == this->status_.st_ino &&
    now.st_size == this->status_.st_size && same_time(now.st_mtim, this->status_.st_mtim) &&
    same_time(now.st_ctim, this->status_.st_ctim); // no program can set this time back
}

std::optional<std::uint64_t> OpenFile::length_now() const
{
  struct stat now
  {
  };
  const bool is_open = (this->state_.fetch_add(1, std::memory_order_acquire) & kClosed) == 0;
  const bool known = is_open && ::fstat(this->descriptor_, &now) == 0;
  this->state_.fetch_sub(1, std::memory_order_release);
  if (known)
  {
    return static_cast<std::uint64_t>(now.st_size);
  }
  const bool same =
    ::fstatat(descriptor_of(this->folder_.get()), this->absolute_.c_str(), &now, 0) == 0 &&
    now.st_dev == this->status_.st_dev && now.st_ino == this->status_.st_ino;
  return same ? std::optional(static_cast<std::uint64_t>(now.st_size)) : std::nullopt;
}

std::size_t open_descriptors()
{
  return OpenFiles::get().count();
}
}
