// SPDX-License-Identifier: BSD-3-Clause
// A .bricks.series to which a running simulation adds time levels.
#pragma once

#include "bat/bricks/write.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace bat::bricks
{
/// Checks that `header`, of a level to be written, matches the file of another level of its series.
/// Origin and spacing become those of that file if all points agree within 0.001 of a spacing. A
/// file that cannot be opened is ignored. Throws Error{InvalidArgument}, naming both times, if grid
/// or field differ.
void match_level(Header& header, const std::filesystem::path& other);

/// A list of levels that readers may open at any time: it names complete files of one run, in the
/// order of their steps, with increasing times. An existing list is continued with those of its
/// files that still exist. A simulation that returns to a step, after a restart for instance,
/// replaces the levels written from that step on: they leave the list before the file of the step
/// gets its name, and are removed once the step is in the list. If the clock of a simulation stands
/// still or goes back, the list continues from its last time at the pace of the steps before
/// (INSITU.md, Times). Not thread-safe.
class GrowingSeries
{
public:
  /// Returns the file of a step: always the same for the same step and time.
  using FileOfStep = std::function<std::filesystem::path(std::int64_t step, double time)>;
  /// Called with a line for the user to read.
  using Notice = std::function<void(const std::string&)>;

  /// Without `notice`, notices are printed to standard error.
  GrowingSeries(
    std::filesystem::path list, FileOfStep file_of_step, bool flush = true, Notice notice = {});
  /// Writes files next to the list, NAME_000012.bricks for step 12 of NAME.bricks.series. Throws
  /// Error{InvalidArgument} if the list has another kind of name.
  explicit GrowingSeries(const std::filesystem::path& list, bool flush = true, Notice notice = {});
  ~GrowingSeries();
  GrowingSeries(GrowingSeries&&) noexcept;
  GrowingSeries& operator=(GrowingSeries&&) noexcept;

  /// Writes a level and adds it. The header must have a step and a finite time. Throws as
  /// bricks::write(); Corrupt if a file of the list's name is not a list; InvalidArgument if step
  /// or time are missing, the file name is not UTF-8, or grid or field differ from the levels that
  /// stay. Origin and spacing become those of these levels if all points agree within 0.001 of a
  /// spacing.
  WriteReport write(
    const Header& header, const void* values, std::size_t bytes, const WriteOptions& options = {});

  // The parts of write(), for many ranks (bat/bricks/parallel.hpp). Only rank 0 calls with_list()
  // and add().
  /// Throws Error{InvalidArgument} as write().
  [[nodiscard]] std::filesystem::path file_of(const Header& header) const;
  /// Returns options with which to write the level, so that no list ever names levels of two runs.
  /// The series must outlive them.
  [[nodiscard]] WriteOptions with_list(const Header& header, WriteOptions options);
  /// Adds the level once its file has its name.
  void add(const Header& header);

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};
}
