// SPDX-License-Identifier: BSD-3-Clause
// make_golden FOLDER: writes the golden files that come from the C++ writer.

#include "particles/golden/golden_clouds.hpp"
#include "support/dataset_files.hpp"

#include <cstdio>
#include <filesystem>

int main(int argc, char** argv)
{
  if (argc != 2)
  {
    std::fputs("usage: make_golden FOLDER\n", stderr);
    return 2;
  }
  for (const golden::Case& c : golden::cases())
  {
    const std::filesystem::path path = std::filesystem::path(argv[1]) / (c.name + ".bat");
    const bat::WriteReport report = bat::write_file(path, c.view, c.options);
    std::printf("%s: %llu bytes, %llu treelets\n", path.c_str(),
      static_cast<unsigned long long>(report.file_bytes),
      static_cast<unsigned long long>(report.treelets));
  }
  for (const golden::DatasetCase& dataset : golden::dataset_cases())
  {
    dataset_files::write(
      std::filesystem::path(argv[1]) / (dataset.name + ".bat"), dataset.views, dataset.options);
  }
  return 0;
}
