// SPDX-License-Identifier: BSD-3-Clause
#include "idx/format/names.hpp"

#include "idx/format/refused.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace bat::idx::format
{
namespace
{
std::string hex(std::uint64_t number, int width)
{
  return fmt::format("{:0{}x}", number, width);
}

// Reads "0N" or "N" after a '%', and moves `at` past it. Returns -1 if the number of digits is 0 or
// too large.
int read_width(std::string_view text, std::size_t& at, bool& zeros)
{
  zeros = at < text.size() && text[at] == '0';
  at += zeros;
  if (at < text.size() && text[at] >= '1' && text[at] <= '9')
  {
    return text[at++] - '0';
  }
  return -1;
}

void check_text(std::string_view text)
{
  const std::string problem = find_name_problem(text);
  if (!problem.empty())
  {
    throw Refused(problem);
  }
}
}

std::string find_name_problem(std::string_view text)
{
  if (!text.empty() && text.front() == '/')
  {
    return "starts with '/'; names are relative to the folder of the .idx file";
  }
  if (text.find('$') != std::string_view::npos)
  {
    return "contains '$'; only $(CurrentFileDirectory)/ at the start is replaced: write the name "
           "itself";
  }
  const std::string path = fmt::format("/{}/", text);
  if (path.find("/../") != std::string::npos)
  {
    return "contains '..'; files must be below the folder of the .idx file";
  }
  for (const char c : text)
  {
    if (static_cast<unsigned char>(c) < 32 || c == 127)
    {
      return "contains a control character";
    }
  }
  return {};
}

TimeTemplate parse_time_template(std::string_view text)
{
  check_text(text);
  TimeTemplate result;
  const std::size_t percent = text.find('%');
  result.before = std::string(text.substr(0, percent));
  if (percent == std::string_view::npos)
  {
    return result;
  }
  std::size_t at = percent + 1;
  const int width = read_width(text, at, result.zeros);
  if (at >= text.size() || text[at] != 'd' || (width < 0 && result.zeros))
  {
    throw Refused("contains a '%' that is not one of %d, %Nd, %0Nd with N from 1 to 9");
  }
  result.width = std::max(width, 0);
  result.has_number = true;
  result.after = std::string(text.substr(at + 1));
  if (result.after.find('%') != std::string::npos)
  {
    throw Refused("contains more than one '%'; one %d is allowed");
  }
  return result;
}

std::string TimeTemplate::expand(std::int64_t step) const
{
  if (!this->has_number)
  {
    return this->before;
  }
  return this->before +
    (this->zeros ? fmt::format("{:0{}d}", step, this->width)
                 : fmt::format("{:>{}d}", step, this->width)) +
    this->after;
}

std::optional<std::int64_t> TimeTemplate::match(std::string_view name) const
{
  if (!this->has_number || name.substr(0, this->before.size()) != this->before)
  {
    return std::nullopt;
  }
  std::string_view rest = name.substr(this->before.size());
  while (!rest.empty() && rest.front() == ' ')
  {
    rest.remove_prefix(1);
  }
  std::int64_t step = 0;
  const auto result = std::from_chars(rest.data(), rest.data() + rest.size(), step);
  if (result.ec != std::errc())
  {
    return std::nullopt;
  }
  const std::string whole = this->expand(step);
  return name.substr(0, whole.size()) == whole ? std::optional(step) : std::nullopt;
}

NameTemplate parse_name_template(std::string_view text)
{
  NameTemplate result;
  // OpenVisus's placeholders for the folder of the .idx file.
  for (const std::string_view here : { "$(CurrentFileDirectory)/", "./" })
  {
    if (text.substr(0, here.size()) == here)
    {
      text.remove_prefix(here.size());
      break;
    }
  }
  check_text(text);
  std::size_t percent = text.find('%');
  result.before = std::string(text.substr(0, percent));
  while (percent != std::string_view::npos)
  {
    std::size_t at = percent + 1;
    bool zeros = false;
    const int width = read_width(text, at, zeros);
    if (!zeros || width < 0 || at >= text.size() || text[at] != 'x')
    {
      throw Refused("contains a '%' that is not %0Nx with N from 1 to 9");
    }
    const std::size_t next = text.find('%', at);
    result.parts.push_back({ width,
      std::string(text.substr(at + 1, next == std::string_view::npos ? next : next - at - 1)) });
    percent = next;
  }
  if (result.before.empty() && result.parts.empty())
  {
    throw Refused("is empty");
  }
  return result;
}

BlockPlace place_of_block(const Header& header, std::uint64_t block) noexcept
{
  if (header.arco != 0)
  {
    return { block, 0 };
  }
  const std::uint64_t row = (block / header.interleave) % header.blocks_per_file;
  return { block - row * header.interleave, row };
}

FileNames::FileNames(const Header& header, std::string stem)
  : stem_(std::move(stem))
  , is_old_(header.version <= 4)
  , is_arco_(header.arco != 0)
{
  if (header.arco == 0)
  {
    this->name_ = parse_name_template(header.filename_template);
  }
  this->time_ = parse_time_template(header.time.name_template);
}

std::string FileNames::file(std::int64_t step, std::uint64_t number) const
{
  std::string path = this->name_.before + this->time_.expand(step);
  const auto& parts = this->name_.parts;
  if (parts.empty())
  {
    return this->name_.before;
  }
  if (this->is_old_)
  {
    return path + hex(number, parts[0].width) + parts[0].after;
  }
  int width = 0;
  for (const NameTemplate::Part& part : parts)
  {
    width += part.width;
  }
  std::string digits = hex(number, width);
  // Further digits become more folders with the width of the leftmost part.
  std::size_t over = digits.size() - static_cast<std::size_t>(width);
  const auto first = static_cast<std::size_t>(parts[0].width);
  if (over % first != 0)
  {
    digits.insert(0, first - over % first, '0');
    over += first - over % first;
  }
  std::size_t at = 0;
  for (; at != over; at += first)
  {
    path += digits.substr(at, first) + "/";
  }
  for (const NameTemplate::Part& part : parts)
  {
    path += digits.substr(at, static_cast<std::size_t>(part.width)) + part.after;
    at += static_cast<std::size_t>(part.width);
  }
  return path;
}

std::string FileNames::folder(std::int64_t step) const
{
  if (this->is_arco_)
  {
    return fmt::format("{}/{}", this->stem_, step);
  }
  const std::string path =
    this->name_.before + (this->name_.parts.empty() ? "" : this->time_.expand(step));
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string FileNames::arco_file(
  std::int64_t step, const std::string& field, std::uint64_t block) const
{
  const std::string digits = hex(block, 16);
  return fmt::format("{}/{}/{}/{}/{}/{}.bin", this->folder(step), field, digits.substr(0, 4),
    digits.substr(4, 4), digits.substr(8, 4), digits.substr(12, 4));
}

FileNames::Listing FileNames::listing() const
{
  Listing listing;
  if (this->name_.parts.empty()) // arco: folders that are called as steps are
  {
    listing.folder = this->stem_;
    listing.entry.has_number = true;
    return listing;
  }
  listing.entry = this->time_;
  const std::string path = this->name_.before + this->time_.before;
  const std::size_t slash = path.rfind('/');
  listing.folder = slash == std::string::npos ? "." : path.substr(0, slash);
  listing.entry.before = slash == std::string::npos ? path : path.substr(slash + 1);
  const std::size_t end = listing.entry.after.find('/');
  listing.whole = end != std::string::npos;
  listing.entry.after = listing.entry.after.substr(0, end);
  return listing;
}
}
