// SPDX-License-Identifier: BSD-3-Clause
#include "common/io/remote/s3.hpp"

#include "common/fail.hpp"
#include "common/io/remote/ascii.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <sstream>
#include <string_view>

namespace bat::io
{
namespace
{
// Returns the first variable that is set and not empty.
std::string read_first(std::initializer_list<const char*> names)
{
  for (const char* const name : names)
  {
    const char* const value = std::getenv(name);
    if (value && *value)
    {
      return value;
    }
  }
  return {};
}

IniSections read_ini(const char* variable, const char* name)
{
  std::string path = read_first({ variable });
  if (path.empty())
  {
    const std::string home = read_first({ "HOME" });
    if (home.empty())
    {
      return {};
    }
    path = home + "/.aws/" + name;
  }
  std::ifstream file(path);
  return parse_ini(
    std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()));
}

using Profile = std::map<std::string, std::string>;

// Values of the credentials file precede those of the configuration file.
Profile read_profile(const std::string& name)
{
  IniSections credentials = read_ini("AWS_SHARED_CREDENTIALS_FILE", "credentials");
  IniSections configuration = read_ini("AWS_CONFIG_FILE", "config");
  Profile profile = credentials[name];
  profile.merge(configuration[name == "default" ? name : "profile " + name]);
  return profile;
}
}

IniSections parse_ini(const std::string& text)
{
  IniSections sections;
  std::map<std::string, std::string>* current = nullptr;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
  {
    const std::string_view content = trim(line);
    if (content.empty() || content.front() == '#' || content.front() == ';')
    {
      continue;
    }
    if (content.front() == '[')
    {
      const std::size_t end = content.find(']');
      current = end == std::string_view::npos
        ? nullptr
        : &sections[std::string(trim(content.substr(1, end - 1)))];
      continue;
    }
    const std::size_t equal = content.find('=');
    if (current && equal != std::string_view::npos && line.front() != ' ' && line.front() != '\t')
    {
      (*current)[std::string(trim(content.substr(0, equal)))] = trim(content.substr(equal + 1));
    }
  }
  return sections;
}

S3Access read_s3_access()
{
  const std::string chosen = read_first({ "AWS_PROFILE" });
  Profile profile = read_profile(chosen.empty() ? "default" : chosen);
  S3Access access;
  access.endpoint = read_first({ "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL" });
  if (access.endpoint.empty())
  {
    access.endpoint = profile["endpoint_url"];
  }
  const std::string region = read_first({ "AWS_REGION", "AWS_DEFAULT_REGION" });
  if (const std::string& found = region.empty() ? profile["region"] : region; !found.empty())
  {
    access.region = found;
  }
  access.key_id = read_first({ "AWS_ACCESS_KEY_ID" });
  access.secret = read_first({ "AWS_SECRET_ACCESS_KEY" });
  access.token = read_first({ "AWS_SESSION_TOKEN" });
  if (!access.key_id.empty() && !access.secret.empty())
  {
    return access;
  }
  access.key_id = profile["aws_access_key_id"];
  access.secret = profile["aws_secret_access_key"];
  access.token = profile["aws_session_token"];
  if (access.key_id.empty() || access.secret.empty())
  {
    if (!chosen.empty())
    {
      refuse("AWS_PROFILE",
        fmt::format(
          "the profile '{}' has no access keys. Single sign-on and roles are not "
          "supported; set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, "
          "as printed by 'aws configure export-credentials --format env'",
          chosen));
    }
    access.key_id.clear();
  }
  return access;
}

Address find_s3_object(const Address& object, const S3Access& access)
{
  if (!access.endpoint.empty())
  {
    Address found = is_address(access.endpoint) ? parse_address(access.endpoint) : Address();
    if (found.host.empty() || found.scheme == Address::Scheme::S3 ||
      found.scheme == Address::Scheme::Reader)
    {
      refuse("AWS_ENDPOINT_URL",
        fmt::format("'{}' is not an http:// or https:// address",
          safe_name(std::string_view(access.endpoint))));
    }
    found.query.clear();
    found.path.resize(found.path.find_last_not_of('/') + 1);
    found.path += "/" + object.host + object.path;
    return found;
  }
  Address found;
  found.scheme = Address::Scheme::Https;
  const std::string host = fmt::format("s3.{}.amazonaws.com", access.region);
  // The certificate of AWS covers one label before "s3", and host names have no capitals.
  const bool has_virtual_host =
    object.host.find_first_of("._ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string::npos;
  found.host = has_virtual_host ? object.host + "." + host : host;
  found.path = has_virtual_host ? object.path : "/" + object.host + object.path;
  return found;
}
}
