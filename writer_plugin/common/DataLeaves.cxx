// SPDX-License-Identifier: BSD-3-Clause
#include "DataLeaves.h"

#include "vtkCompositeDataIterator.h"
#include "vtkCompositeDataSet.h"
#include "vtkInformation.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkPartitionedDataSet.h"
#include "vtkPartitionedDataSetCollection.h"
#include "vtkSmartPointer.h"

namespace
{
using bat_vtk::Leaf;

std::string NameIn(vtkInformation* metaData)
{
  return metaData && metaData->Has(vtkCompositeDataSet::NAME())
    ? metaData->Get(vtkCompositeDataSet::NAME())
    : "";
}

void CollectLeaves(
  vtkDataObject* data, const std::string& name, const std::string& path, std::vector<Leaf>& leaves)
{
  const auto named = [&name](vtkInformation* metaData)
  {
    const std::string own = NameIn(metaData);
    return own.empty() ? name : own;
  };
  if (!data)
  {
    return;
  }
  if (auto* blocks = vtkMultiBlockDataSet::SafeDownCast(data))
  {
    for (unsigned int i = 0; i < blocks->GetNumberOfBlocks(); ++i)
    {
      CollectLeaves(blocks->GetBlock(i),
        named(blocks->HasMetaData(i) ? blocks->GetMetaData(i) : nullptr),
        path + "/" + std::to_string(i), leaves);
    }
  }
  else if (auto* collection = vtkPartitionedDataSetCollection::SafeDownCast(data))
  {
    for (unsigned int i = 0; i < collection->GetNumberOfPartitionedDataSets(); ++i)
    {
      CollectLeaves(collection->GetPartitionedDataSet(i),
        named(collection->HasMetaData(i) ? collection->GetMetaData(i) : nullptr),
        path + "/" + std::to_string(i), leaves);
    }
  }
  else if (auto* partitions = vtkPartitionedDataSet::SafeDownCast(data))
  {
    for (unsigned int i = 0; i < partitions->GetNumberOfPartitions(); ++i)
    {
      CollectLeaves(partitions->GetPartitionAsDataObject(i),
        named(partitions->HasMetaData(i) ? partitions->GetMetaData(i) : nullptr), path, leaves);
    }
  }
  else if (auto* other = vtkCompositeDataSet::SafeDownCast(data))
  {
    vtkSmartPointer<vtkCompositeDataIterator> iterator;
    iterator.TakeReference(other->NewIterator());
    for (iterator->InitTraversal(); !iterator->IsDoneWithTraversal(); iterator->GoToNextItem())
    {
      leaves.push_back({ iterator->GetCurrentDataObject(), name, path });
    }
  }
  else
  {
    leaves.push_back({ data, name, path });
  }
}
}

//------------------------------------------------------------------------------
std::vector<bat_vtk::Leaf> bat_vtk::FindLeaves(vtkDataObject* input)
{
  std::vector<Leaf> leaves;
  CollectLeaves(input, "", "", leaves);
  return leaves;
}

//------------------------------------------------------------------------------
std::string bat_vtk::FormatLabel(std::size_t number, const std::string& name)
{
  return "block " + std::to_string(number) + (name.empty() ? "" : " (" + name + ")");
}
