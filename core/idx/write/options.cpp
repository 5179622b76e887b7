// SPDX-License-Identifier: BSD-3-Clause
// The table of write options: the only place with their names and allowed values.

#include "bat/idx/write_options.hpp"

#include "bat/error.hpp"
#include "bat/nearest_name.hpp"
#include "idx/write/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>

namespace bat::idx
{
namespace
{
constexpr std::int64_t kMaxInt = std::numeric_limits<int>::max();

struct Row
{
  std::string name;
  std::string type;
  std::string standard;
  std::string allowed;
  /// Returns false if the value is not allowed.
  std::function<bool(WriteOptions&, const OptionValue&)> set;
};

template <class T>
Row whole(const char* name, T WriteOptions::*field, std::int64_t lowest, std::int64_t highest)
{
  return { name, "whole number", fmt::format("{}", WriteOptions{}.*field),
    fmt::format("a whole number from {} to {}", lowest, highest),
    [=](WriteOptions& options, const OptionValue& value)
    {
      const auto* number = std::get_if<std::int64_t>(&value);
      if (!number || *number < lowest || *number > highest)
      {
        return false;
      }
      options.*field = static_cast<T>(*number);
      return true;
    } };
}

Row whole_of_routing(const char* name, int Routing::*field, int lowest)
{
  return { name, "whole number", fmt::format("{}", Routing{}.*field),
    fmt::format("a whole number from {} to {}", lowest, kMaxInt),
    [=](WriteOptions& options, const OptionValue& value)
    {
      const auto* number = std::get_if<std::int64_t>(&value);
      if (!number || *number < lowest || *number > kMaxInt)
      {
        return false;
      }
      options.routing.*field = static_cast<int>(*number);
      return true;
    } };
}

Row flag(const char* name, bool WriteOptions::*field)
{
  return { name, "flag", WriteOptions{}.*field ? "true" : "false", "0 or 1 (false or true)",
    [=](WriteOptions& options, const OptionValue& value)
    {
      const auto* number = std::get_if<std::int64_t>(&value);
      if (!number || (*number != 0 && *number != 1))
      {
        return false;
      }
      options.*field = *number != 0;
      return true;
    } };
}

// `words` are in the order of the enumerators.
template <class Get>
Row word(const char* name, const Get& get, const std::vector<std::string>& words)
{
  WriteOptions standard;
  const auto number = static_cast<std::size_t>(get(standard));
  return { name, "word", fmt::format("\"{}\"", words[number]),
    fmt::format("one of {}", fmt::join(words, ", ")),
    [=](WriteOptions& options, const OptionValue& value)
    {
      const auto* text = std::get_if<std::string>(&value);
      const auto found = text ? std::find(words.begin(), words.end(), *text) : words.end();
      if (found == words.end())
      {
        return false;
      }
      auto& field = get(options);
      field = static_cast<std::decay_t<decltype(field)>>(found - words.begin());
      return true;
    } };
}

Row number_of_step()
{
  return { "step", "whole number", "null", fmt::format("a whole number from 0 to {}", kMaxStep),
    [](WriteOptions& options, const OptionValue& value)
    {
      const auto* number = std::get_if<std::int64_t>(&value);
      if (!number || *number < 0 || *number > kMaxStep)
      {
        return false;
      }
      options.step = *number;
      return true;
    } };
}

Row time_of_step()
{
  return { "time", "number", "null", "a finite number",
    [](WriteOptions& options, const OptionValue& value)
    {
      const auto* real = std::get_if<double>(&value);
      const auto* number = std::get_if<std::int64_t>(&value);
      const double time = real ? *real
        : number               ? static_cast<double>(*number)
                               : std::numeric_limits<double>::quiet_NaN();
      // An integer that no double represents would become another time.
      if (!std::isfinite(time) ||
        (number && (std::abs(time) >= 0x1p63 || static_cast<std::int64_t>(time) != *number)))
      {
        return false;
      }
      options.time = time;
      return true;
    } };
}

const std::vector<Row>& rows()
{
  static const std::vector<Row> kRows{
    word("mode", [](auto& o) -> auto& { return o.mode; },
      { "auto", "replace", "add_step", "continue" }),
    number_of_step(),
    time_of_step(),
    word("codec", [](auto& o) -> auto& { return o.codec; }, { "raw", "zip", "lz4" }),
    whole("zip_level", &WriteOptions::zip_level, 1, 9),
    word("layout", [](auto& o) -> auto& { return o.layout; }, { "row_major", "hz" }),
    word("dialect", [](auto& o) -> auto& { return o.dialect; }, { "openvisus", "pidx" }),
    whole("bits_per_block", &WriteOptions::bits_per_block, 0, 28),
    whole("file_bytes", &WriteOptions::file_bytes, 1, std::numeric_limits<std::int64_t>::max()),
    word("missing", [](auto& o) -> auto& { return o.missing; }, { "refuse", "zero" }),
    whole("threads", &WriteOptions::threads, 0, kMaxInt),
    flag("flush", &WriteOptions::flush),
    word(
      "exchange", [](auto& o) -> auto& { return o.routing.route; }, { "auto", "flat", "leaders" }),
    whole_of_routing("leaders_per_node", &Routing::leaders_per_node, 1),
    whole_of_routing("ranks_per_node", &Routing::ranks_per_node, 0),
  };
  return kRows;
}
}

const std::vector<OptionInfo>& option_table()
{
  static const std::vector<OptionInfo> kTable = []
  {
    std::vector<OptionInfo> table;
    for (const Row& row : rows())
    {
      table.push_back({ row.name, row.type, row.standard, row.allowed });
    }
    return table;
  }();
  return kTable;
}

const std::string& option_table_json()
{
  static const std::string kText = []
  {
    std::vector<std::string> objects;
    for (const Row& row : rows())
    {
      objects.push_back(fmt::format(R"({{"name":"{}","type":"{}","default":{},"allowed":"{}"}})",
        row.name, row.type, row.standard, row.allowed));
    }
    return fmt::format("[{}]", fmt::join(objects, ","));
  }();
  return kText;
}

void set_option(WriteOptions& options, const std::string& name, const OptionValue& value)
{
  for (const Row& row : rows())
  {
    if (row.name == name)
    {
      if (!row.set(options, value))
      {
        const std::string shown = std::visit(
          [](const auto& v)
          {
            if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::string>)
            {
              return "'" + v + "'";
            }
            else
            {
              return fmt::format("{}", v);
            }
          },
          value);
        throw Error(ErrorCode::InvalidArgument,
          fmt::format("{} is {}; {} is allowed", name, shown, row.allowed));
      }
      return;
    }
  }
  std::vector<std::string> names;
  for (const Row& row : rows())
  {
    names.push_back(row.name);
  }
  throw Error(ErrorCode::InvalidArgument,
    fmt::format("unknown option '{}'{}", name,
      bat::available(name, fmt::format("{}", fmt::join(names, ", ")))));
}
}
