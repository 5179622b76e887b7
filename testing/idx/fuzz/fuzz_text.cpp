// SPDX-License-Identifier: BSD-3-Clause
// Takes arbitrary bytes as the text of an .idx file, which is rejected or read; if it is read, the
// text written for it means the same.

#include "bat/error.hpp"
#include "bat/idx/dataset.hpp"
#include "bat/idx/header.hpp"
#include "idx/format/geometry.hpp"
#include "idx/format/names.hpp"
#include "idx/format/order.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace
{
void check_name(const std::string& name)
{
  if (name.empty() || name.front() == '/' || ("/" + name + "/").find("/../") != std::string::npos)
  {
    throw std::logic_error("the name of a file leads out of the folder: " + name);
  }
}

void check(const std::string& text)
{
  const bat::idx::Header header = bat::idx::parse_header(text, "fuzz.idx");
  // "-0" only loses its sign, the first time.
  const std::string own = bat::idx::to_text(header);
  if (own.size() < 1 << 20)
  {
    const std::string second = bat::idx::to_text(bat::idx::parse_header(own, "own.idx"));
    if (bat::idx::to_text(bat::idx::parse_header(second, "second.idx")) != second)
    {
      throw std::logic_error("the text of a header reads as another header:\n" + second);
    }
  }
  (void)bat::idx::format::compute_geometry(header);
  const bat::idx::format::Order order(header);
  const bat::idx::format::FileNames names(header, "fuzz");
  for (const std::uint64_t block : { std::uint64_t{ 0 }, order.block_count() - 1 })
  {
    const std::uint64_t file = bat::idx::format::place_of_block(header, block).file;
    check_name(
      header.arco != 0 ? names.arco_file(7, header.fields[0].name, file) : names.file(7, file));
  }
  for (int level = 0; level <= order.levels(); ++level)
  {
    const bat::idx::Lattice lattice = order.lattice(level, header.box);
    std::uint64_t blocks = 0;
    for (int l = order.bits_per_block(); l <= level; ++l)
    {
      blocks += order.blocks_with(order.blocks_of_level(l), lattice).count();
    }
    if (blocks > order.block_count())
    {
      throw std::logic_error("a level has more blocks than there are");
    }
  }
}
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  try
  {
    check({ reinterpret_cast<const char*>(data), size });
  }
  catch (const bat::Error&)
  {
  }
  return 0;
}
