// SPDX-License-Identifier: BSD-3-Clause
// Takes arbitrary bytes as a file: opens, describes, reads everything, validates; if the file is
// valid, compares the results of a few queries with a scan of every particle.

#include "support/damage.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  (void)damage::ask({ bytes, bytes + size });
  return 0;
}
