// SPDX-License-Identifier: BSD-3-Clause
// Lists the time steps of a dataset.
#pragma once

#include "bat/idx/header.hpp"
#include "idx/format/names.hpp"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace bat::idx
{
/// Returns the steps, ascending, each once. Throws Error{Corrupt} for more than 1,000,000 folders,
/// CannotOpen.
[[nodiscard]] std::vector<std::int64_t> list_steps(
  const Header& header, const format::FileNames& names, const std::filesystem::path& folder);

/// Returns whether the text names a step; true for any step if the folder lists the steps.
[[nodiscard]] bool names_step(const Header& header, std::int64_t step) noexcept;
}
