// SPDX-License-Identifier: BSD-3-Clause
// Where the options of a write are in memory, to send them to other ranks.
#pragma once

#include "bat/write_options.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace bat::write
{
/// One of the two: the bytes of a number, or texts.
struct OptionField
{
  void* bytes = nullptr;
  std::size_t size = 0;
  std::vector<std::string>* texts = nullptr;
};
/// Of all options of the table, in its order.
[[nodiscard]] std::vector<OptionField> option_fields(WriteOptions& options);
}
