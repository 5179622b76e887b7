// SPDX-License-Identifier: BSD-3-Clause
// How errors are thrown.
#pragma once

#include "bat/error.hpp"

#include <string>

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

/// NoSpace if `error`, an errno, says that a disk or a quota is full, else `otherwise`.
[[nodiscard]] ErrorCode code_of_write(int error, ErrorCode otherwise) noexcept;
}
