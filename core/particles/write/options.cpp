// SPDX-License-Identifier: BSD-3-Clause
// The table of write options: the only place with their names and allowed values.

#include "bat/write_options.hpp"

#include "bat/error.hpp"
#include "bat/nearest_name.hpp"
#include "particles/format/layout.hpp"
#include "particles/write/option_fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

namespace bat
{
namespace
{
// The kinds of options.
struct Flag
{
};
struct Whole
{
  std::int64_t lowest;
  std::int64_t highest;
  bool or_zero = false;
};
struct Real
{
  double lowest;
  double highest;
  bool is_above = false; // the lowest itself is not allowed
};
struct Word
{
  std::vector<std::string> words; // in the order of the enumerators
};
struct Texts
{
};
using Values = std::variant<Flag, Whole, Real, Word, Texts>;

std::string type_of(const Values& values)
{
  constexpr const char* kTypes[] = { "flag", "whole number", "number", "word", "list of strings" };
  return kTypes[values.index()];
}

std::string format_text(const Flag&)
{
  return "0 or 1 (false or true)";
}

std::string format_text(const Whole& whole)
{
  return fmt::format(
    "{}a whole number from {} to {}", whole.or_zero ? "0 or " : "", whole.lowest, whole.highest);
}

std::string format_text(const Real& real)
{
  const std::string lowest =
    fmt::format("a number {} {}", real.is_above ? "above" : "from", real.lowest);
  return lowest +
    (real.highest < std::numeric_limits<double>::infinity() ? fmt::format(" to {}", real.highest)
                                                            : " on");
}

std::string format_text(const Word& word)
{
  return fmt::format("one of {}", fmt::join(word.words, ", "));
}

std::string format_text(const Texts&)
{
  return "a list of strings";
}

std::string shown(const OptionValue& value)
{
  if (const auto* number = std::get_if<EnumNumber>(&value))
  {
    return fmt::format("{}", number->number);
  }
  if (const auto* number = std::get_if<double>(&value))
  {
    return fmt::format("{}", *number); // JSON has no NaN
  }
  return std::visit(
    [](const auto& v) -> std::string
    {
      if constexpr (std::is_same_v<std::decay_t<decltype(v)>, EnumNumber>)
      {
        return "";
      }
      else
      {
        return nlohmann::json(v).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      }
    },
    value);
}

// Returns the value in the type of its field, if it is allowed.
std::optional<OptionValue> accepted(const Flag&, const OptionValue& value)
{
  const auto* number = std::get_if<std::int64_t>(&value);
  if (number && (*number == 0 || *number == 1))
  {
    return *number == 1;
  }
  return std::holds_alternative<bool>(value) ? std::optional<OptionValue>(value) : std::nullopt;
}

std::optional<OptionValue> accepted(const Whole& whole, const OptionValue& value)
{
  const auto* number = std::get_if<std::int64_t>(&value);
  const bool is_allowed = number &&
    ((*number >= whole.lowest && *number <= whole.highest) || (*number == 0 && whole.or_zero));
  return is_allowed ? std::optional<OptionValue>(value) : std::nullopt;
}

std::optional<OptionValue> accepted(const Real& real, const OptionValue& value)
{
  const auto* whole = std::get_if<std::int64_t>(&value);
  const auto* given = std::get_if<double>(&value);
  if (!whole && !given)
  {
    return std::nullopt;
  }
  const double number = whole ? static_cast<double>(*whole) : *given;
  const bool is_allowed =
    number >= real.lowest && number <= real.highest && !(real.is_above && number == real.lowest);
  return is_allowed ? std::optional<OptionValue>(number) : std::nullopt;
}

std::optional<OptionValue> accepted(const Word& word, const OptionValue& value)
{
  const auto& words = word.words;
  std::int64_t number = -1;
  if (const auto* text = std::get_if<std::string>(&value))
  {
    number = std::find(words.begin(), words.end(), *text) - words.begin();
  }
  else if (const auto* given = std::get_if<EnumNumber>(&value))
  {
    number = given->number;
  }
  const bool is_allowed = number >= 0 && number < static_cast<std::int64_t>(words.size());
  return is_allowed ? std::optional<OptionValue>(EnumNumber{ number }) : std::nullopt;
}

std::optional<OptionValue> accepted(const Texts&, const OptionValue& value)
{
  return std::holds_alternative<std::vector<std::string>>(value) ? std::optional<OptionValue>(value)
                                                                 : std::nullopt;
}

// Conversions between fields and values. A number beyond 63 bits is shown as the negative number
// that the caller gave.
OptionValue value_of(bool field)
{
  return field;
}
OptionValue value_of(double field)
{
  return field;
}
OptionValue value_of(const std::vector<std::string>& field)
{
  return field;
}
template <class T>
OptionValue value_of(const T& field)
{
  if constexpr (std::is_enum_v<T>)
  {
    return EnumNumber{ static_cast<std::int64_t>(field) };
  }
  else
  {
    return static_cast<std::int64_t>(field);
  }
}

template <class T>
void assign(T& field, const OptionValue& value)
{
  if constexpr (std::is_enum_v<T>)
  {
    field = static_cast<T>(std::get<EnumNumber>(value).number);
  }
  else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
  {
    field = static_cast<T>(std::get<std::int64_t>(value));
  }
  else
  {
    field = std::get<T>(value);
  }
}

struct Row
{
  std::string name;
  Values values;
  std::function<OptionValue(const WriteOptions&)> get;
  std::function<void(WriteOptions&, const OptionValue&)> set;
  std::function<write::OptionField(WriteOptions&)> field;

  [[nodiscard]] std::optional<OptionValue> accept(const OptionValue& value) const
  {
    return std::visit([&](const auto& v) { return accepted(v, value); }, this->values);
  }

  [[nodiscard]] std::string allowed() const
  {
    return std::visit([](const auto& v) { return format_text(v); }, this->values);
  }

  [[noreturn]] void refuse(const OptionValue& value, const std::string& shown_as) const
  {
    std::string text = this->allowed();
    const auto* word = std::get_if<Word>(&this->values);
    if (word && std::holds_alternative<EnumNumber>(value))
    {
      text = "one of";
      for (std::size_t i = 0; i != word->words.size(); ++i)
      {
        text += fmt::format("{} {} ({})", i == 0 ? "" : ",", i, word->words[i]);
      }
    }
    throw Error(ErrorCode::InvalidArgument,
      fmt::format(
        "{} is {}; {} is allowed", shown_as.empty() ? this->name : shown_as, shown(value), text));
  }
};

template <class Member>
Row row(const char* name, Values values, Member member)
{
  Row made;
  made.name = name;
  made.values = std::move(values);
  made.get = [member](const WriteOptions& options) { return value_of(member(options)); };
  made.set = [member](WriteOptions& options, const OptionValue& value)
  { assign(member(options), value); };
  made.field = [member](WriteOptions& options)
  {
    auto& field = member(options);
    write::OptionField found;
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::vector<std::string>>)
    {
      found.texts = &field;
    }
    else
    {
      static_assert(std::is_trivially_copyable_v<std::decay_t<decltype(field)>>);
      found.bytes = &field;
      found.size = sizeof(field);
    }
    return found;
  };
  return made;
}

const std::vector<Row>& rows()
{
  constexpr std::int64_t kMaxBytes = std::numeric_limits<std::int64_t>::max();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  // clang-format off
  static const std::vector<Row> table = {
    row("target_bytes", Whole{ 0, kMaxBytes },
      [](auto& o) -> auto& { return o.target_bytes; }),
    row("mode", Word{ { "adaptive", "rank_border", "aug" } },
      [](auto& o) -> auto& { return o.mode; }),
    row("find_best_axis", Flag{},
      [](auto& o) -> auto& { return o.find_best_axis; }),
    row("max_split_imbalance_ratio", Real{ 1, kInfinity },
      [](auto& o) -> auto& { return o.max_split_imbalance_ratio; }),
    row("max_overfull_factor", Real{ 1, kInfinity },
      [](auto& o) -> auto& { return o.max_overfull_factor; }),
    row("exchange", Word{ { "auto", "flat", "leaders" } },
      [](auto& o) -> auto& { return o.routing.route; }),
    row("leaders_per_node", Whole{ 1, std::numeric_limits<int>::max() },
      [](auto& o) -> auto& { return o.routing.leaders_per_node; }),
    row("ranks_per_node", Whole{ 0, std::numeric_limits<int>::max() },
      [](auto& o) -> auto& { return o.routing.ranks_per_node; }),
    row("threads", Whole{ 0, std::numeric_limits<int>::max() },
      [](auto& o) -> auto& { return o.build.threads; }),
    row("flush", Flag{},
      [](auto& o) -> auto& { return o.build.flush; }),
    row("sorted_indexes", Texts{},
      [](auto& o) -> auto& { return o.build.sorted_indexes; }),
    row("stable_samples", Texts{},
      [](auto& o) -> auto& { return o.build.stable_samples; }),
    row("repeats", Word{ { "store", "link", "leave_out" } },
      [](auto& o) -> auto& { return o.build.repeats; }),
    row("compare_values", Flag{},
      [](auto& o) -> auto& { return o.build.compare_values; }),
    row("compression", Word{ { "none", "lossless", "bounded" } },
      [](auto& o) -> auto& { return o.build.compression; }),
    row("error_bounds", Texts{},
      [](auto& o) -> auto& { return o.build.error_bounds; }),
    row("chunk_particles", Whole{ write::kMinChunkParticles, format::kMaxChunkParticles, true },
      [](auto& o) -> auto& { return o.build.chunk_particles; }),
    row("hdf5_view", Flag{},
      [](auto& o) -> auto& { return o.build.hdf5_view; }),
    row("treelet_particles", Whole{ write::kMinTreeletParticles, write::kMaxTreeletParticles },
      [](auto& o) -> auto& { return o.build.treelet_particles; }),
    row("block_particles", Whole{ write::kMinBlockParticles, format::kMaxBlockParticles, true },
      [](auto& o) -> auto& { return o.build.block_particles; }),
    row("index_budget", Real{ 0, 1, true },
      [](auto& o) -> auto& { return o.build.index_budget; }),
  };
  // clang-format on
  return table;
}

const Row* find_row(const std::string& name)
{
  const auto found = std::find_if(
    rows().begin(), rows().end(), [&](const Row& candidate) { return candidate.name == name; });
  return found == rows().end() ? nullptr : &*found;
}

const Row& row_of(const std::string& name, const std::string& shown_as)
{
  if (const Row* found = find_row(name))
  {
    return *found;
  }
  std::vector<std::string> names;
  std::transform(rows().begin(), rows().end(), std::back_inserter(names),
    [](const Row& candidate) { return candidate.name; });
  throw Error(ErrorCode::InvalidArgument,
    fmt::format("unknown write option {}{}", shown_as.empty() ? name : shown_as,
      bat::available(name, fmt::format("{}", fmt::join(names, ", ")))));
}

OptionValue in_words(const Row& row, const OptionValue& value)
{
  const auto* word = std::get_if<Word>(&row.values);
  const auto* number = std::get_if<EnumNumber>(&value);
  return word && number && row.accept(value)
    ? OptionValue(word->words[static_cast<std::size_t>(number->number)])
    : value;
}
}

const std::vector<OptionInfo>& option_table()
{
  static const std::vector<OptionInfo> table = []
  {
    std::vector<OptionInfo> made;
    for (const Row& row : rows())
    {
      made.push_back(
        { row.name, type_of(row.values), in_words(row, row.get(WriteOptions())), row.allowed() });
    }
    return made;
  }();
  return table;
}

const std::string& option_table_json()
{
  static const std::string json = []
  {
    nlohmann::ordered_json made = nlohmann::ordered_json::array();
    for (const OptionInfo& info : option_table())
    {
      made.push_back({ { "name", info.name }, { "type", info.type },
        { "default", nlohmann::ordered_json::parse(shown(info.standard)) },
        { "allowed", info.allowed } });
    }
    return made.dump();
  }();
  return json;
}

bool is_option(const std::string& name)
{
  return find_row(name) != nullptr;
}

void set_option(WriteOptions& options, const std::string& name, const OptionValue& value,
  const std::string& shown_as)
{
  const Row& row = row_of(name, shown_as);
  const std::optional<OptionValue> allowed = row.accept(value);
  if (!allowed)
  {
    row.refuse(value, shown_as);
  }
  row.set(options, *allowed);
}

void add_to_option(WriteOptions& options, const std::string& name, const std::string& text)
{
  OptionValue value = get_option(options, name);
  if (auto* texts = std::get_if<std::vector<std::string>>(&value))
  {
    texts->push_back(text);
  }
  else
  {
    value = text;
  }
  set_option(options, name, value);
}

OptionValue get_option(const WriteOptions& options, const std::string& name)
{
  static const std::string as_it_is;
  const Row& row = row_of(name, as_it_is); // a temporary here would look like one that is kept
  return in_words(row, row.get(options));
}

std::string to_json(const WriteOptions& options)
{
  std::string json = "{";
  for (const Row& row : rows())
  {
    json += fmt::format(
      "{}\"{}\":{}", json.size() == 1 ? "" : ",", row.name, shown(in_words(row, row.get(options))));
  }
  return json + "}";
}

void check_options(const WriteOptions& options)
{
  for (const Row& row : rows())
  {
    const OptionValue value = row.get(options);
    if (!row.accept(value))
    {
      row.refuse(value, {});
    }
  }
}

std::vector<write::OptionField> write::option_fields(WriteOptions& options)
{
  std::vector<OptionField> fields;
  for (const Row& row : rows())
  {
    fields.push_back(row.field(options));
  }
  return fields;
}
}
