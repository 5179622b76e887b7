// SPDX-License-Identifier: BSD-3-Clause
// Converts VTK images to pieces of one grid.
#ifndef GridInput_h
#define GridInput_h

#include "DataLeaves.h"

#include "bat/idx/write.hpp"

#include "vtkSmartPointer.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

class vtkDataArray;
class vtkDataObject;
class vtkImageData;

namespace bat_vtk
{
enum class Samples
{
  Automatic, ///< points, if any process has point data, or else cells
  Points,
  Cells ///< at their centres
};

enum class Missing
{
  Refuse, ///< samples that are hidden, or that no piece has, are an error
  Zero,   ///< they are written as zeros
  Never   ///< they are an error without a remedy
};

struct ImagePiece
{
  vtkImageData* Image;
  std::string Label; ///< "block 3 (name)", or empty
};

/// Returns the input's images that have samples. Throws bat::Error{InvalidArgument} if anything
/// else has points or rows.
std::vector<ImagePiece> CollectImages(vtkDataObject* input, const std::vector<Leaf>& leaves);

/// The facts that a process knows about the grid, as numbers that can be sent in messages.
struct GridFacts
{
  static constexpr std::size_t Count = 26;
  std::array<double, Count> Numbers{};
};

GridFacts CollectFacts(
  vtkDataObject* input, const std::vector<Leaf>& leaves, const std::vector<ImagePiece>& images);

/// The facts that all processes know together.
struct CommonGrid
{
  bool HasSamples = false;
  bool UsesExtents = false; ///< logical coordinates are those of the extents
  bool Cells = false;
  std::array<double, 3> Origin{}; ///< position of the point with logical coordinates 0
  std::array<double, 3> Spacing{ { 1, 1, 1 } };
  std::array<bool, 3> Flat{}; ///< one layer of points along the axis
  std::optional<std::int64_t> Step;
  std::optional<double> Time;
};

/// Combines the facts of all processes, in order.
CommonGrid FindCommonGrid(const std::vector<GridFacts>& all, Samples samples);

/// A box of samples, numbered from 0, and the arrays of its fields.
struct GridPiece
{
  bat::idx::LogicalBox Box;
  bat::idx::LogicalBox Stored; ///< box of the arrays: Box, or larger
  std::vector<const void*> Values;
};

struct GridInput
{
  std::array<double, 3> Origin{};
  std::array<double, 3> Spacing{ { 1, 1, 1 } };
  std::vector<bat::idx::FieldValues> Fields; ///< without values
  std::vector<GridPiece> Pieces;
  std::vector<vtkSmartPointer<vtkDataArray>> Arrays;      ///< the pieces use their memory
  std::vector<std::shared_ptr<std::vector<char>>> Copies; ///< or this
  std::vector<std::string> Warnings;
};

/// Returns a remark if the IDX reader has loaded less than requested.
std::optional<std::string> RemarkOnLevel(const std::vector<Leaf>& leaves);

/// Throws bat::Error{InvalidArgument} if something cannot be represented, naming array and block.
GridInput ConvertGrid(
  const std::vector<ImagePiece>& images, const CommonGrid& common, Missing missing);
}

#endif
