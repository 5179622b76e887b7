// SPDX-License-Identifier: BSD-3-Clause
// Describes a file to the panel before its particles are read, as texts and numbers.
#ifndef FileDescription_h
#define FileDescription_h

#include "bat/dataset.hpp"

class vtkDoubleArray;
class vtkStringArray;

namespace bat_vtk
{
/// Two texts for each array: its name and the bytes of one particle. Positions come first, with an
/// empty name, then the attributes.
void DescribeBytes(const bat::Dataset& file, vtkStringArray* texts);

/// Target, minimum and maximum of everything for which a range can be set, three texts each. A
/// target is the name of an attribute (the value, or the magnitude of a vector), then
/// "name[component]" for the components of vectors. The numbers read back without loss.
void DescribeRanges(const bat::Dataset& file, vtkStringArray* texts);

/// Estimates the distributions of the values, for everything that DescribeRanges lists and in its
/// order: one histogram on a linear axis and one on a logarithmic axis, each of HistogramNumbers:
/// smallest value, largest value, 1 if all values are integers and else 0, the value at which a
/// logarithmic axis becomes linear (0 for a linear axis), then the particles in each bin. All are
/// zeros if no value is finite.
void DescribeHistograms(const bat::Dataset& file, vtkDoubleArray* numbers);

/// Integer attributes with one component and at most MaxListedValues values: five texts for each
/// value, ascending: the name, the value, and the minimum, likely and maximum number of particles
/// that have it.
void DescribeFewValues(const bat::Dataset& file, vtkStringArray* texts);

/// LocalSpacing::Spread of the particles in a file, from its coarsest tens of thousands; with many
/// leaf files, from some of these.
double ComputeSpacingSpread(const bat::Dataset& file);
}

#endif
