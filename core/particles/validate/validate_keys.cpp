// SPDX-License-Identifier: BSD-3-Clause
// Checks that keys, their bins and bitmaps, and sorted indexes match the columns.
#include "particles/validate/validate_leaf.hpp"

#include "common/numbers.hpp"
#include "particles/format/index_layout.hpp"
#include "particles/tree/bins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace bat
{
namespace
{
using format::corrupt;
using format::SectionKind;

std::vector<std::uint32_t> block_bitmaps(const LeafParticles& particles, std::size_t k)
{
  const format::KeyRecord& record = particles.impl().schema.keys[k];
  std::vector<std::uint32_t> bitmaps;
  if (record.bitmap_bytes == 0)
  {
    return bitmaps;
  }
  const std::uint64_t blocks = particles.file().block_count();
  const auto bytes = particles.read<unsigned char>(
    SectionKind::BlockBitmaps, static_cast<std::uint32_t>(k), blocks, record.bitmap_bytes);
  const KeyIndex& index = particles.impl().key_index(k);
  for (std::uint64_t b = 0; b != blocks; ++b)
  {
    std::uint32_t number = 0;
    std::memcpy(&number, &bytes[b * record.bitmap_bytes], record.bitmap_bytes);
    if (record.bitmap_bytes == 4)
    {
      bitmaps.push_back(number);
      continue;
    }
    if (number >= index.dictionary.size())
    {
      corrupt(particles.source(),
        fmt::format("BLOCK_BITMAPS {}: block {} refers to entry {} of a dictionary of {}", k, b,
          number, index.dictionary.size()));
    }
    bitmaps.push_back(index.dictionary[number]);
  }
  return bitmaps;
}

// Compares the bytes of a sorted index with the particles.
template <class V>
class SortedIndexCheck
{
public:
  SortedIndexCheck(const LeafParticles& particles, std::size_t key)
    : source_(particles.source())
    , key_(key)
    , particle_count_(particles.file().particle_count())
    , layout_(this->particle_count_)
    , bytes_(particles.read<std::byte>(
        SectionKind::SortedIndex, static_cast<std::uint32_t>(key), this->layout_.bytes()))
  {
  }

  // Checks that each upper level has the first values of the pages below.
  void check_levels() const
  {
    for (std::size_t level = 0; level + 1 < this->layout_.level_count(); ++level)
    {
      const std::uint64_t begin = this->layout_.page_offset(level, 0);
      const std::uint64_t pages = this->layout_.page_count(level + 1);
      for (std::uint64_t p = 0; p != pages; ++p)
      {
        if (!same_value(this->value_at(begin + p * sizeof(V)),
              this->value_at(this->layout_.page_offset(level + 1, p))))
        {
          this->bad(fmt::format("value {} of level {} is not the first of its page", p, level));
        }
      }
      this->expect_zero(begin + pages * sizeof(V), this->layout_.page_offset(level + 1, 0));
    }
  }

  // Checks that each entry has its particle's value and that entries ascend. With as many entries
  // as particles, each particle then occurs once.
  template <class T, class Value>
  void check_entries(
    const std::vector<T>& column, std::size_t components, const Value& value_of) const
  {
    const std::uint64_t n = this->particle_count_;
    V last{};
    std::uint32_t last_position = 0;
    for (std::uint64_t i = 0; i != n; ++i)
    {
      const std::uint64_t at = this->layout_.entry_offset(i);
      const V value = this->value_at(at);
      std::uint32_t position;
      std::memcpy(
        &position, &this->bytes_[at + offsetof(format::IndexEntry, position)], sizeof(position));
      if (position >= n || !same_value(value, value_of(&column[position * components])))
      {
        this->bad(
          fmt::format("entry {} is not that of the particle at file position {}", i, position));
      }
      // NaN comes last: only NaN may follow it.
      const bool ascending =
        same_value(last, value) ? last_position < position : last < value || !(value == value);
      if (i != 0 && !ascending)
      {
        this->bad(fmt::format("entry {} is not in ascending order", i));
      }
      last = value;
      last_position = position;
      if (i + 1 != n)
      {
        this->expect_zero(at + sizeof(format::IndexEntry), this->layout_.entry_offset(i + 1));
      }
    }
  }

private:
  static bool same_value(V a, V b) { return a == b || (!(a == a) && !(b == b)); }

  void bad(const std::string& what) const
  {
    corrupt(this->source_, fmt::format("SORTED_INDEX {}: {}", this->key_, what));
  }

  [[nodiscard]] V value_at(std::uint64_t offset) const
  {
    V value;
    std::memcpy(&value, &this->bytes_[offset], sizeof(value));
    return value;
  }

  void expect_zero(std::uint64_t begin, std::uint64_t end) const
  {
    if (std::any_of(this->bytes_.begin() + static_cast<std::ptrdiff_t>(begin),
          this->bytes_.begin() + static_cast<std::ptrdiff_t>(end),
          [](std::byte b) { return b != std::byte{ 0 }; }))
    {
      this->bad(fmt::format("bytes {} to {} are not zero", begin, end));
    }
  }

  const io::RandomAccessFile& source_;
  std::size_t key_;
  std::uint64_t particle_count_;
  format::IndexLayout layout_;
  std::vector<std::byte> bytes_;
};

/// Compares the index of a key with the particles, treelet by treelet.
template <class V>
class KeyCheck
{
public:
  KeyCheck(const LeafParticles& particles, std::size_t key)
    : spatial_(particles.impl().spatial_index())
    , index_(particles.impl().key_index(key))
    , record_(particles.impl().schema.keys[key])
    , source_(particles.source())
    , key_(key)
    , block_particles_(particles.impl().schema.head.block_particles)
    , bitmaps_(block_bitmaps(particles, key))
  {
    for (const std::uint64_t bits : this->index_.edges)
    {
      this->edges_.push_back(from_bits<V>(bits));
    }
  }

  void begin_treelet()
  {
    this->treelet_ = {};
    this->needed_ = 0;
  }

  /// `i` is the number within the treelet.
  void add(std::size_t t, std::uint64_t i, V v)
  {
    if (!(v == v))
    {
      this->treelet_.has_nan = true;
      return;
    }
    this->treelet_.lowest = std::min(this->treelet_.lowest, v);
    this->treelet_.highest = std::max(this->treelet_.highest, v);
    const format::TreeletKeyRecord& record = this->index_.treelets[t];
    const std::uint32_t bin = find_bin(this->edges_, v);
    if (bin < record.first_bin || bin > record.last_bin)
    {
      this->bad(t, "a value outside its bins");
    }
    const std::uint32_t bit = std::uint32_t{ 1 }
      << bit_of_bin(bin, record.first_bin, record.last_bin);
    this->needed_ |= bit;
    const std::uint64_t block = this->spatial_.first_block[t] + i / this->block_particles_;
    if (!this->bitmaps_.empty() && (this->bitmaps_[block] & bit) == 0)
    {
      corrupt(this->source_,
        fmt::format(
          "BLOCK_BITMAPS {}: the bitmap of block {} lacks bit {:#x}", this->key_, block, bit));
    }
  }

  void end_treelet(std::size_t t)
  {
    const format::TreeletKeyRecord& record = this->index_.treelets[t];
    const auto [lowest, highest, has_nan] = this->treelet_;
    if (from_bits<V>(record.minimum) != lowest || from_bits<V>(record.maximum) != highest)
    {
      this->bad(t, "a minimum or maximum that does not match its values");
    }
    if (((record.flags & format::kHasNaN) != 0) != has_nan)
    {
      this->bad(t, "a wrong NaN mark");
    }
    if (lowest <= highest ? record.first_bin != find_bin(this->edges_, lowest) ||
          record.last_bin != find_bin(this->edges_, highest)
                          : record.first_bin != 0 || record.last_bin != 0 || record.bitmap != 0)
    {
      this->bad(t, "bins that do not match its minimum and maximum");
    }
    if (record.bitmap != this->bitmap_of_blocks(t))
    {
      this->bad(t, "a bitmap that does not match its blocks");
    }
    this->all_.lowest = std::min(this->all_.lowest, lowest);
    this->all_.highest = std::max(this->all_.highest, highest);
    this->all_.has_nan = this->all_.has_nan || has_nan;
  }

  void finish() const
  {
    if (from_bits<V>(this->record_.minimum) != this->all_.lowest ||
      from_bits<V>(this->record_.maximum) != this->all_.highest ||
      ((this->record_.flags & format::kHasNaN) != 0) != this->all_.has_nan)
    {
      corrupt(this->source_,
        fmt::format("SCHEMA: the minimum, maximum or NaN mark of key {} does not match its values",
          this->key_));
    }
  }

private:
  /// Extremes before any value.
  struct Extremes
  {
    V lowest = std::numeric_limits<V>::has_infinity ? std::numeric_limits<V>::infinity()
                                                    : std::numeric_limits<V>::max();
    V highest = std::numeric_limits<V>::has_infinity ? -std::numeric_limits<V>::infinity()
                                                     : std::numeric_limits<V>::lowest();
    bool has_nan = false;
  };

  [[noreturn]] void bad(std::size_t t, const char* what) const
  {
    corrupt(this->source_, fmt::format("TREELET_KEYS {}: treelet {} has {}", this->key_, t, what));
  }

  // Returns the bitmap that the treelet should have.
  [[nodiscard]] std::uint32_t bitmap_of_blocks(std::size_t t) const
  {
    if (this->bitmaps_.empty())
    {
      return this->needed_;
    }
    std::uint32_t bitmap = 0;
    for (std::uint64_t b = this->spatial_.first_block[t]; b != this->spatial_.first_block[t + 1];
         ++b)
    {
      bitmap |= this->bitmaps_[b];
    }
    return bitmap;
  }

  const SpatialIndex& spatial_;
  const KeyIndex& index_;
  const format::KeyRecord& record_;
  const io::RandomAccessFile& source_;
  std::size_t key_;
  std::uint32_t block_particles_;
  std::vector<std::uint32_t> bitmaps_; ///< bitmaps of blocks; none if the key has none
  std::vector<V> edges_;
  Extremes treelet_;
  Extremes all_;
  std::uint32_t needed_ = 0; ///< bits of the treelet's values
};

template <class V, class T, class Value>
void check_key(const LeafParticles& particles, std::size_t k, const std::vector<T>& column,
  std::size_t components, const Value& value_of)
{
  KeyCheck<V> check(particles, k);
  particles.for_each_particle(
    column, components, [&](std::size_t) { check.begin_treelet(); },
    [&](std::size_t t, std::uint64_t i, const T* tuple) { check.add(t, i, value_of(tuple)); },
    [&](std::size_t t) { check.end_treelet(t); });
  check.finish();
  if (particles.impl().has_sorted_index(k))
  {
    const SortedIndexCheck<V> index(particles, k);
    index.check_levels();
    index.check_entries(column, components, value_of);
  }
}
}

void check_attribute(const LeafParticles& particles, std::uint32_t k)
{
  const Attribute& attribute = particles.file().attributes()[k];
  const auto components = static_cast<std::size_t>(attribute.components);
  dispatch(attribute.type,
    [&](auto value)
    {
      using T = decltype(value);
      const std::vector<T> column = particles.read_column<T>(SectionKind::Attribute, k, components);
      for (std::size_t c = 0; c != attribute.keys.size(); ++c)
      {
        const std::size_t key = particles.impl().schema.first_keys[k] + c;
        if (c == components)
        {
          check_key<double>(particles, key, column, components,
            [components](const T* tuple) { return magnitude(tuple, components); });
        }
        else
        {
          using V = ClassOf<T>;
          check_key<V>(particles, key, column, components,
            [c](const T* tuple) { return static_cast<V>(tuple[c]); });
        }
      }
    });
}
}
