// SPDX-License-Identifier: BSD-3-Clause
#include "bat/bricks/series.hpp"

#include "bat/address.hpp"
#include "bat/error.hpp"
#include "bat/series.hpp"
#include "bricks/format/header.hpp"
#include "common/io/remote/address.hpp"
#include "common/text.hpp"
#include "series/read_series.hpp"
#include "series/series_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <optional>

namespace bat::bricks
{
namespace
{
// Returns the problem with a list's times; empty if they increase.
std::string find_fault(const std::vector<SeriesEntry>& entries)
{
  for (std::size_t i = 0; i != entries.size(); ++i)
  {
    if (!std::isfinite(entries[i].time))
    {
      return fmt::format(
        "the time of '{}' is {}; it must be finite", entries[i].file, entries[i].time);
    }
    if (i != 0 && !(entries[i].time > entries[i - 1].time))
    {
      return fmt::format("times must increase: '{}' has {}, but '{}' after it has {}",
        entries[i - 1].file, entries[i - 1].time, entries[i].file, entries[i].time);
    }
  }
  return {};
}
}

std::vector<SeriesEntry> read_list(const std::filesystem::path& list)
{
  std::vector<SeriesEntry> entries;
  for (const series::Entry& entry : series::list_entries(
         series::parse_list(series::read_text(list), list, series::Times::Required)))
  {
    entries.push_back({ entry.file, entry.time });
  }
  if (entries.empty())
  {
    corrupt(display_name(list), "does not list any file; a series has at least one");
  }
  if (const std::string fault = find_fault(entries); !fault.empty())
  {
    corrupt(display_name(list), fault);
  }
  return entries;
}

void write_list(
  const std::filesystem::path& list, const std::vector<SeriesEntry>& entries, bool flush)
{
  std::string fault =
    entries.empty() ? "does not list any file; a series has at least one" : find_fault(entries);
  for (const SeriesEntry& entry : entries)
  {
    if (fault.empty() && !is_utf8(entry.file))
    {
      fault = fmt::format("the name '{}' is not valid UTF-8, as required in lists", entry.file);
    }
  }
  if (!fault.empty())
  {
    throw Error(ErrorCode::InvalidArgument, list.string() + ": " + fault);
  }
  series::Entries listed;
  for (const SeriesEntry& entry : entries)
  {
    listed.push_back({ entry.file, entry.time, std::nullopt, std::nullopt });
  }
  series::write_list(list, listed, flush);
}

struct Series::Impl
{
  std::filesystem::path path;
  std::string name;
  std::vector<std::filesystem::path> paths;
  std::vector<double> times;
  bool is_of_files = false; ///< made from files instead of a list
  bool is_remote = false;   ///< some files are at addresses
  BrickGrid grid;
  std::uint64_t grid_id = 0;
  std::string grid_file; ///< file that defines the grid
  mutable std::mutex mutex;
  mutable std::vector<std::shared_ptr<const File>> files; ///< null: not opened yet
  static constexpr std::size_t kOpenAtOnce = 16;
  mutable std::array<std::mutex, kOpenAtOnce> opening; ///< of levels modulo this number

  void needs_same_grid(const File& file) const
  {
    if (file.grid_id() != this->grid_id)
    {
      corrupt(file.name(),
        fmt::format(
          "its grid differs from that of '{}': {} x {} x {} points, edge {}, {}, {} components, "
          "instead of {} x {} x {}, {}, {}, {}; or origin, spacing or periodic axes differ",
          this->grid_file, file.grid().points[0], file.grid().points[1], file.grid().points[2],
          file.grid().edge, name_of(file.grid().type), file.grid().components, this->grid.points[0],
          this->grid.points[1], this->grid.points[2], this->grid.edge, name_of(this->grid.type),
          this->grid.components));
    }
  }
};

Series::Series(std::unique_ptr<Impl> impl)
  : impl_(std::move(impl))
{
  this->impl_->is_remote = std::any_of(this->impl_->paths.begin(), this->impl_->paths.end(),
    [](const std::filesystem::path& path) { return is_address(path.string()); });
}
Series::~Series() = default;

std::shared_ptr<const Series> Series::open(const std::filesystem::path& path)
{
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->name = display_name(path);
  std::optional<File> first;
  if (!is_series(path))
  {
    first = File::open(path);
    impl->paths = { path };
    impl->times = { first->header().time.value_or(0) };
    impl->files.resize(1);
  }
  else
  {
    for (const SeriesEntry& entry : read_list(path))
    {
      impl->paths.push_back(io::path_beside(path, entry.file));
      impl->times.push_back(entry.time);
    }
    impl->files.resize(impl->paths.size());
    for (std::size_t level = 0; !first; ++level)
    {
      try
      {
        first = File::open(impl->paths[level]);
      }
      catch (const Error&)
      {
        if (level + 1 == impl->paths.size())
        {
          throw; // there is none
        }
      }
    }
  }
  impl->grid = first->grid();
  impl->grid_id = first->grid_id();
  impl->grid_file = first->name();
  return std::shared_ptr<const Series>(new Series(std::move(impl)));
}

std::shared_ptr<const Series> Series::open(const std::vector<std::filesystem::path>& files)
{
  if (files.size() == 1)
  {
    return Series::open(files.front());
  }
  auto impl = std::make_unique<Impl>();
  std::vector<SeriesEntry> entries;
  std::size_t timed = 0;
  for (const std::filesystem::path& path : files)
  {
    // Thousands of files cannot be open at the same time: all but the first are opened again when
    // their levels are read.
    auto file = std::make_shared<const File>(File::open(path));
    timed += file->header().time ? 1 : 0;
    entries.push_back(
      { file->name(), file->header().time.value_or(static_cast<double>(entries.size())) });
    if (impl->paths.empty())
    {
      impl->grid = file->grid();
      impl->grid_id = file->grid_id();
      impl->grid_file = file->name();
    }
    impl->needs_same_grid(*file);
    impl->files.push_back(impl->paths.empty() ? std::move(file) : nullptr);
    impl->paths.push_back(path);
    impl->times.push_back(entries.back().time);
  }
  std::string fault =
    files.empty() ? "a series needs at least one file, found none" : std::string();
  if (fault.empty() && timed != 0 && timed != files.size())
  {
    fault = fmt::format(
      "{} of {} files of a series have a time; allowed: all, or none", timed, files.size());
  }
  fault = fault.empty() ? find_fault(entries) : fault;
  if (!fault.empty())
  {
    throw Error(ErrorCode::InvalidArgument, fault);
  }
  impl->is_of_files = true;
  impl->path = files.front();
  impl->name = display_name(impl->path);
  return std::shared_ptr<const Series>(new Series(std::move(impl)));
}

std::shared_ptr<const Series> Series::reopen() const
{
  const Impl& impl = *this->impl_;
  std::shared_ptr<const Series> now =
    impl.is_of_files ? Series::open(impl.paths) : Series::open(impl.path);
  const Impl& then = *now->impl_;
  if (then.grid_id != impl.grid_id)
  {
    return now;
  }
  const std::lock_guard<std::mutex> lock(impl.mutex);
  for (std::size_t level = 0; level != std::min(impl.paths.size(), then.paths.size()); ++level)
  {
    if (impl.files[level] && impl.paths[level] == then.paths[level] &&
      impl.files[level]->is_as_opened())
    {
      then.files[level] = impl.files[level];
    }
  }
  return now;
}

bool Series::continues_in(const BrickSource& later) const
{
  const auto* other = dynamic_cast<const Series*>(&later);
  if (other == nullptr || other == this)
  {
    return other == this;
  }
  const Impl& impl = *this->impl_;
  const Impl& then = *other->impl_;
  const std::scoped_lock lock(impl.mutex, then.mutex);
  bool is_there = then.grid_id == impl.grid_id && then.paths.size() >= impl.paths.size();
  for (std::size_t level = 0; is_there && level != impl.paths.size(); ++level)
  {
    is_there = then.paths[level] == impl.paths[level] && then.times[level] == impl.times[level] &&
      (!impl.files[level] || then.files[level] == impl.files[level]);
  }
  return is_there;
}

const BrickGrid& Series::grid() const noexcept
{
  return this->impl_->grid;
}
const std::vector<double>& Series::times() const noexcept
{
  return this->impl_->times;
}
const std::string& Series::name() const noexcept
{
  return this->impl_->name;
}
std::uint64_t Series::grid_id() const noexcept
{
  return this->impl_->grid_id;
}

std::string Series::level_name(std::size_t level) const
{
  return level < this->impl_->paths.size() ? display_name(this->impl_->paths[level])
                                           : this->impl_->name;
}

const File& Series::level(std::size_t level) const
{
  const Impl& impl = *this->impl_;
  if (level >= impl.paths.size())
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{}: time step {} is out of range; the series has {}", impl.name, level,
        impl.paths.size()));
  }
  {
    const std::lock_guard<std::mutex> lock(impl.mutex);
    if (impl.files[level])
    {
      return *impl.files[level];
    }
  }
  // Threads that need the same level at the same time open it once.
  const std::lock_guard<std::mutex> opening(impl.opening[level % Impl::kOpenAtOnce]);
  const auto known = [&]
  {
    const std::lock_guard<std::mutex> lock(impl.mutex);
    return impl.files[level];
  };
  if (!known())
  {
    auto file = std::make_shared<const File>(File::open(impl.paths[level]));
    impl.needs_same_grid(*file);
    const std::lock_guard<std::mutex> lock(impl.mutex);
    impl.files[level] = std::move(file);
  }
  return *known();
}

std::uint64_t Series::read(std::size_t level, std::uint64_t brick, BrickMemory to) const
{
  return this->level(level).read(brick, to);
}

bool Series::can_prefetch() const noexcept
{
  return this->impl_->is_remote;
}

void Series::prefetch(std::size_t level, const std::vector<std::uint64_t>& bricks) const noexcept
{
  (void)attempt([&] { this->level(level).prefetch(bricks); });
}
}
