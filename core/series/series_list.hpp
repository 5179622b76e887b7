// SPDX-License-Identifier: BSD-3-Clause
// The list of the files of a series that ParaView opens as one source, NAME.bat.series or
// NAME.bricks.series, as a running simulation makes it.
#pragma once

#include "series/entries.hpp"

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
/// Time and step that a file says of itself; nothing where it cannot be read.
struct OwnTime
{
  std::optional<double> time;
  std::optional<std::int64_t> step;
};

/// The right of this process to change a list: others are refused while it lives. Of a list whose
/// folder does not exist, and where the file system has no locks, it keeps nobody out. Throws
/// Error: CannotOpen if another process has it, or the file that is locked cannot be made; NoSpace.
[[nodiscard]] std::shared_ptr<const io::LockFile> lock_list(const std::filesystem::path& list);

/// Replaces a list by one rename. Throws Error: CannotOpen, also if another process adds steps to
/// it; NoSpace, WriteFailed.
void write_list(const std::filesystem::path& list, const Entries& entries, bool flush);

/// The files that a list may have.
struct Files
{
  std::function<OwnTime(const std::filesystem::path&)> own_time;
  /// Of a step: files that are called otherwise are somebody else's, though in the same list.
  std::function<std::filesystem::path(std::int64_t step, double time)> of_step;
  /// Of a run that came before.
  std::function<void(const std::filesystem::path&)> remove;
};

/// How a file is called in a list.
[[nodiscard]] std::string name_in_list(
  const std::filesystem::path& file, const std::filesystem::path& list);

/// A list that steps are added to. One that is there is continued with those of its files that
/// exist. A simulation that comes back to a step replaces what was written from that step on, so a
/// list belongs to one process: from the first call below until the List is destroyed. Not
/// thread-safe.
class List
{
public:
  /// Called with a line that a person should read.
  using Notice = std::function<void(const std::string&)>;

  /// `flush`: waits until a list is on disk before it takes the place of the one before.
  List(std::filesystem::path path, Files files, bool flush, Notice notice);

  /// Before anything of a step is written: takes the list for this process. Throws as lock_list().
  void claim();
  /// The last of the files that stay beside that of a step. Throws as add().
  [[nodiscard]] std::optional<std::filesystem::path> last_beside(std::int64_t step, double time);
  /// Before the file of a step has its name: takes the step, and those after it, out of the list
  /// that is there, so that no list ever names files of two runs. Throws as add().
  void make_way(std::int64_t step, double time);
  /// Puts the step into its place and replaces the list by one rename; then removes the files that
  /// it has replaced. Its time is `time`. If that is not later than the time before, it is later by
  /// the progress of the clock, or, if the clock has gone back, by the time that earlier steps
  /// took. Throws Error: as lock_list(), CannotOpen, NoSpace, WriteFailed; Corrupt if the file
  /// there is not a list.
  void add(std::int64_t step, double time);

private:
  [[nodiscard]] std::string name_of(std::int64_t step, double time) const;
  void refresh();
  struct Change;
  [[nodiscard]] Change with(std::int64_t step, double time) const;
  [[nodiscard]] Change without(std::int64_t step, double time) const;
  void replace(const Entries& entries);

  std::filesystem::path path_;
  Files files_;
  bool flush_;
  Notice notice_;
  Entries entries_;
  Entries dropped_;                    ///< not in the list any more, but still there
  std::optional<std::string> written_; ///< the text that entries_ are of
  std::shared_ptr<const io::LockFile> lock_;
  bool has_reported_clock_ = false;
};
}
