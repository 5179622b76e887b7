// SPDX-License-Identifier: BSD-3-Clause
#include "failure.hpp"

#include "bat/catalyst_bat.h"

namespace bat::catalyst
{
namespace
{
int status_of(ErrorCode code, int of_argument) noexcept
{
  switch (code)
  {
    case ErrorCode::InvalidArgument:
      return of_argument;
    case ErrorCode::NoSpace:
      return CATALYST_BAT_NO_SPACE;
    case ErrorCode::OutOfMemory:
      return CATALYST_BAT_OUT_OF_MEMORY;
    case ErrorCode::CannotOpen:
    case ErrorCode::NotFound:
    case ErrorCode::WriteFailed:
      return CATALYST_BAT_WRITE_FAILED;
    default:
      return CATALYST_BAT_INTERNAL;
  }
}
}

Failure current_failure(int status)
{
  try
  {
    throw;
  }
  catch (const Failure& e)
  {
    return e;
  }
  catch (const Error& e)
  {
    return { status_of(e.code(), status), e.code(), e.what() };
  }
  catch (...)
  {
    const Error error = current_error();
    return { status_of(error.code(), CATALYST_BAT_INTERNAL), error.code(), error.what() };
  }
}
}
