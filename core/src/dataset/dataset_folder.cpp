#include "dataset/dataset_folder.hpp"

#include "io/atomic_file.hpp"

#include <fmt/format.h>

#include <exception>
#include <vector>

namespace bat
{
namespace
{
bool is_hex(const std::string& text)
{
  return text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool is_leaf_file_name(const std::string& name)
{
  const std::size_t dash = name.find('-');
  return dash >= 5 && dash != std::string::npos && name.size() == dash + 1 + 16 + 4 &&
    name.find_first_not_of("0123456789") == dash && is_hex(name.substr(dash + 1, 16)) &&
    name.substr(dash + 17) == ".bat";
}

template <class IsOurs>
std::vector<std::string> names_in(const std::filesystem::path& folder, const IsOurs& is_ours)
{
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
  {
    std::string name = entry->path().filename().string();
    if (is_ours(name))
    {
      names.push_back(std::move(name));
    }
  }
  return names;
}
}

std::filesystem::path leaves_folder(const std::filesystem::path& top)
{
  return top.parent_path() / (top.filename().string() + ".leaves");
}

std::string leaf_file_name(std::uint32_t leaf, std::uint64_t header_checksum)
{
  return fmt::format("{:05}-{:016x}.bat", leaf, header_checksum);
}

void remove_leftovers(const std::filesystem::path& path, const std::set<std::string>& keep) noexcept
{
  try
  {
    const std::filesystem::path top = io::follow_links(path);
    const std::filesystem::path beside =
      top.has_parent_path() ? top.parent_path() : std::filesystem::path(".");
    const std::string name = top.filename().string();
    for (const std::string& temporary :
      names_in(beside, [&](const std::string& n) { return io::is_temporary_of(n, name); }))
    {
      io::remove_if_abandoned(beside / temporary);
    }
    const std::filesystem::path folder = leaves_folder(top);
    std::error_code none;
    if (!std::filesystem::is_directory(folder, none))
    {
      return;
    }
    for (const std::string& leaf : names_in(folder,
           [&](const std::string& n) { return keep.count(n) == 0 && is_leaf_file_name(n); }))
    {
      std::filesystem::remove(folder / leaf, none);
    }
    for (const std::string& temporary : names_in(folder, io::is_temporary))
    {
      io::remove_if_abandoned(folder / temporary);
    }
    std::filesystem::remove(folder, none); // only works on an empty one
  }
  catch (const std::exception&)
  {
    return; // out of memory or an unreadable folder: the leftovers stay for the next write
  }
}
}
