// From the answer of a query to the arrays and cells of a vtkPolyData. Knows no pipeline.
#ifndef BATToVTK_h
#define BATToVTK_h

#include "bat/dataset.hpp"

#include "vtkSmartPointer.h"

#include <cstdint>
#include <vector>

class vtkDataArray;
class vtkDataObject;
class vtkDoubleArray;
class vtkPolyData;
class vtkStringArray;

namespace bat_vtk
{
class LoadedParticles;

/// An array for positions, in the type in which they are stored, without any yet.
vtkSmartPointer<vtkDataArray> MakePositions(const bat::Dataset& file);

/// An array for an attribute, in the VTK type that was written if it is known, without values yet.
vtkSmartPointer<vtkDataArray> MakeAttribute(const bat::Attribute& attribute);

/// Whether an array has bits where the file has bytes.
bool IsBits(vtkDataArray* array);
/// The values of an array that has bits, from as many bytes. Does nothing to others.
void PackBits(const std::vector<unsigned char>& values, vtkDataArray* array);

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

/// Where the particles come from: time as DATA_TIME_STEP; as field data timestep, quality and
/// quality_requested and particle_count, which are those of more than the file if that has a sample,
/// format_version and provenance (its metadata, JSON), as far as the file has them.
void AddProvenance(
  const bat::Dataset& file, double quality, double requested, vtkDataObject* output);

/// A name and the bytes of one particle, two texts each: positions, with an empty name, then the
/// attributes.
void DescribeBytes(const bat::Dataset& file, vtkStringArray* texts);

/// Target, minimum and maximum of everything that a range can be asked of, three texts each. A
/// target is the name of an attribute (the value, or the magnitude of a vector), then
/// "name[component]" for the components of vectors. The numbers read back without loss.
void DescribeRanges(const bat::Dataset& file, vtkStringArray* texts);

/// Bins of a histogram, and numbers of two of them: smallest value, largest value, 1 if all values
/// are integers and else 0, where a logarithmic axis turns into a straight one (0 for a linear
/// axis), then the particles in each bin.
constexpr int HistogramBins = 64;
constexpr int HistogramNumbers = 2 * (4 + HistogramBins);

/// Estimates how the values are spread, for everything that DescribeRanges lists and in its order:
/// one histogram on a linear axis and one on a logarithmic axis, HistogramNumbers in all. They are
/// zeros where there is no finite value.
void DescribeHistograms(const bat::Dataset& file, vtkDoubleArray* numbers);

/// Integer attributes of one component with at most MostFewValues values: name, value, and how many
/// particles have it: at least, probably, at most; five texts for each value, ascending.
constexpr std::size_t MostFewValues = 12;
void DescribeFewValues(const bat::Dataset& file, vtkStringArray* texts);
}

#endif
