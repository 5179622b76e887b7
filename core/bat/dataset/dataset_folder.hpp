// SPDX-License-Identifier: BSD-3-Clause
// The folder beside a top file that holds its leaf files: names, and what may be removed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

namespace bat
{
/// "out.bat.leaves" for "out.bat": where the leaf files of a dataset are.
[[nodiscard]] std::filesystem::path leaves_folder(const std::filesystem::path& top);

/// Throws Error{InvalidArgument} if a dataset may not be called so, because readers take what ends
/// so for another kind of file: tracks, lists of steps, grids, velocities.
void check_name(const std::filesystem::path& top);

/// "00012-0123456789abcdef.bat": leaf files are named by what they hold, so that writing a dataset
/// again never changes a file that the dataset in place refers to. A `variant` above 0 is added
/// where another dataset has a file of that name: "00012-0123456789abcdef-1.bat".
[[nodiscard]] std::string leaf_file_name(
  std::uint32_t leaf, std::uint64_t header_checksum, std::uint32_t variant = 0);

/// Such a name that a new file may have in the folder of a dataset whose leaf files are `replaced`.
/// A file of that dataset that has the same name holds the same bytes; one of another dataset,
/// which was here under this name or shares the folder, is not shared, so that it can be removed
/// with its own dataset and not before.
[[nodiscard]] std::string free_leaf_name(const std::filesystem::path& folder, std::uint32_t leaf,
  std::uint64_t header_checksum, const std::set<std::string>& replaced);

/// Makes the folder if it is not there, and returns whether it was not. Throws Error: CannotOpen,
/// NoSpace.
[[nodiscard]] bool make_leaves_folder(const std::filesystem::path& folder);

/// Leaf files (names in the folder) that the top file at `top` refers to; none if there is no top
/// file that can be read. Never throws but for want of memory.
[[nodiscard]] std::set<std::string> leaf_files_of(const std::filesystem::path& top);

/// Removes what finished or killed writers of `top` left: leaf files (names in the folder) not in
/// `keep`, temporaries, and the folder when nothing is left in it. A leaf file stays if a top file
/// beside this one refers to it, which may be this dataset's former self under a new name, or if a
/// file beside it cannot be judged. In a folder that is a link, which others may share, only those
/// in `replaced` go, which belonged to the dataset that was there before, and the link stays. Files
/// with other names stay. Never throws; what cannot be removed stays.
void remove_leftovers(const std::filesystem::path& top, const std::set<std::string>& keep,
  const std::set<std::string>& replaced) noexcept;
}
