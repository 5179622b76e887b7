// Particles against conditions, with and without the loops for AVX-512, against the conditions'
// own words.

#include "processor.hpp"
#include "query/match.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace
{
using bat::query::append_matches;
using bat::query::KeyCondition;
using bat::query::match_key;

class Match : public testing::TestWithParam<bool>
{
protected:
  void SetUp() override
  {
    bat::processor::allow_avx512(this->GetParam());
    if (this->GetParam() && !bat::processor::has_avx512())
    {
      GTEST_SKIP() << "this processor has no AVX-512";
    }
  }
  void TearDown() override { bat::processor::allow_avx512(true); }

  std::mt19937_64 random_{ 1 };
};

// Values of which many are equal, and those at the ends of the type.
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
          condition.wanted = bat::ClassRange<V>{ lower, upper };
          std::vector<std::uint8_t> match(count);
          std::vector<std::uint8_t> expected(count);
          for (std::size_t i = 0; i != count; ++i)
          {
            match[i] = i % 7 != 0; // what another condition excludes stays excluded
            const auto value = static_cast<V>(values[i * width + width - 1]);
            expected[i] = match[i] && value >= lower && value <= upper;
          }
          match_key(attribute, reinterpret_cast<const std::byte*>(values.data()), condition, match);
          ASSERT_EQ(match, expected) << count << " of " << components << " components";
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

TEST_P(Match, runs_are_as_long_as_they_can_be)
{
  for (const std::size_t count : { 0u, 1u, 8u, 63u, 64u, 65u, 200u })
  {
    for (const unsigned one_in : { 1u, 2u, 10u, 1000u })
    {
      // Of its own size, so that reading behind it is noticed.
      std::vector<std::uint8_t> match(count);
      std::generate(match.begin(), match.end(),
        [&] { return static_cast<std::uint8_t>(this->random_() % one_in == 0); });
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
      append_matches({ 100, count }, match.data(), found);
      ASSERT_EQ(found.size(), expected.size()) << count;
      for (std::size_t i = 0; i != found.size(); ++i)
      {
        EXPECT_EQ(found[i].first, expected[i].first);
        EXPECT_EQ(found[i].count, expected[i].count);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
  , Match, testing::Bool(), [](const auto& info) { return info.param ? "Avx512" : "Portable"; });
}
