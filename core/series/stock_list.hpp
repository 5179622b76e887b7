// SPDX-License-Identifier: BSD-3-Clause
// NAME.vtkhdf.series next to NAME.bat.series: the same list, under the name by which ParaView opens
// it without this suite.
#pragma once

#include "series/entries.hpp"

#include <filesystem>
#include <map>
#include <string>

namespace bat::series
{
/// Keeps the second list of one .bat.series. It exists while every file in the list has an HDF5
/// view. A file of this name that something else wrote is left as it is. Lists of other files have
/// no second list. Not thread-safe.
class StockList
{
public:
  explicit StockList(const std::filesystem::path& list);

  /// Called after the list has been replaced by `text`, which has these entries, or removed if it
  /// has none. Throws Error: CannotOpen, NoSpace, WriteFailed.
  void update(const Entries& entries, const std::string& text, bool flush);
  /// Called after a file of this name has been replaced.
  void forget(const std::string& file);

private:
  bool has_view(const std::string& file);

  std::string name_;                  ///< of the list
  std::filesystem::path path_;        ///< of the second list; empty if there is none
  std::map<std::string, bool> views_; ///< whether a file of this name has a view
};
}
