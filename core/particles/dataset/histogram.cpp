// SPDX-License-Identifier: BSD-3-Clause
// Computes histograms without scanning the particles: from the quantiles in the index of each leaf
// file and, without those, from the coarsest particles.

#include "bat/dataset.hpp"
#include "bat/error.hpp"
#include "common/numbers.hpp"
#include "particles/dataset/dataset_impl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace bat
{
namespace
{
constexpr std::size_t kMaxLeaves = 64;
constexpr std::uint64_t kSampled = 8192; // in all leaf files together
constexpr std::uint64_t kMinSampledParticles = 256;
// The straight part of a logarithmic axis holds this share of the values, those nearest zero.
constexpr double kStraightShare = 0.05;
constexpr double kMaxOrders = 1e-12; // beyond which values are as good as zero

// Spreads `weight` particles evenly from one value to the other.
struct Piece
{
  Number from;
  Number to;
  double weight = 0;
};

bool is_finite(const Number& number)
{
  return std::isfinite(to_double(number));
}

// Half of a - b, because that is finite. Exact for integers that are near each other.
double half_distance(const Number& a, const Number& b)
{
  return std::visit(
    [](const auto x, const auto y)
    {
      using X = std::decay_t<decltype(x)>;
      using Y = std::decay_t<decltype(y)>;
      if constexpr (std::is_same_v<X, Y> && std::is_integral_v<X>)
      {
        const auto ux = static_cast<std::uint64_t>(x);
        const auto uy = static_cast<std::uint64_t>(y);
        return x < y ? -0.5 * static_cast<double>(uy - ux) : 0.5 * static_cast<double>(ux - uy);
      }
      else
      {
        return 0.5 * static_cast<double>(x) - 0.5 * static_cast<double>(y);
      }
    },
    a, b);
}

// Maps values to positions between the ends of a histogram: 0 to 1.
class Axis
{
public:
  explicit Axis(const Histogram& histogram)
    : lower_(histogram.lower)
    , straight_below_(histogram.straight_below)
    , extent_(this->from_lower(histogram.upper))
  {
  }

  double operator()(const Number& value) const
  {
    return this->extent_ > 0 ? std::clamp(this->from_lower(value) / this->extent_, 0.0, 1.0) : 0.0;
  }

private:
  [[nodiscard]] double from_lower(const Number& value) const
  {
    return this->straight_below_ > 0 ? std::asinh(to_double(value) / this->straight_below_) -
        std::asinh(to_double(this->lower_) / this->straight_below_)
                                     : half_distance(value, this->lower_);
  }

  Number lower_;
  double straight_below_;
  double extent_;
};

// Returns a key's value for each of the first `count` particles.
std::vector<Number> first_values(
  const LeafSource& leaf, std::size_t attribute, int component, std::uint64_t count)
{
  const Attribute& a = leaf.attributes()[attribute];
  const auto components = static_cast<std::size_t>(a.components);
  Selection selection;
  if (count != 0)
  {
    selection = { { { 0, count } }, count, 0 };
  }
  return dispatch(a.type,
    [&](auto type)
    {
      using T = decltype(type);
      std::vector<T> tuples(count * components);
      leaf.read_attribute(attribute, selection, tuples.data(), {});
      std::vector<Number> values;
      for (std::size_t i = 0; i != tuples.size(); i += components)
      {
        values.push_back(component < 0
            ? Number(magnitude(&tuples[i], components))
            : Number(static_cast<ClassOf<T>>(tuples[i + static_cast<std::size_t>(component)])));
      }
      return values;
    });
}

void add_pieces(std::vector<Piece>& pieces, const LeafSource& leaf, std::size_t attribute,
  std::size_t key, std::uint64_t sampled)
{
  const auto particles = static_cast<double>(leaf.particle_count());
  const Key& range = leaf.attributes()[attribute].keys[key];
  std::vector<Number> ends = leaf.quantiles(attribute, key);
  if (!ends.empty())
  {
    ends.insert(ends.begin(), range.minimum);
    ends.push_back(range.maximum);
    const double share = particles / static_cast<double>(ends.size() - 1);
    for (std::size_t i = 0; i + 1 != ends.size(); ++i)
    {
      pieces.push_back({ ends[i], ends[i + 1], share });
    }
    return;
  }
  const std::uint64_t count = leaf.coarse_particles(sampled);
  for (const Number& value : first_values(leaf, attribute, range.component, count))
  {
    if (is_finite(value))
    {
      pieces.push_back({ value, value, particles / static_cast<double>(count) });
    }
  }
}

// The value farther from zero than a share `kStraightShare` of the nonzero values.
double choose_straight_below(const std::vector<Piece>& pieces)
{
  std::vector<std::pair<double, double>> sizes; // sizes and weights
  double total = 0;
  for (const Piece& piece : pieces)
  {
    const double size = std::max(std::fabs(to_double(piece.from)), std::fabs(to_double(piece.to)));
    if (size > 0)
    {
      sizes.emplace_back(size, piece.weight);
      total += piece.weight;
    }
  }
  if (sizes.empty())
  {
    return 1;
  }
  std::sort(sizes.begin(), sizes.end());
  auto at = sizes.begin();
  for (double below = at->second; below < kStraightShare * total && at + 1 != sizes.end();)
  {
    below += (++at)->second;
  }
  constexpr double smallest = std::numeric_limits<double>::min();
  return std::max({ at->first, kMaxOrders * sizes.back().first, smallest });
}

void fill(Histogram& histogram, const std::vector<Piece>& pieces, double weight)
{
  const Axis axis(histogram);
  const std::size_t bins = histogram.counts.size();
  const auto find_bin = [&](double place)
  { return std::min(static_cast<std::size_t>(place), bins - 1); };
  for (const Piece& piece : pieces)
  {
    const double from = axis(piece.from) * static_cast<double>(bins);
    const double to = axis(piece.to) * static_cast<double>(bins);
    const std::size_t last = find_bin(to);
    for (std::size_t bin = find_bin(from); bin <= last; ++bin)
    {
      const double begin = std::max(from, static_cast<double>(bin));
      const double end = std::min(to, static_cast<double>(bin + 1));
      histogram.counts[bin] +=
        weight * piece.weight * (to > from ? (end - begin) / (to - from) : 1.0);
    }
  }
}
}

Histogram Dataset::histogram(
  std::size_t attribute, int component, std::size_t bins, HistogramAxis axis) const
{
  const auto refuse = [&](const std::string& what)
  { throw Error(ErrorCode::InvalidArgument, fmt::format("{}: {}", this->name(), what)); };
  if (attribute >= this->attributes().size())
  {
    refuse(fmt::format("attribute number {} is out of range; the file has {}", attribute,
      this->attributes().size()));
  }
  const std::vector<Key>& keys = this->attributes()[attribute].keys;
  const auto found = std::find_if(
    keys.begin(), keys.end(), [&](const Key& key) { return key.component == component; });
  if (found == keys.end())
  {
    refuse(fmt::format("component {} of attribute '{}' is out of range; allowed are 0 to {}, and "
                       "-1 for the magnitude of a vector",
      component, this->attributes()[attribute].name, this->attributes()[attribute].components - 1));
  }
  if (bins == 0)
  {
    refuse("a histogram needs at least 1 bin, found 0");
  }
  Histogram histogram;
  if (this->particle_count() == 0 || compare(found->minimum, found->maximum) > 0)
  {
    return histogram;
  }

  const std::size_t leaves = this->leaves().size();
  const std::size_t used = std::min(leaves, kMaxLeaves);
  const std::uint64_t sampled = std::max(kMinSampledParticles, kSampled / used);
  std::vector<Piece> pieces;
  double particles = 0;
  for (std::size_t i = 0; i != used; ++i)
  {
    const LeafSource& leaf = this->impl_->leaf((2 * i + 1) * leaves / (2 * used));
    particles += static_cast<double>(leaf.particle_count());
    add_pieces(pieces, leaf, attribute, static_cast<std::size_t>(found - keys.begin()), sampled);
  }
  if (pieces.empty())
  {
    return histogram;
  }
  const auto by_value = [](const Piece& a, const Piece& b) { return compare(a.from, b.from) < 0; };
  const auto [first, last] = std::minmax_element(pieces.begin(), pieces.end(), by_value);
  histogram.lower = is_finite(found->minimum) ? found->minimum : first->from;
  histogram.upper = is_finite(found->maximum) ? found->maximum : last->to;
  if (axis == HistogramAxis::Logarithmic)
  {
    histogram.straight_below = choose_straight_below(pieces);
  }
  histogram.counts.assign(bins, 0.0);
  fill(histogram, pieces, static_cast<double>(this->particle_count()) / particles);
  return histogram;
}
}
