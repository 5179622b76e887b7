// SPDX-License-Identifier: BSD-3-Clause
// A file that grows in place, by one process at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace bat::io
{
/// Holds a lock on the file, where the file system has locks, so that no second process appends to
/// it. Not thread-safe.
class AppendFile
{
public:
  /// Opens an existing file. Throws Error: NotFound; CannotOpen, also if another writer has it
  /// open.
  explicit AppendFile(const std::filesystem::path& path);
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  ~AppendFile();

  /// Throws Error: NoSpace, WriteFailed.
  void write(std::uint64_t offset, const void* data, std::size_t bytes);
  void flush();
  void cut(std::uint64_t bytes);

private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};
}
