// SPDX-License-Identifier: BSD-3-Clause
// Takes arbitrary bytes as a file of blocks. The first byte selects the kind of dataset; its
// content is read at every level, or rejected, with the same result for one thread and many.

#include "bat/error.hpp"
#include "bat/idx/dataset.hpp"
#include "idx/unit/idx_texts.hpp"
#include "support/temp_dir.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{
const TempDir& folder()
{
  static const TempDir folder;
  return folder;
}

// One block file of 4 blocks each.
const std::vector<bat::idx::Dataset>& datasets()
{
  static const std::vector<bat::idx::Dataset> all = []
  {
    std::vector<bat::idx::Dataset> made;
    int number = 0;
    for (const auto& change : { std::pair{ "version", "6" }, { "version", "6.1" },
           { "version", "5" }, { "version", "1" }, { "arco", "512" } })
    {
      std::string text = idx_text(change.first, change.second);
      for (const auto& [from, to] : { std::pair{ "V012012012012", "V01201201" },
             { "0 9 0 8 0 7", "0 6 0 7 0 3" }, { "float32", "float32 default_compression(zip)" } })
      {
        text.replace(text.find(from), std::string(from).size(), to);
      }
      const std::string name = "n" + std::to_string(number++) + ".idx";
      const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
      write_bytes(folder() / name, { bytes, bytes + text.size() });
      made.push_back(bat::idx::Dataset::open(folder() / name));
    }
    std::filesystem::create_directories(folder() / "x");
    std::filesystem::create_directories(folder() / "n4/0/a/0000/0000/0000");
    return made;
  }();
  return all;
}

std::optional<std::vector<std::byte>> read(
  const bat::idx::Dataset& dataset, std::size_t field, int level, int threads)
{
  std::vector<std::byte> values(
    dataset.lattice(level).samples() * dataset.fields()[field].sample_bytes());
  bat::idx::ReadOptions options;
  options.threads = threads;
  try
  {
    (void)dataset.read({ field, level, {}, {} }, values.data(), values.size(), options);
    return values;
  }
  catch (const bat::Error&)
  {
    return std::nullopt;
  }
}
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  if (size == 0)
  {
    return 0;
  }
  const bat::idx::Dataset& dataset = datasets()[data[0] % datasets().size()];
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const char* const name =
    dataset.header().arco != 0 ? "n4/0/a/0000/0000/0000/0000.bin" : "x/0000.bin";
  write_bytes(folder() / name, { bytes + 1, bytes + size });
  for (std::size_t field = 0; field != dataset.fields().size(); ++field)
  {
    for (const int level : { 0, 6, 7, 8 })
    {
      if (read(dataset, field, level, 1) != read(dataset, field, level, 0))
      {
        throw std::logic_error("threads read otherwise than one");
      }
    }
  }
  return 0;
}
