// SPDX-License-Identifier: BSD-3-Clause
// What is decided before anything is written, from the shape of the grid alone.
#pragma once

#include "bat/idx/write.hpp"

#include <filesystem>

namespace bat::idx
{
/// The folder of samples beside the text, relative to it: "NAME" or, in PIDX's dialect too, "NAME".
[[nodiscard]] std::string folder_name(const std::filesystem::path& path);

/// Name of the folder of a shape in it; empty in PIDX's dialect, whose names are laid down. A
/// checksum of everything that fixes what the bytes of a file mean.
[[nodiscard]] std::string shape_name(const Header& header, const std::string& folder);

/// "0 to 9, 0 to 9, 0 to 0".
[[nodiscard]] std::string text_of(const LogicalBox& box);

/// Empty, or what a dataset has otherwise than a new step: the first key that differs.
[[nodiscard]] std::string difference(const Header& there, const Header& step);
}
