// Exceptions end here: every call of the C API becomes a status and a text.
#pragma once

#include "bat/bat.h"
#include "bat/error.hpp"

#include <exception>
#include <new>
#include <string>

namespace bat::capi
{
/// Keeps the text for bat_last_error() and returns `status`. Never throws.
int fail(int status, const char* text) noexcept;
/// "" if nothing has failed on this thread.
[[nodiscard]] const char* last_error() noexcept;

[[nodiscard]] inline int status_of(ErrorCode code) noexcept
{
  return static_cast<int>(code) + 1;
}

/// Calls f; what it throws becomes a status.
template <class F>
int guard(F&& f) noexcept
{
  try
  {
    f();
    return BAT_OK;
  }
  catch (const Error& e)
  {
    return fail(status_of(e.code()), e.what());
  }
  catch (const std::bad_alloc&)
  {
    return fail(BAT_OUT_OF_MEMORY, "out of memory");
  }
  catch (const std::length_error&)
  {
    return fail(BAT_OUT_OF_MEMORY, "out of memory");
  }
  catch (const std::exception& e)
  {
    return fail(BAT_INVALID_ARGUMENT, e.what());
  }
  catch (...)
  {
    return fail(BAT_INVALID_ARGUMENT, "unknown error");
  }
}

[[noreturn]] void refuse(const std::string& text);

/// Throws Error{InvalidArgument} if `pointer` is null.
template <class T>
T& need(T* pointer, const char* what)
{
  if (!pointer)
  {
    refuse(std::string(what) + " is NULL");
  }
  return *pointer;
}
[[nodiscard]] std::string need_text(const char* text, const char* what);
}
