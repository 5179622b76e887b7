// SPDX-License-Identifier: BSD-3-Clause
#include "common/io/append_file.hpp"

#include "bat/error.hpp"
#include "common/fail.hpp"
#include "common/io/atomic_file.hpp"
#include "common/io/write_at.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bat::io
{
namespace
{
[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what, int error)
{
  bat::fail(code_of_write(error, ErrorCode::WriteFailed), path.string(),
    fmt::format("{}: {}", what, std::strerror(error)));
}
}

AppendFile::AppendFile(const std::filesystem::path& path)
  : path_(path)
{
  check_path(path);
  this->descriptor_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  struct stat status;
  const auto refuse = [&](ErrorCode code, const std::string& what)
  {
    if (this->descriptor_ >= 0)
    {
      ::close(this->descriptor_);
    }
    bat::fail(code, path.string(), what);
  };
  if (this->descriptor_ < 0)
  {
    refuse(errno == ENOENT ? ErrorCode::NotFound : ErrorCode::CannotOpen,
      fmt::format("cannot be opened for writing: {}", std::strerror(errno)));
  }
  if (::fstat(this->descriptor_, &status) != 0 || !S_ISREG(status.st_mode))
  {
    refuse(ErrorCode::CannotOpen, "is not a regular file");
  }
  if (::flock(this->descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
  {
    refuse(ErrorCode::CannotOpen, "another writer has it open");
  }
}

AppendFile::~AppendFile()
{
  ::close(this->descriptor_);
}

void AppendFile::write(std::uint64_t offset, const void* data, std::size_t bytes)
{
  write_at(this->descriptor_, offset, data, bytes,
    [&](std::size_t left, std::uint64_t at, int error)
    { fail(this->path_, fmt::format("cannot write {} bytes at offset {}", left, at), error); });
}

void AppendFile::flush()
{
  if (::fdatasync(this->descriptor_) != 0)
  {
    fail(this->path_, "cannot flush to disk", errno);
  }
}

void AppendFile::cut(std::uint64_t bytes)
{
  if (::ftruncate(this->descriptor_, static_cast<off_t>(bytes)) != 0)
  {
    fail(this->path_, fmt::format("cannot truncate to {} bytes", bytes), errno);
  }
}
}
