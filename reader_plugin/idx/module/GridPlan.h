// SPDX-License-Identifier: BSD-3-Clause
// Determines what an update loads from the settings of a grid reader. Independent of the pipeline.
#ifndef GridPlan_h
#define GridPlan_h

#include "Extents.h"
#include "LevelRefining.h"

#include "bat/idx/dataset.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bat_vtk
{
struct GridSettings
{
  int Resolution = 0;            ///< maximum level
  std::uint64_t BudgetBytes = 0; ///< for all processes together; 0 means no limit
  std::uint64_t FirstBytes = 0;  ///< budget of a first step
  bool Refine = false;
  std::optional<std::array<double, 6>> Box; ///< x min, x max, y min, ...
  std::vector<std::size_t> Fields;
};

/// The part of a file that an update loads, determined from its text, so that all processes agree.
struct GridPlan
{
  GridQuestion Question;
  int Level = 0;
  int Target = 0;    ///< the level that refining leads to
  int Requested = 0; ///< level without a budget
  Extent Whole = EmptyExtent;
  std::array<double, 3> Origin{};
  std::array<double, 3> Spacing{ { 1, 1, 1 } };
  std::string Warning; ///< unexpected properties as text, or empty
};

/// Throws bat::Error{InvalidArgument} for an invalid box, and for numbers that VTK cannot
/// represent.
GridPlan MakePlan(const bat::idx::Dataset& file, std::uint64_t generation,
  const GridSettings& settings, const LevelRefining& refining);

/// Bounds of all samples: x min, x max, y min, ...
std::array<double, 6> ComputeBounds(const bat::idx::Dataset& file);
}

#endif
