// SPDX-License-Identifier: BSD-3-Clause
// Files of a dataset that is being written.
#pragma once

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

namespace bat
{
/// Files of an unfinished dataset. They are removed unless it is finished.
class Unfinished
{
public:
  Unfinished() = default;
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  ~Unfinished() { this->remove_all(); }
  void remove_all() noexcept
  {
    for (const std::filesystem::path& file : this->files_)
    {
      std::error_code ignored;
      std::filesystem::remove(file, ignored);
    }
    this->files_.clear();
  }
  void add(const std::filesystem::path& file) { this->files_.push_back(file); }
  void forget(const std::filesystem::path& file)
  {
    this->files_.erase(
      std::remove(this->files_.begin(), this->files_.end(), file), this->files_.end());
  }
  void keep_all() { this->files_.clear(); }

private:
  std::vector<std::filesystem::path> files_;
};
}
