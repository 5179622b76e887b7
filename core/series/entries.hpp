// SPDX-License-Identifier: BSD-3-Clause
// The entries of a series list, and their checksum.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bat::series
{
struct Entry
{
  std::string file; ///< relative to the list's folder
  double time = 0;  ///< as listed: later than in the previous entry
  std::optional<std::int64_t> step;
  std::optional<double> clock; ///< the simulation's time, where it is known
};

/// In the order of their steps.
using Entries = std::vector<Entry>;

/// The member of a list that holds compute_checksum() of its entries. Lists written by hand need
/// none.
inline constexpr char kChecksum[] = "checksum";

/// XXH64 of each name, a zero byte, the time (f64, little-endian), and the step (i64) if known; 16
/// hexadecimal digits.
[[nodiscard]] std::string compute_checksum(const Entries& entries);
}
