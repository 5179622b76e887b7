// SPDX-License-Identifier: BSD-3-Clause
#include "common/io/remote/address.hpp"

#include "common/fail.hpp"
#include "common/io/remote/ascii.hpp"
#include "common/io/remote/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace bat::io
{
namespace
{
constexpr std::string_view kSeparator = "://";
/// Characters that a path or query may contain without an escape.
constexpr std::string_view kPathCharacters = "/:@!$&'()*+,;=";
constexpr std::string_view kQueryCharacters = "/:@!$&'()*+,;=?";

struct SchemeName
{
  std::string_view name;
  Address::Scheme scheme;
  std::uint16_t port;
};
constexpr std::array<SchemeName, 4> kSchemes{ { { "http", Address::Scheme::Http, 80 },
  { "https", Address::Scheme::Https, 443 }, { "s3", Address::Scheme::S3, 443 },
  { "reader", Address::Scheme::Reader, 0 } } };

const SchemeName& find_scheme(Address::Scheme scheme)
{
  return *std::find_if(kSchemes.begin(), kSchemes.end(),
    [&](const SchemeName& known) { return known.scheme == scheme; });
}

bool is_alphanumeric(char c)
{
  const char lower = to_lower(c);
  return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9');
}

int hex_value(char c)
{
  const char lower = to_lower(c);
  if (lower >= '0' && lower <= '9')
  {
    return lower - '0';
  }
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool is_escape(std::string_view text, std::size_t at)
{
  return text[at] == '%' && text.size() - at > 2 && hex_value(text[at + 1]) >= 0 &&
    hex_value(text[at + 2]) >= 0;
}

const SchemeName* match_scheme(std::string_view text)
{
  for (const SchemeName& known : kSchemes)
  {
    const std::size_t length = known.name.size();
    if (text.size() >= length + kSeparator.size() &&
      text.substr(length, kSeparator.size()) == kSeparator &&
      std::equal(known.name.begin(), known.name.end(), text.begin(),
        [](char a, char b) { return a == to_lower(b); }))
    {
      return &known;
    }
  }
  return nullptr;
}

// Encodes what is not allowed and keeps existing escapes.
std::string repair_escapes(std::string_view text, std::string_view allowed)
{
  std::string repaired;
  for (std::size_t i = 0; i != text.size(); ++i)
  {
    repaired +=
      is_escape(text, i) ? std::string(1, '%') : percent_encode(text.substr(i, 1), allowed);
  }
  return repaired;
}

bool is_host(std::string_view host)
{
  const bool is_ipv6 = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (is_ipv6)
  {
    host = host.substr(1, host.size() - 2);
    return std::all_of(
      host.begin(), host.end(), [](char c) { return hex_value(c) >= 0 || c == ':' || c == '.'; });
  }
  return !host.empty() &&
    std::all_of(host.begin(), host.end(),
      [](char c) { return is_alphanumeric(c) || c == '-' || c == '.' || c == '_'; });
}

std::uint16_t parse_port(std::string_view text, const std::string& shown)
{
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0)
  {
    refuse(shown, "the port is invalid; allowed: 1 to 65535");
  }
  return port;
}

void check_segment(std::string_view segment, std::string_view leaf, const std::string& top)
{
  const auto is_bad = [](char c)
  { return c == '\\' || static_cast<unsigned char>(c) < 32 || c == 127; };
  if (segment.empty() || segment == "." || segment == ".." ||
    std::any_of(segment.begin(), segment.end(), is_bad))
  {
    refuse(top,
      fmt::format(
        "the file name '{}' is not allowed; files must be in the folder of {} or below it", leaf,
        top));
  }
}
}

Address parse_address(std::string_view text)
{
  const std::string shown = safe_name(text);
  const SchemeName* const scheme = match_scheme(text);
  if (!scheme)
  {
    refuse(shown, "is not a supported address; allowed: http://, https:// and s3://");
  }
  Address address;
  address.scheme = scheme->scheme;
  text.remove_prefix(scheme->name.size() + kSeparator.size());

  const bool is_s3 = address.scheme == Address::Scheme::S3;
  const std::size_t end = std::min(text.find_first_of(is_s3 ? "/" : "/?#"), text.size());
  std::string_view authority = text.substr(0, end);
  text.remove_prefix(end);
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos && !is_s3)
  {
    address.user_info = repair_escapes(authority.substr(0, at), "!$&'()*+,;=:");
    authority.remove_prefix(at + 1);
  }
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket))
  {
    address.port = parse_port(authority.substr(colon + 1), shown);
    authority = authority.substr(0, colon);
  }
  address.host = is_s3 ? std::string(authority) : lower_case(authority);
  if (!is_host(address.host))
  {
    refuse(shown,
      fmt::format("'{}' is not a valid {}", address.host, is_s3 ? "bucket name" : "host name"));
  }
  if (is_s3)
  {
    address.path = percent_encode(text, "/");
    if (address.path.size() < 2 || address.port != 0)
    {
      refuse(shown, "is not the address of a file; the form is s3://BUCKET/KEY");
    }
    return address;
  }
  text = text.substr(0, text.find('#'));
  if (const std::size_t query = text.find('?'); query != std::string_view::npos)
  {
    address.query = repair_escapes(text.substr(query + 1), kQueryCharacters);
    text = text.substr(0, query);
  }
  address.path = text.empty() ? "/" : repair_escapes(text, kPathCharacters);
  return address;
}

std::string format_address(const Address& address)
{
  std::string text = std::string(find_scheme(address.scheme).name) + std::string(kSeparator);
  if (!address.user_info.empty())
  {
    text += address.user_info + "@";
  }
  text += address.host;
  if (address.port != 0)
  {
    text += fmt::format(":{}", address.port);
  }
  text += address.scheme == Address::Scheme::S3 ? percent_decode(address.path) : address.path;
  if (!address.query.empty())
  {
    text += "?" + address.query;
  }
  return text;
}

std::string safe_name(const Address& address)
{
  if (address.scheme == Address::Scheme::Reader)
  {
    return shown_beginning(address.host) + percent_decode(address.path.substr(1));
  }
  Address shown = address;
  shown.user_info.clear();
  shown.query.clear();
  return format_address(shown);
}

std::string safe_name(std::string_view text)
{
  const std::size_t separator = text.find(kSeparator);
  const std::size_t begin = separator == std::string_view::npos ? 0 : separator + kSeparator.size();
  const std::string scheme(text.substr(0, begin));
  text.remove_prefix(begin);
  if (lower_case(scheme) == "s3://")
  {
    return scheme + std::string(text);
  }
  const std::size_t end = std::min(text.find_first_of("/?#"), text.size());
  if (lower_case(scheme) == "reader://")
  {
    const std::string_view path = text.substr(std::min(end + 1, text.size()));
    return shown_beginning(text.substr(0, end)) + percent_decode(path.substr(0, path.find('?')));
  }
  std::string_view authority = text.substr(0, end);
  const bool has_user = authority.find('@') != std::string_view::npos;
  if (!has_user && authority.find(':') != std::string_view::npos &&
    text.find('@') != std::string_view::npos)
  {
    return scheme + "..."; // what follows ':' may be a password with a slash
  }
  authority.remove_prefix(has_user ? authority.rfind('@') + 1 : 0);
  const std::string_view rest = text.substr(end);
  const std::size_t query = std::min(rest.find_first_of("?#"), rest.size());
  const bool has_query = query != rest.size() && rest[query] == '?';
  return scheme + std::string(authority) + std::string(rest.substr(0, query)) +
    (has_query ? "?..." : "");
}

std::string origin_of(const Address& address)
{
  const SchemeName& scheme = find_scheme(address.scheme);
  return fmt::format(
    "{}://{}:{}", scheme.name, address.host, address.port != 0 ? address.port : scheme.port);
}

Address resolve_leaf(const Address& top, std::string_view leaf)
{
  const std::string name = safe_name(top);
  Address resolved = top;
  resolved.path = top.path.substr(0, top.path.rfind('/') + 1);
  for (std::string_view rest = leaf;;)
  {
    const std::size_t slash = rest.find('/');
    const std::string_view segment = rest.substr(0, slash);
    check_segment(segment, leaf, name);
    resolved.path += percent_encode(segment);
    if (slash == std::string_view::npos)
    {
      return resolved;
    }
    resolved.path += '/';
    rest.remove_prefix(slash + 1);
  }
}

std::string resolve_leaf(const std::string& top, std::string_view leaf)
{
  return format_address(resolve_leaf(parse_address(top), leaf));
}

std::filesystem::path path_beside(const std::filesystem::path& path, const std::string& name)
{
  const std::string text = path.string();
  if (is_address(text))
  {
    return resolve_leaf(text, name);
  }
  // A local file must not name an address; without a folder, the name alone would be one.
  return (path.has_parent_path() || !is_address(name) ? path.parent_path() : ".") / name;
}

void for_each_parameter(std::string_view query,
  const std::function<void(std::string_view, std::string_view, std::string_view)>& function)
{
  while (!query.empty())
  {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(part.size() + 1, query.size()));
    const std::size_t equals = std::min(part.find('='), part.size());
    function(part.substr(0, equals), part.substr(std::min(equals + 1, part.size())), part);
  }
}

std::string percent_encode(std::string_view text, std::string_view keep)
{
  std::string encoded;
  for (const char c : text)
  {
    if (is_alphanumeric(c) || std::string_view("-._~").find(c) != std::string_view::npos ||
      keep.find(c) != std::string_view::npos)
    {
      encoded += c;
    }
    else
    {
      encoded += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return encoded;
}

std::string percent_decode(std::string_view text)
{
  std::string decoded;
  for (std::size_t i = 0; i != text.size(); ++i)
  {
    if (is_escape(text, i))
    {
      decoded += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
      i += 2;
    }
    else
    {
      decoded += text[i];
    }
  }
  return decoded;
}
}

namespace bat
{
bool is_address(std::string_view text) noexcept
{
  return io::match_scheme(text) != nullptr;
}

std::string display_name(const std::filesystem::path& path)
{
  return is_address(path.string()) ? io::safe_name(path.string()) : path.string();
}

std::string file_name(const std::filesystem::path& path)
{
  const std::string text = path.string();
  if (!is_address(text))
  {
    return path.filename().string();
  }
  const io::Address address = io::parse_address(text);
  std::string name = io::percent_decode(std::filesystem::path(address.path).filename().string());
  if (name == "mod_visus")
  {
    io::for_each_parameter(address.query,
      [&](std::string_view parameter, std::string_view value, std::string_view)
      {
        if (parameter == "dataset" && !value.empty())
        {
          name = std::filesystem::path(io::percent_decode(value)).filename().string() + ".idx";
        }
      });
  }
  return name;
}

std::string find_secret(const std::filesystem::path& path)
{
  constexpr std::array<std::string_view, 11> kSecrets{ "~auth_password", "signature", "sig",
    "token", "access_token", "key", "api_key", "apikey", "secret_key", "password", "auth" };
  if (!is_address(path.string()))
  {
    return {};
  }
  const io::Address address = io::parse_address(path.string());
  if (!address.user_info.empty())
  {
    return "user and password";
  }
  std::string secret;
  io::for_each_parameter(address.query,
    [&](std::string_view name, std::string_view value, std::string_view)
    {
      const std::string lower = io::lower_case(name);
      const bool is_known = lower.rfind("x-amz-", 0) == 0 || lower.rfind("x-goog-", 0) == 0 ||
        std::find(kSecrets.begin(), kSecrets.end(), lower) != kSecrets.end();
      if (secret.empty() && is_known && !value.empty() && value != "any")
      {
        secret = lower;
      }
    });
  return secret;
}
}
