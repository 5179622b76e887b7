// SPDX-License-Identifier: BSD-3-Clause
// What the panel knows of a file before its particles are read, as texts and numbers.
#ifndef FileDescription_h
#define FileDescription_h

#include "bat/dataset.hpp"

class vtkDoubleArray;
class vtkStringArray;

namespace bat_vtk
{
/// A name and the bytes of one particle, two texts each: positions, with an empty name, then the
/// attributes.
void DescribeBytes(const bat::Dataset& file, vtkStringArray* texts);

/// Target, minimum and maximum of everything that a range can be set for, three texts each. A
/// target is the name of an attribute (the value, or the magnitude of a vector), then
/// "name[component]" for the components of vectors. The numbers read back without loss.
void DescribeRanges(const bat::Dataset& file, vtkStringArray* texts);

/// Estimates the distributions of the values, for everything that DescribeRanges lists and in its
/// order: one histogram on a linear axis and one on a logarithmic axis, each of HistogramNumbers:
/// smallest value, largest value, 1 if all values are integers and else 0, where a logarithmic axis
/// turns into a straight one (0 for a linear axis), then the particles in each bin. All are zeros
/// if no value is finite.
void DescribeHistograms(const bat::Dataset& file, vtkDoubleArray* numbers);

/// Integer attributes of one component with at most MaxListedValues values: name, value, and how
/// many particles have it: at least, probably, at most; five texts for each value, ascending.
void DescribeFewValues(const bat::Dataset& file, vtkStringArray* texts);

/// LocalSpacing::Spread of the particles of a file, from its coarsest few ten thousand; of a file
/// of many leaf files, from some of these.
double ComputeSpacingSpread(const bat::Dataset& file);
}

#endif
