// SPDX-License-Identifier: BSD-3-Clause
#include "common/io/lock_file.hpp"

#include "bat/error.hpp"
#include "common/fail.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace bat::io
{
namespace
{
/// A clean-up usually holds the file no longer than this.
constexpr int kMaxAttempts = 10;
constexpr std::chrono::milliseconds kBetweenAttempts(20);

bool is_same_file(int descriptor, const std::filesystem::path& path)
{
  struct stat opened;
  struct stat named;
  return ::fstat(descriptor, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
    opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}
}

std::filesystem::path lock_path(const std::filesystem::path& target)
{
  return target.parent_path() / ("." + target.filename().string() + ".lock");
}

LockFile::LockFile(std::filesystem::path path)
  : path_(std::move(path))
{
  for (int attempt = 0; attempt != kMaxAttempts; ++attempt)
  {
    this->state_ = this->try_lock();
    if (this->state_ != State::Taken)
    {
      return;
    }
    std::this_thread::sleep_for(kBetweenAttempts);
  }
}

// Also counts as taken if the file was removed during the wait.
LockFile::State LockFile::try_lock()
{
  constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  this->descriptor_ = ::open(this->path_.c_str(), O_RDWR | O_CREAT | kFlags, 0666);
  if (this->descriptor_ < 0 && errno == EACCES)
  {
    this->descriptor_ = ::open(this->path_.c_str(), O_RDONLY | kFlags); // belongs to another user
  }
  if (this->descriptor_ < 0)
  {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR)
    {
      return State::NoFolder;
    }
    fail(code_of_write(error, ErrorCode::CannotOpen), this->path_.string(),
      fmt::format("cannot be created: {}", std::strerror(error)));
  }
  const bool is_locked = ::flock(this->descriptor_, LOCK_EX | LOCK_NB) == 0;
  if (is_locked && is_same_file(this->descriptor_, this->path_))
  {
    return State::Locked;
  }
  const bool has_locks = is_locked || errno == EWOULDBLOCK || errno == EINTR;
  ::close(this->descriptor_);
  this->descriptor_ = -1;
  if (!has_locks)
  {
    ::unlink(this->path_.c_str());
    return State::Unlocked;
  }
  return State::Taken;
}

LockFile::~LockFile()
{
  if (this->descriptor_ >= 0)
  {
    ::unlink(this->path_.c_str()); // while the lock is held, so that it is still this file
    ::close(this->descriptor_);
  }
}
}
