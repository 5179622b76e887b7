// SPDX-License-Identifier: BSD-3-Clause
#include "series/series_list.hpp"

#include "bat/error.hpp"
#include "common/io/atomic_file.hpp"
#include "common/io/lock_file.hpp"
#include "series/read_series.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

namespace bat::series
{
namespace
{
// Keeps the time of as many steps as possible. A time that is not later than the previous one is
// advanced by the clock's progress or, if the clock has gone back, by the time that earlier steps
// took.
double time_after(const Entries& before, const Entry& entry, const OwnTime& last_clock)
{
  const Entry& last = before.back();
  const double clock = entry.clock.value_or(entry.time);
  if (clock > last.time)
  {
    return clock;
  }
  const double minimum = std::nextafter(last.time, std::numeric_limits<double>::infinity());
  if (clock > last_clock.time.value_or(last.time))
  {
    return std::max(minimum, last.time + (clock - *last_clock.time));
  }
  if (!last.step || !entry.step || *last.step == *entry.step)
  {
    return minimum;
  }
  const double steps = static_cast<double>(*entry.step) - static_cast<double>(*last.step);
  if (before.size() > 1 && before.end()[-2].step && *before.end()[-2].step < *last.step)
  {
    const Entry& other = before.end()[-2];
    const double of_a_step = (last.time - other.time) /
      (static_cast<double>(*last.step) - static_cast<double>(*other.step));
    return std::max(minimum, last.time + of_a_step * steps);
  }
  return std::max(minimum, last.time + (clock > 0 ? clock : steps));
}

// A file without a step number stays after the entry before it.
std::int64_t step_at(const Entries& entries, std::size_t i)
{
  while (i != 0 && !entries[i].step)
  {
    --i;
  }
  return entries[i].step.value_or(std::numeric_limits<std::int64_t>::min());
}

void sort_by_steps(Entries& entries)
{
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (std::size_t i = 0; i != entries.size(); ++i)
  {
    order.emplace_back(step_at(entries, i), i);
  }
  std::stable_sort(order.begin(), order.end());
  Entries sorted;
  for (const auto& [step, i] : order)
  {
    Entry& entry = entries[i];
    if (!sorted.empty() && entry.time <= sorted.back().time)
    {
      entry.clock = entry.time;
      const Entry& before = sorted.back();
      entry.time = time_after(sorted, entry, { before.clock.value_or(before.time), before.step });
    }
    sorted.push_back(std::move(entry));
  }
  entries = std::move(sorted);
}

// Finds where the next entry belongs to another run.
double time_between(const Entries& before, double time, double next)
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

// Returns the entries whose files exist, in step order.
Entries parse_entries(
  const std::string& text, const std::filesystem::path& list, const Files& files)
{
  Entries listed;
  try
  {
    listed = list_entries(parse_list(text, list, Times::Required));
  }
  catch (const Error& error)
  {
    throw Error(error.code(), fmt::format("{}; it was not replaced, move it away", error.what()));
  }
  Entries entries;
  for (Entry& entry : listed)
  {
    const std::filesystem::path file = list.parent_path() / entry.file;
    if (std::filesystem::exists(file))
    {
      entry.step = entry.step ? entry.step : files.own_time(file).step;
      entries.push_back(std::move(entry));
    }
  }
  sort_by_steps(entries);
  return entries;
}

nlohmann::ordered_json make_list(const Entries& entries)
{
  nlohmann::ordered_json json;
  json["file-series-version"] = "1.0";
  json["files"] = nlohmann::ordered_json::array();
  for (const Entry& entry : entries)
  {
    nlohmann::ordered_json file = { { "name", entry.file }, { "time", entry.time } };
    if (entry.step)
    {
      file["step"] = *entry.step;
    }
    json["files"].push_back(std::move(file));
  }
  json[kChecksum] = compute_checksum(entries);
  return json;
}

void replace_text(const std::filesystem::path& list, const std::string& text, bool flush)
{
  io::AtomicFile file(list);
  file.write(0, text.data(), text.size());
  file.commit(flush);
}

std::string format_return(
  const std::filesystem::path& list, const Entries& dropped, std::int64_t step)
{
  const std::string steps = dropped.size() == 1
    ? fmt::format("step {}", *dropped.front().step)
    : fmt::format(
        "{} steps from {} to {}", dropped.size(), *dropped.front().step, *dropped.back().step);
  return fmt::format("{}: the simulation returned to step {}: {} written earlier {} removed",
    list.string(), step, steps, dropped.size() == 1 ? "is" : "are");
}
}

std::string name_in_list(const std::filesystem::path& file, const std::filesystem::path& list)
{
  return file.lexically_normal()
    .lexically_relative(list.lexically_normal().parent_path())
    .generic_string();
}

std::shared_ptr<const io::LockFile> lock_list(const std::filesystem::path& list)
{
  // File locks work between processes; lists within one process share theirs. Never destroyed,
  // because lists may outlive static objects.
  static std::mutex mutex;
  static auto& held = *new std::map<std::filesystem::path, std::weak_ptr<const io::LockFile>>();
  const std::filesystem::path target = std::filesystem::absolute(io::follow_links(list));
  const std::filesystem::path path =
    io::lock_path(std::filesystem::weakly_canonical(target.parent_path()) / target.filename());
  const std::lock_guard<std::mutex> guard(mutex);
  std::weak_ptr<const io::LockFile>& own = held[path];
  std::shared_ptr<const io::LockFile> lock = own.lock();
  if (!lock)
  {
    lock = std::make_shared<const io::LockFile>(path);
    if (lock->state() == io::LockFile::State::Taken)
    {
      throw Error(ErrorCode::CannotOpen,
        fmt::format("{}: another process is adding steps to this list; only one can at a time, "
                    "until it closes the series or ends",
          list.string()));
    }
    if (lock->state() == io::LockFile::State::Locked)
    {
      own = lock;
    }
  }
  return lock;
}

void write_list(const std::filesystem::path& list, const Entries& entries, bool flush)
{
  const auto lock = lock_list(list);
  replace_text(list, format_list(make_list(entries)), flush);
}

// The effect of adding a step on the other entries.
struct List::Change
{
  Entries entries;            ///< includes the step
  std::size_t place = 0;      ///< position of the step
  Entries dropped;            ///< steps from this one on, of a run that came before
  bool clock_is_back = false; ///< its time is listed later than the simulation's
};

List::List(std::filesystem::path path, Files files, bool flush, Notice notice)
  : path_(std::move(path))
  , stock_list_(path_)
  , files_(std::move(files))
  , flush_(flush)
  , notice_(std::move(notice))
{
}

std::string List::name_of(std::int64_t step, double time) const
{
  return name_in_list(this->files_.of_step(step, time), this->path_);
}

void List::claim()
{
  if (!this->lock_ || this->lock_->state() != io::LockFile::State::Locked)
  {
    this->lock_ = lock_list(this->path_);
  }
}

// Another list in this process, or a person, may have written it. File times are too coarse to
// detect that.
void List::refresh()
{
  this->claim();
  std::optional<std::string> text;
  if (std::filesystem::exists(this->path_))
  {
    text = read_text(this->path_);
  }
  if (!text || text != this->written_)
  {
    this->entries_ = text ? parse_entries(*text, this->path_, this->files_) : Entries();
    this->written_ = std::move(text);
    this->stock_list_.forget_all();
  }
}

List::Change List::with(std::int64_t step, double time) const
{
  const std::filesystem::path folder = this->path_.parent_path();
  const std::string name = this->name_of(step, time);
  const auto is_of_this_series = [&](const Entry& entry)
  {
    const OwnTime own = this->files_.own_time(folder / entry.file);
    return this->name_of(own.step.value_or(*entry.step), own.time.value_or(entry.time)) ==
      entry.file;
  };
  Change change;
  Entries& kept = change.entries;
  for (const Entry& entry : this->entries_)
  {
    if (entry.file == name)
    {
      continue;
    }
    const bool goes = entry.step && *entry.step >= step && is_of_this_series(entry);
    (goes ? change.dropped : kept).push_back(entry);
  }
  change.place = kept.size();
  while (change.place != 0 && step_at(kept, change.place - 1) > step)
  {
    --change.place;
  }
  const auto next = kept.begin() + static_cast<std::ptrdiff_t>(change.place);
  const Entries later(next, kept.end());
  kept.erase(next, kept.end());
  Entry entry{ name, time, step, time };
  if (!kept.empty() && time <= kept.back().time)
  {
    const Entry& last = kept.back();
    const OwnTime own =
      last.clock ? OwnTime{ last.clock, {} } : this->files_.own_time(folder / last.file);
    change.clock_is_back = last.step != step;
    entry.time = time_after(kept, entry, { own.time.value_or(last.time), {} });
  }
  if (!later.empty())
  {
    entry.time = time_between(kept, entry.time, later.front().time);
  }
  kept.push_back(std::move(entry));
  kept.insert(kept.end(), later.begin(), later.end());
  return change;
}

// Returns the list that it has written.
nlohmann::ordered_json List::replace(const Entries& entries)
{
  if (entries.empty())
  {
    this->written_.reset();
    std::filesystem::remove(this->path_);
    if (this->flush_)
    {
      io::flush_folder(this->path_.parent_path());
    }
    return {};
  }
  nlohmann::ordered_json list = make_list(entries);
  std::string text = format_list(list);
  replace_text(this->path_, text, this->flush_);
  this->written_ = std::move(text);
  return list;
}

List::Change List::without(std::int64_t step, double time) const
{
  Change change = this->with(step, time);
  change.entries.erase(change.entries.begin() + static_cast<std::ptrdiff_t>(change.place));
  return change;
}

std::optional<std::filesystem::path> List::last_beside(std::int64_t step, double time)
{
  this->refresh();
  const Entries others = this->without(step, time).entries;
  return others.empty() ? std::optional<std::filesystem::path>()
                        : this->path_.parent_path() / others.back().file;
}

void List::make_way(std::int64_t step, double time)
{
  this->refresh();
  Change change = this->without(step, time);
  if (change.entries.size() != this->entries_.size())
  {
    this->stock_list_.withdraw();
    this->replace(change.entries);
    this->entries_ = std::move(change.entries);
    this->dropped_.insert(this->dropped_.end(), change.dropped.begin(), change.dropped.end());
  }
}

void List::add(std::int64_t step, double time)
{
  this->refresh();
  Change change = this->with(step, time);
  const Entry added = change.entries[change.place];
  // Files are removed when no list names them any more; a list that cannot be written is retried.
  Entries& dropped = this->dropped_;
  dropped.insert(dropped.end(), change.dropped.begin(), change.dropped.end());
  dropped.erase(std::remove_if(dropped.begin(), dropped.end(),
                  [&](const Entry& entry) { return entry.file == added.file; }),
    dropped.end());
  this->entries_ = std::move(change.entries);
  const nlohmann::ordered_json list = this->replace(this->entries_);
  this->stock_list_.forget(added.file);
  this->stock_list_.update(this->entries_, list, this->flush_);
  for (const Entry& entry : dropped)
  {
    this->files_.remove(this->path_.parent_path() / entry.file);
  }
  if (!dropped.empty())
  {
    this->notice_(format_return(this->path_, dropped, step));
    dropped.clear();
  }
  if (change.clock_is_back && !this->has_reported_clock_)
  {
    this->has_reported_clock_ = true;
    this->notice_(fmt::format("{}: the time of step {} is {}, not after that of the previous "
                              "step; it is listed as {}, and later steps accordingly",
      this->path_.string(), step, time, added.time));
  }
}
}
