// SPDX-License-Identifier: BSD-3-Clause
// Paths of files that may be addresses: http://, https:// or s3://, or those of a RemoteReader.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace bat
{
/// Returns whether a text begins with http://, https://, s3:// or reader://, in any case.
[[nodiscard]] bool is_address(std::string_view text) noexcept;

/// Returns whether http, https and s3 addresses can be read, that is, whether libcurl is available.
[[nodiscard]] bool can_read_addresses() noexcept;

/// Returns a path for messages: an address without user, password and query, which may be secrets;
/// any other path unchanged.
[[nodiscard]] std::string display_name(const std::filesystem::path& path);

/// Returns which kind of secret an address contains: "user and password", or the name of a
/// parameter of its query. Empty if it contains none, and for paths.
[[nodiscard]] std::string find_secret(const std::filesystem::path& path);

/// Returns the file name at the end of a path, or of an address without its query. A dataset of a
/// mod_visus server (http://HOST/mod_visus?dataset=NAME) is called NAME.idx.
[[nodiscard]] std::string file_name(const std::filesystem::path& path);
}
