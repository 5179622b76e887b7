// SPDX-License-Identifier: BSD-3-Clause
// A .bricks.series that a running simulation adds time levels to.
#pragma once

#include "bat/bricks/write.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace bat::bricks
{
/// What `header`, of a level to be written, has to share with the file of another level of its
/// series. Origin and spacing become those of that file where all points are within 0.001 of a
/// spacing. A file that cannot be opened is no hindrance. Throws Error{InvalidArgument}, naming
/// both times: another grid, another field.
void match_level(Header& header, const std::filesystem::path& other);

/// A list of levels that readers may open at any time: it names whole files of one run, in the
/// order of their steps, with times that increase. A list that is there is continued with those of
/// its files that exist. A simulation that comes back to a step, after a restart for instance,
/// replaces what was written from that step on: these levels leave the list before the file of the
/// step has its name, and are removed when the step is in the list. Where the clock of a simulation
/// stands still or goes back, the list goes on from the last time in it at the pace of the steps
/// before (INSITU.md, Times). Not thread-safe.
class GrowingSeries
{
public:
  /// The file of a step: the same for the same step and time.
  using FileOfStep = std::function<std::filesystem::path(std::int64_t step, double time)>;
  /// Called with a line that a person should read.
  using Notice = std::function<void(const std::string&)>;

  /// Without `notice`, notices go to the standard error.
  GrowingSeries(
    std::filesystem::path list, FileOfStep file_of_step, bool flush = true, Notice notice = {});
  /// With files beside the list, NAME_000012.bricks for step 12 of NAME.bricks.series. Throws
  /// Error{InvalidArgument} if the list is called otherwise.
  explicit GrowingSeries(const std::filesystem::path& list, bool flush = true, Notice notice = {});
  ~GrowingSeries();
  GrowingSeries(GrowingSeries&&) noexcept;
  GrowingSeries& operator=(GrowingSeries&&) noexcept;

  /// Writes a level and adds it. The header has a step and a time. Throws as bricks::write();
  /// Corrupt if what is there under the name of the list is none; InvalidArgument if the header has
  /// no step or no finite time, the name of the file is not UTF-8, or its grid or field is another
  /// one than that of the levels that stay. Origin and spacing become those of these levels where
  /// all points are within 0.001 of a spacing.
  WriteReport write(
    const Header& header, const void* values, std::size_t bytes, const WriteOptions& options = {});

  // The parts of write(), for many ranks (bat/bricks/parallel.hpp). with_list() and add() are rank
  // 0's.
  /// Throws Error{InvalidArgument} as write().
  [[nodiscard]] std::filesystem::path file_of(const Header& header) const;
  /// Options with which the level is written: no list ever names levels of two runs. The series
  /// lives as long as they do.
  [[nodiscard]] WriteOptions with_list(const Header& header, WriteOptions options);
  /// When the file of the level has its name.
  void add(const Header& header);

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};
}
