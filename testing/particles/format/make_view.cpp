// SPDX-License-Identifier: BSD-3-Clause
// make_view FILE COUNT...: writes the HDF5 view of a top file whose leaf files have these numbers
// of particles, without the rest of the file.

#include "particles/format/hdf5.hpp"
#include "particles/format/hdf5_view.hpp"

#include <cstdio>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace format = bat::format;

int main(int argc, char** argv)
{
  if (argc < 3)
  {
    std::fputs("usage: make_view FILE COUNT...\n", stderr);
    return 2;
  }
  constexpr std::uint64_t kOffset = 560;
  format::TopViewFacts facts;
  facts.leaf_bytes = std::numeric_limits<std::uint64_t>::max();
  facts.objects_offset = kOffset;
  for (int i = 2; i != argc; ++i)
  {
    facts.leaf_names.push_back(std::to_string(i - 2) + ".bat");
    facts.particles.push_back(std::stoull(argv[i]));
  }
  const std::optional<format::Hdf5Objects> view = format::top_objects(facts);
  if (!view)
  {
    std::fputs("make_view: too large\n", stderr);
    return 1;
  }
  std::vector<std::byte> bytes(format::kSuperblockOffset);
  for (const auto& part :
    { format::hdf5_superblock(*view, kOffset + view->bytes.size()), view->bytes })
  {
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  std::ofstream file(argv[1], std::ios::binary);
  file.write(
    reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return file ? 0 : 1;
}
