// SPDX-License-Identifier: BSD-3-Clause
// Distances between neighbours: even particles have one, also at surfaces, and others have theirs.
#include "LocalSpacing.h"

#include "vtkDoubleArray.h"
#include "vtkFloatArray.h"
#include "vtkNew.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

namespace
{
using Place = std::array<double, 3>;
using Places = std::vector<Place>;

constexpr int Count = 60000;
constexpr float Any = 100.0F;

class Random
{
public:
  double operator()() { return this->Uniform(this->Engine); }

private:
  std::mt19937 Engine{ 1 };
  std::uniform_real_distribution<double> Uniform{ 0.0, 1.0 };
};

Places Make(int count, const std::function<Place(Random&)>& place)
{
  Random random;
  Places places;
  places.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
  {
    places.push_back(place(random));
  }
  return places;
}

Place InCube(Random& random)
{
  return { random(), random(), random() };
}

// A third of them in a tenth of the cube along each axis.
Place Clumped(Random& random)
{
  const double size = random() < 1.0 / 3.0 ? 0.1 : 1.0;
  return { size * random(), size * random(), size * random() };
}

std::vector<float> FactorsOf(
  const bat_vtk::LocalSpacing& spacing, const Places& places, float largest = Any)
{
  vtkNew<vtkDoubleArray> positions;
  positions->SetNumberOfComponents(3);
  for (const Place& place : places)
  {
    positions->InsertNextTuple(place.data());
  }
  std::vector<float> factors(places.size());
  spacing.Factors(positions, largest, factors.data());
  return factors;
}

double ShareWithin(const std::vector<float>& factors, double lower, double upper)
{
  const auto inside = std::count_if(factors.begin(), factors.end(),
    [&](float factor) { return factor >= lower && factor <= upper; });
  return static_cast<double>(inside) / static_cast<double>(factors.size());
}
}

TEST(LocalSpacing, is_one_where_particles_are_even_and_at_their_surfaces)
{
  const auto isInBall = [](const Place& p)
  { return std::hypot(p[0] - 0.5, p[1] - 0.5, p[2] - 0.5) < 0.5; };
  Places ball = Make(Count, InCube);
  ball.erase(std::remove_if(ball.begin(), ball.end(), [&](const Place& p) { return !isInBall(p); }),
    ball.end());
  const Places slab = Make(Count, [](Random& r) { return Place{ r(), r(), 0.05 * r() }; });
  const Places plane = Make(Count, [](Random& r) { return Place{ r(), r(), 3.0 }; });
  const Places line = Make(Count, [](Random& r) { return Place{ 1.0, 7.0 * r(), 3.0 }; });
  for (const Places& places : { Make(Count, InCube), ball, slab, plane, line })
  {
    const bat_vtk::LocalSpacing spacing(places);
    const std::vector<float> factors = FactorsOf(spacing, places);
    EXPECT_GT(ShareWithin(factors, 0.9, 1.1), 0.85);
    EXPECT_GT(ShareWithin(factors, 0.7, 1.4), 0.99);
    EXPECT_LT(spacing.Spread(), 1.5);
  }
}

TEST(LocalSpacing, is_small_in_clumps_and_for_any_share_of_the_particles_the_same)
{
  const Places all = Make(4 * Count, Clumped);
  const bat_vtk::LocalSpacing spacing(all);
  EXPECT_GT(spacing.Spread(), 6.0); // 10
  // In the clump, and in the middle of the rest.
  const std::vector<float> of = FactorsOf(spacing, { { 0.05, 0.05, 0.05 }, { 0.6, 0.6, 0.6 } });
  EXPECT_NEAR(of[0], 0.25F, 0.01F); // an eighth would be too small to see
  EXPECT_NEAR(of[1], 1.0F, 0.1F);
  Places some;
  for (std::size_t i = 0; i < all.size(); i += 8)
  {
    some.push_back(all[i]);
  }
  const bat_vtk::LocalSpacing coarse(some);
  const std::vector<float> fine = FactorsOf(spacing, some);
  const std::vector<float> found = FactorsOf(coarse, some);
  int similar = 0;
  for (std::size_t i = 0; i < fine.size(); ++i)
  {
    similar += std::abs(std::log(found[i] / fine[i])) < 0.25F ? 1 : 0;
  }
  EXPECT_GT(similar, 0.9 * static_cast<double>(fine.size()));
  const std::vector<float> limited = FactorsOf(spacing, all, 1.0F);
  EXPECT_EQ(*std::max_element(limited.begin(), limited.end()), 1.0F);
}

TEST(LocalSpacing, has_no_steps)
{
  // Denser where x is small, over three orders of magnitude.
  const auto graded = [](Random& r) { return Place{ std::pow(10.0, -1.5 * r()), r(), r() }; };
  const bat_vtk::LocalSpacing spacing(Make(2 * Count, graded));
  Places path;
  for (int i = 0; i <= 5000; ++i)
  {
    path.push_back({ 0.04 + 0.95 * i / 5000.0, 0.31, 0.77 });
  }
  const std::vector<float> factors = FactorsOf(spacing, path);
  float step = 0.0F;
  for (std::size_t i = 1; i < factors.size(); ++i)
  {
    step = std::max(step, std::abs(std::log(factors[i] / factors[i - 1])));
  }
  EXPECT_LT(step, 0.2F);
  EXPECT_GT(factors.back() / factors.front(), 1.5F);
}

TEST(LocalSpacing, is_the_same_in_all_units_and_types)
{
  const Places places = Make(Count, Clumped);
  const std::vector<float> expected = FactorsOf(bat_vtk::LocalSpacing(places), places);
  for (const double scale : { 1e-20, 1e25 })
  {
    Places scaled = places;
    for (Place& place : scaled)
    {
      for (double& at : place)
      {
        at = scale * (at - 1.0);
      }
    }
    const std::vector<float> found = FactorsOf(bat_vtk::LocalSpacing(scaled), scaled);
    for (std::size_t i = 0; i < expected.size(); ++i)
    {
      ASSERT_NEAR(found[i], expected[i], 0.02 * expected[i]);
    }
  }
  vtkNew<vtkFloatArray> floats;
  floats->SetNumberOfComponents(3);
  floats->InsertNextTuple(places.front().data());
  float found = 0.0F;
  bat_vtk::LocalSpacing(places).Factors(floats, Any, &found);
  EXPECT_NEAR(found, expected.front(), 1e-3);
}

TEST(LocalSpacing, has_an_answer_for_few_particles_and_for_what_is_no_place)
{
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const Places places = { { 1.0, 2.0, 3.0 }, { 4.0, 2.0, 3.0 }, { 4.0, 4.0, 4.0 } };
  for (std::size_t count = 0; count <= places.size(); ++count)
  {
    Places sample(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(count));
    sample.push_back({ nan, 0.0, 0.0 });
    sample.push_back({ 0.0, infinite, -infinite });
    const bat_vtk::LocalSpacing spacing(sample);
    for (const float factor : FactorsOf(spacing, sample))
    {
      EXPECT_EQ(factor, 1.0F);
    }
    EXPECT_GE(spacing.Spread(), 1.0);
  }
  const bat_vtk::LocalSpacing same(Places(1000, places.front()));
  EXPECT_EQ(FactorsOf(same, places), std::vector<float>(3, 1.0F));
  // Many at one place, and others around.
  Places piled = Make(Count, InCube);
  piled.insert(piled.end(), Count, { 0.5, 0.5, 0.5 });
  for (const float factor : FactorsOf(bat_vtk::LocalSpacing(piled), piled))
  {
    ASSERT_TRUE(factor >= 0.25F && factor <= 4.0F);
  }
}
