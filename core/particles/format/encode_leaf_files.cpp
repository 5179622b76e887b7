// SPDX-License-Identifier: BSD-3-Clause
// Encodes LEAF_FILES.

#include "particles/format/encode.hpp"
#include "particles/format/encode_parts.hpp"

namespace bat::format
{
std::vector<std::byte> leaf_files_bytes(const LeafFiles& files)
{
  std::vector<std::byte> bytes;
  const LeafFilesHead head{ static_cast<std::uint32_t>(files.leaves.size()), 0 };
  append(bytes, &head, sizeof(head));
  append(bytes, files.leaves.data(), files.leaves.size() * sizeof(LeafRecord));
  append(bytes, files.keys.data(), files.keys.size() * sizeof(LeafKeyRecord));
  for (const std::string& name : files.names)
  {
    append(bytes, name.data(), name.size());
  }
  return bytes;
}
}
