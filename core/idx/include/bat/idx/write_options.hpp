// SPDX-License-Identifier: BSD-3-Clause
// The write options by name: one table, from which every language sets them.
#pragma once

#include "bat/idx/write.hpp"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace bat::idx
{
/// Flags are given as 0 and 1.
using OptionValue = std::variant<std::int64_t, double, std::string>;

struct OptionInfo
{
  std::string name;     ///< "codec"
  std::string type;     ///< "flag", "whole number", "number", "word"
  std::string standard; ///< default value, as JSON
  std::string allowed;  ///< as it appears in messages: "one of raw, zip, lz4"
};
/// All options of WriteOptions except progress, in the order of the table.
[[nodiscard]] const std::vector<OptionInfo>& option_table();
/// Returns one JSON array of objects with name, type, default and allowed.
[[nodiscard]] const std::string& option_table_json();

/// Throws Error{InvalidArgument}, and changes nothing, if the option does not exist or the value is
/// not allowed: "zip_level is 10; a whole number from 1 to 9 is allowed".
void set_option(WriteOptions& options, const std::string& name, const OptionValue& value);
}
