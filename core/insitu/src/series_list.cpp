#include "series_list.hpp"

#include "bat/error.hpp"
#include "io/atomic_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <tuple>

namespace bat::insitu
{
namespace
{
SeriesEntries entries_of(const nlohmann::json& json, const std::filesystem::path& folder)
{
  SeriesEntries entries;
  for (const nlohmann::json& file : json.at("files"))
  {
    const auto name = file.at("name").get<std::string>();
    if (std::filesystem::exists(folder / name))
    {
      add_to_series(entries, name, file.at("time").get<double>());
    }
  }
  return entries;
}
}

SeriesEntries read_series(const std::filesystem::path& list)
{
  if (!std::filesystem::exists(list))
  {
    return {};
  }
  std::ifstream stream(list);
  if (!stream)
  {
    throw Error(ErrorCode::CannotOpen, fmt::format("{}: cannot be read", list.string()));
  }
  try
  {
    return entries_of(nlohmann::json::parse(stream), list.parent_path());
  }
  catch (const nlohmann::json::exception& e)
  {
    throw Error(ErrorCode::Corrupt,
      fmt::format("{}: is no list of files with times and is not replaced; move it away ({})",
        list.string(), e.what()));
  }
}

void add_to_series(SeriesEntries& entries, const std::string& file, double time)
{
  entries.erase(std::remove_if(entries.begin(), entries.end(),
                  [&](const auto& entry) { return entry.first == file; }),
    entries.end());
  const auto later = std::upper_bound(entries.begin(), entries.end(), std::tie(time, file),
    [](const auto& key, const auto& entry) { return key < std::tie(entry.second, entry.first); });
  entries.emplace(later, file, time);
}

void write_series(const std::filesystem::path& list, const SeriesEntries& entries, bool flush)
{
  nlohmann::ordered_json json;
  json["file-series-version"] = "1.0";
  json["files"] = nlohmann::ordered_json::array();
  for (const auto& [name, time] : entries)
  {
    json["files"].push_back({ { "name", name }, { "time", time } });
  }
  const std::string text = json.dump(1) + "\n";
  io::AtomicFile file(list);
  file.write(0, text.data(), text.size());
  file.commit(flush);
}
}
