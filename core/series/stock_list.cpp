// SPDX-License-Identifier: BSD-3-Clause
#include "series/stock_list.hpp"

#include "common/io/atomic_file.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>
#include <system_error>

namespace bat::series
{
namespace
{
constexpr std::string_view kEnding = ".bat.series";

// Returns whether HDF5 finds a superblock behind the header (FORMAT.md section 20).
bool is_hdf5(const std::filesystem::path& file)
{
  constexpr std::string_view kSignature = "\x89HDF\r\n\x1A\n";
  constexpr std::streamoff kOffset = 512;
  std::ifstream stream(file, std::ios::binary);
  std::array<char, kSignature.size()> found{};
  return stream.seekg(kOffset) && stream.read(found.data(), found.size()) &&
    kSignature == std::string_view(found.data(), found.size());
}

// Names the list that this one repeats.
constexpr const char* kSameAs = "same_as";

// Returns whether a list is absent or a second one.
bool may_replace(const std::filesystem::path& list)
{
  std::ifstream stream(list);
  if (!stream)
  {
    std::error_code error;
    return !std::filesystem::exists(list, error) && !error;
  }
  const auto json = nlohmann::json::parse(stream, nullptr, false);
  return json.is_object() && json.contains(kSameAs);
}
}

StockList::StockList(const std::filesystem::path& list)
  : name_(list.filename().string())
{
  const std::size_t size = this->name_.size() - std::min(this->name_.size(), kEnding.size());
  if (size != 0 && this->name_.compare(size, kEnding.size(), kEnding) == 0)
  {
    this->path_ = list.parent_path() / (this->name_.substr(0, size) + ".vtkhdf.series");
  }
}

void StockList::update(const Entries& entries, const std::string& text, bool flush)
{
  if (this->path_.empty() || !may_replace(this->path_))
  {
    return;
  }
  const bool all_have_views = std::all_of(
    entries.begin(), entries.end(), [&](const Entry& entry) { return this->has_view(entry.file); });
  if (!entries.empty() && all_have_views)
  {
    auto json = nlohmann::ordered_json::parse(text);
    json[kSameAs] = this->name_;
    const std::string own = json.dump(1) + "\n";
    io::AtomicFile file(this->path_);
    file.write(0, own.data(), own.size());
    file.commit(flush);
    return;
  }
  std::error_code error;
  std::filesystem::remove(this->path_, error);
}

void StockList::forget(const std::string& file)
{
  this->views_.erase(file);
}

bool StockList::has_view(const std::string& file)
{
  const auto known = this->views_.find(file);
  return known != this->views_.end()
    ? known->second
    : this->views_.emplace(file, is_hdf5(this->path_.parent_path() / file)).first->second;
}
}
