// SPDX-License-Identifier: BSD-3-Clause
// A file that only one writer holds at a time and that is removed with it.
#pragma once

#include <filesystem>

namespace bat::io
{
/// Returns the path of the lock file for `target`, in the same folder.
[[nodiscard]] std::filesystem::path lock_path(const std::filesystem::path& target);

/// While a LockFile exists, no other LockFile with the same path exists in any process, if the file
/// system has locks. The file is removed with the writer. The file of a killed writer stays
/// unlocked, and the next LockFile takes it over. Not thread-safe.
class LockFile
{
public:
  enum class State
  {
    Locked,
    Unlocked, ///< the file system has no locks, so other writers are not noticed
    Taken,    ///< another one has it
    NoFolder  ///< the folder is not there, or was removed just now
  };

  /// Waits for a short time if another process holds the file. Throws Error{CannotOpen, NoSpace} if
  /// it cannot be created.
  explicit LockFile(std::filesystem::path path);
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;
  ~LockFile();

  [[nodiscard]] State state() const noexcept { return this->state_; }

private:
  State try_lock();

  std::filesystem::path path_;
  int descriptor_ = -1;
  State state_ = State::NoFolder;
};
}
