// SPDX-License-Identifier: BSD-3-Clause
// Estimated histograms against exact ones.

#include "bat/bat.hpp"
#include "support/clouds.hpp"
#include "support/dataset_files.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace
{
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kBins = 64;
// The index of a file of this size has 128 bins, whose edges are quantiles of a sample.
constexpr std::uint64_t kMany = 300000;
constexpr std::uint64_t kFew = 20000;
constexpr double kBinShare = 1.0 / 128 + 0.005;
// The information in 8192 values.
constexpr double kSampleError = 0.02;

clouds::Cloud places(std::uint64_t n)
{
  clouds::Random random(11);
  clouds::Cloud cloud;
  cloud.set_positions(clouds::uniform_positions<float>(n, random));
  return cloud;
}

/// Where bin `k` begins.
double edge(const bat::Histogram& h, std::size_t k)
{
  const double t = static_cast<double>(k) / static_cast<double>(h.counts.size());
  double a = bat::to_double(h.lower);
  double b = bat::to_double(h.upper);
  if (h.straight_below == 0)
  {
    return a * (1 - t) + b * t;
  }
  a = std::asinh(a / h.straight_below);
  b = std::asinh(b / h.straight_below);
  return std::sinh(a * (1 - t) + b * t) * h.straight_below;
}

double sum(const std::vector<double>& counts)
{
  return std::accumulate(counts.begin(), counts.end(), 0.0);
}

/// The share below each edge, compared with that of the values themselves.
template <class T>
void expect_close(const bat::Histogram& h, const std::vector<T>& values, double error)
{
  std::vector<double> finite;
  for (const T value : values)
  {
    if (std::isfinite(static_cast<double>(value)))
    {
      finite.push_back(static_cast<double>(value));
    }
  }
  std::sort(finite.begin(), finite.end());
  const auto n = static_cast<double>(finite.size());
  ASSERT_EQ(h.counts.size(), kBins);
  EXPECT_NEAR(sum(h.counts), n, error * n);
  double below = 0;
  for (std::size_t k = 1; k != kBins; ++k)
  {
    ASSERT_GE(h.counts[k - 1], 0.0);
    below += h.counts[k - 1];
    // Values on the edge may count on either side of it.
    const double at = edge(h, k);
    const double tiny = 1e-9 * std::max(std::fabs(at), edge(h, 1) - edge(h, 0));
    const auto first = std::lower_bound(finite.begin(), finite.end(), at - tiny) - finite.begin();
    const auto last = std::upper_bound(finite.begin(), finite.end(), at + tiny) - finite.begin();
    ASSERT_GE(below / n, static_cast<double>(first) / n - error) << "edge " << k << " at " << at;
    ASSERT_LE(below / n, static_cast<double>(last) / n + error) << "edge " << k << " at " << at;
  }
}

class Histogram : public testing::Test
{
protected:
  bat::Dataset open(const clouds::Cloud& cloud) const
  {
    bat::write_file(this->path, cloud.view());
    return bat::Dataset::open(this->path);
  }

  /// On both axes.
  void check(const std::vector<double>& values, double error) const
  {
    clouds::Cloud cloud = places(values.size());
    cloud.add("value", bat::ScalarType::Float64, values);
    const bat::Dataset dataset = this->open(cloud);
    const bat::Histogram linear = dataset.histogram(0, 0, kBins);
    EXPECT_EQ(linear.straight_below, 0.0);
    expect_close(linear, values, error);
    const bat::Histogram curved = dataset.histogram(0, 0, kBins, bat::HistogramAxis::Logarithmic);
    EXPECT_GT(curved.straight_below, 0.0);
    EXPECT_EQ(curved.lower, linear.lower);
    EXPECT_EQ(curved.upper, linear.upper);
    expect_close(curved, values, error);
  }

  template <class F>
  static std::vector<double> make(std::uint64_t n, F&& f)
  {
    clouds::Random random(5);
    std::vector<double> values(n);
    for (double& value : values)
    {
      value = f(random);
    }
    return values;
  }

  TempDir folder;
  std::filesystem::path path = folder / "h.bat";
};
}

TEST_F(Histogram, of_spread_and_heavy_tailed_values_is_close)
{
  const auto tail = [](clouds::Random& r) { return std::pow(1 - clouds::unit(r), -2.0); };
  for (const std::uint64_t n : { kFew, kMany })
  {
    const double error = n == kMany ? kBinShare : kSampleError;
    this->check(make(n, clouds::unit), error);
    this->check(make(n, clouds::normal), error);
    this->check(make(n, tail), error);
    this->check(make(n, [&](clouds::Random& r) { return r() % 2 ? tail(r) : -tail(r); }), error);
  }
}

TEST_F(Histogram, of_values_that_repeat_has_their_shares)
{
  // The index has an edge for each of these and cannot determine how many particles each has.
  for (const std::uint64_t n : { kFew, kMany })
  {
    this->check(make(n, [](clouds::Random& r) { return r() % 50 == 0 ? 3.0 : 1.0; }), kSampleError);
    this->check(
      make(n, [](clouds::Random& r) { return clouds::unit(r) < 0.9 ? 0.0 : clouds::unit(r); }),
      kSampleError);
  }
  // As many values as bins, with very different shares.
  const auto steps = [](clouds::Random& r)
  { return 1000.0 * std::floor(128 * std::pow(clouds::unit(r), 4)); };
  this->check(make(kMany, steps), kSampleError);
}

TEST_F(Histogram, counts_all_of_a_few_particles)
{
  this->check(make(1000, clouds::normal), 1e-9);
  this->check(std::vector<double>{ 1.5 }, 1e-9);
}

TEST_F(Histogram, of_a_constant_is_one_bin)
{
  for (const double constant : { 0.0, -7.0, 1e300 })
  {
    clouds::Cloud cloud = places(kFew);
    cloud.add("value", bat::ScalarType::Float64, std::vector<double>(kFew, constant));
    const bat::Dataset dataset = this->open(cloud);
    for (const auto axis : { bat::HistogramAxis::Linear, bat::HistogramAxis::Logarithmic })
    {
      const bat::Histogram h = dataset.histogram(0, 0, kBins, axis);
      EXPECT_EQ(bat::to_double(h.lower), constant);
      EXPECT_EQ(bat::to_double(h.upper), constant);
      ASSERT_EQ(h.counts.size(), kBins);
      EXPECT_NEAR(h.counts[0], static_cast<double>(kFew), 1e-6);
      EXPECT_NEAR(sum(h.counts), static_cast<double>(kFew), 1e-6);
    }
  }
}

TEST_F(Histogram, of_integers_does_not_round_their_ends)
{
  // Doubles are 1024 apart here.
  const std::int64_t base = std::numeric_limits<std::int64_t>::max() - 100000;
  for (const std::uint64_t n : { kFew, kMany })
  {
    clouds::Random random(2);
    clouds::Cloud cloud = places(n);
    std::vector<std::int64_t> ids(n);
    std::vector<std::uint64_t> wide(n);
    for (std::uint64_t i = 0; i != n; ++i)
    {
      ids[i] = base + static_cast<std::int64_t>(random() % 640); // ten in each bin
      wide[i] = random();
    }
    cloud.add("id", bat::ScalarType::Int64, ids);
    cloud.add("wide", bat::ScalarType::UInt64, wide);
    const bat::Dataset dataset = this->open(cloud);
    const bat::Histogram h = dataset.histogram(0, 0, kBins);
    EXPECT_EQ(h.lower, bat::Number(base));
    EXPECT_EQ(h.upper, bat::Number(base + 639));
    for (const double count : h.counts)
    {
      EXPECT_NEAR(count / static_cast<double>(n), 1.0 / kBins, 0.01);
    }
    expect_close(dataset.histogram(1, 0, kBins), wide, n == kMany ? kBinShare : kSampleError);
  }
}

TEST_F(Histogram, has_finite_ends_and_counts_what_is_between_them)
{
  const auto odd = [](clouds::Random& r)
  {
    const double values[] = { kNaN, kInfinity, -kInfinity };
    return r() % 5 == 0 ? values[r() % 3] : clouds::unit(r);
  };
  for (const std::uint64_t n : { kFew, kMany })
  {
    this->check(make(n, odd), kSampleError);
    this->check(
      make(n, [](clouds::Random& r) { return r() % 9 ? clouds::unit(r) : kNaN; }), kSampleError);
  }
  constexpr double maximum = std::numeric_limits<double>::max();
  this->check(
    make(kMany, [](clouds::Random& r) { return (2 * clouds::unit(r) - 1) * maximum; }), kBinShare);
}

TEST_F(Histogram, of_nothing_is_empty)
{
  clouds::Cloud cloud = places(kFew);
  cloud.add("nan", bat::ScalarType::Float64, std::vector<double>(kFew, kNaN));
  cloud.add("inf", bat::ScalarType::Float64, std::vector<double>(kFew, kInfinity));
  const bat::Dataset dataset = this->open(cloud);
  EXPECT_TRUE(dataset.histogram(0, 0, kBins).counts.empty());
  EXPECT_TRUE(dataset.histogram(1, 0, kBins).counts.empty());

  clouds::Cloud none = places(0);
  none.add("value", bat::ScalarType::Float64, std::vector<double>());
  none.add("id", bat::ScalarType::Int64, std::vector<std::int64_t>());
  const bat::Dataset empty = this->open(none);
  EXPECT_TRUE(empty.histogram(0, 0, kBins).counts.empty());
  EXPECT_TRUE(empty.histogram(1, 0, kBins, bat::HistogramAxis::Logarithmic).counts.empty());
}

TEST_F(Histogram, knows_components_and_magnitudes)
{
  clouds::Cloud cloud = places(kFew);
  const std::vector<double> flat = make(3 * kFew, clouds::normal);
  cloud.add("velocity", bat::ScalarType::Float64, flat, 3);
  const bat::Dataset dataset = this->open(cloud);
  std::vector<double> y;
  std::vector<double> speed;
  for (std::size_t i = 0; i != flat.size(); i += 3)
  {
    y.push_back(flat[i + 1]);
    speed.push_back(std::hypot(flat[i], flat[i + 1], flat[i + 2]));
  }
  expect_close(dataset.histogram(0, 1, kBins), y, kSampleError);
  expect_close(dataset.histogram(0, -1, kBins), speed, kSampleError);
}

TEST_F(Histogram, reads_little_whatever_the_size)
{
  clouds::Cloud cloud = places(kMany);
  cloud.add("value", bat::ScalarType::Float64, make(kMany, clouds::unit));
  cloud.add("kind", bat::ScalarType::Float64,
    make(kMany, [](clouds::Random& r) { return double(r() % 3); }));
  const bat::Dataset dataset = this->open(cloud);
  for (const std::size_t attribute : { 0U, 1U })
  {
    const std::uint64_t before = dataset.bytes_read();
    (void)dataset.histogram(attribute, 0, kBins);
    EXPECT_LT(dataset.bytes_read() - before, 8 * 8192 + 3 * 4096U);
  }
}

TEST_F(Histogram, of_leaf_files_adds_them_up_by_their_size)
{
  clouds::Cloud cloud = places(kFew);
  std::vector<double> x(kFew);
  for (std::size_t i = 0; i != kFew; ++i)
  {
    float at = 0;
    std::memcpy(&at, &cloud.positions[12 * i], sizeof(at));
    x[i] = std::sqrt(static_cast<double>(at)); // the leaf files have different values
  }
  cloud.add("value", bat::ScalarType::Float64, x);
  const auto write = [&](std::size_t leaves)
  {
    const std::vector<clouds::Cloud> parts = dataset_files::slabs(cloud, leaves);
    std::vector<bat::ParticleView> views;
    for (const clouds::Cloud& part : parts)
    {
      views.push_back(part.view());
    }
    dataset_files::write(this->path, views);
  };
  write(5);
  expect_close(bat::Dataset::open(this->path).histogram(0, 0, kBins), x, kSampleError);

  // 64 leaf files represent all.
  write(100);
  std::atomic<int> opened{ 0 };
  bat::OpenOptions options;
  options.on_read = [&](std::uint64_t offset, std::uint64_t) { opened += offset == 0 ? 1 : 0; };
  const bat::Dataset many = bat::Dataset::open(this->path, options);
  const int of_top = opened.exchange(0);
  const bat::Histogram h = many.histogram(0, 0, kBins);
  EXPECT_LE(opened, 64 * of_top);
  EXPECT_GE(opened, 64);
  expect_close(h, x, 0.05);
}

TEST_F(Histogram, refuses_what_there_is_not)
{
  clouds::Cloud cloud = places(10);
  cloud.add("value", bat::ScalarType::Float64, std::vector<double>(10, 1.0));
  const bat::Dataset dataset = this->open(cloud);
  const auto error = [&](std::size_t attribute, int component, std::size_t bins)
  {
    try
    {
      (void)dataset.histogram(attribute, component, bins);
    }
    catch (const bat::Error& e)
    {
      EXPECT_EQ(e.code(), bat::ErrorCode::InvalidArgument);
      EXPECT_NE(std::string(e.what()).find(this->path.string()), std::string::npos);
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(
    error(1, 0, 8).find("attribute number 1 is out of range; the file has 1"), std::string::npos);
  EXPECT_NE(
    error(0, -1, 8).find("component -1 of attribute 'value' is out of range"), std::string::npos);
  EXPECT_NE(
    error(0, 1, 8).find("component 1 of attribute 'value' is out of range"), std::string::npos);
  EXPECT_NE(error(0, 0, 0).find("found 0"), std::string::npos);
}
