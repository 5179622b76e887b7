// SPDX-License-Identifier: BSD-3-Clause
// A limit of what this process may have, as of a batch system.
#pragma once

#include <cstdint>
#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

/// While it lives, the process may have `bytes` of addresses more than now.
class MemoryLimit
{
public:
  explicit MemoryLimit(std::uint64_t bytes)
  {
    ::getrlimit(RLIMIT_AS, &this->before_);
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit limit = this->before_;
    limit.rlim_cur = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + bytes;
    ::setrlimit(RLIMIT_AS, &limit);
  }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
  ~MemoryLimit() { ::setrlimit(RLIMIT_AS, &this->before_); }

private:
  rlimit before_{};
};
