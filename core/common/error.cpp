// SPDX-License-Identifier: BSD-3-Clause
#include "bat/error.hpp"

#include "bat/text.hpp"

#include <cerrno>
#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <system_error>

namespace bat
{
namespace
{
// Made before memory can run out.
const Error kOutOfMemory(ErrorCode::OutOfMemory, "out of memory");

Error translated()
{
  try
  {
    throw;
  }
  catch (const Error& e)
  {
    return e;
  }
  catch (const std::bad_alloc&)
  {
    return kOutOfMemory;
  }
  catch (const std::length_error&) // thrown by containers: more than the available memory
  {
    return kOutOfMemory;
  }
  catch (const std::system_error& e) // thrown by std::filesystem
  {
    const bool full = e.code() == std::errc::no_space_on_device ||
      e.code() == std::errc::file_too_large ||
      e.code() == std::error_code(EDQUOT, std::generic_category());
    return { full ? ErrorCode::NoSpace : ErrorCode::WriteFailed, e.what() };
  }
  catch (const std::exception& e)
  {
    return { ErrorCode::Internal,
      std::string("internal error: ") + e.what() + "; this is a bug, please report it" };
  }
  catch (...)
  {
    return { ErrorCode::Internal,
      "internal error: an unknown exception was thrown; this is a bug, please report it" };
  }
}
}

Error current_error() noexcept
{
  try
  {
    return translated();
  }
  catch (...)
  {
    return kOutOfMemory; // no memory for the text
  }
}

std::string Error::readable(const std::string& text)
{
  constexpr std::size_t kMaxMessageBytes = 4000;
  constexpr std::size_t kHeadBytes = 2400;
  constexpr std::size_t kTailBytes = 1500;
  const auto is_inside_character = [&](std::size_t at)
  { return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80; };
  std::string cut = text;
  if (text.size() > kMaxMessageBytes)
  {
    std::size_t begin = kHeadBytes;
    std::size_t end = text.size() - kTailBytes;
    for (int i = 0; i != 3 && is_inside_character(begin); ++i) // a character has 4 bytes at most
    {
      --begin;
    }
    for (int i = 0; i != 3 && is_inside_character(end); ++i)
    {
      ++end;
    }
    cut = text.substr(0, begin) + " [" + std::to_string(end - begin) + " bytes omitted] " +
      text.substr(end);
  }
  return printable(cut);
}
}
