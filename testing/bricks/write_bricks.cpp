// SPDX-License-Identifier: BSD-3-Clause
// Writes each case to FOLDER/NAME.bricks, once packed and once not, and its values to NAME.raw, for
// an independent reader. Usage: write_bricks FOLDER
#include "bricks/brick_cases.hpp"
#include "support/temp_dir.hpp"

#include <cstdio>

int main(int argc, char** argv)
{
  if (argc != 2)
  {
    std::fputs("usage: write_bricks FOLDER\n", stderr);
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  for (const brick_cases::Case& made : brick_cases::all())
  {
    bat::bricks::WriteOptions options;
    bat::bricks::write(folder / (made.name + ".bricks"), made.header, made.values.data(),
      made.values.size(), options);
    options.compress = false;
    bat::bricks::write(folder / (made.name + "_raw.bricks"), made.header, made.values.data(),
      made.values.size(), options);
    write_bytes(folder / (made.name + ".raw"), made.values);
  }
}
