// SPDX-License-Identifier: BSD-3-Clause
// Functions that throw errors.
#pragma once

#include "bat/error.hpp"

#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <utility>

namespace bat
{
/// Throws Error{code}: "SUBJECT: WHAT". The subject is a file, or an option.
[[noreturn]] void fail(ErrorCode code, const std::string& subject, const std::string& what);

/// Throws Error{InvalidArgument}.
[[noreturn]] void refuse(const std::string& text);
/// Throws Error{InvalidArgument}: "SUBJECT: WHAT".
[[noreturn]] void refuse(const std::string& subject, const std::string& what);

/// Throws Error{Corrupt}: "FILE: WHAT".
[[noreturn]] void corrupt(const std::string& file, const std::string& what);

/// Returns NoSpace if `error`, an errno, means that a disk or a quota is full, else `otherwise`.
[[nodiscard]] ErrorCode code_of_write(int error, ErrorCode otherwise) noexcept;

/// Calls a function set by the library's user, such as `progress`. What it throws is not a fault of
/// the library: exceptions that attempt() does not know become Error{InvalidArgument} with their
/// text.
template <class F>
decltype(auto) call_user(F&& f)
{
  try
  {
    return std::forward<F>(f)();
  }
  catch (const Error&)
  {
    throw;
  }
  catch (const std::bad_alloc&)
  {
    throw;
  }
  catch (const std::system_error&)
  {
    throw;
  }
  catch (const std::exception& e)
  {
    refuse(e.what());
  }
  catch (...)
  {
    refuse("a function set by the user threw an unknown exception");
  }
}
}
