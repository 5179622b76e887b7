// SPDX-License-Identifier: BSD-3-Clause
// What the programs of the command line share: usage, exit status, what is printed, and series.
#pragma once

#include <CLI/CLI.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bat::tools
{
/// Exit status of a program that was asked for what it does not know; 1 is for files.
constexpr int kUsage = 2;

/// Reads the command line. Returns the exit status if the program ends here: after --help, or a
/// usage error, which is said.
[[nodiscard]] std::optional<int> parse(CLI::App& app, int argc, char** argv);

/// Runs a program, named for messages, whose answer is its exit status. What it throws is said, and
/// is status 1, as is output that could not be written.
[[nodiscard]] int run(const char* name, const std::function<int()>& program);

/// Says on stderr what went wrong, under the program's name; without what a terminal would obey.
void complain(const char* name, const std::string& text);

/// Calls f with each path, or instead of a series with those of its steps; a series of velocities
/// (.bricks.series) is one. Says what f throws, and goes on. Returns the exit status: 1 if
/// something was thrown, else 0.
[[nodiscard]] int for_each_file(const char* name, const std::vector<std::string>& paths,
  const std::function<void(const std::string&)>& f);

/// How far something is, on stderr where that is a terminal; gone when it ends.
class ProgressBar
{
public:
  explicit ProgressBar(std::string what);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() { this->clear(); }
  /// `done` goes from 0 to 1.
  void draw(double done);
  void clear();

private:
  std::string what_;
  bool is_terminal_;
  int percent_ = -1; ///< that is drawn
};

/// Adds the option FILE, one or several, which the program needs. An option that is not known is
/// said before a file that is missing.
void add_files(CLI::App& app, std::vector<std::string>& paths);
}
