// SPDX-License-Identifier: BSD-3-Clause
// The write options in any language: one struct that is passed on whole, and one table of
// their names, defaults and allowed values, from which every language and options file sets
// them.
#pragma once

#include "bat/plan.hpp"
#include "bat/routing.hpp"
#include "bat/types.hpp"
#include "bat/writer.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace bat
{
/// All write options, for one process or many.
struct WriteOptions : PlanRules
{
  BuildOptions build; ///< for each leaf file
  Routing routing;    ///< for messages between ranks
  /// RankBorder and Aug only: the box that this rank declares as its own, by which ranks are
  /// grouped into leaf files; by default the box of its particles, which may also lie outside. Not
  /// in the table, because each rank has its own.
  std::optional<Box> local_bounds;
};

/// The number of an enumerator, for options whose values are words.
struct EnumNumber
{
  std::int64_t number = 0;
};
/// A value that has not been checked against its option yet.
using OptionValue =
  std::variant<bool, std::int64_t, double, std::string, EnumNumber, std::vector<std::string>>;

struct OptionInfo
{
  std::string name;     ///< e.g. "target_bytes"
  std::string type;     ///< "flag", "whole number", "number", "word", "list of strings"
  OptionValue standard; ///< the default; of words the text
  std::string allowed;  ///< as in messages, e.g. "a whole number from 0 to 2147483647"
};
/// All options, in the order of the table.
[[nodiscard]] const std::vector<OptionInfo>& option_table();
/// Returns a JSON array of objects with name, type, default and allowed.
[[nodiscard]] const std::string& option_table_json();
[[nodiscard]] bool is_option(const std::string& name);

/// Sets the option `name`. Flags also take the numbers 0 and 1. `shown_as` replaces its name in
/// messages. Throws Error{InvalidArgument}, and changes nothing, if no such option exists, or
/// "threads is -1; a whole number from 0 to 2147483647 is allowed".
void set_option(WriteOptions& options, const std::string& name, const OptionValue& value,
  const std::string& shown_as = {});
/// The same for a text. If the option is a list, the text is added to it.
void add_to_option(WriteOptions& options, const std::string& name, const std::string& text);
/// Words are returned as text. Throws Error{InvalidArgument} if no such option exists.
[[nodiscard]] OptionValue get_option(const WriteOptions& options, const std::string& name);
/// Returns a JSON object with all options of the table; equal for equal options.
[[nodiscard]] std::string to_json(const WriteOptions& options);
/// Throws as set_option unless all options of the table have allowed values.
void check_options(const WriteOptions& options);
}
