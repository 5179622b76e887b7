// SPDX-License-Identifier: BSD-3-Clause
// Distinguishes states of a file on disk. Independent of VTK.
#ifndef FileStamp_h
#define FileStamp_h

#include <cstdint>
#include <filesystem>
#include <optional>

namespace bat_vtk
{
/// A rewritten file has another inode, time or size.
struct FileStamp
{
  std::filesystem::file_time_type Time;
  std::uintmax_t Size = 0;
  std::uint64_t Inode = 0;

  /// Empty if the file cannot be inspected. All addresses have the same stamp, because asking the
  /// server takes time: a read notices that a file has changed, and Reload Files opens it again.
  static std::optional<FileStamp> Of(const std::filesystem::path& path);

  bool operator==(const FileStamp& other) const;
};
}

#endif
