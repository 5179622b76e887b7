// SPDX-License-Identifier: BSD-3-Clause
// Reads lists of the files of a series.
#include "bat/series.hpp"

#include "bat/error.hpp"
#include "series/read_series.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>

namespace bat
{
namespace
{
[[noreturn]] void refuse_list(const std::filesystem::path& path, const std::string& why)
{
  throw Error(ErrorCode::Corrupt,
    fmt::format("{}: is not a series list, which has \"files\", each with a \"name\": {}",
      path.string(), why));
}
}

series::Entries list_entries(const nlohmann::ordered_json& list)
{
  series::Entries entries;
  for (const auto& file : list.at("files"))
  {
    series::Entry entry;
    entry.file = file.at("name").get<std::string>();
    if (const auto time = file.find("time"); time != file.end() && time->is_number())
    {
      entry.time = time->get<double>();
    }
    if (const auto step = file.find("step"); step != file.end() && step->is_number_integer())
    {
      entry.step = step->get<std::int64_t>();
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

bool is_series(const std::filesystem::path& path)
{
  return path.extension() == ".series";
}

bool is_tracks(const std::filesystem::path& path)
{
  const std::string name = path.filename().string();
  const std::string ending = ".tracks.bat";
  return name.size() >= ending.size() &&
    name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
}

nlohmann::ordered_json read_series_list(const std::filesystem::path& path)
{
  std::ifstream stream(path);
  if (!stream)
  {
    const int error = errno;
    const bool is_there = std::filesystem::exists(path);
    throw Error(is_there ? ErrorCode::CannotOpen : ErrorCode::NotFound,
      fmt::format("{}: cannot open: {}", path.string(), std::strerror(error)));
  }
  try
  {
    nlohmann::ordered_json list = nlohmann::ordered_json::parse(stream);
    for (const auto& file : list.at("files"))
    {
      if (file.at("name").get<std::string>().find('\0') != std::string::npos)
      {
        refuse_list(path, "a name contains a zero character");
      }
    }
    if (list.contains(series::kChecksum))
    {
      if (const std::string fault = series::checksum_fault(list, list_entries(list));
          !fault.empty())
      {
        throw Error(ErrorCode::Corrupt, fmt::format("{}: {}", path.string(), fault));
      }
    }
    return list;
  }
  catch (const nlohmann::json::exception& e)
  {
    refuse_list(path, e.what());
  }
}

std::vector<SeriesStep> read_series(const std::filesystem::path& path)
{
  if (!is_series(path))
  {
    return { { path, std::nullopt } };
  }
  const nlohmann::ordered_json list = read_series_list(path);
  std::vector<SeriesStep> steps;
  for (const auto& file : list.at("files"))
  {
    SeriesStep step{ path.parent_path() / file.at("name").get<std::string>(), std::nullopt };
    if (const auto time = file.find("time"); time != file.end())
    {
      if (!time->is_number() || !std::isfinite(time->get<double>()))
      {
        refuse_list(path,
          fmt::format("the time of '{}' is {}; times must be finite",
            file.at("name").get<std::string>(), time->dump()));
      }
      step.time = time->get<double>();
    }
    steps.push_back(std::move(step));
  }
  return steps;
}
}
