// bat_validate FILE...: checks every checksum and every rule of the format, and says the first
// thing that is wrong. Exit status 0: all files are sound; 1: one is not.

#include "bat/bat.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>

int main(int argc, char** argv)
{
  CLI::App app("Checks every checksum and every structural rule of .bat files.", "bat_validate");
  app.set_version_flag("--version", std::string("bat_validate ") + bat::kLibraryVersion);
  std::vector<std::string> paths;
  app.add_option("FILE", paths, "a .bat file")->required();
  CLI11_PARSE(app, argc, argv);
  int status = 0;
  for (const std::string& path : paths)
  {
    try
    {
      const bat::Dataset file = bat::Dataset::open(path);
      bat::validate(file);
      fmt::print("{}: sound, {} particles\n", path, file.particle_count());
    }
    catch (const std::exception& e)
    {
      fmt::print(stderr, "bat_validate: {}\n", e.what());
      status = 1;
    }
  }
  return status;
}
