// SPDX-License-Identifier: BSD-3-Clause
#include "particles/dataset/dataset_folder.hpp"

#include "bat/error.hpp"
#include "common/io/atomic_file.hpp"
#include "common/io/random_access_file.hpp"
#include "particles/dataset/top_file.hpp"
#include "particles/format/checksum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <vector>

namespace bat
{
namespace
{
constexpr char kDigits[] = "0123456789";

bool consists_of(const std::string& text, const char* characters)
{
  return !text.empty() && text.find_first_not_of(characters) == std::string::npos;
}

bool is_leaf_file_name(const std::string& name)
{
  const std::size_t dash = name.find('-');
  if (dash < 5 || dash == std::string::npos || name.size() < dash + 1 + 16 + 4 ||
    !consists_of(name.substr(0, dash), kDigits) ||
    !consists_of(name.substr(dash + 1, 16), "0123456789abcdef") ||
    name.compare(name.size() - 4, 4, ".bat") != 0)
  {
    return false;
  }
  const std::string variant = name.substr(dash + 17, name.size() - 4 - (dash + 17));
  return variant.empty() || (variant[0] == '-' && consists_of(variant.substr(1), kDigits));
}

// Throws Error if the folder cannot be listed.
template <class IsOurs>
std::vector<std::string> all_names_in(const std::filesystem::path& folder, const IsOurs& is_ours)
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
  if (error)
  {
    throw Error(ErrorCode::CannotOpen,
      fmt::format("{}: cannot be listed: {}", folder.string(), error.message()));
  }
  return names;
}

// None if the folder cannot be listed.
template <class IsOurs>
std::vector<std::string> names_in(const std::filesystem::path& folder, const IsOurs& is_ours)
{
  try
  {
    return all_names_in(folder, is_ours);
  }
  catch (const Error&)
  {
    return {};
  }
}

// Returns whether a file is a top file. Throws Error if damage makes that unknown.
bool is_top(const io::RandomAccessFile& file)
{
  format::Header header{};
  const auto have = static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), sizeof(header)));
  file.read(0, &header, have);
  const std::size_t magic = std::min(have, sizeof(format::kMagic));
  if (std::memcmp(header.magic, format::kMagic, magic) != 0 ||
    (have == 0 && std::filesystem::path(file.name()).extension() != ".bat"))
  {
    return false;
  }
  if (have < sizeof(header) ||
    header.header_checksum != format::checksum(&header, offsetof(format::Header, header_checksum)))
  {
    throw Error(ErrorCode::Corrupt, file.name() + ": the header is damaged");
  }
  return (header.required_features & format::kSeveralLeafFiles) != 0;
}

// Leaf files in `top`'s folder that the top file `other` refers to, under any name of that folder.
// Throws Error if it is a top file and cannot be read.
std::set<std::string> leaf_files_named_by(
  const std::filesystem::path& other, const std::filesystem::path& top)
{
  auto source = std::make_unique<io::RandomAccessFile>(other);
  if (!is_top(*source))
  {
    return {};
  }
  const TopFile file(std::move(source));
  const std::filesystem::path requested = leaves_folder(top);
  std::map<std::string, bool> is_requested; // folders, as they are named
  std::set<std::string> names;
  for (const std::string& name : file.leaf_files().names)
  {
    const std::filesystem::path path = other.parent_path() / name;
    const auto [folder, is_new] = is_requested.emplace(path.parent_path().string(), false);
    if (is_new)
    {
      std::error_code gone; // then it has no leaf file
      folder->second = std::filesystem::equivalent(path.parent_path(), requested, gone);
    }
    if (folder->second)
    {
      names.insert(path.filename().string());
    }
  }
  return names;
}

// Leaf files to which top files next to `top` refer. Empty if one of them cannot be read or is
// being moved, because it might refer to any file.
std::optional<std::set<std::string>> list_other_leaf_files(
  const std::filesystem::path& beside, const std::filesystem::path& top)
{
  try
  {
    std::set<std::string> names;
    for (const std::string& other : all_names_in(beside, [](const std::string&) { return true; }))
    {
      const std::filesystem::path path = beside / other;
      std::error_code error;
      const std::filesystem::file_type type = std::filesystem::symlink_status(path, error).type();
      if (type == std::filesystem::file_type::none || type == std::filesystem::file_type::not_found)
      {
        return std::nullopt;
      }
      if (other != top.filename() && type == std::filesystem::file_type::regular &&
        !io::is_temporary(other))
      {
        names.merge(leaf_files_named_by(path, top));
      }
    }
    return names;
  }
  catch (const Error&)
  {
    return std::nullopt;
  }
}

// Returns the obsolete leaf files that no other dataset can need. With `only_replaced`, others may
// have files in the folder, so only files of the replaced dataset are removable.
std::vector<std::string> removable(const std::filesystem::path& beside,
  const std::filesystem::path& top, const std::set<std::string>& unwanted,
  const std::set<std::string>& replaced, bool only_replaced)
{
  std::vector<std::string> names;
  if (unwanted.empty())
  {
    return names;
  }
  if (const auto needed = list_other_leaf_files(beside, top))
  {
    std::copy_if(unwanted.begin(), unwanted.end(), std::back_inserter(names),
      [&](const std::string& name)
      { return needed->count(name) == 0 && (!only_replaced || replaced.count(name) != 0); });
  }
  return names;
}

std::filesystem::path lock_path(const std::filesystem::path& top)
{
  return io::lock_path(leaves_folder(top) / top.filename());
}

/// Creates the folder if it does not exist; returns whether it created it. Throws Error:
/// CannotOpen, NoSpace.
bool make_leaves_folder(const std::filesystem::path& folder)
{
  std::error_code error;
  if (std::filesystem::is_symlink(folder, error) && !std::filesystem::exists(folder, error))
  {
    throw Error(ErrorCode::CannotOpen,
      fmt::format("{}: the folder for leaf files is a link to '{}', which does not exist",
        folder.string(), std::filesystem::read_symlink(folder).string()));
  }
  const bool is_new = std::filesystem::create_directory(folder, error);
  std::error_code unknown;
  if (error || !std::filesystem::is_directory(folder, unknown))
  {
    throw Error(error == std::errc::no_space_on_device ? ErrorCode::NoSpace : ErrorCode::CannotOpen,
      fmt::format("{}: cannot create the folder for leaf files: {}", folder.string(),
        error ? error.message() : "something else has this name"));
  }
  return is_new;
}
}

std::filesystem::path leaves_folder(const std::filesystem::path& top)
{
  return top.parent_path() / (top.filename().string() + ".leaves");
}

void check_name(const std::filesystem::path& top)
{
  const std::string name = top.filename().string();
  for (const std::string ending : { ".tracks.bat", ".series", ".idx", ".bricks" })
  {
    if (name.size() >= ending.size() &&
      name.compare(name.size() - ending.size(), ending.size(), ending) == 0)
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format(
          "'{}' would be read as another file type, because it ends in {}; use a name ending in "
          ".bat",
          top.string(), ending));
    }
  }
}

bool needs_view(const std::filesystem::path& top)
{
  return top.extension() == ".vtkhdf";
}

void check_view_name(const std::filesystem::path& top, const BuildOptions& options)
{
  if (needs_view(top) && (!options.hdf5_view || options.compression != Compression::None))
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format(
        "'{}' would be read as HDF5, because it ends in .vtkhdf, but {}; use a name ending "
        "in .bat",
        top.string(), options.hdf5_view ? "compressed columns cannot be" : "hdf5_view is 0"));
  }
}

std::string leaf_file_name(std::uint32_t leaf, std::uint64_t header_checksum, std::uint32_t variant)
{
  return variant == 0 ? fmt::format("{:05}-{:016x}.bat", leaf, header_checksum)
                      : fmt::format("{:05}-{:016x}-{}.bat", leaf, header_checksum, variant);
}

std::string free_leaf_name(const std::filesystem::path& folder, std::uint32_t leaf,
  std::uint64_t header_checksum, const std::set<std::string>& replaced)
{
  std::string name = leaf_file_name(leaf, header_checksum);
  for (std::uint32_t variant = 1;
       std::filesystem::exists(folder / name) && replaced.count(name) == 0; ++variant)
  {
    name = leaf_file_name(leaf, header_checksum, variant);
  }
  return name;
}

LeavesLock::LeavesLock(const std::filesystem::path& top)
  : folder_(leaves_folder(top))
{
  constexpr int kMaxAttempts = 100; // a clean-up may remove the folder before the lock is in it
  for (int attempt = 0; attempt != kMaxAttempts; ++attempt)
  {
    this->made_folder_ = make_leaves_folder(this->folder_) || this->made_folder_;
    this->file_.emplace(lock_path(top));
    if (this->file_->state() != io::LockFile::State::NoFolder)
    {
      break;
    }
  }
  if (this->file_->state() == io::LockFile::State::Taken)
  {
    throw Error(ErrorCode::CannotOpen,
      fmt::format(
        "{}: another writer is writing this dataset; retry when it has finished", top.string()));
  }
  if (this->file_->state() == io::LockFile::State::NoFolder)
  {
    throw Error(ErrorCode::CannotOpen,
      fmt::format(
        "{}: another process keeps removing the folder for leaf files", this->folder_.string()));
  }
}

LeavesLock::~LeavesLock()
{
  this->file_.reset();
  if (this->made_folder_)
  {
    std::error_code not_empty;
    std::filesystem::remove(this->folder_, not_empty);
  }
}

bool LeavesLock::is_exclusive() const noexcept
{
  return this->file_->state() == io::LockFile::State::Locked;
}

void check_leaf_file(const std::filesystem::path& top, const std::filesystem::path& leaf,
  const format::LeafRecord& record)
{
  const auto fail = [&](const std::string& what)
  {
    throw Error(ErrorCode::WriteFailed,
      fmt::format("{}: the leaf file '{}' {}: another process wrote this dataset at the same "
                  "time; write it again",
        top.string(), leaf.string(), what));
  };
  format::Header header{};
  const std::optional<Error> gone = attempt(
    [&]
    {
      const io::RandomAccessFile file(leaf);
      file.read(0, &header, sizeof(header));
      if (file.size() != record.file_bytes)
      {
        header = {};
      }
    });
  if (gone)
  {
    fail(gone->code() == ErrorCode::NotFound ? "no longer exists" : gone->what());
  }
  if (header.header_checksum != record.header_checksum)
  {
    fail("is not the one that was written");
  }
}

std::set<std::string> list_leaf_files(const std::filesystem::path& top)
{
  try
  {
    const std::filesystem::path file = io::follow_links(top);
    return leaf_files_named_by(file, file);
  }
  catch (const Error&)
  {
    return {};
  }
}

void remove_leftovers(const std::filesystem::path& path, const std::set<std::string>& keep,
  const std::set<std::string>& replaced, const LeavesLock* lock) noexcept
{
  try
  {
    const std::filesystem::path top = io::follow_links(path);
    const std::filesystem::path beside =
      top.has_parent_path() ? top.parent_path() : std::filesystem::path(".");
    io::remove_abandoned_of(top);
    const std::filesystem::path folder = leaves_folder(top);
    std::error_code none;
    if (!std::filesystem::is_directory(folder, none))
    {
      return;
    }
    std::optional<io::LockFile> own;
    if (!lock)
    {
      own.emplace(lock_path(top));
      if (own->state() == io::LockFile::State::Taken)
      {
        return; // the other writer removes them
      }
    }
    const bool is_exclusive =
      lock ? lock->is_exclusive() : own->state() == io::LockFile::State::Locked;
    const std::vector<std::string> present = names_in(folder, is_leaf_file_name);
    std::set<std::string> unwanted(present.begin(), present.end());
    for (const std::string& kept : keep)
    {
      unwanted.erase(kept);
    }
    if (!lock || !is_exclusive)
    {
      for (const std::string& kept : list_leaf_files(top)) // another writer may have come between
      {
        unwanted.erase(kept);
      }
    }
    const bool is_link = std::filesystem::is_symlink(folder, none);
    for (const std::string& leaf :
      removable(beside, top, unwanted, replaced, is_link || !is_exclusive))
    {
      std::filesystem::remove(folder / leaf, none);
    }
    for (const std::string& temporary : names_in(folder, io::is_temporary))
    {
      io::remove_if_abandoned(folder / temporary);
    }
    own.reset();
    if (!is_link)
    {
      std::filesystem::remove(folder, none); // removes only an empty folder
    }
  }
  catch (const std::exception&)
  {
    return; // out of memory or an unreadable folder: the leftovers stay for the next write
  }
}

bool remove_dataset(const std::filesystem::path& path)
{
  const bool is_link = std::filesystem::is_symlink(path);
  const std::set<std::string> leaf_files =
    is_link ? std::set<std::string>() : list_leaf_files(path);
  std::error_code stays;
  const bool removed = std::filesystem::remove(path, stays);
  if (removed && !is_link)
  {
    remove_leftovers(path, {}, leaf_files);
  }
  return removed;
}
}
