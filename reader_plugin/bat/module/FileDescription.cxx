// SPDX-License-Identifier: BSD-3-Clause
#include "FileDescription.h"

#include "LocalSpacing.h"
#include "ReaderNumbers.h"

#include "vtkDoubleArray.h"
#include "vtkStringArray.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace
{
// Calls visit(target, attribute number, key) for everything to which a range can apply.
template <typename VisitT>
void VisitRanges(const bat::Dataset& file, const VisitT& visit)
{
  const std::vector<std::string> names = file.attribute_names();
  for (std::size_t i = 0; i < file.attributes().size(); ++i)
  {
    const bat::Attribute& attribute = file.attributes()[i];
    // The range for the bare name comes first.
    for (const bat::Key& key : attribute.keys)
    {
      if (attribute.components == 1 || key.component < 0)
      {
        visit(attribute.name, i, key);
      }
    }
    for (const bat::Key& key : attribute.keys)
    {
      if (attribute.components > 1 && key.component >= 0)
      {
        const std::string target = attribute.name + "[" + std::to_string(key.component) + "]";
        // An attribute with exactly this name takes precedence and has its own entry.
        if (std::find(names.begin(), names.end(), target) == names.end())
        {
          visit(target, i, key);
        }
      }
    }
  }
}

void InsertHistogram(vtkDoubleArray* numbers, const bat::Histogram& histogram)
{
  numbers->InsertNextValue(bat::to_double(histogram.lower));
  numbers->InsertNextValue(bat::to_double(histogram.upper));
  numbers->InsertNextValue(std::holds_alternative<double>(histogram.lower) ? 0.0 : 1.0);
  numbers->InsertNextValue(histogram.straight_below);
  for (std::size_t bin = 0; bin < bat_vtk::HistogramBins; ++bin)
  {
    numbers->InsertNextValue(histogram.counts.empty() ? 0.0 : histogram.counts[bin]);
  }
}
}

//------------------------------------------------------------------------------
void bat_vtk::DescribeBytes(const bat::Dataset& file, vtkStringArray* texts)
{
  texts->Reset();
  const auto insert = [&](const std::string& name, bat::ScalarType type, int components)
  {
    texts->InsertNextValue(name);
    texts->InsertNextValue(std::to_string(bat::tuple_bytes(type, components)));
  };
  insert("", file.position_type(), 3);
  for (const bat::Attribute& attribute : file.attributes())
  {
    insert(attribute.name, attribute.type, attribute.components);
  }
}

//------------------------------------------------------------------------------
void bat_vtk::DescribeRanges(const bat::Dataset& file, vtkStringArray* texts)
{
  texts->Reset();
  VisitRanges(file,
    [texts](const std::string& target, std::size_t, const bat::Key& key)
    {
      texts->InsertNextValue(target);
      texts->InsertNextValue(bat::to_string(key.minimum));
      texts->InsertNextValue(bat::to_string(key.maximum));
    });
}

//------------------------------------------------------------------------------
void bat_vtk::DescribeHistograms(const bat::Dataset& file, vtkDoubleArray* numbers)
{
  numbers->Reset();
  VisitRanges(file,
    [&](const std::string&, std::size_t attribute, const bat::Key& key)
    {
      for (const auto axis : { bat::HistogramAxis::Linear, bat::HistogramAxis::Logarithmic })
      {
        InsertHistogram(numbers, file.histogram(attribute, key.component, HistogramBins, axis));
      }
    });
}

//------------------------------------------------------------------------------
void bat_vtk::DescribeFewValues(const bat::Dataset& file, vtkStringArray* texts)
{
  texts->Reset();
  for (std::size_t i = 0; i < file.attributes().size(); ++i)
  {
    for (const bat::ValueCount& one : file.few_values(i, MaxListedValues))
    {
      texts->InsertNextValue(file.attributes()[i].name);
      texts->InsertNextValue(bat::to_string(one.value));
      for (const std::uint64_t count : { one.count.minimum, one.count.likely, one.count.maximum })
      {
        texts->InsertNextValue(std::to_string(count));
      }
    }
  }
}

//------------------------------------------------------------------------------
double bat_vtk::ComputeSpacingSpread(const bat::Dataset& file)
{
  constexpr double maximum = 65536.0;
  constexpr std::size_t maxLeaves = 64;
  const std::vector<bat::LeafInfo>& leaves = file.leaves();
  const std::size_t step = (leaves.size() + maxLeaves - 1) / maxLeaves;
  double count = 0.0;
  for (std::size_t leaf = 0; leaf < leaves.size(); leaf += step)
  {
    count += static_cast<double>(leaves[leaf].particles);
  }
  const double quality = std::min(1.0, maximum / std::max(1.0, count));
  // A leaf file begins with an even sample of its particles.
  bat::DatasetSelection selection;
  for (std::size_t leaf = 0; leaf < leaves.size(); leaf += step)
  {
    const auto first =
      static_cast<std::uint64_t>(quality * static_cast<double>(leaves[leaf].particles));
    if (first > 0)
    {
      selection.parts.push_back({ leaf, { { { 0, first } }, first, 0 } });
      selection.count += first;
    }
  }
  std::vector<std::array<double, 3>> sample(selection.count);
  if (file.position_type() == bat::ScalarType::Float64)
  {
    file.read_positions(selection, sample.data());
  }
  else
  {
    std::vector<std::array<float, 3>> floats(selection.count);
    file.read_positions(selection, floats.data());
    std::transform(floats.begin(), floats.end(), sample.begin(),
      [](const std::array<float, 3>& at) {
        return std::array<double, 3>{ at[0], at[1], at[2] };
      });
  }
  return LocalSpacing(sample, LocalSpacing::Fine).Spread();
}
