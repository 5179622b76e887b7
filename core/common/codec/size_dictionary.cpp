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
  this->count(lengths, count);
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

void SizeDictionary::count(
  const std::array<const std::uint8_t*, kMostJoint>& lengths, std::size_t values)
{
  this->total_ = values;
  std::uint32_t places = 1;
  for (std::size_t c = 0; c != kMostJoint; ++c)
  {
    this->offsets_[c].fill(0);
    if (c < this->components_)
    {
      const auto [least, most] = std::minmax_element(lengths[c], lengths[c] + values);
      for (std::uint32_t length = 0; length != this->offsets_[c].size(); ++length)
      {
        // Raising may lead out of what occurs, but not in all components at once.
        const std::uint32_t inside = std::clamp<std::uint32_t>(length, *least, *most);
        this->offsets_[c][length] = (inside - *least) * places;
      }
      places *= std::uint32_t{ *most } - *least + 1;
    }
  }
  this->counts_.assign(places, 0);
  this->symbols_.assign(places, 0);
  this->combinations_.clear();
  Lengths of_value{};
  std::vector<std::uint32_t>& counts = this->counts_;
  const auto each = [&](const auto& f)
  {
    for (std::size_t i = 0; i != values; ++i)
    {
      for (std::size_t c = 0; c != this->components_; ++c)
      {
        of_value[c] = lengths[c][i];
      }
      f(this->place_of(of_value));
    }
  };
  each(
    [&](std::size_t place)
    {
      if (counts[place]++ == 0)
      {
        this->combinations_.push_back({ of_value, 0 });
      }
    });
  for (Combination& combination : this->combinations_)
  {
    std::uint32_t& count = counts[this->place_of(combination.lengths)];
    combination.count = count;
    count = 0;
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
