// SPDX-License-Identifier: BSD-3-Clause
// Reads the arrays of a .npz file (NumPy's zip of .npy files), and writes .npy files.
#pragma once

#include "bat/types.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bench
{
struct NpzArray
{
  std::string name;
  bat::ScalarType type = bat::ScalarType::Float64;
  std::vector<std::uint64_t> shape; ///< C order
  std::vector<std::byte> bytes;
};

/// Returns all arrays whose type a .bat file supports. Throws std::runtime_error.
std::vector<NpzArray> read_npz(const std::filesystem::path& path);

/// Replaces the file. Throws std::runtime_error.
void write_npy(const std::filesystem::path& path, bat::ScalarType type,
  const std::vector<std::uint64_t>& shape, const std::vector<std::byte>& bytes);
}
