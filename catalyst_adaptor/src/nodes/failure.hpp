// SPDX-License-Identifier: BSD-3-Clause
// An error with the status that the Catalyst calls return for it.
#pragma once

#include "bat/error.hpp"

#include <string>

namespace bat::catalyst
{
class Failure : public Error
{
public:
  /// `status`: one of bat/catalyst_bat.h.
  Failure(int status, ErrorCode code, const std::string& what)
    : Error(code, what)
    , status_(status)
  {
  }
  [[nodiscard]] int status() const noexcept { return this->status_; }

private:
  int status_;
};

/// Converts the exception that is being handled. `status` is for an invalid argument: the other
/// codes have their own statuses.
[[nodiscard]] Failure current_failure(int status);
}
