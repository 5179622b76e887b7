// SPDX-License-Identifier: BSD-3-Clause
// The folder next to a top file that holds its leaf files: names, and which files may be removed.
#pragma once

#include "common/io/lock_file.hpp"
#include "particles/format/layout.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

namespace bat
{
/// "out.bat.leaves" for "out.bat": where the leaf files of a dataset are.
[[nodiscard]] std::filesystem::path leaves_folder(const std::filesystem::path& top);

/// Throws Error{InvalidArgument} if a dataset may not have this name, because readers take its
/// ending for another kind of file: tracks, lists of steps, grids, velocities.
void check_name(const std::filesystem::path& top);

/// "00012-0123456789abcdef.bat": leaf files are named by their contents, so that writing a dataset
/// again never changes a file that the present dataset refers to. A `variant` above 0 is added if
/// another dataset has a file of that name: "00012-0123456789abcdef-1.bat".
[[nodiscard]] std::string leaf_file_name(
  std::uint32_t leaf, std::uint64_t header_checksum, std::uint32_t variant = 0);

/// Such a name that a new file may have in the folder of a dataset whose leaf files are `replaced`.
/// A file of that dataset that has the same name holds the same bytes; one of another dataset,
/// which was here under this name or shares the folder, is not shared, so that it can be removed
/// with its own dataset and not before. Without a lock (LeavesLock), `replaced` is to be empty:
/// another writer may remove those files.
[[nodiscard]] std::string free_leaf_name(const std::filesystem::path& folder, std::uint32_t leaf,
  std::uint64_t header_checksum, const std::set<std::string>& replaced);

/// Makes the folder for the leaf files of a dataset, and lets one writer at a time write them: two
/// would remove each other's files. The lock is a file in the folder that is removed with this
/// object. So is the folder, if it was made for it and is empty. Not thread-safe.
class LeavesLock
{
public:
  /// `top`: without links. Throws Error: CannotOpen, also if another writer has it; NoSpace.
  explicit LeavesLock(const std::filesystem::path& top);
  LeavesLock(const LeavesLock&) = delete;
  LeavesLock& operator=(const LeavesLock&) = delete;
  ~LeavesLock();

  /// False if the file system has no locks. Then writers remove only files of the dataset that they
  /// replace, and check_leaf_file() detects leaf files lost to another writer.
  [[nodiscard]] bool is_exclusive() const noexcept;

private:
  std::filesystem::path folder_;
  bool made_folder_ = false;
  std::optional<io::LockFile> file_;
};

/// Checks that a leaf file named by a finished top file exists and is that one. Throws
/// Error{WriteFailed} if another process has removed or replaced it.
void check_leaf_file(const std::filesystem::path& top, const std::filesystem::path& leaf,
  const format::LeafRecord& record);

/// Leaf files (names in the folder) that the top file at `top` refers to; none if there is no
/// readable top file. Throws only if memory runs out.
[[nodiscard]] std::set<std::string> list_leaf_files(const std::filesystem::path& top);

/// Removes what finished or killed writers of `top` left: leaf files (names in the folder) not in
/// `keep` and not of the top file, temporaries, and the folder when nothing is left in it. A leaf
/// file stays if a top file next to this one refers to it, which may be the old dataset under a new
/// name, or if a file next to it cannot be judged. If the folder is a link, which others may share,
/// or the file system has no locks, only the files in `replaced` are removed, which belonged to the
/// replaced dataset, and the link stays. Files with other names stay. Without the caller's `lock`,
/// nothing is removed while another writer has one. Never throws; files that cannot be removed
/// stay.
void remove_leftovers(const std::filesystem::path& top, const std::set<std::string>& keep,
  const std::set<std::string>& replaced, const LeavesLock* lock = nullptr) noexcept;
}
