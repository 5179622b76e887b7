// SPDX-License-Identifier: BSD-3-Clause
// bat_repack IN OUT: the same particles, stored differently. Exit status 0: done; 1: a file cannot
// be read or written; 2: usage, or an impossible request; 130: interrupted.

#include "bat/bat.hpp"
#include "bat/repack.hpp"
#include "bat/write_options.hpp"
#include "tools/program.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <map>

namespace
{
volatile std::sig_atomic_t interrupted = 0;

constexpr int kInterrupted = 130;

struct Arguments
{
  std::string in;
  std::string out;
  std::map<std::string, std::vector<std::string>> given; ///< keys: option name
  bool no_sorted_indexes = false;
  bool no_stable_samples = false;
  bool force = false;
  bool json = false;
};

bool is_list(const bat::OptionInfo& option)
{
  return option.type == "list of strings";
}

void add_options(CLI::App& app, Arguments& arguments)
{
  app.add_option("IN", arguments.in, "a .bat or .pbat file, or a .bat.series")->required();
  app.add_option("OUT", arguments.out, "file to write; OUT.bat.series for a series")->required();
  const std::vector<std::string>& names = bat::repack_option_names();
  for (const bat::OptionInfo& option : bat::option_table())
  {
    if (std::find(names.begin(), names.end(), option.name) == names.end())
    {
      continue;
    }
    std::string dashed = "--" + option.name;
    std::replace(dashed.begin(), dashed.end(), '_', '-');
    CLI::Option* added = app.add_option(dashed, arguments.given[option.name],
      is_list(option) ? "an item of the list; repeat the option for several" : option.allowed);
    added->expected(1);
    added->type_name("VALUE");
    if (is_list(option))
    {
      added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
  }
  app.add_flag("--no-sorted-indexes", arguments.no_sorted_indexes, "remove the existing ones")
    ->excludes(app.get_option("--sorted-indexes"));
  app
    .add_flag("--no-stable-samples", arguments.no_stable_samples,
      "use the most evenly spread particles for a quality")
    ->excludes(app.get_option("--stable-samples"));
  app.add_flag("--force", arguments.force, "replace an existing OUT");
  app.add_flag("--json", arguments.json, "print one line of JSON");
}

// A number where the text is one.
bat::OptionValue value_of(const std::string& text)
{
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_number_float())
  {
    return json.get<double>();
  }
  if (json.is_number_integer() && !(json.is_number_unsigned() && json.get<std::uint64_t>() >> 63))
  {
    return json.get<std::int64_t>();
  }
  return text;
}

bat::RepackOptions parse_options(const Arguments& arguments)
{
  bat::WriteOptions all;
  bat::RepackOptions options;
  for (const bat::OptionInfo& option : bat::option_table())
  {
    const auto given = arguments.given.find(option.name);
    if (given == arguments.given.end() || given->second.empty())
    {
      continue;
    }
    options.changed.insert(option.name);
    if (is_list(option))
    {
      bat::set_option(all, option.name, given->second);
    }
    else
    {
      const std::string& text = given->second.back();
      bat::set_option(
        all, option.name, option.type == "word" ? bat::OptionValue(text) : value_of(text));
    }
  }
  if (arguments.no_sorted_indexes)
  {
    options.changed.insert("sorted_indexes");
  }
  if (arguments.no_stable_samples)
  {
    options.changed.insert("stable_samples");
  }
  options.build = all.build;
  return options;
}

void refuse_to_replace(const Arguments& arguments)
{
  for (const std::filesystem::path& path : bat::repack_targets(arguments.in, arguments.out))
  {
    if (std::filesystem::exists(path))
    {
      throw bat::Error(bat::ErrorCode::InvalidArgument,
        fmt::format("{}: already exists; use --force to replace it", path.string()));
    }
  }
}

void print(const Arguments& arguments, const bat::RepackReport& report)
{
  if (arguments.json)
  {
    nlohmann::ordered_json line{ { "file", arguments.in }, { "out", arguments.out } };
    line.update(nlohmann::ordered_json::parse(to_json(report)));
    fmt::print(
      "{}\n", bat::printable(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
    return;
  }
  fmt::print("{}: {} particles, all verified; {} bytes, previously {}\n",
    bat::printable(arguments.out), report.particles, report.bytes_after, report.bytes_before);
}

int repack(const Arguments& arguments)
{
  if (!arguments.force)
  {
    refuse_to_replace(arguments);
  }
  bat::RepackOptions options = parse_options(arguments);
  bat::tools::ProgressBar bar("bat_repack");
  options.build.progress = [&](double done)
  {
    bar.draw(done);
    return interrupted == 0;
  };
  if (std::signal(SIGINT, [](int) { interrupted = 1; }) == SIG_IGN)
  {
    std::signal(SIGINT, SIG_IGN); // keeps the setting of the calling program
  }
  const bat::RepackReport report = bat::repack(arguments.in, arguments.out, options);
  bar.clear();
  print(arguments, report);
  return 0;
}
}

int main(int argc, char** argv)
{
  CLI::App app("Rewrites a dataset: the same particles, stored differently. Properties without "
               "an option are kept; all values are verified.",
    "bat_repack");
  app.set_version_flag("--version", std::string("bat_repack ") + bat::kLibraryVersion);
  Arguments arguments;
  add_options(app, arguments);
  if (const std::optional<int> status = bat::tools::parse(app, argc, argv))
  {
    return *status;
  }
  return bat::tools::run("bat_repack",
    [&]
    {
      try
      {
        return repack(arguments);
      }
      catch (const bat::Error& error)
      {
        const bool is_cancelled = error.code() == bat::ErrorCode::Cancelled;
        if (!is_cancelled && error.code() != bat::ErrorCode::InvalidArgument)
        {
          throw;
        }
        bat::tools::complain("bat_repack", is_cancelled ? "interrupted" : error.what());
        return is_cancelled ? kInterrupted : bat::tools::kUsage;
      }
    });
}
