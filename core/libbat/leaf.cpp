// SPDX-License-Identifier: BSD-3-Clause
#include "libbat/leaf.hpp"

#include "common/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace bat::libbat
{
namespace
{
constexpr std::uint64_t kGapBytes = 4096;       // shorter gaps are read along with their neighbours
constexpr std::uint64_t kBufferBytes = 1 << 18; // pieces that are read together
constexpr std::uint32_t kScanParticles = 1 << 16;

// The header's range as a key of the attribute's type.
Key to_key(const FloatRange& range, ScalarType type)
{
  constexpr float inf = std::numeric_limits<float>::infinity();
  return dispatch(type,
    [&](auto value)
    {
      using T = decltype(value);
      using V = ClassOf<T>;
      // float32 holds 8 and 16 bits exactly. Others were rounded to the nearest float32.
      constexpr bool rounded = sizeof(T) > 2 && !std::is_same_v<T, float>;
      const double lower = rounded ? std::nextafter(range.lower, -inf) : range.lower;
      const double upper = rounded ? std::nextafter(range.upper, inf) : range.upper;
      ClassRange<V> ends = to_class<V>(lower, upper);
      if constexpr (std::is_integral_v<T>)
      {
        ends.lower = std::max(ends.lower, static_cast<V>(std::numeric_limits<T>::min()));
        ends.upper = std::min(ends.upper, static_cast<V>(std::numeric_limits<T>::max()));
      }
      return Key{ 0, ends.lower, ends.upper, false };
    });
}
}

Leaf::Leaf(const std::filesystem::path& path, const OpenOptions& options, KeyRanges ranges)
  : file_(path)
{
  this->file_.set_observer(options.on_read);
  this->header_.emplace(this->file_);
  this->ids_ = std::make_unique<LazyIds[]>(this->header_->treelet_count);
  for (const HeaderAttribute& described : this->header_->attributes)
  {
    Attribute attribute;
    attribute.name = described.name;
    attribute.type = described.type;
    attribute.keys.push_back(described.range && ranges == KeyRanges::Header
        ? to_key(*described.range, described.type)
        : this->find_key(this->attributes_.size()));
    this->attributes_.push_back(std::move(attribute));
  }
  if (this->header_->particle_count == 0)
  {
    (void)this->index(); // answers for no particles would otherwise never look whether that is true
  }
  if (const auto& bounds = this->header_->bounds; !bounds)
  {
    this->bounds_ = this->find_bounds();
  }
  else if (this->header_->particle_count != 0)
  {
    this->bounds_.emplace();
    std::copy_n(bounds->begin(), 3, this->bounds_->lower.begin());
    std::copy_n(bounds->begin() + 3, 3, this->bounds_->upper.begin());
  }
}

const LeafIndex& Leaf::index() const
{
  std::call_once(this->index_loaded_,
    [&] { this->index_ = std::make_unique<LeafIndex>(this->file_, *this->header_); });
  return *this->index_;
}

const std::vector<std::uint16_t>& Leaf::bitmap_ids(std::size_t treelet) const
{
  const LeafIndex& index = this->index();
  LazyIds& lazy = this->ids_[treelet];
  std::call_once(lazy.loaded,
    [&]
    {
      const Treelet& t = index.treelets[treelet];
      std::vector<std::uint16_t> ids(t.node_count * this->attributes_.size());
      this->file_.read(t.bitmaps_begin, ids.data(), ids.size() * sizeof(std::uint16_t));
      for (const std::uint16_t id : ids)
      {
        if (id >= index.dictionary.size())
        {
          corrupt(this->file_.name(),
            fmt::format("treelet {} refers to bitmap {} of a dictionary of {}", treelet, id,
              index.dictionary.size()));
        }
      }
      lazy.ids = std::move(ids);
    });
  return lazy.ids;
}

void Leaf::gather(std::uint64_t begin, std::uint64_t tuple_bytes, const std::vector<Piece>& pieces,
  std::byte* out) const
{
  std::vector<std::byte> buffer;
  for (std::size_t i = 0; i != pieces.size();)
  {
    const std::uint64_t from = pieces[i].first * tuple_bytes;
    std::uint64_t to = from + pieces[i].count * tuple_bytes;
    std::size_t end = i + 1;
    while (end != pieces.size() && pieces[end].first * tuple_bytes - to <= kGapBytes)
    {
      const std::uint64_t next =
        (pieces[end].first + std::uint64_t{ pieces[end].count }) * tuple_bytes;
      if (next - from > kBufferBytes)
      {
        break;
      }
      to = next;
      ++end;
    }
    if (end == i + 1)
    {
      this->file_.read(begin + from, out + pieces[i].out * tuple_bytes, to - from);
      i = end;
      continue;
    }
    buffer.resize(to - from);
    this->file_.read(begin + from, buffer.data(), buffer.size());
    for (; i != end; ++i)
    {
      std::memcpy(out + pieces[i].out * tuple_bytes,
        buffer.data() + (pieces[i].first * tuple_bytes - from), pieces[i].count * tuple_bytes);
    }
  }
}

// Visits all values of a column, some at a time.
template <class F>
void Leaf::for_each_value(std::uint64_t tuple_bytes, F&& begin_of,
  const std::function<void(const std::byte*, std::size_t)>& visit) const
{
  std::vector<std::byte> values;
  for (const Treelet& treelet : this->index().treelets)
  {
    for (std::uint32_t first = 0; first != treelet.particle_count;)
    {
      const std::uint32_t count = std::min(kScanParticles, treelet.particle_count - first);
      values.resize(count * tuple_bytes);
      this->file_.read(begin_of(treelet) + first * tuple_bytes, values.data(), values.size());
      visit(values.data(), count);
      first += count;
    }
  }
}

std::optional<Box> Leaf::find_bounds() const
{
  std::optional<Box> box;
  const auto begin_of = [](const Treelet& treelet) { return treelet.positions_begin; };
  this->for_each_value(12, begin_of,
    [&](const std::byte* values, std::size_t count)
    {
      for (std::size_t i = 0; i != count; ++i)
      {
        float p[3];
        std::memcpy(p, values + 12 * i, 12);
        if (!std::isfinite(p[0]) || !std::isfinite(p[1]) || !std::isfinite(p[2]))
        {
          continue;
        }
        if (!box)
        {
          box = Box{ { p[0], p[1], p[2] }, { p[0], p[1], p[2] } };
        }
        for (std::size_t axis = 0; axis != 3; ++axis)
        {
          box->lower[axis] = std::min<double>(box->lower[axis], p[axis]);
          box->upper[axis] = std::max<double>(box->upper[axis], p[axis]);
        }
      }
    });
  return box;
}

Key Leaf::find_key(std::size_t attribute) const
{
  const ScalarType type = this->header_->attributes[attribute].type;
  const auto begin_of = [&](const Treelet& treelet)
  { return this->attribute_begin(treelet, attribute); };
  return dispatch(type,
    [&](auto value)
    {
      using T = decltype(value);
      using V = ClassOf<T>;
      constexpr bool has_infinity = std::numeric_limits<V>::has_infinity;
      V minimum = has_infinity ? std::numeric_limits<V>::infinity() : std::numeric_limits<V>::max();
      V maximum =
        has_infinity ? -std::numeric_limits<V>::infinity() : std::numeric_limits<V>::min();
      bool has_nan = false;
      this->for_each_value(sizeof(T), begin_of,
        [&](const std::byte* values, std::size_t count)
        {
          for (std::size_t i = 0; i != count; ++i)
          {
            T v;
            std::memcpy(&v, values + i * sizeof(T), sizeof(T));
            has_nan = has_nan || v != v;
            minimum = static_cast<V>(v) < minimum ? static_cast<V>(v) : minimum;
            maximum = static_cast<V>(v) > maximum ? static_cast<V>(v) : maximum;
          }
        });
      return Key{ 0, minimum, maximum, has_nan };
    });
}
}
