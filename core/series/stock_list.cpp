// SPDX-License-Identifier: BSD-3-Clause
#include "series/stock_list.hpp"

#include "bat/error.hpp"
#include "common/hdf5_signature.hpp"
#include "common/io/atomic_file.hpp"
#include "series/read_series.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <string_view>

namespace bat::series
{
namespace
{
constexpr std::string_view kEnding = ".bat.series";

// Returns whether HDF5 finds a superblock behind the header (FORMAT.md section 20).
bool is_hdf5(const std::filesystem::path& file)
{
  if (!std::filesystem::is_regular_file(file))
  {
    return false;
  }
  std::ifstream stream(file, std::ios::binary);
  std::array<char, kHdf5Signature.size()> found{};
  return stream.seekg(kSuperblockOffset) && stream.read(found.data(), found.size()) &&
    kHdf5Signature == std::string_view(found.data(), found.size());
}

// Names the list that this one repeats.
constexpr const char* kSameAs = "same_as";
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

void StockList::withdraw() noexcept
{
  (void)attempt(
    [&]
    {
      if (!this->path_.empty() && this->may_replace())
      {
        std::filesystem::remove(this->path_);
      }
    });
}

void StockList::update(
  const Entries& entries, const nlohmann::ordered_json& list, bool flush) noexcept
{
  const std::optional<Error> failure = attempt(
    [&]
    {
      if (this->path_.empty() || !this->may_replace())
      {
        return;
      }
      if (!std::all_of(entries.begin(), entries.end(),
            [&](const Entry& entry) { return this->has_view(entry.file); }))
      {
        std::filesystem::remove(this->path_);
        return;
      }
      nlohmann::ordered_json own = list;
      own[kSameAs] = this->name_;
      const std::string text = format_list(own);
      io::AtomicFile file(this->path_);
      file.write(0, text.data(), text.size());
      file.commit(flush);
      this->is_ours_ = true;
    });
  if (failure)
  {
    this->withdraw();
  }
}

// Returns whether the second list is absent, or not of something else.
bool StockList::may_replace()
{
  if (this->is_ours_ || !std::filesystem::exists(this->path_))
  {
    return true;
  }
  if (!std::filesystem::is_regular_file(this->path_))
  {
    return false;
  }
  std::ifstream stream(this->path_);
  const auto json = nlohmann::json::parse(stream, nullptr, false);
  this->is_ours_ = json.is_object() && json.contains(kSameAs);
  return this->is_ours_;
}

bool StockList::has_view(const std::string& file)
{
  const auto known = this->views_.find(file);
  return known != this->views_.end()
    ? known->second
    : this->views_.emplace(file, is_hdf5(this->path_.parent_path() / file)).first->second;
}
}
