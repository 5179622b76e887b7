// SPDX-License-Identifier: BSD-3-Clause
#include "insitu/series_list.hpp"

#include "bat/dataset.hpp"
#include "bat/error.hpp"
#include "common/io/atomic_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

namespace bat::insitu
{
namespace
{
// As many steps as possible keep their time: one that is not later than that before is as much
// later as the clock says, and where the clock has gone back, as the steps before it took.
double time_after(const SeriesEntries& before, const SeriesEntry& entry, const OwnTime& last_clock)
{
  const SeriesEntry& last = before.back();
  const double clock = entry.clock.value_or(entry.time);
  if (clock > last.time)
  {
    return clock;
  }
  const double least = std::nextafter(last.time, std::numeric_limits<double>::infinity());
  if (clock > last_clock.time.value_or(last.time))
  {
    return std::max(least, last.time + (clock - *last_clock.time));
  }
  if (!last.step || !entry.step || *last.step == *entry.step)
  {
    return least;
  }
  const double steps = static_cast<double>(*entry.step) - static_cast<double>(*last.step);
  if (before.size() > 1 && before.end()[-2].step && *before.end()[-2].step < *last.step)
  {
    const SeriesEntry& other = before.end()[-2];
    const double of_a_step = (last.time - other.time) /
      (static_cast<double>(*last.step) - static_cast<double>(*other.step));
    return std::max(least, last.time + of_a_step * steps);
  }
  return std::max(least, last.time + (clock > 0 ? clock : steps));
}

// A file that says no step belongs behind the one before it.
std::int64_t step_at(const SeriesEntries& entries, std::size_t i)
{
  while (i != 0 && !entries[i].step)
  {
    --i;
  }
  return entries[i].step.value_or(std::numeric_limits<std::int64_t>::min());
}

void sort_by_steps(SeriesEntries& entries)
{
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (std::size_t i = 0; i != entries.size(); ++i)
  {
    order.emplace_back(step_at(entries, i), i);
  }
  std::stable_sort(order.begin(), order.end());
  SeriesEntries sorted;
  for (const auto& [step, i] : order)
  {
    SeriesEntry& entry = entries[i];
    if (!sorted.empty() && entry.time <= sorted.back().time)
    {
      entry.clock = entry.time;
      const SeriesEntry& before = sorted.back();
      entry.time = time_after(sorted, entry, { before.clock.value_or(before.time), before.step });
    }
    sorted.push_back(std::move(entry));
  }
  entries = std::move(sorted);
}

SeriesEntries entries_of(const nlohmann::json& json, const std::filesystem::path& folder)
{
  SeriesEntries entries;
  for (const nlohmann::json& file : json.at("files"))
  {
    SeriesEntry entry;
    entry.file = file.at("name").get<std::string>();
    entry.time = file.at("time").get<double>();
    if (!std::filesystem::exists(folder / entry.file))
    {
      continue;
    }
    if (const auto step = file.find("step"); step != file.end())
    {
      entry.step = step->get<std::int64_t>();
    }
    else
    {
      entry.step = own_time_of(folder / entry.file).step;
    }
    entries.push_back(std::move(entry));
  }
  sort_by_steps(entries);
  return entries;
}

// Where the next entry is somebody else's.
double time_between(const SeriesEntries& before, double time, double next)
{
  if (time < next)
  {
    return time;
  }
  const double middle = before.empty()
    ? std::nextafter(next, -std::numeric_limits<double>::infinity())
    : before.back().time + (next - before.back().time) / 2;
  return std::min(middle, next);
}
}

OwnTime own_time_of(const std::filesystem::path& file)
{
  try
  {
    const Dataset dataset = Dataset::open(file);
    return { dataset.time(), dataset.step() };
  }
  catch (const Error&)
  {
    return {};
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

SeriesChange add_to_series(SeriesEntries& entries, const std::filesystem::path& folder,
  const std::string& file, std::int64_t step, double clock,
  const std::function<bool(const SeriesEntry&)>& is_of_this_series)
{
  SeriesChange change;
  SeriesEntries kept;
  for (SeriesEntry& entry : entries)
  {
    if (entry.file == file)
    {
      continue;
    }
    const bool goes = entry.step && *entry.step >= step && is_of_this_series(entry);
    (goes ? change.dropped : kept).push_back(std::move(entry));
  }
  std::size_t place = kept.size();
  while (place != 0 && step_at(kept, place - 1) > step)
  {
    --place;
  }
  const auto next = kept.begin() + static_cast<std::ptrdiff_t>(place);
  const SeriesEntries later(next, kept.end());
  kept.erase(next, kept.end());
  SeriesEntry entry{ file, clock, step, clock };
  if (!kept.empty() && clock <= kept.back().time)
  {
    const SeriesEntry& last = kept.back();
    const OwnTime own = last.clock ? OwnTime{ last.clock, {} } : own_time_of(folder / last.file);
    change.clock_is_back = last.step != step;
    entry.time = time_after(kept, entry, { own.time.value_or(last.time), {} });
  }
  if (!later.empty())
  {
    entry.time = time_between(kept, entry.time, later.front().time);
  }
  change.time = entry.time;
  kept.push_back(std::move(entry));
  kept.insert(kept.end(), later.begin(), later.end());
  entries = std::move(kept);
  return change;
}

void write_series(const std::filesystem::path& list, const SeriesEntries& entries, bool flush)
{
  nlohmann::ordered_json json;
  json["file-series-version"] = "1.0";
  json["files"] = nlohmann::ordered_json::array();
  for (const SeriesEntry& entry : entries)
  {
    nlohmann::ordered_json file = { { "name", entry.file }, { "time", entry.time } };
    if (entry.step)
    {
      file["step"] = *entry.step;
    }
    json["files"].push_back(std::move(file));
  }
  const std::string text = json.dump(1) + "\n";
  io::AtomicFile file(list);
  file.write(0, text.data(), text.size());
  file.commit(flush);
}
}
