// SPDX-License-Identifier: BSD-3-Clause
// From what was loaded to a vtkPolyData. Knows no pipeline.
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

/// The particles as points and attributes.
void FillOutput(const bat::Dataset& file, const LoadedParticles& loaded,
  const std::vector<std::size_t>& attributes, vtkPolyData* output);

/// What the particles of a file are: all, or a share of more, as its metadata say.
struct Sample
{
  double Quality = 1.0;
  std::int64_t Count = 0; ///< of all particles
};
Sample SampleOf(const bat::Dataset& file);

/// How the arrays of a file are stored: "lossless", or "positions within 0.5; all else exact";
/// empty if none is compressed. Of the first leaf file that can be opened.
std::string FormatCompression(const bat::Dataset& file);

/// Where the particles come from: time as DATA_TIME_STEP; as field data timestep, quality and
/// quality_requested and particle_count, which are those of more than the file if that has a
/// sample, format_version, compression and provenance (its metadata, JSON), as far as the file has
/// them. All but timestep are there twice.
void AddProvenance(
  const bat::Dataset& file, double quality, double requested, vtkDataObject* output);
}

#endif
