// SPDX-License-Identifier: BSD-3-Clause
// Converts particle traces to polygonal data.
#ifndef LinesToVTK_h
#define LinesToVTK_h

#include "bat/brick_source.hpp"
#include "bat/flow/trace.hpp"

#include <cstddef>
#include <vector>

class vtkPolyData;

namespace bat_vtk
{
/// The particles of all seeds: those of the first seed, then those of the next.
struct TracedParticles
{
  bat::flow::PathLines Lines;
  std::vector<double> Releases; ///< release times, the same for all seeds
  /// Release time of each particle, if seeds have their own times instead of those in Releases, in
  /// the same number. NaN: the particle is never released.
  std::vector<double> OwnReleases;
  std::vector<std::size_t> Seeds; ///< indexes into SeedData
  vtkPolyData* SeedData = nullptr;
  bool HasDestination = false;
  std::vector<bool> Kept; ///< whether each particle is shown
  /// Lines are cut at the borders of its cyclic axes, so that everything is inside its box; without
  /// it, lines stay as traced.
  const bat::BrickGrid* Cyclic = nullptr;

  [[nodiscard]] double ReleaseOf(std::size_t particle) const
  {
    return this->OwnReleases.empty() ? this->Releases[particle % this->Releases.size()]
                                     : this->OwnReleases[particle];
  }
};

/// A polyline for each particle with several points, a vertex for each with one.
void ShowPathLines(const TracedParticles& particles, vtkPolyData* output);

/// A vertex for each particle that exists at the time up to which lines were cut.
void ShowParticles(const TracedParticles& particles, double time, vtkPolyData* output);

/// A polyline, or a vertex, for each streak.
void ShowStreakLines(const TracedParticles& particles, double time, vtkPolyData* output);
}

#endif
