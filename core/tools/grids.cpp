// SPDX-License-Identifier: BSD-3-Clause
// Describes grids from their headers, and validates them.

#include "tools/grids.hpp"

#include "bat/address.hpp"
#include "bat/error.hpp"
#ifdef BAT_TOOLS_HAVE_BRICKS
#include "bat/bricks/series.hpp"
#endif
#ifdef BAT_TOOLS_HAVE_IDX
#include "bat/idx/dataset.hpp"
#endif

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <exception>
#include <limits>
#include <string_view>
#include <vector>

namespace bat::tools
{
namespace
{
bool ends_in(std::string_view path, std::string_view ending)
{
  return path.size() >= ending.size() && path.substr(path.size() - ending.size()) == ending;
}
bool is_idx(const std::string& path)
{
  return ends_in(file_name(path), ".idx");
}

[[noreturn, maybe_unused]] void refuse(const std::string& path)
{
  throw Error(ErrorCode::UnsupportedVersion,
    path + ": this program was built without support for such grids");
}

std::string numbers(const nlohmann::json& values)
{
  std::string text;
  for (const nlohmann::json& value : values)
  {
    text += (text.empty() ? "" : " ") + fmt::format("{:.6g}", value.get<double>());
  }
  return text;
}

std::string dimensions(const nlohmann::json& counts)
{
  return fmt::format("{}", fmt::join(counts.get<std::vector<std::int64_t>>(), " x "));
}

std::string times(const nlohmann::json& all)
{
  return all.empty() ? std::string("none")
    : all.size() == 1
    ? fmt::format("time {:.6g}", all.front().get<double>())
    : fmt::format("times {:.6g} to {:.6g}", all.front().get<double>(), all.back().get<double>());
}

#ifdef BAT_TOOLS_HAVE_BRICKS
// Non-finite numbers are printed as null.
nlohmann::json describe_level(const bricks::File& file)
{
  const bricks::Header& header = file.header();
  const bricks::BrickCounts counts = file.count_bricks();
  nlohmann::json level{ { "file", file.name() }, { "field", header.field },
    { "max_speed", header.largest_speed }, { "bricks", counts.bricks },
    { "blank_bricks", counts.blank }, { "resting_bricks", counts.at_rest },
    { "file_bytes", file.file_bytes() }, { "minimum", nlohmann::json::array() },
    { "maximum", nlohmann::json::array() } };
  level["time"] = header.time ? nlohmann::json(*header.time) : nlohmann::json();
  level["step"] = header.step ? nlohmann::json(*header.step) : nlohmann::json();
  for (int c = 0; c != header.grid.components; ++c)
  {
    level["minimum"].push_back(header.minimum[static_cast<std::size_t>(c)]);
    level["maximum"].push_back(header.maximum[static_cast<std::size_t>(c)]);
  }
  const nlohmann::json metadata = nlohmann::json::parse(header.metadata, nullptr, false);
  level["metadata"] = metadata.is_object() ? metadata : nlohmann::json();
  return level;
}

nlohmann::json describe_bricks(const std::string& path, bool& is_whole)
{
  const auto series = bricks::Series::open(path);
  const BrickGrid& grid = series->grid();
  nlohmann::json about{ { "file", path }, { "dimensions", grid.points }, { "origin", grid.origin },
    { "spacing", grid.spacing }, { "cyclic", grid.cyclic }, { "components", grid.components },
    { "type", name_of(grid.type) }, { "brick_points", grid.edge }, { "times", series->times() } };
  about["levels"] = nlohmann::json::array();
  for (std::size_t level = 0; level != series->times().size(); ++level)
  {
    try
    {
      about["levels"].push_back(describe_level(series->level(level)));
    }
    catch (const Error& error)
    {
      is_whole = false;
      about["levels"].push_back(
        { { "file", series->level_name(level) }, { "problem", error.what() } });
    }
  }
  return about;
}

// Combines the levels of a series. Levels that cannot be read count only as problems.
struct LevelSummary
{
  std::vector<std::string> fields;
  std::vector<std::string> problems;
  std::vector<double> lower; // per component
  std::vector<double> upper;
  double speed = 0;
  std::uint64_t bricks = 0;
  std::uint64_t blank = 0;
  std::uint64_t at_rest = 0;
  std::uint64_t bytes = 0;
};

LevelSummary summarize_levels(const nlohmann::json& levels, std::size_t components)
{
  LevelSummary sum;
  sum.lower.assign(components, std::numeric_limits<double>::infinity());
  sum.upper.assign(components, -std::numeric_limits<double>::infinity());
  for (const nlohmann::json& level : levels)
  {
    if (level.contains("problem"))
    {
      sum.problems.push_back(level["problem"].get<std::string>());
      continue;
    }
    const auto field = level["field"].get<std::string>();
    if (std::find(sum.fields.begin(), sum.fields.end(), field) == sum.fields.end())
    {
      sum.fields.push_back(field);
    }
    for (std::size_t c = 0; c != components; ++c)
    {
      sum.lower[c] = std::min(sum.lower[c], level["minimum"][c].get<double>());
      sum.upper[c] = std::max(sum.upper[c], level["maximum"][c].get<double>());
    }
    sum.speed = std::max(sum.speed, level["max_speed"].get<double>());
    sum.bricks += level["bricks"].get<std::uint64_t>();
    sum.blank += level["blank_bricks"].get<std::uint64_t>();
    sum.at_rest += level["resting_bricks"].get<std::uint64_t>();
    sum.bytes += level["file_bytes"].get<std::uint64_t>();
  }
  return sum;
}

std::string tell_bricks(const nlohmann::json& about)
{
  std::string text = fmt::format("{}\n", about["file"].get<std::string>());
  const std::size_t components = about["components"].get<std::size_t>();
  const LevelSummary sum = summarize_levels(about["levels"], components);
  std::string cyclic;
  for (std::size_t a = 0; a != 3; ++a)
  {
    cyclic +=
      about["cyclic"][a].get<bool>() ? std::string(cyclic.empty() ? "" : " ") + "xyz"[a] : "";
  }
  text += fmt::format("  levels           {}, {}\n", about["levels"].size(), times(about["times"]));
  text += fmt::format("  grid             {} points, origin {}, spacing {}{}\n",
    dimensions(about["dimensions"]), numbers(about["origin"]), numbers(about["spacing"]),
    cyclic.empty() ? "" : ", periodic along " + cyclic);
  text += fmt::format("  velocity         {}, {} x {}\n", fmt::join(sum.fields, ", "), components,
    about["type"].get<std::string>());
  for (std::size_t c = 0; c != components; ++c)
  {
    text += fmt::format("    {}: {}\n", "xyz"[c],
      sum.lower[c] <= sum.upper[c] ? fmt::format("{:.6g} to {:.6g}", sum.lower[c], sum.upper[c])
                                   : "no flow");
  }
  text += fmt::format("  speed            at most {:.6g}\n", sum.speed);
  text +=
    fmt::format("  bricks           {} of {} points along each axis: {} without flow, {} at rest\n",
      sum.bricks, about["brick_points"].get<int>(), sum.blank, sum.at_rest);
  text += fmt::format("  size             {} bytes\n", sum.bytes);
  for (const std::string& problem : sum.problems)
  {
    text += fmt::format("  cannot be read   {}\n", problem);
  }
  return text;
}
#endif

#ifdef BAT_TOOLS_HAVE_IDX
nlohmann::json describe_idx(const std::string& path)
{
  const idx::Dataset dataset = idx::Dataset::open(path);
  const idx::Lattice lattice = dataset.lattice(dataset.levels());
  const idx::Geometry geometry = dataset.geometry();
  nlohmann::json about{ { "file", path }, { "dimensions", lattice.count },
    { "first", lattice.first }, { "origin", geometry.origin }, { "spacing", geometry.spacing },
    { "levels", dataset.levels() + 1 }, { "steps", dataset.steps() },
    { "times", dataset.times() } };
  about["warning"] = geometry.warning.empty() ? nlohmann::json() : nlohmann::json(geometry.warning);
  about["fields"] = nlohmann::json::array();
  for (const idx::Field& field : dataset.fields())
  {
    about["fields"].push_back({ { "name", field.name }, { "type", name_of(field.type) },
      { "components", field.components } });
  }
  return about;
}

std::string tell_idx(const nlohmann::json& about)
{
  std::string text = fmt::format("{}\n", about["file"].get<std::string>());
  text += fmt::format("  grid             {} samples, origin {}, spacing {}\n",
    dimensions(about["dimensions"]), numbers(about["origin"]), numbers(about["spacing"]));
  if (!about["warning"].is_null())
  {
    text += fmt::format("  place            {}\n", about["warning"].get<std::string>());
  }
  text += fmt::format("  levels           {}\n", about["levels"].get<int>());
  text += fmt::format("  steps            {}, {}\n", about["steps"].size(), times(about["times"]));
  text += fmt::format("  fields           {}\n", about["fields"].size());
  for (const nlohmann::json& field : about["fields"])
  {
    text += fmt::format("    {}: {} x {}\n", field["name"].get<std::string>(),
      field["components"].get<int>(), field["type"].get<std::string>());
  }
  return text;
}
#endif
}

bool is_grid(const std::string& path)
{
  return is_idx(path) || ends_in(path, ".bricks") || ends_in(path, ".bricks.series");
}

nlohmann::json describe_grid(const std::string& path, [[maybe_unused]] bool& is_whole)
{
#ifdef BAT_TOOLS_HAVE_IDX
  if (is_idx(path))
  {
    return describe_idx(path);
  }
#endif
#ifdef BAT_TOOLS_HAVE_BRICKS
  if (!is_idx(path))
  {
    return describe_bricks(path, is_whole);
  }
#endif
  refuse(path);
}

std::string tell_grid([[maybe_unused]] const nlohmann::json& about)
{
#ifdef BAT_TOOLS_HAVE_IDX
  if (about.contains("steps"))
  {
    return tell_idx(about);
  }
#endif
#ifdef BAT_TOOLS_HAVE_BRICKS
  return tell_bricks(about);
#else
  return {};
#endif
}

std::string validate_grid(const std::string& path)
{
#ifdef BAT_TOOLS_HAVE_IDX
  if (is_idx(path))
  {
    const idx::Dataset dataset = idx::Dataset::open(path);
    const std::vector<std::int64_t> steps = dataset.steps();
    std::uint64_t samples = 0;
    std::uint64_t absent = 0;
    for (const std::int64_t step : steps)
    {
      for (std::size_t field = 0; field != dataset.fields().size(); ++field)
      {
        const idx::ReadReport report = dataset.check(field, step);
        samples += report.samples;
        absent += report.absent_blocks;
      }
    }
    return fmt::format("{} samples of all fields, {} step{}{}", samples, steps.size(),
      steps.size() == 1 ? "" : "s", absent == 0 ? "" : fmt::format(", {} blocks absent", absent));
  }
#endif
#ifdef BAT_TOOLS_HAVE_BRICKS
  if (!is_idx(path))
  {
    const auto series = bricks::Series::open(path);
    std::uint64_t count = 0;
    std::uint64_t blank = 0;
    for (std::size_t level = 0; level != series->times().size(); ++level)
    {
      const bricks::Checked checked = series->level(level).validate();
      count += checked.bricks;
      blank += checked.blank_bricks;
    }
    return fmt::format("{} level{}, {} bricks, {} of them without flow", series->times().size(),
      series->times().size() == 1 ? "" : "s", count, blank);
  }
#endif
  refuse(path);
}
}
