#include "pipelines.hpp"

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
      warnings.push_back(fmt::format("{} is of type {}, not io: it is ignored", node.path(), type));
      continue;
    }
    Pipeline pipeline{ node.require_string("channel"), node.require_string("filename") };
    if (!is_bat(pipeline.file))
    {
      warnings.push_back(
        fmt::format("{} writes {}, no .bat file: it is ignored", node.path(), pipeline.file));
      continue;
    }
    static_cast<void>(insitu::FilePattern(pipeline.file));
    result.push_back(std::move(pipeline));
  }
  if (const auto scripts = root.find("scripts"); scripts && !scripts->is_empty())
  {
    warnings.push_back(fmt::format("{} is ignored: scripts need ParaView", scripts->path()));
  }
  return result;
}
}
