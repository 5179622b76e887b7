// SPDX-License-Identifier: BSD-3-Clause
#include "idx/write/step_folder.hpp"

#include "bat/error.hpp"
#include "common/fail.hpp"
#include "common/io/atomic_file.hpp"
#include "common/io/random_access_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace bat::idx
{
namespace
{
[[noreturn]] void fail(const std::filesystem::path& folder, const char* what, int error)
{
  const bool denied = error == EACCES || error == EPERM || error == EROFS || error == ENOTDIR ||
    error == ENOENT || error == EEXIST;
  bat::fail(code_of_write(error, denied ? ErrorCode::CannotOpen : ErrorCode::WriteFailed),
    folder.string(), fmt::format("{}: {}", what, std::strerror(error)));
}

int open_folder(const std::filesystem::path& folder)
{
  return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

// Exchanges two existing folders in one file system. Returns false, and sets errno, if that fails.
bool exchange(const std::filesystem::path& a, const std::filesystem::path& b)
{
#ifdef RENAME_EXCHANGE
  if (::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0)
  {
    return true;
  }
  if (errno != EINVAL && errno != ENOSYS)
  {
    return false;
  }
#endif
  // For file systems without an exchange: for a moment, `b` does not exist. The folder moved aside
  // is removed like leftovers of killed writers.
  std::string aside = a.string();
  char& digit = aside[aside.size() - sizeof(".tmp")];
  digit = digit == '0' ? '1' : '0';
  if (::rename(b.c_str(), aside.c_str()) != 0)
  {
    return false;
  }
  if (::rename(a.c_str(), b.c_str()) != 0)
  {
    const int error = errno;
    ::rename(aside.c_str(), b.c_str());
    errno = error;
    return false;
  }
  return ::rename(aside.c_str(), a.c_str()) == 0;
}
}

void remove_abandoned(const std::filesystem::path& folder,
  const std::function<bool(const std::string& name)>& is_requested) noexcept
{
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
  {
    const std::filesystem::path path = entry->path();
    if (!is_requested(path.filename().string()))
    {
      continue;
    }
    const int descriptor = open_folder(path);
    if (descriptor >= 0 && ::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
    if (descriptor >= 0)
    {
      ::close(descriptor);
    }
  }
}

void remove_abandoned(const std::filesystem::path& folder, const std::string& target) noexcept
{
  remove_abandoned(
    folder, [&](const std::string& name) { return io::is_temporary_of(name, target); });
}

StepFolder::StepFolder(std::filesystem::path target)
  : target_(std::move(target))
{
  try
  {
    this->make_parents();
    const std::filesystem::path parent = this->target_.parent_path();
    remove_abandoned(parent, this->target_.filename().string());
    std::random_device random;
    for (int attempt = 0; attempt != 16; ++attempt)
    {
      // Names that io::is_temporary_of() recognizes.
      this->temporary_ =
        parent / fmt::format(".{}.{:08x}.tmp", this->target_.filename().string(), random());
      if (::mkdir(this->temporary_.c_str(), 0777) == 0)
      {
        this->descriptor_ = open_folder(this->temporary_);
        if (this->descriptor_ >= 0)
        {
          (void)::flock(this->descriptor_, LOCK_EX | LOCK_NB);
          return;
        }
      }
      if (errno != EEXIST)
      {
        break;
      }
    }
    fail(parent, "cannot create a folder in it", errno);
  }
  catch (...)
  {
    this->remove_made();
    throw;
  }
}

void StepFolder::make_parents()
{
  std::vector<std::filesystem::path> missing;
  for (std::filesystem::path folder = this->target_.parent_path(); !folder.empty();
       folder = folder.parent_path())
  {
    struct stat status;
    if (::stat(folder.c_str(), &status) == 0)
    {
      if (!S_ISDIR(status.st_mode))
      {
        fail(folder, "is not a folder", ENOTDIR);
      }
      break;
    }
    missing.push_back(folder);
  }
  std::reverse(missing.begin(), missing.end());
  for (const std::filesystem::path& folder : missing)
  {
    if (::mkdir(folder.c_str(), 0777) == 0)
    {
      this->made_.push_back(folder);
    }
    else if (errno != EEXIST)
    {
      fail(folder, "cannot be created", errno);
    }
  }
}

void StepFolder::commit(bool flush)
{
  if (flush)
  {
    io::flush_folder(this->temporary_);
  }
  struct stat status;
  const bool is_there = ::lstat(this->target_.c_str(), &status) == 0;
  if (is_there ? !exchange(this->temporary_, this->target_)
               : ::rename(this->temporary_.c_str(), this->target_.c_str()) != 0)
  {
    fail(this->target_, "cannot be renamed into place; the previous dataset is unchanged", errno);
  }
  this->committed_ = true;
  this->exchanged_ = is_there;
  if (flush)
  {
    io::flush_folder(this->target_.parent_path());
    for (const std::filesystem::path& made : this->made_)
    {
      io::flush_folder(made.parent_path());
    }
  }
}

void StepFolder::keep() noexcept
{
  std::error_code ignored;
  if (this->exchanged_)
  {
    std::filesystem::remove_all(this->temporary_, ignored);
  }
  this->committed_ = false;
  this->made_.clear();
  this->temporary_.clear();
}

void StepFolder::remove_made() noexcept
{
  for (auto folder = this->made_.rbegin(); folder != this->made_.rend(); ++folder)
  {
    ::rmdir(folder->c_str()); // fails if another writer has put something there
  }
}

void StepFolder::restore() noexcept
{
  if (!this->committed_)
  {
    return;
  }
  if (this->exchanged_)
  {
    (void)exchange(this->temporary_, this->target_);
  }
  else
  {
    (void)::rename(this->target_.c_str(), this->temporary_.c_str());
  }
  this->committed_ = false;
}

StepFolder::~StepFolder()
{
  this->restore();
  if (!this->temporary_.empty())
  {
    std::error_code ignored;
    std::filesystem::remove_all(this->temporary_, ignored);
  }
  this->remove_made();
  if (this->descriptor_ >= 0)
  {
    ::close(this->descriptor_);
  }
}

namespace
{
void put_text(const std::filesystem::path& path, const std::string& text, bool flush)
{
  io::AtomicFile file(path);
  file.write(0, text.data(), text.size());
  file.commit(flush);
}

std::string text_at(const std::filesystem::path& path)
{
  const io::RandomAccessFile file(path);
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  file.read(0, text.data(), text.size());
  return text;
}
}

void commit_step(StepFolder& step, const std::filesystem::path& path, const std::string& text,
  const std::string& without, bool flush)
{
  const std::string before = without.empty() ? "" : text_at(path);
  io::AtomicFile file(path);
  file.write(0, text.data(), text.size());
  if (!without.empty())
  {
    put_text(path, without, flush);
  }
  try
  {
    step.commit(flush);
    file.commit(flush);
  }
  catch (...)
  {
    step.restore();
    if (!without.empty())
    {
      (void)attempt([&] { put_text(path, before, flush); });
    }
    throw;
  }
  step.keep();
  // Removes leftovers of writers that were killed just before.
  io::remove_abandoned_of(path);
}
}
