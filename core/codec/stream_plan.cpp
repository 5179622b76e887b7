// SPDX-License-Identifier: BSD-3-Clause
#include "codec/stream_plan.hpp"

#include "codec/append.hpp"
#include "codec/differences.hpp"
#include "codec/fixed_log2.hpp"
#include "codec/words.hpp"

#include <algorithm>
#include <limits>

namespace bat::codec
{
namespace
{
// With fewer values in a column, another class does not pay off.
constexpr std::uint64_t kValuesOfClass = 8192;
constexpr std::size_t kBlocksOfClass = 16; // in the sample
// Blocks in which all differences are 0 get their own class if more than one in this many is such a
// block.
constexpr std::size_t kEqualBlocks = 32;

constexpr std::uint64_t low_bits(unsigned bits) noexcept
{
  return bits >= 64 ? ~std::uint64_t{ 0 } : (std::uint64_t{ 1 } << bits) - 1;
}

/// Values [first, first + count) of a sample.
struct Block
{
  std::size_t first;
  std::size_t count;
};

std::vector<Block> blocks_of(const std::vector<std::size_t>& chunk_counts)
{
  std::vector<Block> blocks;
  std::size_t first = 0;
  for (const std::size_t count : chunk_counts)
  {
    for (std::size_t i = 0; i < count; i += kBlockValues)
    {
      blocks.push_back({ first + i, std::min(kBlockValues, count - i) });
    }
    first += count;
  }
  return blocks;
}

// Scales the measure of a shorter block to a full block.
std::uint64_t whole(std::uint64_t measure, std::size_t count) noexcept
{
  return measure * kBlockValues / count;
}

// Classes with equal numbers of blocks; several only if the measures differ. With `equal`, an
// additional first class has the blocks whose measure is 0.
std::vector<std::uint64_t> compute_limits(
  std::vector<std::uint64_t> measures, std::size_t classes, bool equal)
{
  std::vector<std::uint64_t> limits;
  if (equal)
  {
    measures.erase(std::remove(measures.begin(), measures.end(), 0), measures.end());
    limits.push_back(1);
  }
  std::sort(measures.begin(), measures.end());
  for (std::size_t c = 1; c < classes && !measures.empty(); ++c)
  {
    const std::uint64_t limit = measures[c * measures.size() / classes];
    if (limit > measures[0] && (limits.empty() || limit > limits.back()))
    {
      limits.push_back(limit);
    }
  }
  return limits;
}

template <class U>
class Planner
{
public:
  Planner(const WordSample<U>& sample, const WordKind& kind, std::uint64_t count)
    : sample_(sample)
    , kind_(kind)
    , blocks_(blocks_of(sample.chunk_counts))
  {
    std::uint64_t counted = 0;
    for (const std::size_t in_chunk : sample.chunk_counts)
    {
      counted += in_chunk;
    }
    this->counted_ = counted;
    this->share_.among = std::max<std::uint64_t>(1, count / counted);
    this->max_classes_ = static_cast<std::size_t>(std::min<std::uint64_t>(
      { kMaxClasses, count / kValuesOfClass, this->blocks_.size() / kBlocksOfClass }));
    this->max_classes_ = std::max<std::size_t>(1, this->max_classes_);
  }

  StreamPlans plan()
  {
    StreamPlans result;
    std::vector<std::size_t> joint;
    for (std::size_t c = 0; c != this->sample_.words.size(); ++c)
    {
      this->fill(c);
      Measured best = this->choose(c);
      const bool is_last = c + 1 == this->sample_.words.size();
      if (best.plan.kind == StreamKind::Differences)
      {
        joint.push_back(c);
      }
      else
      {
        this->add(std::move(best), result);
      }
      if (joint.size() == kMaxJoint || (is_last && !joint.empty()))
      {
        this->add(this->best_differences(joint), result);
        joint.clear();
      }
    }
    return result;
  }

private:
  struct Measured
  {
    StreamPlan plan;
    std::uint64_t length = std::numeric_limits<std::uint64_t>::max();
  };

  // Lengths of a component's differences.
  void fill(std::size_t component)
  {
    const std::vector<U>& words = this->sample_.words[component];
    std::vector<U> zigzags(words.size());
    std::vector<std::uint8_t>& lengths = this->lengths_.emplace_back(words.size());
    std::size_t first = 0;
    for (const std::size_t count : this->sample_.chunk_counts)
    {
      (void)fill_differences(words.data() + first, count, this->kind_.dropped[component],
        this->kind_.floating, zigzags.data() + first, lengths.data() + first);
      first += count;
    }
  }

  Measured choose(std::size_t component)
  {
    Measured differences;
    differences.plan.kind = StreamKind::Differences;
    if (this->kind_.only_differences)
    {
      return differences;
    }
    differences = this->best_differences({ component });
    Measured heads = this->best_heads(component);
    Measured words;
    words.plan.components = { component };
    words.length = kBits<U> * this->counted_ * kUnitsPerBit;
    // A smaller gain is not worth the time for reading it.
    if (std::min(differences.length, heads.length) > words.length - words.length / 64)
    {
      return words;
    }
    return heads.length < differences.length ? std::move(heads) : std::move(differences);
  }

  Measured best_differences(const std::vector<std::size_t>& components)
  {
    std::vector<std::uint64_t> measures(this->blocks_.size());
    std::size_t equal = 0;
    for (std::size_t b = 0; b != measures.size(); ++b)
    {
      const Block& block = this->blocks_[b];
      for (const std::size_t c : components)
      {
        measures[b] += compute_sum(this->lengths_[c].data() + block.first, block.count);
      }
      measures[b] = whole(measures[b], block.count);
      equal += measures[b] == 0 ? 1 : 0;
    }
    const bool has_equal = equal * kEqualBlocks > measures.size() && equal != measures.size();
    Measured best = this->differences(components, measures, {});
    if (this->max_classes_ > 1 || has_equal)
    {
      const std::size_t classes =
        this->max_classes_ - (has_equal && this->max_classes_ > 1 ? 1 : 0);
      const std::vector<std::uint64_t> limits = compute_limits(measures, classes, has_equal);
      if (!limits.empty())
      {
        if (Measured other = this->differences(components, measures, limits);
            other.length < best.length)
        {
          best = std::move(other);
        }
      }
    }
    return best;
  }

  Measured differences(const std::vector<std::size_t>& components,
    const std::vector<std::uint64_t>& measures, const std::vector<std::uint64_t>& limits)
  {
    Measured result;
    StreamPlan& plan = result.plan;
    plan.kind = StreamKind::Differences;
    plan.components = components;
    plan.limits = limits;
    plan.classes.resize(limits.size() + 1);
    for (std::size_t j = 0; j != components.size(); ++j)
    {
      plan.dropped[j] = this->kind_.dropped[components[j]];
    }
    result.length = class_bits(plan.classes.size()) * measures.size() * kUnitsPerBit;
    for (std::size_t own = 0; own != plan.classes.size(); ++own)
    {
      std::array<std::vector<std::uint8_t>, kMaxJoint> lengths;
      for (std::size_t b = 0; b != measures.size(); ++b)
      {
        if (plan.class_of(measures[b]) == own)
        {
          for (std::size_t j = 0; j != components.size(); ++j)
          {
            const std::uint8_t* const first =
              this->lengths_[components[j]].data() + this->blocks_[b].first;
            lengths[j].insert(lengths[j].end(), first, first + this->blocks_[b].count);
          }
        }
      }
      ClassPlan& of_class = plan.classes[own];
      of_class.sizes.build(lengths, components.size(), this->share_);
      result.length += of_class.sizes.length();
    }
    return result;
  }

  Measured best_heads(std::size_t component)
  {
    const std::vector<U>& words = this->sample_.words[component];
    const auto [minimum, maximum] = std::minmax_element(
      words.begin(), words.end(), [&](U a, U b) { return this->ordered(a) < this->ordered(b); });
    const unsigned range =
      bit_length(static_cast<U>(this->ordered(*maximum) - this->ordered(*minimum)));
    constexpr unsigned kMaxMeasuredBits = 16; // bits
    const unsigned shift = range > kMaxMeasuredBits ? range - kMaxMeasuredBits : 0;
    Measured best = this->heads(component, {}, {}, shift);
    if (this->max_classes_ > 1)
    {
      std::vector<std::uint64_t> measures;
      for (const Block& block : this->blocks_)
      {
        measures.push_back(
          whole(sum_heads(words.data() + block.first, block.count, this->kind_.floating, shift),
            block.count));
      }
      const std::vector<std::uint64_t> limits = compute_limits(measures, this->max_classes_, false);
      if (Measured other = this->heads(component, measures, limits, shift);
          other.length < best.length)
      {
        best = std::move(other);
      }
    }
    return best;
  }

  Measured heads(std::size_t component, const std::vector<std::uint64_t>& measures,
    const std::vector<std::uint64_t>& limits, unsigned shift)
  {
    Measured result;
    StreamPlan& plan = result.plan;
    plan.kind = StreamKind::Heads;
    plan.components = { component };
    plan.dropped[0] = this->kind_.dropped[component];
    plan.limits = limits;
    plan.measure_shift = shift;
    plan.classes.resize(limits.size() + 1);
    result.length = class_bits(plan.classes.size()) * measures.size() * kUnitsPerBit;
    const std::vector<U>& all = this->sample_.words[component];
    for (std::size_t own = 0; own != plan.classes.size(); ++own)
    {
      std::vector<U> words;
      for (std::size_t b = 0; b != this->blocks_.size(); ++b)
      {
        if (limits.empty() || plan.class_of(measures[b]) == own)
        {
          const Block& block = this->blocks_[b];
          for (std::size_t i = block.first; i != block.first + block.count; ++i)
          {
            words.push_back(static_cast<U>(all[i] >> plan.dropped[0]));
          }
        }
      }
      ClassPlan& of_class = plan.classes[own];
      of_class.heads.build(words, kBits<U>, this->share_);
      result.length += of_class.heads.length();
    }
    return result;
  }

  [[nodiscard]] U ordered(U word) const noexcept
  {
    return this->kind_.floating
      ? static_cast<U>(ranked(word, 0) ^ static_cast<U>(U{ 1 } << (kBits<U> - 1)))
      : word;
  }

  // Builds the codes of a stream, and its part of the model.
  void add(Measured measured, StreamPlans& to) const
  {
    StreamPlan& plan = measured.plan;
    std::uint16_t mask = 0;
    for (const std::size_t component : plan.components)
    {
      mask = static_cast<std::uint16_t>(mask | 1u << component);
    }
    append_number(to.model, static_cast<std::uint8_t>(plan.kind));
    append_number(to.model, mask);
    to.length += measured.length;
    if (plan.kind != StreamKind::Words)
    {
      for (std::size_t j = 0; j < plan.components.size() && j < kMaxJoint; ++j)
      {
        append_number(to.model, static_cast<std::uint8_t>(plan.dropped[j]));
      }
      append_number(to.model, static_cast<std::uint8_t>(plan.classes.size()));
      for (std::size_t own = 0; own != plan.classes.size(); ++own)
      {
        // All differences in such blocks are 0.
        const bool is_equal = own == 0 && !plan.limits.empty() && plan.limits[0] == 1 &&
          plan.kind == StreamKind::Differences;
        this->finish(plan, plan.classes[own], !is_equal, to.model);
      }
    }
    to.streams.push_back(std::move(plan));
  }

  void finish(
    StreamPlan& plan, ClassPlan& of_class, bool has_escape, std::vector<std::byte>& model) const
  {
    const bool has_heads = plan.kind == StreamKind::Heads;
    std::vector<std::uint32_t> counts =
      has_heads ? of_class.heads.counts() : of_class.sizes.counts();
    const std::size_t entries = counts.size();
    append_number(model, static_cast<std::uint8_t>(entries - 1));
    append_number(model, static_cast<std::uint8_t>(has_escape ? 1 : 0));
    if (has_escape)
    {
      of_class.escape = static_cast<unsigned>(entries);
      counts.push_back(has_heads ? of_class.heads.escaped() : 0);
    }
    if (has_heads)
    {
      plan.max_bits = std::max<std::size_t>(plan.max_bits, of_class.heads.tail_bits());
      append_number(model, static_cast<std::uint8_t>(of_class.heads.tail_bits()));
      append_number(model, of_class.heads.base());
      for (const std::uint16_t head : of_class.heads.heads())
      {
        append_number(model, head);
      }
    }
    for (std::size_t symbol = 0; !has_heads && symbol != entries; ++symbol)
    {
      std::size_t total = 0;
      for (std::size_t j = 0; j != plan.components.size(); ++j)
      {
        const std::uint8_t entry = of_class.sizes.entry(symbol)[j];
        append_number(model, entry);
        of_class.entries[symbol].bits[j] = entry & kEntryBits;
        of_class.entries[symbol].mask[j] = low_bits(entry & kEntryBits);
        total += entry & kEntryBits;
      }
      plan.max_bits = std::max(plan.max_bits, total);
    }
    const std::vector<std::uint8_t> lengths = code_lengths(counts);
    for (std::size_t symbol = 0; symbol < lengths.size(); symbol += 2)
    {
      const unsigned next = symbol + 1 < lengths.size() ? lengths[symbol + 1] : 0u;
      append_number(model, static_cast<std::uint8_t>(lengths[symbol] | next << 4));
    }
    const std::vector<Code> codes = assign_codes(lengths);
    std::copy(codes.begin(), codes.end(), of_class.codes.begin());
  }

  const WordSample<U>& sample_;
  const WordKind& kind_;
  std::vector<Block> blocks_;
  std::uint64_t counted_ = 0;
  Share share_;
  std::size_t max_classes_ = 1;
  std::vector<std::vector<std::uint8_t>> lengths_; ///< lengths per component
};
}

template <class U>
StreamPlans plan_streams(const WordSample<U>& sample, const WordKind& kind, std::uint64_t count)
{
  return Planner<U>(sample, kind, count).plan();
}

template StreamPlans plan_streams(const WordSample<std::uint32_t>&, const WordKind&, std::uint64_t);
template StreamPlans plan_streams(const WordSample<std::uint64_t>&, const WordKind&, std::uint64_t);
}
