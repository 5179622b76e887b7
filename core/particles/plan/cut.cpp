// SPDX-License-Identifier: BSD-3-Clause
#include "particles/plan/cut.hpp"

#include <cmath>
#include <limits>

namespace bat::plan
{
namespace
{
constexpr std::size_t kBins = 256;
constexpr int kMaxRounds = 8;
// A side with less than this share of the particles is empty: rounding leaves such remainders.
constexpr double kEmptyShare = 1e-9;

// A piece as seen along one axis.
struct Span
{
  double lower;
  double upper;
  double particles;
};

// Particles per bin of [lower, upper). A span over many bins costs no more than one over two: what
// lies between its ends is recorded as a step up and a step down.
class Histogram
{
public:
  Histogram(double lower, double upper)
  {
    const double width = (upper - lower) / static_cast<double>(kBins);
    for (std::size_t edge = 0; edge != kBins; ++edge)
    {
      this->edges_[edge] = lower + width * static_cast<double>(edge);
    }
    this->edges_[kBins] = upper;
    this->bins_per_length_ = 1.0 / width;
  }

  void add(const Span& span) noexcept
  {
    if (!(span.lower < span.upper))
    {
      this->inside_[this->bin(span.lower)] += span.particles;
      return;
    }
    const double density = span.particles / (span.upper - span.lower);
    const double lower = std::max(span.lower, this->edges_.front());
    const double upper = std::min(span.upper, this->edges_.back());
    const std::size_t first = this->bin(lower);
    const std::size_t last = this->bin(upper);
    if (first == last)
    {
      this->inside_[first] += density * (upper - lower);
      return;
    }
    this->inside_[first] += density * (this->edges_[first + 1] - lower);
    this->inside_[last] += density * (upper - this->edges_[last]);
    this->steps_[first + 1] += density;
    this->steps_[last] -= density;
  }

  struct Bin
  {
    double lower, upper; // its ends
    double before;       // particles left of it
    double inside;
  };

  // The bin in which the number of particles to the left passes `requested`.
  [[nodiscard]] Bin passes(double before, double requested) const noexcept
  {
    double density = 0;
    for (std::size_t bin = 0;; ++bin)
    {
      density += this->steps_[bin];
      const double width = this->edges_[bin + 1] - this->edges_[bin];
      const double inside = this->inside_[bin] + std::max(0.0, density * width);
      if (before + inside > requested || bin + 1 == kBins)
      {
        return { this->edges_[bin], this->edges_[bin + 1], before, inside };
      }
      before += inside;
    }
  }

private:
  [[nodiscard]] std::size_t bin(double x) const noexcept
  {
    const double guess = (x - this->edges_.front()) * this->bins_per_length_;
    auto bin = static_cast<std::size_t>(std::clamp(guess, 0.0, static_cast<double>(kBins - 1)));
    // The guess is off by one where it rounds; edges decide, as they will when particles are sent.
    while (x < this->edges_[bin] && bin != 0)
    {
      --bin;
    }
    while (bin + 1 != kBins && x >= this->edges_[bin + 1])
    {
      ++bin;
    }
    return bin;
  }

  std::array<double, kBins + 1> edges_{};
  std::array<double, kBins> inside_{};
  std::array<double, kBins> steps_{};
  double bins_per_length_;
};

bool overlaps(const Span& span, double lower, double upper) noexcept
{
  return span.lower < upper &&
    (span.upper > lower || (span.lower == span.upper && span.lower >= lower));
}

Span span_of(const Piece& piece, std::size_t axis) noexcept
{
  return { static_cast<double>(piece.lower[axis]), static_cast<double>(piece.upper[axis]),
    piece.particles };
}

// Cuts inside the last bin if few particles are in it, otherwise at its nearer end.
std::optional<Cut> choose_cut(
  const Histogram::Bin& found, double total, double requested, double tolerance)
{
  std::array<Cut, 3> choices{ Cut{ found.lower, found.before },
    Cut{ found.upper, found.before + found.inside }, Cut{ found.lower, found.before } };
  if (found.inside <= tolerance && found.inside > 0)
  {
    const double share = std::clamp((requested - found.before) / found.inside, 0.0, 1.0);
    choices[2] = { found.lower + (found.upper - found.lower) * share,
      found.before + found.inside * share };
  }
  std::optional<Cut> best;
  for (const Cut& choice : choices)
  {
    const bool two_sides =
      choice.left > kEmptyShare * total && choice.left < total * (1 - kEmptyShare);
    if (two_sides &&
      (!best || std::abs(choice.left - requested) < std::abs(best->left - requested)))
    {
      best = choice;
    }
  }
  return best;
}
}

std::optional<Cut> find_cut(const std::vector<Piece>& pieces, const Extent& extent,
  std::size_t axis, double total, double requested, double tolerance)
{
  constexpr double inf = std::numeric_limits<double>::infinity();
  double lower = static_cast<double>(extent.lower[axis]);
  // Just beyond the last coordinate, because bins exclude their upper ends.
  double upper = std::nextafter(static_cast<double>(extent.upper[axis]), inf);
  if (!(extent.length(axis) > 0))
  {
    return std::nullopt;
  }
  Histogram::Bin found{ lower, upper, 0, total };
  std::vector<Span> active;
  for (int round = 0; round != kMaxRounds; ++round)
  {
    if (!(lower + (upper - lower) / static_cast<double>(kBins) > lower))
    {
      break;
    }
    Histogram histogram(lower, upper);
    if (round == 0)
    {
      for (const Piece& piece : pieces)
      {
        histogram.add(span_of(piece, axis));
      }
    }
    else
    {
      for (const Span& span : active)
      {
        histogram.add(span);
      }
    }
    found = histogram.passes(found.before, requested);
    if (found.inside <= tolerance)
    {
      break;
    }
    lower = found.lower;
    upper = found.upper;
    if (round == 0)
    {
      for (const Piece& piece : pieces)
      {
        if (const Span span = span_of(piece, axis); overlaps(span, lower, upper))
        {
          active.push_back(span);
        }
      }
    }
    else
    {
      active.erase(std::remove_if(active.begin(), active.end(),
                     [&](const Span& span) { return !overlaps(span, lower, upper); }),
        active.end());
    }
  }
  return choose_cut(found, total, requested, tolerance);
}
}
