// SPDX-License-Identifier: BSD-3-Clause
// Addresses as users of OpenVisus write them.
#pragma once

#include <filesystem>

namespace bat::idx
{
/// Returns the address of the file on its server: without the settings that OpenVisus's client puts
/// into the query (cached, compression, endpoint_url, and the placeholders "any" for keys). Any
/// other path is returned unchanged. Throws Error{InvalidArgument} for keys in the query, and for
/// mod_visus servers, which have no files.
[[nodiscard]] std::filesystem::path to_file_address(const std::filesystem::path& path);
}
