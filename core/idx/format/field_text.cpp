// SPDX-License-Identifier: BSD-3-Clause
#include "idx/format/field_text.hpp"

#include "bat/text.hpp"
#include "common/numbers.hpp"
#include "idx/format/refused.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <system_error>

namespace bat::idx::format
{
namespace
{
bool is_blank(char c)
{
  return c == ' ' || c == '\t';
}

// Splits at separators outside brackets; surrounding blanks are removed.
template <class IsSeparator>
std::vector<std::string_view> split_outside(std::string_view text, const IsSeparator& is_separator)
{
  std::vector<std::string_view> pieces;
  int depth = 0;
  std::size_t begin = 0;
  const auto add = [&](std::size_t end)
  {
    std::string_view piece = text.substr(begin, end - begin);
    while (!piece.empty() && is_blank(piece.front()))
    {
      piece.remove_prefix(1);
    }
    while (!piece.empty() && is_blank(piece.back()))
    {
      piece.remove_suffix(1);
    }
    pieces.push_back(piece);
  };
  for (std::size_t at = 0; at != text.size(); ++at)
  {
    const char c = text[at];
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (depth < 0)
    {
      break;
    }
    if (depth == 0 && is_separator(c))
    {
      add(at);
      begin = at + 1;
    }
  }
  if (depth != 0)
  {
    throw Refused(fmt::format("'{}' has unbalanced brackets", text.substr(0, 80)));
  }
  add(text.size());
  return pieces;
}

std::optional<ScalarType> type_of(std::string_view name)
{
  for (int i = 1; i <= 10; ++i)
  {
    if (name_of(static_cast<ScalarType>(i)) == name)
    {
      return static_cast<ScalarType>(i);
    }
  }
  return std::nullopt;
}

void parse_type(std::string_view text, Field& field)
{
  std::string_view name = text;
  std::string_view count = "1";
  const std::size_t star = text.find('*');
  const std::size_t bracket = text.find('[');
  if (star != std::string_view::npos)
  {
    count = text.substr(0, star);
    name = text.substr(star + 1);
  }
  else if (bracket != std::string_view::npos && text.back() == ']')
  {
    name = text.substr(0, bracket);
    count = text.substr(bracket + 1, text.size() - bracket - 2);
  }
  const std::optional<ScalarType> type = type_of(name);
  if (!type)
  {
    throw Refused(fmt::format("field '{}' has unknown type '{}'; supported are int8 to int64, "
                              "uint8 to uint64, float32 and float64, with components as "
                              "float32[3] or 3*float32",
                    field.name, text),
      ErrorCode::UnsupportedVersion);
  }
  const auto result = std::from_chars(count.data(), count.data() + count.size(), field.components);
  if (result.ec != std::errc() || result.ptr != count.data() + count.size() ||
    field.components < 1 || field.components > kMaxFieldComponents)
  {
    throw Refused(fmt::format("field '{}' has type '{}' with '{}' components; allowed are 1 to {}",
      field.name, text, count, kMaxFieldComponents));
  }
  field.type = *type;
}

std::optional<Codec> parse_codec(std::string_view name)
{
  return name.empty() || name == "raw" || name == "none" ? std::optional(Codec::Raw)
    : name == "zip"                                      ? std::optional(Codec::Zip)
    : name == "lz4"                                      ? std::optional(Codec::Lz4)
                                                         : std::nullopt;
}

std::optional<Layout> parse_layout(std::string_view name)
{
  return name.empty() || name == "1" || name == "rowmajor" || name == "row_major"
    ? std::optional(Layout::RowMajor)
    : name == "0" || name == "hz" || name == "hzorder" ? std::optional(Layout::HZ)
                                                       : std::nullopt;
}

Number parse_default(std::string_view text, const Field& field)
{
  Number number;
  try
  {
    number = parse_number(text);
  }
  catch (const Error&)
  {
    throw Refused(
      fmt::format("field '{}' has default value '{}', which is not a number", field.name, text));
  }
  std::byte stored[8];
  if (!store_number(number, field.type, stored))
  {
    throw Refused(fmt::format("field '{}' has default value {}, which is not a valid {}",
      field.name, text, name_of(field.type)));
  }
  return number;
}

std::vector<double> parse_range(std::string_view text)
{
  std::vector<double> values;
  for (const std::string_view word : split_outside(text, is_blank))
  {
    if (word.empty())
    {
      continue;
    }
    try
    {
      values.push_back(to_double(parse_number(word)));
    }
    catch (const Error&)
    {
      return {}; // used for display only
    }
  }
  return values;
}

// The meaning of levels in that case.
std::string_view what_filter_does(std::string_view filter)
{
  const bool is_min = filter == "min" || filter == "MinFilter";
  const bool is_max = filter == "max" || filter == "MaxFilter";
  return is_min ? "samples of a level are minima of those they represent"
    : is_max    ? "samples of a level are maxima of those they represent"
                : "its levels contain wavelet coefficients";
}

void apply_option(std::string_view word, bool decisive, Field& field)
{
  const std::size_t bracket = word.find('(');
  const std::string_view option = word.substr(0, bracket);
  std::string_view value;
  if (bracket != std::string_view::npos && word.back() == ')')
  {
    value = word.substr(bracket + 1, word.size() - bracket - 2);
  }
  const auto refuse_unknown = [&]
  {
    if (decisive)
    {
      throw Refused(fmt::format("field '{}' has '{}'; supported with (arco) are raw, zip and "
                                "lz4, and row-major and hzorder",
                      field.name, word),
        ErrorCode::UnsupportedVersion);
    }
  };
  if (option == "default_compression" || option == "compressed")
  {
    const bool old = option == "compressed" && value.empty();
    const std::optional<Codec> codec = parse_codec(old ? "zip" : value);
    codec ? void(field.codec = *codec) : refuse_unknown();
  }
  else if (option == "default_layout" || option == "format")
  {
    const std::optional<Layout> layout = parse_layout(value);
    layout ? void(field.layout = *layout) : refuse_unknown();
  }
  else if (option == "default_value" && !value.empty())
  {
    field.default_value = parse_default(value, field);
  }
  else if (option == "filter" && !value.empty() && value != "identity" && value != "IdentityFilter")
  {
    throw Refused(fmt::format("field '{}' has '{}': {}; only fields without a filter, or with "
                              "the neutral filter identity, are supported",
                    field.name, word, what_filter_does(value)),
      ErrorCode::UnsupportedVersion);
  }
  else if (option == "min")
  {
    field.minimum = parse_range(value);
  }
  else if (option == "max")
  {
    field.maximum = parse_range(value);
  }
}

Field parse_field(std::string_view text, bool decisive)
{
  Field field;
  int words = 0;
  for (const std::string_view word : split_outside(text, is_blank))
  {
    if (word.empty())
    {
      continue;
    }
    ++words;
    if (words == 1)
    {
      field.name = std::string(word);
    }
    else if (words == 2)
    {
      parse_type(word, field);
    }
    else
    {
      apply_option(word, decisive, field);
    }
  }
  if (words < 2)
  {
    throw Refused(
      fmt::format("'{}' is not a field; a name and a type are required", text.substr(0, 80)));
  }
  if (!is_utf8(field.name))
  {
    throw Refused("a field name is not valid UTF-8");
  }
  return field;
}

template <class T>
bool store(T value, std::byte* to) noexcept
{
  std::memcpy(to, &value, sizeof(T));
  return true;
}

std::string range_text(const char* option, const std::vector<double>& values)
{
  return values.empty() ? std::string() : fmt::format(" {}({})", option, fmt::join(values, " "));
}
}

bool store_number(const Number& number, ScalarType type, std::byte* to) noexcept
{
  return dispatch(type,
    [&](auto zero)
    {
      using T = decltype(zero);
      if constexpr (std::is_floating_point_v<T>)
      {
        return store(static_cast<T>(to_double(number)), to);
      }
      else
      {
        if (is_nan(number) ||
          compare(number, Number(ClassOf<T>(std::numeric_limits<T>::min()))) < 0 ||
          compare(number, Number(ClassOf<T>(std::numeric_limits<T>::max()))) > 0)
        {
          return false;
        }
        return std::visit(
          [&](auto value)
          {
            // Both ends of the range were compared, so the conversion is defined.
            return static_cast<decltype(value)>(static_cast<T>(value)) == value &&
              store(static_cast<T>(value), to);
          },
          number);
      }
    });
}

std::vector<Field> parse_fields(std::string_view text, bool decisive)
{
  std::vector<Field> fields;
  std::set<std::string> names;
  for (const std::string_view piece : split_outside(text, [](char c) { return c == '+'; }))
  {
    if (fields.size() == kMaxFields)
    {
      throw Refused(fmt::format("there are more than {} fields", kMaxFields));
    }
    Field field = parse_field(piece, decisive);
    if (!names.insert(field.name).second)
    {
      throw Refused(fmt::format("two fields are called '{}'", field.name));
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

std::string fields_text(const std::vector<Field>& fields, bool pidx)
{
  std::string text;
  for (std::size_t i = 0; i != fields.size(); ++i)
  {
    const Field& field = fields[i];
    const std::string_view type = name_of(field.type);
    if (pidx)
    {
      text += fmt::format(
        "{} {}*{}{}\n", field.name, field.components, type, i + 1 == fields.size() ? "" : " + ");
      continue;
    }
    text += fmt::format("{}{} {}", i == 0 ? "" : "+ ", field.name, type);
    text += field.components == 1 ? "" : fmt::format("[{}]", field.components);
    text += field.codec == Codec::Zip ? " default_compression(zip)"
      : field.codec == Codec::Lz4     ? " default_compression(lz4)"
                                      : "";
    text += field.layout == Layout::HZ ? " default_layout(hzorder)" : "";
    if (compare(field.default_value, Number(std::int64_t{ 0 })) != 0)
    {
      text += fmt::format(" default_value({})", to_string(field.default_value));
    }
    text += range_text("min", field.minimum) + range_text("max", field.maximum) + "\n";
  }
  return text;
}
}
