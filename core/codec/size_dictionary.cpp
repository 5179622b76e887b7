// SPDX-License-Identifier: BSD-3-Clause
#include "codec/size_dictionary.hpp"

#include "codec/fixed_log2.hpp"

#include <algorithm>

namespace bat::codec
{
namespace
{
// Size of one combination of lengths, with its code, in a model.
constexpr std::uint64_t kCodeLength = 4 * kUnitsPerBit;
// Minimum number of bits per value that a separate symbol must save.
constexpr std::uint64_t kSavedBits = 2;

// A symbol rarer than one in this many values costs more than it saves, because the length of codes
// is limited.
constexpr std::uint64_t kMaxRarity = std::uint64_t{ 4 } << kMaxCodeBits;

// The escape takes the remaining symbol.
constexpr std::size_t kMaxEntries = kSymbols - 1;

// Exceeds all places; the sum of three of them still fits in the type.
constexpr std::uint32_t kUnreachablePlace = 1 << 20;

// Words shorter than `floor` are treated as equally long.
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

// The highest bit of a word longer than `floor` is known from its length.
std::uint8_t entry_of(unsigned length, unsigned floor) noexcept
{
  return static_cast<std::uint8_t>(length <= floor ? floor : (length - 1) | kEntryAdds);
}
}

void SizeDictionary::build(const std::array<std::vector<std::uint8_t>, kMaxJoint>& lengths,
  std::size_t components, Share share)
{
  this->components_ = components;
  this->total_ = lengths[0].size();
  this->count(lengths);
  Plan best = this->plan(0, share);
  unsigned before = 0;
  for (const std::size_t part : { 64, 16, 6 })
  {
    const unsigned floor = this->quantile(part);
    if (floor > before)
    {
      before = floor;
      if (Plan other = this->plan(floor, share); other.length < best.length)
      {
        best = std::move(other);
      }
    }
  }
  this->number(best);
  this->length_ = best.length;
}

void SizeDictionary::count(const std::array<std::vector<std::uint8_t>, kMaxJoint>& lengths)
{
  std::uint32_t places = 1;
  this->min_ = {};
  this->kinds_ = { 1, 1, 1 };
  this->places_.assign(this->total_, 0);
  for (std::size_t c = 0; c != kMaxJoint; ++c)
  {
    this->offsets_[c].fill(0);
    if (c < this->components_)
    {
      const std::vector<std::uint8_t>& of_component = lengths[c];
      const auto [minimum, maximum] = std::minmax_element(of_component.begin(), of_component.end());
      for (std::uint32_t length = 0; length != this->offsets_[c].size(); ++length)
      {
        // Raising all lengths of a component leads to combinations that do not occur.
        const std::uint32_t inside = std::clamp<std::uint32_t>(length, *minimum, *maximum);
        this->offsets_[c][length] = (inside - *minimum) * places;
      }
      for (std::size_t i = 0; i != this->total_; ++i)
      {
        this->places_[i] += (std::uint32_t{ of_component[i] } - *minimum) * places;
      }
      this->min_[c] = *minimum;
      this->kinds_[c] = std::uint32_t{ *maximum } - *minimum + 1;
      places *= this->kinds_[c];
    }
  }
  this->counts_.assign(places, 0);
  for (const std::uint32_t place : this->places_)
  {
    ++this->counts_[place];
  }
  this->combinations_.clear();
  for (std::uint32_t place = 0; place != places; ++place)
  {
    if (const std::uint32_t count = this->counts_[place]; count != 0)
    {
      this->combinations_.push_back({ this->lengths_at(place), count });
      this->counts_[place] = 0;
    }
  }
}

Lengths SizeDictionary::lengths_at(std::uint32_t place) const noexcept
{
  Lengths result = this->min_;
  for (std::size_t c = 0; c != kMaxJoint; ++c)
  {
    result[c] = static_cast<std::uint8_t>(result[c] + place % this->kinds_[c]);
    place /= this->kinds_[c];
  }
  return result;
}

SizeDictionary::Plan SizeDictionary::plan(unsigned floor, Share share)
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
  for (Combination& combination : own)
  {
    std::uint32_t& count = this->counts_[this->place_of(combination.lengths)];
    combination.count = count;
    count = 0;
    result.maximum = std::max(result.maximum, largest(combination.lengths));
  }
  std::sort(own.begin(), own.end(),
    [](const Combination& a, const Combination& b)
    { return a.count != b.count ? a.count > b.count : a.lengths < b.lengths; });
  // A combination without its own entry shares one that is long enough for all its components.
  const std::uint64_t entry_length = 8 * this->components_ * kUnitsPerBit + kCodeLength;
  std::size_t left = std::min(own.size(), kMaxEntries - (result.maximum - floor + 1));
  while (left != 0 &&
    (own[left - 1].count * share.among * kSavedBits * this->components_ * kUnitsPerBit <
        entry_length ||
      own[left - 1].count * kMaxRarity < this->total_))
  {
    --left;
  }
  for (std::size_t i = left; i != own.size(); ++i)
  {
    result.shared[largest(own[i].lengths)] += own[i].count;
  }
  own.resize(left);
  const std::size_t entries = own.size() + result.maximum - floor + 1;
  result.length = entries * entry_length / share.among;
  for (const Combination& combination : own)
  {
    std::uint64_t bits = 0;
    for (std::size_t c = 0; c != this->components_; ++c)
    {
      bits += entry_of(combination.lengths[c], floor) & kEntryBits;
    }
    result.length +=
      symbols_length(combination.count, this->total_) + bits * combination.count * kUnitsPerBit;
  }
  for (std::size_t length = 0; length != result.shared.size(); ++length)
  {
    result.length += symbols_length(result.shared[length], this->total_) +
      length * this->components_ * result.shared[length] * kUnitsPerBit;
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
  const std::uint64_t requested = this->total_ * this->components_ / part;
  unsigned length = 0;
  for (std::uint64_t below = counts[0]; below <= requested && length != 64; ++length)
  {
    below += counts[length + 1];
  }
  return length;
}

void SizeDictionary::number(const Plan& plan)
{
  constexpr std::uint32_t kNone = kSymbols;
  this->entries_.clear();
  this->entry_counts_.clear();
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
    this->entry_counts_.push_back(combination.count);
  }
  const auto own_of = [&](std::uint32_t place)
  {
    return this
      ->counts_[this->place_of(raised(this->lengths_at(place), this->components_, plan.floor))];
  };
  const auto places = static_cast<std::uint32_t>(this->counts_.size());
  bool have_own = true;
  for (std::uint32_t place = 0; place != places; ++place)
  {
    have_own = have_own && own_of(place) != kNone;
  }
  // Every combination of lengths up to the largest has an entry, whether it was counted or not.
  std::array<std::uint8_t, 65> shared{};
  for (unsigned length = plan.maximum + 1; length-- != plan.floor;)
  {
    if (plan.shared[length] != 0 || (length == plan.maximum && !have_own))
    {
      shared[length] = static_cast<std::uint8_t>(this->entries_.size());
      Lengths entry{};
      std::fill_n(entry.begin(), this->components_, static_cast<std::uint8_t>(length));
      this->entries_.push_back(entry);
      this->entry_counts_.push_back(plan.shared[length]);
    }
    else if (length != plan.maximum)
    {
      shared[length] = shared[length + 1];
    }
  }
  const auto escape = static_cast<std::uint8_t>(this->entries_.size());
  this->symbols_.assign(places + std::size_t{ 1 }, escape);
  for (std::uint32_t place = 0; place != places; ++place)
  {
    const std::uint32_t own = own_of(place);
    const unsigned longest =
      largest(raised(this->lengths_at(place), this->components_, plan.floor));
    this->symbols_[place] = own != kNone ? static_cast<std::uint8_t>(own) : shared[longest];
  }
  // Words longer than all counted ones are escapes; shorter ones may have entries.
  for (std::size_t c = 0; c != this->components_; ++c)
  {
    const unsigned maximum = this->min_[c] + this->kinds_[c] - 1;
    for (unsigned length = 0; length != this->offsets_[c].size(); ++length)
    {
      const bool has_place =
        length <= maximum && (length >= this->min_[c] || this->min_[c] <= plan.floor);
      this->offsets_[c][length] = has_place ? this->offsets_[c][length] : kUnreachablePlace;
    }
  }
}
}
