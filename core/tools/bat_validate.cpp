// SPDX-License-Identifier: BSD-3-Clause
// bat_validate FILE...: checks every checksum and every rule of the format, and reports the first
// fault. Exit status 0: all files are valid; 1: one is not; 2: usage.

#include "bat/bat.hpp"
#include "tools/grids.hpp"
#include "tools/program.hpp"

#include <fmt/format.h>

#include <cstdio>

int main(int argc, char** argv)
{
  CLI::App app("Verifies every checksum and every structural rule of .bat, .bricks and .idx files.",
    "bat_validate");
  app.set_version_flag("--version", std::string("bat_validate ") + bat::kLibraryVersion);
  std::vector<std::string> paths;
  bat::tools::add_files(app, paths);
  if (const std::optional<int> status = bat::tools::parse(app, argc, argv))
  {
    return *status;
  }
  return bat::tools::run("bat_validate",
    [&]
    {
      return bat::tools::for_each_file("bat_validate", paths,
        [](const std::string& path)
        {
          if (bat::tools::is_grid(path))
          {
            const std::string checked = bat::tools::validate_grid(path);
            fmt::print("{}: valid, {}\n", bat::printable(path), checked);
            return;
          }
          const bat::Dataset file = bat::Dataset::open(path);
          bat::validate(file);
          fmt::print("{}: valid, {} particles\n", bat::printable(path), file.particle_count());
        });
    });
}
