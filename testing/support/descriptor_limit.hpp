// SPDX-License-Identifier: BSD-3-Clause
// A soft limit on descriptors, for this process and its children.
#pragma once

#include <stdexcept>
#include <sys/resource.h>

/// Applies during its lifetime.
class DescriptorLimit
{
public:
  explicit DescriptorLimit(rlim_t maximum)
  {
    ::getrlimit(RLIMIT_NOFILE, &this->before_);
    const rlimit limit{ maximum, this->before_.rlim_max };
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0)
    {
      throw std::runtime_error("the limit on descriptors cannot be set");
    }
  }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;
  ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &this->before_); }

private:
  rlimit before_{};
};
