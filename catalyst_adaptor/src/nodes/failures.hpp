// SPDX-License-Identifier: BSD-3-Clause
// Collects the errors of independent tasks, so that one does not prevent the others.
#pragma once

#include "bat/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace bat::catalyst
{
class Failures
{
public:
  /// Keeps the Error that `f` throws.
  template <class F>
  void attempt(F&& f)
  {
    try
    {
      f();
    }
    catch (const Error& e)
    {
      this->code_ = this->texts_.empty() ? e.code() : this->code_;
      this->texts_.emplace_back(e.what());
    }
  }
  /// Throws an Error with all texts and the first code.
  void throw_if_any() const
  {
    if (!this->texts_.empty())
    {
      throw Error(this->code_, fmt::format("{}", fmt::join(this->texts_, "; ")));
    }
  }

private:
  ErrorCode code_ = ErrorCode::InvalidArgument;
  std::vector<std::string> texts_;
};
}
