// SPDX-License-Identifier: BSD-3-Clause
#include "VTKToBAT.h"

#include "BlockReader.h"
#include "InputCells.h"
#include "InputFacts.h"
#include "InputLeaves.h"
#include "JoinedBlocks.h"
#include "Texts.h"

#include "vtkCompositeDataSet.h"
#include "vtkPointSet.h"

#include <algorithm>
#include <set>

namespace
{
using bat_vtk::Block;
using bat_vtk::FormatLabel;
using bat_vtk::Grids;
using bat_vtk::Kind;
using bat_vtk::KindOf;
using bat_vtk::Leaf;

// Reads the leaves that are written.
std::vector<Block> ReadBlocks(bool composite, const std::vector<Leaf>& leaves,
  const bat_vtk::InputOptions& options, bat_vtk::ConvertedInput& result)
{
  bat_vtk::BlockReader reader(options, result);
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < leaves.size(); ++i)
  {
    if (!composite)
    {
      blocks.push_back(reader.Read(leaves[i].Data, ""));
      continue;
    }
    const std::string label = FormatLabel(i, leaves[i].Name);
    const Kind kind = KindOf(leaves[i].Data);
    if (kind == Kind::Other)
    {
      reader.Warn(label,
        std::string("is a ") + leaves[i].Data->GetClassName() +
          ", which is not written; particles are points (vtkPointSet) or rows of a table "
          "(vtkTable)");
    }
    else if (kind == Kind::Grid && options.OfGrids == Grids::LeaveOut)
    {
      reader.Warn(label,
        "is a grid, which is not written alongside particles: " +
          bat_vtk::Join(bat_vtk::CellsBesideVertices(vtkPointSet::SafeDownCast(leaves[i].Data))));
    }
    else
    {
      blocks.push_back(reader.Read(leaves[i].Data, label));
    }
  }
  return blocks;
}
}

//------------------------------------------------------------------------------
bat_vtk::Grids bat_vtk::DecideOnGrids(vtkDataObject* input, const Union& all)
{
  static const char* const particles = "particles";
  static const char* const nothing = "nothing";
  static const char* const grid = "grid";
  std::set<std::string> kinds;
  std::vector<std::string> emptyPlaces;
  std::vector<std::string> gridPlaces;
  for (const Leaf& leaf : FindLeaves(input))
  {
    switch (KindOf(leaf.Data))
    {
      case Kind::Particles:
        kinds.insert(particles);
        break;
      case Kind::Nothing:
        kinds.insert(nothing);
        emptyPlaces.push_back(leaf.Path);
        break;
      case Kind::Grid:
        kinds.insert(grid);
        gridPlaces.push_back(leaf.Path);
        break;
      case Kind::Other:
        kinds.insert(leaf.Data->GetClassName());
        break;
    }
  }
  const std::vector<std::string> everywhere = all({ kinds.begin(), kinds.end() });
  const auto has = [&](const char* kind)
  { return std::find(everywhere.begin(), everywhere.end(), kind) != everywhere.end(); };
  if (has(particles))
  {
    return Grids::LeaveOut;
  }
  if (!has(nothing) && !has(grid) && !everywhere.empty())
  {
    Refuse(CannotBeWritten(everywhere.front()));
  }
  if (!has(nothing) || !has(grid))
  {
    return Grids::WritePoints;
  }
  // An empty piece belongs to a grid if another rank has a non-empty piece at this place.
  const std::vector<std::string> grids = all(gridPlaces);
  const std::vector<std::string> empties = all(emptyPlaces);
  const bool allGrids = std::all_of(empties.begin(), empties.end(),
    [&](const std::string& place)
    { return std::find(grids.begin(), grids.end(), place) != grids.end(); });
  return allGrids ? Grids::WritePoints : Grids::LeaveOut;
}

//------------------------------------------------------------------------------
bat_vtk::ConvertedInput bat_vtk::ConvertInput(vtkDataObject* input, const InputOptions& options)
{
  ConvertedInput result;
  result.Particles.positions = bat::ArrayView::packed(bat::ScalarType::Float32, 3, nullptr);
  const std::vector<Leaf> leaves = FindLeaves(input);
  ReadFacts(input, leaves, result);
  const bool composite = vtkCompositeDataSet::SafeDownCast(input) != nullptr;
  JoinBlocks(ReadBlocks(composite, leaves, options, result), result);
  return result;
}
