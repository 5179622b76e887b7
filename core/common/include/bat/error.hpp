// SPDX-License-Identifier: BSD-3-Clause
// The one exception type of the library, and the translation of all others to it.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace bat
{
/// What went wrong, for programs that branch on it; the text of the exception is for people.
enum class ErrorCode
{
  NotFound,           ///< the file does not exist
  CannotOpen,         ///< it exists but is a directory, unreadable, or its folder is not writable
  NotABatFile,        ///< it does not have the requested format
  UnsupportedVersion, ///< a newer format version or a required feature that is not implemented
  Truncated,          ///< the file ends before what it promises
  Corrupt,            ///< a checksum or a rule of FORMAT.md is violated
  WriteFailed,        ///< the operating system refused a write
  NoSpace,            ///< disk full or quota exceeded
  InvalidArgument,    ///< a query, option or input array that cannot be honoured
  Cancelled,          ///< the caller's progress function asked to stop
  OutOfMemory,        ///< an allocation failed
  Internal            ///< a fault of this library: a bug
};

/// Every function of the library that fails throws it. The text names the file, the thing, what was
/// found and what is allowed; only the two ends of texts over 4,000 bytes are kept. After a throw
/// the objects involved are as they were before the call.
class Error : public std::runtime_error
{
public:
  Error(ErrorCode code, const std::string& what)
    : std::runtime_error(readable(what))
    , code_(code)
  {
  }
  [[nodiscard]] ErrorCode code() const noexcept { return this->code_; }

private:
  /// Removes zero bytes, at which what() would end, and shortens the text, because a name of
  /// megabytes would bury the fault.
  static std::string readable(const std::string& text);

  ErrorCode code_;
};

/// Translates the exception being handled to an Error, whatever its type. No other code does so.
/// For use in a catch block.
[[nodiscard]] Error current_error() noexcept;

/// Calls f and returns what it throws.
template <class F>
[[nodiscard]] std::optional<Error> attempt(F&& f) noexcept
{
  try
  {
    std::forward<F>(f)();
    return std::nullopt;
  }
  catch (...)
  {
    return current_error();
  }
}
}
