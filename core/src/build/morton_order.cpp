#include "build/morton_order.hpp"

#include "build/bounds.hpp"
#include "build/morton.hpp"
#include "build/positions.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <memory>

namespace bat::build
{
namespace
{
// Upper 32 of the 63 bits; what lies deeper is reached by a grid of its own.
constexpr int kDroppedBits = 31;
constexpr int kKeyBits = 32;
constexpr int kDigitBits = 11;
constexpr std::size_t kDigits = std::size_t{ 1 } << kDigitBits;
// Fixed, so that the order does not depend on the number of threads.
constexpr std::size_t kSliceParticles = std::size_t{ 1 } << 17;
constexpr std::size_t kSmallSort = 4096;

struct Entry
{
  std::uint32_t key;
  std::uint32_t source;
};

void radix_pass(const Entry* from, Entry* to, std::size_t count, int shift)
{
  const std::size_t slices = (count + kSliceParticles - 1) / kSliceParticles;
  std::vector<std::uint32_t> starts(slices * kDigits);
  const auto digit = [shift](const Entry& e) { return (e.key >> shift) & (kDigits - 1); };
  const auto slice_end = [count](std::size_t s) { return std::min(count, (s + 1) * kSliceParticles); };

  tbb::parallel_for(std::size_t{ 0 }, slices, [&](std::size_t s) {
    std::uint32_t* histogram = &starts[s * kDigits];
    for (std::size_t i = s * kSliceParticles; i != slice_end(s); ++i)
    {
      ++histogram[digit(from[i])];
    }
  });
  std::uint32_t sum = 0;
  for (std::size_t d = 0; d != kDigits; ++d)
  {
    for (std::size_t s = 0; s != slices; ++s)
    {
      const std::uint32_t here = starts[s * kDigits + d];
      starts[s * kDigits + d] = sum;
      sum += here;
    }
  }
  tbb::parallel_for(std::size_t{ 0 }, slices, [&](std::size_t s) {
    std::uint32_t* start = &starts[s * kDigits];
    for (std::size_t i = s * kSliceParticles; i != slice_end(s); ++i)
    {
      to[start[digit(from[i])]++] = from[i];
    }
  });
}

// Stable sort by key. `scratch` becomes as large.
void sort_by_key(LargeArray<Entry>& entries, LargeArray<Entry>& scratch)
{
  if (entries.size() <= kSmallSort)
  {
    std::stable_sort(entries.data(), entries.data() + entries.size(),
      [](const Entry& a, const Entry& b) { return a.key < b.key; });
    return;
  }
  scratch.reset(entries.size());
  for (int shift = 0; shift < kKeyBits; shift += kDigitBits)
  {
    radix_pass(entries.data(), scratch.data(), entries.size(), shift);
    std::swap(entries, scratch);
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
    this->out_.source.reset(count);
    const std::size_t finite = this->separate_finite(count);
    this->out_.finite_count = finite;
    this->out_.bounds = this->bounds(0, finite);
    this->cut_cell(0, finite, this->out_.bounds);
    this->merge_small();
    for (std::size_t begin = finite; begin < count; begin += this->most_)
    {
      const std::size_t here = std::min<std::size_t>(this->most_, count - begin);
      this->out_.treelets.push_back(
        { static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(here), false });
    }
  }

private:
  // Finite particles first, both parts in the caller's order. Returns how many are finite.
  std::size_t separate_finite(std::size_t count)
  {
    LargeArray<std::uint32_t>& source = this->out_.source;
    const std::size_t slices = (count + kSliceParticles - 1) / kSliceParticles;
    const auto slice_end = [count](std::size_t s) { return std::min(count, (s + 1) * kSliceParticles); };
    std::vector<std::size_t> finite_start(slices + 1);
    tbb::parallel_for(std::size_t{ 0 }, slices, [&](std::size_t s) {
      std::size_t finite = 0;
      for (std::size_t i = s * kSliceParticles; i != slice_end(s); ++i)
      {
        finite += is_finite(this->positions_[i]);
      }
      finite_start[s + 1] = finite;
    });
    for (std::size_t s = 0; s != slices; ++s)
    {
      finite_start[s + 1] += finite_start[s];
    }
    const std::size_t finite_count = finite_start[slices];
    tbb::parallel_for(std::size_t{ 0 }, slices, [&](std::size_t s) {
      std::size_t finite = finite_start[s];
      std::size_t other = finite_count + s * kSliceParticles - finite;
      for (std::size_t i = s * kSliceParticles; i != slice_end(s); ++i)
      {
        source[is_finite(this->positions_[i]) ? finite++ : other++] = static_cast<std::uint32_t>(i);
      }
    });
    return finite_count;
  }

  [[nodiscard]] Box bounds(std::size_t begin, std::size_t end) const
  {
    return tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(begin, end, 16384), empty_box(),
      [&](const auto& range, Box box) {
        for (std::size_t i = range.begin(); i != range.end(); ++i)
        {
          extend(box, this->positions_[this->out_.source[i]]);
        }
        return box;
      },
      [](Box a, const Box& b) {
        extend(a, b);
        return a;
      });
  }

  // Sorts source[begin, end) along the curve of a grid over `box` and cuts it into treelets.
  void cut_cell(std::size_t begin, std::size_t end, const Box& box)
  {
    const std::size_t count = end - begin;
    if (count <= this->most_)
    {
      this->add(begin, end);
      return;
    }
    const MortonGrid grid(box);
    LargeArray<Entry> entries(count);
    {
      LargeArray<Entry> scratch;
      tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 16384), [&](const auto& range) {
        for (std::size_t i = range.begin(); i != range.end(); ++i)
        {
          const std::uint32_t source = this->out_.source[begin + i];
          entries[i] = { static_cast<std::uint32_t>(
                           grid.code(this->positions_[source]) >> kDroppedBits),
            source };
        }
      });
      sort_by_key(entries, scratch);
    }
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 65536), [&](const auto& range) {
      for (std::size_t i = range.begin(); i != range.end(); ++i)
      {
        this->out_.source[begin + i] = entries[i].source;
      }
    });
    // Cells that hold too many are cut after the entries are gone: recursion must not pile them up.
    std::vector<std::pair<std::size_t, bool>> ends; // end of a part; true if it needs its own grid
    this->cut_prefix(entries, 0, count, kKeyBits - 1, ends);
    entries.reset(0);
    std::size_t from = 0;
    for (const auto& [to, crowded] : ends)
    {
      if (!crowded)
      {
        this->add(begin + from, begin + to);
      }
      else if (from == 0 && to == count)
      {
        this->cut_evenly(begin, end); // all in one cell of their own box: the same place
      }
      else
      {
        this->cut_cell(begin + from, begin + to, this->bounds(begin + from, begin + to));
      }
      from = to;
    }
  }

  // Shallow k-d tree over subprefixes: halves the cell at `bit` until each part is small enough.
  void cut_prefix(const LargeArray<Entry>& entries, std::size_t begin, std::size_t end, int bit,
    std::vector<std::pair<std::size_t, bool>>& ends) const
  {
    if (end - begin <= this->most_)
    {
      ends.emplace_back(end, false);
      return;
    }
    if (bit < 0)
    {
      ends.emplace_back(end, true);
      return;
    }
    const auto middle = std::partition_point(entries.data() + begin, entries.data() + end,
      [bit](const Entry& e) { return (e.key >> bit & 1) == 0; });
    const auto split = static_cast<std::size_t>(middle - entries.data());
    if (split != begin)
    {
      this->cut_prefix(entries, begin, split, bit - 1, ends);
    }
    if (split != end)
    {
      this->cut_prefix(entries, split, end, bit - 1, ends);
    }
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
