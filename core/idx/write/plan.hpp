// SPDX-License-Identifier: BSD-3-Clause
// What is decided before anything is written, from the shape of the grid alone.
#pragma once

#include "bat/idx/write.hpp"

#include "common/box_in_arrays.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace bat::idx
{
/// The folder of samples beside the text, relative to it: "NAME" or, in PIDX's dialect too, "NAME".
[[nodiscard]] std::string folder_name(const std::filesystem::path& path);

/// Each shape has two, so that what replaces a step has files of its own.
enum class ShapeFolder
{
  First,
  Second
};

/// The template of the names of files; of PIDX's dialect, whose names are laid down, both are one.
/// A checksum of everything that fixes what the bytes of a file mean is part of others.
[[nodiscard]] std::string filename_template(
  const Header& header, const std::string& folder, ShapeFolder which);

/// The largest number of a step.
inline constexpr std::int64_t kMaxStep = 999999999;

/// Empty, or what a dataset has otherwise than a new step: the first key that differs.
[[nodiscard]] std::string difference(const Header& there, const Header& step);
}
