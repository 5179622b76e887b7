// SPDX-License-Identifier: BSD-3-Clause
// Simulates a full disk where none can be mounted.
#pragma once

#include <csignal>
#include <sys/resource.h>

/// Truncates files of this process at `bytes`, like a full disk.
class FileSizeLimit
{
public:
  explicit FileSizeLimit(rlim_t bytes)
    : handler_(std::signal(SIGXFSZ, SIG_IGN))
  {
    ::getrlimit(RLIMIT_FSIZE, &this->before_);
    rlimit limit = this->before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit()
  {
    ::setrlimit(RLIMIT_FSIZE, &this->before_);
    std::signal(SIGXFSZ, this->handler_);
  }

private:
  rlimit before_{};
  void (*handler_)(int);
};
