// SPDX-License-Identifier: BSD-3-Clause
#include "particles/write/morton_order.hpp"

#include "particles/tree/bounds.hpp"
#include "particles/write/morton.hpp"
#include "particles/write/point_bounds.hpp"
#include "particles/write/positions.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace bat::write
{
namespace
{
// Cells are several times as many as treelets, so that few cells need their own grid, and few
// enough to be counted in cache.
constexpr std::size_t kCellsPerTreelet = 16;

// Runs of particles that are processed in parallel. The order does not depend on them.
class Slices
{
public:
  explicit Slices(std::size_t particles)
    : particles_(particles)
    , size_(std::max(kMinPieceParticles, (particles + kMaxPieces - 1) / kMaxPieces))
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
  static constexpr std::size_t kMinPieceParticles = std::size_t{ 1 } << 17;
  static constexpr std::size_t kMaxPieces = 64;
  std::size_t particles_;
  std::size_t size_;
};

// Number of levels in a grid for `count` particles.
int grid_levels(std::size_t count, std::uint32_t maximum)
{
  int levels = 1;
  while (levels != MortonGrid::kMaxCoarseLevels &&
    (std::size_t{ 1 } << 3 * levels) * maximum < count * kCellsPerTreelet)
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
  std::size_t first; ///< first particle, counted from the first of all cells
  std::size_t count; ///< number of particles, at least one
};

// Shallow k-d tree over subprefixes: halves cells until each piece has at most `maximum` particles,
// or is one cell. before[c] particles are in the cells before c.
void cut_cells(const std::vector<std::size_t>& before, std::size_t begin, std::size_t end,
  std::uint32_t maximum, std::vector<Piece>& pieces)
{
  const std::size_t count = before[end] - before[begin];
  if (count > maximum && end - begin > 1)
  {
    const std::size_t middle = begin + (end - begin) / 2;
    cut_cells(before, begin, middle, maximum, pieces);
    cut_cells(before, middle, end, maximum, pieces);
  }
  else if (count != 0)
  {
    pieces.push_back({ begin, end, before[begin], count });
  }
}

Box joined(const std::vector<Box>& boxes)
{
  Box all = empty_box();
  for (const Box& box : boxes)
  {
    extend(all, box);
  }
  return all;
}

template <class T>
class Orderer
{
public:
  Orderer(const ArrayView& positions, std::uint32_t maximum, MortonOrder& out)
    : view_(positions)
    , positions_(positions)
    , max_(maximum)
    , out_(out)
  {
  }

  void run(std::size_t count)
  {
    const std::size_t finite = this->separate_finite(count);
    this->out_.finite_count = finite;
    Treelets treelets;
    if (finite <= this->max_ || !this->as_they_come())
    {
      this->cut_cell(0, finite, treelets);
    }
    else
    {
      this->cut_pieces(0, finite,
        this->sort_into_pieces(0, finite, this->out_.bounds, this->positions_), treelets);
    }
    if (this->as_they_come())
    {
      this->out_.source.reset(count);
      std::iota(this->out_.source.data(), this->out_.source.data() + count, 0u);
    }
    this->merge_small(treelets);
    for (std::size_t begin = finite; begin < count; begin += this->max_)
    {
      const std::size_t here = std::min<std::size_t>(this->max_, count - begin);
      this->out_.treelets.push_back(
        { static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(here), false });
    }
  }

private:
  using Point = std::array<T, 3>;
  using Treelets = std::vector<TreeletRange>;

  // Until a particle moves, `source` is empty, because it would be 0, 1, 2 ...
  [[nodiscard]] bool as_they_come() const { return this->out_.source.size() == 0; }

  // Moves finite particles to the front, both parts in the caller's order, and computes their box.
  // Returns how many are finite.
  std::size_t separate_finite(std::size_t count)
  {
    const Slices slices(count);
    std::vector<std::size_t> finite_start(slices.count() + 1);
    std::vector<Box> boxes(slices.count());
    slices.for_each(
      [&](std::size_t s, std::size_t begin, std::size_t end)
      {
        const FiniteBounds finite = finite_bounds<T>(this->view_, nullptr, begin, end);
        finite_start[s + 1] = finite.count;
        boxes[s] = finite.box;
      });
    this->out_.bounds = joined(boxes);
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

  // Orders particles [begin, end) along the curve of a grid over their tight box, and divides them
  // into treelets, within which they keep their order.
  void cut_cell(std::size_t begin, std::size_t end, Treelets& treelets)
  {
    if (end - begin <= this->max_)
    {
      add(begin, end, treelets);
      return;
    }
    this->cut_pieces(begin, end, this->sort_cell(begin, end), treelets);
  }

  // Does the same for particles already sorted into `pieces`.
  void cut_pieces(
    std::size_t begin, std::size_t end, const std::vector<Piece>& pieces, Treelets& treelets)
  {
    std::vector<Treelets> of_piece(pieces.size());
    tbb::parallel_for(std::size_t{ 0 }, pieces.size(),
      [&](std::size_t p)
      {
        const std::size_t from = begin + pieces[p].first;
        const std::size_t to = from + pieces[p].count;
        if (to - from == end - begin)
        {
          this->cut_evenly(begin, end, of_piece[p]); // one cell of their own box: the same place
        }
        else
        {
          this->cut_cell(from, to, of_piece[p]);
        }
      });
    for (const Treelets& some : of_piece)
    {
      treelets.insert(treelets.end(), some.begin(), some.end());
    }
  }

  // A cell's particles are scattered over the caller's array, which is therefore read once.
  std::vector<Piece> sort_cell(std::size_t begin, std::size_t end)
  {
    LargeArray<Point> points(end - begin);
    const Slices slices(end - begin);
    std::vector<Box> boxes(slices.count());
    slices.for_each(
      [&](std::size_t s, std::size_t from, std::size_t to)
      {
        constexpr std::size_t kPrefetchDistance = 32;
        const std::uint32_t* source = &this->out_.source[begin];
        for (std::size_t i = from; i != to; ++i)
        {
          this->positions_.prefetch(source[std::min(i + kPrefetchDistance, to - 1)]);
          points[i] = this->positions_[source[i]];
        }
        boxes[s] = tight_box(points[from].data(), to - from);
      });
    return this->sort_into_pieces(begin, end, joined(boxes), points);
  }

  static const T* packed(const Positions<T>& points) { return points.packed(); }
  static const T* packed(const LargeArray<Point>& points) { return points.data()->data(); }

  // A stable counting sort of particles [begin, end) by piece; `points` are their positions.
  template <class Points>
  std::vector<Piece> sort_into_pieces(
    std::size_t begin, std::size_t end, const Box& box, const Points& points)
  {
    const std::size_t count = end - begin;
    const MortonGrid grid(box);
    const int levels = grid_levels(count, this->max_);
    const std::size_t cells = std::size_t{ 1 } << 3 * levels;
    const Slices slices(count);
    std::vector<std::uint32_t> counts(slices.count() * cells); // per slice and cell
    LargeArray<std::uint32_t> cell(count);
    slices.for_each(
      [&](std::size_t s, std::size_t from, std::size_t to)
      {
        if (const T* const positions = packed(points))
        {
          grid.coarse_codes(positions + 3 * from, to - from, levels, &cell[from]);
        }
        else
        {
          for (std::size_t i = from; i != to; ++i)
          {
            cell[i] = grid.coarse_code(points[i], levels);
          }
        }
        std::uint32_t* here = &counts[s * cells];
        for (std::size_t i = from; i != to; ++i)
        {
          ++here[cell[i]];
        }
      });

    std::vector<std::size_t> before(cells + 1);
    for (std::size_t s = 0; s != slices.count(); ++s)
    {
      for (std::size_t c = 0; c != cells; ++c)
      {
        before[c + 1] += counts[s * cells + c];
      }
    }
    std::partial_sum(before.begin(), before.end(), before.begin());
    std::vector<Piece> pieces;
    cut_cells(before, 0, cells, this->max_, pieces);

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
    const bool as_they_come = this->as_they_come();
    LargeArray<std::uint32_t> sorted(count);
    slices.for_each(
      [&](std::size_t s, std::size_t from, std::size_t to)
      {
        std::uint32_t* here = &next[s * pieces.size()];
        for (std::size_t i = from; i != to; ++i)
        {
          sorted[here[piece_of[cell[i]]]++] =
            as_they_come ? static_cast<std::uint32_t>(i) : this->out_.source[begin + i];
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

  void cut_evenly(std::size_t begin, std::size_t end, Treelets& treelets) const
  {
    const std::size_t parts = (end - begin + this->max_ - 1) / this->max_;
    for (std::size_t part = 0; part != parts; ++part)
    {
      add(
        begin + (end - begin) * part / parts, begin + (end - begin) * (part + 1) / parts, treelets);
    }
  }

  static void add(std::size_t begin, std::size_t end, Treelets& treelets)
  {
    if (begin != end)
    {
      treelets.push_back(
        { static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin), true });
    }
  }

  void merge_small(const Treelets& treelets)
  {
    Treelets& merged = this->out_.treelets;
    for (const TreeletRange& next : treelets)
    {
      if (!merged.empty() && merged.back().count + next.count <= this->max_)
      {
        merged.back().count += next.count;
      }
      else
      {
        merged.push_back(next);
      }
    }
  }

  const ArrayView& view_;
  Positions<T> positions_;
  std::uint32_t max_;
  MortonOrder& out_;
};
}

MortonOrder morton_order(const ArrayView& positions, std::uint64_t count, std::uint32_t maximum)
{
  MortonOrder order;
  if (positions.type == ScalarType::Float32)
  {
    Orderer<float>(positions, maximum, order).run(count);
  }
  else
  {
    Orderer<double>(positions, maximum, order).run(count);
  }
  return order;
}
}
