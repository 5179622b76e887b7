// SPDX-License-Identifier: BSD-3-Clause
// The options of a write by their names: one table, from which every language sets them.
#pragma once

#include "bat/idx/write.hpp"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace bat::idx
{
/// Flags are 0 and 1.
using OptionValue = std::variant<std::int64_t, double, std::string>;

struct OptionInfo
{
  std::string name;     ///< "codec"
  std::string type;     ///< "flag", "whole number", "number", "word"
  std::string standard; ///< what holds if nobody sets it, as JSON
  std::string allowed;  ///< as messages say it: "one of raw, zip, lz4"
};
/// All that WriteOptions has but progress, in the order of the table.
[[nodiscard]] const std::vector<OptionInfo>& option_table();
/// One JSON array of objects with name, type, default and allowed.
[[nodiscard]] const std::string& option_table_json();

/// Throws Error{InvalidArgument}, and changes nothing: there is no such option, or "zip_level is
/// 10; a whole number from 1 to 9 is allowed".
void set_option(WriteOptions& options, const std::string& name, const OptionValue& value);
}
