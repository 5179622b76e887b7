// SPDX-License-Identifier: BSD-3-Clause
// Code shared by the command-line programs.

#include "tools/program.hpp"

#include "bat/error.hpp"
#include "bat/series.hpp"
#include "bat/text.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace bat::tools
{
std::optional<int> parse(CLI::App& app, int argc, char** argv)
{
  try
  {
    app.parse(argc, argv);
    return std::nullopt;
  }
  catch (const CLI::ParseError& e)
  {
    return app.exit(e) == 0 ? 0 : kUsage;
  }
}

int run(const char* name, const std::function<int()>& program)
{
  int status = 1;
  try
  {
    status = program();
  }
  catch (const std::exception&)
  {
    complain(name, current_error().what());
    return 1;
  }
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
  {
    complain(name,
      fmt::format("the output cannot be written: {}",
        errno != 0 ? std::strerror(errno) : "an earlier write failed"));
    return 1;
  }
  return status;
}

void complain(const char* name, const std::string& text)
{
  fmt::print(stderr, "{}: {}\n", name, printable(text));
}

namespace
{
// True if nothing was thrown.
bool succeeds(const char* name, const std::string& path, const std::function<void()>& f)
{
  const std::optional<Error> error = attempt(f);
  if (!error)
  {
    return true;
  }
  const std::string text = error->what();
  const bool is_nameless =
    error->code() == ErrorCode::OutOfMemory && text.find(path) == std::string::npos;
  complain(name, is_nameless ? path + ": " + text : text);
  return false;
}

bool is_series_of_bricks(const std::string& path)
{
  constexpr std::string_view kEnding = ".bricks.series";
  return path.size() >= kEnding.size() &&
    path.compare(path.size() - kEnding.size(), kEnding.size(), kEnding) == 0;
}
}

int for_each_file(const char* name, const std::vector<std::string>& paths,
  const std::function<void(const std::string&)>& f)
{
  bool well = true;
  for (const std::string& given : paths)
  {
    std::vector<SeriesStep> steps;
    if (is_series_of_bricks(given))
    {
      well &= succeeds(name, given, [&] { f(given); });
      continue;
    }
    well &= succeeds(name, given, [&] { steps = read_series(given); });
    for (const SeriesStep& step : steps)
    {
      const std::string file = step.path.string();
      well &= succeeds(name, file, [&] { f(file); });
    }
  }
  return well ? 0 : 1;
}

ProgressBar::ProgressBar(std::string what)
  : what_(std::move(what))
  , is_terminal_(::isatty(STDERR_FILENO) == 1)
{
}

void ProgressBar::draw(double done)
{
  const int percent = static_cast<int>(100 * done);
  if (this->is_terminal_ && percent != this->percent_)
  {
    this->percent_ = percent;
    const std::string bar(static_cast<std::size_t>(percent / 4), '#');
    fmt::print(stderr, "\r{} [{:25}] {:3} %", this->what_, bar, percent);
  }
}

void ProgressBar::clear()
{
  if (this->percent_ >= 0)
  {
    fmt::print(stderr, "\r\033[K");
    this->percent_ = -1;
  }
}

void add_files(CLI::App& app, std::vector<std::string>& paths)
{
  app.add_option("FILE", paths, "a .bat or .pbat file, or a .bat.series with all its steps")
    ->option_text("...");
  app.final_callback(
    [&paths]
    {
      if (paths.empty())
      {
        throw CLI::RequiredError("FILE");
      }
    });
}
}
