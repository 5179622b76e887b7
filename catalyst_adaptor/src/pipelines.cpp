// SPDX-License-Identifier: BSD-3-Clause
#include "pipelines.hpp"

#include "grid_outputs.hpp"

#include "bat/insitu.hpp"

#include <fmt/format.h>

#include <string_view>

namespace bat::catalyst
{
namespace
{
bool is_bat(std::string_view file)
{
  constexpr std::string_view extension = ".bat";
  return file.size() > extension.size() && file.substr(file.size() - extension.size()) == extension;
}

void check_pattern(const std::string& file)
{
  if (GridPattern::is_one(file))
  {
    static_cast<void>(GridPattern(file));
  }
  else
  {
    static_cast<void>(insitu::FilePattern(file));
  }
}
}

std::vector<Pipeline> read_pipelines(const Node& root, std::vector<std::string>& warnings)
{
  std::vector<Pipeline> result;
  const auto pipelines = root.find("pipelines");
  for (std::size_t i = 0; pipelines && i != pipelines->size(); ++i)
  {
    const Node node = pipelines->child(i);
    const std::string type = node.require_string("type");
    if (type != "io")
    {
      warnings.push_back(fmt::format("{} has type {}, not io: it is ignored", node.path(), type));
      continue;
    }
    Pipeline pipeline{ node.name(), node.require_string("channel"),
      node.require_string("filename") };
    if (!is_bat(pipeline.file) && !GridPattern::is_one(pipeline.file))
    {
      warnings.push_back(
        fmt::format("{} writes {}, not a .bat, .idx or .bricks file: it is ignored", node.path(),
          pipeline.file));
      continue;
    }
    check_pattern(pipeline.file);
    result.push_back(std::move(pipeline));
  }
  if (const auto scripts = root.find("scripts"); scripts && !scripts->is_empty())
  {
    warnings.push_back(fmt::format("{} is ignored: scripts require ParaView", scripts->path()));
  }
  return result;
}

// A text names a pipeline; an object contains a script, which needs ParaView. Anything else, such
// as 0, requests nothing.
std::optional<std::vector<std::string>> selected_pipelines(const Node& root)
{
  const auto pipelines = root.find("state/pipelines");
  if (!pipelines || pipelines->is_empty())
  {
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i != pipelines->size(); ++i)
  {
    if (const auto name = pipelines->child(i).string())
    {
      names.push_back(*name);
    }
  }
  return names;
}
}
