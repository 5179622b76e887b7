// SPDX-License-Identifier: BSD-3-Clause
#include "capi/status.hpp"

#include "bat/version.hpp"

#include <fmt/format.h>

#include <limits>

namespace bat::capi
{
namespace
{
thread_local std::string last_text;
thread_local bool last_text_lost = false;
}

int fail(int status, const char* text) noexcept
{
  try
  {
    last_text = text;
    last_text_lost = false;
  }
  catch (...)
  {
    last_text_lost = true;
  }
  return status;
}

int fail(const std::optional<Error>& error) noexcept
{
  return error ? fail(status_of(error->code()), error->what()) : BAT_OK;
}

const char* last_error() noexcept
{
  return last_text_lost ? "out of memory while storing an error message" : last_text.c_str();
}

void refuse(const std::string& text)
{
  throw Error(ErrorCode::InvalidArgument, text);
}

std::string need_text(const char* text, const char* what)
{
  return &need(text, what);
}

std::uint64_t need_size(std::uint64_t value, const std::string& what)
{
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
  {
    refuse(
      fmt::format("{} is {}; it must not be negative", what, static_cast<std::int64_t>(value)));
  }
  return value;
}

std::int64_t need_at_most(std::int64_t value, std::int64_t maximum, const std::string& what)
{
  if (value < 0 || value > maximum)
  {
    refuse(fmt::format("{} is {}; allowed are 0 to {}", what, value, maximum));
  }
  return value;
}
}

const char* bat_last_error(void)
{
  return bat::capi::last_error();
}

int bat_fail(int status, const char* text)
{
  return bat::capi::fail(status, text ? text : "");
}

const char* bat_status_name(int status)
{
  switch (status)
  {
    case BAT_OK:
      return "ok";
    case BAT_NOT_FOUND:
      return "not found";
    case BAT_CANNOT_OPEN:
      return "cannot open";
    case BAT_NOT_A_BAT_FILE:
      return "not a .bat file";
    case BAT_UNSUPPORTED_VERSION:
      return "unsupported version";
    case BAT_TRUNCATED:
      return "truncated";
    case BAT_CORRUPT:
      return "corrupt";
    case BAT_WRITE_FAILED:
      return "write failed";
    case BAT_NO_SPACE:
      return "no space";
    case BAT_INVALID_ARGUMENT:
      return "invalid argument";
    case BAT_OUT_OF_MEMORY:
      return "out of memory";
    case BAT_CANCELLED:
      return "cancelled";
    case BAT_INTERNAL:
      return "internal error";
    default:
      return "unknown status";
  }
}

const char* bat_version(void)
{
  return bat::kLibraryVersion;
}
