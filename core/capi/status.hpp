// SPDX-License-Identifier: BSD-3-Clause
// Converts exceptions: every function of the C API returns a status and keeps a text.
#pragma once

#include "bat/bat.h"
#include "bat/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace bat::capi
{
/// Keeps the text for bat_last_error() and returns `status`. Never throws.
int fail(int status, const char* text) noexcept;
/// "" if nothing has failed on this thread.
[[nodiscard]] const char* last_error() noexcept;

[[nodiscard]] constexpr int status_of(ErrorCode code) noexcept
{
  // Two values are in the wrong order.
  return code == ErrorCode::OutOfMemory ? BAT_OUT_OF_MEMORY
    : code == ErrorCode::Cancelled      ? BAT_CANCELLED
                                        : static_cast<int>(code) + 1;
}
static_assert(status_of(ErrorCode::NotFound) == BAT_NOT_FOUND);
static_assert(status_of(ErrorCode::InvalidArgument) == BAT_INVALID_ARGUMENT);

/// Returns the error code of a status other than BAT_OK.
[[nodiscard]] constexpr ErrorCode code_of(int status) noexcept
{
  return status == BAT_OUT_OF_MEMORY ? ErrorCode::OutOfMemory
    : status == BAT_CANCELLED        ? ErrorCode::Cancelled
                                     : static_cast<ErrorCode>(status - 1);
}
static_assert(status_of(code_of(BAT_NO_SPACE)) == BAT_NO_SPACE);
static_assert(status_of(ErrorCode::Internal) == BAT_INTERNAL);

/// Records an error as the other fail() does; BAT_OK for none.
int fail(const std::optional<Error>& error) noexcept;

/// Calls f and converts what it throws to a status.
template <class F>
int guard(F&& f) noexcept
{
  return fail(attempt(std::forward<F>(f)));
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

/// Checks a count or a number of bytes that a caller passed. Negative numbers would become huge
/// unsigned ones; they are refused, and the message has the number as passed.
std::uint64_t need_size(std::uint64_t value, const std::string& what);
/// Throws Error{InvalidArgument} unless 0 <= value <= most.
std::int64_t need_at_most(std::int64_t value, std::int64_t maximum, const std::string& what);
}
