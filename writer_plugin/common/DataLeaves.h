// SPDX-License-Identifier: BSD-3-Clause
// The data sets and tables that make up an input.
#ifndef DataLeaves_h
#define DataLeaves_h

#include <cstddef>
#include <string>
#include <vector>

class vtkDataObject;

namespace bat_vtk
{
struct Leaf
{
  vtkDataObject* Data;
  std::string Name; ///< name of the nearest block at or above it that has one
  std::string Path; ///< path to its place; partitions of one data set share it
};

/// Finds the leaves of a composite data set, or the input itself.
std::vector<Leaf> FindLeaves(vtkDataObject* input);

/// "block 3 (name)"
std::string FormatLabel(std::size_t number, const std::string& name);
}

#endif
