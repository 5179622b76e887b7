// SPDX-License-Identifier: BSD-3-Clause
// Answers requests of other programs to an .idx dataset in bytes, for comparison with their own
// reading. A line of input is: FIELD STEP LEVEL X0 X1 Y0 Y1 Z0 Z1 COARSE, where COARSE is a level
// to read first and refine, or -1. The answer is a line, "ok NX NY NZ BYTES ABSENT" and the bytes,
// or "error TEXT". The first line of output describes the dataset.

#include "bat/error.hpp"
#include "bat/idx/dataset.hpp"

#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace
{
std::string one_line(std::string text)
{
  for (char& c : text)
  {
    c = c == '\n' ? ' ' : c;
  }
  return text;
}

void describe(const bat::idx::Dataset& dataset)
{
  const bat::idx::Geometry geometry = dataset.geometry();
  std::printf("ok %d", dataset.levels());
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    std::printf(" %lld %lld %.17g %.17g", static_cast<long long>(dataset.box().lower[axis]),
      static_cast<long long>(dataset.box().upper[axis]), geometry.origin[axis],
      geometry.spacing[axis]);
  }
  for (const std::int64_t step : dataset.steps())
  {
    std::printf(" %lld", static_cast<long long>(step));
  }
  std::printf("\n");
}

void answer(const bat::idx::Dataset& dataset, const std::string& line)
{
  std::istringstream words(line);
  bat::idx::Query query;
  bat::idx::LogicalBox box;
  std::string field;
  std::int64_t step = 0;
  int coarse = -1;
  words >> field >> step >> query.level;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    words >> box.lower[axis] >> box.upper[axis];
  }
  words >> coarse;
  query.field = dataset.field_index(field);
  query.step = step;
  query.box = box;
  const std::size_t sample = dataset.fields()[query.field].sample_bytes();
  const auto array_of = [&](int level)
  {
    return std::vector<std::byte>(
      dataset.lattice(level, box).samples() * sample, std::byte{ 0xa5 });
  };
  bat::idx::ReadOptions options;
  std::vector<std::byte> first;
  if (coarse >= 0)
  {
    first = array_of(coarse);
    bat::idx::Query before = query;
    before.level = coarse;
    (void)dataset.read(before, first.data(), first.size());
    options.coarse = bat::idx::CoarseSamples{ coarse, first.data() };
  }
  std::vector<std::byte> values = array_of(query.level);
  const bat::idx::ReadReport report = dataset.read(query, values.data(), values.size(), options);
  const bat::idx::Lattice lattice = dataset.lattice(query.level, box);
  std::printf("ok %lld %lld %lld %zu %llu\n", static_cast<long long>(lattice.count[0]),
    static_cast<long long>(lattice.count[1]), static_cast<long long>(lattice.count[2]),
    values.size(), static_cast<unsigned long long>(report.absent_blocks));
  if (!values.empty()) // empty arrays have no address
  {
    std::fwrite(values.data(), 1, values.size(), stdout);
  }
}
}

int main(int argc, char** argv)
{
  if (argc != 2)
  {
    std::fprintf(stderr, "usage: read_boxes FILE.idx\n");
    return 2;
  }
  try
  {
    const bat::idx::Dataset dataset = bat::idx::Dataset::open(argv[1]);
    describe(dataset);
    std::fflush(stdout);
    for (std::string line; std::getline(std::cin, line);)
    {
      try
      {
        answer(dataset, line);
      }
      catch (const bat::Error& error)
      {
        std::printf("error %s\n", one_line(error.what()).c_str());
      }
      std::fflush(stdout);
    }
  }
  catch (const bat::Error& error)
  {
    std::printf("error %s\n", one_line(error.what()).c_str());
  }
  return 0;
}
