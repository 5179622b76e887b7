// SPDX-License-Identifier: BSD-3-Clause
// The time levels of an unsteady flow: a .bricks.series list, or one .bricks file.
#pragma once

#include "bat/brick_source.hpp"
#include "bat/bricks/file.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace bat::bricks
{
/// A file of a list.
struct SeriesEntry
{
  std::string file; ///< relative to the folder of the list
  double time = 0;
};

/// Entries of a list. Throws Error: NotFound, CannotOpen, Corrupt (no list of files with times;
/// times that do not increase, naming both).
[[nodiscard]] std::vector<SeriesEntry> read_list(const std::filesystem::path& list);
/// Replaces the list by one rename. Throws Error: InvalidArgument (times, names that are not
/// UTF-8, no entries), CannotOpen, NoSpace, WriteFailed.
void write_list(
  const std::filesystem::path& list, const std::vector<SeriesEntry>& entries, bool flush = true);

/// A series whose files are opened when a level is read first, and then stay open. A file that is
/// missing, damaged, or of another grid is an error only for who needs its level.
class Series : public BrickSource
{
public:
  /// `path`: a list, or one .bricks file, which is a series of one level. Reads the header of one
  /// file, the first that there is. Throws as read_list() and File::open().
  static std::shared_ptr<const Series> open(const std::filesystem::path& path);
  /// `files`: .bricks files, one for each level, in the order of their times; where none has a
  /// time, times are 0, 1, 2, ... One file is opened as by open(path). Reads the headers of all.
  /// Throws Error: InvalidArgument (no files, times that do not increase, by the names of both),
  /// Corrupt (another grid than the first), and as File::open().
  static std::shared_ptr<const Series> open(const std::vector<std::filesystem::path>& files);
  /// The series as it is now, e.g. with times that a simulation has added. Files that this one has
  /// opened stay open for both, unless they were changed or replaced. Throws as open().
  [[nodiscard]] std::shared_ptr<const Series> reopen() const;
  ~Series() override;

  [[nodiscard]] const BrickGrid& grid() const noexcept override;
  [[nodiscard]] const std::vector<double>& times() const noexcept override;
  [[nodiscard]] std::string level_name(std::size_t level) const override;
  std::uint64_t read(std::size_t level, std::uint64_t brick, BrickMemory to) const override;
  /// Of what reopen() gives.
  [[nodiscard]] bool continues_in(const BrickSource& later) const override;

  [[nodiscard]] const std::string& name() const noexcept; ///< of the list, or of the first file
  [[nodiscard]] std::uint64_t grid_id() const noexcept;
  /// The file of a level. Throws Error: InvalidArgument (no such level), and as File::open();
  /// Corrupt if its grid is another.
  [[nodiscard]] const File& level(std::size_t level) const;

private:
  struct Impl;
  explicit Series(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};
}
