// SPDX-License-Identifier: BSD-3-Clause
// Particles in several places in memory.
#pragma once

#include "bat/particles.hpp"
#include "particles/write/gather.hpp"
#include "particles/write/point_bounds.hpp"
#include "particles/write/positions.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace bat::write
{
/// Particles of a rank or a leaf file in the arrays where they are, numbered part by part. Borrows
/// all arrays. const functions may be called concurrently.
class ParticleParts
{
public:
  /// Numbers of particles have 32 bits.
  static constexpr std::uint64_t kMaxParticles = std::numeric_limits<std::uint32_t>::max();

  struct Part
  {
    ParticleView view;
    const std::uint32_t* rows = nullptr; ///< rows of the view, one per particle; null: 0, 1, 2 ...
    std::uint64_t count = 0;
    std::uint64_t first = 0; ///< number of the first particle

    [[nodiscard]] std::uint64_t row(std::uint64_t number) const noexcept
    {
      const std::uint64_t local = number - this->first;
      return this->rows ? this->rows[local] : local;
    }
  };

  ParticleParts() = default;
  /// Starts without particles. Particles added later have these types, attributes, time, step and
  /// metadata.
  explicit ParticleParts(const ParticleView& schema)
    : schema_(schema)
  {
    this->schema_.count = 0;
  }
  [[nodiscard]] static ParticleParts of_view(const ParticleView& view);

  /// Appends `count` particles of a view that has the attributes of the schema in its order.
  void add(const ParticleView& view, const std::uint32_t* rows, std::uint64_t count);

  [[nodiscard]] std::uint64_t count() const noexcept { return this->count_; }
  /// No part is empty.
  [[nodiscard]] const std::vector<Part>& parts() const noexcept { return this->parts_; }
  /// Types, attributes, time, step and metadata, without particles.
  [[nodiscard]] const ParticleView& schema() const noexcept { return this->schema_; }
  /// Returns the array if all particles are in one, in its order; else null. Array 0 is the
  /// positions, the others are the attributes.
  [[nodiscard]] const ArrayView* single(std::size_t array) const noexcept
  {
    return this->parts_.size() == 1 && !this->parts_[0].rows
      ? &ParticleParts::array(this->parts_[0], array)
      : nullptr;
  }

  [[nodiscard]] std::size_t array_count() const noexcept
  {
    return this->schema_.attributes.size() + 1;
  }
  /// Type and components of an array.
  [[nodiscard]] const ArrayView& array(std::size_t index) const noexcept
  {
    return array_of(this->schema_, index);
  }
  /// The array of a part.
  [[nodiscard]] static const ArrayView& array(const Part& part, std::size_t index) noexcept
  {
    return array_of(part.view, index);
  }
  /// Size of a particle's values in bytes.
  [[nodiscard]] std::uint64_t row_bytes() const noexcept;

  /// Gathers values of the particles with these numbers, packed. Fastest with ascending numbers.
  void gather(
    const std::uint32_t* numbers, std::size_t count, std::size_t array, std::byte* out) const;
  /// Gathers values of particles [first, first + count), packed. Runs in parallel.
  void copy(std::uint64_t first, std::uint64_t count, std::size_t array, std::byte* out) const;
  /// Writes the values of each particle, if slot[number] is in `range`, to that slot of `out`,
  /// which holds the range packed. Runs in parallel.
  void scatter(
    const std::uint32_t* slot, std::size_t array, const SlotRange& range, std::byte* out) const;

  [[nodiscard]] std::array<double, 3> position(std::uint64_t number) const;
  /// Calls f(number, position) for particles [begin, end). T is the type of the positions.
  template <class T, class F>
  void visit_positions(std::uint64_t begin, std::uint64_t end, F&& f) const
  {
    this->for_each_part(begin, end,
      [&](const Part& part, std::uint64_t first, std::uint64_t stop)
      {
        const Positions<T> positions(part.view.positions);
        for (; first != stop; ++first)
        {
          f(first, positions[part.row(first)]);
        }
      });
  }

  /// Bounds of all particles, computed in parallel.
  [[nodiscard]] FiniteBounds finite_bounds() const;
  /// Returns the bounds of particles [begin, end). T is the type of the positions.
  template <class T>
  [[nodiscard]] FiniteBounds finite_bounds(std::uint64_t begin, std::uint64_t end) const
  {
    FiniteBounds bounds;
    this->for_each_part(begin, end,
      [&](const Part& part, std::uint64_t first, std::uint64_t stop)
      {
        extend(bounds,
          write::finite_bounds<T>(
            part.view.positions, part.rows, first - part.first, stop - part.first));
      });
    return bounds;
  }

private:
  template <class T>
  [[nodiscard]] FiniteBounds finite_bounds_as() const;

  [[nodiscard]] static const ArrayView& array_of(
    const ParticleView& view, std::size_t index) noexcept
  {
    return index == 0 ? view.positions : view.attributes[index - 1].values;
  }

  [[nodiscard]] std::size_t part_of(std::uint64_t number) const noexcept;

  // Calls f(part, first, stop) for the particles [first, stop) of [begin, end) that are in each
  // part.
  template <class F>
  void for_each_part(std::uint64_t begin, std::uint64_t end, const F& f) const
  {
    for (std::size_t p = begin < end ? this->part_of(begin) : 0; begin < end; ++p)
    {
      const Part& part = this->parts_[p];
      const std::uint64_t stop = std::min(end, part.first + part.count);
      f(part, begin, stop);
      begin = stop;
    }
  }

  ParticleView schema_;
  std::vector<Part> parts_;
  std::uint64_t count_ = 0;
};

/// Rows [first, first + count) of a view.
[[nodiscard]] ParticleView slice(
  const ParticleView& view, std::uint64_t first, std::uint64_t count);
}
