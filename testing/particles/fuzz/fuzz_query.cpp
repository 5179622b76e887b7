// SPDX-License-Identifier: BSD-3-Clause
// Takes a file followed by queries as bytes: any file with any query is rejected or gives a result
// of the right shape; a valid file with any valid query gives the result of a scan of every
// particle.

#include "particles/fuzz/fuzz_input.hpp"
#include "support/damage.hpp"

#include <array>

namespace
{
constexpr int kMaxQueries = 8;

void ask(const bat::File& file, fuzz::Choices& choices)
{
  std::vector<bat::Query> answered;
  for (int i = 0; i != kMaxQueries && (i == 0 || !choices.empty()); ++i)
  {
    const bat::Query query = choices.query(file);
    try
    {
      (void)damage::digest_of_query(file, query);
      std::uint64_t visited = 0;
      file.for_each(query, [&](std::uint64_t, const std::array<double, 3>&) { ++visited; });
      if (visited != file.select(query).count)
      {
        throw std::logic_error("for_each visits other particles than select finds");
      }
      answered.push_back(query);
    }
    catch (const bat::Error&)
    {
    }
  }
  bat::validate(file);
  damage::check_against_brute_force(file, answered);
}
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  const std::size_t end = fuzz::file_bytes(data, size);
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  fuzz::Choices choices(data + end, size - end);
  try
  {
    ask(bat::File::from_memory(bat::Bytes(bytes, bytes + end), "fuzz.bat"), choices);
  }
  catch (const bat::Error&)
  {
  }
  return 0;
}
