// SPDX-License-Identifier: BSD-3-Clause
#include "JoinedGrid.h"

#include "bat/error.hpp"
#include "bat/free_memory.hpp"
#include "bat/types.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace
{
using bat::idx::LogicalBox;

std::size_t Place(const LogicalBox& box, std::int64_t x, std::int64_t y, std::int64_t z)
{
  const std::int64_t nx = box.upper[0] - box.lower[0] + 1;
  const std::int64_t ny = box.upper[1] - box.lower[1] + 1;
  return static_cast<std::size_t>(
    x - box.lower[0] + nx * (y - box.lower[1] + ny * (z - box.lower[2])));
}

// Calls visit(x, y, z) for all samples of a box.
template <typename F>
void ForEach(const LogicalBox& box, const F& visit)
{
  for (std::int64_t z = box.lower[2]; z <= box.upper[2]; ++z)
  {
    for (std::int64_t y = box.lower[1]; y <= box.upper[1]; ++y)
    {
      for (std::int64_t x = box.lower[0]; x <= box.upper[0]; ++x)
      {
        visit(x, y, z);
      }
    }
  }
}

LogicalBox ComputeUnion(const std::vector<bat_vtk::GridPiece>& pieces)
{
  LogicalBox all = pieces.front().Box;
  for (const bat_vtk::GridPiece& piece : pieces)
  {
    for (std::size_t axis = 0; axis < 3; ++axis)
    {
      all.lower[axis] = std::min(all.lower[axis], piece.Box.lower[axis]);
      all.upper[axis] = std::max(all.upper[axis], piece.Box.upper[axis]);
    }
  }
  return all;
}

void RequireAll(const LogicalBox& box, const std::vector<char>& filled, const std::string& remedy)
{
  ForEach(box,
    [&](std::int64_t x, std::int64_t y, std::int64_t z)
    {
      if (filled[Place(box, x, y, z)] == 0)
      {
        throw bat::Error(bat::ErrorCode::InvalidArgument,
          "sample " + std::to_string(x) + " " + std::to_string(y) + " " + std::to_string(z) +
            " is missing from all blocks" + remedy);
      }
    });
}

// Refuses a box if its samples, with a mark for each, do not fit into memory.
void CheckMemory(const bat::idx::Grid& grid)
{
  double needed = 1.0; // one byte for the mark
  for (const bat::idx::FieldValues& field : grid.fields)
  {
    needed += static_cast<double>(bat::tuple_bytes(field.type, field.components));
  }
  for (const std::int64_t count : grid.dimensions)
  {
    needed *= static_cast<double>(count);
  }
  bat::check_memory(needed, "the samples of the joined box of all blocks");
}

// Copies the samples of all pieces. Returns a mark for each sample of the box, which is 0 if no
// piece has the sample.
std::vector<char> CopyPieces(
  const std::vector<bat_vtk::GridPiece>& pieces, const LogicalBox& box, bat_vtk::JoinedGrid& joined)
{
  const std::size_t samples = Place(box, box.upper[0], box.upper[1], box.upper[2]) + 1;
  std::vector<char> filled(samples, 0);
  std::vector<std::size_t> bytes;
  for (bat::idx::FieldValues& field : joined.Grid.fields)
  {
    bytes.push_back(bat::tuple_bytes(field.type, field.components));
    joined.Copies.push_back(std::make_shared<std::vector<char>>(samples * bytes.back()));
    field.values = joined.Copies.back()->data();
  }
  for (const bat_vtk::GridPiece& piece : pieces)
  {
    ForEach(piece.Box,
      [&](std::int64_t x, std::int64_t y, std::int64_t z)
      {
        const std::size_t from = Place(piece.Stored, x, y, z);
        const std::size_t to = Place(box, x, y, z);
        for (std::size_t field = 0; filled[to] == 0 && field < bytes.size(); ++field)
        {
          std::memcpy(joined.Copies[field]->data() + to * bytes[field],
            static_cast<const char*>(piece.Values[field]) + from * bytes[field], bytes[field]);
        }
        filled[to] = 1;
      });
  }
  return filled;
}
}

//------------------------------------------------------------------------------
bat_vtk::JoinedGrid bat_vtk::JoinPieces(const GridInput& input, Missing missing)
{
  if (input.Pieces.empty())
  {
    throw bat::Error(bat::ErrorCode::InvalidArgument, "no samples to write");
  }
  JoinedGrid joined;
  bat::idx::Grid& grid = joined.Grid;
  const LogicalBox box = ComputeUnion(input.Pieces);
  grid.first = box.lower;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    grid.dimensions[axis] = box.upper[axis] - box.lower[axis] + 1;
  }
  grid.origin = input.Origin;
  grid.spacing = input.Spacing;
  grid.fields = input.Fields;
  if (input.Pieces.size() == 1)
  {
    grid.stored = input.Pieces.front().Stored;
    for (std::size_t field = 0; field < grid.fields.size(); ++field)
    {
      grid.fields[field].values = input.Pieces.front().Values[field];
    }
    return joined;
  }
  CheckMemory(grid);
  const std::vector<char> filled = CopyPieces(input.Pieces, box, joined);
  if (missing != Missing::Zero)
  {
    RequireAll(box, filled,
      missing == Missing::Refuse ? "; use MissingSamples = Zeros to write it as zero" : "");
  }
  return joined;
}
