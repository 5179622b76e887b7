// SPDX-License-Identifier: BSD-3-Clause
#include "common/io/scratch_file.hpp"

#include "bat/error.hpp"
#include "common/fail.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace bat::io
{
namespace
{
constexpr std::size_t kMaxBytesPerCall = std::size_t{ 1 }
  << 30; // Linux moves at most 2 GiB per call

[[noreturn]] void fail(ErrorCode code, const std::string& name, const char* what, int error)
{
  bat::fail(code_of_write(error, code), name,
    fmt::format(
      "{} the scratch file: {}", what, error != 0 ? std::strerror(error) : "it ends too early"));
}

int open_nameless(const std::filesystem::path& folder)
{
#ifdef O_TMPFILE
  const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
  if (descriptor >= 0)
  {
    return descriptor;
  }
#endif
  // Not all file systems support unnamed files.
  std::string path = (folder / ".parabat-XXXXXX").string();
  const int named = ::mkostemp(path.data(), O_CLOEXEC);
  if (named >= 0)
  {
    ::unlink(path.c_str());
  }
  return named;
}
}

ScratchFile::ScratchFile(const std::filesystem::path& folder, std::string name)
  : name_(std::move(name))
  , descriptor_(open_nameless(folder.empty() ? "." : folder))
{
  if (this->descriptor_ < 0)
  {
    fail(ErrorCode::CannotOpen, this->name_, "cannot create", errno);
  }
}

ScratchFile::~ScratchFile()
{
  ::close(this->descriptor_);
}

void ScratchFile::write(std::uint64_t offset, const void* data, std::size_t bytes)
{
  const auto* from = static_cast<const char*>(data);
  while (bytes != 0)
  {
    const ssize_t done = ::pwrite(
      this->descriptor_, from, std::min(bytes, kMaxBytesPerCall), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR)
    {
      continue;
    }
    if (done <= 0)
    {
      fail(ErrorCode::WriteFailed, this->name_, "cannot write", done < 0 ? errno : ENOSPC);
    }
    from += done;
    offset += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::size_t>(done);
  }
}

void ScratchFile::read(std::uint64_t offset, void* to, std::size_t bytes) const
{
  auto* out = static_cast<char*>(to);
  while (bytes != 0)
  {
    const ssize_t done = ::pread(
      this->descriptor_, out, std::min(bytes, kMaxBytesPerCall), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR)
    {
      continue;
    }
    if (done <= 0)
    {
      fail(ErrorCode::CannotOpen, this->name_, "cannot read", done < 0 ? errno : 0);
    }
    out += done;
    offset += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::size_t>(done);
  }
}
}
