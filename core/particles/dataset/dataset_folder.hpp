// SPDX-License-Identifier: BSD-3-Clause
// The folder next to a top file that holds its leaf files: names, and which files may be removed.
#pragma once

#include "bat/writer.hpp"
#include "common/io/lock_file.hpp"
#include "particles/format/layout.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

namespace bat
{
/// Returns the folder of a dataset's leaf files: "out.bat.leaves" for "out.bat".
[[nodiscard]] std::filesystem::path leaves_folder(const std::filesystem::path& top);

/// Throws Error{InvalidArgument} if a dataset may not have this name because readers take its
/// ending for another kind of file: tracks, lists of steps, grids, velocities.
void check_name(const std::filesystem::path& top);

/// Returns whether programs open a dataset of this name as HDF5: whether it ends in .vtkhdf.
[[nodiscard]] bool needs_view(const std::filesystem::path& top);

/// Throws Error{InvalidArgument} if a dataset whose name needs_view() would have no HDF5 view.
void check_view_name(const std::filesystem::path& top, const BuildOptions& options);

/// Returns a leaf file name such as "00012-0123456789abcdef.bat". Leaf files are named by their
/// contents, so that rewriting a dataset never changes a file to which the present dataset refers.
/// A `variant` above 0 is appended if another dataset has a file of that name:
/// "00012-0123456789abcdef-1.bat".
[[nodiscard]] std::string leaf_file_name(
  std::uint32_t leaf, std::uint64_t header_checksum, std::uint32_t variant = 0);

/// Returns such a name for a new file in the folder of a dataset whose leaf files are `replaced`. A
/// file of that dataset with the same name holds the same bytes. A file of another dataset, which
/// was here under this name or shares the folder, is not shared, so that it is removed with its own
/// dataset and not before. Without a lock (LeavesLock), `replaced` must be empty: another writer
/// may remove those files.
[[nodiscard]] std::string free_leaf_name(const std::filesystem::path& folder, std::uint32_t leaf,
  std::uint64_t header_checksum, const std::set<std::string>& replaced);

/// Creates the folder for a dataset's leaf files, and lets one writer at a time write them: two
/// would remove each other's files. The lock is a file in the folder, removed with this object. The
/// folder is removed too if it was created for the lock and is empty. Not thread-safe.
class LeavesLock
{
public:
  /// `top` has its links resolved. Throws Error: CannotOpen, also if another writer has it;
  /// NoSpace.
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

/// Checks that a leaf file named by a finished top file exists and is the right one. Throws
/// Error{WriteFailed} if another process has removed or replaced it.
void check_leaf_file(const std::filesystem::path& top, const std::filesystem::path& leaf,
  const format::LeafRecord& record);

/// Returns the leaf files (names in the folder) to which the top file at `top` refers; empty
/// without a readable top file. Throws only if memory runs out.
[[nodiscard]] std::set<std::string> list_leaf_files(const std::filesystem::path& top);

/// Removes leftovers of finished or killed writers of `top`: leaf files (names in the folder) that
/// are neither in `keep` nor in the top file, temporaries, and the folder once it is empty. A leaf
/// file stays if a top file next to this one refers to it, which may be the old dataset under a new
/// name, or if a file next to it cannot be judged. If the folder is a link, which others may share,
/// or the file system has no locks, only the files in `replaced` are removed, which belonged to the
/// replaced dataset, and the link stays. Files with other names stay. Without the caller's `lock`,
/// nothing is removed while another writer has one. Never throws; files that cannot be removed
/// stay.
void remove_leftovers(const std::filesystem::path& top, const std::set<std::string>& keep,
  const std::set<std::string>& replaced, const LeavesLock* lock = nullptr) noexcept;
}
