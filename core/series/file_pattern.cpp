// SPDX-License-Identifier: BSD-3-Clause
// Makes file names from a pattern, a species and a step.

#include "bat/file_pattern.hpp"

#include "bat/error.hpp"
#include "bat/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <regex>

namespace bat::insitu
{
namespace
{
std::string fill_in(
  const std::string& format, std::int64_t step, double time, const std::string& name)
{
  return fmt::format(fmt::runtime(format), fmt::arg("timestep", step), fmt::arg("time", time),
    fmt::arg("name", name), fmt::arg("channel", name));
}

// Names come from simulations and must not lead to another folder.
std::string as_file_name(std::string_view name)
{
  std::string result(name);
  std::replace_if(
    result.begin(), result.end(),
    [](char c) { return c == '/' || std::iscntrl(static_cast<unsigned char>(c)) != 0; }, '_');
  return result;
}

// Returns where the std::regex `pattern` matches in the last part of a path, or npos.
std::size_t find_in_file_name(const std::string& path, const char* pattern)
{
  const std::size_t slash = path.rfind('/');
  const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
  std::smatch match;
  const std::string name = path.substr(begin);
  return std::regex_search(name, match, std::regex(pattern))
    ? begin + static_cast<std::size_t>(match.position(0))
    : std::string::npos;
}

// Returns a part of a path without the placeholders that change from step to step, and their
// separators.
std::string without_step(const std::string& part)
{
  static const std::regex at_begin(R"(^\{(timestep|time)[^}]*\}[_\-]*)");
  static const std::regex elsewhere(R"([_.\-]*\{(timestep|time)[^}]*\})");
  return std::regex_replace(std::regex_replace(part, at_begin, ""), elsewhere, "");
}

bool changes(const std::string& part)
{
  return part.find("{time") != std::string::npos;
}

// Builds the list's path: in the innermost folder that does not change from step to step, with the
// names of the folders below it included in its name.
std::string parse_list_format(const std::string& format, const std::string& extension)
{
  std::filesystem::path folder;
  std::string name;
  bool changed = false;
  const std::filesystem::path path(format);
  for (auto component = path.begin(); component != path.end(); ++component)
  {
    const std::string part = component->string();
    changed = changed || changes(part);
    if (!changed && std::next(component) != path.end())
    {
      folder /= *component;
      continue;
    }
    const std::string left = without_step(part);
    name += (name.empty() || left.empty() || left == extension ? "" : "_") + left;
  }
  return (folder / (name == extension ? "steps" + extension : name)).string() + ".series";
}
}

FilePattern::FilePattern(std::string_view pattern, std::string_view extension)
  : extension_(extension)
  , format_(std::regex_replace(std::string(pattern), std::regex("%(0?[0-9]*)ts"), "{timestep:$1d}"))
{
  const std::string found = std::filesystem::path(this->format_).extension().string();
  const auto refuse = [&](const std::string& why)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("file pattern '{}': {}; allowed are paths that end in {} with {{timestep}}, "
                  "{{timestep:06d}}, %06ts, {{time}}, {{time:.3f}}, {{name}}, {{channel}}",
        pattern, why, extension));
  };
  if (pattern.find('\0') != std::string_view::npos)
  {
    refuse("it contains a zero byte");
  }
  if (std::filesystem::path(this->format_).filename().empty())
  {
    refuse("it has no file name");
  }
  if (std::regex_search(this->format_, std::regex(R"((^|[^{])\{[0-9:}])")))
  {
    refuse("a placeholder has no name");
  }
  if (found != extension)
  {
    // A dot inside a placeholder, as in {time:.3f}, does not begin an extension.
    if (!found.empty() && found.find('}') == std::string::npos)
    {
      refuse(fmt::format("its extension is '{}'", found));
    }
    this->format_ += extension;
  }
  try
  {
    const std::string some = fill_in(this->format_, 1, 0.5, "a");
    this->has_name_ = some != fill_in(this->format_, 1, 0.5, "b");
    if (some == fill_in(this->format_, 2, 0.5, "a"))
    {
      this->format_.insert(this->format_.size() - extension.size(), "_{timestep:06d}");
    }
    if (is_tracks(fill_in(this->format_, 1, 0.5, "a")))
    {
      refuse("files ending in .tracks.bat are read as tracks");
    }
  }
  catch (const fmt::format_error& e)
  {
    refuse(e.what());
  }
}

void FilePattern::add_name()
{
  if (this->has_name_)
  {
    return;
  }
  std::size_t place = find_in_file_name(this->format_, R"([_.\-]*\{timestep)");
  if (place == std::string::npos)
  {
    place = this->format_.size() - this->extension_.size();
  }
  const bool begins = place == 0 || this->format_[place - 1] == '/';
  this->format_.insert(place, begins ? "{name}_" : "_{name}");
  this->has_name_ = true;
}

std::filesystem::path FilePattern::file(std::int64_t step, double time, std::string_view name) const
{
  return fill_in(this->format_, step, time, as_file_name(name));
}

std::filesystem::path FilePattern::series(std::string_view name) const
{
  const std::string path =
    fill_in(parse_list_format(this->format_, this->extension_), 0, 0, as_file_name(name));
  return std::filesystem::path(path).lexically_normal();
}

std::filesystem::path FilePattern::tracks(std::string_view name) const
{
  // NAME.bat.series
  return this->series(name).replace_extension().replace_extension(".tracks.bat");
}
}
