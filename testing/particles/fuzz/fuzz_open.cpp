// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a file: open, describe, read everything, validate; and if the validator is content,
// hold the answers to a few queries against a look at every particle.

#include "support/damage.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  (void)damage::ask({ bytes, bytes + size });
  return 0;
}
