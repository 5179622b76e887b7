// SPDX-License-Identifier: BSD-3-Clause
// Makes the file names of a series from a pattern, a species and a step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace bat::insitu
{
/// Names of the files of a series. A pattern is a path in which
///   {timestep} {timestep:06d} %ts %06ts   is the number of the step,
///   {time} {time:.3f}                     the simulation time,
///   {name} {channel}                      the name of the species.
/// A pattern without the step number gets "_{timestep:06d}" before its extension. A missing
/// extension is added.
class FilePattern
{
public:
  /// Throws Error{InvalidArgument}if the pattern is empty, has another extension, or a placeholder
  /// cannot be filled in.
  explicit FilePattern(std::string_view pattern, std::string_view extension = ".bat");

  /// True if files of two species have different names.
  [[nodiscard]] bool has_name() const noexcept { return this->has_name_; }
  /// Inserts "_{name}" before the step number, unless has_name().
  void add_name();

  [[nodiscard]] std::filesystem::path file(
    std::int64_t step, double time, std::string_view name) const;
  /// Returns the path of a species' file list, NAME.bat.series for .bat: the pattern without step
  /// and time, in the innermost folder that does not change from step to step.
  [[nodiscard]] std::filesystem::path series(std::string_view name) const;
  /// Returns the path of a species' tracks next to that list, NAME.tracks.bat.
  [[nodiscard]] std::filesystem::path tracks(std::string_view name) const;

private:
  std::string extension_;
  std::string format_; ///< format for fmt, with the arguments timestep, time and name
  bool has_name_ = false;
};
}
