// Equi-depth bins and the bits that stand for them (FORMAT.md section 11); shared by the writer,
// the queries and the validator.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace bat
{
inline constexpr std::uint32_t kBitmapBits = 32;

/// Number of edges that are <= value. `value` is not NaN.
template <class V>
[[nodiscard]] std::uint32_t bin_of(const std::vector<V>& edges, V value)
{
  return static_cast<std::uint32_t>(
    std::upper_bound(edges.begin(), edges.end(), value) - edges.begin());
}

/// Bit of a bin of a treelet whose values have bins first to last.
[[nodiscard]] inline std::uint32_t bit_of_bin(
  std::uint32_t bin, std::uint32_t first, std::uint32_t last)
{
  const std::uint32_t width = last - first + 1;
  return width <= kBitmapBits ? bin - first : (bin - first) * kBitmapBits / width;
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
}
