// SPDX-License-Identifier: BSD-3-Clause
// Code shared by the command-line programs: usage, exit status, output, and series.
#pragma once

#include <CLI/CLI.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bat::tools
{
/// Exit status for a usage error; 1 is for files.
constexpr int kUsage = 2;

/// Reads the command line. Returns the exit status if the program ends here: after --help, or after
/// a usage error, which is printed.
[[nodiscard]] std::optional<int> parse(CLI::App& app, int argc, char** argv);

/// Runs a program, named for messages, that returns its exit status. An exception is printed and
/// gives status 1, as does output that could not be written.
[[nodiscard]] int run(const char* name, const std::function<int()>& program);

/// Prints an error to stderr with the program's name, without characters that a terminal would
/// obey.
void complain(const char* name, const std::string& text);

/// Calls f with each path or, for a series, with the paths of its steps; a series of velocities
/// (.bricks.series) counts as one path. Prints what f throws, and continues. Returns the exit
/// status: 1 if something was thrown, else 0.
[[nodiscard]] int for_each_file(const char* name, const std::vector<std::string>& paths,
  const std::function<void(const std::string&)>& f);

/// Shows progress on stderr if that is a terminal; removed at the end.
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
  int percent_ = -1; ///< percentage shown
};

/// Adds the required option FILE, one or several. An unknown option is reported before a missing
/// file.
void add_files(CLI::App& app, std::vector<std::string>& paths);
}
