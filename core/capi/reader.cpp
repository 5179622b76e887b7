// SPDX-License-Identifier: BSD-3-Clause
// Implements files that the program reads.

#include "bat/address.hpp"
#include "bat/bat.h"
#include "bat/remote_reader.hpp"

#include "capi/status.hpp"

#include <algorithm>
#include <cstring>
#include <string>

struct bat_reader
{
  bat::RemoteReader reader;
};

namespace
{
using bat::Error;
using bat::ErrorCode;

template <std::size_t N>
std::string text_in(const char (&text)[N])
{
  return { text, std::find(text, text + N, '\0') };
}

bat::RemoteAnswer read_part(bat_reader_read read, void* data, const std::string& path,
  const bat::RemotePart& part, std::byte* to)
{
  bat_reader_answer answer{};
  const int status = read(data, path.c_str(),
    part.is_from_end ? -1 : static_cast<std::int64_t>(part.first), part.count, to, &answer);
  const std::string message = text_in(answer.message);
  switch (status)
  {
    case BAT_OK:
      break;
    case BAT_READER_RETRY:
      throw bat::PassingError(ErrorCode::CannotOpen, message);
    case BAT_NOT_FOUND:
      throw Error(ErrorCode::NotFound, message);
    default:
      throw Error(ErrorCode::CannotOpen, message);
  }
  if (answer.bytes > part.count)
  {
    bat::capi::refuse("a bat_reader_read returned " + std::to_string(answer.bytes) +
      " bytes; requested: " + std::to_string(part.count));
  }
  return { static_cast<std::size_t>(answer.bytes), answer.size, text_in(answer.version) };
}
}

int bat_reader_create(bat_reader_read read, void* data, const char* shown, bat_reader** out)
{
  using namespace bat::capi;
  return guard(
    [&]
    {
      bat_reader*& reader = need(out, "result pointer");
      reader = nullptr;
      if (!read)
      {
        refuse("read is NULL; it must be a function");
      }
      reader = new bat_reader{ bat::RemoteReader(
        [read, data](const std::string& path, const bat::RemotePart& part, std::byte* to)
        { return read_part(read, data, path, part, to); },
        need_text(shown, "shown")) };
    });
}

const char* bat_reader_address(const bat_reader* reader)
{
  return reader ? reader->reader.address().c_str() : "";
}

void bat_reader_free(bat_reader* reader)
{
  delete reader;
}

int bat_has_libcurl(void)
{
  return bat::can_read_addresses() ? 1 : 0;
}
