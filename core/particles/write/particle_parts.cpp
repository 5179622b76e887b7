// SPDX-License-Identifier: BSD-3-Clause
#include "particles/write/particle_parts.hpp"

#include "common/numbers.hpp"

#include <tbb/parallel_for.h>

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

namespace bat::write
{
namespace
{
void move_begin(ArrayView& array, std::uint64_t rows)
{
  for (int c = 0; c != array.components; ++c)
  {
    array.component[static_cast<std::size_t>(c)] += rows * array.stride_bytes;
  }
}
}

FiniteBounds ParticleParts::finite_bounds() const
{
  return this->schema_.positions.type == ScalarType::Float32 ? this->finite_bounds_as<float>()
                                                             : this->finite_bounds_as<double>();
}

template <class T>
FiniteBounds ParticleParts::finite_bounds_as() const
{
  constexpr std::uint64_t kParticlesPerTask = 1 << 16;
  using Range = tbb::blocked_range<std::uint64_t>;
  const auto join = [](FiniteBounds a, const FiniteBounds& b)
  {
    extend(a, b);
    return a;
  };
  const auto add = [&](const Range& range, const FiniteBounds& bounds)
  { return join(bounds, this->finite_bounds<T>(range.begin(), range.end())); };
  return tbb::parallel_reduce(
    Range(0, this->count(), kParticlesPerTask), FiniteBounds{}, add, join);
}

ParticleView slice(const ParticleView& view, std::uint64_t first, std::uint64_t count)
{
  ParticleView result = view;
  result.count = count;
  if (count != 0)
  {
    move_begin(result.positions, first);
    for (AttributeView& attribute : result.attributes)
    {
      move_begin(attribute.values, first);
    }
  }
  return result;
}

ParticleParts ParticleParts::of_view(const ParticleView& view)
{
  ParticleParts parts(view);
  parts.add(view, nullptr, view.count);
  return parts;
}

void ParticleParts::add(const ParticleView& view, const std::uint32_t* rows, std::uint64_t count)
{
  if (count != 0)
  {
    this->parts_.push_back({ view, rows, count, this->count_ });
    this->count_ += count;
  }
}

std::uint64_t ParticleParts::row_bytes() const noexcept
{
  return bytes_per_particle(this->schema_);
}

std::size_t ParticleParts::part_of(std::uint64_t number) const noexcept
{
  const auto after = std::upper_bound(this->parts_.begin(), this->parts_.end(), number,
    [](std::uint64_t n, const Part& part) { return n < part.first; });
  return static_cast<std::size_t>(after - this->parts_.begin()) - 1;
}

void ParticleParts::gather(
  const std::uint32_t* numbers, std::size_t count, std::size_t array, std::byte* out) const
{
  if (const ArrayView* const view = this->single(array))
  {
    write::gather(numbers, count, *view, out); // numbers are rows
    return;
  }
  constexpr std::size_t kParticlesPerBatch = 1024;
  std::array<std::uint32_t, kParticlesPerBatch> rows;
  const std::uint64_t bytes = tuple_bytes(this->array(array));
  while (count != 0)
  {
    const Part& part = this->parts_[this->part_of(*numbers)];
    std::size_t here = 0;
    for (const std::size_t maximum = std::min(count, kParticlesPerBatch);
         here != maximum && numbers[here] - part.first < part.count; ++here)
    {
      rows[here] = static_cast<std::uint32_t>(part.row(numbers[here]));
    }
    write::gather(rows.data(), here, ParticleParts::array(part, array), out);
    numbers += here;
    count -= here;
    out += here * bytes;
  }
}

void ParticleParts::copy(
  std::uint64_t first, std::uint64_t count, std::size_t array, std::byte* out) const
{
  constexpr std::uint64_t kParticlesPerBatch = 1 << 16;
  const std::uint64_t bytes = tuple_bytes(this->array(array));
  tbb::parallel_for(std::uint64_t{ 0 }, (count + kParticlesPerBatch - 1) / kParticlesPerBatch,
    [&](std::uint64_t task)
    {
      const std::uint64_t begin = first + task * kParticlesPerBatch;
      const std::uint64_t end = std::min(first + count, begin + kParticlesPerBatch);
      std::byte* to = out + task * kParticlesPerBatch * bytes;
      this->for_each_part(begin, end,
        [&](const Part& part, std::uint64_t at, std::uint64_t stop)
        {
          write::copy(
            { part.rows, at - part.first, stop - at }, ParticleParts::array(part, array), to);
          to += (stop - at) * bytes;
        });
    });
}

void ParticleParts::scatter(
  const std::uint32_t* slot, std::size_t array, const SlotRange& range, std::byte* out) const
{
  const bool is_everything = range.end - range.begin == this->count_;
  tbb::parallel_for(std::size_t{ 0 }, this->parts_.size(),
    [&](std::size_t p)
    {
      const Part& part = this->parts_[p];
      write::scatter(slot + part.first, { part.rows, 0, part.count },
        ParticleParts::array(part, array), is_everything ? nullptr : &range, out);
    });
}

std::array<double, 3> ParticleParts::position(std::uint64_t number) const
{
  std::array<double, 3> result{};
  const auto read = [&](auto value)
  {
    this->visit_positions<decltype(value)>(number, number + 1,
      [&](std::uint64_t, const auto& point)
      { std::copy(point.begin(), point.end(), result.begin()); });
  };
  this->schema_.positions.type == ScalarType::Float32 ? read(float{}) : read(double{});
  return result;
}
}
