// SPDX-License-Identifier: BSD-3-Clause
// Equi-depth bins and the bits that represent them (FORMAT.md section 11); shared by the writer,
// the queries and the validator.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace bat
{
inline constexpr std::uint32_t kBitmapBits = 32;

/// Returns the number of edges <= value. `value` is not NaN.
template <class V>
[[nodiscard]] std::uint32_t find_bin(const std::vector<V>& edges, V value)
{
  return static_cast<std::uint32_t>(
    std::upper_bound(edges.begin(), edges.end(), value) - edges.begin());
}

/// Returns the bit for a bin in a treelet whose values have bins first to last.
[[nodiscard]] inline std::uint32_t bit_of_bin(
  std::uint32_t bin, std::uint32_t first, std::uint32_t last)
{
  const std::uint32_t width = last - first + 1;
  return width <= kBitmapBits ? bin - first : (bin - first) * kBitmapBits / width;
}

/// Returns the first of the bins whose bit is `bit`, or a higher one if no bin has it; one past
/// `last` for bits after the highest.
[[nodiscard]] inline std::uint32_t find_first_bin(
  std::uint32_t bit, std::uint32_t first, std::uint32_t last)
{
  const std::uint32_t width = last - first + 1;
  const std::uint32_t bin =
    width <= kBitmapBits ? bit : (bit * width + kBitmapBits - 1) / kBitmapBits;
  return first + std::min(bin, width);
}

/// Finds the bit of values of one treelet: the value where each bit begins.
template <class V>
class TreeletBits
{
public:
  TreeletBits(const std::vector<V>& edges, std::uint32_t first_bin, std::uint32_t last_bin)
  {
    using Limits = std::numeric_limits<V>;
    this->begins_.fill(Limits::has_infinity ? Limits::infinity() : Limits::max());
    for (std::uint32_t bin = first_bin + 1; bin <= last_bin; ++bin)
    {
      if (bit_of_bin(bin, first_bin, last_bin) != bit_of_bin(bin - 1, first_bin, last_bin))
      {
        this->begins_[this->count_++] = edges[bin - 1];
      }
    }
  }

  /// Values at which a bit begins, ascending: bit k + 1 begins at the k-th.
  [[nodiscard]] std::uint32_t begin_count() const noexcept { return this->count_; }
  [[nodiscard]] const std::array<V, kBitmapBits>& begins() const noexcept { return this->begins_; }

  /// `value` lies in the treelet's range and is not NaN.
  [[nodiscard]] std::uint32_t operator()(V value) const noexcept
  {
    std::uint32_t bit = 0;
    for (std::uint32_t step = kBitmapBits / 2; step != 0; step /= 2)
    {
      const bool above = this->begins_[bit + step - 1] <= value;
      bit += step & (0 - std::uint32_t{ above }); // a branch here would be mispredicted
    }
    return std::min(bit, this->count_); // the largest value of all equals the filling
  }

private:
  std::array<V, kBitmapBits> begins_{};
  std::uint32_t count_ = 0;
};

/// The same bits from a table, without a search: an even grid over the treelet's values, fine
/// enough that at most one bit begins in each cell. Where values are too uneven for that, it is not
/// usable().
template <class V>
class CellBits
{
public:
  CellBits(const TreeletBits<V>& bits, V minimum, V maximum)
    : begins_(bits.begins())
    , count_(bits.begin_count())
    , minimum_(minimum)
  {
    this->usable_ = this->choose_cells(maximum) && this->fill();
  }

  [[nodiscard]] bool usable() const noexcept { return this->usable_; }

  /// `value` lies in the treelet's range and is not NaN.
  [[nodiscard]] std::uint32_t operator()(V value) const noexcept
  {
    return this->in_cell(this->cell(value), value);
  }

  /// Returns the bit for a value in this cell. Cells are numbered from 0; the cell of a value is
  /// (value - minimum) * scale, at most kCells - 1, or (value - minimum) >> shift for integers.
  [[nodiscard]] std::uint32_t in_cell(std::uint32_t cell, V value) const noexcept
  {
    const std::uint32_t bit = this->bits_[cell];
    return std::min(bit + (this->begins_[bit] <= value), this->count_);
  }
  [[nodiscard]] V minimum() const noexcept { return this->minimum_; }
  [[nodiscard]] V scale() const noexcept { return this->scale_; }
  [[nodiscard]] int shift() const noexcept { return this->shift_; }

  static constexpr std::uint32_t kCells = 1024;

private:
  bool choose_cells(V maximum) noexcept
  {
    if constexpr (std::is_floating_point_v<V>)
    {
      const V extent = maximum - this->minimum_;
      this->scale_ = static_cast<V>(kCells) / extent;
      return extent > 0 && std::isfinite(extent) && std::isfinite(this->scale_);
    }
    else
    {
      const std::uint64_t extent = this->distance(maximum);
      while (extent >> this->shift_ >= kCells)
      {
        ++this->shift_;
      }
      return true;
    }
  }

  // The cell never decreases for a larger value.
  [[nodiscard]] std::uint32_t cell(V value) const noexcept
  {
    if constexpr (std::is_floating_point_v<V>)
    {
      const auto cell = static_cast<std::int32_t>((value - this->minimum_) * this->scale_);
      return std::min(static_cast<std::uint32_t>(cell), kCells - 1);
    }
    else
    {
      return static_cast<std::uint32_t>(this->distance(value) >> this->shift_);
    }
  }

  [[nodiscard]] std::uint64_t distance(V value) const noexcept
  {
    return static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(this->minimum_);
  }

  // The bit at the beginning of each cell.
  bool fill() noexcept
  {
    std::uint32_t next = 0;
    for (std::uint32_t k = 0; k != this->count_; ++k)
    {
      const std::uint32_t cell = this->cell(this->begins_[k]);
      if (cell < next)
      {
        return false;
      }
      std::fill(&this->bits_[next], &this->bits_[cell] + 1, static_cast<std::uint8_t>(k));
      next = cell + 1;
    }
    std::fill(
      this->bits_.begin() + next, this->bits_.end(), static_cast<std::uint8_t>(this->count_));
    return true;
  }

  std::array<V, kBitmapBits> begins_;
  std::uint32_t count_;
  V minimum_;
  V scale_ = 0;
  int shift_ = 0;
  bool usable_ = false;
  std::array<std::uint8_t, kCells> bits_;
};
}
