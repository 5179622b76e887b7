// SPDX-License-Identifier: BSD-3-Clause
// Addresses as users of OpenVisus write them.
#pragma once

#include "bat/idx/header.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace bat::idx
{
/// What an address names, without the settings for OpenVisus's client in its query.
struct VisusAddress
{
  /// The path or address of the .idx text. A mod_visus server answers it with the text.
  std::filesystem::path file;
  std::string name;                ///< for messages, without secrets
  bool is_server = false;          ///< a mod_visus server, which answers queries and has no files
  std::string compression = "zip"; ///< in which a server packs blocks: zip, lz4 or raw
  /// Folder in which OpenVisus's client keeps copies of blocks, relative to the folder of its
  /// cache, and the stem of the text in it. Empty without cached=arco.
  std::filesystem::path cache_folder;
  std::string cache_stem;
  Codec cache_codec = Codec::Zip; ///< of the copies
};

/// Parses a path or an address. The settings are cached, cache_compression, compression,
/// endpoint_url, and "any" as a placeholder for keys. Throws Error{InvalidArgument} for keys in the
/// query, and for mod_visus servers without the name of a dataset.
[[nodiscard]] VisusAddress parse_visus_address(const std::filesystem::path& path);
}
