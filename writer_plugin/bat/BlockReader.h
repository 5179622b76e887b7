// SPDX-License-Identifier: BSD-3-Clause
// Reads one data set with points, or one table, as particles: selects those that are not ghosts,
// and reads their positions and attributes.
#ifndef BlockReader_h
#define BlockReader_h

#include "ConvertedInput.h"

#include "bat/particles.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

class vtkAbstractArray;
class vtkCellData;
class vtkDataObject;
class vtkDataSetAttributes;
class vtkPointSet;
class vtkTable;

namespace bat_vtk
{
struct CellsAsPoints;

struct Run
{
  std::size_t First;
  std::size_t Count;
};

struct Block
{
  std::string Label;           ///< "block 3 (name)", or empty if the input is not composite
  std::set<std::string> Names; ///< names of attributes
  std::size_t Count = 0;
  bat::ArrayView Positions;
  std::vector<bat::AttributeView> Attributes;
  std::vector<Run> Kept; ///< particles that are not ghosts
  std::size_t KeptCount = 0;

  bool KeepsAll() const { return this->KeptCount == this->Count; }
  std::string Where() const { return this->Label.empty() ? "" : this->Label + ": "; }
};

class BlockReader
{
public:
  /// Remarks and memory are added to `result`.
  BlockReader(const InputOptions& options, ConvertedInput& result)
    : Options(options)
    , Result(result)
  {
  }

  /// Throws bat::Error{InvalidArgument}.
  Block Read(vtkDataObject* data, const std::string& label);

  /// Warns about the block with this label. A warning that other blocks share is reported once.
  void Warn(const std::string& label, const std::string& text);

private:
  void ReadPointSet(vtkPointSet* points, Block& block);
  void ReadTable(vtkTable* table, Block& block);
  void FindGhosts(
    vtkDataSetAttributes* data, vtkCellData* cells, const CellsAsPoints& map, Block& block);
  void ReadAttributes(vtkDataSetAttributes* data, const std::set<vtkAbstractArray*>& used,
    const CellsAsPoints* cells, Block& block);

  const InputOptions& Options;
  ConvertedInput& Result;
};
}

#endif
