// SPDX-License-Identifier: BSD-3-Clause
// NAME.vtkhdf.series next to NAME.bat.series: the same list, under the name by which ParaView opens
// it without this suite.
#pragma once

#include "series/entries.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <map>
#include <string>

namespace bat::series
{
/// Keeps the second list of one .bat.series. It exists while every file in the list has an HDF5
/// view. A file of this name that something else wrote is left as it is. Lists of other files have
/// no second list. A second list that cannot be written is absent, which is no error. Not
/// thread-safe.
class StockList
{
public:
  explicit StockList(const std::filesystem::path& list);

  /// Removes the second list. Called before files in the list are replaced or removed.
  void withdraw() noexcept;
  /// Called after the list has been replaced by `list`, which has these entries.
  void update(const Entries& entries, const nlohmann::ordered_json& list, bool flush) noexcept;
  /// Called after a file of this name has been replaced.
  void forget(const std::string& file) { this->views_.erase(file); }
  /// Called after something else has changed the list.
  void forget_all() { this->views_.clear(); }

private:
  [[nodiscard]] bool may_replace();
  bool has_view(const std::string& file);

  std::string name_;                  ///< of the list
  std::filesystem::path path_;        ///< of the second list; empty if there is none
  bool is_ours_ = false;              ///< whether this object has written it
  std::map<std::string, bool> views_; ///< whether a file of this name has a view
};
}
