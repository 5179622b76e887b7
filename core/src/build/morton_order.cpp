#include "build/morton_order.hpp"

#include "build/bounds.hpp"
#include "build/morton.hpp"
#include "build/positions.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace bat::build
{
namespace
{
// Several times as many cells as treelets are made of them, so that few cells need a grid of their
// own; not more than can be counted in cache.
constexpr std::size_t kCellsPerTreelet = 16;

// Runs of particles that are worked on in parallel. The order does not depend on them.
class Slices
{
public:
  explicit Slices(std::size_t particles)
    : particles_(particles)
    , size_(std::max(kSmallest, (particles + kMost - 1) / kMost))
  {
  }

  [[nodiscard]] std::size_t count() const
  {
    return (this->particles_ + this->size_ - 1) / this->size_;
  }

  // Calls f(slice, begin, end) in parallel.
  template <class F>
  void for_each(const F& f) const
  {
    tbb::parallel_for(std::size_t{ 0 }, this->count(),
      [&](std::size_t slice)
      {
        const std::size_t begin = slice * this->size_;
        f(slice, begin, std::min(this->particles_, begin + this->size_));
      });
  }

private:
  static constexpr std::size_t kSmallest = std::size_t{ 1 } << 17;
  static constexpr std::size_t kMost = 64;
  std::size_t particles_;
  std::size_t size_;
};

// Levels of a grid for `count` particles.
int grid_levels(std::size_t count, std::uint32_t most)
{
  int levels = 1;
  while (levels != MortonGrid::kMostCoarseLevels &&
    (std::size_t{ 1 } << 3 * levels) * most < count * kCellsPerTreelet)
  {
    ++levels;
  }
  return levels;
}

// Consecutive cells whose particles stay together.
struct Piece
{
  std::size_t first_cell;
  std::size_t end_cell;
  std::size_t count; ///< of particles, at least one
};

// Shallow k-d tree over subprefixes: halves cells until each piece has at most `most` particles, or
// is one cell. before[c] particles are in the cells before c.
void cut_cells(const std::vector<std::size_t>& before, std::size_t begin, std::size_t end,
  std::uint32_t most, std::vector<Piece>& pieces)
{
  const std::size_t count = before[end] - before[begin];
  if (count > most && end - begin > 1)
  {
    const std::size_t middle = begin + (end - begin) / 2;
    cut_cells(before, begin, middle, most, pieces);
    cut_cells(before, middle, end, most, pieces);
  }
  else if (count != 0)
  {
    pieces.push_back({ begin, end, count });
  }
}

template <class T>
class Orderer
{
public:
  Orderer(const ParticleView& particles, std::uint32_t most, MortonOrder& out)
    : positions_(particles.positions)
    , most_(most)
    , out_(out)
  {
  }

  void run(std::size_t count)
  {
    const std::size_t finite = this->separate_finite(count);
    this->out_.finite_count = finite;
    this->out_.bounds = this->bounds(0, finite);
    this->cut_cell(0, finite, this->out_.bounds);
    if (this->as_they_come())
    {
      this->out_.source.reset(count);
      std::iota(this->out_.source.data(), this->out_.source.data() + count, 0u);
    }
    this->merge_small();
    for (std::size_t begin = finite; begin < count; begin += this->most_)
    {
      const std::size_t here = std::min<std::size_t>(this->most_, count - begin);
      this->out_.treelets.push_back(
        { static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(here), false });
    }
  }

private:
  // Until something is moved, there is no source: it would be 0, 1, 2 ...
  [[nodiscard]] bool as_they_come() const { return this->out_.source.size() == 0; }

  [[nodiscard]] std::uint32_t source(std::size_t i) const
  {
    return this->as_they_come() ? static_cast<std::uint32_t>(i) : this->out_.source[i];
  }

  // Finite particles first, both parts in the caller's order. Returns how many are finite.
  std::size_t separate_finite(std::size_t count)
  {
    const Slices slices(count);
    std::vector<std::size_t> finite_start(slices.count() + 1);
    slices.for_each(
      [&](std::size_t s, std::size_t begin, std::size_t end)
      {
        std::size_t finite = 0;
        for (std::size_t i = begin; i != end; ++i)
        {
          finite += is_finite(this->positions_[i]);
        }
        finite_start[s + 1] = finite;
      });
    std::partial_sum(finite_start.begin(), finite_start.end(), finite_start.begin());
    const std::size_t finite_count = finite_start.back();
    if (finite_count == count)
    {
      return count;
    }
    LargeArray<std::uint32_t>& source = this->out_.source;
    source.reset(count);
    slices.for_each(
      [&](std::size_t s, std::size_t begin, std::size_t end)
      {
        std::size_t finite = finite_start[s];
        std::size_t other = finite_count + begin - finite;
        for (std::size_t i = begin; i != end; ++i)
        {
          source[is_finite(this->positions_[i]) ? finite++ : other++] =
            static_cast<std::uint32_t>(i);
        }
      });
    return finite_count;
  }

  [[nodiscard]] Box bounds(std::size_t begin, std::size_t end) const
  {
    return tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(begin, end, 16384), empty_box(),
      [&](const auto& range, Box box)
      {
        for (std::size_t i = range.begin(); i != range.end(); ++i)
        {
          extend(box, this->positions_[this->source(i)]);
        }
        return box;
      },
      [](Box a, const Box& b)
      {
        extend(a, b);
        return a;
      });
  }

  // Orders particles [begin, end) along the curve of a grid over `box`, their tight box, and cuts
  // them into treelets, inside which they keep their order.
  void cut_cell(std::size_t begin, std::size_t end, const Box& box)
  {
    const std::size_t count = end - begin;
    if (count <= this->most_)
    {
      this->add(begin, end);
      return;
    }
    std::size_t from = begin;
    for (const Piece& piece : this->sort_into_pieces(begin, end, box))
    {
      const std::size_t to = from + piece.count;
      if (piece.count <= this->most_)
      {
        this->add(from, to);
      }
      else if (piece.count == count)
      {
        this->cut_evenly(begin, end); // all in one cell of their own box: the same place
      }
      else
      {
        this->cut_cell(from, to, this->bounds(from, to));
      }
      from = to;
    }
  }

  // A stable counting sort of particles [begin, end) by piece.
  std::vector<Piece> sort_into_pieces(std::size_t begin, std::size_t end, const Box& box)
  {
    const std::size_t count = end - begin;
    const MortonGrid grid(box);
    const int levels = grid_levels(count, this->most_);
    const std::size_t cells = std::size_t{ 1 } << 3 * levels;
    const Slices slices(count);
    std::vector<std::uint32_t> counts(slices.count() * cells); // of each slice, by cell
    LargeArray<std::uint32_t> cell(count);
    slices.for_each(
      [&](std::size_t s, std::size_t from, std::size_t to)
      {
        std::uint32_t* here = &counts[s * cells];
        for (std::size_t i = from; i != to; ++i)
        {
          cell[i] = grid.coarse_code(this->positions_[this->source(begin + i)], levels);
          ++here[cell[i]];
        }
      });

    std::vector<std::size_t> before(cells + 1);
    for (std::size_t i = 0; i != counts.size(); ++i)
    {
      before[i % cells + 1] += counts[i];
    }
    std::partial_sum(before.begin(), before.end(), before.begin());
    std::vector<Piece> pieces;
    cut_cells(before, 0, cells, this->most_, pieces);

    std::vector<std::uint32_t> piece_of(cells);
    std::vector<std::uint32_t> next(slices.count() * pieces.size()); // place, by slice and piece
    std::uint32_t sum = 0;
    for (std::size_t p = 0; p != pieces.size(); ++p)
    {
      std::fill(piece_of.begin() + static_cast<std::ptrdiff_t>(pieces[p].first_cell),
        piece_of.begin() + static_cast<std::ptrdiff_t>(pieces[p].end_cell),
        static_cast<std::uint32_t>(p));
      for (std::size_t s = 0; s != slices.count(); ++s)
      {
        next[s * pieces.size() + p] = sum;
        sum = std::accumulate(
          &counts[s * cells + pieces[p].first_cell], &counts[s * cells] + pieces[p].end_cell, sum);
      }
    }
    LargeArray<std::uint32_t> sorted(count);
    slices.for_each(
      [&](std::size_t s, std::size_t from, std::size_t to)
      {
        std::uint32_t* here = &next[s * pieces.size()];
        for (std::size_t i = from; i != to; ++i)
        {
          sorted[here[piece_of[cell[i]]]++] = this->source(begin + i);
        }
      });
    this->replace_source(begin, std::move(sorted));
    return pieces;
  }

  void replace_source(std::size_t begin, LargeArray<std::uint32_t> sorted)
  {
    if (this->as_they_come())
    {
      this->out_.source = std::move(sorted); // all of them
      return;
    }
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, sorted.size(), 65536),
      [&](const auto& range)
      {
        std::copy(sorted.data() + range.begin(), sorted.data() + range.end(),
          this->out_.source.data() + begin + range.begin());
      });
  }

  void cut_evenly(std::size_t begin, std::size_t end)
  {
    const std::size_t parts = (end - begin + this->most_ - 1) / this->most_;
    for (std::size_t part = 0; part != parts; ++part)
    {
      this->add(begin + (end - begin) * part / parts, begin + (end - begin) * (part + 1) / parts);
    }
  }

  void add(std::size_t begin, std::size_t end)
  {
    if (begin != end)
    {
      this->out_.treelets.push_back(
        { static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin), true });
    }
  }

  void merge_small()
  {
    std::vector<TreeletRange> merged;
    for (const TreeletRange& next : this->out_.treelets)
    {
      if (!merged.empty() && merged.back().count + next.count <= this->most_)
      {
        merged.back().count += next.count;
      }
      else
      {
        merged.push_back(next);
      }
    }
    this->out_.treelets = std::move(merged);
  }

  Positions<T> positions_;
  std::uint32_t most_;
  MortonOrder& out_;
};
}

MortonOrder morton_order(const ParticleView& particles, std::uint32_t most)
{
  MortonOrder order;
  if (particles.positions.type == ScalarType::Float32)
  {
    Orderer<float>(particles, most, order).run(particles.count);
  }
  else
  {
    Orderer<double>(particles, most, order).run(particles.count);
  }
  return order;
}
}
