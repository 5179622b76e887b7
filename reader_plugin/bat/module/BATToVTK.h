// SPDX-License-Identifier: BSD-3-Clause
// Converts loaded data to a vtkPolyData. Independent of the pipeline.
#ifndef BATToVTK_h
#define BATToVTK_h

#include "bat/dataset.hpp"

#include <cstdint>
#include <string>
#include <vector>

class vtkDataObject;
class vtkPolyData;

namespace bat_vtk
{
class LoadedParticles;

/// Returns the particles as points and attributes.
void FillOutput(const bat::Dataset& file, const LoadedParticles& loaded,
  const std::vector<std::size_t>& attributes, vtkPolyData* output);

/// Describes the particles of a file: all of the original, or a share of it, according to its
/// metadata.
struct Sample
{
  double Quality = 1.0;
  std::int64_t Count = 0; ///< number of all particles
};
Sample SampleOf(const bat::Dataset& file);

/// Describes how the arrays of a file are stored: "lossless", or "positions within 0.5; all else
/// exact"; empty if none is compressed. Reads the first leaf file that can be opened.
std::string FormatCompression(const bat::Dataset& file);

/// Adds the origin of the particles: time as DATA_TIME_STEP; as field data timestep, quality,
/// quality_requested and particle_count (those of the original if the file has a sample),
/// format_version, compression and provenance (its metadata, JSON), as far as the file has them.
/// All but timestep are stored twice.
void AddProvenance(
  const bat::Dataset& file, double quality, double requested, vtkDataObject* output);
}

#endif
