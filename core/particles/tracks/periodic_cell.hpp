// SPDX-License-Identifier: BSD-3-Clause
// Periodic domains, and the unwrapped positions of particles in them.
#pragma once

#include "bat/types.hpp"

#include <array>
#include <optional>
#include <string>

namespace bat
{
/// A domain that repeats along some of its three edges.
struct PeriodicCell
{
  std::array<std::array<double, 3>, 3> edges{}; ///< vectors
  std::array<bool, 3> periodic{};

  [[nodiscard]] bool any() const noexcept
  {
    return this->periodic[0] || this->periodic[1] || this->periodic[2];
  }
};

/// An axis with infinite ends is not periodic. Throws Error{InvalidArgument} if an end is NaN, only
/// one end of an axis is infinite, or lower < upper does not hold.
[[nodiscard]] PeriodicCell cell_of(const Box& box);

/// Returns the cell in a file's metadata, in one of the forms that FollowRequest describes;
/// empty if it has none. Throws Error{Corrupt} if the cell is not valid; `file` is used in
/// messages.
[[nodiscard]] std::optional<PeriodicCell> named_cell(
  const std::string& metadata, const std::string& file);

/// Follows one particle.
class Unwrapped
{
public:
  /// Returns the unwrapped position of the particle, which is at `position` in the next step. NaN
  /// stays and counts as an absent particle. Throws Error{InvalidArgument} if the edges of the cell
  /// span no volume.
  [[nodiscard]] std::array<double, 3> next(
    const std::array<double, 3>& position, const PeriodicCell& cell);

private:
  std::optional<std::array<double, 3>> last_; ///< as given
  std::array<double, 3> images_{};            ///< whole numbers of edges
};
}
