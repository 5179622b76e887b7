// SPDX-License-Identifier: BSD-3-Clause
#include "particles/repack/repack_series.hpp"

#include "bat/error.hpp"
#include "bat/series.hpp"
#include "series/read_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace bat
{
namespace
{
// Returns "out" for "folder/out.bat.series".
std::string stem_of(const std::filesystem::path& list)
{
  const std::filesystem::path name = list.filename().stem();
  return (name.extension() == ".bat" ? name.stem() : name).string();
}
}

SeriesCopy make_series_copy(const std::filesystem::path& in, const std::filesystem::path& out)
{
  if (!is_series(out))
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{}: the output of a series must be a series, with a name ending in "
                  ".bat.series; found '{}'",
        in.string(), out.string()));
  }
  nlohmann::ordered_json list =
    series::parse_list(series::read_text(in), in, series::Times::Optional);
  SeriesCopy copy;
  std::map<std::string, std::string> names;
  for (auto& file : list["files"])
  {
    const auto name = file.at("name").get<std::string>();
    auto known = names.find(name);
    if (known == names.end())
    {
      const std::string made = fmt::format("{}_{:04}.bat", stem_of(out), copy.steps.size());
      known = names.emplace(name, made).first;
      copy.steps.push_back({ in.parent_path() / name, out.parent_path() / made });
    }
    file["name"] = known->second;
  }
  // A step must not replace another input step, which would be lost if a later step failed.
  std::vector<std::filesystem::path> given{ in };
  for (const StepCopy& step : copy.steps)
  {
    given.push_back(step.in);
  }
  std::vector<std::filesystem::path> made{ out };
  for (const StepCopy& step : copy.steps)
  {
    made.push_back(step.out);
  }
  std::map<std::filesystem::path, std::filesystem::path> places;
  for (const std::filesystem::path& path : given)
  {
    places.emplace(std::filesystem::weakly_canonical(path), path);
  }
  for (const std::filesystem::path& path : made)
  {
    if (places.count(std::filesystem::weakly_canonical(path)) != 0)
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("{}: would be replaced while being read; a series needs another name or "
                    "folder",
          path.string()));
    }
  }
  if (list.contains(series::kChecksum))
  {
    list[series::kChecksum] = series::compute_checksum(series::list_entries(list));
  }
  copy.list = std::move(list);
  return copy;
}
}
