// SPDX-License-Identifier: BSD-3-Clause
// Remembers which errors a reader has reported.
#ifndef ReportedOnce_h
#define ReportedOnce_h

#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>

namespace bat_vtk
{
/// Reports each error of a file once, even if ParaView requests several updates for one Apply or an
/// animation returns to the file; again after a setting has changed or the file was loaded.
class ReportedOnce
{
public:
  /// True if the text must be reported now.
  bool Add(const std::string& file, const std::string& text)
  {
    return this->Reported[file].emplace(text, this->Updates).second;
  }
  void SettingChanged() { this->Changed = true; }

  void BeginUpdate(const std::string& file)
  {
    if (std::exchange(this->Changed, false))
    {
      auto& reported = this->Reported[file];
      for (auto text = reported.begin(); text != reported.end();)
      {
        text = text->second < this->Updates ? reported.erase(text) : std::next(text);
      }
    }
  }
  void Loaded(const std::string& file) { this->Reported.erase(file); }
  void EndUpdate() { ++this->Updates; }

private:
  std::map<std::string, std::map<std::string, std::uint64_t>> Reported; ///< of each file, and when
  std::uint64_t Updates = 0;
  bool Changed = false; ///< a setting, since the last update
};
}

#endif
