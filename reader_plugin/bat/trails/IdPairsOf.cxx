// SPDX-License-Identifier: BSD-3-Clause
#include "IdPairsOf.h"

#include "ExactNumber.h"
#include "vtkBATScalarTypes.h"

#include <vtkDataArray.h>
#include <vtkSmartPointer.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

namespace
{
struct IsBelow
{
  bool operator()(const bat::Number& a, const bat::Number& b) const
  {
    return bat_vtk::Exact(a) < bat_vtk::Exact(b);
  }
};

/// The second values that occur with each id.
using Found = std::map<bat::Number, std::set<bat::Number, IsBelow>, IsBelow>;

vtkSmartPointer<vtkDataArray> Read(
  const bat::Dataset& dataset, std::size_t attribute, const bat::DatasetSelection& selection)
{
  const auto values = vtk::TakeSmartPointer(vtkDataArray::CreateDataArray(
    bat_vtk::ToVTKType(dataset.attributes()[attribute].type, VTK_VOID)));
  values->SetNumberOfTuples(static_cast<vtkIdType>(selection.count));
  dataset.read_attribute(attribute, selection, values->GetVoidPointer(0));
  return values;
}

std::optional<std::size_t> IndexOf(const bat::Dataset& dataset, const std::string& name)
{
  const std::vector<bat::Attribute>& all = dataset.attributes();
  const auto found = std::find_if(all.begin(), all.end(),
    [&](const bat::Attribute& a) { return a.name == name && a.components == 1; });
  return found == all.end() ? std::nullopt
                            : std::optional(static_cast<std::size_t>(found - all.begin()));
}

void Add(Found& found, const bat::Dataset& dataset, const std::string& idName,
  const std::string& secondName, const std::vector<bat::Number>& ids)
{
  const std::optional<std::size_t> id = IndexOf(dataset, idName);
  const std::optional<std::size_t> second = IndexOf(dataset, secondName);
  if (!id || !second)
  {
    return;
  }
  bat::Query query;
  query.values = { { idName, {}, ids } };
  const bat::DatasetSelection selection = dataset.select(query);
  const auto first = Read(dataset, *id, selection);
  const auto others = Read(dataset, *second, selection);
  for (vtkIdType i = 0; i < first->GetNumberOfTuples(); ++i)
  {
    const bat::Number other = bat_vtk::NumberAt(others, i);
    if (!std::isnan(bat_vtk::Exact(other)))
    {
      found[bat_vtk::NumberAt(first, i)].insert(other);
    }
  }
}

bat_vtk::IdPairs PairsOf(
  const Found& found, const std::vector<bat::Number>& ids, std::size_t maximum)
{
  bat_vtk::IdPairs pairs;
  for (const bat::Number& id : ids)
  {
    const auto with = found.find(id);
    if (with == found.end())
    {
      pairs.First.push_back(id);
      pairs.Second.emplace_back(std::int64_t{ 0 });
      continue;
    }
    for (const bat::Number& second : with->second)
    {
      pairs.First.push_back(id);
      pairs.Second.push_back(second);
    }
    if (pairs.First.size() > maximum)
    {
      throw bat::Error(bat::ErrorCode::InvalidArgument,
        "Ids: more than " + std::to_string(maximum) +
          " particles have these ids; list pairs such as 5:0, or fewer ids");
    }
  }
  return pairs;
}
}

//------------------------------------------------------------------------------
bat_vtk::IdPairs bat_vtk::FindIdPairs(const std::vector<bat::SeriesStep>& steps,
  const std::string& idName, const std::string& secondName, const std::vector<bat::Number>& ids,
  std::size_t maximum, bool skipsDamaged)
{
  Found found;
  for (const bat::SeriesStep& step : steps)
  {
    const std::optional<bat::Error> error =
      bat::attempt([&] { Add(found, bat::Dataset::open(step.path), idName, secondName, ids); });
    if (error && !skipsDamaged)
    {
      throw bat::Error(*error);
    }
  }
  return PairsOf(found, ids, maximum);
}

//------------------------------------------------------------------------------
bat_vtk::IdPairs bat_vtk::FindIdPairs(
  const bat::Tracks& tracks, const std::vector<bat::Number>& ids, std::size_t maximum)
{
  Found found;
  for (std::size_t i = 0; i < tracks.second.size(); ++i)
  {
    found[tracks.ids[i]].insert(tracks.second[i]);
  }
  return PairsOf(found, ids, maximum);
}
