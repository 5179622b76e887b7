// SPDX-License-Identifier: BSD-3-Clause
// Reads lists of a series' files.
#include "bat/series.hpp"

#include "bat/error.hpp"
#include "common/fail.hpp"
#include "common/io/random_access_file.hpp"
#include "common/io/remote/address.hpp"
#include "series/read_series.hpp"

#include <fmt/format.h>

#include <cmath>

namespace bat
{
namespace series
{
namespace
{
[[noreturn]] void refuse_form(const std::filesystem::path& path, const std::string& why)
{
  corrupt(display_name(path),
    fmt::format("is not a series list, which has \"files\", each with a \"name\": {}", why));
}

// Describes the problem with a list's checksum; "" if it is right or missing.
std::string checksum_fault(const nlohmann::ordered_json& list, const Entries& entries)
{
  const auto found = list.find(kChecksum);
  const std::string right = compute_checksum(entries);
  if (found == list.end() || (found->is_string() && found->get<std::string>() == right))
  {
    return {};
  }
  return fmt::format(
    "its checksum is {}, but its names, times and steps have \"{}\": it is damaged "
    "or was edited; remove the checksum from an edited list",
    found->dump(), right);
}

void check_file(const nlohmann::ordered_json& file, const std::filesystem::path& path, Times times)
{
  const auto name = file.at("name").get<std::string>();
  if (name.find('\0') != std::string::npos)
  {
    refuse_form(path, "a name contains a zero character");
  }
  const auto time = file.find("time");
  if (time == file.end())
  {
    if (times == Times::Required)
    {
      corrupt(display_name(path),
        fmt::format("'{}' has no time; each file of this list needs one", name));
    }
    return;
  }
  if (!time->is_number() || !std::isfinite(time->get<double>()))
  {
    corrupt(display_name(path),
      fmt::format("the time of '{}' is {}; times must be finite", name, time->dump()));
  }
}
}

std::string read_text(const std::filesystem::path& path)
{
  const io::RandomAccessFile file(path);
  std::string text(file.size(), '\0');
  file.read(0, text.data(), text.size());
  return text;
}

nlohmann::ordered_json parse_list(
  const std::string& text, const std::filesystem::path& path, Times times)
{
  try
  {
    nlohmann::ordered_json list = nlohmann::ordered_json::parse(text);
    for (const auto& file : list.at("files"))
    {
      check_file(file, path, times);
    }
    if (const std::string fault = checksum_fault(list, list_entries(list)); !fault.empty())
    {
      corrupt(display_name(path), fault);
    }
    return list;
  }
  catch (const nlohmann::json::exception& e)
  {
    refuse_form(path, e.what());
  }
}

std::string format_list(const nlohmann::ordered_json& list)
{
  return list.dump(1) + "\n";
}

Entries list_entries(const nlohmann::ordered_json& list)
{
  Entries entries;
  for (const auto& file : list.at("files"))
  {
    Entry entry;
    entry.file = file.at("name").get<std::string>();
    entry.time = file.value("time", 0.0);
    if (const auto step = file.find("step"); step != file.end() && step->is_number_integer())
    {
      entry.step = step->get<std::int64_t>();
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}
}

bool is_series(const std::filesystem::path& path)
{
  return std::filesystem::path(file_name(path)).extension() == ".series";
}

bool is_tracks(const std::filesystem::path& path)
{
  const std::string name = file_name(path);
  const std::string ending = ".tracks.bat";
  return name.size() >= ending.size() &&
    name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
}

std::vector<SeriesStep> read_series(const std::filesystem::path& path)
{
  if (!is_series(path))
  {
    return { { path, std::nullopt } };
  }
  const nlohmann::ordered_json list =
    series::parse_list(series::read_text(path), path, series::Times::Optional);
  std::vector<SeriesStep> steps;
  for (const auto& file : list.at("files"))
  {
    SeriesStep step{ io::path_beside(path, file.at("name").get<std::string>()), std::nullopt };
    if (file.contains("time"))
    {
      step.time = file.at("time").get<double>();
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

std::string to_json(const std::vector<SeriesStep>& steps)
{
  auto list = nlohmann::ordered_json::array();
  for (const SeriesStep& step : steps)
  {
    nlohmann::ordered_json one{ { "path", step.path.string() } };
    if (step.time)
    {
      one["time"] = *step.time;
    }
    list.push_back(std::move(one));
  }
  try
  {
    return list.dump();
  }
  catch (const nlohmann::json::type_error&)
  {
    refuse("a series", "has a path that is not valid UTF-8; JSON cannot contain it");
  }
}
}
