// SPDX-License-Identifier: BSD-3-Clause
#include "bricks/format/value_range.hpp"

#include "codec/words.hpp"

#include <algorithm>
#include <cmath>

namespace bat::bricks::format
{
template <class T>
void ValueRange::add_values(int components, const std::byte* values, std::size_t count) noexcept
{
  const auto n = static_cast<std::size_t>(components);
  for (std::size_t i = 0; i != count; ++i)
  {
    double square = 0;
    for (std::size_t c = 0; c != n; ++c)
    {
      const auto v = static_cast<double>(codec::load<T>(values + (i * n + c) * sizeof(T)));
      square += v * v;
      if (v < this->minimum_[c]) // never of NaN; of -0 and 0, either
      {
        this->minimum_[c] = v;
      }
      if (v > this->maximum_[c])
      {
        this->maximum_[c] = v;
      }
    }
    if (square > this->largest_square_)
    {
      this->largest_square_ = square;
    }
  }
}

void ValueRange::add(const BrickGrid& grid, const std::byte* values, std::size_t count) noexcept
{
  this->components_ = grid.components;
  if (grid.type == ScalarType::Float64)
  {
    this->add_values<double>(grid.components, values, count);
  }
  else
  {
    this->add_values<float>(grid.components, values, count);
  }
}

void ValueRange::add(const ValueRange& other) noexcept
{
  this->components_ = std::max(this->components_, other.components_);
  this->largest_square_ = std::max(this->largest_square_, other.largest_square_);
  for (std::size_t c = 0; c != 3; ++c)
  {
    this->minimum_[c] = std::min(this->minimum_[c], other.minimum_[c]);
    this->maximum_[c] = std::max(this->maximum_[c], other.maximum_[c]);
  }
}

void ValueRange::copy_to(Header& header) const noexcept
{
  header.largest_speed = std::sqrt(this->largest_square_);
  for (std::size_t c = 0; c != 3; ++c)
  {
    const bool is_there = static_cast<int>(c) < this->components_;
    // Adding 0.0 turns -0 into +0, whichever zero came first.
    header.minimum[c] = is_there ? this->minimum_[c] + 0.0 : 0;
    header.maximum[c] = is_there ? this->maximum_[c] + 0.0 : 0;
  }
}

bool ValueRange::is_of(const Header& header) const noexcept
{
  Header own;
  this->copy_to(own);
  return own.largest_speed == header.largest_speed && own.minimum == header.minimum &&
    own.maximum == header.maximum;
}
}
