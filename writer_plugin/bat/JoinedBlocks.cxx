// SPDX-License-Identifier: BSD-3-Clause
#include "JoinedBlocks.h"

#include "ArrayViews.h"
#include "Texts.h"

#include <algorithm>
#include <string>

namespace
{
using bat::ArrayView;
using bat::AttributeView;
using bat::ScalarType;
using bat_vtk::Allocate;
using bat_vtk::Block;
using bat_vtk::ConvertComponent;
using bat_vtk::PackTuples;
using bat_vtk::Quote;
using bat_vtk::Refuse;
using bat_vtk::Run;
using bat_vtk::Storage;

const AttributeView* FindAttribute(const Block& block, const std::string& name)
{
  for (const AttributeView& attribute : block.Attributes)
  {
    if (attribute.name == name)
    {
      return &attribute;
    }
  }
  return nullptr;
}

std::string Describe(const ArrayView& values)
{
  std::string text(bat::name_of(values.type));
  return values.components == 1 ? text : text + " x " + std::to_string(values.components);
}

void CheckSameAttributes(const Block& first, const Block& other)
{
  for (const AttributeView& attribute : first.Attributes)
  {
    const AttributeView* same = FindAttribute(other, attribute.name);
    if (!same)
    {
      Refuse(other.Label + " has no array " + Quote(attribute.name) + ", which is " +
        Describe(attribute.values) + " in " + first.Label);
    }
    if (same->values.type != attribute.values.type ||
      same->values.components != attribute.values.components)
    {
      Refuse("array " + Quote(attribute.name) + " is " + Describe(same->values) + " in " +
        other.Label + " but " + Describe(attribute.values) + " in " + first.Label);
    }
  }
  for (const AttributeView& attribute : other.Attributes)
  {
    if (!FindAttribute(first, attribute.name))
    {
      Refuse(first.Label + " has no array " + Quote(attribute.name) + ", which is " +
        Describe(attribute.values) + " in " + other.Label);
    }
  }
}

// Positions of all kept particles, packed; float64 if any block has float64.
ArrayView ConcatenatePositions(
  const std::vector<const Block*>& blocks, std::size_t count, Storage& storage)
{
  const bool float32 = std::all_of(blocks.begin(), blocks.end(),
    [](const Block* block) { return block->Positions.type == ScalarType::Float32; });
  const ScalarType type = float32 ? ScalarType::Float32 : ScalarType::Float64;
  const std::size_t tuple = 3 * bat::size_of(type);
  std::byte* bytes = Allocate(count * tuple, storage);
  std::byte* out = bytes;
  for (const Block* block : blocks)
  {
    for (const Run& run : block->Kept)
    {
      if (block->Positions.type == type)
      {
        PackTuples(block->Positions, run.First, run.Count, out);
      }
      else
      {
        for (int axis = 0; axis < 3; ++axis)
        {
          ConvertComponent(
            block->Positions, axis, run.First, run.Count, reinterpret_cast<double*>(out) + axis, 3);
        }
      }
      out += run.Count * tuple;
    }
  }
  return ArrayView::packed(type, 3, bytes);
}

AttributeView ConcatenateAttribute(const std::vector<const Block*>& blocks,
  const AttributeView& first, std::size_t count, Storage& storage)
{
  const std::size_t tuple = bat::tuple_bytes(first.values.type, first.values.components);
  std::byte* bytes = Allocate(count * tuple, storage);
  std::byte* out = bytes;
  for (const Block* block : blocks)
  {
    const ArrayView& values = FindAttribute(*block, first.name)->values;
    for (const Run& run : block->Kept)
    {
      PackTuples(values, run.First, run.Count, out);
      out += run.Count * tuple;
    }
  }
  AttributeView attribute = first;
  attribute.values = ArrayView::packed(first.values.type, first.values.components, bytes);
  return attribute;
}
}

//------------------------------------------------------------------------------
void bat_vtk::JoinBlocks(const std::vector<Block>& blocks, ConvertedInput& result)
{
  bat::ParticleView& particles = result.Particles;
  std::vector<const Block*> filled;
  std::size_t count = 0;
  for (const Block& block : blocks)
  {
    if (block.KeptCount > 0)
    {
      filled.push_back(&block);
      count += block.KeptCount;
    }
  }
  if (filled.empty() && !blocks.empty())
  {
    filled.push_back(&blocks.front()); // no particles, but their attributes have names and types
  }
  if (filled.empty())
  {
    return;
  }

  particles.count = count;
  const Block& first = *filled.front();
  if (filled.size() == 1 && first.KeepsAll())
  {
    particles.positions = first.Positions;
    particles.attributes = first.Attributes;
    return;
  }
  for (const Block* other : filled)
  {
    CheckSameAttributes(first, *other);
  }
  particles.positions = ConcatenatePositions(filled, count, result.Storage);
  for (const AttributeView& attribute : first.Attributes)
  {
    particles.attributes.push_back(ConcatenateAttribute(filled, attribute, count, result.Storage));
  }
}
