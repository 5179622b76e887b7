// From the answer of a query to the arrays and cells of a vtkPolyData. Knows no pipeline.
#ifndef BATToVTK_h
#define BATToVTK_h

#include "bat/dataset.hpp"

#include "vtkSmartPointer.h"

class vtkCellArray;
class vtkDataArray;
class vtkDoubleArray;
class vtkPointData;
class vtkPoints;
class vtkStringArray;

namespace bat_vtk
{
/// The positions of the selected particles, in the type in which they are stored.
vtkSmartPointer<vtkPoints> ReadPoints(
  const bat::Dataset& file, const bat::DatasetSelection& selection);

/// Attribute `index` of the selected particles, in the VTK type that was written if it is known.
vtkSmartPointer<vtkDataArray> ReadAttribute(
  const bat::Dataset& file, std::size_t index, const bat::DatasetSelection& selection);

/// Adds an array and gives it back the role that it had when it was written: active scalars,
/// vectors, global ids and so on.
void AddArrayWithRole(vtkPointData* pointData, vtkDataArray* array, std::uint8_t role);

/// One cell per point: 0; 1; 2; ...
vtkSmartPointer<vtkCellArray> MakeVertices(std::uint64_t count);
/// One cell with all points. No cell if there are no points.
vtkSmartPointer<vtkCellArray> MakePolyVertex(std::uint64_t count);

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
}

#endif
