// SPDX-License-Identifier: BSD-3-Clause
#include "bat/free_memory.hpp"

#include "bat/error.hpp"

#include <fmt/format.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>

namespace bat
{
namespace
{
constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

// Returns the number after a word at the beginning of a line; the number in the first line if no
// word is given.
std::optional<std::uint64_t> number_in(const std::string& path, std::string_view word = {})
{
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);)
  {
    const bool is_it = line.compare(0, word.size(), word) == 0;
    const std::size_t digit = line.find_first_of("0123456789", word.size());
    if (is_it && digit != std::string::npos)
    {
      try
      {
        return std::stoull(line.substr(digit));
      }
      catch (const std::exception&)
      {
        return std::nullopt; // longer than 64 bits: no limit
      }
    }
    if (word.empty())
    {
      break; // "max"
    }
  }
  return std::nullopt;
}

std::uint64_t left(std::uint64_t limit, std::uint64_t used)
{
  return limit - std::min(limit, used);
}

std::uint64_t free_in_system()
{
  const auto available = number_in("/proc/meminfo", "MemAvailable:");
  if (!available)
  {
    return kUnknown;
  }
  return (*available + number_in("/proc/meminfo", "SwapFree:").value_or(0)) * 1024;
}

// File names for a control group, in version 2 and in version 1.
struct GroupFiles
{
  const char* limit;
  const char* used;
  const char* active;
  const char* inactive;
};
constexpr GroupFiles kGroupsV2{ "memory.max", "memory.current", "active_file ", "inactive_file " };
constexpr GroupFiles kGroupsV1{ "memory.limit_in_bytes", "memory.usage_in_bytes",
  "total_active_file ", "total_inactive_file " };

std::uint64_t free_in_group(const std::string& folder, const GroupFiles& files)
{
  const auto limit = number_in(folder + files.limit);
  const auto used = number_in(folder + files.used);
  if (!limit || !used)
  {
    return kUnknown;
  }
  const std::string statistics = folder + "memory.stat";
  const std::uint64_t caches = number_in(statistics, files.active).value_or(0) +
    number_in(statistics, files.inactive).value_or(0);
  return left(*limit, left(*used, caches));
}

// Returns the free memory within the group and all groups that contain it. In a container the path
// may be the host's, of which only the root exists.
std::uint64_t free_in_groups(const std::string& root, std::string path, const GroupFiles& files)
{
  std::uint64_t free = free_in_group(root + "/", files);
  for (; path.size() > 1; path.resize(path.rfind('/')))
  {
    free = std::min(free, free_in_group(root + path + "/", files));
  }
  return free;
}

std::uint64_t free_in_all_groups()
{
  std::uint64_t free = kUnknown;
  std::ifstream stream("/proc/self/cgroup"); // lines "0::/a/b" or "4:memory:/a/b"
  for (std::string line; std::getline(stream, line);)
  {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos || line.compare(second + 1, 1, "/") != 0)
    {
      continue;
    }
    const std::string of = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (of == ",,")
    {
      free = std::min(free, free_in_groups("/sys/fs/cgroup", path, kGroupsV2));
    }
    else if (of.find(",memory,") != std::string::npos)
    {
      free = std::min(free, free_in_groups("/sys/fs/cgroup/memory", path, kGroupsV1));
    }
  }
  return free;
}

std::uint64_t compute_free_within_limits()
{
  std::array<std::uint64_t, 6> pages{}; // all, resident, shared, text, 0, data and stack
  std::ifstream stream("/proc/self/statm");
  for (std::uint64_t& count : pages)
  {
    stream >> count;
  }
  if (!stream)
  {
    return kUnknown;
  }
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto left_of = [&](auto resource, std::uint64_t used)
  {
    rlimit limit{};
    return ::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY
      ? kUnknown
      : left(limit.rlim_cur, used * page);
  };
  return std::min(left_of(RLIMIT_AS, pages[0]), left_of(RLIMIT_DATA, pages[5]));
}
}

std::uint64_t free_memory() noexcept
{
  std::uint64_t free = kUnknown;
  for (std::uint64_t (*of)() :
    { &free_in_system, &free_in_all_groups, &compute_free_within_limits })
  {
    (void)attempt([&] { free = std::min(free, of()); });
  }
  return free;
}

void check_memory(double bytes, const std::string& what, const std::string& advice)
{
  constexpr double kNegligibleBytes = 1 << 20;
  if (bytes < kNegligibleBytes)
  {
    return;
  }
  const std::uint64_t free = free_memory();
  if (!(bytes <= static_cast<double>(free)))
  {
    throw Error(ErrorCode::OutOfMemory,
      fmt::format("{} need {}; {} of memory are free{}{}", what, size_text(bytes),
        size_text(static_cast<double>(free)), advice.empty() ? "" : "; ", advice));
  }
}

std::string size_text(double bytes)
{
  static constexpr std::array<const char*, 7> kUnits{ "bytes", "KiB", "MiB", "GiB", "TiB", "PiB",
    "EiB" };
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 != kUnits.size())
  {
    bytes /= 1024;
    ++unit;
  }
  const int digits = unit == 0 ? 0 : bytes < 10 ? 2 : bytes < 100 ? 1 : 0;
  return fmt::format("{:.{}f} {}", bytes, digits, kUnits[unit]);
}
}
