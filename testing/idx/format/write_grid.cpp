// SPDX-License-Identifier: BSD-3-Clause
// Writes an .idx dataset from raw arrays, for comparison with other readers. usage: write_grid
// FILE.idx NX NY NZ raw|zip|lz4 row|hz|pidx BITS STEP NAME:TYPE:COMPONENTS:RAW...

#include "bat/error.hpp"
#include "bat/idx/write.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace
{
bat::ScalarType type_of(const std::string& name)
{
  for (int i = 1; i <= 10; ++i)
  {
    if (bat::name_of(static_cast<bat::ScalarType>(i)) == name)
    {
      return static_cast<bat::ScalarType>(i);
    }
  }
  std::exit(2);
}
}

int main(int argc, char** argv)
{
  if (argc < 10)
  {
    std::fprintf(stderr, "usage: see the source\n");
    return 2;
  }
  bat::idx::Grid grid;
  bat::idx::WriteOptions options;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    grid.dimensions[axis] = std::atoll(argv[2 + axis]);
  }
  const std::string codec = argv[5];
  const std::string layout = argv[6];
  options.codec = codec == "zip" ? bat::idx::Codec::Zip
    : codec == "lz4"             ? bat::idx::Codec::Lz4
                                 : bat::idx::Codec::Raw;
  options.layout = layout == "row" ? bat::idx::Layout::RowMajor : bat::idx::Layout::HZ;
  options.dialect = layout == "pidx" ? bat::idx::Dialect::PIDX : bat::idx::Dialect::OpenVisus;
  options.bits_per_block = std::atoi(argv[7]);
  options.step = std::atoll(argv[8]);
  options.mode = bat::idx::WriteMode::AddStep;
  options.file_bytes = 100000;
  std::vector<std::string> arrays;
  for (int i = 9; i != argc; ++i)
  {
    std::istringstream words(argv[i]);
    std::string name;
    std::string type;
    std::string components;
    std::string path;
    std::getline(words, name, ':');
    std::getline(words, type, ':');
    std::getline(words, components, ':');
    std::getline(words, path);
    std::ifstream stream(path, std::ios::binary);
    arrays.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    grid.fields.push_back({ name, type_of(type), std::atoi(components.c_str()), nullptr });
  }
  for (std::size_t i = 0; i != arrays.size(); ++i)
  {
    grid.fields[i].values = arrays[i].data();
  }
  try
  {
    bat::idx::write(argv[1], grid, options);
  }
  catch (const bat::Error& error)
  {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
