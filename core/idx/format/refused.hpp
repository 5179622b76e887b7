// SPDX-License-Identifier: BSD-3-Clause
// An error in part of the text, before the file and line are known.
#pragma once

#include "bat/error.hpp"

#include <string>
#include <utility>

namespace bat::idx::format
{
struct Refused
{
  explicit Refused(std::string text, ErrorCode kind = ErrorCode::Corrupt)
    : what(std::move(text))
    , code(kind)
  {
  }
  std::string what; ///< found and allowed values
  ErrorCode code;
};
}
