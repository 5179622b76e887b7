// SPDX-License-Identifier: BSD-3-Clause
// Finds the particles that a query may return, from the index alone.
#pragma once

#include "bat/file.hpp"
#include "particles/query/conditions.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace bat::query
{
/// Consecutive ordinals. Bit 0 of `undecided` stands for box and shapes, bit 1 + i for condition i
/// on a key (the last bit for all further ones); if no bit is set, every particle matches.
struct Interval
{
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t undecided = 0;
};

[[nodiscard]] inline std::uint64_t key_bit(std::size_t condition)
{
  return std::uint64_t{ 1 } << (condition < 62 ? condition + 1 : 63);
}

/// Returns ascending intervals of ordinals outside of which no particle matches. Reads the tree,
/// the treelets and, for undecided treelets, the boxes and bitmaps of at most `max_blocks` blocks;
/// no particles.
[[nodiscard]] std::vector<Interval> classify(const File::Impl& file, const Conditions& conditions,
  std::uint64_t max_blocks = std::numeric_limits<std::uint64_t>::max());
}
