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
/// An entry of a list: a file and its time.
struct SeriesEntry
{
  std::string file; ///< relative to the folder of the list
  double time = 0;
};

/// Reads the entries of a list. Throws Error: NotFound, CannotOpen, Corrupt (not a list of files
/// with times, or times that do not increase; names both).
[[nodiscard]] std::vector<SeriesEntry> read_list(const std::filesystem::path& list);
/// Replaces the list by one rename. Throws Error: InvalidArgument (times, names that are not UTF-8,
/// no entries), CannotOpen, NoSpace, WriteFailed.
void write_list(
  const std::filesystem::path& list, const std::vector<SeriesEntry>& entries, bool flush = true);

/// A series whose files are opened when a level is first read, and then stay open. A missing or
/// damaged file, or one of another grid, is an error only when its level is needed.
class Series : public BrickSource
{
public:
  /// Opens `path`: a list, or one .bricks file, which is a series of one level. Reads the header of
  /// the first file that exists. Throws as read_list() and File::open().
  static std::shared_ptr<const Series> open(const std::filesystem::path& path);
  /// Opens `files`: one .bricks file for each level, in the order of their times; if none has a
  /// time, times are 0, 1, 2, ... A single file is opened as by open(path). Reads all headers.
  /// Throws Error: InvalidArgument (no files; times that do not increase, with both names), Corrupt
  /// (a grid that differs from the first), and as File::open().
  static std::shared_ptr<const Series> open(const std::vector<std::filesystem::path>& files);
  /// Opens the current version of the series, e.g. with times that a simulation has added. Files
  /// that this object has opened are shared unless they were changed or replaced. Throws as open().
  [[nodiscard]] std::shared_ptr<const Series> reopen() const;
  ~Series() override;

  [[nodiscard]] const BrickGrid& grid() const noexcept override;
  [[nodiscard]] const std::vector<double>& times() const noexcept override;
  [[nodiscard]] std::string level_name(std::size_t level) const override;
  std::uint64_t read(std::size_t level, std::uint64_t brick, BrickMemory to) const override;
  /// Used by reopen().
  [[nodiscard]] bool continues_in(const BrickSource& later) const override;
  /// True if any file is at an address.
  [[nodiscard]] bool can_prefetch() const noexcept override;
  void prefetch(
    std::size_t level, const std::vector<std::uint64_t>& bricks) const noexcept override;

  [[nodiscard]] const std::string& name() const noexcept; ///< of the list or the first file
  [[nodiscard]] std::uint64_t grid_id() const noexcept;
  /// Returns the file of a level. Throws Error: InvalidArgument (no such level), as File::open(),
  /// and Corrupt if its grid differs.
  [[nodiscard]] const File& level(std::size_t level) const;

private:
  struct Impl;
  explicit Series(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};
}
