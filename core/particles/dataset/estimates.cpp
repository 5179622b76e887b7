// SPDX-License-Identifier: BSD-3-Clause
// Estimates the results of a query from the indices and samples.

#include "bat/dataset.hpp"
#include "bat/error.hpp"
#include "common/arena.hpp"
#include "common/numbers.hpp"
#include "particles/dataset/dataset_impl.hpp"
#include "particles/format/levels.hpp"
#include "particles/query/conditions.hpp"
#include "particles/query/select.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace bat
{
namespace
{
constexpr std::size_t kMaxLeaves = 64;         ///< maximum opened to estimate a spacing
constexpr std::size_t kMaxBudgetLeaves = 1024; ///< or a quality, but for lists of values
constexpr std::uint64_t kSampleParticles = 100000;
// Numbers of particles tested to estimate a count: in total, for one value of an attribute, and at
// least per leaf file.
constexpr std::uint64_t kTestedParticles = 1 << 17;
constexpr std::uint64_t kTestedParticlesPerValue = 1 << 15;
constexpr std::uint64_t kMinTestedPerLeaf = 1 << 11;

// Returns the highest quality up to `highest` whose count is at most `budget`. count(q) must not
// decrease.
double highest_within(
  double highest, std::uint64_t budget, const std::function<std::uint64_t(double)>& count)
{
  if (count(highest) <= budget)
  {
    return highest;
  }
  double fits = 0;
  double exceeds = highest;
  for (int i = 0; i != 100 && std::nextafter(fits, exceeds) < exceeds; ++i)
  {
    const double middle = fits + (exceeds - fits) / 2;
    (count(middle) <= budget ? fits : exceeds) = middle;
  }
  return fits;
}

// Lowers a quality until its bound is at most `limit`, or to `minimum` if that takes too long.
// Qualities are even samples of space, so that the bound is nearly proportional.
double lower_to_limit(double quality, double minimum, double limit,
  const std::function<std::uint64_t(double)>& bound_at)
{
  for (int i = 0; quality > minimum; ++i)
  {
    const auto bound = static_cast<double>(bound_at(quality));
    if (bound <= limit)
    {
      break;
    }
    quality = i == 8 ? minimum : quality * std::min(limit / bound, 0.999);
  }
  return std::max(quality, minimum);
}

// Counts the particles of a selection that belong to a quality, without visiting all of its spans.
class CountsByQuality
{
public:
  CountsByQuality(const DatasetSelection& selection, const std::vector<LeafInfo>& leaves)
  {
    for (const DatasetSelection::Part& part : selection.parts)
    {
      this->parts_.push_back({ part.selection.spans, leaves[part.leaf].particles, {} });
      this->parts_.back().before.reserve(part.selection.spans.size());
      std::uint64_t before = 0;
      for (const Span& span : part.selection.spans)
      {
        this->parts_.back().before.push_back(before);
        before += span.count;
      }
    }
  }

  [[nodiscard]] std::uint64_t operator()(double quality) const
  {
    std::uint64_t sum = 0;
    for (const Part& part : this->parts_)
    {
      const std::uint64_t end = count_at(quality, part.particles);
      const auto after = std::partition_point(
        part.spans.begin(), part.spans.end(), [end](const Span& span) { return span.first < end; });
      if (after != part.spans.begin())
      {
        const auto last = static_cast<std::size_t>(after - part.spans.begin()) - 1;
        sum += part.before[last] + std::min(part.spans[last].count, end - part.spans[last].first);
      }
    }
    return sum;
  }

private:
  struct Part
  {
    const std::vector<Span>& spans;
    std::uint64_t particles;
    std::vector<std::uint64_t> before; ///< particles in the spans before each
  };
  std::vector<Part> parts_;
};

// Distance between neighbours if `n` particles are spread evenly in a box of these extents.
double spacing_in(std::array<double, 3> extent, double n)
{
  std::sort(extent.begin(), extent.end(), std::greater<>());
  const auto [a, b, c] = extent;
  if (n < 1)
  {
    // A particle stands for several such boxes, which extend it in the directions in which it is
    // flat or long.
    const double dimensions = c > a / 4 ? 3 : b > a / 4 ? 2 : 1;
    return spacing_in(extent, 1) * std::pow(n, -1 / dimensions);
  }
  const double in_space = std::cbrt(a * b * c / n);
  if (c > 0 && in_space <= c)
  {
    return in_space;
  }
  const double in_plane = std::sqrt(a * b / n);
  return b > 0 && in_plane <= b ? in_plane : a / n;
}

struct Weighted
{
  double spacing;
  double particles;
};

// Returns the spacing that half of the particles have at most. There must be at least one.
double find_median(std::vector<Weighted> found)
{
  std::sort(found.begin(), found.end(),
    [](const Weighted& a, const Weighted& b) { return a.spacing < b.spacing; });
  const double half = std::accumulate(found.begin(), found.end(), 0.0,
                        [](double sum, const Weighted& w) { return sum + w.particles; }) /
    2;
  double below = 0;
  for (const Weighted& w : found)
  {
    below += w.particles;
    if (below >= half)
    {
      return w.spacing;
    }
  }
  return found.back().spacing;
}
}

double Dataset::quality_within(
  const Query& query, std::uint64_t budget, const QueryOptions& options) const
{
  Query whole = query;
  whole.part = 0;
  whole.parts = 1;
  whole.after_quality = 0;
  const std::vector<Impl::Task> tasks = this->impl_->tasks(this->impl_->conditions(whole));
  const bool of_attributes = !query.ranges.empty() || !query.values.empty();
  const bool of_list = std::any_of(query.values.begin(), query.values.end(),
    [](const AttributeValues& list) { return !list.negated && list.ranges.empty(); });
  // particles_at() rounds up in each leaf file.
  const auto particles_of_leaves = [&](double q)
  {
    return std::accumulate(tasks.begin(), tasks.end(), std::uint64_t{ 0 },
      [q](std::uint64_t sum, const Impl::Task& task)
      { return sum + count_at(q, task.ordinals.end - task.ordinals.begin); });
  };
  const double of_leaves = highest_within(query.quality, budget, particles_of_leaves);
  if (of_leaves == query.quality || (!query.box && query.shapes.empty() && !of_attributes) ||
    (tasks.size() > kMaxBudgetLeaves && !of_list))
  {
    return of_leaves;
  }
  const auto bound_at = [&](double q)
  {
    whole.quality = q;
    return this->upper_bound(whole, options);
  };
  const double all = static_cast<double>(std::max<std::uint64_t>(1, bound_at(query.quality)));
  const auto limit = static_cast<double>(budget);
  const double first = limit >= all ? query.quality : query.quality * limit / all;
  const double found = lower_to_limit(first, of_leaves, limit, bound_at);
  if (!of_attributes || found == query.quality)
  {
    return found;
  }
  whole.quality = std::min(query.quality, query.quality * kSampleParticles / all);
  DatasetSelection sample = this->select(whole, options);
  const auto matches = static_cast<double>(sample.count);
  const double minimum = (matches - 3 * std::sqrt(matches)) * query.quality / whole.quality;
  // Everything may fit. Lists of values are not estimated, because a sample could miss a few ids.
  const bool in_full = of_list || minimum <= limit;
  // Three standard deviations above the sample. Between two levels space is not covered evenly, so
  // the estimate must be tried.
  const double estimate = in_full
    ? query.quality
    : std::min(query.quality, whole.quality * limit / (matches + 3 * std::sqrt(matches) + 9));
  if (sample.count <= budget && estimate > whole.quality)
  {
    whole.quality = estimate;
    sample = this->select(whole, options);
  }
  if (sample.count <= budget)
  {
    return std::max(found, whole.quality);
  }
  return std::max(
    found, highest_within(whole.quality, budget, CountsByQuality(sample, this->leaves())));
}

std::vector<Dataset::Impl::Undecided> Dataset::Impl::count_decided(
  const query::Conditions& conditions, const std::vector<Task>& tasks, const QueryOptions& options,
  CountEstimate& estimate) const
{
  std::vector<Undecided> undecided;
  for (const Task& task : tasks)
  {
    const std::uint64_t all = this->leaves()[task.leaf].particles;
    const std::uint64_t ordinals = task.ordinals.end - task.ordinals.begin;
    const std::uint64_t step =
      count_at(conditions.quality, all) - count_at(conditions.after_quality, all);
    const std::uint64_t maximum = std::min(ordinals, step);
    if (!conditions.none() || (ordinals != all && step != all))
    {
      undecided.push_back({ &task, maximum });
      continue;
    }
    const auto add = [&]
    {
      estimate.minimum += maximum;
      estimate.maximum += maximum;
      estimate.likely += maximum;
    };
    if (!options.on_damage)
    {
      add();
      continue;
    }
    reading(task.leaf, options,
      [&]
      {
        (void)this->leaf(task.leaf);
        add();
      });
  }
  return undecided;
}

CountEstimate Dataset::Impl::estimate_count(
  const Query& query, std::uint64_t tested, const QueryOptions& options) const
{
  const query::Conditions conditions = this->conditions(query);
  const std::vector<Task> tasks = this->tasks(conditions);
  CountEstimate estimate;
  const std::vector<Undecided> undecided =
    this->count_decided(conditions, tasks, options, estimate);
  const std::size_t used = std::min(undecided.size(), kMaxLeaves);
  std::uint64_t left_out = 0;
  std::vector<Task> chosen;
  std::vector<std::uint64_t> maximums;
  for (std::size_t t = 0; t != undecided.size(); ++t)
  {
    if (t == (2 * chosen.size() + 1) * undecided.size() / (2 * used))
    {
      chosen.push_back(*undecided[t].task);
      maximums.push_back(undecided[t].maximum);
    }
    else
    {
      left_out += undecided[t].maximum;
    }
  }
  const auto estimate_in = [&](const Task& task, const LeafSource& leaf)
  {
    return leaf.estimate_count(
      query::of_leaf(conditions, this->leaves()[task.leaf].particles, task.ordinals),
      std::max(kMinTestedPerLeaf, tested / used));
  };
  this->prepare_leaves(chosen, estimate_in);
  std::uint64_t looked_at = 0; // particles of the chosen leaf files
  std::uint64_t likely = 0;    // their likely number
  for (std::size_t i = 0; i != chosen.size(); ++i)
  {
    reading(chosen[i].leaf, options,
      [&]
      {
        const CountEstimate one = estimate_in(chosen[i], this->leaf(chosen[i].leaf));
        estimate.minimum += one.minimum;
        estimate.maximum += one.maximum;
        likely += one.likely;
        looked_at += maximums[i];
      });
  }
  estimate.likely +=
    likely + (left_out == 0 ? 0 : query::estimate_share(left_out, likely, looked_at));
  estimate.maximum += left_out;
  return estimate;
}

CountEstimate Dataset::estimate_count(const Query& query, const QueryOptions& options) const
{
  return in_arena(
    options.threads, [&] { return this->impl_->estimate_count(query, kTestedParticles, options); });
}

std::vector<ValueCount> Dataset::few_values(
  std::size_t attribute, std::size_t max_values, const QueryOptions& options) const
{
  if (attribute >= this->attributes().size())
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{}: attribute number {} is out of range; the file has {}", this->name(),
        attribute, this->attributes().size()));
  }
  const Attribute& about = this->attributes()[attribute];
  std::vector<ValueCount> found;
  if (about.components != 1 || value_class(about.type) == ValueClass::Float)
  {
    return found;
  }
  const auto count_each = [&](auto minimum, auto maximum)
  {
    using V = decltype(minimum);
    if constexpr (std::is_integral_v<V> && std::is_same_v<V, decltype(maximum)>)
    {
      if (minimum > maximum ||
        static_cast<std::uint64_t>(maximum) - static_cast<std::uint64_t>(minimum) >= max_values)
      {
        return;
      }
      for (V value = minimum;; ++value)
      {
        Query query;
        query.ranges = { { about.name, std::nullopt, value, value } };
        CountEstimate count = this->impl_->estimate_count(query, kTestedParticlesPerValue, options);
        if (count.likely == 0 && count.maximum != 0) // it may be that there are none
        {
          count = this->impl_->estimate_count(query, kTestedParticles, options);
        }
        if (count.maximum != 0)
        {
          found.push_back({ value, count });
        }
        if (value == maximum)
        {
          return;
        }
      }
    }
  };
  in_arena(options.threads,
    [&] { std::visit(count_each, about.keys.front().minimum, about.keys.front().maximum); });
  return found;
}

double Dataset::spacing(const Query& query, const QueryOptions& options) const
{
  Query whole = query;
  whole.part = 0;
  whole.parts = 1;
  whole.after_quality = 0;
  whole.ranges.clear();
  whole.values.clear();
  const query::Conditions conditions = this->impl_->conditions(whole);
  const std::vector<Impl::Task> all = this->impl_->tasks(conditions);
  const std::size_t step = (all.size() + kMaxLeaves - 1) / kMaxLeaves;
  std::vector<Impl::Task> tasks;
  for (std::size_t t = 0; t < all.size(); t += step)
  {
    tasks.push_back(all[t]);
  }
  this->impl_->prepare_leaves(
    tasks, [](const Impl::Task&, const LeafSource& leaf) { (void)leaf.regions(); });
  std::vector<Weighted> found;
  for (const Impl::Task& task : tasks)
  {
    std::vector<Region> regions;
    Impl::reading(task.leaf, options, [&] { regions = this->impl_->leaf(task.leaf).regions(); });
    for (const Region& region : regions)
    {
      const Box& bounds = region.bounds;
      if (query::relate(bounds.lower.data(), bounds.upper.data(), conditions.places) ==
        query::Relation::Outside)
      {
        continue;
      }
      const auto particles = static_cast<double>(region.particles);
      std::array<double, 3> extent{};
      for (std::size_t axis = 0; axis != 3; ++axis)
      {
        extent[axis] = region.bounds.upper[axis] - region.bounds.lower[axis];
      }
      if (particles * query.quality > 0)
      {
        found.push_back({ spacing_in(extent, particles * query.quality), particles });
      }
    }
  }
  if (found.empty())
  {
    return 0;
  }
  return find_median(std::move(found));
}
}
