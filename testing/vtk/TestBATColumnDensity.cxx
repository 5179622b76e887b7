// SPDX-License-Identifier: BSD-3-Clause
// How bright a glow is to be follows from where particles are, not from how many are there.
#include "ColumnDensity.h"

#include "vtkFloatArray.h"
#include "vtkNew.h"

#include <gtest/gtest.h>

#include <random>

namespace
{
constexpr int Count = 60000;

// The bounds are those of the cube from 0 to `scale`.
bat_vtk::ColumnDensity::Range RangeOf(double scale, int particles, int stride, double each)
{
  std::mt19937 random(1);
  std::uniform_real_distribution<double> place(0.0, 1.0);
  vtkNew<vtkFloatArray> positions;
  positions->SetNumberOfComponents(3);
  for (int i = 0; i < particles; ++i)
  {
    // Denser where x is small.
    const double x = place(random);
    positions->InsertNextTuple3(scale * x * x * x, scale * place(random), scale * place(random));
  }
  const double bounds[6] = { 0.0, scale, 0.0, scale, 0.0, scale };
  bat_vtk::ColumnDensity columns(bounds);
  columns.Add(positions, stride, each);
  return columns.Find();
}
}

TEST(ColumnDensity, counts_those_that_a_particle_stands_for)
{
  const auto all = RangeOf(1.0, Count, 1, 1.0);
  const auto sample = RangeOf(1.0, Count, 1, 3.0);
  EXPECT_EQ(all.Count, Count);
  EXPECT_EQ(sample.Count, 3.0 * Count);
  EXPECT_EQ(sample.Dark, all.Dark);
  EXPECT_EQ(sample.Bright, all.Bright);
  EXPECT_LT(all.Dark, all.Bright);
}

TEST(ColumnDensity, is_about_the_same_for_a_sample)
{
  const auto all = RangeOf(1.0, 10 * Count, 1, 1.0);
  for (const auto& some : { RangeOf(1.0, 10 * Count, 7, 1.0), RangeOf(1.0, 3 * Count, 1, 1.0) })
  {
    EXPECT_NEAR(some.Dark / all.Dark, 1.0, 0.25);     // less than a twentieth of a logarithm
    EXPECT_NEAR(some.Bright / all.Bright, 1.0, 0.25); // less than a twentieth of a logarithm
  }
  EXPECT_EQ(RangeOf(1.0, 10 * Count, 7, 1.0).Count, 10 * Count);
}

TEST(ColumnDensity, is_the_same_in_all_units)
{
  const auto unit = RangeOf(1.0, Count, 1, 1.0);
  for (const double scale : { 1e-20, 1e30 })
  {
    const auto scaled = RangeOf(scale, Count, 1, 1.0);
    EXPECT_EQ(scaled.Length, scale);
    EXPECT_NEAR(scaled.Dark / unit.Dark, 1.0, 0.01);
    EXPECT_NEAR(scaled.Bright / unit.Bright, 1.0, 0.01);
  }
}

TEST(ColumnDensity, has_an_answer_for_few_particles)
{
  for (const int particles : { 0, 1 })
  {
    for (const double extent : { 0.0, 1.0 })
    {
      const double bounds[6] = { 0.0, extent, 0.0, 0.0, 0.0, 0.0 };
      bat_vtk::ColumnDensity columns(bounds);
      vtkNew<vtkFloatArray> positions;
      positions->SetNumberOfComponents(3);
      positions->SetNumberOfTuples(particles);
      positions->FillValue(0.0f);
      columns.Add(positions, 1, 1.0);
      const auto range = columns.Find();
      EXPECT_GT(range.Dark, 0.0);
      EXPECT_GT(range.Bright, range.Dark);
      EXPECT_LT(range.Bright, 1e30);
      EXPECT_GT(range.Length, 0.0);
      EXPECT_EQ(range.Count, particles);
    }
  }
}
