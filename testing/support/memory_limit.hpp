// SPDX-License-Identifier: BSD-3-Clause
// A memory limit for this process, as set by a batch system.
#pragma once

#include <cstdint>
#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

/// During its lifetime, the process may have at most `bytes` more of address space than now.
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
