// SPDX-License-Identifier: BSD-3-Clause
#include "bat/nearest_name.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace bat
{
namespace
{
constexpr std::size_t kMaxLength = 64; // longer names are not mistyped but different
constexpr std::size_t kMaxNames = 3;

char lower(char c)
{
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Counts insertions, deletions, substitutions and swaps of neighbours between texts of up to
// kMaxLength.
std::size_t distance(std::string_view a, std::string_view b)
{
  using Row = std::array<std::size_t, kMaxLength + 1>;
  Row before{};
  Row last{};
  Row row{};
  for (std::size_t j = 0; j <= b.size(); ++j)
  {
    last[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i)
  {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j)
    {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({ last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1) });
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
        lower(a[i - 2]) == lower(b[j - 1]))
      {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}
}

std::vector<std::string_view> nearest_names(
  std::string_view name, const std::vector<std::string_view>& names)
{
  std::vector<std::pair<std::size_t, std::string_view>> near;
  if (name.size() <= kMaxLength)
  {
    for (const std::string_view known : names)
    {
      // Allows one error per three letters: "w" is not a misspelled "v".
      const std::size_t allowed = (std::min(name.size(), known.size()) + 1) / 3;
      if (known.size() <= kMaxLength && distance(name, known) <= allowed)
      {
        near.emplace_back(distance(name, known), known);
      }
    }
  }
  std::stable_sort(
    near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string_view> result;
  for (std::size_t i = 0; i != std::min(near.size(), kMaxNames); ++i)
  {
    result.push_back(near[i].second);
  }
  return result;
}

std::string available(std::string_view name, std::string_view names)
{
  std::vector<std::string_view> known;
  for (std::size_t begin = 0; begin < names.size();)
  {
    const std::size_t end = std::min(names.find(", ", begin), names.size());
    known.push_back(names.substr(begin, end - begin));
    begin = end + 2;
  }
  const std::size_t slash = name.rfind('/');
  const std::vector<std::string_view> near =
    nearest_names(slash == std::string_view::npos ? name : name.substr(slash + 1), known);
  std::string result = near.empty() ? "; available: " : "; did you mean ";
  for (std::size_t i = 0; i != near.size(); ++i)
  {
    result += i == 0 ? "'" : i + 1 == near.size() ? " or '" : ", '";
    result.append(near[i]).append("'");
  }
  return result.append(near.empty() ? "" : "? Available: ").append(names.empty() ? "none" : names);
}
}
