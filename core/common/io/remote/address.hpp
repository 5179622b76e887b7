// SPDX-License-Identifier: BSD-3-Clause
// Addresses of remote files: http://, https:// and s3://, and reader:// for those of a
// RemoteReader.
//
//   https://user:password@host:8080/folder/top.bat?token=secret
//   scheme  user_info     host port path          query
//
// The path of an http address is percent-encoded. The key of an s3 address is not: "%20" in it is
// three characters of the key, as in the AWS command line.
#pragma once

#include "bat/address.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace bat::io
{
struct Address
{
  enum class Scheme
  {
    Http,
    Https,
    S3,
    Reader
  };

  Scheme scheme = Scheme::Https;
  std::string user_info; ///< percent-encoded; a secret
  /// In lower case, IPv6 in brackets. The bucket of an s3 address; the number of a reader.
  std::string host;
  std::uint16_t port = 0; ///< 0: the default of the scheme
  std::string path;       ///< percent-encoded, begins with '/'
  std::string query;      ///< percent-encoded, without '?'; it may be a secret
};

/// Encodes characters that an address must not contain, such as blanks; escapes stay as they are.
/// Removes a fragment ("#..."). Throws Error{InvalidArgument} with a text free of secrets.
[[nodiscard]] Address parse_address(std::string_view text);

/// Returns the inverse of parse_address(), with all secrets.
[[nodiscard]] std::string format_address(const Address& address);

/// Returns the address for messages and keys: without user, password and query.
[[nodiscard]] std::string safe_name(const Address& address);
/// The same for a text, even if it is not a valid address. A query is shown as "?...".
[[nodiscard]] std::string safe_name(std::string_view text);

/// Returns scheme, host and port, for example "https://host:443".
[[nodiscard]] std::string origin_of(const Address& address);

/// Returns the address of a file that the file at `top` names. `leaf` is the name of a file in the
/// folder of `top` or below it, with '/' between segments and without escapes. The result has the
/// host, the user and the query of `top`: tokens are usually valid for a folder, and they reach no
/// other host or folder. A signature for `top` alone makes the server refuse the leaf, as it would
/// refuse a request without a signature.
///
/// Throws Error{InvalidArgument} if the name leaves the folder ("/a", "../a"), or contains empty or
/// "." segments, backslashes or control characters.
[[nodiscard]] Address resolve_leaf(const Address& top, std::string_view leaf);
[[nodiscard]] std::string resolve_leaf(const std::string& top, std::string_view leaf);

/// Returns the path of a file that the file at `path` names relative to its own folder, for both
/// paths and addresses. Throws as resolve_leaf() for an address.
[[nodiscard]] std::filesystem::path path_beside(
  const std::filesystem::path& path, const std::string& name);

/// Calls function(name, value, text of both) for each parameter of a query, in its order.
void for_each_parameter(std::string_view query,
  const std::function<void(std::string_view, std::string_view, std::string_view)>& function);

/// Encodes everything except letters, digits and "-._~", and the characters in `keep`.
[[nodiscard]] std::string percent_encode(std::string_view text, std::string_view keep = {});
/// Decodes escapes; incomplete ones stay as they are.
[[nodiscard]] std::string percent_decode(std::string_view text);
}
