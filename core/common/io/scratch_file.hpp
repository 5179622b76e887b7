// SPDX-License-Identifier: BSD-3-Clause
// A file for data that do not fit in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace bat::io
{
/// An unnamed file for one process. It is removed with this object, even if the process is killed.
/// Calls of read() and write() for different bytes may be concurrent.
class ScratchFile
{
public:
  /// Creates the file in `folder`; `name` is used in messages. Throws Error: CannotOpen, NoSpace,
  /// WriteFailed.
  ScratchFile(const std::filesystem::path& folder, std::string name);
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile();

  /// Throws Error: NoSpace, WriteFailed.
  void write(std::uint64_t offset, const void* data, std::size_t bytes);
  /// Reads bytes written earlier. Throws Error{CannotOpen} if they cannot be read.
  void read(std::uint64_t offset, void* to, std::size_t bytes) const;

private:
  std::string name_;
  int descriptor_ = -1;
};
}
