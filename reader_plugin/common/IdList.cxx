// SPDX-License-Identifier: BSD-3-Clause
#include "IdList.h"

#include "bat/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>
#include <variant>

namespace
{
constexpr char Allowed[] = "; allowed are numbers and ranges such as 5-90, -3..7 or 100.., "
                           "separated by spaces or commas";

[[noreturn]] void Refuse(const std::string& text)
{
  throw bat::Error(bat::ErrorCode::InvalidArgument, "Ids: " + text);
}

std::vector<std::string> SplitWords(std::string text)
{
  std::replace_if(
    text.begin(), text.end(), [](char c) { return c == ',' || c == ';'; }, ' ');
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;)
  {
    words.push_back(word);
  }
  return words;
}

// Splits "5-90", "-3--1" or "100.." into its two ends; those of ".." may be empty. The sign of a
// number or of its exponent does not separate ends.
std::optional<std::pair<std::string, std::string>> SplitIds(const std::string& word)
{
  const std::size_t dots = word.find("..");
  if (dots != std::string::npos)
  {
    return std::pair{ word.substr(0, dots), word.substr(dots + 2) };
  }
  for (std::size_t i = 1; i < word.size(); ++i)
  {
    if (word[i] == '-' && word[i - 1] != 'e' && word[i - 1] != 'E')
    {
      return std::pair{ word.substr(0, i), word.substr(i + 1) };
    }
  }
  return std::nullopt;
}

// Compares without rounding: the mantissa of long double has 64 bits.
bool IsBelow(const bat::Number& a, const bat::Number& b)
{
  static_assert(std::numeric_limits<long double>::digits >= 64);
  const auto exact = [](auto value) { return static_cast<long double>(value); };
  return std::visit(exact, a) < std::visit(exact, b);
}

bat::Number ParseId(const std::string& text)
{
  const bat::Number number = bat::parse_number(text);
  if (std::isnan(bat::to_double(number)))
  {
    throw bat::Error(bat::ErrorCode::InvalidArgument, "'" + text + "' is not a number");
  }
  return number;
}

bat::NumberRange ParseIdRange(
  const std::string& word, const std::pair<std::string, std::string>& ends)
{
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const bool open = word.find("..") != std::string::npos && word != "..";
  const auto parse = [open](const std::string& text, double ifEmpty)
  { return open && text.empty() ? bat::Number(ifEmpty) : ParseId(text); };
  try
  {
    const bat::NumberRange range{ parse(ends.first, -infinity), parse(ends.second, infinity) };
    if (!IsBelow(range.upper, range.lower))
    {
      return range;
    }
  }
  catch (const bat::Error& error)
  {
    throw bat::Error(error.code(), "in '" + word + "': " + error.what());
  }
  throw bat::Error(
    bat::ErrorCode::InvalidArgument, "the range '" + word + "' ends before it starts");
}

// Parses an integer of a range with two ends.
template <typename V>
void AppendRange(V first, V last, std::size_t maximum, std::vector<bat::Number>& ids)
{
  const std::uint64_t more = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
  if (more >= maximum || ids.size() + more + 1 > maximum)
  {
    Refuse("a list of more than " + std::to_string(maximum) + "; a particle of each is followed");
  }
  for (std::uint64_t i = 0; i <= more; ++i)
  {
    ids.emplace_back(static_cast<V>(static_cast<std::uint64_t>(first) + i));
  }
}
}

//------------------------------------------------------------------------------
bat::AttributeValues bat_vtk::ParseIds(const std::string& text)
{
  bat::AttributeValues ids;
  for (const std::string& word : SplitWords(text))
  {
    try
    {
      if (const auto ends = SplitIds(word))
      {
        ids.ranges.push_back(ParseIdRange(word, *ends));
      }
      else
      {
        ids.values.push_back(ParseId(word));
      }
    }
    catch (const bat::Error& error)
    {
      throw bat::Error(error.code(), std::string("Ids: ") + error.what() + Allowed);
    }
  }
  return ids;
}

//------------------------------------------------------------------------------
std::vector<bat::Number> bat_vtk::ListIds(const std::string& text, std::size_t maximum)
{
  const bat::AttributeValues parsed = ParseIds(text);
  std::vector<bat::Number> ids = parsed.values;
  for (const bat::NumberRange& range : parsed.ranges)
  {
    if (const auto* first = std::get_if<std::int64_t>(&range.lower))
    {
      if (const auto* last = std::get_if<std::int64_t>(&range.upper))
      {
        AppendRange(*first, *last, maximum, ids);
        continue;
      }
    }
    if (const auto* last = std::get_if<std::uint64_t>(&range.upper))
    {
      if (const auto* first = std::get_if<std::uint64_t>(&range.lower))
      {
        AppendRange(*first, *last, maximum, ids);
        continue;
      }
    }
    Refuse("the range " + bat::to_string(range.lower) + ".." + bat::to_string(range.upper) +
      "; allowed here are ranges between two whole numbers");
  }
  if (ids.size() > maximum)
  {
    Refuse("a list of more than " + std::to_string(maximum) + "; a particle of each is followed");
  }
  return ids;
}

//------------------------------------------------------------------------------
bat_vtk::IdPairs bat_vtk::ParseIdPairs(const std::string& text)
{
  IdPairs pairs;
  for (const std::string& word : SplitWords(text))
  {
    const std::size_t colon = word.find(':');
    if (colon == std::string::npos)
    {
      Refuse("'" + word +
        "' is not a pair; allowed are pairs such as 5:0, separated by spaces or commas");
    }
    try
    {
      pairs.First.push_back(ParseId(word.substr(0, colon)));
      pairs.Second.push_back(ParseId(word.substr(colon + 1)));
    }
    catch (const bat::Error& error)
    {
      Refuse("in '" + word + "': " + error.what());
    }
  }
  return pairs;
}
