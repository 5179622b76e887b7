// SPDX-License-Identifier: BSD-3-Clause
// Orders the particles inside one treelet.
#pragma once

#include "bat/types.hpp"
#include "particles/format/layout.hpp"
#include "particles/write/treelet_key.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace bat::write
{
/// 2^16 cells per axis over a treelet's box, numbered from -2^15. Far finer than the steps of a
/// block's box, yet small enough that a particle moves as one word.
class TreeletGrid
{
public:
  explicit TreeletGrid(const Box& box) noexcept;

  /// Computes the keys of packed positions, numbered from 0.
  template <class T>
  void fill_keys(const T* positions, std::size_t count, TreeletKey* keys) const noexcept;

  [[nodiscard]] const std::array<double, 3>& cell_size() const noexcept { return this->cell_size_; }

  /// A quantised box that contains every particle whose cells are in `cells` (FORMAT.md section
  /// 10).
  [[nodiscard]] format::BlockBoxRecord quantise(const CellBox& cells) const noexcept;

private:
  // Monotonic in the coordinate. Uses halves, so that the extent of huge boxes does not overflow.
  [[nodiscard]] std::int16_t cell(double x, std::size_t axis) const noexcept
  {
    // Corners of boxes a few ulps wide may be rounded beyond the box.
    const double distance = (x * 0.5 - this->half_lower_[axis]) * this->scale_[axis];
    const double above = distance > 0.0 ? distance : 0.0; // std::max would branch
    const double inside = above < kTreeletCells - 1.0 ? above : kTreeletCells - 1.0;
    return static_cast<std::int16_t>(static_cast<std::int32_t>(inside) - kTreeletCells / 2);
  }

  std::array<double, 3> half_lower_;
  std::array<double, 3> scale_;
  std::array<double, 3> cell_size_; ///< halved
  std::array<std::array<std::int16_t, 256>, 3>
    corners_; ///< cells of the coordinates a block's box can have
};

/// Median-split k-d order (paper, section III-C2): whole blocks of `block_particles` stay together,
/// and are halved further into small runs, within which the order is shuffled by a fixed rule.
/// Every run of consecutive particles is therefore compact, and every k-th of them is a stratified
/// sample that does not lock onto a lattice. `room` has space for count + kPartitionRoom keys.
void order_treelet(const TreeletGrid& grid, TreeletKey* keys, std::size_t count,
  std::size_t block_particles, TreeletKey* room);

/// Returns the cells of `count` particles, at least one.
[[nodiscard]] CellBox tight_cells(const TreeletKey* keys, std::size_t count);
}
