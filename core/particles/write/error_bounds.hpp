// SPDX-License-Identifier: BSD-3-Clause
// BuildOptions::error_bounds: which arrays may differ from the writer's input, and by how
// much.
#pragma once

#include "bat/particles.hpp"
#include "bat/writer.hpp"
#include "particles/write/particle_parts.hpp"

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace bat::write
{
struct ErrorBound
{
  std::size_t array = 0;    ///< 0: the positions; 1 + k: attribute k
  std::string name;         ///< name as in the option
  double value = 0;         ///< bound in units of the array, or as a share of its range
  bool is_relative = false; ///< relative to the range
};

/// Returns the checked bounds of the option. Empty unless the compression is Bounded. Throws
/// Error{InvalidArgument}: an attribute that is unknown, an alias, repeated or not floating-point;
/// a bound that is not a number of at least 0; bounds without Compression::Bounded, or it without
/// bounds.
[[nodiscard]] std::vector<ErrorBound> error_bounds(
  const ParticleView& schema, const BuildOptions& options);

/// The range of finite numbers; upper is below lower if none exist.
struct FiniteRange
{
  double lower = std::numeric_limits<double>::infinity();
  double upper = -std::numeric_limits<double>::infinity();

  void add(const FiniteRange& other) noexcept;
};

/// Computes, in parallel, the ranges to which relative bounds refer: one per axis for positions,
/// one for all components of an attribute.
[[nodiscard]] std::vector<FiniteRange> compute_ranges(
  const ParticleParts& particles, const std::vector<ErrorBound>& bounds);

/// Number of ranges that one bound has among those of compute_ranges().
[[nodiscard]] inline std::size_t range_count(const ErrorBound& bound) noexcept
{
  return bound.array == 0 ? 3 : 1;
}

/// Converts bounds to units of the arrays. `ranges` come from compute_ranges(), over all particles
/// of the dataset. Throws Error{InvalidArgument} if a range exceeds the largest number.
[[nodiscard]] std::vector<ErrorBound> absolute_bounds(
  const std::vector<ErrorBound>& bounds, const std::vector<FiniteRange>& ranges);
/// The same for a dataset that consists of these particles only.
[[nodiscard]] std::vector<ErrorBound> absolute_bounds(
  const ParticleParts& particles, const BuildOptions& options);

/// Returns the option text for these bounds, none of which is relative.
[[nodiscard]] std::vector<std::string> format_texts(const std::vector<ErrorBound>& bounds);
}
