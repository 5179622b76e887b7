// SPDX-License-Identifier: BSD-3-Clause
// Boxes of positions, compared with a number-by-number computation.
#include "bat/particles.hpp"
#include "particles/write/point_bounds.hpp"
#include "support/clouds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace
{
using bat::write::FiniteBounds;

template <class T>
FiniteBounds expected(
  const std::vector<T>& p, const std::uint32_t* rows, std::uint64_t begin, std::uint64_t end)
{
  FiniteBounds found;
  for (std::uint64_t i = begin; i != end; ++i)
  {
    const T* point = &p[3 * (rows ? rows[i] : i)];
    if (std::isfinite(point[0]) && std::isfinite(point[1]) && std::isfinite(point[2]))
    {
      bat::extend(found.box, point);
      ++found.count;
    }
  }
  return found;
}

bool same(const FiniteBounds& a, const FiniteBounds& b)
{
  return a.count == b.count && a.box.lower == b.box.lower && a.box.upper == b.box.upper;
}

template <class T>
void check()
{
  clouds::Random random(11);
  const T inf = std::numeric_limits<T>::infinity();
  const T odd[] = { std::numeric_limits<T>::quiet_NaN(), inf, -inf };
  for (const std::size_t count : { 1u, 2u, 3u, 5u, 1023u, 1024u, 1025u, 5000u })
  {
    for (const std::size_t strange : { std::size_t{ 0 }, std::size_t{ 1 }, count })
    {
      std::vector<T> p(3 * count);
      for (T& x : p)
      {
        x = static_cast<T>(clouds::unit(random) * 2e3 - 1e3);
      }
      for (std::size_t k = 0; k != strange; ++k)
      {
        p[3 * (strange == count ? k : random() % count) + random() % 3] = odd[random() % 3];
      }
      std::vector<std::uint32_t> rows(count);
      std::iota(rows.begin(), rows.end(), 0u);
      std::shuffle(rows.begin(), rows.end(), random);
      // Packed; in longer rows that begin at an odd address; one array per axis.
      const std::size_t stride = 3 * sizeof(T) + 5;
      std::vector<std::byte> wide(count * stride + 1);
      std::vector<T> axes[3];
      for (std::size_t i = 0; i != count; ++i)
      {
        std::memcpy(&wide[1 + i * stride], &p[3 * i], 3 * sizeof(T));
        for (std::size_t axis = 0; axis != 3; ++axis)
        {
          axes[axis].push_back(p[3 * i + axis]);
        }
      }
      const auto type = sizeof(T) == 4 ? bat::ScalarType::Float32 : bat::ScalarType::Float64;
      bat::ArrayView strided = bat::ArrayView::packed(type, 3, &wide[1]);
      strided.stride_bytes = stride;
      for (const bat::ArrayView& view : { bat::ArrayView::packed(type, 3, p.data()), strided,
             bat::ArrayView::separate(type, { axes[0].data(), axes[1].data(), axes[2].data() }) })
      {
        const std::uint64_t begin = random() % count;
        for (const std::uint32_t* of : { static_cast<const std::uint32_t*>(nullptr),
               static_cast<const std::uint32_t*>(rows.data()) })
        {
          ASSERT_TRUE(
            same(bat::write::finite_bounds<T>(view, of, 0, count), expected(p, of, 0, count)));
          ASSERT_TRUE(same(
            bat::write::finite_bounds<T>(view, of, begin, count), expected(p, of, begin, count)));
        }
      }
      if (strange == 0)
      {
        ASSERT_TRUE(same(
          { bat::write::tight_box(p.data(), count), count }, expected<T>(p, nullptr, 0, count)));
      }
    }
  }
}

TEST(PointBounds, are_those_of_the_finite_positions_wherever_these_lie)
{
  check<float>();
  check<double>();
}
}
