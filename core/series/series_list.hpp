// SPDX-License-Identifier: BSD-3-Clause
// The list of a series' files that ParaView opens as one source, NAME.bat.series or
// NAME.bricks.series, as a running simulation writes it.
#pragma once

#include "series/entries.hpp"
#include "series/stock_list.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bat::io
{
class LockFile;
}

namespace bat::series
{
/// Time and step recorded in a file; empty if the file cannot be read.
struct OwnTime
{
  std::optional<double> time;
  std::optional<std::int64_t> step;
};

/// The exclusive right of this process to change a list. It has no effect if the list's folder does
/// not exist, or the file system has no locks. Throws Error: CannotOpen if another process has it,
/// or the lock file cannot be created; NoSpace.
[[nodiscard]] std::shared_ptr<const io::LockFile> lock_list(const std::filesystem::path& list);

/// Replaces a list by one rename. Throws Error: CannotOpen, also if another process adds steps to
/// it; NoSpace, WriteFailed.
void write_list(const std::filesystem::path& list, const Entries& entries, bool flush);

/// The files that a list may contain.
struct Files
{
  std::function<OwnTime(const std::filesystem::path&)> own_time;
  /// Matches files of a step: other names belong to someone else, even in the same list.
  std::function<std::filesystem::path(std::int64_t step, double time)> of_step;
  /// Matches files of an earlier run.
  std::function<void(const std::filesystem::path&)> remove;
};

/// Returns a file's name in a list.
[[nodiscard]] std::string name_in_list(
  const std::filesystem::path& file, const std::filesystem::path& list);

/// A list to which steps are added, with its StockList. An existing list is continued with those of
/// its files that exist. A simulation that returns to a step replaces everything from that step on,
/// so a list belongs to one process: from the first call below until the List is destroyed. Not
/// thread-safe.
class List
{
public:
  /// Called with a line for the user to read.
  using Notice = std::function<void(const std::string&)>;

  /// With `flush`, waits until a list is on disk before it replaces the previous one.
  List(std::filesystem::path path, Files files, bool flush, Notice notice);

  /// Called before anything of a step is written: takes the list for this process. Throws as
  /// lock_list().
  void claim();
  /// The last of the files that stay next to that of a step. Throws as add().
  [[nodiscard]] std::optional<std::filesystem::path> last_beside(std::int64_t step, double time);
  /// Called before the file of a step has its name: removes the step and those after it from the
  /// existing list, so that no list ever names files of two runs. Throws as add().
  void make_way(std::int64_t step, double time);
  /// Inserts the step and replaces the list by one rename; then removes the files that it has
  /// replaced. Its time is `time`. If that is not later than the previous time, it is advanced by
  /// the clock's progress or, if the clock has gone back, by the time that earlier steps took.
  /// Throws Error: as lock_list(), CannotOpen, NoSpace, WriteFailed; Corrupt if the existing file
  /// is not a list.
  void add(std::int64_t step, double time);

private:
  [[nodiscard]] std::string name_of(std::int64_t step, double time) const;
  void refresh();
  struct Change;
  [[nodiscard]] Change with(std::int64_t step, double time) const;
  [[nodiscard]] Change without(std::int64_t step, double time) const;
  nlohmann::ordered_json replace(const Entries& entries);

  std::filesystem::path path_;
  StockList stock_list_;
  Files files_;
  bool flush_;
  Notice notice_;
  Entries entries_;
  Entries dropped_;                    ///< no longer in the list, but still on disk
  std::optional<std::string> written_; ///< the text that entries_ are of
  std::shared_ptr<const io::LockFile> lock_;
  bool has_reported_clock_ = false;
};
}
