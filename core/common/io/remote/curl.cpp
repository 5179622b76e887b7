// SPDX-License-Identifier: BSD-3-Clause
#include "common/io/remote/curl.hpp"

#include "bat/address.hpp"
#include "bat/error.hpp"

#include <fmt/format.h>

#ifdef BAT_CURL_AT_RUN_TIME
#include <dlfcn.h>
#define BAT_CURL(name) find<decltype(Curl::name)>(library, "curl_" #name)
#else
#define BAT_CURL(name) &::curl_##name
#endif

namespace bat::io
{
namespace
{
/// The first version that signs requests to S3.
constexpr unsigned kMinVersion = 0x074b00;
constexpr const char* kRemedy =
  "install libcurl 7.75 or later (Debian: libcurl4; Fedora: libcurl), or download the file";

#ifdef BAT_CURL_AT_RUN_TIME
// The same library with other names: of Debian without OpenSSL, and of conda and others.
constexpr const char* kLibraries[] = { "libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.so" };

void* open_library()
{
  for (const char* const name : kLibraries)
  {
    if (void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL))
    {
      return library;
    }
  }
  throw Error(
    ErrorCode::CannotOpen, fmt::format("there is no libcurl on this system; {}", kRemedy));
}

template <class Function>
Function find(void* library, const char* name)
{
  void* const found = ::dlsym(library, name);
  if (!found)
  {
    throw Error(ErrorCode::CannotOpen,
      fmt::format("the libcurl on this system has no function {}; {}", name, kRemedy));
  }
  return reinterpret_cast<Function>(found);
}
#endif

Curl load()
{
#ifdef BAT_CURL_AT_RUN_TIME
  void* const library = open_library(); // never closed: its threads and handlers may be in use
#endif
  const Curl curl{ BAT_CURL(easy_cleanup), BAT_CURL(easy_getinfo), BAT_CURL(easy_init),
    BAT_CURL(easy_reset), BAT_CURL(easy_setopt), BAT_CURL(easy_strerror), BAT_CURL(getdate),
    BAT_CURL(global_init), BAT_CURL(multi_add_handle), BAT_CURL(multi_info_read),
    BAT_CURL(multi_init), BAT_CURL(multi_perform), BAT_CURL(multi_poll),
    BAT_CURL(multi_remove_handle), BAT_CURL(multi_setopt), BAT_CURL(multi_wakeup),
    BAT_CURL(slist_append), BAT_CURL(slist_free_all), BAT_CURL(version_info) };
  const curl_version_info_data* const version = curl.version_info(CURLVERSION_FIRST);
  if (version->version_num < kMinVersion)
  {
    throw Error(ErrorCode::CannotOpen,
      fmt::format("the libcurl on this system is {}; {}", version->version, kRemedy));
  }
  return curl;
}
}

const Curl& curl()
{
  static const Curl functions = load(); // tried again after an error
  return functions;
}
}

bool bat::can_read_addresses() noexcept
{
  return !attempt([] { (void)io::curl(); });
}
