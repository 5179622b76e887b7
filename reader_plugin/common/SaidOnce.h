// SPDX-License-Identifier: BSD-3-Clause
// Which errors a reader has reported.
#ifndef SaidOnce_h
#define SaidOnce_h

#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>

namespace bat_vtk
{
/// Each error of a file is said once, however often ParaView asks for one Apply, and an animation
/// comes back to the file; and again after a setting has changed or the file has been loaded.
class SaidOnce
{
public:
  /// Whether the text has to be said now.
  bool Add(const std::string& file, const std::string& text)
  {
    return this->Said[file].emplace(text, this->Updates).second;
  }
  void SettingChanged() { this->Changed = true; }

  void BeginUpdate(const std::string& file)
  {
    if (std::exchange(this->Changed, false))
    {
      auto& said = this->Said[file];
      for (auto text = said.begin(); text != said.end();)
      {
        text = text->second < this->Updates ? said.erase(text) : std::next(text);
      }
    }
  }
  void Loaded(const std::string& file) { this->Said.erase(file); }
  void EndUpdate() { ++this->Updates; }

private:
  std::map<std::string, std::map<std::string, std::uint64_t>> Said; ///< of each file, and when
  std::uint64_t Updates = 0;
  bool Changed = false; ///< a setting, since the last update
};
}

#endif
