// SPDX-License-Identifier: BSD-3-Clause
#include "common/io/remote/stop.hpp"

#include "common/fail.hpp"

#include <utility>

namespace bat::io
{
namespace
{
thread_local ScopedStop* innermost = nullptr;
}

ScopedStop::ScopedStop(std::function<bool()> is_stopped)
  : is_stopped_(std::move(is_stopped))
  , outer_(std::exchange(innermost, this))
{
}

ScopedStop::~ScopedStop()
{
  innermost = this->outer_;
}

bool ScopedStop::exists() noexcept
{
  return innermost != nullptr;
}

bool ScopedStop::is_requested()
{
  for (const ScopedStop* stop = innermost; stop; stop = stop->outer_)
  {
    if (stop->is_stopped_ && call_user(stop->is_stopped_))
    {
      return true;
    }
  }
  return false;
}
}
