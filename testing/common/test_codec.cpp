// SPDX-License-Identifier: BSD-3-Clause
// Frames of chunks: every bit is restored, whatever the values; invalid frames are rejected.

#include "bat/error.hpp"
#include "codec/chunk_codec.hpp"
#include "codec/snap.hpp"
#include "common/processor.hpp"
#include "support/allocation_limit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace
{
using bat::ScalarType;
using bat::codec::ColumnShape;
using Bytes = std::vector<std::byte>;
using Random = std::mt19937_64;

constexpr ScalarType kTypes[] = { ScalarType::Int8, ScalarType::UInt8, ScalarType::Int16,
  ScalarType::UInt16, ScalarType::Int32, ScalarType::UInt32, ScalarType::Int64, ScalarType::UInt64,
  ScalarType::Float32, ScalarType::Float64 };

template <class T>
Bytes bytes_of(const std::vector<T>& values)
{
  Bytes result(values.size() * sizeof(T));
  if (!values.empty())
  {
    std::memcpy(result.data(), values.data(), result.size());
  }
  return result;
}

/// A column in chunks.
struct Encoded
{
  Bytes model;
  std::vector<Bytes> frames;

  [[nodiscard]] std::size_t bytes() const
  {
    std::size_t all = this->model.size();
    for (const Bytes& frame : this->frames)
    {
      all += frame.size();
    }
    return all;
  }
  [[nodiscard]] bool operator==(const Encoded& other) const
  {
    return this->model == other.model && this->frames == other.frames;
  }
};

Encoded encoded(
  const ColumnShape& shape, double step, const Bytes& values, std::size_t chunk = 65536)
{
  static bat::codec::Encoder encoder;
  const std::size_t count = values.size() / shape.value_bytes();
  const bat::codec::Plan plan(shape, { step }, values.data(), count, chunk);
  EXPECT_LE(plan.model().size(), bat::codec::kMaxModelBytes);
  Encoded result{ plan.model(), {} };
  for (std::size_t first = 0; first == 0 || first < count; first += chunk)
  {
    Bytes frame(7); // is replaced
    encoder.encode(
      plan, values.data() + first * shape.value_bytes(), std::min(chunk, count - first), frame);
    result.frames.push_back(frame);
  }
  return result;
}

Bytes decoded(
  const ColumnShape& shape, const Encoded& column, std::size_t count, std::size_t chunk = 65536)
{
  static bat::codec::Decoder decoder;
  Bytes values(count * shape.value_bytes(), std::byte{ 0xA5 });
  const bat::codec::Model model(shape, column.model.data(), column.model.size());
  std::size_t first = 0;
  for (const Bytes& frame : column.frames)
  {
    decoder.decode(model, frame.data(), frame.size(), values.data() + first * shape.value_bytes(),
      std::min(chunk, count - first));
    first += chunk;
  }
  return values;
}

// The column as encoded, after checking that the loops for all processors agree, and its values.
Encoded expect_back(const std::string& what, const ColumnShape& shape, const Bytes& values,
  double step = 0, std::size_t chunk = 65536)
{
  const std::size_t count = values.size() / shape.value_bytes();
  const Encoded column = encoded(shape, step, values, chunk);
  std::size_t first = 0;
  for (const Bytes& frame : column.frames)
  {
    EXPECT_LE(frame.size(),
      std::min(chunk, count - first) * shape.value_bytes() + bat::codec::kFrameOverhead)
      << what;
    first += chunk;
  }
  for (const auto maximum : { bat::processor::Instructions::Portable,
         bat::processor::Instructions::Avx2, bat::processor::Instructions::Avx512 })
  {
    bat::processor::allow(maximum);
    EXPECT_TRUE(encoded(shape, step, values, chunk) == column)
      << what << ": other frames with instructions " << static_cast<int>(maximum);
    EXPECT_TRUE(decoded(shape, column, count, chunk) == values)
      << what << ": other values with instructions " << static_cast<int>(maximum);
  }
  return column;
}

// Bytes of all kinds of columns: number(i) is component i % components of value i / components.
struct Pattern
{
  std::string name;
  std::function<double(std::size_t, Random&)> number;
};

const std::vector<Pattern>& patterns()
{
  static const std::vector<Pattern> all = {
    { "constant", [](std::size_t, Random&) { return 42.0; } },
    { "in order", [](std::size_t i, Random&) { return static_cast<double>(i); } },
    { "few kinds", [](std::size_t, Random& random) { return static_cast<double>(random() % 5); } },
    { "smooth",
      [](std::size_t i, Random&) { return 50 * std::sin(1e-3 * static_cast<double>(i)); } },
    { "walk",
      [sum = 0.0](std::size_t, Random& random) mutable
      { return sum += std::normal_distribution<double>()(random) * 0.1; } },
    { "noise",
      [](std::size_t, Random& random) { return std::normal_distribution<double>(0, 30)(random); } },
    { "outliers",
      [](std::size_t i, Random& random)
      { return i % 97 == 0 ? 100.0 : 1e-3 * static_cast<double>(random() % 1000); } },
  };
  return all;
}

template <class T>
T number_as(double number)
{
  if constexpr (std::is_floating_point_v<T>)
  {
    return static_cast<T>(number);
  }
  else
  {
    return static_cast<T>(static_cast<std::int64_t>(number));
  }
}

template <class F>
void with_type(ScalarType type, const F& f)
{
  switch (type)
  {
    case ScalarType::Int8:
      f(std::int8_t{});
      break;
    case ScalarType::UInt8:
      f(std::uint8_t{});
      break;
    case ScalarType::Int16:
      f(std::int16_t{});
      break;
    case ScalarType::UInt16:
      f(std::uint16_t{});
      break;
    case ScalarType::Int32:
      f(std::int32_t{});
      break;
    case ScalarType::UInt32:
      f(std::uint32_t{});
      break;
    case ScalarType::Int64:
      f(std::int64_t{});
      break;
    case ScalarType::UInt64:
      f(std::uint64_t{});
      break;
    case ScalarType::Float32:
      f(float{});
      break;
    case ScalarType::Float64:
      f(double{});
      break;
  }
}

Bytes column(ScalarType type, std::size_t numbers, const Pattern& pattern, std::uint64_t seed)
{
  Bytes result;
  Random random(seed);
  const auto number = pattern.number;
  with_type(type,
    [&](auto zero)
    {
      std::vector<decltype(zero)> values(numbers);
      auto next = number;
      for (std::size_t i = 0; i != numbers; ++i)
      {
        values[i] = number_as<decltype(zero)>(next(i, random));
      }
      result = bytes_of(values);
    });
  return result;
}

Bytes random_bytes(std::size_t count, Random& random)
{
  Bytes result(count);
  for (std::byte& byte : result)
  {
    byte = static_cast<std::byte>(random());
  }
  return result;
}

const std::vector<double> kUnusualValues = { 0.0, -0.0, std::numeric_limits<double>::infinity(),
  -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(),
  -std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::denorm_min(),
  -std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max(),
  std::numeric_limits<double>::lowest(), 1e-310, 1e-40, 3e38, -1.0 };
}

TEST(Codec, every_type_and_number_of_components_comes_back)
{
  for (const ScalarType type : kTypes)
  {
    for (std::uint32_t components = 1; components != 10; ++components)
    {
      const ColumnShape shape{ type, components };
      for (const std::size_t count : { 0u, 1u, 2u, 7u, 17u, 64u, 65u, 1000u })
      {
        for (const Pattern& pattern : patterns())
        {
          expect_back(std::string(bat::name_of(type)) + " x " + std::to_string(components) + ", " +
              std::to_string(count) + " values, " + pattern.name,
            shape, column(type, count * components, pattern, count));
        }
      }
    }
  }
}

TEST(Codec, any_bits_come_back)
{
  Random random(1);
  for (const ScalarType type : kTypes)
  {
    for (const std::uint32_t components : { 1u, 3u, 4u })
    {
      const ColumnShape shape{ type, components };
      for (const std::size_t count : { 1u, 17u, 3000u })
      {
        const Bytes values = random_bytes(count * shape.value_bytes(), random);
        expect_back("any bits", shape, values);
        expect_back("any bits on a grid", shape, values, 1e-3);
        expect_back("any bits in chunks", shape, values, 0, 100);
      }
    }
  }
}

TEST(Codec, odd_numbers_among_smooth_ones_come_back)
{
  for (const std::size_t every : { 1u, 3u, 50u, 900u })
  {
    for (const double step : { 0.0, 1e-3, 1e-300, 1e300 })
    {
      std::vector<double> doubles(6000);
      std::vector<float> floats(doubles.size());
      for (std::size_t i = 0; i != doubles.size(); ++i)
      {
        doubles[i] = i % every == 0
          ? kUnusualValues[i / every % kUnusualValues.size()]
          : std::round(std::sin(1e-2 * static_cast<double>(i)) * 1e3) * 1e-3;
        floats[i] = static_cast<float>(doubles[i]);
      }
      expect_back("odd float64", { ScalarType::Float64, 3 }, bytes_of(doubles), step);
      expect_back("odd float32", { ScalarType::Float32, 3 }, bytes_of(floats), step);
      expect_back("odd float64", { ScalarType::Float64, 1 }, bytes_of(doubles), step);
    }
  }
}

TEST(Codec, chunks_of_many_sizes_come_back)
{
  for (std::size_t count = 1; count < 70000; count = count * 3 / 2 + 1)
  {
    for (const Pattern& pattern : patterns())
    {
      for (const ScalarType type : { ScalarType::Float32, ScalarType::Float64, ScalarType::Int64 })
      {
        expect_back(pattern.name, { type, 1 }, column(type, count, pattern, 5));
      }
    }
  }
}

TEST(Codec, frames_of_what_is_frequent_are_short)
{
  const auto bits = [](const ColumnShape& shape, const Bytes& values, double step = 0)
  {
    const Encoded column = expect_back("frequent", shape, values, step);
    return 8.0 * static_cast<double>(column.bytes()) /
      (static_cast<double>(values.size()) / static_cast<double>(shape.value_bytes()));
  };
  constexpr std::size_t kCount = 20000;
  EXPECT_LT(
    bits({ ScalarType::Int64, 1 }, column(ScalarType::Int64, kCount, patterns()[0], 1)), 0.1);
  EXPECT_LT(
    bits({ ScalarType::Int64, 1 }, column(ScalarType::Int64, kCount, patterns()[1], 1)), 0.1);
  EXPECT_LT(
    bits({ ScalarType::UInt8, 1 }, column(ScalarType::UInt8, kCount, patterns()[2], 1)), 2.8);
  EXPECT_LT(
    bits({ ScalarType::Float64, 1 }, column(ScalarType::Float64, kCount, patterns()[2], 1)), 2.8);
  EXPECT_LT(
    bits({ ScalarType::Float64, 1 }, column(ScalarType::Float64, kCount, patterns()[5], 1)), 56.5);

  // Ids below a million in any order, and float32 in float64.
  Random random(3);
  std::vector<std::int64_t> ids(kCount);
  std::vector<double> narrow(kCount);
  for (std::size_t i = 0; i != kCount; ++i)
  {
    ids[i] = (std::int64_t{ 1 } << 53) + static_cast<std::int64_t>(random() % 1000000);
    narrow[i] = static_cast<float>(std::normal_distribution<double>()(random));
  }
  EXPECT_LT(bits({ ScalarType::Int64, 1 }, bytes_of(ids)), 20.4);
  EXPECT_LT(bits({ ScalarType::Float64, 1 }, bytes_of(narrow)), 28);

  // A walk in space on a grid, in steps of a few grid points.
  std::vector<float> walk(3 * kCount);
  for (std::size_t i = 0; i != walk.size(); ++i)
  {
    walk[i] = (i < 3 ? 0 : walk[i - 3]) + std::normal_distribution<float>(0, 0.02F)(random);
  }
  EXPECT_EQ(bat::codec::snap({ ScalarType::Float32, 3 }, 0.01, walk.data(), kCount), 0u);
  EXPECT_LT(bits({ ScalarType::Float32, 3 }, bytes_of(walk), bat::codec::grid_step(0.01)), 8);
}

namespace
{
template <class T>
void expect_snapped(double bound, std::vector<T> values)
{
  const ColumnShape shape{ sizeof(T) == 4 ? ScalarType::Float32 : ScalarType::Float64, 1 };
  const std::vector<T> before = values;
  const std::size_t kept = bat::codec::snap(shape, bound, values.data(), values.size());
  std::size_t unchanged = 0;
  for (std::size_t i = 0; i != values.size(); ++i)
  {
    const bool same = std::memcmp(&values[i], &before[i], sizeof(T)) == 0;
    unchanged += same;
    // In long double, the distance between two doubles that differ by so little is exact.
    EXPECT_TRUE(same ||
      std::abs(static_cast<long double>(values[i]) - static_cast<long double>(before[i])) <= bound)
      << before[i] << " became " << values[i] << " with bound " << bound;
  }
  EXPECT_LE(kept, unchanged);
  std::vector<T> again = values;
  EXPECT_EQ(bat::codec::snap(shape, bound, again.data(), again.size()), kept);
  EXPECT_EQ(std::memcmp(again.data(), values.data(), values.size() * sizeof(T)), 0) << bound;
  for (const auto maximum :
    { bat::processor::Instructions::Portable, bat::processor::Instructions::Avx2 })
  {
    bat::processor::allow(maximum);
    std::vector<T> other = before;
    EXPECT_EQ(bat::codec::snap(shape, bound, other.data(), other.size()), kept);
    EXPECT_EQ(std::memcmp(other.data(), values.data(), values.size() * sizeof(T)), 0) << bound;
  }
  bat::processor::allow(bat::processor::Instructions::Avx512);
  expect_back("snapped", shape, bytes_of(values), bat::codec::grid_step(bound));
}

template <class T>
void expect_all_snapped()
{
  Random random(9);
  for (const double bound : { 1e-3, 0.25, 0.1, 1e-7, 3e-39, 1e-45, 1e-310, 1e30, 8e307 })
  {
    std::vector<T> values;
    for (const double odd : kUnusualValues)
    {
      values.push_back(static_cast<T>(odd));
    }
    for (int i = 0; i != 500; ++i)
    {
      const double near = bound *
        std::ldexp(std::normal_distribution<double>()(random), static_cast<int>(random() % 60));
      values.push_back(static_cast<T>(near));
      // Between two grid points, where rounding decides.
      const auto tie = static_cast<T>(bound * static_cast<double>(2 * (random() % 100000) + 1));
      values.push_back(tie);
      values.push_back(std::nextafter(tie, T{ 0 }));
      values.push_back(-std::nextafter(tie, std::numeric_limits<T>::max()));
      std::uint64_t bits = random();
      T any;
      std::memcpy(&any, &bits, sizeof(T));
      values.push_back(any);
    }
    expect_snapped(bound, values);
  }
}
}

TEST(Codec, snapped_numbers_are_within_the_bound_and_snap_no_further)
{
  expect_all_snapped<float>();
  expect_all_snapped<double>();
}

TEST(Codec, snaps_what_a_grid_can_hold)
{
  std::vector<double> values = { 0.26, -0.26, 0.24, -0.0, 1e14, 1e300, 7 };
  EXPECT_EQ(bat::codec::snap({ ScalarType::Float64, 1 }, 0.25, values.data(), values.size()), 1u);
  EXPECT_EQ(values, (std::vector<double>{ 0.5, -0.5, 0, 0, 1e14, 1e300, 7 }));
  EXPECT_FALSE(std::signbit(values[3]));
}

namespace
{
template <class F>
void expect_error(bat::ErrorCode code, const std::string& text, const F& f)
{
  try
  {
    f();
    ADD_FAILURE() << "no error: " << text;
  }
  catch (const bat::Error& error)
  {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}
}

TEST(Codec, refuses_what_it_cannot_do)
{
  const auto argument = bat::ErrorCode::InvalidArgument;
  double value = 1;
  expect_error(argument, "error bound",
    [&] {
      (void)bat::codec::snap({ ScalarType::Float64, 1 }, 0, &value, 1);
    });
  expect_error(argument, "error bound",
    [&] {
      (void)bat::codec::snap({ ScalarType::Float64, 1 }, -1, &value, 1);
    });
  expect_error(argument, "error bound",
    [&] {
      (void)bat::codec::snap({ ScalarType::Float64, 1 }, NAN, &value, 1);
    });
  expect_error(argument, "error bound",
    [&] {
      (void)bat::codec::snap({ ScalarType::Float64, 1 }, 1e308, &value, 1);
    });
  expect_error(argument, "int64",
    [&] {
      (void)bat::codec::snap({ ScalarType::Int64, 1 }, 1, &value, 1);
    });
  using bat::codec::Plan;
  expect_error(argument, "10 components",
    [] {
      Plan({ ScalarType::Float64, 10 }, {}, nullptr, 0, 1);
    });
  expect_error(argument, "scalar type 99",
    [] {
      Plan({ static_cast<ScalarType>(99), 1 }, {}, nullptr, 0, 1);
    });
  expect_error(argument, "16777217 values",
    [] {
      Plan({ ScalarType::Int8, 1 }, {}, nullptr, 0, 16777217);
    });
  expect_error(argument, "0 values", [] { Plan({ ScalarType::Int8, 1 }, {}, nullptr, 0, 0); });
  bat::codec::Encoder encoder;
  Bytes frame;
  expect_error(argument, "16777217 values",
    [&]
    {
      encoder.encode(
        Plan({ ScalarType::Int8, 1 }, {}, nullptr, 0, 1), frame.data(), 16777217, frame);
    });
}

TEST(Codec, any_damage_is_an_error_or_values)
{
  Random random(17);
  struct Case
  {
    ColumnShape shape;
    double step;
    Bytes values;
  };
  std::vector<Case> cases;
  for (const Pattern& pattern : patterns())
  {
    cases.push_back(
      { { ScalarType::Float32, 3 }, 0, column(ScalarType::Float32, 600, pattern, 1) });
    cases.push_back(
      { { ScalarType::Float64, 1 }, 0, column(ScalarType::Float64, 400, pattern, 1) });
    cases.push_back({ { ScalarType::Int16, 2 }, 0, column(ScalarType::Int16, 400, pattern, 1) });
    Bytes snapped = column(ScalarType::Float64, 600, pattern, 1);
    bat::codec::snap({ ScalarType::Float64, 2 }, 0.05, snapped.data(), 300);
    cases.push_back({ { ScalarType::Float64, 2 }, bat::codec::grid_step(0.05), snapped });
  }
  std::size_t refused = 0;
  const auto decode = [&](
                        const Case& one, const Bytes& model, const Bytes& frame, std::size_t count)
  {
    // Copies of exactly this size, so that a sanitizer detects reads past the end.
    const Encoded copy{ Bytes(model), { Bytes(frame) } };
    (void)allocations::take_largest();
    try
    {
      (void)decoded(one.shape, copy, count, std::max<std::size_t>(1, count));
    }
    catch (const bat::Error& error)
    {
      EXPECT_EQ(error.code(), bat::ErrorCode::Corrupt);
      ++refused;
    }
    EXPECT_LT(allocations::take_largest(), 200000u + 4 * count * one.shape.value_bytes());
  };
  const auto damaged = [&](Bytes bytes)
  {
    for (std::uint64_t pokes = 1 + random() % 3; pokes != 0 && !bytes.empty(); --pokes)
    {
      const std::size_t maximum =
        random() % 2 == 0 ? bytes.size() : std::min<std::size_t>(40, bytes.size());
      bytes[random() % maximum] = static_cast<std::byte>(random() % 3 == 0 ? 0xFF : random());
    }
    return bytes;
  };
  for (const Case& one : cases)
  {
    const std::size_t count = one.values.size() / one.shape.value_bytes();
    const Encoded column = encoded(one.shape, one.step, one.values);
    const Bytes& model = column.model;
    const Bytes& frame = column.frames[0];
    const auto beginning = [](const Bytes& bytes, std::size_t left)
    { return Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(left)); };
    for (std::size_t left = 0; left < frame.size(); left += 1 + left / 64)
    {
      decode(one, model, beginning(frame, left), count);
    }
    EXPECT_NE(refused, 0u); // none of them is complete
    for (std::size_t left = 1; left < model.size(); left += 1 + left / 64)
    {
      const std::size_t before = refused;
      decode(one, beginning(model, left), frame, count);
      EXPECT_NE(refused, before) << left << " bytes of a model of " << model.size();
    }
    for (int i = 0; i != 300; ++i)
    {
      decode(one, model, damaged(frame), count);
      decode(one, damaged(model), frame, count);
    }
    // Every bit at the end of a frame is significant or must be 0.
    for (unsigned bit = 0; bit != 8; ++bit)
    {
      Encoded other{ model, { frame } };
      other.frames[0].back() ^= static_cast<std::byte>(1u << bit);
      try
      {
        EXPECT_FALSE(decoded(one.shape, other, count, count) == one.values) << "bit " << bit;
      }
      catch (const bat::Error&)
      {
      }
    }
    decode(one, model, frame, 0);
    decode(one, model, frame, 1);
    decode(one, model, frame, count - 1);
    decode(one, model, frame, count + 1);
    decode(one, model, frame, 100 * count);
  }
}
