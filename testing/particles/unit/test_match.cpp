// SPDX-License-Identifier: BSD-3-Clause
// Tests particles against conditions with the portable loops and those for AVX2 and AVX-512,
// compared with the conditions' definitions.

#include "common/processor.hpp"
#include "particles/query/range_test.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace
{
using bat::processor::Instructions;
using bat::query::append_matches;
using bat::query::KeyCondition;
using bat::query::match_key;
using bat::query::Matches;

const char* name_of(Instructions instructions)
{
  return instructions == Instructions::Avx512 ? "Avx512"
    : instructions == Instructions::Avx2      ? "Avx2"
                                              : "Portable";
}

class Match : public testing::TestWithParam<Instructions>
{
protected:
  void SetUp() override
  {
    bat::processor::allow(this->GetParam());
    if ((this->GetParam() == Instructions::Avx512 && !bat::processor::has_avx512()) ||
      (this->GetParam() == Instructions::Avx2 && !bat::processor::has_avx2()))
    {
      GTEST_SKIP() << "this processor has no " << name_of(this->GetParam());
    }
  }
  void TearDown() override { bat::processor::allow(Instructions::Avx512); }

  std::mt19937_64 random_{ 1 };
};

// Values with many duplicates, and the extremes of the type.
template <class T>
std::vector<T> values_of(std::size_t count, std::mt19937_64& random)
{
  using Limits = std::numeric_limits<T>;
  std::vector<T> rare{ Limits::lowest(), Limits::max(), T{ 0 }, T{ 1 } };
  if constexpr (std::is_floating_point_v<T>)
  {
    rare.insert(rare.end(),
      { Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), T{ -0.0 }, T{ 0.5 } });
  }
  std::vector<T> values(count);
  for (T& value : values)
  {
    value = random() % 4 == 0 ? rare[random() % rare.size()] : static_cast<T>(random() % 20);
  }
  return values;
}

// In parts of one tuple of `width` values up to more than fit in a word of bits. Each has separate
// memory of its exact size, so that reads past its end are detected.
template <class T>
class Parts
{
public:
  Parts(const std::vector<T>& values, std::size_t width, std::mt19937_64& random)
  {
    const std::size_t count = values.size() / width;
    for (std::size_t i = 0; i != count;)
    {
      const std::size_t some = std::min<std::size_t>(count - i, 1 + random() % 150);
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i * width);
      this->memory_.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(some * width));
      this->elements_.push_back(
        { reinterpret_cast<const std::byte*>(this->memory_.back().data()), some });
      i += some;
    }
  }
  [[nodiscard]] const bat::Elements* data() const { return this->elements_.data(); }
  [[nodiscard]] std::size_t size() const { return this->elements_.size(); }

private:
  std::vector<std::vector<T>> memory_;
  std::vector<bat::Elements> elements_;
};

std::vector<bool> taken(Matches& matches, std::size_t count)
{
  matches.rewind();
  std::vector<bool> all;
  while (all.size() != count)
  {
    all.push_back(matches.take(1) != 0);
  }
  return all;
}

template <class T>
void expect_matches(bat::ScalarType type, std::mt19937_64& random)
{
  using V = bat::ClassOf<T>;
  const V ends[] = { static_cast<V>(std::numeric_limits<T>::lowest()), V{ 0 }, V{ 1 }, V{ 5 },
    V{ 13 }, static_cast<V>(std::numeric_limits<T>::max()), std::numeric_limits<V>::max() };
  for (const std::size_t count : { 0u, 1u, 63u, 64u, 65u, 128u, 1000u })
  {
    for (const int components : { 1, 3 })
    {
      const auto width = static_cast<std::size_t>(components);
      const std::vector<T> values = values_of<T>(count * width, random);
      bat::Attribute attribute;
      attribute.type = type;
      attribute.components = components;
      for (const V lower : ends)
      {
        for (const V upper : ends)
        {
          KeyCondition condition{};
          condition.component = components - 1;
          condition.requested = bat::ClassRange<V>{ lower, upper };
          Matches matches;
          matches.reset(count);
          std::vector<bool> expected(count);
          for (std::size_t i = 0; i != count; ++i)
          {
            const bool before = i % 7 != 0; // what another condition excludes stays excluded
            matches.keep(1, before);
            const auto value = static_cast<V>(values[i * width + width - 1]);
            expected[i] = before && value >= lower && value <= upper;
          }
          const Parts<T> parts(values, width, random);
          matches.rewind();
          match_key(attribute, parts.data(), parts.size(), condition, matches);
          ASSERT_EQ(taken(matches, count), expected) << count << " of " << components;
        }
      }
    }
  }
}

TEST_P(Match, ranges_hold_for_the_values_between_their_ends)
{
  expect_matches<std::int8_t>(bat::ScalarType::Int8, this->random_);
  expect_matches<std::uint8_t>(bat::ScalarType::UInt8, this->random_);
  expect_matches<std::int16_t>(bat::ScalarType::Int16, this->random_);
  expect_matches<std::uint16_t>(bat::ScalarType::UInt16, this->random_);
  expect_matches<std::int32_t>(bat::ScalarType::Int32, this->random_);
  expect_matches<std::uint32_t>(bat::ScalarType::UInt32, this->random_);
  expect_matches<std::int64_t>(bat::ScalarType::Int64, this->random_);
  expect_matches<std::uint64_t>(bat::ScalarType::UInt64, this->random_);
  expect_matches<float>(bat::ScalarType::Float32, this->random_);
  expect_matches<double>(bat::ScalarType::Float64, this->random_);
}

TEST(Matches, keep_and_give_bits_from_any_place_on)
{
  std::mt19937_64 random(1);
  for (int round = 0; round != 200; ++round)
  {
    const std::size_t count = random() % 400;
    std::vector<bool> expected(count, true);
    Matches matches;
    matches.reset(count);
    for (int pass = 0; pass != 2; ++pass)
    {
      matches.rewind();
      for (std::size_t at = 0; at != count;)
      {
        const std::size_t some = std::min<std::size_t>(count - at, random() % 65);
        const std::uint64_t bits = random() | random();
        switch (random() % 3)
        {
          case 0:
            matches.skip(some);
            break;
          case 1:
            matches.keep(some, 0);
            std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(at), some, false);
            break;
          default:
            matches.keep(some, bits);
            for (std::size_t i = 0; i != some; ++i)
            {
              expected[at + i] = expected[at + i] && (bits >> i & 1) != 0;
            }
        }
        at += some;
      }
    }
    ASSERT_EQ(taken(matches, count), expected);
    matches.rewind();
    for (std::size_t at = 0; at != count;)
    {
      const std::size_t some = std::min<std::size_t>(count - at, random() % 65);
      const std::uint64_t bits = matches.take(some);
      for (std::size_t i = 0; i != 64; ++i)
      {
        ASSERT_EQ((bits >> i & 1) != 0, i < some && expected[at + i]);
      }
      at += some;
    }
  }
}

TEST_P(Match, runs_are_as_long_as_they_can_be)
{
  for (const std::size_t count : { 0u, 1u, 8u, 63u, 64u, 65u, 200u })
  {
    for (const unsigned one_in : { 1u, 2u, 10u, 1000u })
    {
      Matches matches;
      matches.reset(5 + count);
      matches.skip(5);
      std::vector<bool> match(count);
      for (std::size_t i = 0; i != count; ++i)
      {
        match[i] = this->random_() % one_in == 0;
        matches.keep(1, match[i]);
      }
      std::vector<bat::Span> expected{ { 3, 97 } };
      for (std::size_t i = 0; i != count; ++i)
      {
        if (match[i] && expected.back().first + expected.back().count == 100 + i)
        {
          ++expected.back().count;
        }
        else if (match[i])
        {
          expected.push_back({ 100 + i, 1 });
        }
      }
      std::vector<bat::Span> found{ { 3, 97 } };
      matches.rewind();
      matches.skip(5);
      append_matches({ 100, count }, matches, found);
      ASSERT_EQ(found.size(), expected.size()) << count;
      for (std::size_t i = 0; i != found.size(); ++i)
      {
        EXPECT_EQ(found[i].first, expected[i].first);
        EXPECT_EQ(found[i].count, expected[i].count);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, Match,
  testing::Values(Instructions::Portable, Instructions::Avx2, Instructions::Avx512),
  [](const auto& info) { return name_of(info.param); });
}
