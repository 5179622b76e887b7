// SPDX-License-Identifier: BSD-3-Clause
#include "idx/read/step_list.hpp"

#include "bat/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <system_error>

namespace bat::idx
{
namespace
{
constexpr std::size_t kMaxSteps = 1000000;

void add_listed(const format::FileNames::Listing& listing, const std::filesystem::path& folder,
  std::vector<std::int64_t>& steps)
{
  const std::filesystem::path where = folder / listing.folder;
  std::error_code error;
  std::filesystem::directory_iterator entries(where, error);
  if (error == std::errc::no_such_file_or_directory)
  {
    return; // the first step of the series is not written yet
  }
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error))
  {
    const std::string name = entries->path().filename().string();
    const std::optional<std::int64_t> step = listing.entry.match(name);
    if (!step || (listing.whole && listing.entry.expand(*step) != name))
    {
      continue;
    }
    if (steps.size() == kMaxSteps)
    {
      throw Error(ErrorCode::Corrupt,
        fmt::format("{}: has more than {} time steps, the maximum", where.string(), kMaxSteps));
    }
    steps.push_back(*step);
  }
  if (error)
  {
    throw Error(ErrorCode::CannotOpen,
      fmt::format("{}: cannot list the time steps: {}", where.string(), error.message()));
  }
}
}

std::vector<std::int64_t> list_steps(
  const Header& header, const format::FileNames& names, const std::filesystem::path& folder)
{
  std::vector<std::int64_t> steps;
  for (const StepRange& range : header.time.ranges)
  {
    for (std::int64_t step = range.first; step <= range.last; step += range.by)
    {
      steps.push_back(step);
    }
  }
  if (header.time.listed)
  {
    add_listed(names.listing(), folder, steps);
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

bool names_step(const Header& header, std::int64_t step) noexcept
{
  return header.time.listed ||
    std::any_of(header.time.ranges.begin(), header.time.ranges.end(),
      [step](const StepRange& range) {
        return step >= range.first && step <= range.last && (step - range.first) % range.by == 0;
      });
}
}
