// SPDX-License-Identifier: BSD-3-Clause
// A full disk for whom none can be mounted.
#pragma once

#include <csignal>
#include <sys/resource.h>

/// Cuts files of this process short at `bytes`, as a full disk would.
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
