#include "io/open_files.hpp"

#include "bat/error.hpp"
#include "io/atomic_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <mutex>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace bat::io
{
namespace
{
constexpr std::uint32_t kClosed = 1u << 31;

// The share leaves room for the program that uses the library.
std::size_t most_descriptors()
{
  rlimit limit{};
  const bool known = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return std::clamp<std::size_t>(known ? limit.rlim_cur / 4 : 1024, 8, 1024);
}

bool same_time(const timespec& a, const timespec& b)
{
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}
}

/// Those that have a descriptor.
class OpenFiles
{
public:
  /// Never destroyed: files may be closed after it would be.
  static OpenFiles& get()
  {
    static OpenFiles& files = *new OpenFiles;
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

  // Ends with the file open and one user more. Not under the lock while the system opens it.
  void open_again(const OpenFile& file)
  {
    if (this->hold_open(file))
    {
      return; // by another thread
    }
    const int descriptor = this->open_path(file.path_, file.absolute_);
    struct stat now
    {
    };
    const bool known = ::fstat(descriptor, &now) == 0 && S_ISREG(now.st_mode);
    // What is shorter is known by what is missing. Numbers of files are no help: network file
    // systems give new ones to the same file, and local ones the same to a new file.
    if (!known ||
      (now.st_size >= file.status_.st_size &&
        (now.st_size != file.status_.st_size || !same_time(now.st_mtim, file.status_.st_mtim))))
    {
      ::close(descriptor);
      throw Error(ErrorCode::CannotOpen,
        fmt::format("{}: has been replaced or changed since it was opened", file.path_));
    }
    const std::lock_guard<std::mutex> lock(this->mutex_);
    if ((file.state_.fetch_add(1, std::memory_order_acquire) & kClosed) == 0)
    {
      ::close(descriptor); // another thread was faster
      return;
    }
    this->insert(file, descriptor);
    file.state_.fetch_and(~kClosed, std::memory_order_release);
  }

  // Opens, if need be with a descriptor of a file that is not in use. Throws Error.
  int open_path(const std::string& name, const std::string& path)
  {
    for (;;)
    {
      // O_NONBLOCK: opening a named pipe must not wait for a writer.
      const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
      if (descriptor >= 0)
      {
        return descriptor;
      }
      const int error = errno;
      const std::lock_guard<std::mutex> lock(this->mutex_);
      if ((error != EMFILE && error != ENFILE) || !this->close_one())
      {
        throw Error(
          error == ENOENT || error == ENOTDIR ? ErrorCode::NotFound : ErrorCode::CannotOpen,
          fmt::format("{}: cannot open: {}", name, std::strerror(error)));
      }
    }
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

  void insert(const OpenFile& file, int descriptor)
  {
    const std::size_t most = most_descriptors();
    while (this->open_.size() >= most && this->close_one())
    {
    }
    this->time_.fetch_add(1, std::memory_order_relaxed);
    file.descriptor_ = descriptor;
    file.last_use_.store(this->now(), std::memory_order_relaxed);
    this->open_.push_back(&file);
  }

  // Of those that are not in use, the one that was used least recently. False if there is none.
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
  std::atomic<std::uint64_t> time_{ 0 }; ///< files opened so far: ages are compared in these
};

OpenFile::OpenFile(std::string path)
  : path_(std::move(path))
  , state_(0)
{
  OpenFiles& files = OpenFiles::get();
  if (this->path_.empty())
  {
    throw Error(ErrorCode::NotFound, "the path of the file to open is empty");
  }
  check_path(this->path_);
  std::error_code unknown;
  this->absolute_ = std::filesystem::absolute(this->path_, unknown).string();
  const int descriptor = files.open_path(this->path_, this->path_);
  if (::fstat(descriptor, &this->status_) != 0 || !S_ISREG(this->status_.st_mode))
  {
    const bool folder = S_ISDIR(this->status_.st_mode);
    ::close(descriptor);
    throw Error(ErrorCode::CannotOpen,
      fmt::format(
        "{}: is {}; a regular file is needed", this->path_, folder ? "a directory" : "no file"));
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

std::size_t open_descriptors()
{
  return OpenFiles::get().count();
}
}
