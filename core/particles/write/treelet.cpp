// SPDX-License-Identifier: BSD-3-Clause
// Orders the particles of one treelet by halving, as a k-d tree without stored nodes:
//
//   box of the treelet: 2^16 cells per axis      a particle moves as one 8-byte key:
//   +-------+-------+                            | x cell | y cell | z cell | number |
//   | block | block |   split the longest axis     int16    int16    int16    uint16
//   +---+---+-------+   of the tight box at the
//   | b | b | block |   particle where whole     1. Halve until one block is left.
//   +---+---+-------+   blocks stay together     2. Halve on to runs of at most 16 particles.
//                                                3. Shuffle each run by a fixed rule.
//
// Any run of consecutive ordinals is therefore compact, and picking every k-th particle gives a
// stratified sample. The shuffle keeps such a sample from locking onto a lattice of particles. All
// loops work without branches on cells, and have vector versions (vector_loops.hpp).

#include "particles/write/treelet.hpp"

#include "particles/write/vector_loops.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace bat::write
{
namespace
{
constexpr std::size_t kRunParticles = 16;

[[nodiscard]] std::int16_t cell_of(TreeletKey key, std::size_t axis) noexcept
{
  return static_cast<std::int16_t>(key >> 16 * axis);
}

// A fixed permutation that depends only on the particles.
void shuffle(TreeletKey* keys, std::size_t count)
{
  std::uint64_t state = (number_of(keys[0]) + std::uint64_t{ 1 }) * 0x9E3779B97F4A7C15u;
  for (std::size_t i = count; i > 1; --i)
  {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    std::swap(keys[i - 1], keys[(state >> 32) * i >> 32]);
  }
}

// Moves the particles whose cell is below the pivot (or equal to it, if `or_equal`) to the front;
// both parts keep their order. Returns their number. No branch depends on a cell: half of such
// branches would be mispredicted.
template <bool or_equal>
std::size_t partition(
  TreeletKey* keys, std::size_t count, std::size_t axis, std::int16_t pivot, TreeletKey* room)
{
  if (const auto done = vector_loops::partition(keys, count, axis, pivot, or_equal, room))
  {
    return *done;
  }
  std::size_t low = 0;
  for (std::size_t i = 0; i != count; ++i)
  {
    const TreeletKey key = keys[i];
    const std::int16_t x = cell_of(key, axis);
    keys[low] = key;
    room[i - low] = key;
    low += or_equal ? x <= pivot : x < pivot;
  }
  std::copy(room, room + (count - low), keys + low);
  return low;
}

// Returns the `nth` lowest of `size` cells, each of which is compared with all, in lanes. For so
// few cells this is faster than moving them: no branch depends on a cell.
template <std::size_t size>
std::int16_t find_nth(const std::array<std::int16_t, size>& cells, std::size_t nth)
{
  std::array<std::int16_t, size> below{};
  for (const std::int16_t cell : cells)
  {
    for (std::size_t i = 0; i != size; ++i)
    {
      below[i] = static_cast<std::int16_t>(below[i] + (cell < cells[i]));
    }
  }
  std::int16_t maximum = std::numeric_limits<std::int16_t>::min();
  for (std::size_t i = 0; i != size; ++i)
  {
    maximum = std::max(maximum, below[i] <= static_cast<std::int16_t>(nth) ? cells[i] : maximum);
  }
  return maximum;
}

template <std::size_t size>
std::int16_t estimate_from(
  const TreeletKey* keys, std::size_t left, std::size_t count, std::size_t axis)
{
  constexpr std::size_t kLanes = 8;
  std::array<std::int16_t, (size + kLanes - 1) / kLanes * kLanes> sample;
  sample.fill(std::numeric_limits<std::int16_t>::max());
  for (std::size_t i = 0; i != size; ++i)
  {
    sample[i] = cell_of(keys[(2 * i + 1) * count / (2 * size)], axis);
  }
  return find_nth(sample, left * size / count);
}

// Returns a cell near the one below which `left` of the `count` particles are.
std::int16_t estimate(const TreeletKey* keys, std::size_t left, std::size_t count, std::size_t axis)
{
  return count > 1024 ? estimate_from<31>(keys, left, count, axis)
    : count > 128     ? estimate_from<11>(keys, left, count, axis)
                      : estimate_from<5>(keys, left, count, axis);
}

// Moves the `left` particles with the lowest cells (among equal ones, the earlier) to the front;
// both parts keep their order.
template <std::size_t size>
void split_few(TreeletKey* keys, std::size_t left, std::size_t count, std::size_t axis)
{
  std::array<std::int16_t, size> cells;
  cells.fill(std::numeric_limits<std::int16_t>::max());
  for (std::size_t i = 0; i != count; ++i)
  {
    cells[i] = cell_of(keys[i], axis);
  }
  const std::int16_t pivot = find_nth(cells, left);
  std::size_t equal = left; // to the left
  for (std::size_t i = 0; i != count; ++i)
  {
    equal -= cells[i] < pivot;
  }
  std::array<TreeletKey, size> others;
  std::size_t low = 0;
  for (std::size_t i = 0; i != count; ++i)
  {
    const TreeletKey key = keys[i];
    const bool is_equal = cells[i] == pivot && equal != 0;
    keys[low] = key;
    others[i - low] = key;
    low += is_equal || cells[i] < pivot;
    equal -= is_equal;
  }
  std::copy(others.data(), others.data() + (count - low), keys + low);
}

void split_few(TreeletKey* keys, std::size_t left, std::size_t count, std::size_t axis)
{
  if (vector_loops::split_few(keys, left, count, axis))
  {
    return;
  }
  if (count <= kMaxComparedKeys / 2)
  {
    split_few<kMaxComparedKeys / 2>(keys, left, count, axis);
  }
  else
  {
    split_few<kMaxComparedKeys>(keys, left, count, axis);
  }
}

// Moves the `left` particles with the lowest cells to the front.
void split(
  TreeletKey* keys, std::size_t left, std::size_t count, std::size_t axis, TreeletKey* room)
{
  constexpr int kMaxRounds = 24; // beyond, the cells mislead the estimate
  for (int round = 0; count > kMaxComparedKeys; ++round)
  {
    if (round == kMaxRounds)
    {
      std::nth_element(keys, keys + left, keys + count,
        [axis](TreeletKey a, TreeletKey b) { return cell_of(a, axis) < cell_of(b, axis); });
      return;
    }
    const std::int16_t pivot = estimate(keys, left, count, axis);
    std::size_t low = partition<false>(keys, count, axis, pivot, room);
    if (left < low)
    {
      count = low;
      continue;
    }
    if (low == 0) // the pivot is the lowest: those equal to it come off, however many they are
    {
      low = partition<true>(keys, count, axis, pivot, room);
    }
    if (left <= low)
    {
      return;
    }
    keys += low;
    left -= low;
    count -= low;
  }
  split_few(keys, left, count, axis);
}

std::size_t longest_axis(const CellBox& box, const std::array<double, 3>& cell_size)
{
  std::size_t longest = 0;
  double maximum = -1;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    const double extent = (box.upper[axis] - box.lower[axis]) * cell_size[axis];
    if (extent > maximum)
    {
      maximum = extent;
      longest = axis;
    }
  }
  return longest;
}
}

TreeletGrid::TreeletGrid(const Box& box) noexcept
{
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    this->half_lower_[axis] = box.lower[axis] * 0.5;
    const double half_extent = box.upper[axis] * 0.5 - box.lower[axis] * 0.5;
    const double scale = kTreeletCells / half_extent;
    // An extent too small to divide by puts everything in one cell.
    this->scale_[axis] = half_extent > 0 && std::isfinite(scale) ? scale : 0;
    this->cell_size_[axis] = half_extent / kTreeletCells;
    for (std::size_t q = 0; q != 256; ++q)
    {
      this->corners_[axis][q] = this->cell(
        format::block_coordinate(box.lower[axis], box.upper[axis], static_cast<std::uint8_t>(q)),
        axis);
    }
  }
}

template <class T>
void TreeletGrid::fill_keys(const T* positions, std::size_t count, TreeletKey* keys) const noexcept
{
  for (std::size_t i =
         vector_loops::fill_keys(positions, count, this->half_lower_, this->scale_, keys);
       i != count; ++i)
  {
    keys[i] = key_of_number(static_cast<std::uint16_t>(i));
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      const auto bits = static_cast<std::uint16_t>(this->cell(positions[3 * i + axis], axis));
      keys[i] |= TreeletKey{ bits } << 16 * axis;
    }
  }
}

template void TreeletGrid::fill_keys(const float*, std::size_t, TreeletKey*) const noexcept;
template void TreeletGrid::fill_keys(const double*, std::size_t, TreeletKey*) const noexcept;

format::BlockBoxRecord TreeletGrid::quantise(const CellBox& cells) const noexcept
{
  // A coordinate in a higher cell is larger. The outermost corners are the box of the treelet.
  format::BlockBoxRecord record;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    const std::array<std::int16_t, 256>& corners = this->corners_[axis];
    const auto guess = [](std::int16_t cell)
    { return static_cast<std::size_t>((cell + kTreeletCells / 2) * 255 / kTreeletCells); };
    std::size_t lower = guess(cells.lower[axis]);
    while (lower != 0 && corners[lower] >= cells.lower[axis])
    {
      --lower;
    }
    std::size_t upper = guess(cells.upper[axis]);
    while (upper != 255 && corners[upper] <= cells.upper[axis])
    {
      ++upper;
    }
    record.lower[axis] = static_cast<std::uint8_t>(lower);
    record.upper[axis] = static_cast<std::uint8_t>(upper);
  }
  return record;
}

void order_treelet(const TreeletGrid& grid, TreeletKey* keys, std::size_t count,
  std::size_t block_particles, TreeletKey* room)
{
  if (count <= kRunParticles)
  {
    shuffle(keys, count);
    return;
  }
  const std::size_t blocks = (count + block_particles - 1) / block_particles;
  const std::size_t left = blocks > 1 ? (blocks + 1) / 2 * block_particles : count / 2;
  split(keys, left, count, longest_axis(tight_cells(keys, count), grid.cell_size()), room);
  order_treelet(grid, keys, left, block_particles, room);
  order_treelet(grid, keys + left, count - left, block_particles, room);
}

CellBox tight_cells(const TreeletKey* keys, std::size_t count)
{
  if (const auto done = vector_loops::tight_cells(keys, count))
  {
    return *done;
  }
  // Handles lanes of two keys, including their numbers: the compiler turns each line into one
  // instruction.
  using Lanes = std::array<std::int16_t, 8>;
  Lanes lower;
  std::memcpy(&lower, keys, sizeof(TreeletKey));
  std::memcpy(&lower[4], keys, sizeof(TreeletKey));
  Lanes upper = lower;
  const auto add = [&](const TreeletKey* two)
  {
    Lanes lanes;
    std::memcpy(&lanes, two, sizeof(lanes));
    for (std::size_t i = 0; i != lanes.size(); ++i)
    {
      lower[i] = std::min(lower[i], lanes[i]);
      upper[i] = std::max(upper[i], lanes[i]);
    }
  };
  for (std::size_t i = 0; i + 2 <= count; i += 2)
  {
    add(keys + i);
  }
  if (count > 1)
  {
    add(keys + count - 2);
  }
  CellBox box;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    box.lower[axis] = std::min(lower[axis], lower[axis + 4]);
    box.upper[axis] = std::max(upper[axis], upper[axis + 4]);
  }
  return box;
}
}
