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

/// "00012-0123456789abcdef.bat": leaf files are named by what they hold, so that writing a dataset
/// again never changes a file that the dataset in place refers to.
[[nodiscard]] std::string leaf_file_name(std::uint32_t leaf, std::uint64_t header_checksum);

/// Removes what finished or killed writers of `top` left: leaf files (names in the folder) not in
/// `keep`, temporaries, and the folder when nothing is left in it. Files with other names stay.
/// Never throws; what cannot be removed stays.
void remove_leftovers(const std::filesystem::path& top, const std::set<std::string>& keep) noexcept;
}
