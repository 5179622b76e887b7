// SPDX-License-Identifier: BSD-3-Clause
// Tests whether two arrangements have the same particles.
#pragma once

#include "bat/types.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bat
{
/// The sum of hashes over all particles' values, modulo 2^128; it does not depend on their order.
struct ParticleSum
{
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  void add(std::uint64_t other_low, std::uint64_t other_high) noexcept
  {
    this->low += other_low;
    this->high += other_high + (this->low < other_low ? 1 : 0);
  }
  friend bool operator==(const ParticleSum& a, const ParticleSum& b) noexcept
  {
    return a.low == b.low && a.high == b.high;
  }
};

/// The packed values of one array.
struct SummedColumn
{
  std::string name; ///< for messages
  ScalarType type = ScalarType::Float32;
  int components = 1;
  const std::byte* values = nullptr;
  double bound = 0; ///< above 0: values are rounded to the grid of this bound
};

/// Runs in parallel. Throws Error{WriteFailed} if a value is farther than the bound from the grid.
[[nodiscard]] ParticleSum compute_sum(
  const std::vector<SummedColumn>& columns, std::uint64_t count);
}
