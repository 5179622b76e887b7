// The particles of a rank, wherever they lie.
#pragma once

#include "bat/mpi.hpp"
#include "build/positions.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat::mpi
{
/// The particles of this rank that are written, numbered piece by piece without those that are
/// skipped.
class RankParticles
{
public:
  struct Part
  {
    ParticleView view;
    std::vector<std::uint32_t> rows; ///< of the view, ascending; none: all of them
    std::uint64_t first = 0;         ///< number of the first particle

    [[nodiscard]] std::uint64_t count() const noexcept
    {
      return this->rows.empty() ? this->view.count : this->rows.size();
    }
  };

  /// Checks pieces that have particles, and looks at skip masks; arrays of particles are not
  /// touched. Throws Error{InvalidArgument}: what build::check_input refuses, a mask of another
  /// shape or type, 2^32 particles or more.
  explicit RankParticles(const std::vector<Piece>& pieces);

  [[nodiscard]] std::uint64_t count() const noexcept { return this->count_; }
  [[nodiscard]] std::uint64_t skipped() const noexcept { return this->skipped_; }
  /// None is empty.
  [[nodiscard]] const std::vector<Part>& parts() const noexcept { return this->parts_; }
  /// Types, attributes, time, step and metadata, without particles.
  [[nodiscard]] const ParticleView& schema() const noexcept { return this->schema_; }
  /// Gives all parts the attributes of `schema` in its order; fit(view) returns a part's view with
  /// them.
  template <class Fit>
  void adopt(ParticleView schema, const Fit& fit)
  {
    for (std::size_t i = 0; i != this->parts_.size(); ++i)
    {
      this->parts_[i].view = fit(this->parts_[i].view, i);
    }
    this->schema_ = std::move(schema);
    this->schema_.count = 0;
  }
  /// The caller's own view if that is all there is; else null.
  [[nodiscard]] const ParticleView* single_view() const noexcept;

  /// Array 0 is the positions, the others are the attributes.
  [[nodiscard]] std::size_t array_count() const noexcept
  {
    return this->schema_.attributes.size() + 1;
  }
  /// Type and components of an array.
  [[nodiscard]] const ArrayView& array(std::size_t index) const noexcept
  {
    return array_of(this->schema_, index);
  }
  /// Bytes of all values of a particle.
  [[nodiscard]] std::uint64_t row_bytes() const noexcept;
  /// Values of the particles with these ascending numbers, packed.
  void gather(
    const std::uint32_t* numbers, std::size_t count, std::size_t array, std::byte* out) const;

  [[nodiscard]] std::array<double, 3> position(std::uint64_t number) const;
  /// Calls f(number, position) for particles [begin, end). T: type of the positions.
  template <class T, class F>
  void visit_positions(std::uint64_t begin, std::uint64_t end, F&& f) const
  {
    for (std::size_t p = begin < end ? this->part_of(begin) : 0; begin < end; ++p)
    {
      const Part& part = this->parts_[p];
      const build::Positions<T> positions(part.view.positions);
      for (const std::uint64_t stop = std::min(end, part.first + part.count()); begin != stop;
           ++begin)
      {
        const std::uint64_t local = begin - part.first;
        f(begin, positions[part.rows.empty() ? local : part.rows[local]]);
      }
    }
  }

private:
  [[nodiscard]] static const ArrayView& array_of(
    const ParticleView& view, std::size_t index) noexcept
  {
    return index == 0 ? view.positions : view.attributes[index - 1].values;
  }
  void add(const Piece& piece);
  [[nodiscard]] std::size_t part_of(std::uint64_t number) const noexcept;

  std::vector<Part> parts_;
  ParticleView schema_;
  std::uint64_t count_ = 0;
  std::uint64_t skipped_ = 0;
};
}
