// SPDX-License-Identifier: BSD-3-Clause
#include "common/fail.hpp"

#include <cerrno>

namespace bat
{
void fail(ErrorCode code, const std::string& subject, const std::string& what)
{
  throw Error(code, subject + ": " + what);
}

void refuse(const std::string& text)
{
  throw Error(ErrorCode::InvalidArgument, text);
}

void refuse(const std::string& subject, const std::string& what)
{
  fail(ErrorCode::InvalidArgument, subject, what);
}

void corrupt(const std::string& file, const std::string& what)
{
  fail(ErrorCode::Corrupt, file, what);
}

ErrorCode code_of_write(int error, ErrorCode otherwise) noexcept
{
  return error == ENOSPC || error == EDQUOT || error == EFBIG ? ErrorCode::NoSpace : otherwise;
}
}
