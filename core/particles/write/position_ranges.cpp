// SPDX-License-Identifier: BSD-3-Clause
#include "particles/write/position_ranges.hpp"

#include "common/numbers.hpp"
#include "particles/write/key_values.hpp"

#include <algorithm>
#include <limits>

namespace bat::write
{
PositionRanges::PositionRanges() noexcept
{
  this->minimum_.fill(std::numeric_limits<double>::infinity());
  this->maximum_.fill(-std::numeric_limits<double>::infinity());
}

void PositionRanges::add(ScalarType type, const std::byte* positions, std::size_t count) noexcept
{
  type == ScalarType::Float32 ? this->add(reinterpret_cast<const float*>(positions), count)
                              : this->add(reinterpret_cast<const double*>(positions), count);
}

template <class T>
void PositionRanges::add(const T* tuples, std::size_t count) noexcept
{
  for (std::size_t i = 0; i != count; ++i)
  {
    for (std::size_t k = 0; k != format::kPositionKeys; ++k)
    {
      const auto v = key_value<T, double>(tuples + 3 * i, 3, k == 3 ? -1 : static_cast<int>(k));
      this->minimum_[k] = v < this->minimum_[k] ? v : this->minimum_[k];
      this->maximum_[k] = v > this->maximum_[k] ? v : this->maximum_[k];
      this->has_nan_[k] |= is_nan_value(v);
    }
  }
}

void PositionRanges::add(const PositionRanges& other) noexcept
{
  for (std::size_t k = 0; k != format::kPositionKeys; ++k)
  {
    this->minimum_[k] = std::min(this->minimum_[k], other.minimum_[k]);
    this->maximum_[k] = std::max(this->maximum_[k], other.maximum_[k]);
    this->has_nan_[k] |= other.has_nan_[k];
  }
}

std::array<format::LeafKeyRecord, format::kPositionKeys> PositionRanges::records() const noexcept
{
  std::array<format::LeafKeyRecord, format::kPositionKeys> keys{};
  for (std::size_t k = 0; k != format::kPositionKeys; ++k)
  {
    // Changes -0 to +0, because which zero came first depends on the number of threads.
    keys[k] = { to_bits(this->minimum_[k] + 0.0), to_bits(this->maximum_[k] + 0.0),
      this->has_nan_[k] ? format::kHasNaN : 0, 0 };
  }
  return keys;
}
}
