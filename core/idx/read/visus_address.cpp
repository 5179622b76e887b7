// SPDX-License-Identifier: BSD-3-Clause
#include "idx/read/visus_address.hpp"

#include "common/fail.hpp"
#include "common/io/remote/address.hpp"

#include <string>
#include <string_view>

namespace bat::idx
{
namespace
{
// Returns whether a part of a query, NAME=VALUE, is for OpenVisus's client.
bool is_setting(std::string_view name, std::string_view value, const std::string& shown)
{
  if (name == "access_key" || name == "secret_key")
  {
    if (!value.empty() && value != "any")
    {
      refuse(shown,
        "has keys in its query, where logs and state files would show them; set AWS_ACCESS_KEY_ID, "
        "AWS_SECRET_ACCESS_KEY and AWS_ENDPOINT_URL, and use an s3:// address");
    }
    return true;
  }
  return name == "cached" || name == "compression" || name == "cache_compression" ||
    name == "endpoint_url";
}

std::string remove_settings(std::string_view query, const std::string& shown)
{
  std::string kept;
  io::for_each_parameter(query,
    [&](std::string_view name, std::string_view value, std::string_view part)
    {
      if (!is_setting(name, value, shown))
      {
        kept += (kept.empty() ? "" : "&") + std::string(part);
      }
    });
  return kept;
}
}

std::filesystem::path to_file_address(const std::filesystem::path& path)
{
  const std::string text = path.string();
  if (!is_address(text))
  {
    return path;
  }
  const std::string shown = io::safe_name(text);
  const std::size_t question = text.find('?');
  const std::string before = text.substr(0, question);
  if (before.size() >= 9 && before.compare(before.size() - 9, 9, "mod_visus") == 0)
  {
    refuse(shown,
      "is a mod_visus server, which answers queries instead of serving files; give the address of "
      "the .idx file");
  }
  const std::string query =
    question == std::string::npos ? "" : remove_settings(text.substr(question + 1), shown);
  return query.empty() ? before : before + "?" + query;
}
}
