// SPDX-License-Identifier: BSD-3-Clause
#include "common/codec/size_dictionary.hpp"

#include "common/codec/fixed_log2.hpp"

#include <algorithm>

namespace bat::codec
{
namespace
{
// Shorter words than `floor` are not told apart.
Lengths raised(Lengths lengths, std::size_t components, unsigned floor) noexcept
{
  for (std::size_t c = 0; c != components; ++c)
  {
    lengths[c] = static_cast<std::uint8_t>(std::max<unsigned>(lengths[c], floor));
  }
  return lengths;
}

unsigned largest(const Lengths& lengths) noexcept
{
  return std::max({ lengths[0], lengths[1], lengths[2] });
}

// The highest bit of a longer word than `floor` is known from its length.
std::uint8_t entry_of(unsigned length, unsigned floor) noexcept
{
  return static_cast<std::uint8_t>(length <= floor ? floor : (length - 1) | kEntryAdds);
}
}

void SizeDictionary::build(const std::array<const std::uint8_t*, kMostJoint>& lengths,
  std::size_t components, std::size_t count)
{
  this->components_ = components;
  this->total_ = count;
  this->count(lengths);
  Plan best = this->plan(0);
  unsigned before = 0;
  for (const std::size_t part : { 64, 16, 6 })
  {
    const unsigned floor = this->quantile(part);
    if (floor > before)
    {
      before = floor;
      if (Plan other = this->plan(floor); other.length < best.length)
      {
        best = std::move(other);
      }
    }
  }
  this->number(best);
  this->length_ = best.length;
}

void SizeDictionary::count(const std::array<const std::uint8_t*, kMostJoint>& lengths)
{
  std::uint32_t places = 1;
  Lengths least_lengths{};
  std::array<std::uint32_t, kMostJoint> kinds{ 1, 1, 1 };
  this->places_.assign(this->total_, 0);
  for (std::size_t c = 0; c != kMostJoint; ++c)
  {
    this->offsets_[c].fill(0);
    if (c < this->components_)
    {
      const std::uint8_t* const of_component = lengths[c];
      std::uint8_t least = 64;
      std::uint8_t most = 0;
      for (std::size_t i = 0; i != this->total_; ++i)
      {
        least = std::min(least, of_component[i]);
        most = std::max(most, of_component[i]);
      }
      for (std::uint32_t length = 0; length != this->offsets_[c].size(); ++length)
      {
        // Raising leads out of what occurs where it raises all lengths of a component.
        const std::uint32_t inside = std::clamp<std::uint32_t>(length, least, most);
        this->offsets_[c][length] = (inside - least) * places;
      }
      for (std::size_t i = 0; i != this->total_; ++i)
      {
        this->places_[i] += (std::uint32_t{ of_component[i] } - least) * places;
      }
      least_lengths[c] = least;
      kinds[c] = std::uint32_t{ most } - least + 1;
      places *= kinds[c];
    }
  }
  this->counts_.assign(places, 0);
  this->symbols_.assign(places, 0);
  for (const std::uint32_t place : this->places_)
  {
    ++this->counts_[place];
  }
  this->combinations_.clear();
  for (std::uint32_t place = 0; place != places; ++place)
  {
    if (const std::uint32_t count = this->counts_[place]; count != 0)
    {
      Lengths of_place = least_lengths;
      std::uint32_t left = place;
      for (std::size_t c = 0; c != kMostJoint; ++c)
      {
        of_place[c] = static_cast<std::uint8_t>(of_place[c] + left % kinds[c]);
        left /= kinds[c];
      }
      this->combinations_.push_back({ of_place, count });
      this->counts_[place] = 0;
    }
  }
}

void SizeDictionary::symbols(std::uint8_t* to) const noexcept
{
  for (std::size_t i = 0; i != this->total_; ++i)
  {
    to[i] = this->symbols_[this->places_[i]];
  }
}

SizeDictionary::Plan SizeDictionary::plan(unsigned floor)
{
  Plan result;
  result.floor = floor;
  std::vector<Combination>& own = result.own;
  for (const Combination& combination : this->combinations_)
  {
    const Lengths lengths = raised(combination.lengths, this->components_, floor);
    if (this->counts_[this->place_of(lengths)] == 0)
    {
      own.push_back({ lengths, 0 });
    }
    this->counts_[this->place_of(lengths)] += combination.count;
  }
  unsigned most = 0;
  for (Combination& combination : own)
  {
    std::uint32_t& count = this->counts_[this->place_of(combination.lengths)];
    combination.count = count;
    count = 0;
    most = std::max(most, largest(combination.lengths));
  }
  const auto is_before = [](const Combination& a, const Combination& b)
  { return a.count != b.count ? a.count > b.count : a.lengths < b.lengths; };
  if (own.size() > kSymbols)
  {
    // What has no entry of its own shares one that is long enough for all its components.
    const std::size_t left = kSymbols - (most - floor + 1);
    std::nth_element(
      own.begin(), own.begin() + static_cast<std::ptrdiff_t>(left), own.end(), is_before);
    for (std::size_t i = left; i != own.size(); ++i)
    {
      result.shared[largest(own[i].lengths)] += own[i].count;
    }
    own.resize(left);
  }
  std::sort(own.begin(), own.end(), is_before);
  for (const Combination& combination : own)
  {
    std::uint64_t bits = 0;
    for (std::size_t c = 0; c != this->components_; ++c)
    {
      bits += entry_of(combination.lengths[c], floor) & kEntryBits;
    }
    result.length += symbols_length(combination.count, this->total_) +
      (bits * combination.count + 8 * this->components_) * kOneBit;
  }
  for (std::size_t length = 0; length != result.shared.size(); ++length)
  {
    result.length += symbols_length(result.shared[length], this->total_) +
      length * this->components_ * result.shared[length] * kOneBit;
  }
  return result;
}

unsigned SizeDictionary::quantile(std::size_t part) const noexcept
{
  std::array<std::uint64_t, 65> counts{};
  for (const Combination& combination : this->combinations_)
  {
    for (std::size_t c = 0; c != this->components_; ++c)
    {
      counts[combination.lengths[c]] += combination.count;
    }
  }
  const std::uint64_t wanted = this->total_ * this->components_ / part;
  unsigned length = 0;
  for (std::uint64_t below = counts[0]; below <= wanted && length != 64; ++length)
  {
    below += counts[length + 1];
  }
  return length;
}

void SizeDictionary::number(const Plan& plan)
{
  constexpr std::uint32_t kNone = kSymbols;
  this->entries_.clear();
  std::fill(this->counts_.begin(), this->counts_.end(), kNone); // symbols of raised lengths
  for (const Combination& combination : plan.own)
  {
    this->counts_[this->place_of(combination.lengths)] =
      static_cast<std::uint32_t>(this->entries_.size());
    Lengths entry{};
    for (std::size_t c = 0; c != this->components_; ++c)
    {
      entry[c] = entry_of(combination.lengths[c], plan.floor);
    }
    this->entries_.push_back(entry);
  }
  std::array<std::uint8_t, 65> shared{};
  for (std::size_t length = 0; length != shared.size(); ++length)
  {
    if (plan.shared[length] != 0)
    {
      shared[length] = static_cast<std::uint8_t>(this->entries_.size());
      Lengths entry{};
      std::fill_n(entry.begin(), this->components_, static_cast<std::uint8_t>(length));
      this->entries_.push_back(entry);
    }
  }
  for (const Combination& combination : this->combinations_)
  {
    const Lengths lengths = raised(combination.lengths, this->components_, plan.floor);
    const std::uint32_t own = this->counts_[this->place_of(lengths)];
    this->symbols_[this->place_of(combination.lengths)] =
      own != kNone ? static_cast<std::uint8_t>(own) : shared[largest(lengths)];
  }
}
}
