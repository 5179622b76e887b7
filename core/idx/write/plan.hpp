// SPDX-License-Identifier: BSD-3-Clause
// Decisions made before anything is written, from the shape of the grid alone.
#pragma once

#include "bat/idx/write.hpp"

#include "common/box_in_arrays.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace bat::idx
{
/// Returns the name of the folder for samples next to the text, relative to it: "NAME" for
/// NAME.idx, in every dialect.
[[nodiscard]] std::string folder_name(const std::filesystem::path& path);

/// Each shape has two names, so that a step that replaces another has its own files.
enum class ShapeFolder
{
  First,
  Second
};

/// The template for file names. In PIDX's dialect, which prescribes the names, both are the same.
/// Other names contain a checksum of everything that determines the meaning of a file's bytes.
[[nodiscard]] std::string filename_template(
  const Header& header, const std::string& folder, ShapeFolder which);

/// The largest step number.
inline constexpr std::int64_t kMaxStep = 999999999;

/// Returns the first key in which a dataset differs from a new step; empty if none does.
[[nodiscard]] std::string difference(const Header& there, const Header& step);
}
